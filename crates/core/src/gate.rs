//! `--fail-if-slower` and `--fail-if`: whether an alternative takes more than allowed. Never decided on a point. Those of a fleet stand in
//! `fleet::gate`.

use crate::analysis::{Analysis, Change, Comparison, MetricEstimate};
use crate::metric::{Limit, Most};
use crate::verdict::{Ratio, Verdict};

/// What a gate says.
#[derive(Clone, Debug, PartialEq)]
pub enum Gate<T> {
    /// Nothing is above the limit at any level: every interval says so.
    Passed,
    /// The whole interval of this is above the limit.
    Failed(T),
    /// Some interval still holds both, or nothing was compared: missing data never passes.
    Inconclusive,
}

/// What is above the limit of a metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Excess<'a> {
    /// The alternative.
    pub alternative: &'a str,
    /// The ratio to the baseline, or the amount, as the limit is one or the other.
    pub value: f64,
}

/// Decides `--fail-if-slower`. `allowed` is a fraction: 0.05 allows 5% more time. What counts as the same (within `delta`) is
/// never too slow.
pub fn gate(analysis: &Analysis, allowed: f64, delta: f64) -> Gate<&Comparison> {
    let limit = 1.0 + allowed.max(delta);
    decide(
        analysis.levels.iter().map(|level| {
            let of = |it: &'_ Comparison| (it.low.filter(|_| it.verdict == Verdict::Slower), it.high);
            level.comparisons.iter().map(|it| Some((it, of(it)))).collect()
        }),
        limit,
    )
}

/// Decides the limit of a metric. As with the time, a ratio fails only where it is more by the rule of the verdicts.
pub fn limit<'a>(analysis: &'a Analysis, limit: &Limit, delta: f64) -> Gate<Excess<'a>> {
    match limit.most {
        Most::OverBaseline(allowed) => {
            let of = |it: &'a Comparison| {
                let found = it.metrics.iter().find(|it| it.metric == limit.metric)?;
                let Ratio { ratio, low, high } = found.ratio;
                let excess = Excess { alternative: &it.alternative, value: ratio };
                Some((excess, (low.filter(|_| found.change == Change::More), high)))
            };
            let levels = analysis.levels.iter().map(|level| level.comparisons.iter().map(of).collect());
            decide(levels, 1.0 + allowed.max(delta))
        }
        Most::Amount(most) => {
            let levels = analysis.levels.iter().map(|level| {
                let of = |it: &'a crate::analysis::LevelResult| {
                    let found = it.metrics.iter().find(|it| it.metric == limit.metric)?;
                    let MetricEstimate { estimate, .. } = found;
                    let excess = Excess { alternative: &it.alternative, value: estimate.median };
                    Some((excess, (estimate.low, estimate.high)))
                };
                level.results.iter().map(of).collect()
            });
            decide(levels, most)
        }
    }
}

/// What is held against the limit at one level, each with the two ends of its interval; `None` is what was not measured.
pub(crate) type Held<T> = Vec<Option<(T, (Option<f64>, Option<f64>))>>;

/// Holds all of these against the limit.
pub(crate) fn decide<T>(levels: impl Iterator<Item = Held<T>>, limit: f64) -> Gate<T> {
    let (mut all_pass, mut levels) = (true, levels.peekable());
    all_pass &= levels.peek().is_some();
    for level in levels {
        all_pass &= !level.is_empty();
        for held in level {
            match held {
                Some((found, (Some(low), _))) if low > limit => return Gate::Failed(found),
                Some((_, (_, Some(high)))) if high <= limit => {}
                _ => all_pass = false,
            }
        }
    }
    if all_pass { Gate::Passed } else { Gate::Inconclusive }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::{Level, LevelResult, MetricChange};
    use crate::metric::Metric;
    use crate::verdict::Method;
    use whyfaster_stats::Estimate;

    fn analysis(verdict: Verdict, low: Option<f64>, high: Option<f64>) -> Analysis {
        let comparison = Comparison {
            alternative: "b".into(),
            baseline: "a".into(),
            ratio: 1.1,
            low,
            high,
            less_sure: None,
            corrected: None,
            verdict,
            rounds: 10,
            rounds_needed: None,
            method: Method::Sign,
            ratio_of_totals: None,
            work: None,
            share: None,
            reason: None,
            metrics: Vec::new(),
        };
        let level = Level { load: 1, results: Vec::new(), comparisons: vec![comparison], floor: None };
        Analysis { levels: vec![level], ..Analysis::default() }
    }

    #[test]
    fn the_whole_interval_decides() {
        let slower = analysis(Verdict::Slower, Some(1.06), Some(1.2));
        assert!(matches!(gate(&slower, 0.05, 0.02), Gate::Failed(_)));
        assert_eq!(gate(&slower, 0.25, 0.02), Gate::Passed);
        assert_eq!(gate(&slower, 0.10, 0.02), Gate::Inconclusive);
    }

    #[test]
    fn faster_and_same_pass() {
        assert_eq!(gate(&analysis(Verdict::Faster, Some(0.5), Some(0.9)), 0.0, 0.02), Gate::Passed);
        assert_eq!(gate(&analysis(Verdict::Same, Some(1.01), Some(1.015)), 0.0, 0.02), Gate::Passed);
    }

    #[test]
    fn missing_data_never_passes_and_hides_no_failure() {
        assert_eq!(gate(&Analysis::default(), 0.1, 0.02), Gate::Inconclusive);
        assert_eq!(gate(&analysis(Verdict::Undecided, None, None), 0.1, 0.02), Gate::Inconclusive);
        let unmeasured = Level { load: 10, results: Vec::new(), comparisons: Vec::new(), floor: None };
        let mut half = analysis(Verdict::Faster, Some(0.5), Some(0.9));
        half.levels.push(unmeasured.clone());
        assert_eq!(gate(&half, 0.1, 0.02), Gate::Inconclusive);
        let mut slower = analysis(Verdict::Slower, Some(1.5), Some(1.9));
        slower.levels.insert(0, unmeasured);
        assert!(matches!(gate(&slower, 0.1, 0.02), Gate::Failed(_)));
    }

    fn memory(most: Most) -> Limit {
        Limit { metric: Metric::MemoryPeakResident, most }
    }

    #[test]
    fn a_metric_is_held_against_the_baseline() {
        let of = |change, low, high| {
            let mut analysis = analysis(Verdict::Same, Some(1.0), Some(1.0));
            let ratio = Ratio { ratio: 1.2, low, high };
            let metrics = vec![MetricChange { metric: Metric::MemoryPeakResident, ratio, change }];
            analysis.levels[0].comparisons[0].metrics = metrics;
            match limit(&analysis, &memory(Most::OverBaseline(0.05)), 0.02) {
                Gate::Passed => 0,
                Gate::Failed(excess) => {
                    assert_eq!(excess, Excess { alternative: "b", value: 1.2 });
                    3
                }
                Gate::Inconclusive => 4,
            }
        };
        assert_eq!(of(Change::More, Some(1.1), Some(1.3)), 3);
        assert_eq!(of(Change::More, Some(1.01), Some(1.04)), 0);
        assert_eq!(of(Change::More, Some(1.01), Some(1.3)), 4);
        assert_eq!(of(Change::Undecided, Some(1.1), Some(1.3)), 4, "it is not above the floor");
        assert_eq!(of(Change::Undecided, None, None), 4);
        let unmeasured = analysis(Verdict::Faster, Some(0.5), Some(0.6));
        assert_eq!(limit(&unmeasured, &memory(Most::OverBaseline(0.05)), 0.02), Gate::Inconclusive);
    }

    #[test]
    fn an_amount_holds_for_every_alternative() {
        let result = |low| LevelResult {
            alternative: "a".into(),
            metrics: vec![MetricEstimate {
                metric: Metric::MemoryPeakResident,
                estimate: Estimate { median: 100.0, low, high: Some(110.0) },
            }],
            ..LevelResult::default()
        };
        let of = |low, most| {
            let level = Level { load: 1, results: vec![result(low)], comparisons: Vec::new(), floor: None };
            let analysis = Analysis { levels: vec![level], ..Analysis::default() };
            match limit(&analysis, &memory(Most::Amount(most)), 0.02) {
                Gate::Passed => 0,
                Gate::Failed(_) => 3,
                Gate::Inconclusive => 4,
            }
        };
        assert_eq!((of(Some(90.0), 80.0), of(Some(90.0), 120.0), of(Some(90.0), 100.0)), (3, 0, 4));
        assert_eq!(of(None, 80.0), 4, "too few rounds for an interval");
    }
}
