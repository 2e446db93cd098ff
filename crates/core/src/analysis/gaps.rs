//! What was not measured, and why: what the runner said, and what the samples are too few for.

use std::collections::BTreeSet;

use super::context::{Context, Measured};
use super::results::{Analysis, Comparison, Level, LevelResult};
use super::rounds;
use crate::bounds;
use crate::missing::{NotMeasured, Obstacle, Quantity};
use crate::plan::{Loads, Mode};
use crate::sample::Arm;
use crate::verdict::Verdict;

pub(super) fn not_measured(context: &Context<'_>, analysis: &Analysis) -> Vec<NotMeasured> {
    let mut gaps = context.measured.not_measured.to_vec();
    gaps.extend(levels(context));
    gaps.extend(alternatives_missing(context));
    gaps.extend(spans(context));
    gaps.extend(intervals(context, analysis));
    gaps.extend(rounds_lost(context, analysis));
    gaps.extend(floor(context, analysis));
    gaps.extend(outputs(context));
    gaps.extend(cpu_times(context, analysis));
    gaps.extend(super::metrics::not_counted(context));
    gaps.extend(run_delay(context, analysis));
    gaps.extend(machine(context));
    gaps
}

/// Whether the runner said something of such a quantity.
fn said(context: &Context<'_>, is: impl Fn(&Quantity) -> bool) -> bool {
    context.measured.not_measured.iter().filter_map(|gap| gap.quantity.as_ref()).any(is)
}

/// Levels that were asked for, have no round, and were not reported by the runner.
fn levels(context: &Context<'_>) -> Vec<NotMeasured> {
    let Loads::Fixed(loads) = &context.measured.plan.loads else { return Vec::new() };
    let clocked = matches!(context.mode(), Mode::Open { .. });
    let missing = loads.iter().filter(|load| !clocked && !context.levels.contains_key(load));
    let quantities = missing.map(|&load| Quantity::Level { load });
    let unsaid = quantities.filter(|level| !said(context, |it| it == level));
    unsaid.map(|level| NotMeasured::new(level, Obstacle::EndedBefore)).collect()
}

/// Alternatives without a batch at a level where others ran.
fn alternatives_missing(context: &Context<'_>) -> Vec<NotMeasured> {
    let mut gaps = Vec::new();
    for index in context.alternatives() {
        let missing = context.levels.iter().filter(|(_, arms)| !arms.contains_key(&Arm::Alternative(index)));
        let loads: Vec<u32> = missing.map(|(load, _)| *load).collect();
        if !loads.is_empty() {
            let (alternative, at) = (context.name(index).to_owned(), context.place(loads));
            gaps.push(NotMeasured::new(Quantity::Alternative { alternative, at }, Obstacle::NoBatch));
        }
    }
    gaps
}

fn spans(context: &Context<'_>) -> Vec<NotMeasured> {
    let unknown = context.alternatives().filter(|&index| context.alone(index).is_none());
    let lowest = |index| context.levels.values().find_map(|arms| arms.get(&Arm::Alternative(index)));
    let why = |index| match lowest(index) {
        None => Obstacle::NeverRan,
        Some(batches) if batches.values().any(|batch| batch.timed_out()) => Obstacle::CopiesTimedOut,
        Some(_) => Obstacle::NoCpuTime,
    };
    let gap = |index| {
        let alternative = context.name(index).to_owned();
        NotMeasured::new(Quantity::SpanAndWork { alternative }, why(index))
    };
    unknown.map(gap).collect()
}

/// Comparisons that still have too few rounds for an interval.
fn intervals(context: &Context<'_>, analysis: &Analysis) -> Vec<NotMeasured> {
    let mut gaps = Vec::new();
    for index in context.others() {
        let name = context.name(index);
        let of = |level: &Level| {
            let comparison = level.comparisons.iter().find(|comparison| comparison.alternative == name)?;
            let block = context.measured.plan.block() as usize;
            let least = block * context.rule(level.load).min_rounds(comparison.method);
            ((comparison.rounds as usize) < least).then_some((level.load, comparison.rounds, least))
        };
        let short: Vec<(u32, u32, usize)> = analysis.levels.iter().filter_map(of).collect();
        let Some((_, rounds, needed)) = short.iter().max_by_key(|(_, rounds, _)| *rounds).copied() else {
            continue;
        };
        let (alternative, baseline) = (name.to_owned(), context.name(context.baseline()).to_owned());
        let at = context.place(short.iter().map(|(load, ..)| *load).collect());
        gaps.push(NotMeasured::new(
            Quantity::Interval { alternative, baseline, at },
            Obstacle::TooFewRounds { rounds, needed },
        ));
    }
    gaps
}

/// Batches that say nothing, and rounds in which not every arm ran.
fn rounds_lost(context: &Context<'_>, analysis: &Analysis) -> Vec<NotMeasured> {
    let mut gaps = Vec::new();
    let batches = context.measured.batches;
    let useless = batches.iter().filter(|batch| !rounds::usable(batch, context.mode())).count();
    if useless > 0 {
        gaps.push(NotMeasured::new(Quantity::Batches { count: useless as u64 }, Obstacle::Unusable));
    }
    let open = |load: u32, arm: Arm| match arm {
        Arm::Alternative(index) if index != context.baseline() && !context.measured.plan.rounds.fixed => {
            let level = analysis.levels.iter().find(|level| level.load == load);
            let mine = |it: &&Comparison| it.alternative == context.name(index);
            let found = level.and_then(|level| level.comparisons.iter().find(mine));
            found.is_none_or(|it| it.verdict == Verdict::Undecided)
        }
        _ => true,
    };
    let broken: usize =
        context.levels.iter().map(|(&load, arms)| broken_rounds(arms, |arm| open(load, arm))).sum();
    if broken > 0 {
        gaps.push(NotMeasured::new(Quantity::Rounds { count: broken as u64 }, Obstacle::RoundCut));
    }
    gaps
}

/// Rounds in which an alternative did not run that was to. Who is decided (not `open`) runs no longer, but ran in all rounds until then; the
/// hidden copy runs now and then.
fn broken_rounds(arms: &super::Arms<'_>, open: impl Fn(Arm) -> bool) -> usize {
    let rounds: BTreeSet<u32> = arms.values().flat_map(|rounds| rounds.keys().copied()).collect();
    let missing = |round: u32| {
        arms.iter().filter(|(arm, _)| **arm != Arm::HiddenCopy).any(|(&arm, ran)| {
            let was_to = open(arm) || ran.keys().next_back().is_some_and(|last| round < *last);
            was_to && !ran.contains_key(&round)
        })
    };
    rounds.iter().filter(|round| missing(**round)).count()
}

fn floor(context: &Context<'_>, analysis: &Analysis) -> Option<NotMeasured> {
    let wanted = context.others().next().is_some() && !context.levels.is_empty() && analysis.floor.is_none();
    let unsaid = wanted && !said(context, |it| matches!(it, Quantity::Floor));
    let reason = match context.measured.plan.extra_runs() {
        true => Obstacle::NoHiddenCopy,
        false if context.measured.plan.block() > 1 => Obstacle::OnlyFixedRuns { or_warm_up: false },
        false => Obstacle::FewFixedRuns,
    };
    unsaid.then(|| NotMeasured::new(Quantity::Floor, reason))
}

/// Without a run whose output can be taken in, nobody knows whether alternatives that are to do the same work do.
fn outputs(context: &Context<'_>) -> Option<NotMeasured> {
    let Measured { plan, trials, batches, .. } = context.measured;
    let parameters = |index: usize| &plan.alternatives[index].parameters;
    let alike =
        context.alternatives().any(|index| (0..index).any(|other| parameters(other) == parameters(index)));
    let unknown =
        plan.check_output && alike && !batches.is_empty() && trials.is_empty() && !plan.extra_runs();
    let alone = matches!(&plan.loads, Loads::Fixed(loads) if loads.first() == Some(&1));
    let or_warm_up = plan.mode == Mode::Batch && alone;
    unknown.then(|| NotMeasured::new(Quantity::Outputs, Obstacle::OnlyFixedRuns { or_warm_up }))
}

fn cpu_times(context: &Context<'_>, analysis: &Analysis) -> Vec<NotMeasured> {
    let mut gaps = Vec::new();
    for index in context.others() {
        let name = context.name(index);
        let lacks = |level: &&Level| {
            level.comparisons.iter().any(|c| c.alternative == name && (c.work.is_none() || c.share.is_none()))
        };
        let loads: Vec<u32> = analysis.levels.iter().filter(lacks).map(|level| level.load).collect();
        if !loads.is_empty() {
            let (alternative, baseline) = (name.to_owned(), context.name(context.baseline()).to_owned());
            let at = context.place(loads);
            gaps.push(NotMeasured::new(
                Quantity::WorkAndShare { alternative, baseline, at },
                Obstacle::TooShort,
            ));
        }
    }
    gaps
}

fn run_delay(context: &Context<'_>, analysis: &Analysis) -> Option<NotMeasured> {
    let lacks = |results: &[LevelResult]| results.iter().any(|result| result.run_delay_s.is_none());
    let loads: Vec<u32> =
        analysis.levels.iter().filter(|level| lacks(&level.results)).map(|level| level.load).collect();
    if loads.is_empty() || said(context, |it| matches!(it, Quantity::RunQueueDelay { .. })) {
        return None;
    }
    let reason = match context.measured.plan.extra_runs() {
        true => Obstacle::NoTracedBatch,
        false => Obstacle::OnlyFixedRuns { or_warm_up: false },
    };
    Some(NotMeasured::new(Quantity::RunQueueDelay { at: context.place(loads) }, reason))
}

fn machine(context: &Context<'_>) -> Vec<NotMeasured> {
    let mut gaps = Vec::new();
    let Context { measured, .. } = context;
    if !bounds::capacity_known(measured.plan, measured.host) {
        gaps.push(NotMeasured::new(Quantity::Cpus, Obstacle::CpusUnknown));
    }
    let ran = !measured.batches.is_empty();
    if ran && measured.batches.iter().all(|batch| batch.machine_busy_s.is_none()) {
        gaps.push(NotMeasured::new(Quantity::OtherPrograms, Obstacle::NoProcStat));
    }
    if ran && measured.batches.iter().all(|batch| batch.steal_s.is_none()) {
        gaps.push(NotMeasured::new(Quantity::Steal, Obstacle::NoProcStat));
    }
    gaps
}
