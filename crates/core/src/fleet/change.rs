//! What an update changed: every machine beside itself, before and after.
//!
//! Machines are paired by name. Of every row, the change is the median over the machines of after over before, with the interval and the
//! p-value of the sign test: it takes nothing for granted of how changes are distributed, and no machine counts for more than one.
//! Which rows changed is told at one false discovery rate; where the change differs between kinds of machines, [`split`] says by which fact.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::split::{Group, Split, split};
use super::{Fleet, Machine, RATE, Row};
use crate::price::fingerprint::{Difference, differences};
use crate::verdict::Ratio;
use whyfaster_stats::{Observation, quantile, sign};

/// What changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChangeReport {
    /// Machines that are in both, by name.
    pub machines: Vec<String>,
    /// Machines that are in the first only.
    pub only_before: Vec<String>,
    /// Machines that are in the second only.
    pub only_after: Vec<String>,
    /// What is no longer as it was, on how many machines: the commonest first.
    pub facts: Vec<Changed>,
    /// Every row that machines have in both: the largest change first, then those that did not change.
    pub rows: Vec<RowChange>,
    /// The facts (as they were before) by which the changes of machines differ.
    pub splits: Vec<Split>,
    /// Machines that are alike in these.
    pub groups: Vec<Group>,
    /// Of each of these groups, after over before: the median over the rows.
    #[serde(default)]
    pub by_group: Vec<Option<f64>>,
    /// Changes up to this fraction do not matter.
    pub delta: f64,
    /// The share of the rows called changed that may be wrong.
    pub rate: f64,
}

/// A fact that changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Changed {
    /// Before and after.
    #[serde(flatten)]
    pub difference: Difference,
    /// On so many machines.
    pub machines: usize,
}

/// The change of a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RowChange {
    /// The row.
    #[serde(flatten)]
    pub row: Row,
    /// After over before: median of the machines, with the interval of the rows that are called changed; open where machines are too few.
    pub ratio: Ratio,
    /// The same in every group of machines.
    pub by_group: Vec<Option<f64>>,
    /// Machines behind it.
    pub machines: usize,
    /// Probability of so many machines on one side, if nothing changed.
    pub p_value: f64,
    /// Whether it changed by more than delta, at the rate of the report.
    pub changed: bool,
}

/// Every machine beside itself.
#[derive(Clone, Debug, PartialEq)]
pub struct Changes {
    /// The machines that are in both, as they were before.
    pub machines: Vec<Machine>,
    /// The rows that both know.
    pub rows: Vec<Row>,
    /// For every row, of every machine the logarithm of after over before.
    pub of_machines: Vec<Vec<Option<f64>>>,
}

impl Changes {
    /// Of two states of a fleet.
    pub fn of(before: &Fleet, after: &Fleet) -> Self {
        let pairs = pairs(&places(before), &places(after));
        let machines = pairs.iter().map(|(at, _)| before.machines[*at].clone()).collect();
        let (rows, of_machines) = changes(before, after, &pairs);
        Self { machines, rows, of_machines }
    }
}

/// Where each name stands.
fn places(fleet: &Fleet) -> BTreeMap<String, usize> {
    fleet.machines.iter().enumerate().map(|(at, it)| (it.name.clone(), at)).collect()
}

fn pairs(first: &BTreeMap<String, usize>, second: &BTreeMap<String, usize>) -> Vec<(usize, usize)> {
    first.iter().filter_map(|(name, at)| Some((*at, *second.get(name)?))).collect()
}

/// Sets two states of a fleet beside each other.
pub fn change(before: &Fleet, after: &Fleet, delta: f64) -> ChangeReport {
    let (first, second) = (places(before), places(after));
    let pairs = pairs(&first, &second);
    let Changes { machines, rows, of_machines: changes } = Changes::of(before, after);
    let splits = split(&machines, &changes);
    let p_values: Vec<f64> = changes.iter().map(|row| p_value(row)).collect();
    let level = whyfaster_stats::benjamini_hochberg(&p_values, RATE);
    let mut rows: Vec<RowChange> = rows
        .into_iter()
        .zip(changes)
        .zip(p_values)
        .filter_map(|((row, changes), p_value)| {
            of_row(row, &changes, &splits.groups, (p_value, level), delta)
        })
        .collect();
    rows.sort_by(|a, b| {
        let far = |it: &RowChange| it.ratio.ratio.ln().abs();
        b.changed.cmp(&a.changed).then(far(b).total_cmp(&far(a)))
    });
    let of_group = |group: usize| {
        let each: Vec<f64> = rows.iter().filter_map(|row| *row.by_group.get(group)?).collect();
        quantile::median(&each)
    };
    let by_group = (0..splits.groups.len()).map(of_group).collect();
    let only = |these: &BTreeMap<String, usize>, those: &BTreeMap<String, usize>| {
        these.keys().filter(|name| !those.contains_key(*name)).cloned().collect()
    };
    ChangeReport {
        machines: machines.into_iter().map(|it| it.name).collect(),
        only_before: only(&first, &second),
        only_after: only(&second, &first),
        facts: facts(before, after, &pairs),
        rows,
        splits: splits.facts,
        groups: splits.groups,
        by_group,
        delta,
        rate: RATE,
    }
}

/// Of every row that both fleets know, the change of every machine.
fn changes(before: &Fleet, after: &Fleet, pairs: &[(usize, usize)]) -> (Vec<Row>, Vec<Vec<Option<f64>>>) {
    let each = before.rows.iter().zip(&before.costs).filter_map(|(row, costs)| {
        let at = after.rows.iter().position(|other| other == row)?;
        let change = |(first, second): &(usize, usize)| Some(after.costs[at][*second]? - costs[*first]?);
        Some((row.clone(), pairs.iter().map(change).collect::<Vec<_>>()))
    });
    each.filter(|(_, changes)| changes.iter().any(Option::is_some)).unzip()
}

fn p_value(changes: &[Option<f64>]) -> f64 {
    let count = |side: fn(f64) -> bool| changes.iter().flatten().filter(|it| side(**it)).count();
    sign::p_value(count(|it| it < 0.0), count(|it| it > 0.0))
}

fn of_row(
    row: Row,
    changes: &[Option<f64>],
    groups: &[Group],
    (p_value, level): (f64, f64),
    delta: f64,
) -> Option<RowChange> {
    let told: Vec<f64> = changes.iter().flatten().copied().collect();
    let median = quantile::median(&told)?;
    let observed: Vec<Observation> = told.iter().map(|ln| Observation::from(*ln)).collect();
    let (low, high) = sign::median_interval(&observed, level).unzip();
    let in_group = |group: &Group| {
        let here: Vec<f64> = group.machines.iter().filter_map(|at| changes[*at]).collect();
        quantile::median(&here).map(f64::exp)
    };
    Some(RowChange {
        row,
        ratio: Ratio { ratio: median.exp(), low: low.map(f64::exp), high: high.map(f64::exp) },
        by_group: groups.iter().map(in_group).collect(),
        machines: told.len(),
        p_value,
        changed: p_value <= level && median.abs() > delta.ln_1p(),
    })
}

fn facts(before: &Fleet, after: &Fleet, pairs: &[(usize, usize)]) -> Vec<Changed> {
    let mut found: Vec<Changed> = Vec::new();
    for (first, second) in pairs {
        let (first, second) = (&before.machines[*first].facts, &after.machines[*second].facts);
        for difference in differences(first, second) {
            match found.iter_mut().find(|known| known.difference == difference) {
                Some(known) => known.machines += 1,
                None => found.push(Changed { difference, machines: 1 }),
            }
        }
    }
    found.sort_by_key(|it| std::cmp::Reverse(it.machines));
    found
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::simulated::{Planted, fleet};
    use super::*;
    use crate::price::fingerprint::Fact;

    fn kernel(fleet: &mut Fleet, release: &str) {
        for machine in &mut fleet.machines {
            let others = machine.facts.iter().filter(|(fact, _)| *fact != Fact::Kernel);
            let others = others.map(|(fact, value)| (fact, value.to_owned()));
            machine.facts = Arc::new(others.chain([(Fact::Kernel, release.to_owned())]).collect());
        }
    }

    /// Thirty machines, whose rows of pipes become dearer by this on those of the second CPU only, or on all.
    fn updated(by: f64, on_all: bool) -> ChangeReport {
        let (mut before, mut after) = (
            fleet(&Planted { machines: 30, seed: 1, ..Planted::default() }),
            fleet(&Planted { machines: 30, seed: 2, ..Planted::default() }),
        );
        // The machines are the same ones.
        after.machines.clone_from(&before.machines);
        kernel(&mut before, "6.1");
        kernel(&mut after, "6.12");
        let pipes = after.rows.iter().zip(&mut after.costs).filter(|(row, _)| row.group == "pipe");
        for (_, costs) in pipes {
            costs
                .iter_mut()
                .enumerate()
                .filter(|(at, _)| on_all || at % 2 == 1)
                .for_each(|(_, it)| *it = it.map(|ln| ln + by));
        }
        change(&before, &after, 0.05)
    }

    #[test]
    fn what_became_dearer_everywhere_is_found_and_nothing_else() {
        let report = updated(0.2, true);
        assert_eq!(report.facts.len(), 1);
        assert_eq!((report.facts[0].difference.fact, report.facts[0].machines), (Fact::Kernel, 30));
        let changed: Vec<&str> =
            report.rows.iter().filter(|it| it.changed).map(|it| it.row.group.as_str()).collect();
        assert_eq!(changed, ["pipe"; 12]);
        assert!(report.splits.is_empty());
        assert!(report.rows[0].ratio.is_above_one());
    }

    #[test]
    fn what_became_dearer_on_one_kind_of_machine_is_told_by_its_kind() {
        let report = updated(0.3, false);
        assert_eq!(report.splits.iter().map(|it| it.fact).collect::<Vec<_>>(), [Fact::Cpu]);
        let pipe = report.rows.iter().find(|it| it.row.group == "pipe").unwrap();
        let mut by_group: Vec<f64> = pipe.by_group.iter().flatten().map(|it| it.ln()).collect();
        by_group.sort_by(f64::total_cmp);
        assert!(by_group[0].abs() < 0.1 && (by_group[1] - 0.3).abs() < 0.1, "{by_group:?}");
    }

    #[test]
    fn an_update_that_changed_nothing_says_nothing() {
        assert!(updated(0.0, true).rows.iter().all(|it| !it.changed));
    }

    #[test]
    fn machines_that_came_or_went_are_named() {
        let (mut before, mut after) = (fleet(&Planted::default()), fleet(&Planted::default()));
        before.machines[0].name = "gone".into();
        after.machines[1].name = "new".into();
        let report = change(&before, &after, 0.05);
        assert_eq!(
            (report.only_before, report.only_after),
            (vec!["gone".into(), "node1".into()], vec!["new".into(), "node0".into()])
        );
        assert_eq!(report.machines.len(), 98);
    }
}
