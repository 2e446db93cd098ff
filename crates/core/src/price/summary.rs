//! From costs per operation to floor, typical and tail, with an interval for the typical cost.
//!
//! The unit of the interval is the repetition: a fresh process, at another moment than the others. Samples of one
//! repetition share its memory layout and its minute, so that thousands of them are no thousand witnesses. The typical cost
//! is the median of the repetitions' medians, and its interval is that of the sign test over them.

use whyfaster_stats::{Observation, quantile, sign};

/// Floor: this part of the samples is cheaper.
pub const FLOOR: f64 = 0.05;
/// Tail: this part of the samples is cheaper.
pub const TAIL: f64 = 0.99;

/// Floor, typical and tail of one operation, nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// 5th percentile of all kept samples.
    pub floor_ns: f64,
    /// Median of the repetitions' medians.
    pub median_ns: f64,
    /// Mean of all kept samples.
    pub mean_ns: f64,
    /// 99th percentile of all kept samples; with fewer than a hundred it lies between the two dearest.
    pub p99_ns: f64,
    /// Interval of the median; `None` with too few repetitions.
    pub interval: Option<(f64, f64)>,
}

/// Summary of costs by repetition, at error probability `alpha`. `None` without a sample.
pub fn summary(costs: &[Vec<f64>], alpha: f64) -> Option<Summary> {
    let all = quantile::sorted(costs.iter().flatten().copied());
    let medians: Vec<f64> = costs.iter().filter_map(|one| quantile::median(one)).collect();
    let observations: Vec<Observation> = medians.iter().map(|median| (*median).into()).collect();
    Some(Summary {
        floor_ns: quantile::of_sorted(&all, FLOOR)?,
        median_ns: quantile::median(&medians)?,
        mean_ns: quantile::mean(&all)?,
        p99_ns: quantile::of_sorted(&all, TAIL)?,
        interval: sign::median_interval(&observations, alpha),
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_noisy_repetition_moves_neither_floor_nor_median() {
        let mut costs: Vec<Vec<f64>> =
            (0..9).map(|r| (0..40).map(|i| 80.0 + f64::from((r + i) % 5)).collect()).collect();
        let quiet = summary(&costs, 0.05).unwrap();
        costs[3].iter_mut().for_each(|cost| *cost *= 10.0);
        let noisy = summary(&costs, 0.05).unwrap();
        assert_eq!((noisy.floor_ns, noisy.median_ns), (quiet.floor_ns, quiet.median_ns));
        assert!(noisy.p99_ns > 5.0 * quiet.p99_ns);
    }

    #[test]
    fn few_repetitions_have_no_interval() {
        assert_eq!(summary(&vec![vec![1.0; 100]; 5], 0.05).unwrap().interval, None);
        assert_eq!(summary(&vec![vec![1.0; 2]; 6], 0.05).unwrap().interval, Some((1.0, 1.0)));
        assert_eq!(summary(&[], 0.05), None);
        assert_eq!(summary(&[Vec::new()], 0.05), None);
    }

    proptest! {
        #[test]
        fn floor_typical_and_tail_are_in_order(costs in prop::collection::vec(prop::collection::vec(1.0..1e6f64, 8), 6..20)) {
            let found = summary(&costs, 0.05).unwrap();
            let (low, high) = found.interval.unwrap();
            prop_assert!(found.floor_ns <= found.median_ns && found.median_ns <= found.p99_ns);
            prop_assert!(low <= found.median_ns && found.median_ns <= high);
        }

        #[test]
        fn scaling_scales(costs in prop::collection::vec(prop::collection::vec(1.0..1e6f64, 1..9), 1..12)) {
            let doubled: Vec<Vec<f64>> = costs.iter().map(|one| one.iter().map(|cost| cost * 2.0).collect()).collect();
            let (one, two) = (summary(&costs, 0.05).unwrap(), summary(&doubled, 0.05).unwrap());
            prop_assert!((two.median_ns / one.median_ns - 2.0).abs() < 1e-9);
            prop_assert!((two.floor_ns / one.floor_ns - 2.0).abs() < 1e-9);
        }
    }
}
