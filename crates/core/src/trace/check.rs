//! Which sums of a trace must agree.

use serde::{Deserialize, Serialize};

/// The scheduler's clock and the tracepoint are read at different moments of a switch: what that may amount to, for one
/// switch, nanoseconds.
pub const A_SWITCH_NS: u64 = 2_000;

/// Two sums, each from a source of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CheckKind {
    /// The tasks' states against their lives, seconds.
    States,
    /// Records that came too late for their own time; there should be none.
    Late,
    /// Blocked time of the tasks against that of all causes, seconds.
    Blocked,
    /// Waiting for a CPU of the tasks against that of all who held one, seconds.
    Waiting,
    /// Processes made, by the kernel and by the stream.
    Forks,
    /// Threads made, by the kernel and by the stream.
    Threads,
    /// Programs begun, by the kernel and by the stream.
    Execs,
    /// Execs that failed, by the kernel and by the stream.
    FailedExecs,
    /// Processes ended, by the kernel and by the stream.
    Exits,
    /// Processes still there, by the kernel and by the stream.
    Alive,
    /// Processes and threads made, against the calls that made them.
    MadeByCalls,
    /// Calls entered against those that returned and those that did not.
    CallsReturned,
    /// Calls entered, by the tasks and by the table.
    CallsOfTable,
    /// Calls entered by all tasks, against those of tasks whose end came.
    CallsOfEnded,
    /// Running time of the tasks against the scheduler's account, seconds.
    Running,
    /// Running time by what it was spent on against the scheduler's account, seconds.
    Work,
    /// The critical path against the wall time, seconds.
    Path,
}
