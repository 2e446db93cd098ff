//! When nothing is explained, and why.

use super::account::Alternative;
use super::input::ExplainInput;
use super::statement::Refusal;
use crate::stats::Estimate;
use crate::trace::report::Level;
use crate::verdict::Verdict;

/// Why no difference of this measurement can be explained, if so. Asked before the accounts are made.
pub(super) fn whole(given: &ExplainInput<'_>, alone: usize) -> Option<Refusal> {
    if let Some(level) = given.traced.iter().map(|it| it.report.level).find(|level| *level != Level::Full) {
        return Some(Refusal::Level { level });
    }
    if given.traced.iter().all(|it| it.report.critical_path.is_empty()) {
        return Some(Refusal::NoPath);
    }
    (alone == 0).then_some(Refusal::NoCopyAlone)
}

/// Why the difference of these two cannot be explained, if so.
pub(super) fn pair(
    alternative: &Alternative<'_>,
    baseline: &Alternative<'_>,
    wall_s: &Estimate,
    verdict: Option<Verdict>,
) -> Option<Refusal> {
    let of = [alternative.name.to_owned(), baseline.name.to_owned()];
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
    match verdict {
        Some(Verdict::Same) => return Some(Refusal::Same { of }),
        Some(Verdict::Undecided) | None => return Some(Refusal::Undecided { of }),
        Some(Verdict::Faster | Verdict::Slower) => {}
    }
    let seconds = alternative.traced_s - baseline.traced_s;
    if seconds * wall_s.median <= 0.0 {
        return Some(Refusal::OtherOrder { of, seconds });
    }
    let cost_s = alternative.unattributed_s() - baseline.unattributed_s();
    let dearer = cost_s.abs() >= wall_s.median.abs();
    dearer.then_some(Refusal::DearerToObserve { of, cost_s, difference_s: wall_s.median })
}
