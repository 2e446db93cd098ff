//! The Emacs Org table.

use super::markup::{Align, Markup};

pub(super) struct Orgmode;

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
