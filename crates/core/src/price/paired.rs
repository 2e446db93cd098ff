//! Rows of one list against each other, repetition by repetition: what disturbs a minute disturbs both of them.
//!
//! Pairs are made by the number of the repetition, for a row may have lost one that another kept. The interval is that of
//! the sign test over the pairs. It asks nothing of the shape of the noise, so that one-sided noise does not move it; an
//! interval from two prices' intervals would take the longer side for both.

use std::collections::BTreeMap;

use serde::Serialize;

use super::list::{Price, PriceList};
use whyfaster_stats::{Observation, quantile, sign};

/// More repetitions than this are no advice.
const MOST_NEEDED: f64 = 1000.0;

/// A quantity that every repetition shows once.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Paired {
    values: Vec<Observation>,
}

/// What the pairs say of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Estimate {
    /// The median of the pairs.
    pub value: f64,
    /// Its interval; `None` with too few pairs.
    pub interval: Option<(f64, f64)>,
    /// Pairs behind it.
    pub repetitions: usize,
}

impl Paired {
    /// A quantity of the typical costs of these rows, in their order, over the repetitions that all of them have.
    pub(crate) fn of(list: &PriceList, rows: &[&Price], quantity: impl Fn(&[f64]) -> f64) -> Self {
        let medians: Vec<BTreeMap<u32, f64>> = rows.iter().map(|row| medians(list, row)).collect();
        let first = medians.first().into_iter().flat_map(BTreeMap::keys);
        let values = first
            .filter_map(|number| {
                medians.iter().map(|row| row.get(number).copied()).collect::<Option<Vec<_>>>()
            })
            .map(|costs| quantity(&costs))
            .filter(|value| value.is_finite());
        Self { values: values.map(Observation::from).collect() }
    }

    /// The median and its interval at error probability `alpha`. `None` without a pair.
    pub(crate) fn estimate(&self, alpha: f64) -> Option<Estimate> {
        Some(Estimate {
            value: whyfaster_stats::median_of(&self.values)?,
            interval: sign::median_interval(&self.values, alpha),
            repetitions: self.values.len(),
        })
    }
}

fn medians(list: &PriceList, row: &Price) -> BTreeMap<u32, f64> {
    let costs = list.costs(&row.name, &row.variant);
    costs.iter().filter_map(|(number, costs)| Some((*number, quantile::median(costs)?))).collect()
}

impl Estimate {
    /// How many repetitions it takes to tell the value from `bound` at `alpha`: as many as give an interval at all, or, where
    /// there is one, as many as narrow it that far, for an interval narrows with the root of their number. `None` where that
    /// is beyond reason.
    pub(crate) fn lacking(&self, bound: f64, alpha: f64) -> Lacking {
        Lacking { repetitions: self.repetitions, needed: self.needed(bound, alpha) }
    }

    fn needed(&self, bound: f64, alpha: f64) -> Option<usize> {
        let Some((low, high)) = self.interval else { return Some(sign::min_rounds(alpha)) };
        let reach = if bound < self.value { self.value - low } else { high - self.value };
        more(self.repetitions, reach, (self.value - bound).abs())
    }
}

/// Repetitions after which an interval that reaches so far reaches no further than the gap.
pub(super) fn more(repetitions: usize, reach: f64, gap: f64) -> Option<usize> {
    let needed = (repetitions as f64 * (reach / gap).powi(2)).ceil();
    // The cast is exact: the number is whole and small.
    (needed <= MOST_NEEDED).then_some((needed as usize).max(repetitions + 1))
}

/// How many repetitions there are, and how many it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Lacking {
    /// So many there are.
    pub repetitions: usize,
    /// So many are needed; null where that is beyond reason.
    pub needed: Option<usize>,
}

impl Lacking {
    /// The repetitions that are needed, where more would help.
    pub fn more(self) -> Option<usize> {
        self.needed.filter(|needed| *needed > self.repetitions)
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{list, row, samples};
    use super::super::sample::Series;
    use super::*;

    /// A row that costs so much in each repetition; a repetition that costs nothing was disturbed from end to end.
    fn costing(ns: &[f64]) -> Vec<Series> {
        let mut all = samples(u32::try_from(ns.len()).unwrap(), 4, 1.0);
        for (series, ns) in all.iter_mut().zip(ns) {
            series.elapsed_ns.fill(200.0 * ns);
            series.involuntary.fill(Some(u64::from(*ns == 0.0)));
        }
        all
    }

    #[test]
    fn pairs_are_of_one_repetition_although_rows_lose_some() {
        // The second row always costs twice as much; each row lost another repetition.
        let first = [1.0, 9.0, 0.0, 40.0, 2.0, 300.0, 7.0, 5.0];
        let second: Vec<f64> = first
            .iter()
            .enumerate()
            .map(|(i, ns)| if i == 5 { 0.0 } else { f64::max(2.0 * ns, 1.0) })
            .collect();
        let list = list(vec![
            (row("kernel", "a", "raw"), costing(&first)),
            (row("kernel", "b", "raw"), costing(&second)),
        ]);
        let found = Paired::of(&list, &[&list.prices[1], &list.prices[0]], |ns| ns[0] / ns[1]);
        let estimate = found.estimate(0.05).unwrap();
        assert_eq!((estimate.value, estimate.interval, estimate.repetitions), (2.0, Some((2.0, 2.0)), 6));
    }

    #[test]
    fn missing_repetitions_are_counted() {
        let few = Estimate { value: 0.5, interval: None, repetitions: 5 };
        assert_eq!(few.needed(0.0, 0.05), Some(6));
        assert_eq!(few.needed(0.0, 0.05 / 12.0), Some(9));
        let wide = Estimate { value: 0.5, interval: Some((-0.5, 0.6)), repetitions: 10 };
        assert_eq!((wide.needed(0.0, 0.05), wide.needed(1.0, 0.05)), (Some(40), Some(11)));
        assert_eq!(Estimate { value: 1e-9, ..wide }.needed(0.0, 0.05), None);
        let lacking = |needed| Lacking { repetitions: 7, needed }.more();
        assert_eq!((lacking(Some(9)), lacking(Some(7)), lacking(None)), (Some(9), None, None));
    }
}
