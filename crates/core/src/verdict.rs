//! From per-round ratios to one of four verdicts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What the ratios of an alternative to the baseline say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The whole interval is below 1, and the effect is above the floor.
    Faster,
    /// The whole interval is above 1, and the effect is above the floor.
    Slower,
    /// The whole interval is within delta of 1.
    Same,
    /// None of these yet.
    Undecided,
}

/// An alternative against the baseline at one level. A ratio is alternative over baseline in time: below 1 is faster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// The alternative.
    pub alternative: String,
    /// The baseline.
    pub baseline: String,
    /// exp(median of per-round ln ratio).
    pub ratio: f64,
    /// Lower end of its interval; null while there are too few rounds for one.
    pub low: Option<f64>,
    /// Upper end of its interval; null while there are too few rounds, or when time-outs leave it open.
    pub high: Option<f64>,
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
}

/// A ratio with its interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ratio {
    /// The ratio.
    pub ratio: f64,
    /// Lower end.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
}

/// How an interval was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Order statistics by the sign test: the number of rounds was fixed beforehand.
    Sign,
    /// Order statistics by the beta-binomial sign e-process: valid whenever one stops.
    SignEProcess,
}
