//! `--fail-if-slower`: whether an alternative is slower than the baseline by more than allowed. Never decided on a point.

use crate::analysis::{Analysis, Comparison};
use crate::verdict::Verdict;

/// What the gate says.
#[derive(Clone, Debug, PartialEq)]
pub enum Gate {
    /// No alternative is slower by more than allowed at any level: every interval says so.
    Passed,
    /// This comparison's whole interval is above what is allowed.
    Slower(Box<Comparison>),
    /// Some interval still holds both, or nothing was compared: missing data never passes.
    Inconclusive,
}

/// Decides the gate. `allowed` is a fraction: 0.05 allows 5% more time. What counts as the same (within `delta`) is
/// never too slow.
pub fn gate(analysis: &Analysis, allowed: f64, delta: f64) -> Gate {
    let limit = 1.0 + allowed.max(delta);
    let comparisons = || analysis.levels.iter().flat_map(|level| &level.comparisons);
    let too_slow = |it: &&Comparison| it.verdict == Verdict::Slower && it.low.is_some_and(|low| low > limit);
    if let Some(found) = comparisons().find(too_slow) {
        return Gate::Slower(Box::new(found.clone()));
    }
    let all_compared =
        !analysis.levels.is_empty() && analysis.levels.iter().all(|level| !level.comparisons.is_empty());
    let all_pass = comparisons().all(|it| it.high.is_some_and(|high| high <= limit));
    if all_compared && all_pass { Gate::Passed } else { Gate::Inconclusive }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Level;
    use crate::verdict::Method;

    fn analysis(verdict: Verdict, low: Option<f64>, high: Option<f64>) -> Analysis {
        let comparison = Comparison {
            alternative: "b".into(),
            baseline: "a".into(),
            ratio: 1.1,
            low,
            high,
            verdict,
            rounds: 10,
            rounds_needed: None,
            method: Method::Sign,
            ratio_of_totals: None,
            work: None,
            share: None,
            reason: None,
        };
        let level = Level { load: 1, results: Vec::new(), comparisons: vec![comparison], floor: None };
        Analysis { levels: vec![level], ..Analysis::default() }
    }

    #[test]
    fn the_whole_interval_decides() {
        let slower = analysis(Verdict::Slower, Some(1.06), Some(1.2));
        assert!(matches!(gate(&slower, 0.05, 0.02), Gate::Slower(_)));
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
        assert!(matches!(gate(&slower, 0.1, 0.02), Gate::Slower(_)));
    }
}
