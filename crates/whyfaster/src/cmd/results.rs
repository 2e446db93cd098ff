//! What every verb with a record does at its ends: look whether the outputs can be written, and write them.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use anyhow::Context;
use whyfaster_core::record::Record;
use whyfaster_core::trace::counts::Lost;

use crate::cli::{Outputs, Target};
use crate::display::Style;
use crate::exit::Failure;
use crate::render::export::export;
use crate::render::look::{Environment, Look};
use crate::render::screen::screen;
use crate::render::trace::perfetto::{Clock, Perfetto};
use crate::store::{self, AtomicFile};

/// Finds out whether every output can be written, so that no long measurement ends in a lost record. What comes back is to be
/// held until they are written.
pub fn check(outputs: &Outputs) -> Result<Vec<store::Kept>, Failure> {
    if outputs.style != Style::None && outputs.files().next().is_none() {
        // Nothing else would tell what was measured.
        store::check_stdout()?;
    }
    outputs.files().map(store::check_writable).collect()
}

/// Begins a timeline in a file that gets its name when it is whole.
pub fn timeline(path: &Path, clock: Clock) -> Result<Perfetto<AtomicFile>, Failure> {
    Perfetto::begin(AtomicFile::create(path)?, clock).map_err(|error| store::cannot_write(path, &error))
}

/// Ends a timeline, and gives its file the name.
pub fn end_timeline(timeline: Perfetto<AtomicFile>, path: &Path, lost: &Lost) -> Result<(), Failure> {
    timeline.finish(lost).map_err(|error| store::cannot_write(path, &error))?.commit()
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

/// Where a file is, whatever directory this program changes to.
pub fn absolute(file: &Path) -> anyhow::Result<PathBuf> {
    if file == Path::new("-") {
        // Standard output, as everywhere in this program.
        return Ok(file.to_owned());
    }
    std::path::absolute(file).with_context(|| format!("cannot tell where {} is", file.display()))
}
