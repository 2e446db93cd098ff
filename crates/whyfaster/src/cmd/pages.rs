//! What the verbs do for `--html`, `--svg`, `--png` and `--open`: the page and the picture of what was measured, written and shown.

use std::path::Path;
use std::process::{Command, Stdio};

use whyfaster_core::price::PriceList;
use whyfaster_core::price::compare::Rule;
use whyfaster_core::record::Record;
use whyfaster_core::trace::record::TraceRecord;
use whyfaster_render::machines::Machines;
use whyfaster_render::report as render;
use whyfaster_render::report::{Drawn, Page};
use whyfaster_render::trace::Shown;
use whyfaster_store as store;
use whyfaster_store::OutputFile;
use whyfaster_words::exit::{Failure, say};
use whyfaster_words::look::Look;

use crate::cli::outputs::Pages;

/// The page and the picture of a comparison.
pub(super) fn of_comparison(
    record: &Record,
    traces: &[TraceRecord],
    pages: &Pages,
    look: &Look,
) -> anyhow::Result<()> {
    write(
        pages,
        || render::comparison(record, traces, &store::record_bytes(record)?, look),
        || render::picture_of_record(record, look),
    )
}

/// The same of a trace.
pub(super) fn of_trace(record: &TraceRecord, pages: &Pages, look: &Look) -> anyhow::Result<()> {
    let shown = Shown::of_record(record);
    write(
        pages,
        || render::trace(record, &shown, &store::trace_bytes(record)?, look),
        || render::picture_of_trace(record, &shown, look),
    )
}

/// The same of a price list.
pub(super) fn of_list(list: &PriceList, pages: &Pages, look: &Look) -> anyhow::Result<()> {
    write(
        pages,
        || Ok(render::prices(list, &store::price_bytes(list)?, look)),
        || render::picture_of_list(list, look),
    )
}

/// The same of several.
pub(super) fn of_lists(
    lists: &[PriceList],
    compared: &Machines,
    rule: &Rule,
    pages: &Pages,
    look: &Look,
) -> anyhow::Result<()> {
    write(
        pages,
        || render::lists(lists, compared, rule, look),
        || render::picture_of_lists(lists, rule, look),
    )
}

/// Writes what was asked for, and opens the page.
pub(super) fn write(
    pages: &Pages,
    page: impl FnOnce() -> anyhow::Result<Page>,
    drawn: impl FnOnce() -> Option<Drawn>,
) -> anyhow::Result<()> {
    if pages.svg.is_some() || pages.png.is_some() {
        let Some(drawn) = drawn() else {
            let hint = "leave --svg and --png out: the page says what is missing";
            return Err(Failure::unfit("there is nothing in it that makes a picture", hint).into());
        };
        if let Some(file) = &pages.svg {
            to(file, &drawn.svg())?;
        }
        if let Some(file) = &pages.png {
            to(file, &render::png(&drawn)?)?;
        }
    }
    let Some(file) = &pages.html else { return Ok(()) };
    to(file, &page()?.finish()?)?;
    if pages.open {
        open(file);
    }
    Ok(())
}

fn to(file: &OutputFile, bytes: &[u8]) -> anyhow::Result<()> {
    match **file == *Path::new("-") {
        true => store::to_stdout(bytes),
        false => Ok(file.write(bytes)?),
    }
}

/// Shows a page in the browser. That nobody is there to show it is no failure of the measurement.
fn open(page: &Path) {
    let mut command = Command::new("xdg-open");
    command.arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Err(error) = command.spawn() {
        say(&format!("note: xdg-open cannot be started ({error}); open '{}' in a browser", page.display()));
    }
}
