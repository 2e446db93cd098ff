//! A trace on the screen: one sentence, the level, then a section for each question. Sections without content are left
//! out; what could not be seen stands under "not measured".

pub mod calls;
mod costs;
pub mod flame;
pub mod hottest;
mod next;
pub(super) mod path;
pub mod perfetto;
mod sentence;
mod skipped;
mod syscalls;
mod times;
mod waits;
mod who;

#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
mod tests;

use whyfaster_core::trace::record::EndedBy;
use whyfaster_core::trace::report::TraceReport;

use super::grid::{Column, Drawn, Grid, Group};
use super::look::Look;
use super::text::{Tone, finish, for_look, shorten, tone, wrap, wrap_indented};
use super::units::{Scale, time};
use crate::cli::display::{By, CallSort};

/// What is shown beside the report, and how the table of calls is cut.
#[derive(Clone, Debug, PartialEq)]
pub struct Shown {
    /// The command line, or what was followed.
    pub command: String,
    /// As whom it ran, where that is not obvious.
    pub as_whom: Option<String>,
    /// How it ended: its exit status, or minus the signal; `None`: it goes on, or was not started here.
    pub exit_status: Option<i32>,
    /// What of ours ended it, and after how many seconds.
    pub ended_by: Option<(EndedBy, f64)>,
    /// It ran already when observing began, so that the wall time is that of the observation.
    pub followed: bool,
    /// Whose calls make one row.
    pub by: By,
    /// Order of the rows.
    pub sort: CallSort,
    /// Rows of every table at most; 0 is all of them.
    pub top: usize,
}

/// Rows of a table unless told otherwise.
pub const TOP: usize = 20;

impl Shown {
    /// The usual view of this command.
    pub fn of(command: impl Into<String>) -> Self {
        Self {
            command: command.into(),
            as_whom: None,
            exit_status: None,
            ended_by: None,
            followed: false,
            by: By::default(),
            sort: CallSort::default(),
            top: TOP,
        }
    }

    fn rows(&self) -> usize {
        if self.top == 0 { usize::MAX } else { self.top }
    }
}

/// The whole screen; empty for `--style none`.
pub fn screen(report: &TraceReport, shown: &Shown, look: &Look) -> String {
    if look.quiet {
        return String::new();
    }
    let sections = [
        head(report, shown, look),
        times::tree(report, shown, look),
        times::commands(report, shown, look),
        syscalls::tables(report, shown, look),
        waits::searches(report, shown, look),
        waits::causes(report, shown, look),
        waits::sharers(report, shown, look),
        waits::stages(report, look),
        path::critical_path(report, shown.top, look),
        path::work(&report.work, shown.top, look),
        path::transfers(&report.transfers, shown.top, look),
        costs::losses(report, look),
        costs::own(report, look),
        costs::notes(report, look),
    ];
    let shown: Vec<String> =
        sections.into_iter().filter(|lines| !lines.is_empty()).map(|lines| lines.join("\n")).collect();
    finish(&(shown.join("\n\n") + "\n"), look.color)
}

fn head(report: &TraceReport, shown: &Shown, look: &Look) -> Vec<String> {
    let command = shorten(&for_look(&shown.command, look), look.width.saturating_sub(2), look.unicode);
    let mut lines = vec![command];
    let said = sentence::sentence(report, shown.followed, look) + &ended(shown, look);
    lines.extend(wrap(&said, look.width, 0).iter().map(|line| tone(Tone::Strong, line)));
    lines.extend(next::next(report, look).iter().flat_map(|next| wrap(next, look.width, 2)));
    lines.extend(costs::level(report, shown.as_whom.as_deref(), look));
    lines.extend(skipped::skipped(&report.skipped, look));
    lines
}

/// What ended the command, if not itself, and how it ended, if not well.
fn ended(shown: &Shown, look: &Look) -> String {
    let by = shown.ended_by.map_or_else(String::new, |(by, after_s)| {
        let by = match by {
            EndedBy::Duration => "--duration",
            EndedBy::Signal => "a signal to whyfaster",
        };
        let what = if shown.followed { "Observing ended" } else { "Ended" };
        format!(" {what} after {} ({by}).", time(after_s, look.time_unit))
    });
    by + &match shown.exit_status {
        None | Some(0) => String::new(),
        Some(code @ 1..) => format!(" It ended with exit status {code}."),
        // It is the signal that we sent.
        Some(_) if shown.ended_by.is_some() => String::new(),
        Some(signal) => format!(" Signal {} ended it.", -signal),
    }
}

/// Blocked time by cause, with who was at the other end: the section alone, for reports of several traces.
pub(crate) fn blocked(report: &TraceReport, shown: &Shown, look: &Look) -> Vec<String> {
    waits::causes(report, shown, look)
}

/// A title, the rows, and what was left out.
fn section(title: &str, grid: Grid, hidden: usize, look: &Look) -> Vec<String> {
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
fn left(hidden: usize, look: &Look) -> Vec<String> {
    match hidden {
        0 => Vec::new(),
        1 => quiet("(1 more row; --top 0 shows all)", look),
        n => quiet(&format!("({n} more rows; --top 0 shows all)"), look),
    }
}

fn quiet(text: &str, look: &Look) -> Vec<String> {
    wrap_indented(text, look.width, 2).iter().map(|line| tone(Tone::Quiet, line)).collect()
}

/// A column of these rows.
fn column<T>(header: impl Into<String>, rows: &[T], cell: impl Fn(&T) -> String) -> Column {
    Column::new(header, rows.iter().map(cell).collect())
}

/// A group of one column, called by its header.
fn single<T>(header: &'static str, unit: &str, rows: &[T], cell: impl Fn(&T) -> String) -> Group {
    let title = if unit.is_empty() { header.to_owned() } else { format!("{header} {unit}") };
    Group::new(header, vec![column(title, rows, cell)])
}

/// The unit in which the largest of these times reads best: the small ones matter less here.
fn scale(times: impl IntoIterator<Item = f64>, look: &Look) -> Scale {
    Scale::choose([times.into_iter().fold(0.0, f64::max)], look.time_unit)
}

/// A time of a column whose unit its largest value decides: small ones end at six decimals, as in strace.
fn number(scale: Scale, seconds: f64) -> String {
    let text = scale.number(seconds);
    let shown = seconds / scale.seconds;
    match shown.abs() {
        _ if text.len() <= 7 => text,
        below if below < 1e-6 => "<0.000001".to_owned(),
        _ => format!("{shown:.6}"),
    }
}

/// A command as it is shown in a column.
fn name(command: &str, look: &Look) -> String {
    shorten(&for_look(command, look), 24, look.unicode)
}
