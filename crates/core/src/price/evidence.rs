//! What the repetitions of a row say about the ratio of two lists: an exact test and the intervals that belong to it.
//!
//! With repetitions on both sides it is the test of Mann and Whitney on their ln costs, with one number on one side the sign
//! test. Both leave out so many of the ordered differences at each end, so that test and interval always agree: the
//! p-value of "they are equal" is at most `alpha` exactly where the interval at `alpha` does not hold 0.

use whyfaster_stats::{quantile, ranks, sign};

/// Ordered differences, second minus first on the log scale, and what leaving some of them out risks.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Evidence {
    differences: Vec<f64>,
    /// Error probability of the interval without k differences at each side, from k = 0 on.
    errors: Vec<f64>,
    /// Repetitions of the side that has fewer.
    pub repetitions: usize,
    paired: bool,
}

impl Evidence {
    /// Two lists that both have repetitions.
    pub(super) fn of_two(first: &[f64], second: &[f64]) -> Self {
        let (differences, n, m) = ranks::differences(first, second);
        Self {
            differences,
            errors: ranks::errors(n, m),
            repetitions: first.len().min(second.len()),
            paired: false,
        }
    }

    /// One list against a number: the differences of its repetitions from it.
    pub(super) fn of_one(differences: &[f64]) -> Self {
        let n = differences.len();
        Self {
            differences: quantile::sorted(differences.iter().copied()),
            errors: (0..n.div_ceil(2)).map(|k| sign::error(n, k)).collect(),
            repetitions: n,
            paired: true,
        }
    }

    /// The middle difference.
    pub(super) fn estimate(&self) -> Option<f64> {
        quantile::of_sorted(&self.differences, 0.5)
    }

    /// The interval at an error probability; `None` with too few repetitions for it.
    pub(super) fn interval(&self, alpha: f64) -> Option<(f64, f64)> {
        let kept = self.errors.iter().take_while(|error| **error <= alpha * (1.0 + 1e-12)).count();
        let skip = kept.checked_sub(1)?;
        Some((self.differences[skip], self.differences[self.differences.len() - 1 - skip]))
    }

    /// The least and the largest difference.
    pub(super) fn range(&self) -> Option<(f64, f64)> {
        Some((*self.differences.first()?, *self.differences.last()?))
    }

    /// p-value of "they are equal".
    pub(super) fn p_equal(&self) -> f64 {
        let below = self.count(|d| d <= 0.0);
        let above = self.count(|d| d >= 0.0);
        self.error(below.min(above))
    }

    /// p-value of "they differ by the band or more".
    pub(super) fn p_different(&self, band: f64) -> f64 {
        let below = self.count(|d| d < -band);
        let above = self.count(|d| d > band);
        self.error(below.max(above))
    }

    /// The least number of repetitions, on each side that has any, with which anything can be said at this error probability.
    pub(super) fn least_repetitions(&self, alpha: f64) -> usize {
        if self.paired { sign::min_rounds(alpha) } else { ranks::min_each(alpha) }
    }

    fn count(&self, is: impl Fn(f64) -> bool) -> usize {
        self.differences.iter().filter(|difference| is(**difference)).count()
    }

    fn error(&self, outside: usize) -> f64 {
        self.errors.get(outside).copied().unwrap_or(1.0).min(1.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn p_values_of_the_tables() {
        // Six against six, wholly apart: 2 of the 924 ways. One value against six: 2 of 64.
        let (low, high) = ([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [7.0, 8.0, 9.0, 10.0, 11.0, 12.0]);
        let two = Evidence::of_two(&low, &high);
        assert!((two.p_equal() - 2.0 / 924.0).abs() < 1e-12);
        assert!((Evidence::of_one(&low).p_equal() - 2.0 / 64.0).abs() < 1e-12);
        assert_eq!(two.p_different(1.0), 1.0);
        assert!(two.p_different(100.0) < 0.01);
        assert_eq!((two.least_repetitions(0.05), two.least_repetitions(0.05 / 225.0)), (4, 8));
        assert_eq!(Evidence::of_one(&low).least_repetitions(0.05), 6);
        let none = Evidence::of_two(&[], &high);
        assert_eq!((none.estimate(), none.interval(0.5), none.p_equal()), (None, None, 1.0));
    }

    proptest! {
        /// Test and interval are one and the same.
        #[test]
        fn test_and_interval_agree(
            xs in prop::collection::vec(-20i32..20, 1..14), ys in prop::collection::vec(-20i32..20, 0..14),
            alpha in 0.0005..0.4f64, band in 0.5..9.5f64,
        ) {
            let number = |all: &[i32]| all.iter().map(|x| f64::from(*x)).collect::<Vec<_>>();
            let (xs, ys) = (number(&xs), number(&ys));
            let found = if ys.is_empty() { Evidence::of_one(&xs) } else { Evidence::of_two(&xs, &ys) };
            let interval = found.interval(alpha);
            let apart = interval.is_some_and(|(low, high)| low > 0.0 || high < 0.0);
            let within = interval.is_some_and(|(low, high)| -band <= low && high <= band);
            prop_assert_eq!(found.p_equal() <= alpha, apart);
            prop_assert_eq!(found.p_different(band) <= alpha, within);
        }
    }
}
