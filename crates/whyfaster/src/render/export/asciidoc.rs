//! The AsciiDoc table.

use super::markup::{Align, Markup};

pub(super) struct Asciidoc;

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
