//! The Emacs Org table.

use whyfaster_words::display::FileOption;

use super::exporter::Exporter;
use super::markup::{Align, Markup, table};
use super::markup_2;

pub(super) static EXPORTER: Exporter = Exporter {
    option: FileOption::new("export-orgmode", "Write hyperfine's Org table to FILE"),
    results: table::<Orgmode>,
    results_2: markup_2::table::<Orgmode>,
    prices: None,
};

struct Orgmode;

impl Markup for Orgmode {
    fn row(cells: &[&str]) -> String {
        let (first, rest) = cells.split_first().unwrap_or((&"", &[]));
        format!("| {first}  |  {} |\n", rest.join(" |  "))
    }

    fn divider(aligns: &[Align]) -> String {
        format!("|{}--|\n", "--+".repeat(aligns.len().saturating_sub(1)))
    }

    fn code(command: &str) -> String {
        format!("={command}=")
    }
}
