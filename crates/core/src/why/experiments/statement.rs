//! What an experiment states, as kinds with their numbers: what is changed, why something cannot be tested, what came out.

use serde::{Deserialize, Serialize};

/// What is changed, everything else the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Edit {
    /// Every sleep in the command line is of no length.
    NoSleep,
    /// One sleep is as long as that of the other alternative.
    ShorterSleep {
        /// The word that it was.
        from: String,
        /// The word that it is.
        to: String,
    },
    /// The command line sleeps as long as the other one in all.
    SleepsAsOther,
    /// It runs in the real-time class.
    RealTime,
    /// `nice` leaves the priority as it is.
    NoNice,
    /// It runs in the session of all.
    SharedSession,
    /// It runs in a session of its own.
    OwnSession,
    /// What it reads is in memory before it begins.
    WarmCache,
    /// These files leave the page cache before it begins.
    ColdFiles {
        /// Which.
        files: Vec<String>,
    },
    /// It searches for programs where the other one does.
    PathOfOther,
    /// PATH names only the directories in which its programs are.
    ShortPath,
    /// Its options ask for large pieces.
    LargePieces,
    /// stdbuf gives its programs large buffers.
    LargeBuffers {
        /// Of so many bytes.
        bytes: u64,
    },
    /// stdbuf makes its programs write every line at once.
    LineBuffers,
    /// The stages that only copy are left out.
    NoCopies,
    /// Its pipes hold so much.
    PipeSize {
        /// Bytes.
        bytes: u64,
        /// More than usual, and not less.
        larger: bool,
    },
    /// All of it may run on one CPU only.
    OneCpu {
        /// Which.
        cpu: u32,
        /// It has several parts that ran elsewhere before.
        all: bool,
    },
    /// taskset lets it run on these CPUs.
    MoreCpus {
        /// Which.
        cpus: Vec<u32>,
    },
    /// Each of its stages may run on a CPU of its own only.
    StagesApart {
        /// Which, in the order of the stages.
        cpus: Vec<u32>,
    },
    /// Processes run before it.
    ProcessesBefore {
        /// What is run, and how often.
        each: Vec<Repeated>,
        /// What is run in place of another program without a process more, against that one alone.
        in_place: Option<InPlace>,
        /// So many at once.
        at_once: u64,
    },
    /// Start-ups of one program run before it, against as many of another one.
    StartsBefore {
        /// What is run, and how often.
        each: Repeated,
        /// What runs in its place otherwise.
        against: String,
        /// So many at once.
        at_once: u64,
    },
    /// The loader binds all symbols at once, or not.
    BindNow {
        /// At once.
        set: bool,
    },
}

/// Words for a shell that are run several times.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Repeated {
    /// How often.
    pub times: u64,
    /// The words.
    pub words: String,
}

/// A program in the place of another one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InPlace {
    /// The program before, and how often.
    pub each: Repeated,
    /// What is run alone otherwise.
    pub against: String,
}

/// Why a cause cannot be tested.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Untestable {
    /// Computing cannot be taken out of a program.
    Computes,
    /// What a program does with files cannot be left out from outside.
    Files,
    /// The calls that a program makes cannot be left out from outside.
    Calls,
    /// The memory that a program uses cannot be taken from it.
    UsesMemory,
    /// A lock cannot be left out.
    Locks,
    /// The other end of the network is not under control.
    Network,
    /// There is no cause.
    NoCause,
    /// The program sleeps by itself.
    SleepsItself,
    /// The command line sleeps only a part; a script or a program sleeps the rest.
    SleepsElsewhere {
        /// What the line sleeps longer than the other one, seconds.
        seconds: f64,
    },
    /// It is not known how long the other one sleeps.
    OtherSleepUnknown,
    /// The command line does not say that it sleeps longer.
    SleepNotLonger,
    /// Commands cannot be given real-time priority: why.
    NoRealTime {
        /// What denies it.
        why: String,
    },
    /// Both wait for CPUs that others have.
    BothWaitForCpus,
    /// Real-time tasks leave about as much to others as it waits.
    LeftToOthers,
    /// The hypervisor gives the CPUs to others.
    Stolen,
    /// The quota belongs to the cgroup.
    Quota,
    /// What gives it less of the CPUs does not stand in the command line.
    ShareElsewhere,
    /// It waits until data is written.
    WriteBack,
    /// Both wait for the disk.
    BothWaitForDisk,
    /// It is not known where the programs are.
    ProgramsUnknown,
    /// The program chooses the size of its pieces itself.
    OwnPieces,
    /// Other programs move the small pieces than those whose pieces the line sets.
    PiecesElsewhere,
    /// The command line is no plain pipeline.
    NoPipeline,
    /// Every stage does something to the data.
    EveryStageWorks {
        /// The pipes hold all of it as they are.
        fits: bool,
    },
    /// There is one CPU, on which nothing overlaps.
    OneCpu,
    /// What is waited for can be put one after the other by whoever wrote the command only.
    WaitsInTurn,
    /// There is no other CPU.
    NoOtherCpu,
    /// Both make as many processes.
    AsManyProcesses,
    /// A program was not found that takes the place of others.
    ProgramMissing {
        /// Its name.
        program: String,
    },
    /// There is no program to put processes in with.
    NoWrapper,
    /// No program stands out by its start-up.
    NoStartStandsOut,
    /// A program is not known to start without doing its work.
    StartUnknown {
        /// Its name.
        program: String,
    },
    /// The other one starts nothing in its place.
    NothingInItsPlace {
        /// The program.
        program: String,
    },
    /// How the start-ups differ does not stand in the command lines.
    StartsElsewhere {
        /// The program.
        program: String,
    },
    /// Both start it with the same options.
    SameStart {
        /// The program.
        program: String,
    },
    /// The time was over.
    NoTime {
        /// Rounds that it needs.
        rounds: u32,
        /// What these would take, seconds.
        seconds: f64,
    },
    /// It could not be run.
    CannotRun {
        /// What the runner says.
        why: String,
    },
}

/// What came out of an experiment, beside its outcome.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Shown {
    /// Nothing: it cannot be tested.
    NotTestable {
        /// Why.
        why: Untestable,
    },
    /// Nothing: the time was over before it ran.
    NotRun,
    /// Nothing: it was interrupted.
    Interrupted,
    /// The difference went with the cause.
    Confirmed,
    /// It stayed.
    Refuted,
    /// More went than the cause.
    TooMuch,
    /// The rounds are too few to tell.
    FewRounds,
    /// The change need not remove the cause.
    MayStay,
    /// The rounds do not tell.
    Unclear,
}

/// The machine was not as fast in an experiment as before it: what the unchanged command took, seconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pace {
    /// In the experiment.
    pub now_s: f64,
    /// Before.
    pub before_s: f64,
}
