//! Price lists side by side: for every row a ratio, an interval, a verdict, and what about the machines may explain it.
//!
//! The first list is the baseline; a ratio is another list over it, so below 1 is cheaper. The rule, in this order:
//!
//! 1. The interval of the ratio is that of the shift between the repetitions' ln medians ([`ranks`]). Its error probability is
//!    `alpha` shared over all rows of all lists (Bonferroni), so that with that probability at most, any row's interval is
//!    wrong.
//! 2. Wholly within the band from 1/(1 + delta) to 1 + delta: **same**.
//! 3. Wholly on one side of 1, and both the median and the floor differ by more than the noise: **slower** or **faster**.
//!    The noise of a row is delta, or the drift that either list shows by itself if that is more: the second half of its
//!    repetitions against the first half, its own and that of nine in ten rows of its group. An interval knows only the noise
//!    within a list; two lists were measured at different times, and drift is what a list tells of that.
//! 4. A row that does more than enter the kernel is not called dearer by a list that was measured in a crowd (other processes,
//!    or steal): its tasks then wait for a CPU and share caches, and that is no property of the machine.
//! 5. Otherwise **undecided**.
//!
//! Numbers of a source have no repetitions. Against them, the interval is that of the measured side alone; between two
//! of them there is a ratio and no verdict. Where a source gives means, means are compared.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fingerprint::{Difference, Fact, differences};
use super::inside::Unit;
use super::list::{Price, PriceList};
use super::summary::FLOOR;
use crate::stats::{self, Observation, quantile, ranks, sign};
use crate::verdict::Verdict;

/// By what rule rows are told apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rule {
    /// Differences up to this fraction do not matter.
    pub delta: f64,
    /// Probability that any row of a comparison is called different, or the same, wrongly.
    pub alpha: f64,
}

impl Default for Rule {
    fn default() -> Self {
        Self { delta: 0.05, alpha: 0.05 }
    }
}

/// Lists side by side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// Names of the lists; the first is the baseline.
    pub lists: Vec<String>,
    /// What differs between the baseline's machine and each other one.
    pub machines: Vec<Vec<Difference>>,
    /// The rows, the worst first: dearer, then cheaper, each by its ratio; then undecided, the same, not measured.
    pub rows: Vec<Beside>,
    /// Probability that any verdict is wrong, as far as it is noise.
    pub alpha: f64,
    /// What the prices are. Lists of another unit than the baseline are not in here.
    #[serde(default, skip_serializing_if = "Unit::is_usual")]
    pub unit: Unit,
}

/// One row in all lists.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Beside {
    /// Group.
    pub group: String,
    /// Name.
    pub name: String,
    /// Variant.
    pub variant: String,
    /// The baseline's typical price.
    pub ns: Option<f64>,
    /// The same where the lists are in guest instructions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<f64>,
    /// Why the baseline has none.
    pub not_measured: Option<String>,
    /// The other lists, in their order.
    pub others: Vec<Other>,
}

/// One row of another list against the baseline.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Other {
    /// Its typical price.
    pub ns: Option<f64>,
    /// The same where the lists are in guest instructions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<f64>,
    /// Its price over the baseline's.
    pub ratio: Option<f64>,
    /// Lower end of the interval.
    pub low: Option<f64>,
    /// Upper end of the interval.
    pub high: Option<f64>,
    /// The verdict; null where neither side tells its spread.
    pub verdict: Option<Verdict>,
    /// What about the machines may explain the difference of this row in particular.
    pub explained_by: Vec<Fact>,
    /// Why there is no ratio, or no verdict.
    pub not_measured: Option<String>,
}

/// Sets lists beside each other: each unit by itself, in the order in which the units come. The first list of a unit is
/// its baseline.
pub fn compare_by_unit(lists: &[PriceList], rule: &Rule) -> Vec<Comparison> {
    let mut units: Vec<Unit> = Vec::new();
    for list in lists {
        if !units.contains(&list.unit) {
            units.push(list.unit);
        }
    }
    let of = |unit: &Unit| lists.iter().filter(|list| list.unit == *unit).cloned().collect::<Vec<_>>();
    units.iter().map(|unit| compare(&of(unit), rule)).collect()
}

/// Sets lists of one unit beside each other; those of another unit than the first one are left out.
pub fn compare(lists: &[PriceList], rule: &Rule) -> Comparison {
    let unit = lists.first().map_or_else(Unit::default, |list| list.unit);
    let alike: Vec<PriceList> =
        lists.iter().filter(|list| list.unit == unit).map(PriceList::unlabelled).collect();
    let mut found = alike_compared(&alike, rule);
    found.unit = unit;
    if unit == Unit::GuestInstructions {
        for row in &mut found.rows {
            row.instructions = row.ns.take();
            for other in &mut row.others {
                other.instructions = other.ns.take();
            }
        }
    }
    found
}

fn alike_compared(lists: &[PriceList], rule: &Rule) -> Comparison {
    let names = lists.iter().map(|list| list.name.clone()).collect();
    let Some((base, others)) = lists.split_first() else {
        return Comparison {
            lists: names,
            machines: Vec::new(),
            rows: Vec::new(),
            alpha: rule.alpha,
            unit: Unit::default(),
        };
    };
    let machines: Vec<Vec<Difference>> =
        others.iter().map(|other| differences(&base.fingerprint, &other.fingerprint)).collect();
    let sides: Vec<Side<'_>> = lists.iter().map(Side::of).collect();
    let ids = row_ids(lists);
    let judged = |(name, variant): &(&str, &str)| {
        sides[1..].iter().filter(|s| s.has(name, variant) && sides[0].has(name, variant)).count()
    };
    let alpha = stats::bonferroni(rule.alpha, ids.iter().map(judged).sum());
    let mut rows: Vec<Beside> = ids
        .iter()
        .map(|(name, variant)| {
            let (mut beside, price) = beside(base, lists, name, variant);
            for (side, machine) in sides[1..].iter().zip(&machines) {
                let mut other = sides[0].against(side, (name, variant), alpha, rule.delta);
                if matches!(other.verdict, Some(Verdict::Faster | Verdict::Slower) | None)
                    && other.ratio.is_some()
                {
                    let facts = machine.iter().map(|difference| difference.fact);
                    other.explained_by = facts
                        .filter(|fact| !fact.is_general() && price.is_some_and(|p| fact.bears_on(p)))
                        .collect();
                }
                beside.others.push(other);
            }
            beside
        })
        .collect();
    rows.sort_by(|a, b| severity(b).partial_cmp(&severity(a)).unwrap_or(std::cmp::Ordering::Equal));
    Comparison { lists: names, machines, rows, alpha: rule.alpha, unit: Unit::default() }
}

/// Every name and variant of any list, in the order of the lists.
pub(super) fn row_ids(lists: &[PriceList]) -> Vec<(&str, &str)> {
    let mut seen = std::collections::BTreeSet::new();
    let all = lists.iter().flat_map(|list| &list.prices).map(|p| (p.name.as_str(), p.variant.as_str()));
    all.filter(|id| seen.insert(*id)).collect()
}

fn beside<'a>(
    base: &'a PriceList,
    lists: &'a [PriceList],
    name: &str,
    variant: &str,
) -> (Beside, Option<&'a Price>) {
    let here = base.find(name, Some(variant));
    let any = lists.iter().find_map(|list| list.find(name, Some(variant)));
    let ns = here.and_then(Price::typical_ns);
    let why = || here.map_or_else(|| NOT_IN_LIST.to_owned(), |p| p.not_measured.clone().unwrap_or_default());
    let row = Beside {
        group: any.map(|price| price.group.clone()).unwrap_or_default(),
        name: name.to_owned(),
        variant: variant.to_owned(),
        ns,
        instructions: None,
        not_measured: ns.is_none().then(why),
        others: Vec::new(),
    };
    (row, here.or(any))
}

const NOT_IN_LIST: &str = "not in this list";
const NO_SPREAD: &str = "neither list tells its spread";

impl Other {
    /// By what rows are ordered, the worst having the most: dearer (decided, or a source's), cheaper, undecided, the same,
    /// not measured; then the distance of the ratio from 1.
    pub fn severity(&self) -> (u8, f64) {
        let Some(ratio) = self.ratio else { return (0, 0.0) };
        let rank = match self.verdict {
            Some(Verdict::Same) => 1,
            Some(Verdict::Undecided) => 2,
            Some(Verdict::Faster) => 3,
            Some(Verdict::Slower) => 4,
            None => 3 + u8::from(ratio >= 1.0),
        };
        (rank, ratio.ln().abs())
    }
}

/// The order of a row: that of the machine on which it is worst.
fn severity(row: &Beside) -> (u8, f64) {
    let all = row.others.iter().map(Other::severity);
    all.fold((0, 0.0), |worst, one| if one > worst { one } else { worst })
}

/// A list with the repetitions of its rows.
struct Side<'a> {
    list: &'a PriceList,
    repetitions: std::collections::BTreeMap<(&'a str, &'a str), Repetitions>,
    /// Drift of nine in ten rows, by group.
    drift: std::collections::BTreeMap<&'a str, f64>,
}

/// The repetitions of a row: logarithms of their medians, means and floors, in the order in which they ran.
struct Repetitions {
    medians: Vec<f64>,
    means: Vec<f64>,
    floors: Vec<f64>,
}

impl Repetitions {
    fn of(costs: &[Vec<f64>]) -> Self {
        let each = |of: fn(&[f64]) -> Option<f64>| {
            costs.iter().filter_map(|one| of(one).map(f64::ln)).filter(|ln| ln.is_finite()).collect()
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
}

impl<'a> Side<'a> {
    fn of(list: &'a PriceList) -> Self {
        let mut repetitions = std::collections::BTreeMap::new();
        let mut drifts: std::collections::BTreeMap<&str, Vec<f64>> = std::collections::BTreeMap::new();
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

    fn has(&self, name: &str, variant: &str) -> bool {
        self.repetitions.contains_key(&(name, variant))
    }

    /// What this list by itself shows between equal things.
    fn noise(&self, price: &Price, repetitions: &Repetitions) -> f64 {
        self.drift.get(price.group.as_str()).copied().unwrap_or(0.0).max(repetitions.drift())
    }

    /// A row of another list against this one.
    fn against(&self, other: &Side<'_>, id: (&str, &str), alpha: f64, delta: f64) -> Other {
        let price = |side: &Side<'a>| side.list.find(id.0, Some(id.1)).cloned();
        let theirs = other.list.find(id.0, Some(id.1));
        let mine = price(self);
        let (Some(mine), Some(theirs)) = (mine.as_ref(), theirs) else {
            let why = theirs.map_or_else(|| Some(NOT_IN_LIST.to_owned()), |p| p.not_measured.clone());
            return Other { ns: theirs.and_then(Price::typical_ns), not_measured: why, ..Other::default() };
        };
        let mut found =
            Other { ns: theirs.typical_ns(), not_measured: theirs.not_measured.clone(), ..Other::default() };
        // Where one of the two is a mean, means are compared.
        let means = mine.median_ns.is_none() || theirs.median_ns.is_none();
        let value = |price: &Price| if means { price.mean_ns } else { price.median_ns };
        let (Some(a), Some(b)) = (value(mine), value(theirs)) else { return found };
        found.ratio = (a > 0.0).then_some(b / a);
        let (here, there) = (self.repetitions.get(&id), other.repetitions.get(&id));
        let logs = |one: &Repetitions| if means { one.means.clone() } else { one.medians.clone() };
        let interval = match (here, there) {
            (Some(here), Some(there)) => {
                let shift = ranks::shift(&logs(here), &logs(there), alpha);
                found.ratio = shift.map(|shift| shift.estimate.exp()).or(found.ratio);
                shift.and_then(|shift| shift.interval)
            }
            (Some(here), None) => {
                let (middle, interval) = alone(&logs(here), alpha);
                found.ratio = middle.map(|ln| b / ln.exp()).or(found.ratio);
                interval.map(|(low, high)| (b.ln() - high, b.ln() - low))
            }
            (None, Some(there)) => {
                let (middle, interval) = alone(&logs(there), alpha);
                found.ratio = middle.map(|ln| ln.exp() / a).or(found.ratio);
                interval.map(|(low, high)| (low - a.ln(), high - a.ln()))
            }
            (None, None) => {
                found.not_measured = Some(NO_SPREAD.to_owned());
                return found;
            }
        };
        let noise = [here.map(|r| self.noise(mine, r)), there.map(|r| other.noise(theirs, r))];
        let noise = noise.into_iter().flatten().fold(delta.ln_1p(), f64::max);
        let floors = here.zip(there).and_then(|(a, b)| ranks::shift(&a.floors, &b.floors, alpha));
        (found.low, found.high) = interval.map(|(low, high)| (low.exp(), high.exp())).unzip();
        let verdict = verdict(found.ratio, interval, floors.map(|f| f.estimate), noise, delta);
        let crowd = match verdict {
            Verdict::Slower if feels_crowd(theirs) => there.and_then(|_| other.list.fingerprint.crowd()),
            Verdict::Faster if feels_crowd(theirs) => here.and_then(|_| self.list.fingerprint.crowd()),
            _ => None,
        };
        found.verdict = Some(if crowd.is_some() { Verdict::Undecided } else { verdict });
        if let Some(crowd) = crowd {
            found.not_measured = Some(format!("no verdict: {crowd} while the dearer list was measured"));
        }
        found
    }
}

/// Whether a crowd makes the operation dearer in a way that no receipt shows: tasks wait for a CPU, caches and memory are
/// shared. Calls that only enter the kernel are over before that, and those that were hit are left out.
fn feels_crowd(price: &Price) -> bool {
    price.group != "kernel" || price.receipt.switches.is_some_and(|switches| switches > 0.1)
}

/// The median of one side's repetitions and its interval, where the other side is one number.
fn alone(logs: &[f64], alpha: f64) -> (Option<f64>, Option<(f64, f64)>) {
    let observations: Vec<Observation> = logs.iter().map(|ln| (*ln).into()).collect();
    (quantile::median(logs), sign::median_interval(&observations, alpha))
}

/// The verdict of a row: the rule of this module from step 2 on. `floor` is the ln ratio of the floors, if both are known.
fn verdict(
    ratio: Option<f64>,
    interval: Option<(f64, f64)>,
    floor: Option<f64>,
    noise: f64,
    delta: f64,
) -> Verdict {
    let (Some(ratio), Some((low, high))) = (ratio.map(f64::ln), interval) else { return Verdict::Undecided };
    let band = delta.ln_1p();
    let beyond = |sign: f64| sign * ratio > noise && floor.is_none_or(|floor| sign * floor > noise);
    if -band <= low && high <= band {
        Verdict::Same
    } else if low > 0.0 && beyond(1.0) {
        Verdict::Slower
    } else if high < 0.0 && beyond(-1.0) {
        Verdict::Faster
    } else {
        Verdict::Undecided
    }
}

#[cfg(test)]
#[path = "compare_tests.rs"]
mod tests;
