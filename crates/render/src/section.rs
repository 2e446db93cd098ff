//! A section of a report: a title, a table, and what found no room.

use whyfaster_words::grid::{Drawn, Grid};
use whyfaster_words::look::Look;
use whyfaster_words::text::{Tone, finish, for_look, shorten, tone, wrap, wrap_indented};
use whyfaster_words::units::Scale;

/// Parts that say something, with an empty line between them.
pub(super) fn paragraphs(parts: impl IntoIterator<Item = Vec<String>>, look: &Look) -> String {
    let parts: Vec<String> =
        parts.into_iter().filter(|lines| !lines.is_empty()).map(|lines| lines.join("\n")).collect();
    finish(&(parts.join("\n\n") + "\n"), look.color)
}

/// A title, the rows, and what was left out.
pub(super) fn section(title: &str, grid: Grid, hidden: usize, look: &Look) -> Vec<String> {
    let mut lines: Vec<String> =
        wrap(title, look.width, 2).iter().map(|line| tone(Tone::Strong, line)).collect();
    let Drawn { lines: table, left_out, .. } = grid.with_values().draw(look.width, 2);
    lines.extend(table);
    lines.extend(left(hidden, look));
    lines.extend(no_room(&left_out, look));
    lines
}

/// Which columns are not shown.
pub(super) fn no_room(left_out: &[&str], look: &Look) -> Vec<String> {
    match left_out {
        [] => Vec::new(),
        _ => quiet(&format!("(no room for: {}; --json has everything)", left_out.join(", ")), look),
    }
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

/// The unit in which the largest of these times reads best: the small ones matter less here.
pub(super) fn scale(times: impl IntoIterator<Item = f64>, look: &Look) -> Scale {
    Scale::choose([times.into_iter().fold(0.0, f64::max)], look.time_unit)
}

/// A command as it is shown in a column.
pub(super) fn name(command: &str, look: &Look) -> String {
    shorten(&for_look(command, look), 24, look.unicode)
}

/// Rows by the reason that they share, in the order in which the reasons come.
pub(super) fn by_reason<'a>(rows: impl Iterator<Item = (&'a str, String)>) -> Vec<(&'a str, Vec<String>)> {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for (why, row) in rows {
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, rows)) => rows.push(row),
            None => reasons.push((why, vec![row])),
        }
    }
    reasons
}
