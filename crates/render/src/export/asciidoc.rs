//! The AsciiDoc table.

use whyfaster_words::display::FileOption;

use super::exporter::Exporter;
use super::markup::{Align, Markup, table};
use super::markup_2;

pub(super) static EXPORTER: Exporter = Exporter {
    option: FileOption::new("export-asciidoc", "Write hyperfine's AsciiDoc table to FILE"),
    results: table::<Asciidoc>,
    results_2: markup_2::table::<Asciidoc2>,
    prices: None,
};

struct Asciidoc;

impl Markup for Asciidoc {
    fn head(aligns: &[Align]) -> String {
        let marks: Vec<&str> = aligns.iter().map(|a| if *a == Align::Left { "<" } else { ">" }).collect();
        format!("[cols=\"{}\"]\n|===", marks.join(","))
    }

    fn row(cells: &[&str]) -> String {
        format!("\n| {} \n", cells.join(" \n| "))
    }

    fn divider(_aligns: &[Align]) -> String {
        String::new()
    }

    fn foot() -> &'static str {
        "|===\n"
    }

    fn code(command: &str) -> String {
        format!("`{command}`")
    }
}

/// The same without spaces at the ends of lines, as hyperfine 2 writes it.
struct Asciidoc2;

impl Markup for Asciidoc2 {
    fn head(aligns: &[Align]) -> String {
        Asciidoc::head(aligns)
    }

    fn row(cells: &[&str]) -> String {
        Asciidoc::row(cells).lines().map(|line| line.trim_end().to_owned() + "\n").collect()
    }

    fn divider(aligns: &[Align]) -> String {
        Asciidoc::divider(aligns)
    }

    fn foot() -> &'static str {
        Asciidoc::foot()
    }

    fn code(command: &str) -> String {
        Asciidoc::code(command)
    }
}
