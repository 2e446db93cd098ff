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
mod shown;
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

use super::look::Look;
use super::text::{Tone, finish, for_look, shorten, tone, wrap};
use super::units::time;
pub use shown::Shown;

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
