//! What became of a claim, and the numbers that decided it.

use serde::Serialize;

use crate::missing::Obstacle;
use crate::price::paired::Lacking;
use crate::price::sum::{Doubt, SumCheck};
use crate::studied::LeftOut;
use crate::trace::tally::Quantity;
use crate::verdict::{Ratio, Verdict};

/// The outcome of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It holds here.
    Holds,
    /// It does not hold here.
    DoesNotHold,
    /// The measurements do not decide it.
    Undecided,
    /// This run was not to measure what it is about.
    NotAsked,
}

/// A claim as this machine sees it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judgement {
    /// The claim's number.
    pub number: u32,
    /// The claim in words.
    pub text: String,
    /// The outcome on this machine.
    pub outcome: Outcome,
    /// The evidence that decided it, or the reason why nothing did.
    pub evidence: Evidence,
    /// The claim shows on a machine that has these, and this one does not. Empty if the claim holds or was not asked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lacks: Vec<Lack>,
}

/// A property that a claim needs and this machine lacks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Lack {
    /// The commands can use so many CPUs here, and need so many.
    Cpus {
        /// Here.
        here: f64,
        /// At least.
        needed: u32,
    },
    /// Threads of the kernel work for no read here.
    KernelReads,
}

/// The evidence that decided a claim, or the reason why it is undecided.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind", content = "of")]
pub enum Evidence {
    /// Nothing of what the claim is about was measured.
    NotMeasured,
    /// The claim is about a command that cannot run here.
    LeftOut(LeftOut),
    /// There is no comparison at a load.
    NotCompared(NotCompared),
    /// The comparisons at these loads.
    Compared(Vec<AtLoad>),
    /// The change of the ratio from one load to a higher one.
    Step(Step),
    /// So many levels were compared, and so many are needed.
    FewLevels(usize, usize),
    /// This command was not traced.
    NotTraced(String),
    /// Too many of the traced runs tell nothing.
    SilentTraces(SilentTraces),
    /// The counts of the traces.
    Traced(Traced),
    /// A row has no price.
    NoPrice(NoPrice),
    /// A row against others, in their order.
    Ordered(Vec<Against>),
    /// Parts against their whole.
    Sum(SumCheck),
    /// The system calls of an operation of this row; null: they were not counted.
    Syscalls(String, Option<f64>),
    /// A row here over the same row of the list of this name.
    OverReference(String, Ratio),
    /// This row has no price in the list of this name.
    NotInReference(String, String),
}

/// Why there is no comparison at a load.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NotCompared {
    /// The load.
    pub load: u32,
    /// Returns true if it was measured, but never both commands in one round.
    pub measured: bool,
    /// Why it was not measured, where that is known.
    pub reason: Option<Obstacle>,
}

impl NotCompared {
    /// Returns true if the run was to measure this load. If it could not, there is a reason.
    pub fn asked(&self) -> bool {
        self.measured || self.reason.is_some()
    }
}

/// A comparison at a load.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AtLoad {
    /// The load.
    pub load: u32,
    /// The verdict.
    pub verdict: Verdict,
    /// Alternative over baseline.
    #[serde(flatten)]
    pub ratio: Ratio,
}

/// The change of the ratio from one load to a higher one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Step {
    /// The comparisons at both.
    pub levels: [AtLoad; 2],
    /// The ratio at the higher load over the one at the lower load.
    pub moved: Ratio,
    /// The direction of the change.
    pub change: Change,
}

/// The direction of a change from one load to a higher one. A rise of delta or less is none.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// It rises by more than delta.
    Rises,
    /// It falls.
    Falls,
    /// If it rises at all, then by no more than this fraction.
    Flat(f64),
    /// The interval holds both a rise and none.
    Unclear,
}

/// Traced runs that tell nothing.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SilentTraces {
    /// The quantity.
    pub quantity: Quantity,
    /// The command whose run it is.
    pub command: String,
    /// Why the first of them does not.
    pub because: Silence,
    /// The number of runs that tell nothing.
    pub silent: usize,
    /// The number of all runs.
    pub runs: usize,
}

/// Why a traced run tells nothing.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Silence {
    /// The level of observation does not see it.
    NotMeasured,
    /// Other programs had this part of the CPUs, so that waits may be due to them.
    OthersBusy(f64),
    /// It took so many times as long as untraced runs.
    Disturbed(f64),
    /// There is too little of it to compare with.
    TooLittle,
}

/// The counts of traced runs: a part of the time, and its possible error.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Traced {
    /// The quantity.
    pub quantity: Quantity,
    /// The alternative.
    pub alternative: String,
    /// The baseline, where it is compared with that and not with its own time.
    pub baseline: Option<String>,
    /// The median of the runs of the alternative.
    pub value: f64,
    /// The median of the runs of the baseline, or the time of the alternative.
    pub whole: f64,
    /// The one over the other.
    #[serde(flatten)]
    pub part: Ratio,
    /// Runs that tell something.
    pub told: usize,
    /// All of them.
    pub runs: usize,
    /// The part that was claimed.
    pub claimed: f64,
}

/// Why a row has no price.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NoPrice {
    /// The row.
    pub row: String,
    /// The reason in the list.
    pub reason: Option<Obstacle>,
}

/// A row against another one.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind", content = "of")]
pub enum Against {
    /// One of them has no price.
    NoPrice(NoPrice),
    /// These two have no repetition in common.
    NotPaired(String, String),
    /// Their ratio.
    Ratio(RowRatio),
}

/// The ratio of two rows, over the repetitions that both have.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RowRatio {
    /// The other row.
    pub other: String,
    /// The row over the other.
    #[serde(flatten)]
    pub ratio: Ratio,
    /// The repetitions that it takes to tell the ratio from 1; null where the interval does.
    pub lacking: Option<Lacking>,
    /// True if the floors contradict the interval. Noise moves the interval alone; the operation moves both.
    pub floors_disagree: bool,
}

impl Judgement {
    /// Returns true if more repetitions would have decided it.
    pub fn lacks_repetitions(&self) -> bool {
        let helps = |lacking: &Lacking| lacking.more().is_some();
        let lacks = match &self.evidence {
            Evidence::Ordered(against) => against
                .iter()
                .any(|it| matches!(it, Against::Ratio(RowRatio { lacking: Some(it), .. }) if helps(it))),
            Evidence::Sum(SumCheck { doubt: Some(Doubt::Repetitions(it)), .. }) => helps(it),
            _ => false,
        };
        lacks && self.outcome == Outcome::Undecided
    }
}

/// The outcome of a rule, and its evidence.
pub(super) type Decision = (Outcome, Evidence);
