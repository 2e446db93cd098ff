//! What was observed and as whom, what was lost, what the observing cost, and what to know before believing a number.

use whyfaster_core::trace::counts::{CpuLost, Lost};
use whyfaster_core::trace::report::{Check, CommandRow, Level, Overhead, TraceReport, Untraced};
use whyfaster_words::display::Detail;
use whyfaster_words::look::Look;
use whyfaster_words::text::{Tone, for_look, tone, wrap, wrap_indented};
use whyfaster_words::units::{digits, factor, percent};

/// Measured and calibrated cost disagree from this factor on.
const APART: f64 = 1.5;
/// Observing is spoken of beside the user code of a command from this share on.
const MATTERS: f64 = 0.1;

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
    let more = match report.level {
        Level::Full => "",
        _ if look.detail >= Detail::Tables => "; what a level more would add stands below",
        _ => "; -v says what a level more would add",
    };
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
    let cpus: Vec<String> = report.lost.by_cpu.iter().filter_map(on_cpu).collect();
    if !cpus.is_empty() {
        parts.push(format!("by CPU: {}", cpus.join("; ")));
    }
    if !mended.is_empty() {
        parts.push(format!("{} {}", tone(Tone::Quiet, "mended:"), mended.join("; ")));
    }
    let mut lines: Vec<String> = parts.iter().flat_map(|part| wrap(part, look.width, 2)).collect();
    lines.extend(checks(&report.checks, look));
    lines
}

/// What is missing of a CPU, by the names that the classes have in the JSON.
fn on_cpu(lost: &CpuLost) -> Option<String> {
    let CpuLost { cpu, ring, map, storage, string, stack, late, .. } = *lost;
    let classes = [
        (ring, "ring"),
        (map, "map"),
        (storage, "storage"),
        (string, "string"),
        (stack, "stack"),
        (late, "late"),
    ];
    let classes: Vec<String> =
        classes.iter().filter(|(n, _)| *n > 0).map(|(n, class)| format!("{class} {n}")).collect();
    (!classes.is_empty()).then(|| format!("CPU {cpu}: {}", classes.join(", ")))
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
    let summary = match (failed.len(), checks) {
        (0, [check]) => format!("check: {}: holds", for_look(&check.what, look)),
        (0, _) => format!("checks: all {} hold (checks[] of --json names them)", checks.len()),
        (n, _) => tone(Tone::Bad, &format!("checks: {n} of {} fail", checks.len())),
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
    let share = |share: Option<f64>, what: &str| share.map(|share| format!("{} {what}", fine_percent(share)));
    let of_wall = share(cost.calibrated_share, "of the wall time by calibration");
    // More than all of it is no share: some of the cost of a call lies outside of the call.
    let of_calls = match cost.calls_share {
        Some(above) if above > 1.0 => Some("for system calls more than their own time".to_owned()),
        below => share(below, "of the time in system calls"),
    };
    let inside = [of_calls, share(cost.switches_share, "of the wall time for switches")];
    let inside: Vec<String> = inside.into_iter().flatten().collect();
    match of_wall {
        Some(all) if inside.is_empty() => parts.push(all),
        Some(all) => parts.push(format!("{all} ({})", inside.join(", "))),
        None => parts.push("not calibrated".to_owned()),
    }
    // What says something comes first: a ratio that is noise, or below 1, does not.
    let tells = cost.calibrated_share.is_none()
        || cost.traced_over_untraced.is_some()
            && cost.untraced.is_none_or(|it| it.distinguishable == Some(true) && it.high >= 1.0);
    parts.insert(usize::from(!tells), beside_untraced(cost));
    parts.extend(disagree(cost));
    parts.extend(share(cost.tool_share, "of a CPU for whyfaster itself"));
    wrap(&format!("own cost: {}", parts.join("; ")), look.width, 2)
}

/// What was measured as a share of the wall time, where it is far from what was calibrated.
fn disagree(cost: &Overhead) -> Option<String> {
    let ratio = cost.traced_over_untraced?;
    if ratio <= 1.0 || cost.untraced?.distinguishable != Some(true) {
        return None;
    }
    let (measured, calibrated) = (1.0 - 1.0 / ratio, cost.calibrated_share?);
    let apart = measured > calibrated * APART || calibrated > measured * APART;
    apart.then(|| {
        format!(
            "the two disagree: measured, tracing was {} of the wall time; believe the measured one",
            fine_percent(measured)
        )
    })
}

/// Commands of whose running outside of calls more than a tenth is the observing of their calls, by calibration, with that
/// share: at most all of it.
pub(super) fn observed_itself(report: &TraceReport) -> Vec<(&str, f64)> {
    let calls: u64 = report.syscalls.iter().map(|row| row.calls).sum();
    let Some(calls_s) = report.overhead.calls_s.filter(|_| calls > 0) else { return Vec::new() };
    let each_s = calls_s / calls as f64;
    report.commands.iter().filter_map(|row| of_user(report, row, each_s)).collect()
}

fn of_user<'a>(report: &TraceReport, row: &'a CommandRow, each_s: f64) -> Option<(&'a str, f64)> {
    let of_it = report.syscalls.iter().filter(|call| call.command.as_deref() == Some(&row.command));
    let cost_s = each_s * of_it.map(|call| call.calls).sum::<u64>() as f64;
    let user_s = row.running_user_s.filter(|user_s| *user_s > 0.0)?;
    Some((row.command.as_str(), (cost_s / user_s).min(1.0))).filter(|(_, share)| *share > MATTERS)
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

#[cfg(test)]
mod tests {
    use super::super::fixture::dispatch;
    use super::*;
    use crate::fixture::look;

    fn said(ratio: f64, calibrated: f64, calls: f64) -> String {
        let mut report = dispatch();
        let range = Untraced { runs: 3, low: ratio, high: ratio, distinguishable: Some(true) };
        report.overhead.traced_over_untraced = Some(ratio);
        report.overhead.untraced = Some(range);
        (report.overhead.calibrated_share, report.overhead.calls_share) = (Some(calibrated), Some(calls));
        own(&report, &look(400, false)).join(" ")
    }

    #[test]
    fn calibrated_and_measured_cost_are_set_beside_each_other() {
        let apart = said(2.5, 0.303, 1.49);
        assert!(apart.contains("disagree: measured, tracing was 60% of the wall time"), "{apart}");
        assert!(apart.contains("more than their own time") && !apart.contains("149%"), "{apart}");
        assert!(!said(2.0, 0.45, 0.5).contains("disagree"));
    }

    #[test]
    fn observing_is_told_from_user_code() {
        let mut report = dispatch();
        assert_eq!(observed_itself(&report), []);
        report.overhead.calls_s = Some(1e6);
        let all = observed_itself(&report);
        assert!(!all.is_empty() && all.iter().all(|(_, share)| *share <= 1.0), "{all:?}");
    }
}
