//! Exports in hyperfine's formats, so that scripts written for hyperfine go on working. Last step: a record to bytes.
//!
//! Each format is a file that says what option asks for it and writes it; `hyperfine` makes hyperfine's results from a
//! record, which the formats share. The field names, their order, the columns and the digits are those of hyperfine 1.20
//! or, in the files that end in `_2`, of 2.0; the golden files in `crates/whyfaster/src/golden/` were written by them.

mod asciidoc;
mod csv;
mod csv_2;
mod exporter;
mod hyperfine;
mod json;
mod json_2;
mod markdown;
mod markup;
mod markup_2;
mod orgmode;
mod report;
mod report_2;

use whyfaster_words::display::{FileOption, Registered};

pub use self::csv::EXPORTER as CSV;
pub use self::exporter::{Exporter, OfPrices};
pub use self::report::report;

/// The formats. hyperfine writes them in this order too; it shows when several go to standard output.
static EXPORTERS: [&Exporter; 5] =
    [&asciidoc::EXPORTER, &json::EXPORTER, &csv::EXPORTER, &markdown::EXPORTER, &orgmode::EXPORTER];

impl Registered for Exporter {
    fn all() -> &'static [&'static Self] {
        &EXPORTERS
    }

    fn option(&self) -> &FileOption {
        &self.option
    }
}
