//! A list with the repetitions of its rows, and by how much it drifts by itself.

use std::collections::BTreeMap;

use super::evidence::Evidence;
use super::list::{Price, PriceList};
use super::summary::FLOOR;
use whyfaster_stats::quantile;

/// A list with the repetitions of its rows.
pub(super) struct Side<'a> {
    pub list: &'a PriceList,
    pub repetitions: BTreeMap<(&'a str, &'a str), Repetitions>,
    /// Drift of nine in ten rows, by group.
    drift: BTreeMap<&'a str, f64>,
}

/// The repetitions of a row: logarithms of their medians, means and floors, in the order in which they ran.
pub(super) struct Repetitions {
    medians: Vec<f64>,
    means: Vec<f64>,
    pub floors: Vec<f64>,
}

impl Repetitions {
    fn of(costs: &[(u32, Vec<f64>)]) -> Self {
        let each = |of: fn(&[f64]) -> Option<f64>| {
            let logs = costs.iter().filter_map(|(_, one)| of(one).map(f64::ln));
            logs.filter(|ln| ln.is_finite()).collect()
        };
        Self {
            medians: each(quantile::median),
            means: each(quantile::mean),
            floors: each(|costs| quantile::quantile(costs, FLOOR)),
        }
    }

    /// By how much the second half lies off the first, on the log scale.
    fn drift(&self) -> f64 {
        let (first, second) = self.medians.split_at(self.medians.len() / 2);
        match (quantile::median(first), quantile::median(second)) {
            (Some(first), Some(second)) => (second - first).abs(),
            _ => 0.0,
        }
    }

    pub(super) fn logs(&self, means: bool) -> &[f64] {
        if means { &self.means } else { &self.medians }
    }
}

impl<'a> Side<'a> {
    pub(super) fn of(list: &'a PriceList) -> Self {
        let mut repetitions = BTreeMap::new();
        let mut drifts: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for price in list.prices.iter().filter(|price| price.is_measured()) {
            let costs = list.costs(&price.name, &price.variant);
            if costs.is_empty() {
                continue;
            }
            let found = Repetitions::of(&costs);
            drifts.entry(&price.group).or_default().push(found.drift());
            repetitions.insert((price.name.as_str(), price.variant.as_str()), found);
        }
        let most = |drifts: Vec<f64>| quantile::quantile(&drifts, 0.9).unwrap_or(0.0);
        let drift = drifts.into_iter().map(|(group, drifts)| (group, most(drifts))).collect();
        Self { list, repetitions, drift }
    }

    /// What this list by itself shows between equal things.
    pub(super) fn noise(&self, price: &Price, repetitions: &Repetitions) -> f64 {
        self.drift.get(price.group.as_str()).copied().unwrap_or(0.0).max(repetitions.drift())
    }

    /// What the repetitions of a row say that both lists have.
    pub(super) fn evidence(&self, other: &Side<'_>, id: (&str, &str)) -> Option<Evidence> {
        let (here, there) = (self.repetitions.get(&id)?, other.repetitions.get(&id)?);
        Some(Evidence::of_two(&here.medians, &there.medians))
    }
}
