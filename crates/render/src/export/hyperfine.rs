//! hyperfine's results from a record.
//!
//! hyperfine knows one copy at a time. A run is one batch here: its time is the makespan, its user and system time those
//! of one copy (the mean over the copies), its memory that of the largest copy, its exit code that of the first copy. In
//! the closed and the open mode, where a batch lasts as long as was asked for, a run is one copy. With several levels each
//! level is a result of its own, with the parameter `load`. The hidden copy of the baseline is never exported.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use whyfaster_core::metric::Metric;
use whyfaster_core::plan::{Alternative, Mode};
use whyfaster_core::record::Record;
use whyfaster_core::sample::{Arm, Batch};
use whyfaster_stats::quantile::{mean, median, stddev};

/// The parameter that tells levels apart.
const LOAD: &str = "load";

/// One result as hyperfine's JSON has it, field by field and in its order.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct Outcome {
    /// The given name, else the command line.
    pub(super) command: String,
    /// How tables call it: with the parameters that the command line does not show.
    #[serde(skip)]
    pub(super) shown: String,
    /// Whether this result belongs to the level's baseline, if that was named.
    #[serde(skip)]
    pub(super) is_named_reference: bool,
    /// The level; results are related within one level.
    #[serde(skip)]
    pub(super) load: u32,
    pub(super) mean: f64,
    pub(super) stddev: Option<f64>,
    pub(super) median: f64,
    pub(super) user: f64,
    pub(super) system: f64,
    pub(super) min: f64,
    pub(super) max: f64,
    pub(super) times: Vec<f64>,
    pub(super) memory_usage_byte: Vec<u64>,
    pub(super) exit_codes: Vec<Option<i32>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) parameters: BTreeMap<String, String>,
    /// The command line, where that is not how it is called.
    #[serde(skip)]
    pub(super) line: Option<String>,
    #[serde(skip)]
    pub(super) environment: BTreeMap<String, String>,
    #[serde(skip)]
    pub(super) runs: Vec<Run>,
}

/// What hyperfine knows of one run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Run {
    time: f64,
    user: f64,
    system: f64,
    memory: u64,
    counters: BTreeMap<Metric, f64>,
    pub(super) exit_code: Option<i32>,
}

impl Run {
    /// A metric in seconds, bytes or events.
    pub(super) fn value(&self, metric: Metric) -> Option<f64> {
        Some(match metric {
            Metric::TimeWallClock => self.time,
            Metric::TimeCpu => self.user + self.system,
            Metric::TimeUser => self.user,
            Metric::TimeSystem => self.system,
            Metric::MemoryPeakResident => self.memory as f64,
            counter => return self.counters.get(&counter).copied(),
        })
    }
}

/// A metric over all runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Summary {
    pub(super) mean: f64,
    pub(super) stddev: Option<f64>,
    pub(super) median: f64,
    pub(super) min: f64,
    pub(super) max: f64,
}

impl Outcome {
    /// A metric over all runs; `None` where some run lacks it.
    pub(super) fn summary(&self, metric: Metric) -> Option<Summary> {
        summary(&self.runs.iter().map(|run| run.value(metric)).collect::<Option<Vec<_>>>()?)
    }
}

fn summary(values: &[f64]) -> Option<Summary> {
    Some(Summary {
        mean: mean(values)?,
        stddev: stddev(values),
        median: median(values)?,
        min: values.iter().copied().fold(f64::INFINITY, f64::min),
        max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
    })
}

/// The parameters that have columns. As in hyperfine the first result names them; all results of one plan have the same, but for
/// a reference, whose columns stay empty.
pub(super) fn parameters(results: &[Outcome]) -> Vec<&String> {
    let most = results.iter().map(|result| &result.parameters).max_by_key(|parameters| parameters.len());
    most.into_iter().flat_map(|parameters| parameters.keys()).collect()
}

/// All results: by level in rising order, within a level in the order of the plan. What did not run has none.
pub(super) fn results(record: &Record) -> Vec<Outcome> {
    let loads: BTreeSet<u32> = record.batches.iter().map(|batch| batch.load).collect();
    let load_parameter = (loads.len() > 1).then(|| free_name(&record.plan.alternatives));
    let mut outcomes = Vec::new();
    for load in loads {
        for (index, alternative) in record.plan.alternatives.iter().enumerate() {
            let arm = Arm::Alternative(index);
            let batches = record.batches.iter().filter(|batch| batch.load == load && batch.arm == arm);
            let runs: Vec<Run> = batches.flat_map(|batch| runs(batch, record.plan.mode)).collect();
            let is_named_reference = record.plan.baseline_named && index == record.plan.baseline;
            outcomes.extend(outcome(runs, alternative, load, load_parameter.as_deref(), is_named_reference));
        }
    }
    outcomes
}

/// `load`, unless a parameter of the user's is called so.
fn free_name(alternatives: &[Alternative]) -> String {
    let taken = |name: &str| alternatives.iter().any(|alternative| alternative.parameters.contains_key(name));
    let mut name = LOAD.to_owned();
    while taken(&name) {
        name.push('_');
    }
    name
}

fn runs(batch: &Batch, mode: Mode) -> Vec<Run> {
    let copies = &batch.copies;
    let columns = || copies.counters.iter().flat_map(|counters| &counters.columns);
    let run = |copy: usize| Run {
        time: copies.wall_s[copy],
        user: copies.user_s[copy],
        system: copies.system_s[copy],
        memory: copies.max_rss_bytes[copy],
        counters: columns().map(|(metric, column)| (*metric, column[copy] as f64)).collect(),
        exit_code: copies.status.get(copy).map(|status| exit_code(*status)),
    };
    match mode {
        Mode::Batch if copies.is_empty() => Vec::new(),
        Mode::Batch => {
            let n = copies.len() as f64;
            vec![Run {
                time: batch.makespan_s,
                user: (copies.user_s.iter().sum::<f64>() + batch.orphans.user_s) / n,
                system: (copies.system_s.iter().sum::<f64>() + batch.orphans.system_s) / n,
                memory: copies.max_rss_bytes.iter().copied().max().unwrap_or(0),
                counters: columns()
                    .map(|(metric, column)| (*metric, column.iter().map(|&n| n as f64).sum::<f64>() / n))
                    .collect(),
                exit_code: copies.status.first().map(|status| exit_code(*status)),
            }]
        }
        Mode::Closed { .. } | Mode::Open { .. } => (0..copies.len()).map(run).collect(),
    }
}

/// hyperfine writes 128 plus the number for a signal, as shells do; a record keeps minus the number.
fn exit_code(status: i32) -> i32 {
    if status < 0 { status.saturating_neg().saturating_add(128) } else { status }
}

/// hyperfine's numbers of these runs; `None` if there is no run.
fn outcome(
    runs: Vec<Run>,
    alternative: &Alternative,
    load: u32,
    load_parameter: Option<&str>,
    is_named_reference: bool,
) -> Option<Outcome> {
    let times: Vec<f64> = runs.iter().map(|run| run.time).collect();
    let Summary { mean: mean_time, stddev, median, min, max } = summary(&times)?;
    let mean_of = |part: fn(&Run) -> f64| mean(&runs.iter().map(part).collect::<Vec<_>>());
    let mut parameters = alternative.parameters.clone();
    let mut shown = alternative.name.clone();
    if let Some(name) = load_parameter {
        parameters.insert(name.to_owned(), load.to_string());
        shown = format!("{shown} ({name} = {load})");
    }
    Some(Outcome {
        command: alternative.given_name.as_ref().unwrap_or(&alternative.command).clone(),
        shown,
        is_named_reference,
        load,
        mean: mean_time,
        stddev,
        median,
        user: mean_of(|run| run.user)?,
        system: mean_of(|run| run.system)?,
        min,
        max,
        memory_usage_byte: runs.iter().map(|run| run.memory).collect(),
        exit_codes: runs.iter().map(|run| run.exit_code).collect(),
        times,
        parameters,
        line: alternative
            .given_name
            .as_ref()
            .filter(|name| **name != alternative.command)
            .map(|_| alternative.command.clone()),
        environment: alternative.env.clone(),
        runs,
    })
}
