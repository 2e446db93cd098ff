//! The ratio of totals with a percentile bootstrap over rounds.
//!
//! The ratio of medians is blind to tails; the ratio of totals is what a bill or a batch window sees. Whole rounds are
//! drawn, so what one round met stays together. Its coverage is approximate (Efron 1979; too narrow for few rounds), so no verdict rests on it.

use crate::random::Random;
use rand::{RngExt, SeedableRng};

use super::{quantile, sign};

/// Resamples of one bootstrap. 2000 put about 50 beyond each end of a 95% interval.
const RESAMPLES: usize = 2000;

/// The ratio of two totals over the same rounds, with its interval if there are enough rounds for one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TotalsRatio {
    /// Sum of the first over sum of the second.
    pub ratio: f64,
    /// Ends of the interval. `None` below as many rounds as the sign test needs: the percentile bootstrap knows no value
    /// beyond those seen, so with fewer it would promise what it cannot hold.
    pub interval: Option<(f64, f64)>,
}

/// Ratio of totals of pairs (alternative, baseline), one pair a round. `None` without rounds or with a total that is not positive.
pub fn ratio_of_totals(pairs: &[(f64, f64)], alpha: f64, seed: u64) -> Option<TotalsRatio> {
    let ratio = ratio(pairs.iter().copied())?;
    let n = pairs.len();
    if n < sign::min_rounds(alpha) {
        return Some(TotalsRatio { ratio, interval: None });
    }
    let mut rng = Random::seed_from_u64(seed);
    let draws = (0..RESAMPLES).filter_map(|_| self::ratio((0..n).map(|_| pairs[rng.random_range(0..n)])));
    let draws = quantile::sorted(draws.collect::<Vec<_>>());
    let low = quantile::of_sorted(&draws, alpha / 2.0);
    let high = quantile::of_sorted(&draws, 1.0 - alpha / 2.0);
    Some(TotalsRatio { ratio, interval: low.zip(high) })
}

fn ratio(pairs: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let (top, bottom) = pairs.fold((0.0, 0.0), |(a, b), (x, y)| (a + x, b + y));
    let ratio = top / bottom;
    (ratio.is_finite() && ratio > 0.0).then_some(ratio)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_tail_counts() {
        // Median ratio 1, but every tenth round costs ten times as much.
        let pairs: Vec<_> = (0..20).map(|i| (if i % 10 == 0 { 10.0 } else { 1.0 }, 1.0)).collect();
        let totals = ratio_of_totals(&pairs, 0.05, 1).unwrap();
        assert!((totals.ratio - 1.9).abs() < 1e-12);
        let (low, high) = totals.interval.unwrap();
        assert!((1.0..1.9).contains(&low) && high > 1.9);
    }

    #[test]
    fn the_seed_decides() {
        let pairs: Vec<_> = (0..30).map(|i| (1.0 + f64::from(i % 7), 2.0 + f64::from(i % 5))).collect();
        assert_eq!(ratio_of_totals(&pairs, 0.05, 3), ratio_of_totals(&pairs, 0.05, 3));
        assert_ne!(ratio_of_totals(&pairs, 0.05, 3), ratio_of_totals(&pairs, 0.05, 4));
    }

    #[test]
    fn nothing_comes_of_nothing() {
        assert_eq!(ratio_of_totals(&[], 0.05, 1), None);
        assert_eq!(ratio_of_totals(&[(1.0, 0.0)], 0.05, 1), None);
        assert_eq!(
            ratio_of_totals(&[(1.0, 2.0); 5], 0.05, 1).unwrap(),
            TotalsRatio { ratio: 0.5, interval: None }
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn swapping_gives_the_reciprocal(pairs in prop::collection::vec((0.5..5.0f64, 0.5..5.0f64), 6..30), seed: u64) {
            let there = ratio_of_totals(&pairs, 0.05, seed).unwrap();
            let swapped: Vec<_> = pairs.iter().map(|&(a, b)| (b, a)).collect();
            let back = ratio_of_totals(&swapped, 0.05, seed).unwrap();
            prop_assert!((there.ratio * back.ratio - 1.0).abs() < 1e-9);
            let ((low, high), (mirror_low, mirror_high)) = (there.interval.unwrap(), back.interval.unwrap());
            prop_assert!(low <= there.ratio + 1e-9 && there.ratio <= high + 1e-9);
            // Interpolation between two draws does not commute with the reciprocal, hence the tolerance.
            prop_assert!((low * mirror_high - 1.0).abs() < 0.05 && (high * mirror_low - 1.0).abs() < 0.05);
        }
    }
}
