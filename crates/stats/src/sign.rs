//! The sign test for a number of rounds that was fixed beforehand, and the interval for the median that it gives.
//!
//! If the median is m, every round falls below m with probability 1/2. So the number below is binomial, whatever the
//! distribution, and the order statistics bound the median with an error that can be counted exactly.

use statrs::function::beta::beta_reg;

use super::{Observation, order_interval};

/// P(X <= k) for X binomial with n trials of 1/2: the regularised incomplete beta function at 1/2.
fn binomial_half_cdf(n: usize, k: usize) -> f64 {
    if k >= n { 1.0 } else { beta_reg((n - k) as f64, (k + 1) as f64, 0.5) }
}

/// Two-sided p-value of the exact sign test, ties left out.
pub fn p_value(below: usize, above: usize) -> f64 {
    (2.0 * binomial_half_cdf(below + above, below.min(above))).min(1.0)
}

/// The error probability of the interval for the median of `n` rounds that leaves out `k` values at each side.
pub fn error(n: usize, k: usize) -> f64 {
    (2.0 * binomial_half_cdf(n, k)).min(1.0)
}

/// How many order statistics an interval for the median of `n` rounds may leave out at each side. `None` when even the
/// whole range errs with more than `alpha` (below 6 rounds at 5%).
pub fn skip(n: usize, alpha: f64) -> Option<usize> {
    // Without k values at each side the interval errs when at most k rounds fall on one side of the median.
    let fits = |k: usize| error(n, k) <= alpha * (1.0 + 1e-12);
    super::largest_fitting(n / 2, fits)
}

/// Interval for the median at error probability `alpha`. `None` when there are too few rounds.
pub fn median_interval(observations: &[Observation], alpha: f64) -> Option<(f64, f64)> {
    order_interval(observations, skip(observations.len(), alpha)?)
}

/// The least number of rounds that gives an interval.
pub fn min_rounds(alpha: f64) -> usize {
    // The whole range of n rounds errs with 2 / 2^n.
    (1..=1100).find(|&n| skip(n, alpha).is_some()).unwrap_or(1100)
}

#[cfg(test)]
mod tests {
    use crate::random::Random;
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};

    use super::*;

    #[test]
    fn p_values_by_hand() {
        // 0 of 6: 2/64. 1 of 6: 2 * 7/64. 3 of 6: more than 1, so 1.
        assert!((p_value(0, 6) - 0.03125).abs() < 1e-12);
        assert!((p_value(5, 1) - 0.21875).abs() < 1e-12);
        assert_eq!(p_value(3, 3), 1.0);
        assert_eq!(p_value(0, 0), 1.0);
    }

    #[test]
    fn ranks_of_the_tables() {
        // Tables of the sign test at 5%: the interval is [x(1), x(n)] for n 6 to 8, [x(2), x(n-1)] for 9 to 11,
        // [x(3), x(n-2)] for 12 to 14, [x(6), x(15)] for 20, [x(10), x(21)] for 30.
        let wanted = [
            (5, None),
            (6, Some(0)),
            (8, Some(0)),
            (9, Some(1)),
            (11, Some(1)),
            (12, Some(2)),
            (20, Some(5)),
            (30, Some(9)),
        ];
        for (n, skipped) in wanted {
            assert_eq!(skip(n, 0.05), skipped, "n = {n}");
        }
        assert_eq!(min_rounds(0.05), 6);
        assert_eq!(min_rounds(0.01), 8);
    }

    /// The interval must cover the median of a skewed distribution with ties as often as promised.
    #[test]
    fn coverage_on_skewed_data() {
        let mut rng = Random::seed_from_u64(7);
        let trials = 4000;
        for (n, alpha) in [(10usize, 0.05), (25, 0.05), (40, 0.2)] {
            let mut missed = 0;
            for _ in 0..trials {
                let xs: Vec<Observation> = (0..n)
                    .map(|_| {
                        let u: f64 = rng.random_range(0.0..1.0);
                        // Exponential with median ln 2, one in twenty is a spike.
                        let spike = if rng.random_range(0..20) == 0 { 50.0 } else { 1.0 };
                        (if u < 0.5 { -(1.0 - u).ln() } else { -(1.0 - u).ln() * spike }).into()
                    })
                    .collect();
                let (low, high) = median_interval(&xs, alpha).unwrap();
                if 2f64.ln() < low || 2f64.ln() > high {
                    missed += 1;
                }
            }
            let error = (alpha * (1.0 - alpha) / f64::from(trials)).sqrt();
            let rate = f64::from(missed) / f64::from(trials);
            assert!(rate <= alpha + 3.0 * error, "n = {n}: missed {rate}, promised {alpha}");
            // The rule is exact, not merely safe: the error is the next tail below alpha.
            let exact = 2.0 * binomial_half_cdf(n, skip(n, alpha).unwrap());
            assert!((rate - exact).abs() <= 4.0 * error, "n = {n}: missed {rate}, exact {exact}");
        }
    }

    proptest! {
        #[test]
        fn interval_holds_the_median_and_shrinks(xs in prop::collection::vec(-50i32..50, 6..80), a in 0.0321..0.4f64, b in 0.0321..0.4f64) {
            let xs: Vec<Observation> = xs.into_iter().map(|x| f64::from(x).into()).collect();
            let narrow = median_interval(&xs, a.max(b)).unwrap();
            let wide = median_interval(&xs, a.min(b)).unwrap();
            let median = super::super::median_of(&xs).unwrap();
            prop_assert!(wide.0 <= narrow.0 && narrow.0 <= median && median <= narrow.1 && narrow.1 <= wide.1);
        }

        #[test]
        fn infinite_values_only_open_the_ends(censored in 0usize..12) {
            let xs: Vec<Observation> = (0..12).map(|i| if i < censored { Observation::at_least(1.0) } else { 0.5.into() }).collect();
            let (low, high) = median_interval(&xs, 0.05).unwrap();
            prop_assert_eq!(low, if censored > 9 { 1.0 } else { 0.5 });
            prop_assert_eq!(high.is_infinite(), censored > 2);
        }
    }
}
