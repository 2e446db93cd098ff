//! The facts of the machines that explain how their answers vary.
//!
//! One fact after the other is taken, each time the one that explains most of what is left, as long as what it explains is more than
//! chance: for every row an F test of the machines grouped with and without it (Fisher), all of them at one false discovery rate. The
//! share of a fact is what it takes off the variance between machines, corrected for the number of its values (epsilon squared, Kelley,
//! "An unbiased correlation ratio measure", 1935), so that a fact that differs on every machine explains nothing by that.
//!
//! Values far from the middle of their group are pulled in to four spreads before, first without and then with the fact, so that no broken
//! machine decides.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, FisherSnedecor};

use super::{Machine, RATE, robust};
use crate::price::fingerprint::Fact;
use whyfaster_stats::quantile;

/// So many spreads from the median of its group a value is pulled in to.
const FAR: f64 = 4.0;

/// And so many within the groups of a fact that is tried: the spread of a few machines is badly known, and less would make a fact of
/// chance. Of simulated fleets of 8 machines of one kind 20% were cut with 4, 8% with this, and 7% without any.
const FAR_WITHIN: f64 = 8.0;

/// No fleet is cut by more facts than these: their groups would be too small to tell who stands out.
const MOST_FACTS: usize = 3;

/// A fact is of interest if it explains this share of some row's variance.
const LEAST_SHARE: f64 = 0.05;

/// A fact that cuts the fleet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Split {
    /// The fact.
    pub fact: Fact,
    /// What it takes off the variance between machines, beside the facts before it: the mean over the rows.
    pub share: f64,
    /// The same for every row.
    pub shares: Vec<f64>,
    /// Other facts that cut the fleet at the same places: the answers cannot tell which of them it is.
    pub also: Vec<Fact>,
}

/// Machines that are alike in every fact that explains something.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Group {
    /// What they have in common; null where a machine does not tell it.
    pub values: Vec<(Fact, Option<String>)>,
    /// Indices of its machines.
    pub machines: Vec<usize>,
}

/// The fleet, cut by facts.
#[derive(Clone, Debug, PartialEq)]
pub struct Splits {
    /// The facts, the one that explains most first.
    pub facts: Vec<Split>,
    /// The group of every machine.
    pub group_of: Vec<usize>,
    /// The groups, the largest first.
    pub groups: Vec<Group>,
}

/// Cuts machines by the facts that explain these answers: for every row, of every machine.
pub fn split(machines: &[Machine], answers: &[Vec<Option<f64>>]) -> Splits {
    let values: Vec<(Fact, Vec<Option<&str>>)> = Fact::ALL
        .into_iter()
        .map(|fact| (fact, machines.iter().map(|machine| machine.facts.get(fact)).collect()))
        .collect();
    let mut labels = vec![0; machines.len()];
    let mut facts: Vec<Split> = Vec::new();
    let before: Vec<Option<f64>> =
        answers.iter().map(|row| Fit::of(&pulled_in(row, &labels, FAR), &labels).variance()).collect();
    while facts.len() < MOST_FACTS {
        let Some(found) = next(&values, &facts, answers, &labels, &before) else { break };
        labels = found.1;
        facts.push(found.0);
    }
    let groups = groups(&values, &facts, &labels);
    let mut group_of = vec![0; machines.len()];
    for (at, group) in groups.iter().enumerate() {
        group.machines.iter().for_each(|machine| group_of[*machine] = at);
    }
    Splits { facts, group_of, groups }
}

/// The fact that explains most beside those that were taken, and the machines' labels with it.
fn next(
    values: &[(Fact, Vec<Option<&str>>)],
    taken: &[Split],
    answers: &[Vec<Option<f64>>],
    labels: &[usize],
    before: &[Option<f64>],
) -> Option<(Split, Vec<usize>)> {
    let candidates: Vec<(Fact, Vec<usize>)> = values
        .iter()
        .filter(|(fact, _)| !taken.iter().any(|split| split.fact == *fact || split.also.contains(fact)))
        .map(|(fact, values)| (*fact, refine(labels, values)))
        .filter(|(_, finer)| cuts(labels, finer))
        .collect();
    let rows: Vec<Vec<Option<f64>>> = answers.iter().map(|row| pulled_in(row, labels, FAR)).collect();
    // A machine that is broken by less than the groups are apart is far only from its own.
    let gain = |row: &Vec<Option<f64>>, finer: &[usize]| {
        let row = pulled_in(row, finer, FAR_WITHIN);
        Gain::of(&Fit::of(&row, labels), &Fit::of(&row, finer))
    };
    let gains: Vec<Vec<Gain>> =
        candidates.iter().map(|(_, finer)| rows.iter().map(|row| gain(row, finer)).collect()).collect();
    let all: Vec<f64> = gains.iter().flatten().map(|gain| gain.p_value).collect();
    let level = whyfaster_stats::benjamini_hochberg(&all, RATE);
    let shares = |gains: &[Gain]| -> Vec<f64> {
        let each = gains.iter().zip(before).map(|(gain, before)| match before {
            Some(before) if *before > 0.0 => (gain.variance / before).clamp(0.0, 1.0),
            _ => 0.0,
        });
        each.collect()
    };
    let real = |gains: &[Gain]| {
        gains.iter().zip(shares(gains)).any(|(gain, share)| gain.p_value <= level && share >= LEAST_SHARE)
    };
    let mean = |gains: &[Gain]| quantile::mean(&shares(gains)).unwrap_or(0.0);
    let best = (0..candidates.len())
        .filter(|at| real(&gains[*at]))
        // Of equals, the first one in the order of the facts: what a machine is comes before how it is set.
        .reduce(|a, b| if mean(&gains[b]) > mean(&gains[a]) + 1e-9 { b } else { a })?;
    let (fact, finer) = candidates[best].clone();
    let also = candidates.iter().enumerate().filter(|(at, (_, other))| *at != best && *other == finer);
    let also = also.map(|(_, (fact, _))| *fact).collect();
    Some((Split { fact, share: mean(&gains[best]), shares: shares(&gains[best]), also }, finer))
}

/// Labels in the order of their first machine, of machines that were alike before and have the same value.
fn refine(labels: &[usize], values: &[Option<&str>]) -> Vec<usize> {
    let mut known: BTreeMap<(usize, &Option<&str>), usize> = BTreeMap::new();
    let each = labels.iter().zip(values).map(|(label, value)| {
        let new = known.len();
        *known.entry((*label, value)).or_insert(new)
    });
    each.collect()
}

/// Whether this cuts the fleet into more groups, two of which have two machines at least, and not into single machines.
fn cuts(labels: &[usize], finer: &[usize]) -> bool {
    let count = |labels: &[usize]| labels.iter().max().map_or(0, |most| most + 1);
    let groups = count(finer);
    let mut sizes = vec![0usize; groups];
    finer.iter().for_each(|label| sizes[*label] += 1);
    groups > count(labels)
        && 2 * groups <= finer.len()
        && sizes.iter().filter(|size| **size >= 2).count() >= 2
}

/// The answers, those far from the middle of their group pulled in.
fn pulled_in(row: &[Option<f64>], labels: &[usize], far: f64) -> Vec<Option<f64>> {
    let medians = medians(row, labels);
    let residuals: Vec<f64> =
        row.iter().zip(labels).filter_map(|(value, label)| Some((*value)? - medians[*label]?)).collect();
    let groups = medians.iter().flatten().count().max(1);
    let Some(spread) = robust::spread(&residuals, residuals.len() as f64 / groups as f64) else {
        return row.to_vec();
    };
    // More than half of the machines have the very same answer: nothing says what is far.
    if spread <= 0.0 {
        return row.to_vec();
    }
    let each = row.iter().zip(labels).map(|(value, label)| {
        let (value, median) = ((*value)?, medians[*label]?);
        Some(median + (value - median).clamp(-far * spread, far * spread))
    });
    each.collect()
}

/// The median of every group; `None` for a group without an answer.
pub(super) fn medians(row: &[Option<f64>], labels: &[usize]) -> Vec<Option<f64>> {
    let mut of: Vec<Vec<f64>> = vec![Vec::new(); labels.iter().max().map_or(0, |most| most + 1)];
    for (value, label) in row.iter().zip(labels) {
        of[*label].extend(value);
    }
    of.iter().map(|values| quantile::median(values)).collect()
}

/// What is left of a row when the mean of its group is taken off every answer.
#[derive(Clone, Copy, Debug)]
struct Fit {
    squares: f64,
    groups: usize,
    answers: usize,
}

impl Fit {
    fn of(row: &[Option<f64>], labels: &[usize]) -> Self {
        let mut sums = vec![(0.0, 0usize); labels.iter().max().map_or(0, |most| most + 1)];
        for (value, label) in row.iter().zip(labels) {
            if let Some(value) = value {
                sums[*label].0 += value;
                sums[*label].1 += 1;
            }
        }
        let square = |(value, label): (&Option<f64>, &usize)| {
            let (sum, n) = sums[*label];
            Some(((*value)? - sum / n as f64).powi(2))
        };
        Self {
            squares: row.iter().zip(labels).filter_map(square).sum(),
            groups: sums.iter().filter(|(_, n)| *n > 0).count(),
            answers: sums.iter().map(|(_, n)| n).sum(),
        }
    }

    fn freedom(&self) -> usize {
        self.answers.saturating_sub(self.groups)
    }

    /// Variance within the groups.
    fn variance(&self) -> Option<f64> {
        (self.freedom() > 0).then(|| self.squares / self.freedom() as f64)
    }
}

/// What a finer cut explains of a row.
#[derive(Clone, Copy, Debug)]
struct Gain {
    /// How much smaller the variance within the groups is.
    variance: f64,
    /// The probability of so much, if the finer cut explained nothing.
    p_value: f64,
}

impl Gain {
    fn of(coarse: &Fit, fine: &Fit) -> Self {
        let nothing = Self { variance: 0.0, p_value: 1.0 };
        let (Some(before), Some(after)) = (coarse.variance(), fine.variance()) else { return nothing };
        let more = fine.groups.saturating_sub(coarse.groups);
        if more == 0 || coarse.squares <= 0.0 {
            return nothing;
        }
        if after <= 0.0 {
            return Self { variance: before, p_value: 0.0 };
        }
        let f = (coarse.squares - fine.squares).max(0.0) / more as f64 / after;
        let p_value = FisherSnedecor::new(more as f64, fine.freedom() as f64).map_or(1.0, |law| law.sf(f));
        Self { variance: before - after, p_value }
    }
}

fn groups(values: &[(Fact, Vec<Option<&str>>)], facts: &[Split], labels: &[usize]) -> Vec<Group> {
    let mut of: Vec<Vec<usize>> = vec![Vec::new(); labels.iter().max().map_or(0, |most| most + 1)];
    labels.iter().enumerate().for_each(|(machine, label)| of[*label].push(machine));
    let value = |fact: Fact, machine: usize| {
        values
            .iter()
            .find(|(known, _)| *known == fact)
            .and_then(|(_, values)| values[machine])
            .map(str::to_owned)
    };
    let mut groups: Vec<Group> = of
        .into_iter()
        .map(|machines| Group {
            values: facts.iter().map(|split| (split.fact, value(split.fact, machines[0]))).collect(),
            machines,
        })
        .collect();
    groups.sort_by_key(|group| std::cmp::Reverse(group.machines.len()));
    groups
}

#[cfg(test)]
mod tests {
    use super::super::Fleet;
    use super::super::simulated::{Planted, fleet};
    use super::*;

    #[test]
    fn a_fleet_of_one_kind_is_not_cut() {
        // Facts that differ without bearing on anything, in a hundred fleets: one in twenty may be cut by chance.
        let cut = (0..100u64).filter(|seed| {
            let fleet = fleet(&Planted { machines: 60, seed: *seed, ..Planted::default() });
            !split(&fleet.machines, &fleet.costs).facts.is_empty()
        });
        assert!(cut.count() <= 12);
    }

    #[test]
    fn a_small_fleet_of_one_kind_is_seldom_cut() {
        for machines in [8, 12, 20] {
            let cut = (0..100u64).filter(|seed| {
                let fleet = fleet(&Planted { machines, noise: 0.03, seed: *seed, ..Planted::default() });
                !split(&fleet.machines, &fleet.costs).facts.is_empty()
            });
            let cut = cut.count();
            assert!(cut <= 14, "{machines} machines: {cut} of 100");
        }
    }

    #[test]
    fn the_fact_that_was_planted_is_found_with_its_share() {
        let planted = Planted { machines: 300, kernel: 0.3, ..Planted::default() };
        let fleet = fleet(&planted);
        let found = split(&fleet.machines, &fleet.costs);
        assert_eq!(found.facts.iter().map(|it| it.fact).collect::<Vec<_>>(), [Fact::Kernel]);
        // Two halves 0.3 apart have a variance of 0.15 squared between them, beside 0.05 squared within. The group cpu has no share in it.
        let truth = 0.15f64.powi(2) / (0.15f64.powi(2) + 0.05f64.powi(2));
        for (row, share) in fleet.rows.iter().zip(&found.facts[0].shares) {
            let truth = if row.group == "cpu" { 0.0 } else { truth };
            assert!((share - truth).abs() < 0.05, "{}: {share} for {truth}", row.name);
        }
        assert_eq!(found.groups.len(), 2);
        assert_eq!(found.group_of.len(), 300);
    }

    #[test]
    fn a_broken_machine_hides_no_fact() {
        for (machines, cpu, by) in
            [(8, 0.2, 0.4), (8, 0.26, 1.1), (12, 0.1, 0.4), (12, 0.1, 1.4), (20, 0.26, 1.1)]
        {
            let planted = Planted { machines, off: 1, by, cpu, noise: 0.03, ..Planted::default() };
            let mut fleet = fleet(&planted);
            let cut = |fleet: &Fleet| {
                let found = split(&fleet.machines, &fleet.costs);
                found.facts.first().map(|it| it.fact)
            };
            assert_eq!(cut(&fleet), Some(Fact::Cpu), "{machines} machines, one of them {by} off");
            // And one of a kind of its own, which is sound.
            let mut odd = fleet.machines[0].clone();
            let facts = odd.facts.iter().map(|(fact, value)| match fact {
                Fact::Cpu => (fact, "a third one".to_owned()),
                _ => (fact, value.to_owned()),
            });
            odd.facts = std::sync::Arc::new(facts.collect());
            fleet.machines.push(odd);
            fleet.costs.iter_mut().for_each(|row| row.push(row[0]));
            assert_eq!(cut(&fleet), Some(Fact::Cpu), "{machines} machines, one {by} off and one odd");
        }
    }

    #[test]
    fn a_fact_that_cuts_at_the_same_places_is_named_beside() {
        let planted = Planted { machines: 100, cpu: 0.3, microcode_follows: true, ..Planted::default() };
        let fleet = fleet(&planted);
        let found = split(&fleet.machines, &fleet.costs);
        assert_eq!(found.facts[0].fact, Fact::Cpu);
        assert_eq!(found.facts[0].also, [Fact::Microcode]);
    }

    #[test]
    fn two_facts_that_both_matter_are_both_found() {
        let planted = Planted { machines: 400, cpu: 0.3, kernel: 0.2, ..Planted::default() };
        let fleet = fleet(&planted);
        let found = split(&fleet.machines, &fleet.costs);
        assert_eq!(found.facts.iter().map(|it| it.fact).collect::<Vec<_>>(), [Fact::Cpu, Fact::Kernel]);
        assert_eq!(found.groups.len(), 4);
        assert!(found.facts[0].share > found.facts[1].share);
    }
}
