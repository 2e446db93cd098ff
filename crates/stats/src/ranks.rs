//! Two independent samples: by how much is one shifted against the other?
//!
//! Mann and Whitney's test turned round: sort all pairwise differences and leave out k at each side. If one distribution is
//! the other one shifted by d, the number of differences below d has the null distribution of U, which is counted exactly;
//! nothing else is assumed about the distribution. The estimate is the median difference (Hodges and Lehmann 1963).

use statrs::function::factorial::ln_binomial;

use super::quantile;

/// An estimated shift with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shift {
    /// Median of all pairwise differences, second minus first.
    pub estimate: f64,
    /// Interval; `None` with too few numbers.
    pub interval: Option<(f64, f64)>,
}

/// Most numbers of a sample that are looked at, evenly thinned: there are C(52, 26) < 2^53 ways to mix two samples of this
/// size, so that every count is exact in floating point.
pub const MOST: usize = 26;

/// The shift of `second` against `first`, at error probability `alpha`. `None` if one of them is empty.
pub fn shift(first: &[f64], second: &[f64], alpha: f64) -> Option<Shift> {
    let (differences, n, m) = differences(first, second);
    let estimate = quantile::of_sorted(&differences, 0.5)?;
    let interval =
        skip(n, m, alpha).map(|skip| (differences[skip], differences[differences.len() - 1 - skip]));
    Some(Shift { estimate, interval })
}

/// All pairwise differences in rising order, second minus first, and how many numbers of each sample they come from.
pub fn differences(first: &[f64], second: &[f64]) -> (Vec<f64>, usize, usize) {
    let (first, second) = (thin(first), thin(second));
    let all = quantile::sorted(second.iter().flat_map(|y| first.iter().map(move |x| y - x)));
    (all, first.len(), second.len())
}

fn thin(values: &[f64]) -> Vec<f64> {
    let step = values.len().div_ceil(MOST).max(1);
    values.iter().copied().step_by(step).collect()
}

/// The error probability of the interval that leaves out so many differences at each side, from none on, for samples of
/// these sizes (at most [`MOST`] each).
pub fn errors(n: usize, m: usize) -> Vec<f64> {
    let counts = counts(n, m);
    let total: f64 = counts.iter().sum();
    // The interval from the (u+1)-th difference on errs at that end when U is at most u.
    let tails = counts.iter().take(n * m / 2).scan(0.0, |below, count| {
        *below += count;
        Some(2.0 * *below / total)
    });
    tails.collect()
}

/// How many of the n * m ordered differences may be left out at each side. `None` when even the whole range errs with more
/// than `alpha`.
pub fn skip(n: usize, m: usize, alpha: f64) -> Option<usize> {
    errors(n, m).iter().take_while(|error| **error <= alpha * (1.0 + 1e-12)).count().checked_sub(1)
}

/// The least size of two equally large samples that gives an interval; [`MOST`] where no such sample does.
pub fn min_each(alpha: f64) -> usize {
    (1..MOST).find(|&n| skip(n, n, alpha).is_some()).unwrap_or(MOST)
}

/// ln of the number of ways to mix n and m numbers.
pub(super) fn ln_orders(n: usize, m: usize) -> f64 {
    ln_binomial((n + m) as u64, n as u64)
}

/// In how many ways n and m numbers can be mixed so that U is 0, 1, ..., n * m: coefficients of the Gaussian binomial.
pub(super) fn counts(n: usize, m: usize) -> Vec<f64> {
    let size = n * m + 1;
    let mut ways = vec![0.0; size];
    ways[0] = 1.0;
    for i in 1..=n.min(m) {
        let long = n.max(m) + i;
        // Times (1 - q^long), from above so that no coefficient is used twice; then divided by (1 - q^i).
        for u in (long..size).rev() {
            ways[u] -= ways[u - long];
        }
        for u in i..size {
            ways[u] += ways[u - i];
        }
    }
    ways
}

#[cfg(test)]
mod tests {
    use crate::random::Random;
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};

    use super::*;

    #[test]
    fn ranks_of_the_tables() {
        // Critical values of U at 5%, two-sided: 2 for 5 and 5, 5 for 6 and 6, 23 for 10 and 10, 127 for 20 and 20; U at or
        // below them refuses, so that many and one more differences are left out before the one that is kept.
        for (n, m, critical) in [(5, 5, 2), (6, 6, 5), (10, 10, 23), (8, 12, 22), (20, 20, 127)] {
            assert_eq!(skip(n, m, 0.05), Some(critical), "{n} and {m}");
        }
        assert_eq!(skip(3, 3, 0.05), None);
        assert_eq!(skip(0, 3, 0.05), None);
        assert_eq!(counts(2, 2), [1.0, 1.0, 2.0, 1.0, 1.0]);
        let most = counts(MOST, MOST);
        assert_eq!(most.iter().sum::<f64>(), 495_918_532_948_104.0, "C(52, 26)");
        assert!(most.iter().zip(most.iter().rev()).all(|(low, high)| low == high && *low >= 1.0));
    }

    #[test]
    fn coverage_on_skewed_data() {
        let mut rng = Random::seed_from_u64(11);
        let mut draw = |n: usize, by: f64| -> Vec<f64> {
            (0..n).map(|_| by - (1.0 - rng.random_range(0.0..1.0f64)).ln()).collect()
        };
        let (trials, alpha) = (3000, 0.05);
        let missed = (0..trials)
            .filter(|_| {
                let found = shift(&draw(9, 0.0), &draw(12, 1.0), alpha).and_then(|s| s.interval).unwrap();
                found.0 > 1.0 || found.1 < 1.0
            })
            .count();
        let error = (alpha * (1.0 - alpha) / f64::from(trials)).sqrt();
        let rate = missed as f64 / f64::from(trials);
        assert!(rate <= alpha + 3.0 * error, "missed {rate}");
        assert!(rate >= alpha / 2.0, "the interval is much wider than promised: missed {rate}");
    }

    proptest! {
        #[test]
        fn a_shift_comes_back_and_mirrors(xs in prop::collection::vec(-50.0..50.0f64, 5..30), by in -9.0..9.0f64) {
            let moved: Vec<f64> = xs.iter().map(|x| x + by).collect();
            let there = shift(&xs, &moved, 0.05).unwrap();
            let back = shift(&moved, &xs, 0.05).unwrap();
            prop_assert!((there.estimate + back.estimate).abs() < 1e-9);
            let ((low, high), (mirror_low, mirror_high)) = (there.interval.unwrap(), back.interval.unwrap());
            prop_assert!((low + mirror_high).abs() < 1e-9 && (high + mirror_low).abs() < 1e-9);
            prop_assert!(low <= by + 1e-9 && by <= high + 1e-9);
        }
    }
}
