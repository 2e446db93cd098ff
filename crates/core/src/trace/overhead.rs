//! What the observing cost, as shares.

use super::counts::Counts;
use super::report::Overhead;
use super::setting::Facts;

/// Below this wall time the share of whyfaster's own CPU time is that of its beginning and end: it says nothing.
const LEAST_WALL_S: f64 = 0.01;

/// A share, where there is something to share.
pub(super) fn ratio(part: f64, whole: f64) -> Option<f64> {
    (whole > 0.0).then(|| part / whole)
}

/// The calibrated cost of what was observed, beside what was measured.
pub(super) fn overhead(counts: &Counts, facts: &Facts, wall_s: f64) -> Overhead {
    let own = &counts.own;
    let calls = counts.calls.iter().map(|cell| cell.entered).sum::<u64>();
    let in_calls = counts.calls.iter().map(|cell| cell.total_ns).sum::<Option<u64>>();
    let calls_s = own.call_ns.map(|ns| ns * number(calls) / super::ledger::NS);
    let switches_s = own.switch_ns.map(|ns| ns * number(own.switches) / super::ledger::NS);
    // Where no process was made, none of their cost is missing.
    let processes_s = match counts.lives.forks.unwrap_or(0) {
        0 => Some(0.0),
        made => own.process_ns.map(|ns| ns * number(made) / super::ledger::NS),
    };
    let failed_s = match counts.lives.failed_execs.unwrap_or(0) {
        0 => Some(0.0),
        failed => own.failed_exec_ns.map(|ns| ns * number(failed) / super::ledger::NS),
    };
    let sampling_s = Some(super::ledger::seconds(own.sampling_ns));
    let all = [calls_s, switches_s, processes_s, failed_s, sampling_s].into_iter().sum::<Option<f64>>();
    Overhead {
        traced_over_untraced: facts.traced_over_untraced,
        untraced: facts.untraced,
        calibrated_share: all.and_then(|cost| ratio(cost, wall_s)),
        calls_share: calls_s.zip(in_calls).and_then(|(cost, all)| ratio(cost, super::ledger::seconds(all))),
        switches_share: switches_s.and_then(|cost| ratio(cost, wall_s)),
        tool_share: ratio(super::ledger::seconds(own.tool_ns), wall_s).filter(|_| wall_s >= LEAST_WALL_S),
        calls_s,
    }
}

#[allow(clippy::cast_precision_loss, reason = "counts far below 2^53")]
fn number(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::super::report::Untraced;

    #[test]
    fn a_run_is_told_from_others_only_when_it_is_far_from_them() {
        let told =
            |traced: f64, untraced: &[f64]| Untraced::of(traced, untraced).and_then(|it| it.distinguishable);
        assert_eq!(told(1.3, &[1.0, 1.1, 1.05]), Some(true));
        // As far from them as they are from each other.
        assert_eq!(told(1.19, &[1.0, 1.1, 1.05]), Some(false));
        assert_eq!(told(0.2, &[1.0, 0.3]), Some(false));
        assert_eq!(told(0.2, &[1.0, 0.9]), Some(true));
        assert_eq!(told(2.0, &[1.0]), None);
        assert_eq!(Untraced::of(1.0, &[]), None);
        assert_eq!(Untraced::of(1.0, &[0.0]), None);
        let it = Untraced::of(3.0, &[1.0, 2.0]).expect("there are runs");
        assert_eq!((it.runs, it.low, it.high), (2, 1.5, 3.0));
    }
}
