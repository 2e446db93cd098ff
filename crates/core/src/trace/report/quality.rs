//! How far a trace can be believed: whether its parts agree, and what observing cost.

use serde::{Deserialize, Serialize};

use super::super::check::CheckKind;

/// Whether two accounts of the same thing agree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Check {
    /// What must agree; absent in a trace of an earlier version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<CheckKind>,
    /// The same, in English.
    pub what: String,
    /// One side.
    pub left: f64,
    /// The other.
    pub right: f64,
    /// Largest relative difference allowed.
    pub within: f64,
    /// Whether they do.
    pub holds: bool,
}

/// Untraced runs of the command, beside the traced one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Untraced {
    /// How many.
    pub runs: u64,
    /// The traced run over the slowest of them.
    pub low: f64,
    /// The traced run over the fastest of them.
    pub high: f64,
    /// Whether the traced run lies farther outside of their range than the range is wide; null for one run, which has no
    /// range. Where it does not, the ratio is noise.
    pub distinguishable: Option<bool>,
}

impl Untraced {
    /// What so many seconds untraced say beside so many traced; `None`: there is nothing to relate.
    pub fn of(traced_s: f64, untraced_s: &[f64]) -> Option<Self> {
        let fastest = untraced_s.iter().copied().fold(f64::INFINITY, f64::min);
        let slowest = untraced_s.iter().copied().fold(0.0, f64::max);
        let range = slowest - fastest;
        (fastest > 0.0 && slowest >= fastest).then(|| Self {
            runs: untraced_s.len() as u64,
            low: traced_s / slowest,
            high: traced_s / fastest,
            distinguishable: (untraced_s.len() > 1)
                .then_some(traced_s > slowest + range || traced_s < fastest - range),
        })
    }
}

/// What the observing cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Overhead {
    /// Wall time of the traced run over the median of the untraced ones; null when none was made.
    pub traced_over_untraced: Option<f64>,
    /// The untraced runs that the ratio is from.
    #[serde(default)]
    pub untraced: Option<Untraced>,
    /// Events times their calibrated cost, as a share of the wall time; null where it was not calibrated.
    pub calibrated_share: Option<f64>,
    /// The same for system calls, as a share of the time in them.
    pub calls_share: Option<f64>,
    /// The same for switches, as a share of the wall time.
    pub switches_share: Option<f64>,
    /// Calls times their calibrated cost, seconds: some of it is in the user code of whoever calls, some in the kernel.
    #[serde(default)]
    pub calls_s: Option<f64>,
    /// CPU time of whyfaster itself while the command ran, over the wall time; null where that is below 10 ms.
    pub tool_share: Option<f64>,
}
