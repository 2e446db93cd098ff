//! Facts of the machine, and what is missing, with the reason.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Something that was not measured, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NotMeasured {
    /// The quantity or level.
    pub what: String,
    /// The reason, and what would help if anything would.
    pub why: String,
}

/// Something the reader should know before believing a number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Warning {
    /// What was seen.
    pub what: String,
    /// What to do about it.
    pub remedy: String,
}

/// The machine at one moment. `None` is "could not be read"; `missing` says why.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostFacts {
    /// Kernel release, as `uname -r`.
    pub kernel: Option<String>,
    /// Machine, as `uname -m`.
    pub machine: Option<String>,
    /// CPU model.
    pub cpu_model: Option<String>,
    /// Microcode revision.
    pub microcode: Option<String>,
    /// Hypervisor, if the CPU reports one.
    pub hypervisor: Option<String>,
    /// CPUs online.
    pub cpus_online: Option<u32>,
    /// CPUs that whyfaster may use.
    pub cpus_allowed: Option<Vec<u32>>,
    /// CPUs that the cgroup quota pays for (quota over period), if there is a quota.
    pub cgroup_cpus: Option<f64>,
    /// Times the cgroup was throttled so far.
    pub cgroup_throttled: Option<u64>,
    /// Frequency governor of the first CPU.
    pub governor: Option<String>,
    /// Current clock of each allowed CPU, kHz.
    pub clock_khz: Option<Vec<u64>>,
    /// Clock source of the kernel.
    pub clocksource: Option<String>,
    /// Whether `kernel.sched_autogroup_enabled` is on.
    pub autogroup: Option<bool>,
    /// Transparent huge pages: always, madvise or never.
    pub huge_pages: Option<String>,
    /// Load averages over 1, 5 and 15 minutes.
    pub load_average: Option<[f64; 3]>,
    /// Processes runnable when the facts were read, ours left out.
    pub runnable: Option<u32>,
    /// Share of CPU time stolen by the hypervisor since boot, or since the facts before.
    pub steal: Option<f64>,
    /// CPU pressure (PSI `some avg10`), percent.
    pub cpu_pressure: Option<f64>,
    /// Physical memory, bytes.
    pub memory_total: Option<u64>,
    /// Memory available, bytes, after the cgroup's limit.
    pub memory_available: Option<u64>,
    /// Processes that may still be created: the least of all limits.
    pub pids_available: Option<u64>,
    /// Which limit that is.
    pub pids_limit: Option<String>,
    /// Descriptors a process may open (hard limit).
    pub files_limit: Option<u64>,
    /// Level of privilege, in words.
    pub privilege: Option<String>,
    /// What could not be read, and why.
    pub missing: Vec<NotMeasured>,
}

/// The facts before and after, and what moved between.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Host {
    /// Before the first run.
    pub before: HostFacts,
    /// After the last run.
    pub after: HostFacts,
}
