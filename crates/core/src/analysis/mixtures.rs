//! Runs of one alternative that are not alike: a first one that takes far longer, and runs that fall into two groups.

use super::context::Context;
use super::rounds::median_of;
use crate::plan::Mode;
use crate::sample::{Arm, Batch, Trial};
use crate::warning::Caution;
use whyfaster_stats::quantile;

/// A first run is far slower if it takes this many times as long as the slowest later run, and this many seconds longer.
const FIRST: (f64, f64) = (3.0, 0.02);
/// Groups are this factor apart: more than a machine that changes its speed makes of one command (1.9).
const APART: f64 = 2.5;
/// Groups are this many seconds apart: more than a turn of another program on the CPU.
const APART_S: f64 = 0.01;
/// The smaller group has at least this part of the runs, and two of them. Fewer are outliers.
const PART: f64 = 0.1;
/// Fewer runs than these show no groups.
const FEWEST: usize = 6;
/// Reading this much output takes a trial no time that counts.
const LITTLE_OUTPUT: u64 = 64 << 10;

pub(super) fn warnings(context: &Context<'_>) -> Vec<Caution> {
    let mut warnings = Vec::new();
    for index in context.alternatives() {
        let batches = alone(context, index);
        warnings.extend(first_run(context, index, &batches));
        warnings.extend(groups(context, index, &batches));
    }
    warnings
}

/// The batches of one copy alone, in the order in which they ran.
fn alone<'a>(context: &Context<'a>, index: usize) -> Vec<&'a Batch> {
    let arms = context.levels.get(&1).filter(|_| context.mode() == Mode::Batch);
    let batches = arms.and_then(|arms| arms.get(&Arm::Alternative(index)));
    let mut batches: Vec<&Batch> = batches.into_iter().flat_map(|it| it.values().copied()).collect();
    batches.retain(|batch| !batch.timed_out());
    batches.sort_by(|a, b| a.released_s.total_cmp(&b.released_s));
    batches
}

/// A first run that takes far longer than later ones. Plans with warm-up runs expect that.
fn first_run(context: &Context<'_>, index: usize, batches: &[&Batch]) -> Option<Caution> {
    let measured = context.measured;
    if measured.plan.warmup > 0 {
        return None;
    }
    let trial = measured.trials.iter().find(|trial| trial.alternative == index);
    let (first_s, later) = match trial {
        Some(trial) if is_like_timed(trial) => (trial.wall_s, batches),
        Some(_) => return None,
        None => batches.split_first().map(|(first, later)| (first.makespan_s, later))?,
    };
    let slowest_s = later.iter().map(|batch| batch.makespan_s).reduce(f64::max)?;
    let (factor, seconds) = FIRST;
    (first_s >= factor * slowest_s && first_s >= slowest_s + seconds).then(|| Caution::FirstRunSlower {
        alternative: context.name(index).to_owned(),
        first_s,
        later_s: median_of(later, |batch| batch.makespan_s),
    })
}

/// True if a trial did what a timed run does. The trial's output is read, and some commands do more work then.
fn is_like_timed(trial: &Trial) -> bool {
    trial.does_less_unread().is_none() && trial.stdout_bytes <= LITTLE_OUTPUT
}

/// Two groups of runs, apart at the largest gap.
fn groups(context: &Context<'_>, index: usize, batches: &[&Batch]) -> Option<Caution> {
    let times = quantile::sorted(batches.iter().map(|batch| batch.makespan_s));
    let gaps = times.windows(2).map(|pair| pair[1] / pair[0]);
    let (at, _) = gaps.enumerate().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let (fast, slow) = times.split_at(at + 1);
    let (fastest_s, slowest_s) = (*fast.last()?, *slow.first()?);
    let apart = slowest_s >= APART * fastest_s && slowest_s >= fastest_s + APART_S;
    let fewer = fast.len().min(slow.len());
    let many = times.len() >= FEWEST && fewer >= 2 && fewer as f64 >= PART * times.len() as f64;
    if !apart || !many {
        return None;
    }
    Some(Caution::RunsInGroups {
        alternative: context.name(index).to_owned(),
        slow: u32::try_from(slow.len()).ok()?,
        of: u32::try_from(times.len()).ok()?,
        slow_s: quantile::median(slow)?,
        others_s: quantile::median(fast)?,
    })
}
