//! The Markdown table.

use whyfaster_words::display::FileOption;

use super::exporter::Exporter;
use super::markup::{Align, Markup, table};
use super::markup_2;

pub(super) static EXPORTER: Exporter = Exporter {
    option: FileOption::new("export-markdown", "Write hyperfine's Markdown table to FILE").short(),
    results: table::<Markdown>,
    results_2: markup_2::table::<Markdown>,
    prices: None,
};

struct Markdown;

impl Markup for Markdown {
    fn row(cells: &[&str]) -> String {
        format!("| {} |\n", cells.join(" | "))
    }

    fn divider(aligns: &[Align]) -> String {
        let mark = |align: &Align| if *align == Align::Left { ":---|" } else { "---:|" };
        format!("|{}\n", aligns.iter().map(mark).collect::<String>())
    }

    fn code(command: &str) -> String {
        if !command.contains('`') {
            return format!("`{command}`");
        }
        // A command with backticks needs a longer fence, with spaces inside (CommonMark, code spans).
        let longest = command.split(|c| c != '`').map(str::len).max().unwrap_or(0);
        let fence = "`".repeat(longest + 1);
        format!("{fence} {command} {fence}")
    }
}
