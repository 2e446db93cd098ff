//! What an analysis says, as stored and as other tools read it.

use serde::{Deserialize, Serialize};

use crate::bounds::Bound;
use crate::crossover::Crossover;
use crate::metric::Metric;
use crate::missing::NotMeasured;
use crate::reason::Reason;
use crate::verdict::{LessSure, Method, Ratio, Verdict};
use crate::warning::Warning;
use whyfaster_stats::Estimate;

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
    /// The CPU time of every alternative against that of the baseline, from runs of both at once on one CPU.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub duets: Vec<DuetComparison>,
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

/// An alternative against the baseline at one level. A ratio is alternative over baseline in time: below 1 is faster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Comparison {
    /// The alternative.
    pub alternative: String,
    /// The baseline.
    pub baseline: String,
    /// By `method`: of sign and student_t exp(median of the rounds' ln ratios), of rank_e_process the median ratio of a run to one of the baseline or its hidden copy, over all pairs within a block.
    pub ratio: f64,
    /// Lower end of its interval; null while there are too few rounds for one, or when time-outs leave it open.
    pub low: Option<f64>,
    /// Upper end of its interval; null while there are too few rounds, or when time-outs leave it open.
    pub high: Option<f64>,
    /// The interval that can be had, where there are too few rounds for the one asked for. It decides nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub less_sure: Option<LessSure>,
    /// The verdict.
    pub verdict: Verdict,
    /// Rounds behind it.
    pub rounds: u32,
    /// Further rounds that an undecided comparison would about need, if that can be told.
    pub rounds_needed: Option<u32>,
    /// How the interval was made.
    pub method: Method,
    /// Total time over total time, with a round-level bootstrap interval: differs from `ratio` when the tails differ.
    pub ratio_of_totals: Option<Ratio>,
    /// CPU seconds per copy, alternative over baseline: below 1 is less work.
    pub work: Option<Ratio>,
    /// Share of the machine, alternative over baseline: above 1 got more of the machine.
    pub share: Option<Ratio>,
    /// The ratio of the times at one speed of the CPUs, where that changed and the interval is narrower for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corrected: Option<Corrected>,
    /// What a verdict of faster or slower comes from, where work and share tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// The metrics that were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<MetricChange>,
}

impl Comparison {
    /// The ratio with its interval.
    pub fn time(&self) -> Ratio {
        Ratio { ratio: self.ratio, low: self.low, high: self.high }
    }
}

/// Time against time at one speed of the CPUs. It decides nothing: what is asked for is the time that passed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Corrected {
    /// Alternative over baseline, with an interval made as that of the time is.
    #[serde(flatten)]
    pub ratio: Ratio,
    /// Of the CPU time that the machine wanted while these batches ran, the part that the hypervisor gave to others; null if that was little
    /// or is not known.
    pub stolen: Option<f64>,
    /// Between which clocks, cycles a second, all but the tenth of the batches at either end ran; null if it stayed or was not counted.
    pub clock_hz: Option<(f64, f64)>,
    /// How much narrower the interval is than that of the time, both on the log scale.
    pub narrower: f64,
}

/// The CPU time of an alternative against that of the baseline, from duets. It decides how long many copies take, once they keep all CPUs
/// busy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DuetComparison {
    /// The alternative.
    pub alternative: String,
    /// The baseline.
    pub baseline: String,
    /// CPU time, alternative over baseline, with its interval.
    #[serde(flatten)]
    pub work: Ratio,
    /// What that says, by the rule of the verdicts.
    pub change: Change,
    /// The ratio is that of the runs in turns at the lowest level: with `bias` in it, the one at once is no surer.
    #[serde(default)]
    pub in_turns: bool,
    /// By how much two at once may change each other's CPU time, as a fraction: a part of the interval.
    #[serde(default)]
    pub bias: f64,
    /// Duets behind it.
    pub rounds: u32,
    /// From this load on both alternatives keep all CPUs busy, by their bounds: their times are then in this ratio.
    pub decides_from: Option<u32>,
    /// How much narrower the interval at once is than the one from runs in turns, both on the log scale; null where there is none of these.
    pub narrower: Option<f64>,
}

/// A metric of an alternative against that of the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MetricChange {
    /// The metric.
    pub metric: Metric,
    /// Alternative over baseline, with an interval made as that of the time is.
    #[serde(flatten)]
    pub ratio: Ratio,
    /// What that says, by the rule of the verdicts.
    pub change: Change,
}

/// Whether an alternative has more or less of something than the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// The whole interval is below 1, and the effect is above the floor.
    Less,
    /// The whole interval is above 1, and the effect is above the floor.
    More,
    /// The whole interval lies from 1/(1 + delta) to 1 + delta.
    Same,
    /// None of these yet.
    Undecided,
}

/// A metric of an alternative.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MetricEstimate {
    /// The metric.
    pub metric: Metric,
    /// Seconds, bytes or events of one copy, over rounds.
    #[serde(flatten)]
    pub estimate: Estimate,
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
    /// Median latency over the span; `None` where no copy was measured alone.
    pub slowdown: Option<f64>,
    /// Largest over smallest latency within a round (median over rounds).
    pub fairness: Option<f64>,
    /// Peak resident memory of the largest process of a copy (median over copies).
    pub max_rss_bytes: u64,
    /// The copies began in the launcher's memory, and no trial shows their own: the peak may be less.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub max_rss_at_most: bool,
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
    /// The metrics that were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<MetricEstimate>,
}

/// Quantiles of the latency of a copy, seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
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

/// Noise: what the hidden copy of the baseline showed against the baseline. The truth is 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Floor {
    /// The ratio, made as that of a comparison.
    pub ratio: f64,
    /// Lower end of its interval.
    pub low: Option<f64>,
    /// Upper end of its interval.
    pub high: Option<f64>,
    /// Rounds behind it.
    pub rounds: u32,
}
