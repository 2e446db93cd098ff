//! Time against time, corrected for the speed of the CPUs: for what the hypervisor took, and for the clock where the CPU counts its cycles.
//!
//! A CPU that is stolen stands still, for whatever runs on it. While a batch ran, the CPUs of the machine ran programs for `busy` seconds and
//! would have for `steal` seconds more (`/proc/stat`). So each time is multiplied by busy / (busy + steal): of one process alone that takes
//! off all that was stolen from its CPU, of a full machine the part of each CPU.
//!
//! Cycles over CPU time are the clock. What of a time may have been computing (as much as there was CPU time) would have taken clock / usual
//! times as long at the usual clock, which is the median of all batches here, whoever ran.
//!
//! Both factors come from the batch itself, and nothing is fitted: equal alternatives stay exchangeable, and the interval is made as that of
//! the time is. The kernel tells steal in ticks of 10 ms, which is noise for short runs: the figure is left out where it is no surer.

use super::compare::{contrasts, sides};
use super::context::Context;
use super::results::Corrected;
use super::rounds::{Arms, time};
use crate::metric::Metric;
use crate::plan::{Mode, Pace};
use crate::sample::Batch;
use crate::verdict::Ratio;
use whyfaster_stats::{Observation, quantile};

/// CPU time above this part that was stolen is worth a word, and so is a clock that changed by more.
pub(crate) const WORTH_A_WORD: f64 = 0.01;

/// The ratio at one speed of the CPUs, beside that of the times as they were.
pub(super) fn corrected(
    context: &Context<'_>,
    load: u32,
    arms: &Arms<'_>,
    index: usize,
    times: Ratio,
) -> Option<Corrected> {
    let (plan, rule) = (context.measured.plan, context.rule(load));
    // A clock starts the copies of an open loop, and their latencies are no sum of running times.
    if plan.pace == Pace::Off || matches!(plan.mode, Mode::Open { .. }) {
        return None;
    }
    let sides = sides(plan, arms, index);
    let all = || sides.iter().flat_map(|it| it.arm.iter().chain(it.base.iter().flatten())).copied();
    let stolen = stolen(all()).filter(|part| *part > WORTH_A_WORD);
    let clocks = clocks(all()).filter(|it| it.highest > (1.0 + WORTH_A_WORD) * it.lowest);
    if stolen.is_none() && clocks.is_none() {
        return None;
    }
    let usual = clocks.as_ref().map(|it| it.usual);
    let blocks = contrasts(plan, &sides, |batch| at_one_speed(batch, plan.mode, stolen.is_some(), usual))?;
    let ratio = rule.ratio(&blocks)?;
    let narrower = times.wider_than(ratio).filter(|narrower| *narrower > 1.0)?;
    let clock_hz = clocks.map(|it| (it.lowest, it.highest));
    Some(Corrected { ratio, stolen, clock_hz, narrower })
}

/// The time of a batch as it would have been with nothing stolen, at the usual clock.
fn at_one_speed(batch: &Batch, mode: Mode, stolen: bool, usual: Option<f64>) -> Option<Observation> {
    let part = match stolen {
        true => ran(batch).map(|(busy, stolen)| busy / (busy + stolen))?,
        false => 1.0,
    };
    let time = time(batch, mode);
    let factor = match usual {
        Some(usual) => {
            let computing = (batch.work_s() / (part * batch.makespan_s)).min(1.0);
            part * (1.0 - computing + computing * clock(batch)? / usual)
        }
        None => part,
    };
    Some(Observation { low: factor * time.low, value: factor * time.value, high: factor * time.high })
}

/// What was stolen of the CPU time that the machine wanted; `None` where that is not known.
fn stolen<'a>(batches: impl Iterator<Item = &'a Batch>) -> Option<f64> {
    let each: Vec<(f64, f64)> = batches.map(ran).collect::<Option<_>>()?;
    let (ran, stolen) = each.iter().fold((0.0, 0.0), |sum, it| (sum.0 + it.0, sum.1 + it.1));
    (ran > 0.0).then(|| stolen / (ran + stolen))
}

/// Seconds that CPUs ran and that were stolen from them; what the copies needed ran at least, also where no tick saw it.
fn ran(batch: &Batch) -> Option<(f64, f64)> {
    let (busy, stolen) = (batch.machine_busy_s?.max(batch.work_s()), batch.steal_s?);
    (busy > 0.0 && stolen >= 0.0).then_some((busy, stolen))
}

/// How fast the clock was.
struct Clocks {
    lowest: f64,
    usual: f64,
    highest: f64,
}

/// Of all batches but the tenth at either end; `None` where some were not counted.
fn clocks<'a>(batches: impl Iterator<Item = &'a Batch>) -> Option<Clocks> {
    let each = quantile::sorted(batches.map(clock).collect::<Option<Vec<_>>>()?);
    let at = |q| quantile::of_sorted(&each, q);
    Some(Clocks { lowest: at(0.1)?, usual: at(0.5)?, highest: at(0.9)? })
}

/// Cycles a second of CPU time; of user code alone where only that is counted.
fn clock(batch: &Batch) -> Option<f64> {
    let counters = batch.copies.counters.as_ref()?;
    let cycles: u64 = counters.columns.get(&Metric::CpuCycles)?.iter().sum();
    let user = || batch.copies.user_s.iter().sum::<f64>() + batch.orphans.user_s;
    let seconds = if counters.user_only { user() } else { batch.work_s() };
    (seconds > 0.0 && cycles > 0).then(|| cycles as f64 / seconds)
}
