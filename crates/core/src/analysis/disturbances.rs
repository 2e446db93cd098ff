//! What disturbed the measurement: time-outs, strays, other programs, and facts of the machine that moved.

use super::context::Context;
use super::corrected;
use super::rounds::timed_out;
use crate::host::moved;
use crate::plan::Mode;
use crate::sample::{Arm, Batch};
use crate::warning::Caution;

/// So is CPU time of other programs above this part.
const FOREIGN: f64 = 0.05;
/// A miss of Little's law by this factor too.
const TENTH: f64 = 0.10;

pub(super) fn warnings(context: &Context<'_>) -> Vec<Caution> {
    let mut warnings = Vec::new();
    for index in context.alternatives() {
        warnings.extend(time_outs(context, index, Arm::Alternative(index)));
        warnings.extend(failures(context, index));
        warnings.extend(strays(context, index));
        warnings.extend(left_running(context, index));
        warnings.extend(littles_law(context, index));
    }
    warnings.extend(time_outs(context, context.baseline(), Arm::HiddenCopy));
    warnings.extend(stolen(context));
    warnings.extend(foreign(context));
    warnings.extend(moved(&context.measured.host.before, &context.measured.host.after));
    warnings
}

/// All batches of an alternative by load, in a fixed order.
fn batches<'a>(context: &Context<'a>, index: usize) -> impl Iterator<Item = (u32, &'a Batch)> {
    batches_of(context, Arm::Alternative(index))
}

fn batches_of<'a>(context: &Context<'a>, arm: Arm) -> impl Iterator<Item = (u32, &'a Batch)> {
    let of = move |(load, arms): (&u32, &super::rounds::Arms<'a>)| {
        let load = *load;
        let batches = arms.get(&arm).cloned().unwrap_or_default();
        batches.into_values().map(move |batch| (load, batch))
    };
    context.levels.iter().flat_map(of).collect::<Vec<_>>().into_iter()
}

/// Sums a count over the batches; the sum and the loads where it is not 0.
fn tally<'a>(batches: impl Iterator<Item = (u32, &'a Batch)>, of: impl Fn(&Batch) -> u64) -> (u64, Vec<u32>) {
    let mut loads = Vec::new();
    let mut sum = 0;
    for (load, batch) in batches {
        let n = of(batch);
        sum += n;
        if n > 0 && loads.last() != Some(&load) {
            loads.push(load);
        }
    }
    (sum, loads)
}

/// Time-outs of the runs of an alternative, or of its hidden copy.
fn time_outs(context: &Context<'_>, index: usize, arm: Arm) -> Option<Caution> {
    let (copies, loads) = tally(batches_of(context, arm), |batch| u64::from(timed_out(batch)));
    (copies > 0).then(|| {
        let (alternative, at) = (context.name(index).to_owned(), context.place(loads));
        Caution::TimedOut { alternative, hidden: arm == Arm::HiddenCopy, copies, at }
    })
}

fn failures(context: &Context<'_>, index: usize) -> Option<Caution> {
    let failed = |batch: &Batch| {
        let cut = batch.copies.timed_out.iter().copied().chain(std::iter::repeat(false));
        batch.copies.status.iter().zip(cut).filter(|&(&status, cut)| status != 0 && !cut).count() as u64
    };
    let (copies, loads) = tally(batches(context, index), failed);
    (copies > 0).then(|| {
        let (alternative, at) = (context.name(index).to_owned(), context.place(loads));
        Caution::Failed { alternative, copies, at }
    })
}

fn strays(context: &Context<'_>, index: usize) -> Option<Caution> {
    // What a time-out ended did not outlive its copy by itself.
    let whole = || batches(context, index).filter(|(_, batch)| !batch.timed_out());
    let (processes, loads) = tally(whole(), |batch| u64::from(batch.orphans.outlived()));
    let (ended, _) = tally(whole(), |batch| u64::from(batch.orphans.killed));
    (processes > 0).then(|| {
        let (alternative, at) = (context.name(index).to_owned(), context.place(loads));
        Caution::Outlived { alternative, processes, ended, at }
    })
}

fn left_running(context: &Context<'_>, index: usize) -> Option<Caution> {
    let (processes, loads) = tally(batches(context, index), |batch| u64::from(batch.orphans.left_running));
    (processes > 0).then(|| {
        let (alternative, at) = (context.name(index).to_owned(), context.place(loads));
        Caution::LeftRunning { alternative, processes, at }
    })
}

/// N = throughput * latency holds for any stable system (Little 1961). A miss means that start and end of the period count too much.
fn littles_law(context: &Context<'_>, index: usize) -> Option<Caution> {
    let Mode::Closed { .. } = context.mode() else { return None };
    let off: Vec<u32> = context
        .levels
        .iter()
        .filter_map(|(&load, arms)| {
            let batches = arms.get(&Arm::Alternative(index))?;
            let walls: f64 = batches.values().flat_map(|batch| &batch.copies.wall_s).sum();
            let makespans: f64 = batches.values().map(|batch| batch.makespan_s).sum();
            // Mean latency times throughput: the copies cancel.
            let in_flight = walls / makespans;
            ((in_flight / f64::from(load) - 1.0).abs() > TENTH).then_some(load)
        })
        .collect();
    (!off.is_empty()).then(|| {
        let (alternative, at) = (context.name(index).to_owned(), context.place(off));
        Caution::LittlesLaw { alternative, beyond: TENTH, at }
    })
}

/// With fewer CPU seconds of the machine than these, the ticks of 10 ms in which the kernel counts say nothing.
const TOLD_FROM_S: f64 = 0.2;

/// The sum of `of`, as a part of the CPU seconds of the whole machine while those batches ran of which it is known.
fn part_of_machine(context: &Context<'_>, of: impl Fn(&Batch) -> Option<f64>) -> Option<f64> {
    let before = &context.measured.host.before;
    let cpus = before.cpus_online.map_or(context.capacity, f64::from);
    let batches = context.levels.values().flat_map(|arms| arms.values().flat_map(|rounds| rounds.values()));
    let known = batches.filter_map(|batch| Some((of(batch)?, cpus * batch.makespan_s)));
    let (sum, machine) = known.fold((0.0, 0.0), |(sum, all), (x, seconds)| (sum + x, all + seconds));
    (machine >= TOLD_FROM_S).then(|| sum / machine)
}

fn stolen(context: &Context<'_>) -> Option<Caution> {
    let part = part_of_machine(context, |batch| batch.steal_s);
    part.filter(|&part| part > corrected::WORTH_A_WORD).map(|share| Caution::StealDuringBatches { share })
}

fn foreign(context: &Context<'_>) -> Option<Caution> {
    let busy = part_of_machine(context, |batch| batch.machine_busy_s)?;
    let own = part_of_machine(context, |batch| batch.machine_busy_s.map(|_| batch.work_s()))?;
    // Ticks may add up to more than all.
    let part = Some(busy.min(1.0) - own);
    part.filter(|&part| part > FOREIGN).map(|share| Caution::OthersDuringBatches { share })
}
