//! What every verb with a record does at its ends: look whether the outputs can be written, and write them.

use std::io::IsTerminal;

use whyfaster_core::record::Record;

use crate::cli::display::Style;
use crate::cli::{Outputs, Target};
use crate::exit::Failure;
use crate::render::export::export;
use crate::render::look::{Environment, Look};
use crate::render::screen::screen;
use crate::store;

/// Finds out whether every output can be written, so that no long measurement ends in a lost record. What comes back is to be
/// held until they are written.
pub fn check(outputs: &Outputs) -> Result<Vec<store::Kept>, Failure> {
    if outputs.style != Style::None && outputs.files().next().is_none() {
        // Nothing else would tell what was measured.
        store::check_stdout()?;
    }
    outputs.files().map(store::check_writable).collect()
}

/// How standard output is to look.
pub fn look(outputs: &Outputs) -> Look {
    look_of(outputs, std::io::stdout().is_terminal())
}

/// How a stream is to look that is a terminal, or is not.
pub fn look_of(outputs: &Outputs, terminal: bool) -> Look {
    let mut look = Look::detect(outputs.style, terminal, &Environment::of_process());
    look.time_unit = outputs.time_unit;
    look.sort = outputs.sort;
    look
}

/// Writes the record, then the exports, then standard output: what is dearest first. Every output is tried, so that one
/// that fails loses no other; the first failure is returned.
pub fn write(record: &Record, outputs: &Outputs) -> anyhow::Result<()> {
    let mut first = Ok(());
    let mut keep = |result: anyhow::Result<()>| {
        if first.is_ok() {
            first = result;
        }
    };
    if let Some(path) = &outputs.record {
        keep(
            store::record_bytes(record)
                .map_err(Into::into)
                .and_then(|bytes| Ok(store::write_atomic(path, &bytes)?)),
        );
    }
    let mut printed = report(record, outputs)?;
    for (format, target) in &outputs.exports {
        let bytes = export(record, *format, outputs.time_unit, outputs.sort);
        match (bytes, target) {
            (Ok(bytes), Target::File(path)) => keep(store::write_atomic(path, &bytes).map_err(Into::into)),
            (Ok(bytes), Target::Stdout) => {
                if !printed.is_empty() {
                    printed.push(b'\n');
                }
                printed.extend(bytes);
            }
            (Err(error), _) => keep(Err(error)),
        }
    }
    keep(store::to_stdout(&printed));
    first
}

/// What standard output gets before any export.
fn report(record: &Record, outputs: &Outputs) -> anyhow::Result<Vec<u8>> {
    if outputs.json {
        return Ok(store::record_bytes(record)?);
    }
    let look = look(outputs);
    Ok(if look.quiet { Vec::new() } else { screen(record, &look).into_bytes() })
}
