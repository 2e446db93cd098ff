//! Exports in hyperfine's formats, so that scripts written for hyperfine go on working. Last step: a record to bytes.
//!
//! `hyperfine` makes hyperfine's results from a record; each other file writes one format. The field names, their order,
//! the columns and the digits are those of hyperfine 1.20; the golden files in `golden/` were written by it.

mod asciidoc;
mod csv;
mod hyperfine;
mod json;
mod markdown;
mod markup;
mod orgmode;
#[cfg(test)]
mod tests;

use whyfaster_core::record::Record;

use crate::display::{Format, Sort, TimeUnit};

/// The bytes of an export. `time_unit` and `sort` act on the tables only, as in hyperfine.
pub fn export(
    record: &Record,
    format: Format,
    time_unit: Option<TimeUnit>,
    sort: Sort,
) -> anyhow::Result<Vec<u8>> {
    let results = hyperfine::results(record);
    match format {
        Format::Json => json::write(&results),
        Format::Csv => csv::write(&results),
        Format::Markdown => Ok(markup::table::<markdown::Markdown>(&results, time_unit, sort)),
        Format::Asciidoc => Ok(markup::table::<asciidoc::Asciidoc>(&results, time_unit, sort)),
        Format::Orgmode => Ok(markup::table::<orgmode::Orgmode>(&results, time_unit, sort)),
    }
}
