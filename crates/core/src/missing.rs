//! What was not measured, and why: a quantity and a reason, each a kind with its numbers. The texts are made at the edge; a
//! record holds both, and one from before the kinds were written holds the texts alone.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::metric::Metric;
use crate::warning::Place;

/// Something that was not measured, and why.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NotMeasured {
    /// What it is; absent in a record of an earlier version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quantity: Option<Quantity>,
    /// The reason; absent in a record of an earlier version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Obstacle>,
    /// The quantity or level, in English.
    pub what: String,
    /// The reason, and what would help if anything would, in English.
    pub why: String,
}

impl NotMeasured {
    /// What has a name of its own, such as a fact of the machine, for the reason that the system gave.
    pub fn told(what: impl Into<String>, why: impl Into<String>) -> Self {
        Self { what: what.into(), why: why.into(), ..Self::default() }
    }

    /// Why; what an earlier version wrote is what it said.
    pub fn because(&self) -> Obstacle {
        self.reason.clone().unwrap_or_else(|| Obstacle::from(self.why.clone()))
    }

    /// Whether both lack for the same reason. What an earlier version wrote has its text alone.
    pub fn has_reason_of(&self, other: &Self) -> bool {
        self.reason == other.reason && (self.reason.is_some() || self.why == other.why)
    }

    /// This quantity, for this reason. The texts are made at the edge.
    pub fn new(quantity: Quantity, reason: impl Into<Obstacle>) -> Self {
        Self { quantity: Some(quantity), reason: Some(reason.into()), ..Self::default() }
    }
}

/// What was not measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Quantity {
    /// All of a level.
    Level {
        /// Its load.
        load: u32,
    },
    /// An alternative at some levels.
    Alternative {
        /// Its name.
        alternative: String,
        /// Where.
        at: Place,
    },
    /// Span and work of an alternative.
    SpanAndWork {
        /// Its name.
        alternative: String,
    },
    /// The interval of a comparison.
    Interval {
        /// The alternative.
        alternative: String,
        /// The baseline.
        baseline: String,
        /// Where.
        at: Place,
    },
    /// Batches that count nowhere.
    Batches {
        /// How many.
        count: u64,
    },
    /// The comparison in rounds that not every alternative ran in.
    Rounds {
        /// How many.
        count: u64,
    },
    /// The noise floor.
    Floor,
    /// A metric, of some batch at least.
    Metric {
        /// Which.
        metric: Metric,
    },
    /// Work and share of a comparison.
    WorkAndShare {
        /// The alternative.
        alternative: String,
        /// The baseline.
        baseline: String,
        /// Where.
        at: Place,
    },
    /// Time that tasks were runnable and waited for a CPU.
    RunQueueDelay {
        /// Where.
        at: Place,
    },
    /// The CPU time of an alternative against the baseline's, both at once on one CPU.
    Duets {
        /// The alternative.
        alternative: String,
    },
    /// Whether the alternatives write the same.
    Outputs,
    /// The untimed runs before the first round.
    WarmUp,
    /// How many CPUs may be used.
    Cpus,
    /// CPU time of other programs.
    OtherPrograms,
    /// CPU time that the hypervisor gave to others.
    Steal,
    /// A field of a trace's report, or several.
    Report {
        /// Its path in JSON.
        field: Cow<'static, str>,
    },
    /// What tracing itself cost, by the price of its events.
    CalibratedOverhead,
    /// What tracing itself cost, against untraced runs.
    MeasuredOverhead,
    /// The scheduling records of a trace, which were to be kept.
    Schedule,
    /// The tree of processes.
    ProcessTree,
    /// System calls.
    SystemCalls,
    /// Execs that failed.
    FailedExecs,
    /// User and kernel time of tasks.
    UserAndKernelTime {
        /// Only of some commands.
        of_some: bool,
    },
    /// Time in the kernel outside of system calls.
    KernelTimeOutsideCalls,
    /// Data that 32-bit programs moved.
    DataOf32Bit,
    /// Time in system calls.
    TimeInCalls,
    /// Work of page faults.
    WorkOfPageFaults,
    /// Work in the kernel by group of system calls.
    WorkInKernel,
    /// Something that the full level of a trace needs, or what it goes without.
    FullLevel {
        /// What, as the kernel names it.
        part: String,
        /// The full level itself was not to be had for it.
        refused: bool,
    },
    /// A level with ptrace.
    PtraceLevel,
    /// Records of switches at a level with ptrace.
    SwitchRecords,
    /// Stacks of the kernel, and of where tasks block.
    KernelStacks,
    /// System calls of one operation of a price.
    CallsPerOperation,
    /// What a price list says of its machine.
    Machine,
    /// What an operation costs on a machine.
    Operation {
        /// Name and variant.
        operation: String,
    },
    /// The prices of a probe.
    Probe {
        /// Its name.
        name: String,
    },
}

/// Why something was not measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Obstacle {
    /// The system said so, or something that was started did.
    Said {
        /// In its words.
        text: String,
    },
    /// The measurement ended before it began.
    EndedBefore,
    /// The measurement ended before its first batch, or none of its copies ended.
    NoBatch,
    /// It never ran, so there are no bounds.
    NeverRan,
    /// The time-out ended half or more of its copies at the lowest level, so there are no bounds.
    CopiesTimedOut,
    /// The kernel counted no CPU time for it, so there are no bounds.
    NoCpuTime,
    /// Too few rounds ran for an interval at this confidence.
    TooFewRounds {
        /// Most rounds of any comparison.
        rounds: u32,
        /// Rounds that are needed.
        needed: usize,
    },
    /// No copy ended in them, or they hold a time that cannot be.
    Unusable,
    /// The measurement ended before every alternative had run in them.
    RoundCut,
    /// No round had both the baseline and its hidden copy.
    NoHiddenCopy,
    /// The number of runs was fixed beforehand, and nothing runs besides.
    OnlyFixedRuns {
        /// A warm-up run would tell.
        or_warm_up: bool,
    },
    /// The same, and these runs are too few to be held against each other.
    FewFixedRuns,
    /// The kernel refused a hardware counter.
    CounterRefused {
        /// The error number.
        errno: i32,
    },
    /// It was not counted for some copy.
    NotCounted,
    /// Some batch is too short for the kernel's accounting of CPU time.
    TooShort,
    /// No traced batch of every alternative was run.
    NoTracedBatch,
    /// The machine did not tell, and 1 was taken.
    CpusUnknown,
    /// `/proc/stat` could not be read.
    NoProcStat,
    /// No time was left for the first round.
    NoTime(NoTime),
    /// So many copies do not fit on the machine.
    DoesNotFit(Shortage),
    /// No time was left for a traced batch.
    NoTimeForTrace,
    /// A copy has less CPU time than it takes for the scheduler to give both their turns.
    TooShortForDuets {
        /// CPU time of the shorter one, seconds.
        work_s: f64,
        /// What it takes, seconds.
        least_s: f64,
    },
    /// So many duets as an interval needs would take too much of the time there is.
    NoTimeForDuets {
        /// Seconds that they would take.
        needed_s: f64,
        /// Seconds that they may take.
        allowed_s: f64,
    },
    /// Processes outlived the command, and whose they were cannot be told.
    LeavesProcesses,
    /// The warm-up took half of the time there is.
    WarmUpCut {
        /// Runs that were made.
        done: u32,
        /// Runs that were wanted.
        wanted: u32,
    },
    /// The level of the trace does not see it; the full level does.
    Level {
        /// What the level lacks.
        lacks: Lack,
        /// The full level was tried and is among what was not measured, with what it needs.
        full_listed: bool,
    },
    /// What the kernel adds up for a parent does not say how many processes there were.
    OnlySums,
    /// The tracer did not say what a task had used before its exec, or lost its end.
    LostAtExec,
    /// The kernel shows where page faults and interrupts begin, not where they end.
    NoEndOfFaults,
    /// The machine's speed moved too much during the calibration.
    CalibrationMoved,
    /// The cost of an event was not calibrated.
    NotCalibrated,
    /// No run without tracing was made.
    NoUntracedRun,
    /// Arguments of 32-bit calls are not decoded.
    CompatCalls,
    /// Calls were only counted, as asked.
    OnlyCounted,
    /// The price of a page fault is not known.
    NoFaultPrice,
    /// No system call was entered.
    NoCalls,
    /// System calls were not timed.
    CallsNotTimed,
    /// The cgroup's CPU quota was used up, which looks like a task that may run on one CPU only.
    QuotaUsedUp,
    /// Which CPUs were open to the command is not known.
    OpenCpusUnknown,
    /// Which CPUs are hardware threads of one core is not known.
    CoresUnknown,
    /// Without privileges only stacks of user code that runs are given.
    OnlyUserStacks,
    /// A worker alone tells its system and its clock only.
    WorkerAlone,
    /// This version does not know the probe.
    UnknownProbe,
    /// No sample of a price was taken.
    NoSample,
    /// Every sample of a price was disturbed.
    AllDisturbed {
        /// By an involuntary switch.
        involuntary: u64,
        /// By a migration.
        migration: u64,
        /// By waiting for a CPU.
        delay: u64,
        /// By steal.
        steal: u64,
    },
    /// The fixed cost of a batch is not known well enough, or leaves nothing.
    NotResolvable {
        /// What a batch costs before its first operation, in the unit of the list.
        fixed: f64,
        /// Lower end of its interval.
        low: f64,
        /// Upper end.
        high: f64,
        /// What a whole batch takes.
        batch: f64,
        /// The unit is guest instructions, not nanoseconds.
        instructions: bool,
    },
    /// A batch lasted too few steps of the clock.
    ShortBatch {
        /// Steps that it lasted.
        ticks: f64,
        /// Steps that are needed.
        needed: f64,
    },
    /// So short a time that nothing can have happened.
    NothingHappened {
        /// Nanoseconds of one operation.
        ns: f64,
        /// What one operation is.
        operation: String,
    },
    /// The receipt of a price contradicts what its probe promises.
    Contradicted {
        /// What was counted.
        counted: Counted,
        /// So many of them an operation.
        seen: f64,
        /// The least, or the most, that belong to one.
        promised: f64,
    },
    /// The row is not in this list.
    NotInList,
    /// Neither list tells its spread.
    NoSpread,
    /// The prices, or their floors, differ by no more than noise.
    WithinNoise {
        /// It is the floors that do.
        floor: bool,
        /// Which noise.
        noise: Noise,
    },
    /// The machine was crowded while the dearer list was measured.
    Crowded(Crowd),
    /// No variant of the operation is priced by all lists that price it.
    NoCommonVariant {
        /// What each of them has.
        lists: Vec<Variants>,
    },
    /// The list is in another unit.
    OtherUnit {
        /// Its name.
        unit: String,
    },
}

/// What a receipt counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Counted {
    /// Voluntary context switches.
    VoluntarySwitches,
    /// All context switches.
    Switches,
    /// System calls.
    SystemCalls,
}

/// What two equal prices may differ by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Noise {
    /// What matters (`--delta`).
    Delta,
    /// What a list drifts by itself.
    Drift,
    /// What steps of the clock may explain.
    ClockSteps,
    /// What the speed of the CPU may explain.
    Pace,
}

/// Who had the CPUs while a list was measured.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Crowd {
    /// Share of the CPU time.
    pub share: f64,
    /// It went to other machines, by the hypervisor, and not to other processes.
    pub stolen: bool,
}

/// The variants of an operation that a list prices.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Variants {
    /// Name of the list.
    pub list: String,
    /// The variants.
    pub variants: Vec<String>,
}

/// No time was left for the first round of a level.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NoTime {
    /// What a round takes, seconds.
    pub round_s: f64,
    /// What is left, seconds.
    pub left_s: f64,
    /// `--max-time`, seconds.
    pub max_time_s: f64,
}

/// The limit that allows the fewest copies, and what they would need of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Shortage {
    /// What is limited.
    pub resource: Resource,
    /// The name of the limit, where the machine tells it.
    pub limit: Option<String>,
    /// Copies that were asked for.
    pub copies: u32,
    /// What they would need.
    pub needed: u64,
    /// What there is.
    pub there_is: u64,
    /// The number of copies that still fit.
    pub most_copies: u64,
}

/// What a machine may have too little of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Resource {
    /// Processes and threads.
    Processes,
    /// Memory, bytes.
    Memory,
    /// Open files of the launcher.
    Files,
}

/// What a level of a trace lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Lack {
    /// It sees one child, and what the kernel adds up for it.
    Tree,
    /// It does not stop at system calls.
    Calls,
    /// It sees only execs that work.
    FailedExecs,
    /// It does not see when a task enters the kernel.
    KernelEntries,
    /// It sees switches, but neither wake-ups nor who else runs.
    WakeUps,
    /// It sees no scheduling records.
    Scheduling,
    /// The kernel's account of waiting was not read.
    Schedstat,
}

impl From<String> for Obstacle {
    fn from(text: String) -> Self {
        Self::Said { text }
    }
}

impl From<NoTime> for Obstacle {
    fn from(why: NoTime) -> Self {
        Self::NoTime(why)
    }
}

impl From<Shortage> for Obstacle {
    fn from(why: Shortage) -> Self {
        Self::DoesNotFit(why)
    }
}
