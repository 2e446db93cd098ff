//! A list with the repetitions of its rows, and a row of another list against it: everything that [`super::compare`] needs to
//! judge the row, and no judgement.

use std::collections::BTreeMap;

use super::compare::Other;
use super::evidence::Evidence;
use super::inside::Unit;
use super::list::{Price, PriceList};
use super::pace::Pace;
use super::summary::FLOOR;
use crate::stats::{quantile, ranks};

pub(super) const NOT_IN_LIST: &str = "not in this list";
pub(super) const NO_SPREAD: &str = "neither list tells its spread";

/// A list with the repetitions of its rows.
pub(super) struct Side<'a> {
    pub list: &'a PriceList,
    repetitions: BTreeMap<(&'a str, &'a str), Repetitions>,
    /// Drift of nine in ten rows, by group.
    drift: BTreeMap<&'a str, f64>,
}

/// The repetitions of a row: logarithms of their medians, means and floors, in the order in which they ran.
struct Repetitions {
    medians: Vec<f64>,
    means: Vec<f64>,
    floors: Vec<f64>,
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

    fn logs(&self, means: bool) -> &[f64] {
        if means { &self.means } else { &self.medians }
    }
}

/// A row of a list against the same row of the baseline.
pub(super) struct Pairing {
    /// Prices and ratio, and why there is none.
    pub other: Other,
    /// What the repetitions say; `None` where no side has any, or a price is missing.
    pub evidence: Option<Evidence>,
    /// ln ratio of the floors, if both sides have them.
    pub floor: Option<f64>,
    /// How far the lists drift by themselves, on the log scale.
    pub drift: f64,
    /// How much slower or quicker the CPU itself was.
    pub pace: Option<Pace>,
    /// Why the row cannot be called dearer, and why not cheaper: the dearer one waited in a crowd.
    pub crowds: [Option<String>; 2],
}

impl<'a> Side<'a> {
    pub(super) fn of(list: &'a PriceList) -> Self {
        let mut repetitions = BTreeMap::new();
        let mut drifts: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for price in list.prices.iter().filter(|price| price.not_measured.is_none()) {
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
    fn noise(&self, price: &Price, repetitions: &Repetitions) -> f64 {
        self.drift.get(price.group.as_str()).copied().unwrap_or(0.0).max(repetitions.drift())
    }

    /// What the repetitions of a row say that both lists have.
    pub(super) fn evidence(&self, other: &Side<'_>, id: (&str, &str)) -> Option<Evidence> {
        let (here, there) = (self.repetitions.get(&id)?, other.repetitions.get(&id)?);
        Some(Evidence::of_two(&here.medians, &there.medians))
    }

    /// A row of another list against this one.
    pub(super) fn against(&self, other: &Side<'_>, id: (&str, &str), pace: Option<Pace>) -> Pairing {
        let (mine, theirs) = (self.list.find(id.0, Some(id.1)), other.list.find(id.0, Some(id.1)));
        let mut pairing = Pairing {
            other: prices(mine, theirs),
            evidence: None,
            floor: None,
            drift: 0.0,
            pace,
            crowds: [None, None],
        };
        let (Some(mine), Some(theirs)) = (mine, theirs) else { return pairing };
        // Where one of the two is a mean, means are compared.
        let means = mine.median_ns.is_none() || theirs.median_ns.is_none();
        let value = |price: &Price| if means { price.mean_ns } else { price.median_ns };
        let (Some(a), Some(b)) = (value(mine), value(theirs)) else { return pairing };
        let (here, there) = (self.repetitions.get(&id), other.repetitions.get(&id));
        let evidence = match (here, there) {
            (Some(here), Some(there)) => Some(Evidence::of_two(here.logs(means), there.logs(means))),
            (Some(here), None) => Some(one_number(here.logs(means), |ln| b.ln() - ln)),
            (None, Some(there)) => Some(one_number(there.logs(means), |ln| ln - a.ln())),
            (None, None) => None,
        };
        let middle = evidence.as_ref().and_then(Evidence::estimate).map(f64::exp);
        pairing.other.ratio = middle.or_else(|| (a > 0.0).then_some(b / a));
        if evidence.is_none() {
            pairing.other.not_measured = Some(NO_SPREAD.to_owned());
        }
        let noise = [here.map(|r| self.noise(mine, r)), there.map(|r| other.noise(theirs, r))];
        pairing.drift = noise.into_iter().flatten().fold(0.0, f64::max);
        let floors = here.zip(there).map(|(a, b)| ranks::differences(&a.floors, &b.floors).0);
        pairing.floor = floors.and_then(|differences| quantile::of_sorted(&differences, 0.5));
        if feels_crowd(theirs) {
            pairing.crowds = [other.list.crowd_beyond(self.list), self.list.crowd_beyond(other.list)];
        }
        pairing.evidence = evidence;
        pairing
    }
}

fn one_number(logs: &[f64], difference: impl Fn(f64) -> f64) -> Evidence {
    Evidence::of_one(&logs.iter().map(|ln| difference(*ln)).collect::<Vec<_>>())
}

/// The price of the other list, or why it has none.
fn prices(mine: Option<&Price>, theirs: Option<&Price>) -> Other {
    let absent = || Some(NOT_IN_LIST.to_owned());
    Other {
        ns: theirs.and_then(Price::typical_ns),
        not_measured: match (mine, theirs) {
            (_, None) => absent(),
            (_, Some(theirs)) => theirs.not_measured.clone(),
        },
        ..Other::default()
    }
}

/// Whether a crowd makes the operation dearer in a way that no receipt shows: tasks wait for a CPU, caches and memory are
/// shared. Calls that only enter the kernel are over before that, and those that were hit are left out.
fn feels_crowd(price: &Price) -> bool {
    price.group != "kernel" || price.receipt.switches.is_some_and(|switches| switches > 0.1)
}

impl PriceList {
    /// How crowded this list was, if it was, and more so than another.
    fn crowd_beyond(&self, other: &PriceList) -> Option<String> {
        if self.unit == Unit::GuestInstructions {
            // Whoever waits for a CPU executes nothing.
            return None;
        }
        let crowd = self.fingerprint.crowd()?;
        (self.fingerprint.crowded() > other.fingerprint.crowded()).then_some(crowd)
    }
}
