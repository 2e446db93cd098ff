//! hyperfine's results from a record.
//!
//! hyperfine knows one copy at a time. A run is one batch here: its time is the makespan, its user and system time those
//! of one copy (the mean over the copies), its memory that of the largest copy, its exit code that of the first copy. In
//! the closed and the open mode, where a batch lasts as long as was asked for, a run is one copy. With several levels each
//! level is a result of its own, with the parameter `load`. The hidden copy of the baseline is never exported.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use whyfaster_core::plan::{Alternative, Mode};
use whyfaster_core::record::Record;
use whyfaster_core::sample::{Arm, Batch};
use whyfaster_core::stats::quantile::{mean, median, stddev};

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
}

/// What hyperfine knows of one run.
struct Run {
    time: f64,
    user: f64,
    system: f64,
    memory: u64,
    exit_code: Option<i32>,
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
            outcomes.extend(outcome(&runs, alternative, load, load_parameter.as_deref(), is_named_reference));
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
    let run = |copy: usize| Run {
        time: copies.wall_s[copy],
        user: copies.user_s[copy],
        system: copies.system_s[copy],
        memory: copies.max_rss_bytes[copy],
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
    runs: &[Run],
    alternative: &Alternative,
    load: u32,
    load_parameter: Option<&str>,
    is_named_reference: bool,
) -> Option<Outcome> {
    let times: Vec<f64> = runs.iter().map(|run| run.time).collect();
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
        mean: mean(&times)?,
        stddev: stddev(&times),
        median: median(&times)?,
        user: mean_of(|run| run.user)?,
        system: mean_of(|run| run.system)?,
        min: times.iter().copied().fold(f64::INFINITY, f64::min),
        max: times.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        memory_usage_byte: runs.iter().map(|run| run.memory).collect(),
        exit_codes: runs.iter().map(|run| run.exit_code).collect(),
        times,
        parameters,
    })
}
