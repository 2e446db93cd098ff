//! What every verb with a record does at its ends: look whether the outputs can be written, and write them.

use std::io::IsTerminal;
use std::path::Path;

use serde::Serialize;
use whyfaster_core::record::Record;
use whyfaster_render::export::report as hyperfine_report;
use whyfaster_render::screen::{answer, screen};
use whyfaster_store as store;
use whyfaster_store::OutputFile;
use whyfaster_store::database::Entry;
use whyfaster_words::display::Style;
use whyfaster_words::exit::{self, Exit, Failure};
use whyfaster_words::look::{Environment, Look};

use crate::cli::{Outputs, Save, Target};

/// Finds out whether every output can be written, so that no long measurement ends in a lost record, and holds their places.
pub fn check(outputs: &Outputs) -> Result<(), Failure> {
    if outputs.style != Style::None && outputs.files().next().is_none() {
        // Nothing else would tell what was measured.
        store::check_stdout()?;
    }
    outputs.files().try_for_each(OutputFile::hold)?;
    outputs.save.as_ref().map_or(Ok(()), Save::hold)?;
    keeps(outputs);
    Ok(())
}

/// Returns true if the record is kept for `show`.
fn keeps(outputs: &Outputs) -> bool {
    outputs.keep && store::recent::takes()
}

/// Adds a record of this machine to a store. `called` is what the machine is called, where the record does not say.
fn add(save: &Save, recorded: store::Recorded, bytes: &[u8], called: &str) -> Result<(), Failure> {
    let refuse = |why| Failure::new(Exit::Error, why, "this is a defect: please report it");
    let entry = entry(recorded, bytes, called).map_err(refuse)?;
    save.add(entry)
}

/// How a verb ends that has decided something besides what it wrote: a reader that has gone (`| head`) does not undo that.
pub fn after(written: anyhow::Result<()>, exit: Exit) -> Exit {
    match written.map_or_else(|error| exit::report(Err(error)), |()| Exit::Ok) {
        Exit::Ok => exit,
        failed => failed,
    }
}

/// What a store takes of a record, or why it does not.
pub fn entry(recorded: store::Recorded, bytes: &[u8], called: &str) -> Result<Entry, String> {
    Entry::of(&store::again::again(recorded), bytes, called, None)
}

/// How standard output is to look.
pub fn look(outputs: &Outputs) -> Look {
    look_of(outputs, std::io::stdout().is_terminal())
}

/// How a stream is to look that is a terminal, or is not.
pub fn look_of(outputs: &Outputs, terminal: bool) -> Look {
    let mut look = Look::detect(outputs.style, terminal, &Environment::of_process());
    look.time_unit = outputs.time_unit;
    look.detail = outputs.detail;
    look.kept = keeps(outputs);
    look.lines = look.lines.saturating_sub(outputs.around);
    look.sort = outputs.sort;
    look.metrics.clone_from(&outputs.metrics);
    look.hyperfine = outputs.hyperfine;
    look
}

/// Writes the record, then the exports, then standard output: what is dearest first. Every output is tried, so that one
/// that fails loses no other; the first failure is returned.
pub fn write(record: &Record, outputs: &Outputs) -> anyhow::Result<()> {
    write_with(record, outputs, &mut |look| Ok(screen(record, look)))
}

/// The same with another screen.
pub(super) fn write_with(
    record: &Record,
    outputs: &Outputs,
    screen: &mut dyn FnMut(&Look) -> anyhow::Result<String>,
) -> anyhow::Result<()> {
    let mut first = Ok(());
    let mut keep = |result: anyhow::Result<()>| {
        if first.is_ok() {
            first = result;
        }
    };
    if let Some(file) = &outputs.record {
        keep(store::record_bytes(record).map_err(Into::into).and_then(|bytes| Ok(file.write(&bytes)?)));
    }
    let look = look(outputs);
    let mut printed = report(record, outputs, &look, screen)?;
    for (exporter, target) in &outputs.exports {
        let bytes = exporter.export(record, &look);
        match (bytes, target) {
            (Ok(bytes), Target::File(file)) => keep(file.write(&bytes).map_err(Into::into)),
            (Ok(bytes), Target::Stdout) => {
                // hyperfine sets every export off, before and behind.
                if outputs.called.is_some() || !printed.is_empty() {
                    printed.push(b'\n');
                }
                printed.extend(bytes);
                printed.extend(outputs.called.map(|_| b'\n'));
            }
            (Err(error), _) => keep(Err(error)),
        }
    }
    keep(store::to_stdout(&printed));
    keep(super::pages::of_comparison(record, &[], &outputs.pages, &look));
    // After the screen, which nobody should wait for.
    keep(kept("compare", store::record_bytes(record), outputs));
    first
}

/// Prints a document of its own as JSON.
pub fn json(document: &impl Serialize) -> anyhow::Result<Exit> {
    let mut bytes = serde_json::to_vec_pretty(document)?;
    bytes.push(b'\n');
    store::to_stdout(&bytes)?;
    Ok(Exit::Ok)
}

/// Keeps the bytes of a record for `show`, and adds them to the store that was asked for.
pub fn kept(verb: &str, bytes: serde_json::Result<Vec<u8>>, outputs: &Outputs) -> anyhow::Result<()> {
    let Ok(bytes) = bytes else { return Ok(()) };
    let kept = keeps(outputs) && store::recent::keep(verb, &bytes).map_err(not_kept).is_ok();
    let Some(save) = &outputs.save else { return Ok(()) };
    // By the way that records of others take.
    let recorded = store::received(Path::new("what was measured"), &bytes);
    match recorded.and_then(|recorded| add(save, recorded, &bytes, "this machine")) {
        Err(failure) if kept => {
            let hint = "it is kept: 'whyfaster show --list' says under which name, for 'whyfaster store add'";
            Err(Failure::new(failure.exit, failure.message, hint).into())
        }
        added => Ok(added?),
    }
}

/// The screen may have pointed to it.
fn not_kept(error: std::io::Error) {
    exit::say(&format!(
        "note: this record could not be kept, and 'whyfaster show' does not have it: {error}"
    ));
}

/// Where what an interrupt left is, if no file was named for it.
pub fn where_kept(outputs: &Outputs) -> &'static str {
    match keeps(outputs) {
        true => "'whyfaster show' prints what was kept of it",
        false => "use --record FILE to keep them next time",
    }
}

/// What standard output gets before any export.
fn report(
    record: &Record,
    outputs: &Outputs,
    look: &Look,
    screen: &mut dyn FnMut(&Look) -> anyhow::Result<String>,
) -> anyhow::Result<Vec<u8>> {
    if outputs.json {
        return Ok(store::record_json(record)?);
    }
    if outputs.called.is_some() && !look.quiet {
        return Ok(format!("{}{}", hyperfine_report(record, look), answer(record, look)).into_bytes());
    }
    Ok(if look.quiet { Vec::new() } else { screen(look)?.into_bytes() })
}
