//! When nothing is explained, and why.

use super::account::Alternative;
use super::input::ExplainInput;
use super::words::time;
use crate::stats::Estimate;
use crate::trace::report::Level;
use crate::verdict::Verdict;

/// Why no difference of this measurement can be explained, if so. Asked before the accounts are made.
pub(super) fn whole(given: &ExplainInput<'_>, alone: usize) -> Option<String> {
    if let Some(level) = given.traced.iter().map(|it| it.report.level).find(|level| *level != Level::Full) {
        return Some(format!(
            "the traces are of level {}, which does not see why a process waits: run as root, or see 'whyfaster doctor'",
            level_name(level)
        ));
    }
    if given.traced.iter().all(|it| it.report.critical_path.is_empty()) {
        return Some("the traces have no critical path".to_owned());
    }
    if alone == 0 {
        return Some(
            "no copy ran alone: explain needs load 1 in batch or closed mode (--load 1,N), to compare with"
                .to_owned(),
        );
    }
    None
}

fn level_name(level: Level) -> &'static str {
    match level {
        Level::Rusage => "rusage",
        Level::Unprivileged => "unprivileged",
        Level::Ptrace => "ptrace",
        Level::Full => "full",
    }
}

/// Why the difference of these two cannot be explained, if so.
pub(super) fn pair(
    alternative: &Alternative<'_>,
    baseline: &Alternative<'_>,
    wall_s: &Estimate,
    verdict: Option<Verdict>,
) -> Option<String> {
    let (a, b) = (&alternative.label, &baseline.label);
    for side in [alternative, baseline] {
        if side.runs.is_empty() {
            return Some(match (side.lossy, side.unseen) {
                (0, 0) => format!(
                    "no trace of {}: none of its observed runs came to its end (the time was over, or they failed; \
                     --max-time allows more)",
                    side.label
                ),
                (0, n) => format!(
                    "no trace of {} that could explain it: of its {n} observed runs none has a critical path",
                    side.label
                ),
                (n, _) => format!("all {n} traces of {} lost records: see --ring-size", side.label),
            });
        }
        if side.lossy > side.runs.len() {
            return Some(format!("most traces of {} lost records: see --ring-size", side.label));
        }
    }
    match verdict {
        Some(Verdict::Same) => {
            return Some(format!("{a} and {b} take the same time: there is nothing to explain"));
        }
        Some(Verdict::Undecided) | None => {
            return Some(format!("{a} and {b} could not be told apart: there is nothing to explain yet"));
        }
        Some(Verdict::Faster | Verdict::Slower) => {}
    }
    let traced = alternative.traced_s - baseline.traced_s;
    if traced * wall_s.median <= 0.0 {
        return Some(format!(
            "observed, {a} and {b} are in the other order ({} apart): what is seen then does not explain how they run \
             unobserved",
            time(traced)
        ));
    }
    let cost = alternative.unattributed_s() - baseline.unattributed_s();
    if cost.abs() >= wall_s.median.abs() {
        return Some(format!(
            "observing costs {} more for one of {a} and {b} than the calibration explains, and the difference is only {}",
            time(cost),
            time(wall_s.median)
        ));
    }
    None
}
