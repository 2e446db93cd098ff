//! What to know before believing a number: each warning is a kind with its numbers. The text and the remedy are made at the
//! edge; a record holds both, and one from before the kinds were written holds the text alone.

use serde::{Deserialize, Serialize};

use crate::plan::Mode;
use crate::sample::Io;
use crate::trace::check::CheckKind;

/// Something the reader should know before believing a number.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Warning {
    /// What it is, with its numbers; absent in a record of an earlier version.
    #[serde(flatten)]
    pub caution: Option<Caution>,
    /// What was seen, in English.
    pub what: String,
    /// What to do about it, in English.
    pub remedy: String,
}

impl From<Caution> for Warning {
    /// Its text is made at the edge.
    fn from(caution: Caution) -> Self {
        Self { caution: Some(caution), ..Self::default() }
    }
}

/// The loads of a comparison at which something is so.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// Copies, or workers.
    Loads(Vec<u32>),
    /// Starts a second, in open mode: there are no loads.
    Rate(f64),
}

impl Place {
    /// These loads of a measurement in this mode.
    pub fn of(mode: Mode, loads: Vec<u32>) -> Self {
        match mode {
            Mode::Open { rate_per_s, .. } => Self::Rate(rate_per_s),
            Mode::Batch | Mode::Closed { .. } => Self::Loads(loads),
        }
    }
}

/// A setting of the machine that is a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Setting {
    /// The frequency governor.
    Governor,
    /// The clock source of the kernel.
    ClockSource,
    /// Transparent huge pages.
    HugePages,
}

/// What a warning is about, with its numbers. Times are seconds, shares are fractions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Caution {
    /// A command does less when its output goes to `/dev/null` than when somebody reads it; so all wrote into a pipe.
    DoesLessUnread {
        /// The alternative.
        alternative: String,
        /// Others that do as much less.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        others: Vec<String>,
        /// What it reads and writes when its output goes to `/dev/null`.
        unread: Io,
        /// What it reads and writes when its output goes into a pipe.
        read: Io,
    },
    /// Two alternatives print something else.
    OutputsDiffer {
        /// The alternative.
        alternative: String,
        /// One that ran before it.
        before: String,
        /// The byte and the line of the first difference, from 1. Null: it lies beyond the part that is kept.
        place: Option<(u64, u64)>,
        /// The line that the one before printed there.
        first: String,
        /// The line that the alternative printed there.
        other: String,
        /// Those of the two whose output differs from run to run.
        vary: Vec<String>,
    },
    /// Alternatives that differ only by a parameter run the same command line.
    ParameterUnused {
        /// The parameter.
        parameter: String,
    },
    /// The winner reads far less than the loser.
    ReadsFarLess {
        /// The one that took less time.
        winner: String,
        /// The other one.
        loser: String,
        /// Bytes that one copy of the winner reads.
        winner_bytes: u64,
        /// Bytes that one copy of the loser reads.
        loser_bytes: u64,
        /// Their output went to `/dev/null`, and nothing showed what the winner does when somebody reads it.
        unread: bool,
    },
    /// The baseline differs from its own hidden copy.
    HiddenCopyDiffers {
        /// Where; null where only all levels together show it.
        at: Option<Place>,
    },
    /// Span and work come from copies that arrived by the clock, perhaps while others ran.
    SpanByTheClock,
    /// Copies start faster than they end, so that each waits longer than the one before.
    RateNotKept {
        /// The alternative.
        alternative: String,
        /// Starts a second that were asked for.
        rate_per_s: f64,
        /// Copies that ended a second, to the end of the last one.
        ended_per_s: f64,
    },
    /// No level ran one copy alone, so the span holds waiting for the CPU.
    SpanUnderLoad {
        /// The lowest load.
        load: u32,
    },
    /// One round carries no uncertainty.
    SingleRound {
        /// Where only one ran.
        at: Place,
    },
    /// An alternative was decided early, and the machine has changed since: its times are not those of the others' rounds.
    OtherRounds {
        /// The alternative.
        alternative: String,
        /// In how many rounds it ran.
        rounds: u32,
        /// In how many the baseline did.
        of: u32,
        /// The baseline.
        baseline: String,
        /// So many times as long as in those rounds the baseline takes over all.
        change: f64,
        /// Where.
        at: Place,
    },
    /// The median and the sum over all rounds say opposite things, both surely.
    TailsOppose {
        /// The alternative.
        alternative: String,
        /// The baseline.
        baseline: String,
        /// Where.
        at: Place,
    },
    /// On a full machine, the winner got more of it and did no less.
    MoreShareNotLessWork {
        /// The one that took less time.
        winner: String,
        /// The other one.
        loser: String,
        /// Where.
        at: Place,
        /// Winner over loser in time.
        time: f64,
        /// Winner over loser in CPU time.
        work: f64,
        /// Winner over loser in share of the machine.
        share: f64,
    },
    /// The interval excludes 1, but the hidden copy differs from the baseline by as much.
    BelowFloor {
        /// The alternative.
        alternative: String,
        /// The baseline.
        baseline: String,
        /// Where.
        at: Place,
    },
    /// The difference is so small that the layout of the programs in memory can make it.
    MaybeLayout {
        /// The alternative.
        alternative: String,
        /// The baseline.
        baseline: String,
        /// Where.
        at: Place,
        /// What it is below.
        below: f64,
    },
    /// The winner changes more than once with the load.
    FlipsBack {
        /// The alternative.
        alternative: String,
        /// How often.
        flips: usize,
    },
    /// The first run took far longer than each later one.
    FirstRunSlower {
        /// The alternative.
        alternative: String,
        /// Seconds of the first run.
        first_s: f64,
        /// Seconds of a later run, median.
        later_s: f64,
    },
    /// The runs of one copy alone fall into two groups.
    RunsInGroups {
        /// The alternative.
        alternative: String,
        /// The number of runs in the slow group.
        slow: u32,
        /// The number of runs in both groups.
        of: u32,
        /// Seconds of a run in the slow group, median.
        slow_s: f64,
        /// Seconds of a run in the other group, median.
        others_s: f64,
    },
    /// Two alternatives run the same command line, and differ in their hooks only.
    HooksDiffer {
        /// The alternative.
        alternative: String,
        /// The baseline.
        baseline: String,
    },
    /// The time-out ended copies.
    TimedOut {
        /// The alternative.
        alternative: String,
        /// They were copies of its hidden copy.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        hidden: bool,
        /// How many copies.
        copies: u64,
        /// Where.
        at: Place,
    },
    /// Copies ended with a status other than 0.
    Failed {
        /// The alternative.
        alternative: String,
        /// How many copies.
        copies: u64,
        /// Where.
        at: Place,
    },
    /// Processes outlived the copy that they came from.
    Outlived {
        /// The alternative.
        alternative: String,
        /// How many processes.
        processes: u64,
        /// How many of them had to be ended.
        ended: u64,
        /// Where.
        at: Place,
    },
    /// Processes that a copy started were left running.
    LeftRunning {
        /// The alternative.
        alternative: String,
        /// How many processes.
        processes: u64,
        /// Where.
        at: Place,
    },
    /// Mean latency times throughput is not the number of workers.
    LittlesLaw {
        /// The alternative.
        alternative: String,
        /// By more than this fraction.
        beyond: f64,
        /// Where.
        at: Place,
    },
    /// The hypervisor gave CPU time to others while batches ran.
    StealDuringBatches {
        /// Of the machine's CPU time.
        share: f64,
    },
    /// What is not the copies used CPU time while batches ran.
    OthersDuringBatches {
        /// Of the machine's CPU time.
        share: f64,
    },
    /// A setting changed during the measurement.
    SettingChanged {
        /// Which.
        setting: Setting,
        /// Before the first run.
        before: String,
        /// After the last run.
        after: String,
    },
    /// The clock of the fastest CPU moved.
    ClockMoved {
        /// Before the first run.
        before_khz: u64,
        /// After the last run.
        after_khz: u64,
    },
    /// The CPUs that may be used changed.
    CpusChanged {
        /// Before the first run.
        before: Vec<u32>,
        /// After the last run.
        after: Vec<u32>,
    },
    /// The CPU quota of the cgroup changed.
    QuotaChanged {
        /// CPUs that it paid for before the first run; null: no quota.
        before: Option<f64>,
        /// CPUs that it paid for after the last run; null: no quota.
        after: Option<f64>,
    },
    /// `kernel.sched_autogroup_enabled` was switched.
    AutogroupSwitched {
        /// Whether it was on after the last run.
        on: bool,
    },
    /// The CPU quota of the cgroup stopped its tasks.
    Throttled {
        /// How often.
        times: u64,
        /// CPUs that the quota pays for.
        quota_cpus: Option<f64>,
    },
    /// More processes of others were runnable after the last run than before the first.
    LoadRose {
        /// Before the first run.
        before: u32,
        /// After the last run.
        after: u32,
    },
    /// Tasks of others waited for a CPU before the first run.
    Pressure {
        /// Percent of the time (PSI).
        percent: f64,
    },
    /// Records or counters of a trace were lost, or came too late.
    Lost {
        /// How many.
        records: u64,
    },
    /// Paths or stacks could not be read. Counts and times have all of what they belong to.
    NamesUnread {
        /// Paths: their page was not in memory, or they were too long.
        paths: u64,
        /// Stacks.
        stacks: u64,
    },
    /// Two sums of a trace that must agree do not.
    CheckFailed {
        /// Which.
        check: CheckKind,
        /// The one.
        left: f64,
        /// The other.
        right: f64,
    },
    /// Events came late and count as if they came on time.
    Late {
        /// How many.
        events: u64,
    },
    /// No program of the tree was seen to begin.
    NothingBegan,
    /// Tasks that were left at the end, of which nothing tells what they had used.
    TasksUntold {
        /// How many.
        tasks: u64,
    },
    /// Tasks had more different sets of allowed CPUs than are told apart.
    AffinitiesUntold {
        /// How many tasks.
        tasks: u64,
    },
    /// The tree uses `io_uring`, whose work is no system call.
    IoUring,
    /// The hypervisor gave CPU time to others while a command was observed.
    StealDuringTrace {
        /// CPU time.
        seconds: f64,
    },
    /// The CPU quota of a cgroup was used up while a command was observed.
    QuotaUsedUp {
        /// How often.
        times: u64,
    },
    /// The kernel did not show who held the CPU that a task waited for.
    HolderUnknown {
        /// Of the waiting.
        seconds: f64,
        /// All waiting for a CPU.
        of_s: f64,
    },
    /// A program ran without the rights of its file: the kernel takes them from what is traced by ptrace.
    WithoutRights {
        /// Its path.
        program: String,
    },
    /// The command died of Ctrl-C, and what came from the key on had been explained before that showed.
    InterruptSeenLate,
    /// A worker's list of prices ends in the middle.
    PartialList,
    /// A place that was measured in takes a wish for a CPU and does not keep it.
    PinNotKept,
    /// The kernel of the place is this machine's own: prices show what the translator adds.
    OnlyTheTranslator,
    /// Prices are counted instructions, which say nothing of what one costs.
    OnlyInstructions,
    /// Prices are times of an emulator.
    TimesOfAnEmulator,
}

impl Caution {
    /// Whether it says that the commands may not do the same work: then it goes before all that is said of their times.
    pub fn is_of_unequal_work(&self) -> bool {
        matches!(self, Self::DoesLessUnread { .. } | Self::ReadsFarLess { .. })
    }
}
