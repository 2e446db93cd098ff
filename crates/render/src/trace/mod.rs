//! A trace on the screen: one sentence, then as many sections as were asked for, one for each question. Sections without content are left
//! out; what could not be seen stands under "not measured".

pub mod calls;
mod costs;
pub mod flame;
pub mod hottest;
pub(super) mod next;
pub mod outputs;
pub(super) mod path;
pub(super) mod sentence;
mod shown;
mod skipped;
mod syscalls;
pub(super) mod times;
mod waits;
pub(super) mod who;

#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
mod tests;

use whyfaster_core::trace::record::EndedBy;
use whyfaster_core::trace::report::{Level, TraceReport};
use whyfaster_words::display::Detail;
use whyfaster_words::look::Look;
use whyfaster_words::text::{Tone, for_look, shorten, tone, wrap};
use whyfaster_words::units::time;

use super::first;
use super::names::Names;
use super::notes;
use super::section::paragraphs;

pub use shown::Shown;

/// The screen in the detail that was asked for; empty for `--style none`.
pub fn screen(report: &TraceReport, shown: &Shown, look: &Look) -> String {
    if look.quiet {
        return String::new();
    }
    let parts = match look.detail {
        Detail::Sentence => vec![said(report, shown, look)],
        Detail::Screen => first(report, shown, look),
        Detail::Tables => everything(report, shown, look),
        Detail::Everything => everything(report, &Shown { top: 0, ..shown.clone() }, look),
    };
    paragraphs(parts, look)
}

/// Rows of a table on the first screen.
const ROWS: usize = 4;

/// The first screen: what it did, what to do next, where the time went, and by whom.
fn first(report: &TraceReport, shown: &Shown, look: &Look) -> Vec<Vec<String>> {
    let more = first::more(look);
    let mut head = head(report, shown, look);
    if report.level != Level::Full {
        head.extend(costs::level(report, None, look));
    }
    head.extend(skipped::skipped(&report.skipped, look));
    // An empty line before each of the other parts.
    let mut room = look.lines.saturating_sub(head.len() + more.len() + 3);
    let doubts = notes::doubts(&report.warnings, [], &Names::of(&[], look), look, room.min(5));
    // The first doubt is said whatever it takes.
    room = room.saturating_sub(doubts.len());
    head.extend(doubts);
    let mut part = |table: &dyn Fn(&Shown) -> Vec<String>| {
        // A title and the names of the columns, then rows, then how many rows there are besides.
        let drawn = (1..=ROWS).rev().map(|top| table(&Shown { top, ..shown.clone() }));
        let fits = drawn.into_iter().find(|lines| lines.len() <= room).unwrap_or_default();
        room -= fits.len();
        fits
    };
    let path = part(&|shown| path::chain(&report.critical_path, shown.top, look));
    let commands = part(&|shown| times::commands(report, shown, look));
    vec![head, path, commands, more]
}

fn everything(report: &TraceReport, shown: &Shown, look: &Look) -> Vec<Vec<String>> {
    let mut head = head(report, shown, look);
    head.extend(costs::level(report, shown.as_whom.as_deref(), look));
    head.extend(skipped::skipped(&report.skipped, look));
    vec![
        head,
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
        path::files(&report.files, shown.top, look),
        costs::losses(report, look),
        costs::own(report, look),
        notes::statements(&report.warnings, &report.not_measured, &Names::of(&[], look), look),
    ]
}

fn head(report: &TraceReport, shown: &Shown, look: &Look) -> Vec<String> {
    let command = shorten(&for_look(&shown.command, look), look.width.saturating_sub(2), look.unicode);
    let mut lines = vec![command];
    lines.extend(said(report, shown, look));
    lines.extend(next::next(report, look).iter().flat_map(|next| wrap(next, look.width, 2)));
    lines
}

/// The sentence.
fn said(report: &TraceReport, shown: &Shown, look: &Look) -> Vec<String> {
    let said = sentence::sentence(report, shown.followed, look) + &ended(shown, look);
    wrap(&said, look.width, 0).iter().map(|line| tone(Tone::Strong, line)).collect()
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
pub fn blocked(report: &TraceReport, shown: &Shown, look: &Look) -> Vec<String> {
    waits::causes(report, shown, look)
}

/// Sections for a page that draws the others itself: an anchor, a title, the lines.
pub(super) fn sections(
    report: &TraceReport,
    shown: &Shown,
    look: &Look,
) -> [(&'static str, &'static str, Vec<String>); 5] {
    let waits = [waits::causes(report, shown, look), waits::sharers(report, shown, look)].concat();
    let moved =
        [path::transfers(&report.transfers, shown.top, look), path::files(&report.files, shown.top, look)]
            .concat();
    let cost = [costs::losses(report, look), costs::own(report, look)].concat();
    [
        (
            "tree",
            "Who started whom",
            [times::tree(report, shown, look), waits::searches(report, shown, look)].concat(),
        ),
        ("waits", "What it waited for", waits),
        ("stages", "Stages of pipelines", waits::stages(report, look)),
        ("moved", "Data moved", moved),
        ("cost", "What observing cost, and what was lost", cost),
    ]
}
