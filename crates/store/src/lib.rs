//! Files: records and exports, written whole or not at all, and read with suspicion.

pub mod again;
pub mod atomic;
pub mod database;
mod former;
mod gather;
mod head;
mod hold;
mod packed;
mod place;
pub mod read;
pub mod recent;
pub mod reference;
pub mod scratch;
pub mod stdout;
pub mod worker;

mod trouble;

#[cfg(test)]
#[allow(dead_code, reason = "shared by several crates")]
#[path = "../../../tests/support/records.rs"]
mod records;
#[cfg(test)]
#[allow(dead_code, unused_imports, clippy::unwrap_used, reason = "shared with the end-to-end tests")]
#[path = "../../../tests/support/skip.rs"]
mod skip;

pub use atomic::{AtomicFile, OutputFile, write_atomic};
pub use gather::{Below, Refused, files_below, gather};
pub use head::{MAX_BYTES, bounded};
pub use hold::{Held, hold, release};
pub use read::{Recorded, parse_prices, read_prices, read_record, read_recorded, read_with_bytes, received};
pub use scratch::Scratch;
pub use stdout::{check_stdout, stdout_error, to_stdout};
pub use trouble::writing as cannot_write;

use whyfaster_core::price::PriceList;
use whyfaster_core::record::Record;
use whyfaster_core::trace::record::TraceRecord;

/// A record as the bytes of a file: JSON on one line, its observed runs packed.
pub fn record_bytes(record: &Record) -> serde_json::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec(&packed::packed(record)?)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// A record as other tools read it: JSON, indented, with a line end.
pub fn record_json(record: &Record) -> serde_json::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec_pretty(record)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// A trace as the bytes of a file: indented, or on one line where it holds the scheduling records.
pub fn trace_bytes(record: &TraceRecord) -> serde_json::Result<Vec<u8>> {
    let mut bytes = match record.schedule {
        Some(_) => serde_json::to_vec(record)?,
        None => serde_json::to_vec_pretty(record)?,
    };
    bytes.push(b'\n');
    Ok(bytes)
}

/// A price list as the bytes of a file: JSON on one line, because it holds ten thousands of samples.
pub fn price_bytes(list: &PriceList) -> serde_json::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec(list)?;
    bytes.push(b'\n');
    Ok(bytes)
}
