//! What is claimed, by which rule it is decided, and what was measured for that.

use serde::Deserialize;

use super::evidence::Lack;
use crate::analysis::Analysis;
use crate::bounds;
use crate::host::Host;
use crate::plan::Plan;
use crate::price::PriceList;
use crate::sample::Batch;
use crate::studied::{Kind, LeftOut};
use crate::trace::tally::{Quantity, Tally};
use crate::verdict::Verdict;

/// A claim of an article, in our words, and the rule that decides it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Its number within the study.
    pub number: u32,
    /// The claim in words.
    pub text: String,
    /// The alternative that it is about, where that is not the study's.
    #[serde(default)]
    pub alternative: Option<String>,
    /// The rule that decides it.
    pub rule: Rule,
    /// The properties of a machine on which it shows.
    #[serde(default)]
    pub needs: Needs,
}

/// The properties of a machine on which a claim shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Needs {
    /// The number of CPUs, at least.
    pub cpus: Option<u32>,
    /// Reads for which threads of the kernel work.
    pub kernel_reads: bool,
}

impl Needs {
    /// The properties that the machine of these runs lacks.
    pub(super) fn lacked(self, runs: &Runs<'_>) -> Vec<Lack> {
        let here = bounds::capacity(runs.plan, runs.host);
        let known = bounds::capacity_known(runs.plan, runs.host);
        let cpus = self.cpus.filter(|cpus| known && here < f64::from(*cpus));
        let cpus = cpus.map(|needed| Lack::Cpus { here, needed });
        let reads = (self.kernel_reads && runs.reads == Some(Kind::Plain)).then_some(Lack::KernelReads);
        cpus.into_iter().chain(reads).collect()
    }
}

/// The rule by which a claim is decided. A row of prices is `name/variant`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind", deny_unknown_fields)]
pub enum Rule {
    /// The verdict on the ratio to the baseline is this one.
    Verdict {
        /// At this load.
        #[serde(default = "alone")]
        load: u32,
        /// The verdict that the claim needs.
        verdict: Verdict,
    },
    /// At `to` the alternative is slower, and its ratio there over the one at `from` is surely above 1 + delta.
    SlowerStill {
        /// The lower load.
        from: u32,
        /// The higher load.
        to: u32,
    },
    /// Over all measured levels the ratio rises from each to the next, surely by more than delta.
    RisesThroughout {
        /// Fewer levels than this decide nothing.
        least_levels: usize,
    },
    /// The alternative has at least this share of its own traced time.
    OfTime(Share),
    /// The alternative has at most this share of what the baseline has.
    AtMost(Share),
    /// The row costs less than each of the others.
    Cheaper(Order),
    /// The row costs more than each of the others.
    Dearer(Order),
    /// The parts cost together what the whole costs, within this share of the whole.
    AddUp {
        /// The parts.
        parts: Vec<String>,
        /// The whole.
        whole: String,
        /// As a fraction.
        within: f64,
    },
    /// The row's receipt shows at most so many system calls an operation.
    Syscalls {
        /// The row.
        row: String,
        /// At most.
        most: f64,
    },
    /// The row is cheaper here than in this built-in reference list.
    CheaperThanReference {
        /// The row.
        row: String,
        /// Name of the reference list.
        reference: String,
    },
}

fn alone() -> u32 {
    1
}

/// A share of what a trace counts.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Share {
    /// The quantity.
    pub quantity: Quantity,
    /// As a fraction.
    pub share: f64,
}

/// A row of prices and those that it is compared with.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// The row.
    pub row: String,
    /// The others.
    pub than: Vec<String>,
}

impl Claim {
    /// The rows of prices that the claim rests on; none where it is about commands.
    pub fn rows(&self) -> impl Iterator<Item = &str> {
        let (row, others): (Option<&String>, &[String]) = match &self.rule {
            Rule::Cheaper(order) | Rule::Dearer(order) => (Some(&order.row), &order.than),
            Rule::AddUp { parts, whole, .. } => (Some(whole), parts),
            Rule::Syscalls { row, .. } | Rule::CheaperThanReference { row, .. } => (Some(row), &[]),
            Rule::Verdict { .. }
            | Rule::SlowerStill { .. }
            | Rule::RisesThroughout { .. }
            | Rule::OfTime(_)
            | Rule::AtMost(_) => (None, &[]),
        };
        row.into_iter().chain(others).map(String::as_str)
    }

    /// Returns true if it compares the ratio at one load with the ratio at another.
    pub(super) fn compares_loads(&self) -> bool {
        matches!(self.rule, Rule::SlowerStill { .. } | Rule::RisesThroughout { .. })
    }

    /// The pairs of these loads, which rise, whose ratios it compares.
    pub(super) fn steps(&self, loads: &[u32]) -> Vec<(u32, u32)> {
        match &self.rule {
            Rule::SlowerStill { from, to } if loads.contains(from) && loads.contains(to) => {
                vec![(*from, *to)]
            }
            Rule::RisesThroughout { .. } => loads.windows(2).map(|two| (two[0], two[1])).collect(),
            _ => Vec::new(),
        }
    }

    /// Intervals of prices that the claim rests on.
    pub(super) fn intervals(&self) -> usize {
        match &self.rule {
            Rule::Cheaper(order) | Rule::Dearer(order) => order.than.len(),
            _ => self.rows().count().min(1),
        }
    }
}

/// The two alternatives that a study is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair<'a> {
    /// Name of the alternative.
    pub alternative: &'a str,
    /// Name of the baseline.
    pub baseline: &'a str,
}

/// The measurements of a study: runs of commands, or prices. A claim about an absent part is undecided.
#[derive(Clone, Copy, Debug, Default)]
pub struct Measured<'a> {
    /// Runs of commands.
    pub runs: Option<Runs<'a>>,
    /// Prices.
    pub prices: Option<Prices<'a>>,
}

/// Runs of commands.
#[derive(Clone, Copy, Debug)]
pub struct Runs<'a> {
    /// The alternatives that claims are about unless they name another.
    pub pair: Pair<'a>,
    /// The plan of the runs.
    pub plan: &'a Plan,
    /// The machine.
    pub host: &'a Host,
    /// The untraced runs.
    pub batches: &'a [Batch],
    /// The analysis of these runs.
    pub analysis: &'a Analysis,
    /// The counts of the traces, by command. Several of one command are its runs, in order.
    pub tallies: &'a [(String, Tally)],
    /// The commands that cannot run here.
    pub left_out: &'a [LeftOut],
    /// The file system from which the commands read, if it was chosen.
    pub reads: Option<Kind>,
}

/// Prices of this machine.
#[derive(Clone, Copy, Debug)]
pub struct Prices<'a> {
    /// The list of this machine.
    pub list: &'a PriceList,
    /// The lists that claims name.
    pub references: &'a [(String, PriceList)],
}
