//! From raw samples to costs per operation: disturbed samples are left out and counted. What is taken off the others is
//! found by [`super::fixed`].
//!
//! A sample is disturbed by something that is not the operation: the kernel took the CPU away (an involuntary switch),
//! moved the task (a migration), gave its CPU to somebody else while it was ready ([`super::delay`]), or the hypervisor
//! ran somebody else (steal). What counts as one is said by the row,
//! because a hand-over between two threads may well push one of them off its CPU.

use serde::{Deserialize, Serialize};

use super::delay::{Usual, is_foreign};
use super::sample::{Expect, Sample, Series};
use whyfaster_stats::order::largest_first;
use whyfaster_stats::quantile;

/// How many samples were left out, each counted under the first reason that applies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Rejected {
    /// The kernel took the CPU away.
    pub involuntary: u64,
    /// The task moved to another CPU.
    pub migration: u64,
    /// A task of the operation was ready, and somebody else's work had the CPU.
    #[serde(default)]
    pub delay: u64,
    /// The hypervisor ran somebody else.
    pub steal: u64,
}

impl Rejected {
    /// All of them.
    pub fn total(&self) -> u64 {
        [self.involuntary, self.migration, self.delay, self.steal].into_iter().fold(0, u64::saturating_add)
    }

    fn count(&mut self, why: Disturbance) {
        match why {
            Disturbance::Involuntary => self.involuntary += 1,
            Disturbance::Migration => self.migration += 1,
            Disturbance::Delay => self.delay += 1,
            Disturbance::Steal => self.steal += 1,
        }
    }
}

/// What disturbed a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disturbance {
    /// The kernel took the CPU away.
    Involuntary,
    /// The task moved to another CPU.
    Migration,
    /// A task was ready, and somebody else's work had the CPU.
    Delay,
    /// The hypervisor ran somebody else.
    Steal,
}

/// What the kernel did to this sample, if anything. What was not counted disturbs nothing.
pub fn disturbance(sample: &Sample, expect: &Expect, usual: &Usual) -> Option<Disturbance> {
    let happened = |count: Option<u64>| count.is_some_and(|n| n > 0);
    if expect.involuntary_disturbs && happened(sample.involuntary) {
        Some(Disturbance::Involuntary)
    } else if expect.migration_disturbs && happened(sample.migrations) {
        Some(Disturbance::Migration)
    } else {
        let foreign = expect.delay_disturbs && is_foreign(sample);
        (foreign || usual.exceeded(sample)).then_some(Disturbance::Delay)
    }
}

/// The samples that stolen time explains: the longest ones, as long as what they took beyond the typical sample of their
/// size adds up to no more than was stolen.
///
/// The kernel counts steal in ticks and for a whole CPU, so that it cannot be told which sample it hit. A stolen moment
/// makes a sample long, and all of them together no longer than what was stolen. What no stolen time explains stays.
fn stolen(samples: &[Sample], steal_ns: f64) -> Vec<bool> {
    let mut out = vec![false; samples.len()];
    let mut excess: Vec<(f64, usize)> = samples
        .iter()
        .enumerate()
        .map(|(i, sample)| {
            let alike = samples.iter().filter(|other| other.ops == sample.ops).map(|other| other.elapsed_ns);
            let typical = quantile::median(&alike.collect::<Vec<_>>()).unwrap_or(0.0);
            (sample.elapsed_ns - typical, i)
        })
        // The spread of ordinary samples is no theft: what is stolen is at least as long as the sample itself.
        .filter(|(excess, i)| *excess > samples[*i].elapsed_ns / 2.0)
        .collect();
    largest_first(&mut excess, |it| it.0);
    let mut left = steal_ns;
    for (excess, i) in excess {
        if excess <= left {
            left -= excess;
            out[i] = true;
        }
    }
    out
}

/// The undisturbed samples of a row, by repetition.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Clean {
    /// Undisturbed samples of each repetition that has any, in the order of the repetitions.
    pub repetitions: Vec<Vec<Sample>>,
    /// The number of each of these repetitions: rows are paired by it, for one may lack what another has.
    pub numbers: Vec<u32>,
    /// What was left out.
    pub rejected: Rejected,
}

impl Clean {
    /// Sorts the samples of these series, all of one row, into kept and left out.
    pub fn of<'a>(series: impl IntoIterator<Item = &'a Series>, expect: &Expect) -> Self {
        let mut clean = Self::default();
        let samples = |one: &Series| one.samples().filter(|sample| sample.ops > 0).collect::<Vec<_>>();
        let all: Vec<(&Series, Vec<Sample>)> = series.into_iter().map(|one| (one, samples(one))).collect();
        let usual = Usual::of(all.iter().flat_map(|(_, samples)| samples));
        for (one, samples) in all {
            let mut kept = Vec::new();
            for sample in samples {
                match disturbance(&sample, expect, &usual) {
                    Some(why) => clean.rejected.count(why),
                    None => kept.push(sample),
                }
            }
            if let Some(steal_ns) = one.steal_ns.filter(|ns| *ns > 0.0) {
                let mut stolen = stolen(&kept, steal_ns).into_iter();
                kept.retain(|_| {
                    let out = stolen.next().unwrap_or(false);
                    if out {
                        clean.rejected.count(Disturbance::Steal);
                    }
                    !out
                });
            }
            if !kept.is_empty() {
                clean.repetitions.push(kept);
                clean.numbers.push(one.repetition);
            }
        }
        clean
    }

    /// All kept samples.
    pub fn samples(&self) -> impl Iterator<Item = &Sample> {
        self.repetitions.iter().flatten()
    }

    /// Number of kept samples.
    pub fn len(&self) -> usize {
        self.repetitions.iter().map(Vec::len).sum()
    }

    /// Whether nothing was kept.
    pub fn is_empty(&self) -> bool {
        self.repetitions.is_empty()
    }

    /// The cost of one operation in every kept sample, by repetition, the fixed cost of the batch taken off.
    pub fn costs(&self, fixed_ns: f64) -> Vec<Vec<f64>> {
        let cost = |sample: &Sample| (sample.elapsed_ns - fixed_ns) / sample.ops as f64;
        self.repetitions.iter().map(|samples| samples.iter().map(cost).collect()).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn strict() -> Expect {
        Expect { involuntary_disturbs: true, migration_disturbs: true, ..Expect::default() }
    }

    fn series(samples: &[Sample]) -> Series {
        let mut series = Series::default();
        samples.iter().for_each(|sample| series.push(*sample));
        series
    }

    fn plain(ops: u64, elapsed_ns: f64) -> Sample {
        Sample { ops, elapsed_ns, ..Sample::default() }
    }

    #[test]
    fn each_disturbance_is_counted_once() {
        let samples = [
            plain(1, 10.0),
            Sample { involuntary: Some(1), migrations: Some(1), ..plain(1, 900.0) },
            Sample { migrations: Some(2), ..plain(1, 900.0) },
            Sample { involuntary: Some(0), migrations: None, ..plain(1, 10.0) },
        ];
        let clean = Clean::of([&series(&samples)], &strict());
        assert_eq!(clean.len(), 2);
        assert_eq!(clean.rejected, Rejected { involuntary: 1, migration: 1, ..Rejected::default() });
        // A row about hand-overs keeps them.
        assert_eq!(Clean::of([&series(&samples)], &Expect::default()).rejected.total(), 0);
    }

    #[test]
    fn steal_explains_no_more_than_was_stolen() {
        let mut samples = vec![plain(10, 1000.0); 20];
        samples.extend([plain(10, 9e6), plain(10, 5e6), plain(10, 1400.0)]);
        let with = |steal_ns| Clean::of([&Series { steal_ns, ..series(&samples) }], &strict());
        assert_eq!(with(None).rejected.steal, 0);
        assert_eq!(with(Some(0.0)).rejected.steal, 0);
        // One tick explains one of the two long samples, two ticks both; an ordinary one is never called stolen.
        assert_eq!(with(Some(1e7)).rejected.steal, 1);
        assert_eq!(with(Some(2e7)).rejected.steal, 2);
        assert_eq!(with(Some(1e12)).rejected.steal, 2);
        assert!(with(Some(1e7)).samples().all(|sample| sample.elapsed_ns < 8e6));
    }

    proptest! {
        #[test]
        fn nothing_is_lost(samples in prop::collection::vec((1u64..4, 1.0..1e6f64, 0u64..2, 0u64..2), 0..50), steal in 0.0..1e6f64) {
            let samples: Vec<Sample> = samples
                .into_iter()
                .map(|(ops, ns, i, m)| Sample { involuntary: Some(i), migrations: Some(m), ..plain(ops, ns) })
                .collect();
            let clean = Clean::of([&Series { steal_ns: Some(steal), ..series(&samples) }], &strict());
            prop_assert_eq!(clean.len() as u64 + clean.rejected.total(), samples.len() as u64);
        }
    }
}
