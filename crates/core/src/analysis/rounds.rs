//! Batches sorted into rounds, and the one number of a batch that counts in its mode.

use std::collections::{BTreeMap, BTreeSet};

use crate::plan::Mode;
use crate::sample::{Arm, Batch};
use whyfaster_stats::{Estimate, Observation, quantile};

/// The batches of one level, by arm and round.
pub(super) type Arms<'a> = BTreeMap<Arm, BTreeMap<u32, &'a Batch>>;

/// Sorts the batches of one level. A batch without a copy or without a time has nothing to say and is left out (and
/// counted among what was not measured). Of two batches of the same arm and round, which no runner writes, the earlier place stays.
pub(super) fn arms<'a>(batches: impl IntoIterator<Item = &'a Batch>, mode: Mode) -> Arms<'a> {
    let mut arms = Arms::new();
    for batch in batches.into_iter().filter(|batch| usable(batch, mode)) {
        let kept = arms.entry(batch.arm).or_default().entry(batch.round).or_insert(batch);
        if batch.position < kept.position {
            *kept = batch;
        }
    }
    arms
}

/// No time is longer: thirty thousand years. It keeps what a damaged record says from becoming infinite further on.
const LONGEST_S: f64 = 1e12;

/// Whether a batch has a time that can be compared, and no impossible one.
pub(super) fn usable(batch: &Batch, mode: Mode) -> bool {
    let copies = &batch.copies;
    let times = copies.wall_s.iter().chain(&copies.user_s).chain(&copies.system_s);
    let mut all = times.chain([&batch.orphans.user_s, &batch.orphans.system_s]);
    let comparable = |x: f64| (LONGEST_S.recip()..=LONGEST_S).contains(&x);
    !copies.is_empty()
        && all.all(|time| (0.0..=LONGEST_S).contains(time))
        && comparable(batch.makespan_s)
        && comparable(time_of(batch, mode))
}

/// What one arm ran in a block of rounds.
pub(super) type Side<'a> = Vec<&'a Batch>;

/// What an arm ran, and each of those that it is compared with, in a block in which both did.
pub(super) struct Sides<'a> {
    pub(super) arm: Side<'a>,
    pub(super) base: Vec<Side<'a>>,
}

/// A block is rounds whose runs stood in one random order (or, where setups differ, came arm by arm): places are counted anew
/// with each.
pub(super) fn blocks<'a>(arms: &Arms<'a>, arm: Arm, base: &[Arm], per_setup: Option<u32>) -> Vec<Sides<'a>> {
    let all = arms.values().flat_map(BTreeMap::iter);
    let begins = |(round, batch): &(&u32, &&Batch)| match per_setup {
        Some(length) => *round % length.max(1) == 0,
        None => batch.position == 0,
    };
    let firsts: BTreeSet<u32> = all.filter(begins).map(|(&round, _)| round).collect();
    let of = |(from, to): (u32, u32)| {
        let side = |arm: &Arm| -> Side<'a> {
            arms.get(arm).iter().flat_map(|rounds| rounds.range(from..to)).map(|(_, batch)| *batch).collect()
        };
        let base: Vec<_> = base.iter().map(side).filter(|side| !side.is_empty()).collect();
        Some(Sides { arm: side(&arm), base }).filter(|sides| !sides.arm.is_empty() && !sides.base.is_empty())
    };
    let first = arms.values().filter_map(|rounds| rounds.keys().next()).min().copied();
    let mut ends: Vec<u32> = first.into_iter().chain(firsts).chain([u32::MAX]).collect();
    ends.dedup();
    ends.windows(2).filter_map(|ends| of((ends[0], ends[1]))).collect()
}

/// The blocks of `length` rounds in which both arms ran, with their batches of the rounds that both have.
pub(super) fn pairs<'a>(arms: &Arms<'a>, arm: Arm, base: Arm, length: u32) -> Vec<(Side<'a>, Side<'a>)> {
    let (Some(arm), Some(base)) = (arms.get(&arm), arms.get(&base)) else { return Vec::new() };
    let mut blocks: BTreeMap<u32, (Side<'a>, Side<'a>)> = BTreeMap::new();
    for (round, &batch) in arm {
        if let Some(&other) = base.get(round) {
            let sides = blocks.entry(round / length).or_default();
            sides.0.push(batch);
            sides.1.push(other);
        }
    }
    blocks.into_values().collect()
}

/// The median of a number over the batches of a block, how far it is known. `None` if a batch lacks the number.
pub(super) fn typical(
    side: &[&Batch],
    number: impl Fn(&Batch) -> Option<Observation>,
) -> Option<Observation> {
    let known: Vec<Observation> = side.iter().map(|batch| number(batch)).collect::<Option<_>>()?;
    let median = |end: fn(&Observation) -> f64| quantile::median(&known.iter().map(end).collect::<Vec<_>>());
    Some(Observation {
        low: median(|it| it.low)?,
        value: median(|it| it.value)?,
        high: median(|it| it.high)?,
    })
}

/// An arm's time over that of another one, round by round, where neither has setups of its own.
pub fn ratios(batches: &[Batch], mode: Mode, load: u32, (arm, base): (Arm, Arm)) -> Vec<(u32, f64)> {
    let arms = arms(batches.iter().filter(|batch| batch.load == load), mode);
    let rounds = |arm: &Arm| arms.get(arm).into_iter().flatten();
    let other = |round: &u32| arms.get(&base)?.get(round);
    let ratio =
        |(round, batch): (&u32, &&Batch)| Some((*round, time_of(batch, mode) / time_of(other(round)?, mode)));
    rounds(&arm).filter_map(ratio).collect()
}

/// The number of a batch that counts in its mode, seconds: batch: makespan; closed: seconds per copy; open: median latency
/// from the intended start. A time-out makes it a lower bound; see [`time`].
pub fn time_of(batch: &Batch, mode: Mode) -> f64 {
    time(batch, mode).value
}

/// Like [`time_of`], and how far it is known.
///
/// A copy that the time-out ended would have run longer: so would its batch, and its worker would have started no more copies.
/// The median of the latencies is known as long as fewer than half of them were cut.
pub fn time(batch: &Batch, mode: Mode) -> Observation {
    let bound =
        |seconds: f64| if batch.timed_out() { Observation::at_least(seconds) } else { seconds.into() };
    match mode {
        Mode::Batch => bound(batch.makespan_s),
        Mode::Closed { .. } => bound(batch.makespan_s / batch.copies.len() as f64),
        Mode::Open { .. } => median_wall(&[batch]).unwrap_or(f64::NAN.into()),
    }
}

/// Like [`time`], but the mean where that is the median: the number whose total shows the tail.
pub(super) fn mean_time(batch: &Batch, mode: Mode) -> f64 {
    match mode {
        Mode::Batch | Mode::Closed { .. } => time_of(batch, mode),
        Mode::Open { .. } => quantile::mean(&batch.copies.wall_s).unwrap_or(f64::NAN),
    }
}

/// Median wall time of the copies of these batches. A copy that was cut counts as slower than all that were not; if that
/// leaves the median unknown, it is at least the median of what was seen.
pub(super) fn median_wall(batches: &[&Batch]) -> Option<Observation> {
    let seen: Vec<f64> = batches.iter().flat_map(|batch| &batch.copies.wall_s).copied().collect();
    let known = quantile::median(&batches.iter().flat_map(|batch| true_walls(batch)).collect::<Vec<_>>())?;
    if known.is_finite() {
        return Some(known.into());
    }
    quantile::median(&seen).map(Observation::at_least)
}

fn true_walls(batch: &Batch) -> impl Iterator<Item = f64> {
    let cut = batch.copies.timed_out.iter().copied().chain(std::iter::repeat(false));
    batch.copies.wall_s.iter().zip(cut).map(|(&wall, cut)| if cut { f64::INFINITY } else { wall })
}

/// CPU seconds per copy, how far they are known. `None` where the kernel counted none.
pub(super) fn work_per_copy(batch: &Batch) -> Option<Observation> {
    let work = batch.work_s() / batch.copies.len() as f64;
    let known = if batch.timed_out() { Observation::at_least(work) } else { work.into() };
    (work.is_finite() && work > 0.0).then_some(known)
}

/// CPUs that the copies of a batch kept busy, on average. `None` where the kernel counted no CPU time.
pub(super) fn cpus_used(batch: &Batch) -> Option<f64> {
    let cpus = batch.work_s() / batch.makespan_s;
    (cpus.is_finite() && cpus > 0.0).then_some(cpus)
}

/// Nothing takes less than a picosecond: below it a time is a zero, and no divisor.
pub(super) const TINY_S: f64 = 1e-12;

/// The median of what was read, with its interval; with nothing read at all it is 0.
pub(super) fn estimate(observations: &[Observation], interval: Option<(f64, f64)>) -> Estimate {
    let finite = |x: f64| x.is_finite().then_some(x);
    Estimate {
        median: whyfaster_stats::median_of(observations).unwrap_or(0.0),
        low: interval.and_then(|interval| finite(interval.0)),
        high: interval.and_then(|interval| finite(interval.1)),
    }
}

/// The median of a number of each batch. Batches are usable, so no number is missing; with none at all it is 0.
pub(super) fn median_of(batches: &[&Batch], of: impl Fn(&Batch) -> f64) -> f64 {
    quantile::median(&batches.iter().map(|batch| of(batch)).collect::<Vec<_>>()).unwrap_or(0.0)
}

/// Copies of a batch that the time-out ended.
pub(super) fn timed_out(batch: &Batch) -> u32 {
    u32::try_from(batch.copies.timed_out.iter().filter(|&&out| out).count()).unwrap_or(u32::MAX)
}
