//! The observed runs of a record as its file holds them. Round after round says the same but for its numbers, so that packing
//! leaves little of what is most of a record.

use std::fmt::Display;
use std::mem::take;

use data_encoding::BASE64;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::de::Error as _;
use serde::{Deserialize, Serialize};
use whyfaster_core::record::Record;
use whyfaster_core::why::report::{RoundSchedule, SideStacks, Traced, TracedBatch};

use super::head::{self, bounded, too_many, too_much};

/// What is packed, under the names that it has in a record.
#[derive(Default, Deserialize, Serialize)]
#[serde(default)]
struct Observed {
    traced: Vec<Traced>,
    traced_batches: Vec<TracedBatch>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    schedules: Vec<RoundSchedule>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stacks: Vec<SideStacks>,
}

/// The record with its observed runs packed.
pub(super) fn packed(record: &Record) -> serde_json::Result<Record> {
    let mut record = record.clone();
    let why = &mut record.why;
    let observed = Observed {
        traced: take(&mut why.traced),
        traced_batches: take(&mut why.traced_batches),
        schedules: take(&mut why.schedules),
        stacks: take(&mut why.stacks),
    };
    if !observed.traced.is_empty() || !observed.traced_batches.is_empty() {
        let mut packer = GzEncoder::new(Vec::new(), Compression::best());
        serde_json::to_writer(&mut packer, &observed)?;
        why.observed = Some(BASE64.encode(&packer.finish().map_err(serde_json::Error::io)?));
    }
    Ok(record)
}

/// Puts observed runs that were packed back in their place.
pub(super) fn unpack(record: &mut Record) -> serde_json::Result<()> {
    let Some(text) = record.why.observed.take() else { return Ok(()) };
    let bytes = BASE64.decode(text.as_bytes()).map_err(damaged)?;
    let bytes = bounded(GzDecoder::new(bytes.as_slice()), 0).map_err(damaged)?;
    // Bounds come before anything is parsed.
    if let Some(why) = too_much(&bytes) {
        return Err(damaged(why));
    }
    if let Some(why) = too_many(&head::of(&bytes, &[]).map_err(damaged)?) {
        return Err(damaged(why));
    }
    let observed: Observed = serde_json::from_slice(&bytes).map_err(damaged)?;
    let why = &mut record.why;
    (why.traced, why.traced_batches) = (observed.traced, observed.traced_batches);
    (why.schedules, why.stacks) = (observed.schedules, observed.stacks);
    Ok(())
}

/// Of the document, whatever it is inside of the pack: an end there is no end of the file.
fn damaged(error: impl Display) -> serde_json::Error {
    serde_json::Error::custom(format!("observed: {error}"))
}
