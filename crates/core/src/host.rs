//! Facts of the machine, and what is missing, with the reason. What moved between two readings is in `moved`.

mod moved;

pub use moved::moved;

use serde::{Deserialize, Serialize};

use crate::missing::NotMeasured;

/// How [`HostFacts::missing`] calls [`HostFacts::cgroup_cpus`]: without that entry, `None` means that there is no quota.
pub const CPU_QUOTA: &str = "cgroup CPU quota";

/// The same of [`HostFacts::hypervisor`].
pub const HYPERVISOR: &str = "hypervisor";

/// The machine at one moment. `None` is "could not be read"; `missing` says why.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HostFacts {
    /// Name of the host, as `uname -n`.
    #[serde(default)]
    pub host_name: Option<String>,
    /// What tells it from others of that name: a digest of `/etc/machine-id`, from which nobody gets that id.
    #[serde(default)]
    pub machine_id: Option<String>,
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
    /// Times the cgroup or one of its ancestors was throttled so far.
    pub cgroup_throttled: Option<u64>,
    /// Frequency governor of the first CPU.
    pub governor: Option<String>,
    /// Current clock of each allowed CPU, kHz.
    pub clock_khz: Option<Vec<u64>>,
    /// Clock source of the kernel.
    pub clocksource: Option<String>,
    /// Whether a session is a scheduling group: `kernel.sched_autogroup_enabled` is on, and our cgroup has no CPU shares of its own.
    pub autogroup: Option<bool>,
    /// Transparent huge pages: always, madvise or never.
    pub huge_pages: Option<String>,
    /// Load averages over 1, 5 and 15 minutes.
    pub load_average: Option<[f64; 3]>,
    /// Processes runnable when the facts were read, ours left out.
    pub runnable: Option<u32>,
    /// Seconds since boot when the facts were read.
    pub uptime_s: Option<f64>,
    /// CPU seconds that all CPUs together were busy since boot.
    pub cpu_busy_s: Option<f64>,
    /// CPU seconds that all CPUs together were idle since boot.
    pub cpu_idle_s: Option<f64>,
    /// CPU seconds that the hypervisor gave to others since boot.
    pub cpu_steal_s: Option<f64>,
    /// CPU seconds of whyfaster and of all processes that were reaped below it.
    pub own_cpu_s: Option<f64>,
    /// Share of CPU time stolen by the hypervisor since boot, or since the facts before (see [`HostFacts::since`]).
    pub steal: Option<f64>,
    /// Part of the time that some task waited for a CPU (PSI), percent: over the last 10 seconds, or since the facts before.
    pub cpu_pressure: Option<f64>,
    /// Seconds since boot in which some task waited for a CPU (PSI `some total`).
    pub cpu_pressure_s: Option<f64>,
    /// Physical memory, bytes.
    pub memory_total: Option<u64>,
    /// Least memory limit of the cgroup and its ancestors, bytes, if it is below the physical memory.
    pub cgroup_memory: Option<u64>,
    /// Memory available, bytes, after the cgroup's limit.
    pub memory_available: Option<u64>,
    /// Which limit that is.
    pub memory_limit: Option<String>,
    /// Processes that may still be created: the least of all limits.
    pub pids_available: Option<u64>,
    /// Which limit that is.
    pub pids_limit: Option<String>,
    /// Descriptors a process may open (hard limit).
    pub files_limit: Option<u64>,
    /// Level of privilege: 0 none, 1 `CAP_PERFMON`, 2 `CAP_BPF` and `CAP_PERFMON` or more.
    pub privilege_level: Option<u8>,
    /// Level of privilege, in words.
    pub privilege: Option<String>,
    /// What could not be read, and why.
    pub missing: Vec<NotMeasured>,
}

/// The facts before and after, and what moved between.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Host {
    /// Before the first run.
    pub before: HostFacts,
    /// After the last run.
    pub after: HostFacts,
}
