//! The sign e-process: an interval for the median that stays valid however often one looks and whenever one stops.
//!
//! Bet on the signs with a Beta(1/2, 1/2) mixture of coins against a fair coin. After n rounds of which k fell below a
//! candidate m, the capital is e(n, k) = 2^n B(k + 1/2, n - k + 1/2) / B(1/2, 1/2). If m is the median the capital is a
//! non-negative martingale that starts at 1, so it ever reaches 1/alpha with probability at most alpha (Ville 1939).
//! The m that have never made it that far form the interval. See Waudby-Smith and Ramdas (2024), "Estimating means of
//! bounded random variables by betting", and Krichevsky and Trofimov (1981) for the mixture.

use statrs::function::beta::ln_beta;

use super::{Observation, order_interval};

/// Natural logarithm of the e-value after `n` rounds of which `k` fell on one side.
///
/// # Panics
/// When `k` is larger than `n`.
pub fn ln_e(n: usize, k: usize) -> f64 {
    assert!(k <= n, "{k} of {n} rounds on one side");
    let (n, k) = (n as f64, k as f64);
    n * std::f64::consts::LN_2 + ln_beta(k + 0.5, n - k + 0.5) - std::f64::consts::PI.ln()
}

/// How many order statistics the interval for the median may leave out at each side. `None` when even the whole range
/// cannot be had at `alpha` yet.
///
/// Ties with a candidate could have fallen on either side. A candidate is refused only if every way to share the ties
/// out refuses it, so ties make the interval wider, never wrong.
pub fn skip(n: usize, alpha: f64) -> Option<usize> {
    let needed = -alpha.ln() - 1e-9;
    super::largest_fitting(n / 2, |k| ln_e(n, k) >= needed)
}

/// Interval for the median at error probability `alpha`, valid at any stopping time. `None` when there are too few rounds.
pub fn median_interval(observations: &[Observation], alpha: f64) -> Option<(f64, f64)> {
    order_interval(observations, skip(observations.len(), alpha)?)
}

/// The least number of rounds that gives an interval: 7 at 5%, and about one more for every halving of `alpha`.
pub fn min_rounds(alpha: f64) -> usize {
    (1..=1100).find(|&n| skip(n, alpha).is_some()).unwrap_or(1100)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use statrs::function::factorial::ln_binomial;

    use super::*;

    #[test]
    fn values_by_hand() {
        // e(n, 0) = C(2n, n) / 2^n: 2/2, 6/4, 924/64, 3432/128.
        for (n, e) in [(1, 1.0), (2, 1.5), (6, 14.4375), (7, 26.8125)] {
            assert!((ln_e(n, 0).exp() - e).abs() < 1e-9, "n = {n}: {}", ln_e(n, 0).exp());
        }
        // e(2, 1) = 4 B(3/2, 3/2) / pi = 4 (pi/8) / pi.
        assert!((ln_e(2, 1).exp() - 0.5).abs() < 1e-12);
        assert!(ln_e(0, 0).abs() < 1e-12);
        assert_eq!(min_rounds(0.05), 7);
        assert_eq!(min_rounds(0.005), 11);
    }

    #[test]
    fn no_interval_before_the_least_number() {
        let xs = |n: usize| (0..n).map(|i| Observation::from(i as f64)).collect::<Vec<_>>();
        assert_eq!(median_interval(&xs(6), 0.05), None);
        assert_eq!(median_interval(&xs(7), 0.05), Some((0.0, 6.0)));
    }

    /// The promise itself: under a fair coin the capital is 1 on average, at every n.
    #[test]
    fn expectation_is_one() {
        for n in 0..=200usize {
            let mean: f64 = (0..=n)
                .map(|k| {
                    (ln_binomial(n as u64, k as u64) - n as f64 * std::f64::consts::LN_2 + ln_e(n, k)).exp()
                })
                .sum();
            assert!(mean <= 1.0 + 1e-8, "n = {n}: {mean}");
            assert!(mean >= 1.0 - 1e-8, "n = {n}: {mean}");
        }
    }

    /// Looks after every round of an A/A comparison and stops at the first that excludes no difference.
    fn false_alarms(
        runs: u32,
        rounds: usize,
        alpha: f64,
        mut pair: impl FnMut(&mut ChaCha8Rng, usize) -> f64,
    ) -> f64 {
        let mut rng = ChaCha8Rng::seed_from_u64(11);
        let alarms = (0..runs)
            .filter(|_| {
                let (mut below, mut above) = (0usize, 0usize);
                (1..=rounds).any(|n| {
                    let ratio = pair(&mut rng, n);
                    below += usize::from(ratio < 0.0);
                    above += usize::from(ratio > 0.0);
                    // The interval excludes 0 when it lies whole on one side.
                    skip(n, alpha).is_some_and(|skip| n - below <= skip || n - above <= skip)
                })
            })
            .count();
        alarms as f64 / f64::from(runs)
    }

    fn skewed(rng: &mut ChaCha8Rng) -> f64 {
        let u: f64 = rng.random_range(0.0..1.0);
        0.01 * -(1.0 - u).ln()
    }

    #[test]
    fn optional_stopping_keeps_alpha_quiet_and_drifting() {
        let (runs, alpha) = (600, 0.05);
        let slack = 3.0 * (alpha * (1.0 - alpha) / f64::from(runs)).sqrt();
        let quiet = false_alarms(runs, 150, alpha, |rng, _| skewed(rng) - skewed(rng));
        assert!(quiet <= alpha + slack, "quiet: {quiet}");
        // The machine gets slower within and between rounds; the second of a round always loses 2%. A fair coin says who
        // is second.
        let drift = false_alarms(runs, 150, alpha, |rng, n| {
            let late = 0.02 + 0.0001 * n as f64;
            let second = if rng.random_range(0..2) == 0 { late } else { -late };
            skewed(rng) - skewed(rng) + second
        });
        assert!(drift <= alpha + slack, "drift: {drift}");
        // The test can fail: with a fixed order the same drift is an alarm nearly every time.
        let fixed_order = false_alarms(runs, 150, alpha, |rng, _| skewed(rng) - skewed(rng) + 0.02);
        assert!(fixed_order > 0.9, "fixed order: {fixed_order}");
    }

    #[test]
    fn ties_never_raise_an_alarm() {
        assert_eq!(false_alarms(50, 100, 0.05, |_, _| 0.0), 0.0);
    }

    proptest! {
        #[test]
        fn the_e_value_is_symmetric_and_least_in_the_middle(n in 1usize..400, k in 0usize..400) {
            let k = k.min(n);
            prop_assert!((ln_e(n, k) - ln_e(n, n - k)).abs() < 1e-8);
            prop_assert!(ln_e(n, n / 2) <= ln_e(n, k) + 1e-8);
        }

        #[test]
        fn interval_holds_the_median_and_shrinks(xs in prop::collection::vec(-50i32..50, 7..80), a in 0.05..0.4f64, b in 0.05..0.4f64) {
            let xs: Vec<Observation> = xs.into_iter().map(|x| f64::from(x).into()).collect();
            let narrow = median_interval(&xs, a.max(b)).unwrap();
            let wide = median_interval(&xs, a.min(b)).unwrap();
            let median = super::super::median_of(&xs).unwrap();
            prop_assert!(wide.0 <= narrow.0 && narrow.0 <= median && median <= narrow.1 && narrow.1 <= wide.1);
        }

        #[test]
        fn free_stopping_costs_width(n in 7usize..500, alpha in 0.001..0.3f64) {
            let free = skip(n, alpha);
            let fixed = super::super::sign::skip(n, alpha);
            prop_assert!(free.map_or(-1, |k| k as i64) <= fixed.map_or(-1, |k| k as i64));
        }
    }
}
