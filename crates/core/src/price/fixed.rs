//! The fixed cost of a batch: reading the clock twice, entering a loop, starting the first program of a chain.
//!
//! With t(N) = fixed + N * price it is 2 t(N) - t(2N). That is a small difference of large times, so it has an uncertainty of
//! its own and a bound. The uncertainty is the interval of the repetitions' differences, and it widens the interval of the
//! price. The bound: batches are made so long that their fixed cost is a small part of them. Where the difference is a large
//! part, or may be, then that is noise, and the price is **not resolvable**.

use super::clean::Clean;
use super::inside::Unit;
use super::sample::Sample;
use crate::missing::Obstacle;
use whyfaster_stats::{Observation, quantile, sign};

/// The fixed cost is at most this part of the shorter batch. The ends of its interval may lie twice as far out, for they hold
/// the noise of few repetitions.
const MOST: f64 = 0.25;

/// What the repetitions say of the fixed cost of a batch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fixed {
    /// The middle repetition's.
    pub ns: f64,
    /// Lower end of its interval; the least of all repetitions where they are too few for one. It may lie below 0.
    pub low_ns: f64,
    /// Upper end.
    pub high_ns: f64,
    /// What the shorter batch took.
    pub batch_ns: f64,
    /// Operations of the shorter batch.
    pub ops: u64,
}

/// One repetition: the fixed cost that it shows, its shorter batch, the operations of that.
struct Shown {
    fixed: f64,
    batch: f64,
    ops: u64,
}

impl Fixed {
    /// From a row's samples; the interval errs with probability `alpha`. `None` where batches are of one size.
    pub fn of(clean: &Clean, alpha: f64) -> Option<Self> {
        let shown: Vec<Shown> =
            clean.repetitions.iter().filter_map(|samples| of_repetition(samples)).collect();
        let differences: Vec<f64> = shown.iter().map(|one| one.fixed).collect();
        let observations: Vec<Observation> = differences.iter().copied().map(Observation::from).collect();
        let range = || {
            let sorted = quantile::sorted(differences.iter().copied());
            Some((*sorted.first()?, *sorted.last()?))
        };
        let (low_ns, high_ns) = sign::median_interval(&observations, alpha).or_else(range)?;
        Some(Self {
            ns: quantile::median(&differences)?,
            low_ns,
            high_ns,
            batch_ns: quantile::median(&shown.iter().map(|one| one.batch).collect::<Vec<_>>())?,
            ops: shown.iter().map(|one| one.ops).min()?,
        })
    }

    /// What is taken off every batch. Nothing where the noise leaves nothing above 0.
    pub fn taken_off(&self) -> Option<f64> {
        (self.ns > 0.0).then_some(self.ns)
    }

    /// Why there is no price, if there is none: the fixed cost is not known well enough, or nothing is left without it.
    /// `least_ns` is the smaller one of floor and typical cost.
    pub fn unresolved(&self, least_ns: f64, unit: Unit) -> Option<Obstacle> {
        let part = |ns: f64| ns.abs() / self.batch_ns;
        // How far the interval reaches below 0 does not matter: a fixed cost below 0 is none.
        let off = part(self.ns) > MOST || self.high_ns > 2.0 * MOST * self.batch_ns;
        let nothing_left = self.taken_off().is_some() && least_ns <= 0.0;
        (off || nothing_left).then_some(Obstacle::NotResolvable {
            fixed: self.ns,
            low: self.low_ns,
            high: self.high_ns,
            batch: self.batch_ns,
            instructions: unit == Unit::GuestInstructions,
        })
    }

    /// An interval of the price, made wider by what is not known of the fixed cost. The two add up, which is never too little.
    pub fn widen(&self, low: f64, high: f64) -> (f64, f64) {
        let taken = self.taken_off().unwrap_or(0.0);
        let each = |ns: f64| ns / self.ops as f64;
        // A fixed cost below 0 is none.
        let more = (self.high_ns.max(0.0) - taken).max(0.0);
        let less = (taken - self.low_ns.max(0.0)).max(0.0);
        ((low - each(more)).max(0.0), high + each(less))
    }
}

/// What one repetition shows: its shortest batch size against twice as many operations. The lower quartile of its samples
/// counts, because what noise adds to a sample is never negative.
fn of_repetition(samples: &[Sample]) -> Option<Shown> {
    let ops = samples.iter().map(|sample| sample.ops).min()?;
    let typical = |ops: u64| {
        let times: Vec<f64> = samples.iter().filter(|s| s.ops == ops).map(|s| s.elapsed_ns).collect();
        quantile::quantile(&times, 0.25)
    };
    let batch = typical(ops)?;
    Some(Shown { fixed: 2.0 * batch - typical(ops.checked_mul(2)?)?, batch, ops })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::fixture::{list, row};
    use super::super::sample::{Expect, Series};
    use super::*;

    fn plain(ops: u64, elapsed_ns: f64) -> Sample {
        Sample { ops, elapsed_ns, ..Sample::default() }
    }

    /// A repetition of two samples, of N and of 2N operations.
    fn pair(repetition: u32, ops: u64, short: f64, long: f64) -> Series {
        let mut series = Series::new(0, repetition, 0.0);
        series.push(plain(ops, short));
        series.push(plain(2 * ops, long));
        series
    }

    fn clean(series: &[Series]) -> Clean {
        Clean::of(series, &Expect::default())
    }

    #[test]
    fn the_fixed_cost_comes_off() {
        // 40 ns of clock, 85 ns an operation.
        let clean = clean(&(0..6).map(|r| pair(r, 100, 8540.0, 17_040.0)).collect::<Vec<_>>());
        let fixed = Fixed::of(&clean, 0.05).unwrap();
        assert!((fixed.taken_off().unwrap() - 40.0).abs() < 1e-9);
        assert!(clean.costs(fixed.ns).concat().iter().all(|cost| (cost - 85.0).abs() < 1e-9));
        assert_eq!(fixed.unresolved(85.0, Unit::Nanoseconds), None);
    }

    #[test]
    fn without_two_sizes_there_is_none_and_below_noise_nothing_comes_off() {
        let of = |samples: &[Sample]| {
            let mut series = Series::default();
            samples.iter().for_each(|sample| series.push(*sample));
            Fixed::of(&clean(&[series]), 0.05)
        };
        assert_eq!(of(&[plain(100, 8540.0), plain(100, 8541.0)]), None);
        assert_eq!(of(&[plain(100, 8540.0), plain(200, 17_200.0)]).unwrap().taken_off(), None);
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[plain(u64::MAX, 5.0), plain(u64::MAX - 1, 5.0)]), None);
    }

    /// Chains of 8 and of 16 programs on a machine that holds up whole batches: 750 us each, and milliseconds of noise.
    #[test]
    fn a_fixed_cost_of_nearly_a_batch_is_not_resolvable() {
        let noisy: Vec<Series> = (0..8).map(|r| pair(r, 8, 1.1e7 + f64::from(r) * 1e5, 1.25e7)).collect();
        let fixed = Fixed::of(&clean(&noisy), 0.05).unwrap();
        let counted = fixed.unresolved(3e5, Unit::GuestInstructions).unwrap();
        assert!(matches!(counted, Obstacle::NotResolvable { instructions: true, .. }), "{counted:?}");
        let why = fixed.unresolved(3e5, Unit::Nanoseconds).unwrap();
        assert!(matches!(why, Obstacle::NotResolvable { instructions: false, .. }), "{why:?}");
        let priced = list(vec![(row("process", "execve", "dynamic"), noisy)]);
        let price = &priced.prices[0];
        assert!(matches!(price.reason, Some(Obstacle::NotResolvable { .. })), "{price:?}");
        assert!(price.median_ns.is_none() && price.fixed_high_ns.unwrap() > price.fixed_low_ns.unwrap());
        // A batch of 2N that takes three times as long as one of N says as little.
        let backwards: Vec<Series> = (0..8).map(|r| pair(r, 8, 6e6, 1.8e7)).collect();
        assert!(Fixed::of(&clean(&backwards), 0.05).unwrap().unresolved(7e5, Unit::Nanoseconds).is_some());
        // One repetition in nine that is off moves nothing.
        let mostly: Vec<Series> =
            (0..9).map(|r| pair(r, 8, if r == 4 { 1.2e7 } else { 6.2e6 }, 1.22e7)).collect();
        assert_eq!(Fixed::of(&clean(&mostly), 0.05).unwrap().unresolved(7e5, Unit::Nanoseconds), None);
    }

    #[test]
    fn what_is_not_known_of_it_widens_the_interval() {
        let fixed = Fixed { ns: 100.0, low_ns: -50.0, high_ns: 300.0, batch_ns: 1e4, ops: 100 };
        assert_eq!(fixed.widen(90.0, 110.0), (88.0, 111.0));
        let below = Fixed { ns: -20.0, ..fixed };
        assert_eq!(below.widen(90.0, 110.0), (87.0, 110.0));
    }

    proptest! {
        /// Whatever the price and the fixed cost, batches without noise give both back.
        #[test]
        fn planted_costs_come_back(price in 1.0..1e5f64, fixed in 1.0..1e4f64, n in 1u64..10_000) {
            let batch = |n: u64| fixed + n as f64 * price;
            let clean = clean(&[pair(0, n, batch(n), batch(2 * n))]);
            let found = Fixed::of(&clean, 0.05).unwrap().ns;
            prop_assert!((found - fixed).abs() < 1e-6 * n as f64 * price);
            prop_assert!(clean.costs(found).concat().iter().all(|cost| (cost / price - 1.0).abs() < 1e-5));
        }

        /// Whatever the samples say: a price is positive and lies in its interval, or there is a reason.
        #[test]
        fn no_price_is_negative(pairs in prop::collection::vec((1.0..1e7f64, 1.0..1e7f64), 1..12)) {
            let series = pairs.iter().zip(0..).map(|((short, long), r)| pair(r, 8, *short, *long)).collect();
            let priced = list(vec![(row("process", "execve", "static"), series)]);
            let price = &priced.prices[0];
            match price.median_ns {
                Some(median) => {
                    prop_assert!(median > 0.0 && price.floor_ns.unwrap() > 0.0);
                    prop_assert!(price.low_ns.is_none_or(|low| (0.0..=median).contains(&low)));
                }
                None => prop_assert!(price.reason.is_some()),
            }
        }
    }
}
