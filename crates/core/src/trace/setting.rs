//! What an analysis must know beside the stream: how it was observed, and what the program saw around it.

use serde::{Deserialize, Serialize};

use super::names::Abi;
use super::report::{Level, Untraced};
use crate::missing::NotMeasured;
use crate::warning::Warning;

/// A wake-up of an idle CPU takes this long (an interrupt to it, and its way out of idling): so long no other CPU
/// would have been faster.
pub const AVOIDABLE_FROM_NS: u64 = 50_000;

/// How a trace was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Setting {
    /// What was observed.
    pub level: Level,
    /// What of the scheduling was streamed.
    pub scheduling: Scheduling,
    /// The tree was running already: tasks count from where they were found, not from the first exec.
    pub running: bool,
    /// Which table of system calls the numbers are from.
    pub abi: Abi,
    /// The core that each CPU is a hardware thread of, by the number of the CPU; empty: not known.
    pub cores: Vec<u16>,
    /// The CPUs that were open to the command when it began, as a bit set, CPU 0 in the lowest bit of the first word: those that
    /// whyfaster itself might use, before `--pin`. Empty: not known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<u64>,
    /// The first part of every wait that does not count as avoidable, nanoseconds.
    pub avoidable_from_ns: u64,
}

/// What of the scheduling was streamed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Scheduling {
    /// Nothing: times come from what the kernel adds up.
    #[default]
    None,
    /// Switches of the tree without wake-ups (perf switch records): whether a task was blocked or waited is not in them.
    SwitchesOnly,
    /// Switches, wake-ups and migrations of the whole machine.
    Whole,
}

/// What the program knows beside the stream, over the time of the trace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Facts {
    /// When observing ended, if it ended before the tree did; nanoseconds of the stream's clock.
    pub ended: Option<u64>,
    /// Wall time of the traced run over that of an untraced run.
    pub traced_over_untraced: Option<f64>,
    /// The untraced runs.
    pub untraced: Option<Untraced>,
    /// What the cgroup's quota took; `None`: could not be read.
    pub throttled: Option<Throttled>,
    /// CPU time that the hypervisor gave to others, nanoseconds.
    pub steal_ns: Option<u64>,
    /// What to know before believing a number.
    pub warnings: Vec<Warning>,
    /// What could not be seen, and why.
    pub not_measured: Vec<NotMeasured>,
    /// What operations cost on this machine, as far as it was measured.
    pub prices: Vec<Price>,
}

/// What one operation costs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Price {
    /// Which.
    pub of: Operation,
    /// CPU time of one, nanoseconds.
    pub ns: f64,
}

/// An operation with a price.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// A minor page fault: the first write to an anonymous page of 4 KiB.
    PageFault,
    /// Making a small process that ends at once, and waiting for it: both sides, no program begun.
    Process,
    /// Making a thread that ends at once.
    Thread,
    /// Beginning a small program (`execve`), without a dynamic loader.
    Exec,
    /// Entry and exit of the cheapest system call.
    Call,
    /// One KiB through a pipe in pieces of 64 KiB: both sides.
    PipeKib,
    /// Opening and closing a file.
    Open,
    /// Asking for the attributes of a file.
    Stat,
    /// Blocking, and being woken by another task of the same CPU.
    Switch,
}

/// What a cgroup's quota took: of the cgroup in which the command began (`cpu.stat`: `nr_throttled`, `throttled_usec`), or as the
/// scheduler told of the tasks themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Throttled {
    /// How often the quota was used up, or how many waits began while it was.
    pub times: u64,
    /// For how long, summed over CPUs, nanoseconds.
    pub ns: u64,
}

impl Facts {
    /// Whether a cgroup's CPU quota was used up.
    pub(super) fn quota_used_up(&self) -> bool {
        self.throttled.is_some_and(|throttled| throttled.ns > 0 || throttled.times > 0)
    }

    /// With what the scheduler told of the tasks' own groups: a command may leave the group that it began in.
    pub(super) fn with_throttling(&self, waits: Option<u64>) -> Self {
        let mut facts = self.clone();
        if let Some(times) = waits.filter(|times| *times > 0) {
            let throttled = facts.throttled.get_or_insert_default();
            throttled.times = throttled.times.max(times);
        }
        facts
    }
}

impl Setting {
    /// The setting of a level: the full one streams the scheduling of the machine, the others nothing of it.
    pub fn of(level: Level) -> Self {
        let scheduling = if level == Level::Full { Scheduling::Whole } else { Scheduling::None };
        Self {
            level,
            scheduling,
            running: false,
            abi: Abi::HOST,
            cores: Vec::new(),
            open: Vec::new(),
            avoidable_from_ns: AVOIDABLE_FROM_NS,
        }
    }

    /// Whether waits for a CPU can be told from being blocked by the stream alone.
    pub fn whole(&self) -> bool {
        self.scheduling == Scheduling::Whole
    }
}

impl Default for Setting {
    fn default() -> Self {
        Self::of(Level::Full)
    }
}
