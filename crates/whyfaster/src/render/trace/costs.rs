//! What was observed and as whom, what was lost, what the observing cost, and what to know before believing a number.

use whyfaster_core::trace::counts::Lost;
use whyfaster_core::trace::report::{Check, Level, Overhead, TraceReport, Untraced};

use super::super::look::Look;
use super::super::text::{Tone, capitalise, for_look, tone, wrap, wrap_indented};
use super::super::units::{digits, factor, percent};

/// What was observed, and as whom the command ran.
pub(super) fn level(report: &TraceReport, as_whom: Option<&str>, look: &Look) -> Vec<String> {
    let what = match report.level {
        Level::Full => "full: every system call, switch and wake-up, seen by BPF programs in the kernel",
        Level::Ptrace => "ptrace: every system call stopped twice, so all times are longer than without",
        Level::Unprivileged => {
            "unprivileged: forks, execs and exits by ptrace, run and wait times of every task"
        }
        Level::Rusage => "rusage: only what the kernel adds up for a parent",
    };
    let whom = as_whom.map_or_else(String::new, |whom| format!("; it ran as {}", for_look(whom, look)));
    let more = if report.level == Level::Full { "" } else { "; what a level more would add stands below" };
    wrap(&format!("level: {what}{whom}{more}"), look.width, 2)
}

/// What did not arrive, and whether what arrived fits together.
pub(super) fn losses(report: &TraceReport, look: &Look) -> Vec<String> {
    let classes = classes(&report.lost);
    let mended = mended(&report.lost);
    let mut parts = Vec::new();
    if classes.is_empty() {
        // A level that streams nothing can lose nothing; saying "complete" of it would be wrong.
        if report.level == Level::Full {
            parts.push("lost: nothing".to_owned());
        }
    } else {
        parts.push(format!("{} {}", tone(Tone::Unsure, "lost:"), classes.join("; ")));
    }
    let cpus: Vec<String> = report
        .lost
        .by_cpu
        .iter()
        .enumerate()
        .filter(|(_, lost)| **lost > 0)
        .map(|(cpu, lost)| format!("CPU {cpu}: {lost}"))
        .collect();
    if !cpus.is_empty() {
        parts.push(format!("by CPU: {}", cpus.join(", ")));
    }
    if !mended.is_empty() {
        parts.push(format!("{} {}", tone(Tone::Quiet, "mended:"), mended.join("; ")));
    }
    let mut lines: Vec<String> = parts.iter().flat_map(|part| wrap(part, look.width, 2)).collect();
    lines.extend(checks(&report.checks, look));
    lines
}

fn classes(lost: &Lost) -> Vec<String> {
    named(&[
        (lost.ring, "records for which the ring had no room"),
        (lost.map, "counters for which a map had no room"),
        (lost.storage, "tasks that were not followed, for want of storage"),
        (lost.string, "paths that could not be read"),
        (lost.stack, "stacks that could not be taken"),
        (lost.recursion, "runs of a program that the kernel skipped"),
        (lost.late, "records that came too late for their own time"),
    ])
}

/// What is missing and takes nothing from the numbers: the next record, or the kernel's account, puts it right.
fn mended(lost: &Lost) -> Vec<String> {
    named(&[
        (lost.unfinished, "intervals without an end (counted up to the end of what was seen)"),
        (lost.gaps, "switches that were not shown (put right by the record behind them)"),
    ])
}

fn named(counts: &[(u64, &str)]) -> Vec<String> {
    counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{what}: {count}")).collect()
}

fn checks(checks: &[Check], look: &Look) -> Vec<String> {
    if checks.is_empty() {
        return Vec::new();
    }
    let failed: Vec<&Check> = checks.iter().filter(|check| !check.holds).collect();
    let what: Vec<&str> = checks.iter().map(|check| check.what.as_str()).collect();
    let summary = match failed.len() {
        0 => format!("checks: all {} hold ({})", checks.len(), for_look(&what.join("; "), look)),
        n => tone(Tone::Bad, &format!("checks: {n} of {} fail", checks.len())),
    };
    let mut lines = wrap(&summary, look.width, 2);
    for check in failed {
        let text = format!(
            "{}: {} against {}, may differ by {}",
            for_look(&check.what, look),
            digits(check.left),
            digits(check.right),
            percent(check.within)
        );
        lines.extend(wrap_indented(&text, look.width, 2));
    }
    lines
}

/// What the observing cost.
pub(super) fn own(report: &TraceReport, look: &Look) -> Vec<String> {
    let cost = &report.overhead;
    let mut parts = Vec::new();
    parts.push(beside_untraced(cost));
    let share = |share: Option<f64>, what: &str| share.map(|share| format!("{} {what}", fine_percent(share)));
    let of_wall = share(cost.calibrated_share, "of the wall time by calibration");
    let inside = [
        share(cost.calls_share, "of the time in system calls"),
        share(cost.switches_share, "of the wall time for switches"),
    ];
    let inside: Vec<String> = inside.into_iter().flatten().collect();
    match of_wall {
        Some(all) if inside.is_empty() => parts.push(all),
        Some(all) => parts.push(format!("{all} ({})", inside.join(", "))),
        None => parts.push("not calibrated".to_owned()),
    }
    parts.extend(share(cost.tool_share, "of a CPU for whyfaster itself"));
    wrap(&format!("own cost: {}", parts.join("; ")), look.width, 2)
}

/// The traced run beside the untraced ones: a ratio that is noise is not given as one.
fn beside_untraced(cost: &Overhead) -> String {
    let Some(ratio) = cost.traced_over_untraced else {
        return "no untraced run was made to compare with".to_owned();
    };
    let took = format!("the traced run took {} the time of an untraced one", factor(ratio));
    let Some(Untraced { runs, low, high, distinguishable }) = cost.untraced else { return took };
    let range = format!("{} to {}", factor(low), factor(high));
    match distinguishable {
        None => format!("{took} (one run, so its spread is not known)"),
        Some(true) if high < 1.0 => format!(
            "the traced run took less time than {runs} untraced ones ({range}): something else disturbed them more than tracing costs"
        ),
        Some(true) => format!("{took} ({range} over {runs} runs)"),
        Some(false) => format!(
            "the traced run is not distinguishable from {runs} untraced ones ({range}): they differ as much among themselves"
        ),
    }
}

/// Two digits are enough for a cost, and a cost below a thousandth is one.
fn fine_percent(share: f64) -> String {
    if share > 0.0 && share < 0.001 {
        "below 0.1%".to_owned()
    } else {
        percent((share * 1000.0).round() / 1000.0)
    }
}

/// The warnings, then what this level could not see, with the reason.
pub(super) fn notes(report: &TraceReport, look: &Look) -> Vec<String> {
    let mut lines = Vec::new();
    for warning in &report.warnings {
        let what = for_look(&warning.what, look);
        let text = format!(
            "{} {}. {}",
            tone(Tone::Unsure, "warning:"),
            what.trim_end_matches('.'),
            capitalise(&for_look(&warning.remedy, look))
        );
        lines.extend(wrap(&text, look.width, 2));
    }
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for missing in &report.not_measured {
        match reasons.iter_mut().find(|(why, _)| *why == missing.why) {
            Some((_, whats)) => whats.push(&missing.what),
            None => reasons.push((&missing.why, vec![&missing.what])),
        }
    }
    for (why, whats) in reasons {
        let text = format!("{}: {}", for_look(&whats.join(", "), look), for_look(why, look));
        lines.extend(wrap(&format!("{} {text}", tone(Tone::Unsure, "not measured:")), look.width, 2));
    }
    lines
}
