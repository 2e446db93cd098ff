//! What was not measured, and why: what the runner said, and what the samples are too few for.

use super::context::Context;
use super::results::{Analysis, Level, LevelResult};
use super::rounds;
use super::words::{at, count};
use crate::bounds;
use crate::host::NotMeasured;
use crate::plan::{Loads, Mode};
use crate::sample::Arm;

/// Name of the scheduling delay among what was not measured. A runner that knows the reason reports it under a name that begins
/// so, and the analysis adds none of its own.
pub const RUN_QUEUE_DELAY: &str = "run-queue delay";

/// Name of a level among what was not measured.
pub fn level_name(load: u32) -> String {
    format!("load {load}")
}

pub(super) fn not_measured(context: &Context<'_>, analysis: &Analysis) -> Vec<NotMeasured> {
    let mut gaps = context.measured.not_measured.to_vec();
    gaps.extend(levels(context));
    gaps.extend(alternatives_missing(context));
    gaps.extend(spans(context));
    gaps.extend(intervals(context, analysis));
    gaps.extend(rounds_lost(context));
    gaps.extend(floor(context, analysis));
    gaps.extend(cpu_times(context, analysis));
    gaps.extend(run_delay(context, analysis));
    gaps.extend(machine(context));
    gaps
}

fn gap(what: impl Into<String>, why: impl Into<String>) -> NotMeasured {
    NotMeasured { what: what.into(), why: why.into() }
}

fn said(context: &Context<'_>, name: &str) -> bool {
    context.measured.not_measured.iter().any(|gap| gap.what.starts_with(name))
}

/// Levels that were asked for, have no round, and were not reported by the runner.
fn levels(context: &Context<'_>) -> Vec<NotMeasured> {
    let Loads::Fixed(loads) = &context.measured.plan.loads else { return Vec::new() };
    let clocked = matches!(context.mode(), Mode::Open { .. });
    let missing = loads.iter().filter(|load| !clocked && !context.levels.contains_key(load));
    let names = missing.map(|&load| level_name(load));
    let unsaid = names.filter(|name| !context.measured.not_measured.iter().any(|gap| gap.what == *name));
    unsaid.map(|name| gap(name, "the measurement ended before it began")).collect()
}

/// Alternatives without a batch at a level where others ran.
fn alternatives_missing(context: &Context<'_>) -> Vec<NotMeasured> {
    let mut gaps = Vec::new();
    for index in context.alternatives() {
        let missing = context.levels.iter().filter(|(_, arms)| !arms.contains_key(&Arm::Alternative(index)));
        let loads: Vec<u32> = missing.map(|(load, _)| *load).collect();
        if !loads.is_empty() {
            let what = format!("'{}' {}", context.name(index), at(context.mode(), &loads));
            gaps.push(gap(
                what,
                "the measurement ended before its first batch there, or no copy of it ended",
            ));
        }
    }
    gaps
}

fn spans(context: &Context<'_>) -> Vec<NotMeasured> {
    let unknown = context.alternatives().filter(|&index| context.alone(index).is_none());
    let lowest = |index| context.levels.values().find_map(|arms| arms.get(&Arm::Alternative(index)));
    let why = |index| match lowest(index) {
        None => "it never ran",
        Some(batches) if batches.values().any(|batch| batch.timed_out()) => {
            "the time-out ended half or more of its copies at the lowest level"
        }
        Some(_) => "the kernel counted no time for it",
    };
    unknown
        .map(|index| {
            let why = format!("{}; without them there are no bounds", why(index));
            gap(format!("span and work of '{}'", context.name(index)), why)
        })
        .collect()
}

/// Comparisons that still have too few rounds for an interval.
fn intervals(context: &Context<'_>, analysis: &Analysis) -> Vec<NotMeasured> {
    let mut gaps = Vec::new();
    for index in context.others() {
        let name = context.name(index);
        let of = |level: &Level| {
            let comparison = level.comparisons.iter().find(|comparison| comparison.alternative == name)?;
            let least = context.rule(level.load).min_rounds(comparison.method);
            ((comparison.rounds as usize) < least).then_some((level.load, comparison.rounds, least))
        };
        let short: Vec<(u32, u32, usize)> = analysis.levels.iter().filter_map(of).collect();
        let Some((_, most, least)) = short.iter().max_by_key(|(_, rounds, _)| *rounds).copied() else {
            continue;
        };
        let loads: Vec<u32> = short.iter().map(|(load, ..)| *load).collect();
        let (baseline, place) = (context.name(context.baseline()), at(context.mode(), &loads));
        let ran = count(u64::from(most), "round", "rounds");
        gaps.push(gap(
            format!("interval of '{name}' against '{baseline}' {place}"),
            format!(
                "at most {ran} ran; an interval at this confidence over all comparisons needs {least}: more time (--max-time), \
                 more rounds (--runs or --min-runs), or fewer levels"
            ),
        ));
    }
    gaps
}

/// Batches that say nothing, and rounds in which not every arm ran.
fn rounds_lost(context: &Context<'_>) -> Vec<NotMeasured> {
    let mut gaps = Vec::new();
    let batches = context.measured.batches;
    let useless = batches.iter().filter(|batch| !rounds::usable(batch, context.mode())).count();
    if useless > 0 {
        let what = count(useless as u64, "batch", "batches");
        gaps.push(gap(what, "no copy ended in them, or they hold a time that cannot be; they count nowhere"));
    }
    let broken: usize = context.levels.values().map(broken_rounds).sum();
    if broken > 0 {
        let what = format!("comparison in {}", count(broken as u64, "round", "rounds"));
        gaps.push(gap(
            what,
            "the measurement ended before every alternative had run; their batches count in the results only",
        ));
    }
    gaps
}

fn broken_rounds(arms: &super::Arms<'_>) -> usize {
    let rounds: std::collections::BTreeSet<u32> =
        arms.values().flat_map(|rounds| rounds.keys().copied()).collect();
    rounds.iter().filter(|round| arms.values().any(|rounds| !rounds.contains_key(round))).count()
}

fn floor(context: &Context<'_>, analysis: &Analysis) -> Option<NotMeasured> {
    let wanted = context.others().next().is_some() && !context.levels.is_empty() && analysis.floor.is_none();
    (wanted && !said(context, "floor")).then(|| {
        gap(
            "floor",
            "no round had both the baseline and its hidden copy; differences are not held against noise",
        )
    })
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
            let place = at(context.mode(), &loads);
            let what =
                format!("work and share of '{name}' against '{}' {place}", context.name(context.baseline()));
            gaps.push(gap(
                what,
                "the kernel counted no CPU time for some batch: it is too short for its accounting",
            ));
        }
    }
    gaps
}

fn run_delay(context: &Context<'_>, analysis: &Analysis) -> Option<NotMeasured> {
    let lacks = |results: &[LevelResult]| results.iter().any(|result| result.run_delay_s.is_none());
    let loads: Vec<u32> =
        analysis.levels.iter().filter(|level| lacks(&level.results)).map(|level| level.load).collect();
    if loads.is_empty() || said(context, RUN_QUEUE_DELAY) {
        return None;
    }
    let what = format!("{RUN_QUEUE_DELAY} {}", at(context.mode(), &loads));
    Some(gap(what, "no traced batch of every alternative was run there"))
}

fn machine(context: &Context<'_>) -> Vec<NotMeasured> {
    let mut gaps = Vec::new();
    let Context { measured, .. } = context;
    if !bounds::capacity_known(measured.plan, measured.host) {
        gaps.push(gap(
            "CPUs",
            "the machine did not tell how many CPUs we may use; 1 was taken for share and bounds",
        ));
    }
    let ran = !measured.batches.is_empty();
    if ran && measured.batches.iter().all(|batch| batch.machine_busy_s.is_none()) {
        gaps.push(gap("CPU use of other programs", "/proc/stat could not be read"));
    }
    if ran && measured.batches.iter().all(|batch| batch.steal_s.is_none()) {
        gaps.push(gap("CPU time stolen by the hypervisor", "/proc/stat could not be read"));
    }
    gaps
}
