//! Where a list was measured, if not by an ordinary process of the machine: inside another kernel, through an emulator, on
//! another machine. And the unit of its prices, which are not always times.
//!
//! Under instruction counting an emulator's clock advances by one nanosecond for every instruction of the guest. Such a
//! price is a number of instructions. It says nothing about caches or mitigations, and it must never stand in a field or a
//! column of nanoseconds: so it has fields of its own, [`Figures`].

use serde::{Deserialize, Serialize};

/// What the prices of a list are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Nanoseconds an operation.
    #[default]
    Nanoseconds,
    /// Instructions of the guest an operation.
    GuestInstructions,
}

impl Unit {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nanoseconds => "nanoseconds",
            Self::GuestInstructions => "guest instructions",
        }
    }

    /// Whether it is the usual one.
    pub fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

/// Where the worker ran.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Inside {
    /// How it was asked for, as in `gvisor:systrap` or `qemu:debian:6.12`.
    pub kind: String,
    /// What stood between the worker and this machine, in words.
    pub mechanism: String,
    /// The version of that, as it tells it itself.
    pub version: Option<String>,
    /// The kernel as the worker saw it. gVisor gives a fixed value.
    pub kernel: Option<String>,
    /// The instruction set for which the worker was built.
    pub machine: Option<String>,
    /// Instructions of a loop that has exactly two, as they were counted; null for times.
    #[serde(default)]
    pub calibration: Option<f64>,
}

/// A price that is no time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Figures {
    /// 5th percentile.
    pub floor: Option<f64>,
    /// The typical cost: median of the repetitions' medians.
    pub median: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// Lower end of the interval of the median.
    pub low: Option<f64>,
    /// Upper end of the interval of the median.
    pub high: Option<f64>,
    /// Mean.
    pub mean: Option<f64>,
    /// What was taken off every batch as its fixed cost.
    #[serde(default)]
    pub fixed: Option<f64>,
    /// Lower end of what the repetitions say of that; null where batches are of one size. It may lie below 0.
    #[serde(default)]
    pub fixed_low: Option<f64>,
    /// Upper end.
    #[serde(default)]
    pub fixed_high: Option<f64>,
}

impl Figures {
    /// All that cannot lie below 0.
    pub fn amounts(&self) -> [Option<f64>; 7] {
        [self.floor, self.median, self.p99, self.low, self.high, self.mean, self.fixed]
    }
}
