//! A section of a report: a title, a table, and what found no room.

use super::grid::{Column, Drawn, Grid, Group};
use super::look::Look;
use super::text::{Tone, for_look, shorten, tone, wrap, wrap_indented};
use super::units::Scale;

/// A title, the rows, and what was left out.
pub(super) fn section(title: &str, grid: Grid, hidden: usize, look: &Look) -> Vec<String> {
    let mut lines: Vec<String> =
        wrap(title, look.width, 2).iter().map(|line| tone(Tone::Strong, line)).collect();
    let Drawn { lines: table, left_out } = grid.with_values().draw(look.width, 2);
    lines.extend(table);
    lines.extend(left(hidden, look));
    if !left_out.is_empty() {
        let text = format!("(no room for: {}; --json has everything)", left_out.join(", "));
        lines.extend(quiet(&text, look));
    }
    lines
}

/// How many rows are not shown.
pub(super) fn left(hidden: usize, look: &Look) -> Vec<String> {
    match hidden {
        0 => Vec::new(),
        1 => quiet("(1 more row; --top 0 shows all)", look),
        n => quiet(&format!("({n} more rows; --top 0 shows all)"), look),
    }
}

pub(super) fn quiet(text: &str, look: &Look) -> Vec<String> {
    wrap_indented(text, look.width, 2).iter().map(|line| tone(Tone::Quiet, line)).collect()
}

/// A column of these rows.
pub(super) fn column<T>(header: impl Into<String>, rows: &[T], cell: impl Fn(&T) -> String) -> Column {
    Column::new(header, rows.iter().map(cell).collect())
}

/// A group of one column, called by its header.
pub(super) fn single<T>(header: &'static str, unit: &str, rows: &[T], cell: impl Fn(&T) -> String) -> Group {
    let title = if unit.is_empty() { header.to_owned() } else { format!("{header} {unit}") };
    Group::new(header, vec![column(title, rows, cell)])
}

/// The unit in which the largest of these times reads best: the small ones matter less here.
pub(super) fn scale(times: impl IntoIterator<Item = f64>, look: &Look) -> Scale {
    Scale::choose([times.into_iter().fold(0.0, f64::max)], look.time_unit)
}

/// A command as it is shown in a column.
pub(super) fn name(command: &str, look: &Look) -> String {
    shorten(&for_look(command, look), 24, look.unicode)
}
