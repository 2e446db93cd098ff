//! Work by kind, of one copy alone and of one copy among many: from the observed rounds and the observed batches. A part of
//! growth.
//!
//! Both are brought to the CPU time of the untraced runs at their load. What had to be taken out beyond the calibrated cost
//! of observing may have fallen on other kinds, and runs differ: so much is not known of a kind, and a kind that grows by less
//! is not named.

use std::collections::BTreeMap;

use super::account::{Alternative, loses};
use super::input::{self, ExplainInput};
use super::medians::{median, spread};
use super::own_cost;
use super::report::TracedBatch;
use super::statement::KindsUnknown;
use crate::trace::report::{Level, WorkKind, WorkRow};

/// CPU time of one kind, seconds per copy.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Spent {
    pub seconds: f64,
    /// What is not known of it: taken out beyond the calibration, and different from run to run.
    unsure_s: f64,
}

/// Seconds by kind.
type Seconds = BTreeMap<WorkKind, f64>;

/// One kind of work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Kind {
    pub kind: WorkKind,
    /// One copy alone.
    pub alone: Spent,
    /// One copy among the others.
    pub among: Spent,
}

impl Kind {
    /// How much more a copy among others takes.
    pub(super) fn growth_s(&self) -> f64 {
        self.among.seconds - self.alone.seconds
    }

    /// Whether that is more than what is not known.
    pub(super) fn is_sure(&self) -> bool {
        self.growth_s().abs() > self.unsure_s()
    }

    fn unsure_s(&self) -> f64 {
        self.alone.unsure_s + self.among.unsure_s
    }
}

/// All kinds of work of an alternative alone and at this load, where a copy takes `work_s` untraced. `None`: no batch of it was
/// observed there. The error says why the kinds are not known.
pub(super) fn kinds(
    given: &ExplainInput<'_>,
    index: usize,
    (load, work_s): (u32, f64),
) -> Option<Result<Vec<Kind>, KindsUnknown>> {
    let mine = |it: &&TracedBatch| it.alternative == index && it.load == load;
    let batches: Vec<&TracedBatch> = given.traced_batches.iter().filter(mine).collect();
    if batches.is_empty() || load == 0 {
        return None;
    }
    Some(compared(given, index, &batches, work_s))
}

fn compared(
    given: &ExplainInput<'_>,
    index: usize,
    batches: &[&TracedBatch],
    work_s: f64,
) -> Result<Vec<Kind>, KindsUnknown> {
    let usable = |it: &&&TracedBatch| it.report.level == Level::Full && !loses(&it.report);
    let kept: Vec<&TracedBatch> = batches.iter().filter(usable).copied().collect();
    if kept.is_empty() {
        return Err(KindsUnknown::Lossy);
    }
    let alternative = Alternative::of(given, &input::untraced(given.plan, given.batches), index);
    if alternative.runs.is_empty() {
        return Err(KindsUnknown::NotAlone);
    }
    if alternative.cpu_s.is_none() || work_s <= 0.0 {
        return Err(KindsUnknown::NoCpuTime);
    }
    let (alone, among) = (alone(&alternative), among(&kept, work_s));
    let of = |kind: WorkKind| {
        let of = |all: &BTreeMap<WorkKind, Spent>| all.get(&kind).copied().unwrap_or_default();
        Kind { kind, alone: of(&alone), among: of(&among) }
    };
    let all: Vec<Kind> = WorkKind::ALL.into_iter().map(of).collect();
    trusted(&all)?;
    Ok(all)
}

/// Whether the kinds differ by more than what is not known of them.
fn trusted(all: &[Kind]) -> Result<(), KindsUnknown> {
    let unsure_s: f64 = all.iter().map(Kind::unsure_s).sum();
    let differ_s: f64 = all.iter().map(|it| it.growth_s().abs()).sum();
    if unsure_s < differ_s { Ok(()) } else { Err(KindsUnknown::Uncertain { unsure_s, differ_s }) }
}

/// One copy alone: the rows of its account.
fn alone(alternative: &Alternative<'_>) -> BTreeMap<WorkKind, Spent> {
    let unsure = |run: &own_cost::Run<'_>| unsure(&run.report.work, &run.work, &run.calibrated);
    let unsure: Vec<Seconds> = alternative.runs.iter().map(unsure).collect();
    let runs: Vec<Seconds> = alternative.runs.iter().map(|run| by_kind(&run.work)).collect();
    let seconds = by_kind(&alternative.account().work);
    let spent = |kind| Spent {
        seconds: seconds.get(&kind).copied().unwrap_or(0.0),
        unsure_s: median(&of(&unsure, kind)) + spread(&of(&runs, kind)),
    };
    WorkKind::ALL.into_iter().map(|kind| (kind, spent(kind))).collect()
}

/// One copy of these batches.
fn among(batches: &[&TracedBatch], work_s: f64) -> BTreeMap<WorkKind, Spent> {
    let (mut seconds, mut unsures) = (Vec::new(), Vec::new());
    for batch in batches {
        let copies = f64::from(batch.load);
        let traced_s: f64 = batch.report.work.iter().map(|row| row.seconds).sum();
        let work = own_cost::work(&batch.report, &batch.own, Some(traced_s - work_s * copies));
        let of_copy = |mut of: Seconds| {
            of.values_mut().for_each(|it| *it /= copies);
            of
        };
        seconds.push(of_copy(by_kind(&work.rows)));
        unsures.push(of_copy(unsure(&batch.report.work, &work.rows, &work.calibrated)));
    }
    let spent = |kind| {
        let seconds = of(&seconds, kind);
        let unsure_s = median(&of(&unsures, kind)) + spread(&seconds);
        Spent { seconds: median(&seconds), unsure_s }
    };
    WorkKind::ALL.into_iter().map(|kind| (kind, spent(kind))).collect()
}

fn by_kind(rows: &[WorkRow]) -> Seconds {
    let mut kinds = Seconds::new();
    rows.iter().for_each(|row| *kinds.entry(row.kind).or_default() += row.seconds);
    kinds
}

/// What was taken out of each kind less what the calibration says.
fn unsure(before: &[WorkRow], after: &[WorkRow], calibrated: &[f64]) -> Seconds {
    let mut kinds = Seconds::new();
    for ((before, after), calibrated) in before.iter().zip(after).zip(calibrated) {
        *kinds.entry(before.kind).or_default() += before.seconds - after.seconds - calibrated;
    }
    kinds.values_mut().for_each(|it| *it = it.abs());
    kinds
}

/// One kind in all runs.
fn of(runs: &[Seconds], kind: WorkKind) -> Vec<f64> {
    runs.iter().map(|run| run.get(&kind).copied().unwrap_or(0.0)).collect()
}
