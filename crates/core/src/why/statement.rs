//! What an explanation states, as kinds with their numbers. The texts of the document are made from these, at the edge, and never
//! read again.

use serde::{Deserialize, Serialize};

use super::cause::Cause;
use crate::trace::report::{Direction, PathKind, WorkKind};
use crate::verdict::Ratio;

/// What was counted or timed on both sides of a comparison.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Measure {
    /// Processes made.
    Processes,
    /// Programs begun.
    Programs,
    /// Execs that failed.
    FailedExecs,
    /// Looks at directories of PATH that found nothing.
    FailedLooks,
    /// Reads from pipes.
    PipeReads,
    /// Bytes of each.
    BytesPerPipeRead,
    /// Writes to pipes.
    PipeWrites,
    /// Bytes of each.
    BytesPerPipeWrite,
    /// Reads and writes of files and devices.
    FileCalls,
    /// Bytes of each.
    BytesPerFileCall,
    /// Calls that look up, open or change names and attributes of files.
    NameCalls,
    /// Data through pipes.
    PipeData,
    /// Data of files and devices.
    FileData,
    /// Calls on sockets.
    SocketCalls,
    /// Data through sockets.
    SocketData,
    /// Stages of pipelines.
    Stages,
    /// CPUs kept busy on average.
    CpusBusy,
    /// CPUs that others kept busy.
    CpusOthersBusy,
    /// CPUs that the busiest command ran on.
    CpusOfBusiest,
    /// CPU time.
    CpuTime,
    /// Page faults.
    PageFaults,
    /// Calls for locks.
    LockCalls,
    /// Calls that sleep or poll.
    SleepCalls,
    /// Changes of priority.
    PriorityCalls,
    /// Calls that choose CPUs.
    AffinityCalls,
    /// A part of the critical path.
    Path {
        /// The command.
        command: String,
        /// What it does there.
        part: PathKind,
        /// Beside the kind, as in a row of the path.
        what: Option<String>,
    },
    /// A part of the CPU time.
    Work {
        /// The command.
        command: String,
        /// What it was spent on.
        on: WorkKind,
    },
    /// Waiting for CPUs that comes with what runs.
    Queued,
    /// CPU time of one copy in user mode.
    UserTime,
    /// CPU time of one copy in the kernel.
    SystemTime,
    /// Time for which one copy waits for a CPU.
    CpuWait,
    /// CPU time of one copy by kind.
    CopyWork {
        /// What it was spent on.
        on: WorkKind,
    },
    /// Voluntary context switches of one copy.
    VoluntarySwitches,
    /// Involuntary context switches of one copy.
    InvoluntarySwitches,
}

impl Measure {
    /// Its unit: "" for a count, "s", "B".
    pub(super) fn unit(&self) -> &'static str {
        use Measure::*;
        match self {
            BytesPerPipeRead | BytesPerPipeWrite | BytesPerFileCall | PipeData | FileData | SocketData => "B",
            CpuTime
            | Path { .. }
            | Work { .. }
            | Queued
            | UserTime
            | SystemTime
            | CpuWait
            | CopyWork { .. } => "s",
            _ => "",
        }
    }
}

/// A number of the slower alternative and of the one that it is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pair {
    /// Of the slower one.
    pub here: f64,
    /// Of the other one.
    pub there: f64,
}

/// A file, and its part of a cause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OneFile {
    /// Reading or writing.
    pub direction: Direction,
    /// Its path.
    pub path: String,
    /// The part, from 0 to 1.
    pub share: f64,
}

/// What a finding states of its cause, beside the seconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Fact {
    /// It makes more processes.
    MoreProcesses {
        /// How many.
        processes: Pair,
    },
    /// It begins more programs.
    MorePrograms {
        /// How many.
        programs: Pair,
    },
    /// It makes as many processes, and each costs more.
    DearerProcesses {
        /// As many, and not just about as many.
        equal: bool,
        /// The command that does most of it.
        command: Option<String>,
    },
    /// It looks into more directories of PATH that do not have the program.
    PathSearch {
        /// How often.
        misses: Pair,
    },
    /// Its programs take longer to load and start.
    Startup {
        /// The command that does most of it.
        command: Option<String>,
    },
    /// It moves its data in more calls.
    SmallIo {
        /// Which calls: reads and writes of files, reads from pipes, writes to pipes.
        calls: Measure,
        /// How many.
        number: Pair,
        /// Bytes of each.
        bytes: Pair,
    },
    /// It copies more data through pipes.
    MorePipeData {
        /// Bytes.
        bytes: Pair,
    },
    /// It copies as much data through pipes, and that takes longer.
    DearerPipes,
    /// The other one does several things at the same time.
    Overlap {
        /// CPUs busy on average.
        cpus: Pair,
        /// The stage that sets the pace of the other one.
        bottleneck: Option<String>,
    },
    /// It waits before it goes on, where the other one goes on or waits for several things at the same time.
    WaitsInTurn {
        /// The command that waits, where it is known.
        command: Option<String>,
    },
    /// It computes longer.
    Compute {
        /// The command that does most of it.
        command: Option<String>,
        /// How often each starts that command, where most of the computing is what each start repeats.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        starts: Option<Pair>,
    },
    /// It touches more memory.
    PageFaults {
        /// New pages.
        pages: Pair,
    },
    /// It has more work with files in the kernel.
    Files {
        /// Calls for names and attributes, where these are most of it; else it is the data.
        names: Option<Pair>,
        /// The command that does most of it.
        command: Option<String>,
        /// The file whose data is half of it or more, where the calls were timed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        file: Option<OneFile>,
    },
    /// It makes more calls that do little each, or as many that take longer.
    Calls {
        /// The call of which it makes the most more. `None`: it makes more of none.
        call: Option<String>,
        /// The error with which nearly all of these end.
        error: Option<String>,
        /// How often.
        number: Pair,
    },
    /// It has more system time, of which no count tells what for.
    Kernel,
    /// A disk costs it more: waiting, and the kernel's code for it.
    Disk {
        /// Of that: waiting, seconds. Absent in older records.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        waits_s: Option<f64>,
        /// The command that does most of it.
        command: Option<String>,
    },
    /// Locks cost it more: waiting, and the kernel's code for it.
    Lock {
        /// Of that: waiting, and getting a CPU after it, seconds. Absent in older records and where counts alone tell it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        waits_s: Option<f64>,
        /// Who held most of them.
        holder: Option<String>,
    },
    /// It is longer in calls that sleep, poll or yield.
    Sleep {
        /// Of that: waiting, and getting a CPU after it, seconds. Absent in older records and where counts alone tell it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        waits_s: Option<f64>,
        /// The command that does most of it.
        command: Option<String>,
    },
    /// It waits longer for CPUs that others have.
    CpuContention {
        /// Who had them, the longest first.
        holders: Vec<String>,
        /// Others kept as many CPUs busy for both: it waits longer because it runs longer.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        both: bool,
    },
    /// It waits longer for CPUs that the hypervisor gave to others.
    Stolen,
    /// It confines itself to fewer CPUs, where its parts take turns.
    Confined {
        /// CPUs that its busiest command ran on.
        cpus: Pair,
    },
    /// It waits for a CPU while another one stands idle.
    Misplacement {
        /// Who had the CPU.
        holder: Option<String>,
        /// It is not allowed to run on the idle one.
        forbidden: bool,
    },
    /// The quota of its cgroup is used up.
    Throttled,
    /// It runs with a lower priority beside others.
    LowPriority,
    /// Sockets cost it more: waiting for who is at their other ends, and the kernel's code for them.
    Network {
        /// Of that: waiting, and getting a CPU after it, seconds. Absent in older records and where counts alone tell it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        waits_s: Option<f64>,
        /// Most of its calls on sockets are on local ones (unix(7)).
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        local: bool,
        /// The command that does most of it.
        command: Option<String>,
    },
    /// No known cause has this time.
    Unexplained {
        /// The row that differs most.
        most: Option<Measure>,
        /// By how many seconds.
        seconds: f64,
    },
    /// The same, of a cause that an experiment refuted.
    Refuted {
        /// That cause.
        cause: Cause,
    },
}

/// Why nothing is explained, or not this pair.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Refusal {
    /// The traces have no critical path.
    NoPath,
    /// No copy ran alone.
    NoCopyAlone,
    /// There is no round in which both ran alone.
    NoCommonRound {
        /// The two.
        of: [String; 2],
    },
    /// None of its observed runs came to its end.
    NoTrace {
        /// The alternative.
        of: String,
    },
    /// None of its observed runs has a critical path.
    NoUsableTrace {
        /// The alternative.
        of: String,
        /// Observed runs.
        runs: usize,
    },
    /// Traces lost records.
    Lossy {
        /// The alternative.
        of: String,
        /// How many of them.
        lossy: usize,
        /// None is left.
        all: bool,
    },
    /// Both take the same time.
    Same {
        /// The two.
        of: [String; 2],
    },
    /// The rounds do not tell which is faster.
    Undecided {
        /// The two.
        of: [String; 2],
    },
    /// Observed, the other one is faster.
    OtherOrder {
        /// The two.
        of: [String; 2],
        /// How far apart they are when observed.
        seconds: f64,
    },
    /// Observing costs more than the difference, and the calibration does not say where.
    DearerToObserve {
        /// The two.
        of: [String; 2],
        /// What observing costs more for one of them.
        cost_s: f64,
        /// The difference.
        difference_s: f64,
    },
    /// There is one command only.
    OneCommand,
    /// Copies come by the clock.
    OpenMode,
    /// No level has one copy alone.
    NoLevelOfOne,
    /// No alternative is faster or slower than the baseline when it runs alone.
    NothingDiffers,
    /// What the full level of tracing needs is missing.
    Needs {
        /// Each thing, with its remedy.
        missing: Vec<Missing>,
        /// The explanation was asked for.
        asked: bool,
    },
    /// The time was over before it began.
    NoTime,
    /// It was interrupted.
    Interrupted,
    /// No run could be observed: why.
    NotObserved {
        /// Why.
        why: RoundsLeftOut,
    },
    /// An error ended it.
    Ended {
        /// What the error says.
        error: String,
        /// What it suggests.
        hint: Option<String>,
    },
}

impl Refusal {
    /// It is about these two, whether it names them or all of a measurement.
    pub fn is_about(&self, two: [&String; 2]) -> bool {
        match self {
            Self::NoCommonRound { of }
            | Self::Same { of }
            | Self::Undecided { of }
            | Self::OtherOrder { of, .. }
            | Self::DearerToObserve { of, .. } => two.iter().all(|name| of.contains(name)),
            Self::NoTrace { of } | Self::NoUsableTrace { of, .. } | Self::Lossy { of, .. } => {
                two.contains(&of)
            }
            Self::NoPath
            | Self::NoCopyAlone
            | Self::OneCommand
            | Self::OpenMode
            | Self::NoLevelOfOne
            | Self::NothingDiffers
            | Self::Needs { .. }
            | Self::NoTime
            | Self::Interrupted
            | Self::NotObserved { .. }
            | Self::Ended { .. } => true,
        }
    }
}

/// What this machine or user lacks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Missing {
    /// What.
    pub what: String,
    /// Why it is missing.
    pub why: String,
    /// How it can be had; what stands before the command where there is one.
    pub remedy: String,
    /// The line of a shell that gives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// Why fewer rounds were observed than wanted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RoundsLeftOut {
    /// The time was over.
    NoTime {
        /// Rounds that were made.
        made: u32,
        /// Rounds that were asked for, if any were.
        asked: Option<u32>,
        /// The time was limited by --max-time.
        hard: bool,
    },
    /// The time was over before the causes were known well enough.
    Unsettled {
        /// Rounds that were made.
        made: u32,
        /// How far the interval of a cause reaches to either side, as a part of the difference; null: none has one.
        reach: Option<f64>,
        /// Rounds that would be enough, about.
        rounds: u32,
        /// What the additional ones take, seconds.
        seconds: f64,
        /// The time was limited by --max-time.
        hard: bool,
    },
    /// A run could not be made.
    CannotRun {
        /// What the runner says.
        why: String,
    },
}

/// What of an explanation was left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum LeftOut {
    /// Observed rounds.
    Rounds {
        /// Why.
        why: RoundsLeftOut,
    },
    /// Observed batches, in another mode than batch.
    BatchMode {
        /// The highest load.
        load: u32,
    },
    /// The observed batches of one alternative.
    Batch {
        /// The alternative.
        of: String,
        /// Copies at once.
        load: u32,
        /// Why.
        why: BatchLeftOut,
    },
    /// Experiments: the end came before.
    Experiments {
        /// So many were made.
        made: usize,
        /// Of so many.
        of: usize,
    },
    /// Prices of operations.
    Prices {
        /// What the probes say.
        why: String,
    },
    /// All that was to follow: it was interrupted.
    Rest,
}

/// Why a batch was not observed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum BatchLeftOut {
    /// It has more processes than can be followed.
    Processes {
        /// So many.
        processes: f64,
        /// The most.
        most: f64,
    },
    /// The time would not suffice.
    NoTime {
        /// What it takes, seconds.
        takes_s: f64,
        /// What was left.
        left_s: f64,
    },
    /// It could not be run.
    CannotRun {
        /// What the runner says.
        why: String,
    },
}

/// Who is faster, why, and what changes when many run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Answer {
    /// The alternative that takes longer; where the rounds do not tell, the one that needs more CPU time.
    pub slower: String,
    /// How many times as long, by the verdict: a median over the rounds. Absent in older records, and without a verdict.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// Lower end of its interval. Absent in older records, and where there are too few rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio_low: Option<f64>,
    /// Upper end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio_high: Option<f64>,
    /// The other one.
    pub faster: String,
    /// Median wall times of the untraced runs.
    pub seconds: Pair,
    /// The ratio of these two is not that of the verdict, which is a median over the rounds.
    pub about: bool,
    /// Why.
    pub because: Because,
    /// What is said next.
    pub then: Option<Then>,
    /// Once the CPUs are full, the answer is another one or cannot be told from equal.
    pub load_decides: bool,
}

impl Answer {
    /// How many times as long the slower one takes, with the interval; of records without a verdict by the median times.
    pub fn time(&self) -> Ratio {
        let ratio = self.ratio.unwrap_or(self.seconds.here / self.seconds.there);
        Ratio { ratio, low: self.ratio_low, high: self.ratio_high }
    }
}

/// Why an alternative takes longer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Because {
    /// Noise may hide why.
    Noise {
        /// So far it reaches, seconds.
        seconds: f64,
        /// The part of the CPUs that others kept busy meanwhile. `None`: not known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        others: Option<f64>,
    },
    /// None of the known causes explains it.
    Unknown,
    /// No cause is known, and the slower one needs more CPU time, which is half of the difference or more.
    MoreWork(MoreCpuTime),
    /// The rounds do not tell which of the two is faster. They tell which needs more CPU time, and the observed ones for what.
    CpuTime {
        /// How much, and for what.
        #[serde(flatten)]
        work: MoreCpuTime,
        /// The part of the CPUs that others kept busy meanwhile. `None`: not known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        others: Option<f64>,
    },
    /// It is on no CPU for so much longer, and nothing shows for what it waits.
    Waits {
        /// So much longer, seconds.
        seconds: f64,
    },
    /// The faster one keeps more CPUs busy: it does things at the same time that the slower one does one after the other.
    Overlap {
        /// CPUs busy on average.
        cpus: Pair,
    },
    /// One cause has so much of the difference.
    Cause {
        /// Its place among the findings.
        finding: usize,
        /// The difference: the median over the rounds, seconds.
        whole_s: f64,
        /// That is also the difference of the two times.
        agrees: bool,
    },
    /// One cause has more than the whole difference.
    MoreThanAll {
        /// Its place among the findings.
        finding: usize,
        /// The place of the finding that works against it.
        against: Option<usize>,
    },
}

/// CPU time that one of two needs more than the other.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MoreCpuTime {
    /// How much, seconds.
    pub seconds: f64,
    /// The kind of work that took half of it or more in the observed runs.
    pub on: Option<WorkKind>,
    /// Seconds of it in user mode, by the timed runs. It exceeds `seconds` if the other one has more in the kernel. `None`: the clock does not
    /// tell them apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_s: Option<f64>,
}

/// The second sentence of an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Then {
    /// The next cause.
    Cause {
        /// Its place among the findings.
        finding: usize,
    },
    /// What an experiment showed.
    Experiment {
        /// Its place among the experiments.
        experiment: usize,
    },
    /// So much is not explained.
    Unexplained {
        /// Seconds.
        seconds: f64,
    },
    /// Observing the two took longer than their difference: the cause is known by counts and CPU time, its seconds are only about right.
    ByCounts {
        /// So much longer, seconds.
        cost_s: f64,
    },
    /// The cause is told by counts and the times of timed runs, and was not observed.
    NotObserved {
        /// Its place among the findings.
        finding: usize,
    },
    /// No cause is known, but the slower one needs more CPU time.
    MoreWork(MoreCpuTime),
}

/// Which of two alternatives wins alone, and which once the CPUs are full.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Deciding {
    /// The one with the shorter span.
    pub quicker: String,
    /// The other one.
    pub slower: String,
    /// Seconds that a copy alone takes from beginning to end: of the quicker one, and of the other one.
    pub spans_s: (f64, f64),
    /// CPU seconds of a copy: of the quicker one, and of the other one.
    pub works_s: (f64, f64),
    /// CPUs that copies have.
    pub cpus: f64,
    /// What the CPU times say.
    pub work: WorkTold,
    /// The load from which on the answer is another one, where that was measured or can be predicted.
    pub from: Option<FlipLoad>,
    /// What most of the difference of the CPU times was spent on.
    pub kinds: Vec<WorkKind>,
}

/// What the rounds say of two CPU times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum WorkTold {
    /// The quicker one also needs less: it stays ahead.
    StaysAhead,
    /// The quicker one needs more: the other one wins once the CPUs are full.
    Flips,
    /// Both need the same.
    Same,
    /// The rounds do not tell.
    Undecided,
}

/// The load at which an answer changes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum FlipLoad {
    /// Seen between these two loads.
    Measured {
        /// The lower one.
        from: u32,
        /// The higher one.
        to: u32,
    },
    /// Predicted from span and work.
    Predicted {
        /// Copies at once.
        load: f64,
        /// Lower end of the interval of that.
        #[serde(default)]
        low: Option<f64>,
        /// Upper end.
        #[serde(default)]
        high: Option<f64>,
    },
}

/// From what a makespan was predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PredictedFrom {
    /// The level with full CPUs that says what a copy takes there; null: a lower bound from span and work alone.
    pub level: Option<u32>,
    /// The rounds are too few for an interval.
    pub few_rounds: bool,
}

/// How the CPU time of a copy changes with load.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CopyCost {
    /// CPU seconds of a copy at the lowest load, and at the highest.
    pub seconds: (f64, f64),
    /// How that changes.
    pub trend: Trend,
    /// Where most of what it grows by falls.
    pub most: Option<GrowsIn>,
    /// Seconds for which a copy waits for a CPU at the lowest load and at the highest, where that grows.
    pub waits_s: Option<(f64, f64)>,
}

/// Which way a cost goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Trend {
    /// It grows.
    Grows,
    /// It falls.
    Falls,
    /// It stays about the same.
    Stays,
}

/// Where CPU time grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum GrowsIn {
    /// In the programs' own code.
    User,
    /// In the start-up of programs.
    Startup,
    /// In the kernel, for these kinds of work where they are known.
    Kernel {
        /// The kind that has most of it.
        on: Option<WorkKind>,
        /// The second one, where the first has less than half.
        also: Option<WorkKind>,
    },
}

/// Why the kernel's time is not told by kind though batches were traced.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum KindsUnknown {
    /// Records were lost.
    Lossy,
    /// No run of one copy alone could be observed.
    NotAlone,
    /// The kernel counted no CPU time of the untraced runs.
    NoCpuTime,
    /// The kinds differ by less than what is not known of them.
    Uncertain {
        /// What is not known of a copy's CPU time, seconds.
        unsure_s: f64,
        /// By how much the kinds differ.
        differ_s: f64,
    },
}
