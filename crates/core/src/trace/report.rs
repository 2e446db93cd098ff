//! What a trace says, as stored and as other tools read it: the documented paths of `--json`. Times are seconds.

mod accounts;
mod quality;
mod sampled;

use serde::{Deserialize, Serialize};

use super::command::CommandName;

use super::counts::Lost;
use super::event::NotOurs;
use crate::missing::NotMeasured;
use crate::warning::Warning;
pub use accounts::{
    Cause, Direction, PathAlternative, PathKind, PathRow, SharerKind, TransferRow, WorkKind, WorkRow,
};
pub use quality::{Check, Overhead, Untraced};
pub use sampled::{Code, Sampled, SampledRow};

/// What follows from one trace. An empty list of a level that cannot see it stands beside an entry in `not_measured`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TraceReport {
    /// From the first exec to the end of the last task of the tree (or of the observation), of the traced run itself.
    pub wall_s: f64,
    /// What was observed.
    pub level: Level,
    /// How many processes came and went.
    pub processes: Processes,
    /// The tree, folded by command, parents before children.
    pub tree: Vec<TreeRow>,
    /// Processes that were to be followed, and that the caller may not observe.
    #[serde(default)]
    pub skipped: Vec<SkippedRow>,
    /// Tasks of the tree: all, or the ones with the longest lives where there are very many (`tasks_total`).
    pub tasks: Vec<TaskRow>,
    /// How many tasks there were.
    pub tasks_total: u64,
    /// Where the time of each command's tasks went.
    pub commands: Vec<CommandRow>,
    /// System calls.
    pub syscalls: Vec<SyscallRow>,
    /// Failed execs taken together: a search of PATH with k misses is one row.
    pub searches: Vec<SearchRow>,
    /// Blocked time by cause.
    pub waits: Vec<WaitRow>,
    /// Who held the CPU while tasks of the tree waited for one.
    pub cpu_sharers: Vec<SharerRow>,
    /// Seconds that tasks of the tree waited for a CPU while another one that was open to them stood idle: one that they were
    /// allowed on, or that only their own pin (`--pin`, taskset, `sched_setaffinity`) forbade.
    pub avoidable_wait_s: Option<f64>,
    /// The longest such wait.
    pub avoidable_longest_s: Option<f64>,
    /// What stands beside the avoidable wait; null where it was not measured.
    #[serde(default)]
    pub avoidable: Option<Avoidable>,
    /// Scripts that began another program in their own process.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wrappers: Vec<WrapperRow>,
    /// Stages of pipelines, and who starved whom.
    pub stages: Vec<StageRow>,
    /// CPU time of the tree over wall time.
    pub effective_parallelism: Option<f64>,
    /// The critical path, its segments taken together by kind.
    pub critical_path: Vec<PathRow>,
    /// Paths that are nearly as long, the longest first: making only the critical one faster then wins little.
    #[serde(default)]
    pub critical_alternatives: Vec<PathAlternative>,
    /// CPU time by what it was spent on.
    #[serde(default)]
    pub work: Vec<WorkRow>,
    /// Data moved.
    #[serde(default)]
    pub transfers: Vec<TransferRow>,
    /// The same by file, the most CPU time first, of files and devices. A file below 1% of that time has no row of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<TransferRow>,
    /// Where in its code the tree was found. Null: nobody looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sampled: Option<Sampled>,
    /// Nothing was lost and all accounts agree, so that the counts are whole. What the level cannot see is not meant: that
    /// stands in `not_measured`.
    #[serde(default)]
    pub complete: bool,
    /// What did not arrive.
    pub lost: Lost,
    /// Whether what arrived fits together.
    pub checks: Vec<Check>,
    /// What the observing cost.
    pub overhead: Overhead,
    /// What to know before believing a number.
    pub warnings: Vec<Warning>,
    /// What this level could not see, why, and what would give it.
    pub not_measured: Vec<NotMeasured>,
}

impl TraceReport {
    /// Whether nothing was lost, and all accounts agree.
    pub fn adds_up(&self) -> bool {
        !self.lost.any() && self.checks.iter().all(|check| check.holds)
    }
}

/// What could be observed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Nothing but what the kernel adds up for a parent (`wait4`).
    #[default]
    Rusage,
    /// Forks, execs and exits by ptrace, and each task's run time and run-queue wait at its exit.
    Unprivileged,
    /// Every system call by ptrace.
    Ptrace,
    /// Everything, by BPF programs in the kernel.
    Full,
}

/// How many processes came and went; null: this level does not see them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Processes {
    /// Processes made.
    pub forks: Option<u64>,
    /// Threads made.
    pub threads: Option<u64>,
    /// Programs begun.
    pub execs: Option<u64>,
    /// Execs that failed.
    pub failed_execs: Option<u64>,
    /// Processes that ended.
    pub exits: Option<u64>,
    /// Processes still there at the end.
    pub alive: Option<u64>,
}

/// Processes of one command below the same chain of commands, taken together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TreeRow {
    /// Index of the row above it in the tree; null for the root.
    pub parent: Option<usize>,
    /// The command.
    #[serde(flatten)]
    pub command: CommandName,
    /// How many processes.
    pub processes: u64,
    /// CPU time of them.
    pub cpu_s: f64,
    /// Sum of their lives.
    pub life_s: f64,
}

/// Processes of one command that were not observed, for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SkippedRow {
    /// The command.
    pub command: String,
    /// Why.
    pub why: NotOurs,
    /// How many processes. What they started is not counted.
    pub processes: u64,
}

/// One task. The four times sum to its life.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TaskRow {
    /// The command it last ran.
    #[serde(flatten)]
    pub command: CommandName,
    /// Its process.
    pub pid: u32,
    /// Its own number.
    pub tid: u32,
    /// First seen, after the start of the trace.
    pub from_s: f64,
    /// Last seen.
    pub to_s: f64,
    /// Running outside of system calls: user code, and the page faults and interrupts that came in it (the kernel shows
    /// where those begin, not where they end). Null: this level cannot tell it.
    pub running_user_s: Option<f64>,
    /// Running within system calls.
    pub running_kernel_s: Option<f64>,
    /// On a CPU, user and kernel.
    pub running_s: f64,
    /// Runnable, waiting for a CPU; null: this level cannot tell it from being blocked.
    pub runnable_s: Option<f64>,
    /// Blocked.
    pub blocked_s: Option<f64>,
    /// In none of these states for all that is known: records were lost while it passed.
    #[serde(default)]
    pub unknown_s: f64,
}

/// Where the time of a command's tasks went.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CommandRow {
    /// The command.
    #[serde(flatten)]
    pub command: CommandName,
    /// How many tasks.
    pub tasks: u64,
    /// Running outside of system calls: user code, page faults, interrupts.
    pub running_user_s: Option<f64>,
    /// Running within system calls.
    pub running_kernel_s: Option<f64>,
    /// On a CPU.
    pub running_s: f64,
    /// Of that: the hypervisor had taken the CPU away, so nothing ran. Null: not known.
    #[serde(default)]
    pub stolen_s: Option<f64>,
    /// Runnable, waiting for a CPU; null: this level cannot tell it from being blocked.
    pub runnable_s: Option<f64>,
    /// Of that: while another CPU that was open to it stood idle.
    pub avoidable_s: Option<f64>,
    /// Blocked.
    pub blocked_s: Option<f64>,
    /// In none of these states for all that is known: records were lost while it passed.
    #[serde(default)]
    pub unknown_s: f64,
    /// Page faults, minor and major.
    pub faults: Option<u64>,
    /// Voluntary context switches.
    pub voluntary: Option<u64>,
    /// Involuntary context switches.
    pub involuntary: Option<u64>,
    /// Moves to another CPU.
    pub migrations: Option<u64>,
    /// CPUs that it ran on.
    pub cpus: Vec<u16>,
}

/// Calls of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SyscallRow {
    /// The command; absent when all are taken together.
    #[serde(flatten)]
    pub command: Option<CommandName>,
    /// The process, when rows are by process.
    pub pid: Option<u32>,
    /// Name of the call.
    pub name: String,
    /// How often it was made.
    pub calls: u64,
    /// How often it did not return.
    pub not_returned: u64,
    /// How many of the calls were in progress when `--follow` took their task up (at the full level). Their times count
    /// from then on.
    #[serde(default)]
    pub begun_before: u64,
    /// How many of those that did not return were in progress when observing ended (at the full level). Their times count
    /// up to then; those that ended their task have none.
    #[serde(default)]
    pub going_on: u64,
    /// How often it failed.
    pub errors: u64,
    /// Failures by the name of the error.
    pub errnos: Vec<(String, u64)>,
    /// Wall time within it; null when calls were only counted.
    pub total_s: Option<f64>,
    /// The longest.
    pub max_s: Option<f64>,
    /// Of the wall time: on a CPU.
    pub cpu_s: Option<f64>,
    /// Waiting for a CPU.
    pub runnable_s: Option<f64>,
    /// Blocked.
    pub blocked_s: Option<f64>,
    /// Of the wall time: in calls that failed.
    #[serde(default)]
    pub failed_s: Option<f64>,
    /// How many lasted from 2^i up to 2^(i+1) nanoseconds, i being the place in the list.
    pub histogram_log2_ns: Vec<u64>,
}

/// A search of PATH, or any other exec that failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SearchRow {
    /// Who searched.
    #[serde(flatten)]
    pub command: CommandName,
    /// The program's name.
    pub program: String,
    /// How often it was searched.
    pub searches: u64,
    /// Failed execs over all of them.
    pub misses: u64,
    /// Whether it was found in the end.
    pub found: u64,
    /// The errors by name.
    pub errnos: Vec<(String, u64)>,
}

/// A script that another program takes the place of, by an exec in its process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WrapperRow {
    /// Its path.
    pub script: String,
    /// What runs it.
    pub interpreter: String,
    /// The last program in its place.
    pub program: String,
    /// How often.
    pub times: u64,
    /// From its own exec to that of the program, over all times.
    pub seconds: f64,
}

/// Blocked time of a command by cause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WaitRow {
    /// The command.
    #[serde(flatten)]
    pub command: CommandName,
    /// Why.
    pub cause: Cause,
    /// The command at the other end, where there is one.
    pub peer: Option<String>,
    /// How long.
    pub seconds: f64,
    /// How often.
    pub count: u64,
    /// Of them: without an end when the trace ended, or with an end that did not arrive.
    #[serde(default)]
    pub unfinished: u64,
}

/// Who held the CPU.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SharerRow {
    /// The command that waited.
    #[serde(flatten)]
    pub command: CommandName,
    /// Who ran instead.
    pub sharer: String,
    /// What kind.
    pub kind: SharerKind,
    /// How long.
    pub seconds: f64,
}

/// How the avoidable wait was told apart from what looks like it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Avoidable {
    /// The first part of every wait that was left out: a wake-up takes that long even on an idle CPU.
    pub threshold_s: f64,
    /// How many waits had an avoidable part.
    pub waits: u64,
    /// Of the avoidable wait: only hardware threads of busy cores stood idle; null: the cores are not known.
    pub sibling_only_s: Option<f64>,
    /// Left out: a CPU stood idle, but the cgroup's quota was used up and no task of the tree ran anywhere.
    pub throttled_s: f64,
    /// Of the avoidable wait: no CPU that the tasks were allowed on stood idle, only one that was open to the command when it
    /// began: the pin that kept them from it is a choice that can be undone. Null: which CPUs were open is not known.
    #[serde(default)]
    pub by_pinning_s: Option<f64>,
    /// Beside the avoidable wait: seconds that tasks waited while a CPU stood idle that was neither allowed nor open to the
    /// command (cpuset, affinity that whyfaster was given); where `by_pinning_s` is null also one that their own pin forbade.
    /// Null: not told from throttling.
    #[serde(default)]
    pub but_for_affinity_s: Option<f64>,
    /// Time that the hypervisor took from the CPUs during the trace; it hides in running and waiting. Null: not known.
    pub steal_s: Option<f64>,
}

/// One stage of a pipeline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StageRow {
    /// The command.
    #[serde(flatten)]
    pub command: CommandName,
    /// Which pipeline it belongs to, from 0: those that run at the same or another time without data flowing between them
    /// are different ones.
    #[serde(default)]
    pub pipeline: usize,
    /// How many processes.
    #[serde(default)]
    pub processes: u64,
    /// The stages that it reads from, by index.
    pub reads_from: Vec<usize>,
    /// Time it lived.
    pub life_s: f64,
    /// On a CPU.
    pub running_s: f64,
    /// Waiting for a CPU.
    pub runnable_s: f64,
    /// Waiting for its input: starved by the stage before.
    pub starved_s: f64,
    /// Waiting for room in its output: held up by the stage behind.
    pub held_up_s: f64,
    /// Blocked otherwise.
    pub other_s: f64,
    /// How much longer it could have worked before it set the pace: the time that one of its processes waited for other
    /// stages. Null where the stages' waits were not seen.
    #[serde(default)]
    pub slack_s: Option<f64>,
    /// Whether it sets the pace: of the stages of its pipeline that data
    /// goes through, it spent the longest time not waiting for the others.
    pub bottleneck: bool,
    /// Whether it might as well: it spent at least 95% of that time not waiting for the others.
    #[serde(default)]
    pub near: bool,
}
