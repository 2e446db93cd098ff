//! What was measured, raw. Nothing here is derived, rounded or left out.

use serde::{Deserialize, Serialize};

/// One of the things that a round runs: an alternative, or the hidden copy of the baseline that measures the floor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Arm {
    /// The alternative with this index in the plan.
    Alternative(usize),
    /// The baseline once more, under another name.
    HiddenCopy,
}

/// N copies of one arm, run alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Batch {
    /// Copies (batch mode), workers (closed), or 0 where the mode knows no such number (open).
    pub load: u32,
    /// What ran.
    pub arm: Arm,
    /// Round at this load, from 0.
    pub round: u32,
    /// Place within the round, from 0.
    pub position: u32,
    /// Seconds from the start of the session to the release.
    pub released_s: f64,
    /// Seconds from the first copy's exec to the last copy's end.
    pub makespan_s: f64,
    /// The copies, one entry per copy in every column.
    pub copies: Copies,
    /// Processes that outlived the copy they came from.
    pub orphans: Orphans,
    /// CPU seconds that the whole machine spent busy between release and end, over all CPUs, if `/proc/stat` could be read.
    pub machine_busy_s: Option<f64>,
    /// CPU seconds that the hypervisor gave to others meanwhile.
    pub steal_s: Option<f64>,
}

/// The copies of a batch, by column. Times are seconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Copies {
    /// Start of the copy after the release: its exec (batch, closed) or its intended start (open).
    pub start_s: Vec<f64>,
    /// From start to the end of the copy's first process.
    pub wall_s: Vec<f64>,
    /// User CPU time of the copy's process tree.
    pub user_s: Vec<f64>,
    /// System CPU time of the copy's process tree.
    pub system_s: Vec<f64>,
    /// Peak resident memory of the largest process of the tree.
    pub max_rss_bytes: Vec<u64>,
    /// Voluntary context switches of the tree.
    pub voluntary_switches: Vec<u64>,
    /// Involuntary context switches of the tree.
    pub involuntary_switches: Vec<u64>,
    /// Exit code, or minus the number of the signal that ended it.
    pub status: Vec<i32>,
    /// Whether the time-out ended it (its wall time is then a lower bound).
    pub timed_out: Vec<bool>,
}

impl Copies {
    /// Number of copies.
    pub fn len(&self) -> usize {
        self.wall_s.len()
    }

    /// Whether there is no copy.
    pub fn is_empty(&self) -> bool {
        self.wall_s.is_empty()
    }

    /// Whether all columns are equally long.
    pub fn even(&self) -> bool {
        let lengths = [
            self.start_s.len(),
            self.user_s.len(),
            self.system_s.len(),
            self.max_rss_bytes.len(),
            self.voluntary_switches.len(),
            self.involuntary_switches.len(),
            self.status.len(),
            self.timed_out.len(),
        ];
        lengths.iter().all(|length| *length == self.len())
    }
}

/// Processes that outlived the first process of their copy and were reaped or ended by whyfaster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Orphans {
    /// How many were reaped by whyfaster.
    pub reaped: u32,
    /// How many of them whyfaster had to end.
    pub killed: u32,
    /// Their user CPU time, seconds.
    pub user_s: f64,
    /// Their system CPU time, seconds.
    pub system_s: f64,
}

impl Batch {
    /// CPU seconds of all copies and of what outlived them.
    pub fn work_s(&self) -> f64 {
        self.copies.user_s.iter().chain(&self.copies.system_s).sum::<f64>()
            + self.orphans.user_s
            + self.orphans.system_s
    }

    /// Whether the time-out ended any copy: the makespan is then a lower bound.
    pub fn timed_out(&self) -> bool {
        self.copies.timed_out.contains(&true)
    }
}

/// What one untimed run of an alternative showed: what its output is, and what one copy needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Trial {
    /// Index of the alternative.
    pub alternative: usize,
    /// SHA-256 of its standard output, in hexadecimal, if outputs were checked.
    pub stdout_sha256: Option<String>,
    /// Bytes of standard output.
    pub stdout_bytes: u64,
    /// Exit code, or minus the number of the signal that ended it.
    pub status: i32,
    /// Most processes alive at once, sampled.
    pub peak_processes: u32,
    /// Most memory of the tree at once, sampled: anonymous and shared memory of all processes, and the largest file-backed part.
    pub peak_memory_bytes: u64,
    /// Most anonymous and shared memory of the tree at once, sampled: what every further copy needs.
    #[serde(default)]
    pub peak_private_bytes: u64,
    /// How long it took, for planning only: this run was observed, so it is no sample.
    pub wall_s: f64,
    /// CPU time of its tree, for planning only.
    pub cpu_s: f64,
}

/// Scheduling account of one untimed, traced batch of a level: every process of every copy at its exit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SchedAccount {
    /// Copies of the batch.
    pub load: u32,
    /// Index of the alternative.
    pub alternative: usize,
    /// Tasks whose `/proc/PID/schedstat` was read at their exit.
    pub tasks: u64,
    /// Seconds they ran.
    pub run_s: f64,
    /// Seconds they were runnable and waited for a CPU.
    pub delay_s: f64,
}
