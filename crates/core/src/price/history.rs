//! Prices over a row of kernels: one table, and the steps worth a sentence.
//!
//! The lists come in the order in which the kernels came. A step is a change between neighbours that both price the row;
//! it is named when it is larger than delta and, where both lists tell their spread, when their intervals do not overlap. A
//! kernel that has no price for a row is passed over, so that a step may reach across it and says so by its names.

use serde::{Deserialize, Serialize};

use super::inside::Unit;
use super::list::{Price, PriceList};
use super::pairing::placed_otherwise;

/// Prices over kernels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct History {
    /// What the prices are.
    pub unit: Unit,
    /// The kernels, in their order.
    pub kernels: Vec<String>,
    /// Every row that at least two of them price, in the order of the lists.
    pub rows: Vec<Line>,
    /// The steps, the largest change first, and last those where the scheduler chose other CPUs.
    pub steps: Vec<Step>,
    /// Changes up to this fraction are none.
    pub delta: f64,
}

/// One row over all kernels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Line {
    /// Group.
    pub group: String,
    /// Name.
    pub name: String,
    /// Variant.
    pub variant: String,
    /// The typical price on each kernel; null where there is none.
    pub typical: Vec<Option<f64>>,
    /// The last price over the first one.
    pub overall: Option<f64>,
}

/// A change between two kernels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Step {
    /// Index into the rows.
    pub row: usize,
    /// Index of the kernel before.
    pub from: usize,
    /// Index of the kernel after.
    pub to: usize,
    /// The price after over the price before.
    pub ratio: f64,
    /// Perhaps only because the scheduler chose other CPUs. Absent: it did not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub placed_otherwise: bool,
}

impl History {
    /// Whether a row has moved only where the scheduler chose other CPUs.
    pub fn only_placed_otherwise(&self, row: usize) -> bool {
        let mut steps = self.steps.iter().filter(|step| step.row == row).peekable();
        steps.peek().is_some() && steps.all(|step| step.placed_otherwise)
    }
}

/// A list that cannot be set beside the first one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{first}' is in {unit}, '{other}' in {its}: only like stands beside like")]
pub struct OtherUnit {
    first: String,
    unit: &'static str,
    other: String,
    its: &'static str,
}

/// The history that these lists tell. An error names what cannot be set side by side.
pub fn history(lists: &[PriceList], delta: f64) -> Result<History, OtherUnit> {
    let unit = lists.first().map_or_else(Unit::default, |list| list.unit);
    if let Some(other) = lists.iter().find(|list| list.unit != unit) {
        return Err(OtherUnit {
            first: lists[0].name.clone(),
            unit: unit.name(),
            other: other.name.clone(),
            its: other.unit.name(),
        });
    }
    let mut rows = Vec::new();
    let mut steps = Vec::new();
    for (name, variant) in super::compare::row_ids(lists) {
        let prices: Vec<Option<&Price>> = lists
            .iter()
            .map(|list| list.find(name, Some(variant)).filter(|price| price.typical().is_some()))
            .collect();
        let known: Vec<(usize, &Price)> =
            prices.iter().enumerate().filter_map(|(at, price)| Some((at, (*price)?))).collect();
        let [(_, first), .., (_, last)] = known.as_slice() else { continue };
        for pair in known.windows(2) {
            if let Some(ratio) = step(pair[0].1, pair[1].1, delta) {
                let placed_otherwise = placed_otherwise(pair[0].1, pair[1].1);
                steps.push(Step { row: rows.len(), from: pair[0].0, to: pair[1].0, ratio, placed_otherwise });
            }
        }
        rows.push(Line {
            group: first.group.clone(),
            name: name.to_owned(),
            variant: variant.to_owned(),
            typical: prices.iter().map(|price| price.and_then(Price::typical)).collect(),
            overall: ratio(first, last),
        });
    }
    let size = |step: &Step| step.ratio.ln().abs();
    steps.sort_by(|a, b| {
        a.placed_otherwise.cmp(&b.placed_otherwise).then_with(|| size(b).total_cmp(&size(a)))
    });
    let kernels = names(lists);
    Ok(History { unit, kernels, rows, steps, delta })
}

/// What to call the kernels: their versions, or all that they call themselves where two have the same version.
fn names(lists: &[PriceList]) -> Vec<String> {
    let whole: Vec<String> = lists
        .iter()
        .map(|list| {
            list.inside.as_ref().and_then(|inside| inside.kernel.clone()).unwrap_or_else(|| list.name.clone())
        })
        .collect();
    let short: Vec<String> = whole
        .iter()
        .map(|name| name.chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect::<String>())
        .map(|name| name.trim_end_matches('.').to_owned())
        .collect();
    let mut seen = std::collections::BTreeSet::new();
    let told_apart = short.iter().all(|name| !name.is_empty() && seen.insert(name));
    if told_apart { short } else { whole }
}

fn ratio(before: &Price, after: &Price) -> Option<f64> {
    let (before, after) = (before.typical()?, after.typical()?);
    (before > 0.0 && after > 0.0).then_some(after / before)
}

/// The ratio of a change that is one.
fn step(before: &Price, after: &Price, delta: f64) -> Option<f64> {
    let ratio = ratio(before, after)?;
    let (a, b) = (before.figures(), after.figures());
    let apart = match (a.low, a.high, b.low, b.high) {
        (Some(a_low), Some(a_high), Some(b_low), Some(b_high)) => a_high < b_low || b_high < a_low,
        _ => true,
    };
    (apart && ratio.ln().abs() > delta.ln_1p()).then_some(ratio)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{list, row, samples};
    use super::*;

    fn kernels(costs: &[(&str, f64, f64)]) -> Vec<PriceList> {
        let one = |(name, fork, getppid): &(&str, f64, f64)| {
            let mut list = list(vec![
                (row("process", "fork", "reaped"), samples(6, 4, *fork)),
                (row("kernel", "getppid", "raw"), samples(6, 4, *getppid)),
            ]);
            list.unit = Unit::GuestInstructions;
            list.name = (*name).to_owned();
            list.reprice();
            list
        };
        costs.iter().map(one).collect()
    }

    #[test]
    fn steps_are_named_the_largest_first_and_noise_is_none() {
        let lists =
            kernels(&[("4.4", 184_000.0, 123.0), ("5.4", 269_000.0, 195.0), ("6.1", 272_000.0, 338.0)]);
        let found = history(&lists, 0.05).unwrap();
        let told: Vec<(&str, usize, usize)> =
            found.steps.iter().map(|s| (found.rows[s.row].name.as_str(), s.from, s.to)).collect();
        // 1.73, 1.59, 1.46
        assert_eq!(told, [("getppid", 1, 2), ("getppid", 0, 1), ("fork", 0, 1)]);
        assert!((found.rows[0].overall.unwrap() - 272.0 / 184.0).abs() < 1e-9);
    }

    #[test]
    fn a_kernel_without_the_row_is_passed_over() {
        let mut lists = kernels(&[("a", 100.0, 50.0), ("b", 100.0, 50.0), ("c", 150.0, 50.0)]);
        lists[1].rows[0].unavailable = Some("gone".into());
        lists[1].reprice();
        let found = history(&lists, 0.05).unwrap();
        assert_eq!((found.steps.len(), found.steps[0].from, found.steps[0].to), (1, 0, 2));
        assert_eq!(found.rows[0].typical[1], None);
    }

    #[test]
    fn units_do_not_mix() {
        let mut lists = kernels(&[("a", 100.0, 50.0), ("b", 100.0, 50.0)]);
        lists[1].unit = Unit::Nanoseconds;
        lists[1].reprice();
        assert!(history(&lists, 0.05).is_err());
    }
}
