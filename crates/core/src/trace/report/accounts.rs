//! The critical path, what tasks waited for, what CPU time was spent on, and the data that was moved.

use serde::{Deserialize, Serialize};

use super::super::command::CommandName;

use super::super::event::FileKind;

/// Why a task was blocked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Wanted to read from a pipe with nothing in it.
    PipeEmpty,
    /// Wanted to write to a pipe with no room in it.
    PipeFull,
    /// Waited for a child.
    Child,
    /// Waited for a disk.
    Disk,
    /// Waited until data had been written to a disk.
    WriteBack,
    /// Waited for a lock.
    Lock,
    /// Slept until a time.
    Timer,
    /// Waited for the network.
    Network,
    /// Waited for a terminal.
    Terminal,
    /// Was stopped.
    Stopped,
    /// The kernel served a page fault.
    PageFault,
    /// Waited for another process through a socket, a signal, or several descriptors at once.
    OtherProcess,
    /// None of these.
    Other,
    /// Not known: the record of where it blocked was lost.
    Lost,
}

/// What kind of task held the CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SharerKind {
    /// A task of the tree.
    Tree,
    /// A thread of the kernel, by its work function where it has one.
    Kernel,
    /// Another program.
    Other,
    /// whyfaster itself.
    Tool,
    /// Nobody: the CPU stood idle until it was there (wake-up latency).
    Idle,
    /// The cgroup's quota was used up.
    Throttled,
    /// The hypervisor had the CPU.
    Steal,
    /// Switches that the trace did not show.
    Unknown,
}

/// All segments of the critical path of one kind. The rows sum to the wall time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PathRow {
    /// The command on it.
    #[serde(flatten)]
    pub command: CommandName,
    /// What it did there.
    pub kind: PathKind,
    /// Beside the kind: the group of system calls, who held the CPU, who held the lock, or whom it waited for.
    #[serde(default)]
    pub what: Option<String>,
    /// What kind of task held the CPU, of [`PathKind::CpuWait`].
    #[serde(default)]
    pub holder: Option<SharerKind>,
    /// What the task had waited for before it waited for the CPU, of [`PathKind::CpuWait`].
    #[serde(default)]
    pub after: Option<Cause>,
    /// How long.
    pub seconds: f64,
    /// Of [`PathKind::CpuWait`]: while another CPU that was open to it stood idle.
    #[serde(default)]
    pub avoidable_s: f64,
    /// Of `avoidable_s`: while only its own pin (`--pin`, taskset, `sched_setaffinity`) forbade it to run there.
    #[serde(default)]
    pub by_pinning_s: f64,
    /// Of [`PathKind::CpuWait`], beside `avoidable_s`: while a CPU stood idle that was not open to the command.
    #[serde(default)]
    pub but_for_affinity_s: f64,
    /// Of [`PathKind::Kernel`]: the calls of that group in which the command spent most of its CPU time, the first most; at most three.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<String>,
    /// How many segments.
    pub count: u64,
}

/// A path that is nearly as long as the critical one: it ended in that where a task waited for several children, at most
/// 5% of the wall time earlier than the last of them, and at least 5% of the wall time of it are not on the critical path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PathAlternative {
    /// The command that took most of what is not on the critical path.
    #[serde(flatten)]
    pub command: CommandName,
    /// How much longer it could have been before it were the critical path.
    pub slack_s: f64,
    /// How much of it is not on the critical path.
    pub seconds: f64,
}

/// What a task on the critical path did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PathKind {
    /// Ran user code.
    User,
    /// Ran in the kernel, in system calls of the group `what` ([`WorkKind`] in snake case).
    Kernel,
    /// Ran, before its program had started up.
    Startup,
    /// Ran between the fork that made it and its exec.
    Forked,
    /// Waited for a CPU that `what` held.
    CpuWait,
    /// Waited for a lock that `what` held.
    Lock,
    /// Waited for a disk.
    Disk,
    /// Waited until data had been written.
    WriteBack,
    /// Slept until a time.
    Sleep,
    /// Waited for the network.
    Network,
    /// Waited for a terminal.
    Terminal,
    /// Was stopped.
    Stopped,
    /// Waited for a process outside the tree, `what`.
    Outside,
    /// Waited, and who ended the wait was not seen.
    Unknown,
    /// Time of the untraced runs that the observed ones did not have. In explanations only.
    Unobserved,
    /// What it did is not known: records were lost.
    Lost,
}

impl PathRow {
    /// A segment of a path of which no more is known.
    pub fn of(command: CommandName, kind: PathKind, seconds: f64) -> Self {
        Self {
            command,
            kind,
            what: None,
            holder: None,
            after: None,
            seconds,
            avoidable_s: 0.0,
            by_pinning_s: 0.0,
            but_for_affinity_s: 0.0,
            calls: Vec::new(),
            count: 1,
        }
    }
}

impl PathKind {
    /// Whether the command is on a CPU.
    pub fn runs(self) -> bool {
        matches!(self, Self::User | Self::Kernel | Self::Startup | Self::Forked)
    }

    /// In words, behind the name of a command.
    pub fn words(self) -> &'static str {
        match self {
            Self::User => "running user code",
            Self::Kernel => "running in the kernel",
            Self::Startup => "starting up",
            Self::Forked => "running between fork and exec",
            Self::CpuWait => "waiting for a CPU",
            Self::Lock => "waiting for a lock",
            Self::Disk => "waiting for a disk",
            Self::WriteBack => "waiting for data to be written",
            Self::Sleep => "sleeping",
            Self::Network => "waiting for the network",
            Self::Terminal => "waiting for a terminal",
            Self::Stopped => "stopped",
            Self::Outside => "waiting for a process outside the tree",
            Self::Unknown => "waiting, not known for what",
            Self::Unobserved => "not seen in the observed runs",
            Self::Lost => "not known: records were lost",
        }
    }
}

/// CPU time of one kind of one command. The rows sum to the CPU time of the tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkRow {
    /// The command.
    #[serde(flatten)]
    pub command: CommandName,
    /// What it was spent on.
    pub kind: WorkKind,
    /// CPU time.
    pub seconds: f64,
    /// How many operations: calls, faults, processes; null where nothing is counted.
    #[serde(default)]
    pub count: Option<u64>,
    /// What one such operation costs on this machine, seconds, where it was measured.
    #[serde(default)]
    pub price_s: Option<f64>,
    /// `count * price_s`.
    #[serde(default)]
    pub priced_s: Option<f64>,
    /// The seconds are `count * price_s` taken out of user code, since the kernel shows no end of such an operation.
    #[serde(default)]
    pub estimated: bool,
}

/// What CPU time was spent on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WorkKind {
    /// User code, after the start-up of its program.
    User,
    /// Start-up of programs: the dynamic loader and the runtime, user code and kernel.
    Startup,
    /// Making and ending processes and threads, and the children between fork and exec.
    Process,
    /// Beginning programs (`execve`), the failed ones too.
    Exec,
    /// Page faults.
    PageFaults,
    /// Reading from and writing to pipes.
    Pipe,
    /// Names and attributes of files: open, stat, directories.
    FileMetadata,
    /// Descriptors: close, dup, lseek, fcntl, ioctl.
    Descriptor,
    /// Reading and writing files.
    FileData,
    /// Sockets.
    Socket,
    /// Mapping memory.
    Memory,
    /// Locks.
    Lock,
    /// Sleeping, yielding, waiting for several descriptors.
    Scheduling,
    /// Other calls.
    Rest,
}

impl WorkKind {
    /// Its name, as in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Startup => "startup",
            Self::Process => "process",
            Self::Exec => "exec",
            Self::PageFaults => "page_faults",
            Self::Pipe => "pipe",
            Self::FileMetadata => "file_metadata",
            Self::Descriptor => "descriptor",
            Self::FileData => "file_data",
            Self::Socket => "socket",
            Self::Memory => "memory",
            Self::Lock => "lock",
            Self::Scheduling => "scheduling",
            Self::Rest => "rest",
        }
    }

    /// The kind of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::User => "user code",
            Self::Startup => "start-up of programs",
            Self::Process => "making and ending processes",
            Self::Exec => "beginning programs",
            Self::PageFaults => "page faults",
            Self::Pipe => "moving data through pipes",
            Self::FileMetadata => "names and attributes of files",
            Self::Descriptor => "calls on descriptors",
            Self::FileData => "moving data of files",
            Self::Socket => "sockets",
            Self::Memory => "mapping memory",
            Self::Lock => "locks",
            Self::Scheduling => "sleeping, yielding, polling",
            Self::Rest => "other system calls",
        }
    }

    /// All kinds.
    pub const ALL: [Self; 14] = [
        Self::User,
        Self::Startup,
        Self::Process,
        Self::Exec,
        Self::PageFaults,
        Self::Pipe,
        Self::FileMetadata,
        Self::Descriptor,
        Self::FileData,
        Self::Socket,
        Self::Memory,
        Self::Lock,
        Self::Scheduling,
        Self::Rest,
    ];
}

/// Data that one command moved through descriptors of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TransferRow {
    /// The command.
    #[serde(flatten)]
    pub command: CommandName,
    /// Reading or writing.
    pub direction: Direction,
    /// Through what.
    pub file: FileKind,
    /// The path of the file, in rows by file. Absent: all others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Calls.
    pub calls: u64,
    /// Bytes.
    pub bytes: u64,
    /// CPU time in the calls; null when they were only counted.
    pub cpu_s: Option<f64>,
}

/// Which way data goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// From the descriptor.
    Read,
    /// To the descriptor.
    Write,
}
