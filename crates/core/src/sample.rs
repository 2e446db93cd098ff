//! What was measured, raw. Nothing here is derived, rounded or left out.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::metric::Metric;

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
    /// What all copies and what outlived them read and wrote, where the kernel counts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io: Option<Io>,
}

/// An alternative and the baseline at once on one CPU: the scheduler runs them in turns every few milliseconds, so both meet the same
/// changes of its speed. Whichever ended first was started again, uncounted, until the other had ended: neither had the CPU to itself.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Duet {
    /// Index of the alternative.
    pub alternative: usize,
    /// Its number among those of this alternative, from 0.
    pub round: u32,
    /// The CPU.
    pub cpu: u32,
    /// Whether the baseline was released first, by some microseconds.
    pub baseline_first: bool,
    /// CPU time of the alternative's process tree, seconds.
    pub cpu_s: f64,
    /// CPU time of the baseline's process tree, seconds.
    pub baseline_cpu_s: f64,
    /// From the first exec to the end of the longer one, seconds.
    pub took_s: f64,
}

impl Duet {
    /// With less CPU time, seconds, a copy gets too few turns beside the other: the scheduler's slices last some milliseconds (`base_slice_ns`,
    /// sched(7)).
    pub const LEAST_WORK_S: f64 = 0.05;

    /// Seconds that those of one alternative take where there is time.
    pub const USUAL_S: f64 = 4.0;

    /// Seconds that one takes if the longer copy has this span and needs so much CPU time: both have one CPU, and the shorter one goes on until
    /// the longer one ends. Who waits for something else waits no less beside another one.
    pub fn one_s(span_s: f64, work_s: f64) -> f64 {
        span_s.max(2.0 * work_s)
    }

    /// Seconds of so much time that are kept for them, where they were asked for and one copy alone is all that is measured.
    pub fn kept_s(max_time_s: f64) -> f64 {
        Self::USUAL_S.min(0.4 * max_time_s)
    }
}

/// What processes read and wrote by system calls, as `/proc/PID/io` counts it: files, pipes, sockets and devices alike. What is
/// mapped into memory or spliced is not in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Io {
    /// Bytes that calls read.
    pub read_bytes: u64,
    /// Bytes that calls wrote.
    pub write_bytes: u64,
    /// Calls that read.
    pub reads: u64,
    /// Calls that wrote.
    pub writes: u64,
}

impl Io {
    /// What was counted since an earlier look.
    pub fn since(&self, before: &Self) -> Self {
        Self {
            read_bytes: self.read_bytes.saturating_sub(before.read_bytes),
            write_bytes: self.write_bytes.saturating_sub(before.write_bytes),
            reads: self.reads.saturating_sub(before.reads),
            writes: self.writes.saturating_sub(before.writes),
        }
    }

    /// Whether a run that moved this left out work that a run of the same command with that did: at most half, by more than two runs
    /// that share a pipe differ by chance. How many calls a pipe takes is chance; so calls count only where bytes are missing too.
    pub fn leaves_out_of(&self, whole: &Self) -> bool {
        const BYTES: u64 = 1 << 20;
        const CALLS: u64 = 64;
        let half = |part: u64, whole: u64| part <= whole / 2;
        let bytes = |part: u64, whole: u64| half(part, whole) && whole - part >= BYTES;
        let calls = half(self.reads, whole.reads) && whole.reads - self.reads >= CALLS;
        bytes(self.read_bytes, whole.read_bytes)
            || bytes(self.write_bytes, whole.write_bytes)
            || calls && half(self.read_bytes, whole.read_bytes)
    }
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
    /// What the CPU counted, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counters: Option<Counters>,
}

/// Hardware counters of the copies' whole process trees, each from its exec on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Counters {
    /// One entry per copy, by metric; a metric that was not counted for every copy is absent. Where the CPU had to share its
    /// counters, the count is scaled to the whole time.
    pub columns: BTreeMap<Metric, Vec<u64>>,
    /// Only user code was counted, because this user may not count the kernel's.
    pub user_only: bool,
    /// Error numbers of what the kernel refused.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub refused: BTreeMap<Metric, i32>,
}

impl Copies {
    /// The copy at this place alone; without counters.
    #[must_use]
    pub fn only(&self, place: usize) -> Self {
        fn at<T: Copy>(column: &[T], place: usize) -> Vec<T> {
            column.get(place).copied().into_iter().collect()
        }
        Self {
            start_s: at(&self.start_s, place),
            wall_s: at(&self.wall_s, place),
            user_s: at(&self.user_s, place),
            system_s: at(&self.system_s, place),
            max_rss_bytes: at(&self.max_rss_bytes, place),
            voluntary_switches: at(&self.voluntary_switches, place),
            involuntary_switches: at(&self.involuntary_switches, place),
            status: at(&self.status, place),
            timed_out: at(&self.timed_out, place),
            counters: None,
        }
    }

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
        let counted = self.counters.iter().flat_map(|counters| counters.columns.values().map(Vec::len));
        lengths.into_iter().chain(counted).all(|length| length == self.len())
    }
}

/// Processes that outlived their parent and were reaped or ended by whyfaster.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Orphans {
    /// How many were reaped by whyfaster.
    pub reaped: u32,
    /// How many of these had ended while a copy still ran, so that they did not outlive one that ran alone.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub beside: u32,
    /// How many of them whyfaster had to end.
    pub killed: u32,
    /// How many were left running, as `--keep-daemons` asks; their CPU time is not known.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_running: u32,
    /// Their user CPU time, seconds.
    pub user_s: f64,
    /// Their system CPU time, seconds.
    pub system_s: f64,
}

impl Orphans {
    /// How many of those that were reaped outlived their copy.
    pub fn outlived(&self) -> u32 {
        self.reaped.saturating_sub(self.beside)
    }
}

fn is_zero(count: &u32) -> bool {
    *count == 0
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
    /// Peak resident memory of the largest process of its tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_rss_bytes: Option<u64>,
    /// How long it took, for planning only: this run was observed, so it is no sample.
    pub wall_s: f64,
    /// CPU time of its tree, for planning only.
    pub cpu_s: f64,
    /// What it read and wrote when somebody read its output, where the kernel counts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io: Option<Io>,
    /// The first difference between its output and that of an alternative before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub differs: Option<OutputDifference>,
    /// A second run printed something else than the first. Only alternatives whose outputs differ have a second run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub varies: bool,
    /// The same in further untimed runs, where the timed ones may write to `/dev/null` or into a pipe.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destinations: Option<Destinations>,
}

/// The first difference between the outputs of two alternatives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OutputDifference {
    /// Index of the alternative that ran before.
    pub before: usize,
    /// The byte and the line of the difference, both from 1 as in cmp(1). Null: it lies beyond the part that is kept.
    pub place: Option<(u64, u64)>,
    /// The line of the alternative that ran before.
    pub first: String,
    /// The line of the other one.
    pub other: String,
}

/// What runs of a command read and wrote, by where their output went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Destinations {
    /// To `/dev/null`, after the trial.
    pub null: Io,
    /// Into a pipe, after that: a first run may also do more because the later ones find the work done. Only where `null` is far
    /// less than the trial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pipe: Option<Io>,
}

impl Trial {
    /// What it reads and writes when its output goes to `/dev/null` and when somebody reads it, where it leaves out work in the
    /// first case.
    pub fn does_less_unread(&self) -> Option<(Io, Io)> {
        let Destinations { null, pipe } = self.destinations?;
        let (before, after) = (self.io?, pipe?);
        (null.leaves_out_of(&before) && null.leaves_out_of(&after)).then_some((null, after))
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_far_less_is_left_out() {
        let io = |read_bytes, reads, write_bytes| Io { read_bytes, write_bytes, reads, writes: 1 };
        let whole = io(10 << 20, 312, 8);
        assert!(io(100_000, 9, 0).leaves_out_of(&whole), "grep at its first match");
        assert!(!whole.leaves_out_of(&io(100_000, 9, 0)), "more is not less");
        assert!(!io(9 << 20, 300, 8).leaves_out_of(&whole));
        // A reader that ends early leaves it to chance how much was written by then.
        assert!(!io(128 << 10, 3, 64 << 10).leaves_out_of(&io(384 << 10, 6, 256 << 10)));
        // As many bytes of a pipe in more calls.
        assert!(!io(10 << 20, 80, 0).leaves_out_of(&io(10 << 20, 2560, 0)));
        // Many small files that are not read, and output that is not written.
        assert!(io(9_000, 12, 0).leaves_out_of(&io(60_000, 112, 0)));
        assert!(io(9_000, 12, 0).leaves_out_of(&io(9_000, 12, 5 << 20)));
    }
}
