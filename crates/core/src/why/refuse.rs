//! When nothing is explained, and why.

use super::account::Alternative;
use super::input::ExplainInput;
use super::statement::Refusal;
use crate::trace::report::{Level, WorkKind};
use crate::verdict::Verdict;
use whyfaster_stats::Estimate;

/// Why no difference of this measurement can be explained, if so. Asked before the accounts are made.
pub(super) fn whole(given: &ExplainInput<'_>, alone: usize) -> Option<Refusal> {
    let mut full = given.traced.iter().filter(|it| it.report.level == Level::Full).peekable();
    if full.peek().is_some() && full.all(|it| it.report.critical_path.is_empty()) {
        return Some(Refusal::NoPath);
    }
    (alone == 0 && !given.traced.is_empty()).then_some(Refusal::NoCopyAlone)
}

/// Why the difference of these two cannot be explained, if so.
pub(super) fn pair(
    alternative: &Alternative<'_>,
    baseline: &Alternative<'_>,
    wall_s: &Estimate,
    verdict: Option<Verdict>,
) -> Option<Refusal> {
    let of = [alternative.name.to_owned(), baseline.name.to_owned()];
    match verdict {
        Some(Verdict::Same) => return Some(Refusal::Same { of }),
        Some(Verdict::Undecided) | None => return Some(Refusal::Undecided { of }),
        Some(Verdict::Faster | Verdict::Slower) => {}
    }
    for side in [alternative, baseline] {
        let of = side.name.to_owned();
        let all = side.runs.is_empty();
        match side.lossy {
            0 if all && side.unseen == 0 => return Some(Refusal::NoTrace { of }),
            0 if all => return Some(Refusal::NoUsableTrace { of, runs: side.unseen }),
            lossy if all || lossy > side.runs.len() => return Some(Refusal::Lossy { of, lossy, all }),
            _ => {}
        }
    }
    let seconds = alternative.traced_s - baseline.traced_s;
    if seconds * wall_s.median <= 0.0 {
        return Some(Refusal::OtherOrder { of, seconds });
    }
    let cost_s = dearer_to_observe_s(alternative, baseline, wall_s)?;
    let refused = !counts_tell(alternative, baseline);
    refused.then_some(Refusal::DearerToObserve { of, cost_s, difference_s: wall_s.median })
}

/// The most that observing costs per call, switch, process and sample, even on a slow machine. More than that is another speed of the CPU.
const MOST_EACH_S: f64 = 20e-6;

/// What observing cost the one more than the other beyond the calibration, where that is more than their difference.
pub(super) fn dearer_to_observe_s(
    alternative: &Alternative<'_>,
    baseline: &Alternative<'_>,
    wall_s: &Estimate,
) -> Option<f64> {
    let cost_s = alternative.unattributed_s() - baseline.unattributed_s();
    let dearer = if cost_s > 0.0 { alternative } else { baseline };
    (cost_s.abs() >= wall_s.median.abs() && cost_s.abs() <= MOST_EACH_S * observed(dearer)).then_some(cost_s)
}

/// Numbers of observed calls, processes, switches and samples of a run.
fn observed(side: &Alternative<'_>) -> f64 {
    side.median(|run| {
        let counted = run.report.work.iter().filter(|row| row.kind != WorkKind::PageFaults);
        let operations: u64 = counted.filter_map(|row| row.count).sum();
        let switches =
            run.report.commands.iter().map(|it| it.voluntary.unwrap_or(0) + it.involuntary.unwrap_or(0));
        (operations + switches.sum::<u64>() + run.own.samples) as f64
    })
}

/// Whether the two may be explained by counts after this refusal: they were told apart, and so far that what counts show is no chance.
pub(super) fn leaves_counts(refusal: &Refusal, (a, b): (&Alternative<'_>, &Alternative<'_>)) -> bool {
    let told_apart = !matches!(refusal, Refusal::Same { .. } | Refusal::Undecided { .. });
    told_apart && a.untraced_s.max(b.untraced_s) >= FAR * a.untraced_s.min(b.untraced_s)
}

/// One takes so many times as long as the other, and its CPU time shows so much of that: then counts name the cause, however much
/// observing cost.
const FAR: f64 = 2.0;
const BY_CPU_TIME: f64 = 0.5;

fn counts_tell(alternative: &Alternative<'_>, baseline: &Alternative<'_>) -> bool {
    let (longer, shorter) = match alternative.untraced_s > baseline.untraced_s {
        true => (alternative, baseline),
        false => (baseline, alternative),
    };
    let more_s = longer.cpu_s.zip(shorter.cpu_s).map_or(0.0, |(more, less)| more - less);
    longer.untraced_s >= FAR * shorter.untraced_s
        && more_s >= BY_CPU_TIME * (longer.untraced_s - shorter.untraced_s)
}
