//! The quantities that a run is measured by, with the names of hyperfine 2.

use serde::{Deserialize, Serialize};

/// A quantity that a run is measured by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Metric {
    /// Time by the clock.
    TimeWallClock,
    /// CPU time of the whole process tree, user and system.
    TimeCpu,
    /// User CPU time of the tree.
    TimeUser,
    /// System CPU time of the tree.
    TimeSystem,
    /// Peak resident memory of the largest process of the tree.
    MemoryPeakResident,
    /// CPU cycles of the tree.
    CpuCycles,
    /// Instructions that the tree retired.
    Instructions,
    /// References to the last-level cache.
    CacheReferences,
    /// References that the last-level cache missed.
    CacheMisses,
    /// Branches that were predicted wrong.
    BranchMisses,
}

/// What a metric is a number of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// Seconds.
    Time,
    /// Bytes.
    Memory,
    /// Events that the CPU counts.
    Count,
}

impl Metric {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Self; 10] = [
        Self::TimeWallClock,
        Self::TimeCpu,
        Self::TimeUser,
        Self::TimeSystem,
        Self::MemoryPeakResident,
        Self::CpuCycles,
        Self::Instructions,
        Self::CacheReferences,
        Self::CacheMisses,
        Self::BranchMisses,
    ];

    /// Its name in options, files and records.
    pub fn name(self) -> &'static str {
        match self {
            Self::TimeWallClock => "time_wall_clock",
            Self::TimeCpu => "time_cpu",
            Self::TimeUser => "time_user",
            Self::TimeSystem => "time_system",
            Self::MemoryPeakResident => "memory_peak_resident",
            Self::CpuCycles => "cpu_cycles",
            Self::Instructions => "instructions",
            Self::CacheReferences => "cache_references",
            Self::CacheMisses => "cache_misses",
            Self::BranchMisses => "branch_misses",
        }
    }

    /// The metric of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|metric| metric.name() == name)
    }

    /// What it is a number of.
    pub fn dimension(self) -> Dimension {
        match self {
            Self::TimeWallClock | Self::TimeCpu | Self::TimeUser | Self::TimeSystem => Dimension::Time,
            Self::MemoryPeakResident => Dimension::Memory,
            Self::CpuCycles
            | Self::Instructions
            | Self::CacheReferences
            | Self::CacheMisses
            | Self::BranchMisses => Dimension::Count,
        }
    }
}

/// What a metric may be at most.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Limit {
    /// The metric.
    pub metric: Metric,
    /// The most that passes.
    pub most: Most,
}

/// The most that passes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Most {
    /// So much more than the baseline, as a fraction.
    OverBaseline(f64),
    /// So many seconds, bytes or events.
    Amount(f64),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_that_of_the_record() {
        for metric in Metric::ALL {
            assert_eq!(serde_json::to_value(metric).unwrap(), metric.name());
            assert_eq!(Metric::named(metric.name()), Some(metric));
        }
        assert_eq!(Metric::named("time"), None);
    }
}
