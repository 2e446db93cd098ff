//! The closed list of causes.

use serde::{Deserialize, Serialize};

/// Why one alternative takes longer than another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// It makes more processes.
    Processes,
    /// It searches PATH, and fails, more often.
    PathSearch,
    /// Its programs take longer to load and start up.
    Startup,
    /// It reads or writes in smaller pieces.
    SmallIo,
    /// It copies data through a pipe once more.
    PipeCopy,
    /// The other one overlaps work on several CPUs.
    Overlap,
    /// It computes more in user code.
    Compute,
    /// It touches more memory for the first time.
    PageFaults,
    /// It waits for a disk.
    Disk,
    /// It waits for a lock.
    Lock,
    /// It sleeps or polls.
    Sleep,
    /// Others take the CPU.
    CpuContention,
    /// It waits for a CPU while another one stands idle.
    Misplacement,
    /// It is given less of the machine: priority, session, cgroup.
    Share,
    /// It waits for the network.
    Network,
    /// None of these.
    Unexplained,
}
