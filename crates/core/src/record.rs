//! The stored document. Measuring ends by making one; showing, comparing and exporting need nothing else.

use serde::{Deserialize, Serialize};

use crate::host::{Host, NotMeasured, Warning};
use crate::plan::Plan;
use crate::sample::{Batch, SchedAccount, Trial};
use crate::verdict::Comparison;
use crate::why::Why;

pub use crate::crossover::VerdictRange;

/// Version of the document. Changes are additive; a reader refuses another major number.
pub const SCHEMA: &str = "whyfaster/1";

/// One measurement, whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Record {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// Version of whyfaster that wrote it.
    pub tool_version: String,
    /// When it began, RFC 3339 in UTC.
    pub started: String,
    /// Seconds that the measurement took.
    pub took_s: f64,
    /// How it ended.
    pub status: Status,
    /// The study it belongs to, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub study: Option<String>,
    /// What was to be run.
    pub plan: Plan,
    /// The machine.
    pub host: Host,
    /// The untimed runs before.
    pub trials: Vec<Trial>,
    /// Every timed batch, in the order in which they ran.
    pub batches: Vec<Batch>,
    /// Scheduling accounts of untimed traced batches.
    #[serde(default)]
    pub sched_accounts: Vec<SchedAccount>,
    /// What the runner could not measure, and why; `not_measured` holds these and what the analysis misses.
    #[serde(default)]
    pub skipped: Vec<NotMeasured>,
    /// What follows from the samples; can be made again from them.
    #[serde(flatten)]
    pub analysis: Analysis,
    /// Why the alternatives differ.
    #[serde(flatten)]
    pub why: Why,
}

/// How a measurement ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// All that was planned was run or reported as not measured.
    Complete,
    /// A signal ended it; what had been measured is here.
    Interrupted,
    /// An error ended it; what had been measured is here.
    Failed,
}

/// What follows from the samples.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Analysis {
    /// Span and work of every alternative.
    pub alternatives: Vec<AlternativeSummary>,
    /// The levels in rising order of load.
    pub levels: Vec<Level>,
    /// Where the answer flips, for every alternative against the baseline.
    pub crossovers: Vec<Crossover>,
    /// The noise: the hidden copy of the baseline against the baseline, over all levels.
    pub floor: Option<Floor>,
    /// What to know before believing a number.
    pub warnings: Vec<Warning>,
    /// What was not measured, and why.
    pub not_measured: Vec<NotMeasured>,
}

/// One alternative, alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AlternativeSummary {
    /// Its name.
    pub name: String,
    /// Its command line.
    pub command: String,
    /// Median wall time of one copy at the lowest level, seconds.
    pub span_s: Option<f64>,
    /// Median CPU time of one copy's tree at the lowest level, seconds.
    pub work_s: Option<f64>,
}

/// A median with its interval. `low` and `high` are null until there are enough rounds for one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Estimate {
    /// Median.
    pub median: f64,
    /// Lower end of the interval.
    pub low: Option<f64>,
    /// Upper end of the interval.
    pub high: Option<f64>,
}

/// One level of load.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Level {
    /// Copies or workers; intended starts a second in open mode are in the plan.
    pub load: u32,
    /// One entry per alternative.
    pub results: Vec<LevelResult>,
    /// One entry per alternative other than the baseline.
    pub comparisons: Vec<Comparison>,
    /// The hidden copy of the baseline at this level.
    pub floor: Option<Floor>,
}

/// One alternative at one level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LevelResult {
    /// Its name.
    pub alternative: String,
    /// Rounds behind the numbers.
    pub rounds: u32,
    /// First exec to last end.
    pub makespan_s: Estimate,
    /// CPU seconds per copy (median over rounds).
    pub work_per_copy_s: f64,
    /// User part of it.
    pub user_per_copy_s: f64,
    /// System part of it.
    pub system_per_copy_s: f64,
    /// Copies per second.
    pub throughput_per_s: f64,
    /// CPU time of the copies over C times makespan.
    pub share: f64,
    /// Latency of a copy over all rounds.
    pub latency_s: Latency,
    /// Median latency over the span.
    pub slowdown: Option<f64>,
    /// Largest over smallest latency within a round (median over rounds).
    pub fairness: Option<f64>,
    /// Peak resident memory of the largest process of a copy (median over copies).
    pub max_rss_bytes: u64,
    /// Voluntary context switches per copy.
    pub voluntary_switches: f64,
    /// Involuntary context switches per copy.
    pub involuntary_switches: f64,
    /// Seconds per copy that its tasks were runnable and waited for a CPU, from the traced batch of this level.
    pub run_delay_s: Option<f64>,
    /// What the bounds say: makespan is at least this.
    pub bound: Option<Bound>,
    /// Copies that the time-out ended.
    pub timed_out: u32,
}

/// Quantiles of the latency of a copy, seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Latency {
    /// Least.
    pub min: f64,
    /// Median.
    pub p50: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Largest.
    pub max: f64,
}

/// Lower bound of the makespan at a level: the larger of span and N * work / C.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Bound {
    /// The span, seconds.
    pub span_s: f64,
    /// N * work / C, seconds.
    pub work_s: f64,
    /// The larger of the two.
    pub makespan_s: f64,
    /// Measured makespan over the bound.
    pub gap: f64,
}

/// Where the answer flips between an alternative and the baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Crossover {
    /// The alternative.
    pub alternative: String,
    /// The baseline.
    pub baseline: String,
    /// Load at which the bounds of the two meet, if they do and their works can be told apart at the lowest level.
    pub predicted_load: Option<f64>,
    /// Why there is no such load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_predicted: Option<NotPredicted>,
    /// Highest load at which the low-load winner was seen to win before the other did; null if no flip was seen.
    pub measured_from: Option<u32>,
    /// Lowest load at which the other was seen to win; null if no flip was seen.
    pub measured_to: Option<u32>,
    /// The verdicts by load, neighbours with the same verdict taken together.
    pub ranges: Vec<VerdictRange>,
}

/// Why no crossover is predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum NotPredicted {
    /// One alternative has the lower bound at every load.
    BoundsDoNotCross,
    /// The works differ by less than their interval: a number made of noise is no prediction.
    WorksAlike,
}

/// Noise: what the hidden copy of the baseline showed against the baseline. The truth is 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Floor {
    /// Median ratio.
    pub ratio: f64,
    /// Lower end of its interval.
    pub low: Option<f64>,
    /// Upper end of its interval.
    pub high: Option<f64>,
    /// Rounds behind it.
    pub rounds: u32,
}
