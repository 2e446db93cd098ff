//! Statistics: pure functions over slices, from per-round numbers to intervals. The step between samples and verdicts.
//!
//! Nearly everything works on order statistics and signs, not on moments, so that ties, infinite values and long tails need
//! no special case; [`student`] is for what is too short for that, and says what it assumes. Randomness (the bootstrap) comes from a seed that the caller gives.
#![forbid(unsafe_code)]

pub mod bootstrap;
pub mod eprocess;
pub mod looks;
pub mod order;
pub mod quantile;
pub mod random;
pub mod ranks;
pub mod scalability;
pub mod sign;
pub mod student;

use serde::{Deserialize, Serialize};

/// A median with its interval. `low` and `high` are null until there are enough rounds for one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Estimate {
    /// Median.
    pub median: f64,
    /// Lower end of the interval.
    pub low: Option<f64>,
    /// Upper end of the interval.
    pub high: Option<f64>,
}

/// A number that is known exactly, or known only to lie between two ends (a time-out leaves one end open).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observation {
    /// It is at least this.
    pub low: f64,
    /// What was read. It stands for the number where one number is needed, and lies between the ends.
    pub value: f64,
    /// It is at most this.
    pub high: f64,
}

impl From<f64> for Observation {
    fn from(value: f64) -> Self {
        Self { low: value, value, high: value }
    }
}

impl Observation {
    /// A number of which only a lower bound is known.
    pub fn at_least(value: f64) -> Self {
        Self { low: value, value, high: f64::INFINITY }
    }

    /// The natural logarithm of this positive number.
    #[must_use]
    pub fn ln(self) -> Self {
        Self { low: self.low.ln(), value: self.value.ln(), high: self.high.ln() }
    }

    /// This number less another. Where both are only lower bounds, nothing is known of the difference: it lies between both infinities.
    #[must_use]
    pub fn minus(self, base: Self) -> Self {
        Self { low: self.low - base.high, value: self.value - base.value, high: self.high - base.low }
    }
}

/// The median of what was read; `None` for an empty slice.
pub fn median_of(observations: &[Observation]) -> Option<f64> {
    quantile::median(&observations.iter().map(|o| o.value).collect::<Vec<_>>())
}

/// The interval that remains when `skip` order statistics are left out at each side.
///
/// Low ends are ordered by themselves and high ends by themselves: the k-th smallest low end is at most the k-th smallest
/// true value, which is at most the k-th smallest high end. So the interval covers whatever hides behind a time-out.
pub fn order_interval(observations: &[Observation], skip: usize) -> Option<(f64, f64)> {
    let n = observations.len();
    if n == 0 || 2 * skip >= n {
        return None;
    }
    let lows = quantile::sorted(observations.iter().map(|o| o.low));
    let highs = quantile::sorted(observations.iter().map(|o| o.high));
    Some((lows[skip], highs[n - 1 - skip]))
}

/// The largest of 0 to `end` that fits, where everything below one that fits fits too. `None` if not even 0 does.
fn largest_fitting(end: usize, fits: impl Fn(usize) -> bool) -> Option<usize> {
    if !fits(0) {
        return None;
    }
    let (mut good, mut open) = (0, end + 1);
    while open - good > 1 {
        let middle = good + (open - good) / 2;
        if fits(middle) { good = middle } else { open = middle }
    }
    Some(good)
}

/// Error probability of one interval when so many comparisons form one family (Bonferroni).
///
/// The sum over the family is `alpha`, whatever the dependence between its members.
pub fn bonferroni(alpha: f64, comparisons: usize) -> f64 {
    alpha / comparisons.max(1) as f64
}

/// The error probability at which each of many tests may decide, so that of all that decide, a share of at most `rate` is
/// expected to be wrong (the false discovery rate): those decide whose p-value is at most this.
///
/// Benjamini and Hochberg, "Controlling the false discovery rate", 1995. It holds for independent tests, and for positively
/// dependent ones (Benjamini and Yekutieli, "The control of the false discovery rate in multiple testing under dependency",
/// 2001): rows that one noisy minute hits alike. Intervals at this error probability cover the parameters of those that
/// decided as often as the rate promises (the same, "False discovery rate-adjusted multiple confidence intervals", 2005).
pub fn benjamini_hochberg(p_values: &[f64], rate: f64) -> f64 {
    let share = |rank: usize| rate * rank as f64 / p_values.len().max(1) as f64;
    let sorted = quantile::sorted(p_values.iter().copied());
    let decided = sorted.iter().enumerate().rev().find(|(at, p)| **p <= share(at + 1) * (1.0 + 1e-12));
    share(decided.map_or(1, |(at, _)| at + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_paper() {
        // Table 1 of Benjamini and Hochberg 1995: at 5%, the first four of fifteen decide, where Bonferroni lets three.
        let p = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719,
            0.6528, 0.7590, 1.0,
        ];
        let level = benjamini_hochberg(&p, 0.05);
        assert!((level - 0.05 * 4.0 / 15.0).abs() < 1e-12);
        assert_eq!(p.iter().filter(|p| **p <= level).count(), 4);
        assert_eq!(p.iter().filter(|p| **p <= bonferroni(0.05, 15)).count(), 3);
        // Where none decides, the level is that of the first.
        assert!((benjamini_hochberg(&[0.5, 0.9], 0.05) - 0.025).abs() < 1e-12);
        // Where all are alike, all decide or none.
        assert_eq!(benjamini_hochberg(&[0.04; 200], 0.05), 0.05);
    }

    #[test]
    fn a_ratio_of_a_timed_out_alternative_is_open_above() {
        let ratio = Observation::at_least(10.0).ln().minus(Observation::from(2.0).ln());
        assert!((ratio.low - 5f64.ln()).abs() < 1e-12);
        assert_eq!(ratio.high, f64::INFINITY);
    }

    #[test]
    fn a_ratio_of_a_timed_out_baseline_is_open_below() {
        let ratio = Observation::from(2.0).ln().minus(Observation::at_least(10.0).ln());
        assert_eq!(ratio.low, f64::NEG_INFINITY);
        assert!((ratio.high - 0.2f64.ln()).abs() < 1e-12);
    }

    #[test]
    fn two_time_outs_say_nothing_and_read_as_a_tie() {
        let ratio = Observation::at_least(10.0).ln().minus(Observation::at_least(10.0).ln());
        assert_eq!(ratio, Observation { low: f64::NEG_INFINITY, value: 0.0, high: f64::INFINITY });
    }

    #[test]
    fn order_interval_by_hand() {
        let xs: Vec<Observation> = [5.0, 1.0, 4.0, 2.0, 3.0].map(Observation::from).to_vec();
        assert_eq!(order_interval(&xs, 0), Some((1.0, 5.0)));
        assert_eq!(order_interval(&xs, 1), Some((2.0, 4.0)));
        assert_eq!(order_interval(&xs, 2), Some((3.0, 3.0)));
        assert_eq!(order_interval(&xs, 3), None);
    }

    #[test]
    fn the_family_shares_alpha() {
        assert_eq!(bonferroni(0.06, 6), 0.01);
        assert_eq!(bonferroni(0.05, 0), 0.05);
    }
}
