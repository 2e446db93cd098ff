//! One alternative at one level: medians, quantiles and counts.

use super::context::Context;
use super::metrics;
use super::results::{Latency, LevelResult};
use super::rounds::{self, TINY_S, median_of, timed_out};
use crate::bounds::{Alone, Bound};
use crate::plan::Mode;
use crate::sample::Batch;
use whyfaster_stats::{Estimate, Observation, quantile, sign};

/// Everything that the record says of one alternative at one level. `batches` are usable and not empty.
pub(super) fn result(context: &Context<'_>, load: u32, index: usize, batches: &[&Batch]) -> LevelResult {
    let copies: usize = batches.iter().map(|batch| batch.copies.len()).sum();
    let work = median_of(batches, |batch| batch.work_s() / batch.copies.len() as f64);
    let (user, system) = split(work, batches);
    let latency = latency(batches);
    // Of copies that run beside others the span holds waiting, and says nothing of how much longer they take.
    let span = context.alone(index).filter(|_| context.ran_alone(index)).map(|alone| alone.span_s);
    let (max_rss_bytes, max_rss_at_most) = max_rss(context, index, batches);
    LevelResult {
        alternative: context.name(index).to_owned(),
        rounds: u32::try_from(batches.len()).unwrap_or(u32::MAX),
        makespan_s: makespan(batches, 1.0 - context.measured.plan.confidence),
        work_per_copy_s: work,
        user_per_copy_s: user,
        system_per_copy_s: system,
        throughput_per_s: median_of(batches, |batch| {
            completed(batch) as f64 / period_s(batch, context.mode())
        }),
        share: median_of(batches, |batch| batch.work_s() / (context.capacity * batch.makespan_s)),
        latency_s: latency,
        slowdown: span.map(|span| latency.p50 / span),
        fairness: fairness(batches),
        max_rss_bytes,
        max_rss_at_most,
        voluntary_switches: sum(batches, |batch| &batch.copies.voluntary_switches) / copies as f64,
        involuntary_switches: sum(batches, |batch| &batch.copies.involuntary_switches) / copies as f64,
        run_delay_s: run_delay(context, load, index),
        bound: bound(context, load, index, batches),
        timed_out: batches.iter().map(|batch| timed_out(batch)).sum(),
        metrics: metrics::estimates(context, load, batches),
    }
}

/// Splits the median work as user and system time divide over all rounds, so that the parts sum to it.
fn split(work: f64, batches: &[&Batch]) -> (f64, f64) {
    let user: f64 = batches.iter().map(|b| b.copies.user_s.iter().sum::<f64>() + b.orphans.user_s).sum();
    let all: f64 = batches.iter().map(|batch| batch.work_s()).sum();
    let user = if all > 0.0 { work * user / all } else { 0.0 };
    (user, work - user)
}

/// Median makespan with the interval of the sign test. It describes one alternative by itself; verdicts rest on ratios.
fn makespan(batches: &[&Batch], alpha: f64) -> Estimate {
    let makespans: Vec<Observation> = batches.iter().map(|batch| rounds::time(batch, Mode::Batch)).collect();
    rounds::estimate(&makespans, sign::median_interval(&makespans, alpha))
}

fn latency(batches: &[&Batch]) -> Latency {
    let walls = quantile::sorted(batches.iter().flat_map(|batch| &batch.copies.wall_s).copied());
    // Usable batches have copies.
    let at = |q| quantile::of_sorted(&walls, q).unwrap_or(0.0);
    Latency { min: at(0.0), p50: at(0.5), p95: at(0.95), p99: at(0.99), max: at(1.0) }
}

/// The time that throughput counts over. In open mode copies arrive through the whole duration, also after the last
/// intended start: counted to the last end alone, more would seem to be done than was offered.
fn period_s(batch: &Batch, mode: Mode) -> f64 {
    match mode {
        Mode::Open { duration_s, .. } => batch.makespan_s.max(duration_s),
        Mode::Batch | Mode::Closed { .. } => batch.makespan_s,
    }
}

/// Largest over smallest latency within a round, median over rounds. `None` where a round has a single copy.
fn fairness(batches: &[&Batch]) -> Option<f64> {
    let of = |batch: &&Batch| {
        let walls = quantile::sorted(batch.copies.wall_s.iter().copied());
        let (least, most) = (*walls.first()?, *walls.last()?);
        (walls.len() > 1 && least > TINY_S).then_some(most / least)
    };
    quantile::median(&batches.iter().filter_map(of).collect::<Vec<_>>())
}

/// What a timed copy may have of the launcher's memory on its account is less than this.
const LAUNCHERS_BYTES: u64 = 32 << 20;

/// Peak memory of the largest process, and whether it may be less. A timed copy begins in the launcher's memory, and its peak is at least that; the
/// trial's copy does not, so that where the trial shows less, that is the peak.
fn max_rss(context: &Context<'_>, index: usize, batches: &[&Batch]) -> (u64, bool) {
    let timed = median_rss(batches);
    if context.measured.plan.shows_peak_memory() || timed >= LAUNCHERS_BYTES {
        return (timed, false);
    }
    let trial = context.measured.trials.iter().find(|trial| trial.alternative == index);
    match trial.and_then(|trial| trial.max_rss_bytes) {
        Some(bytes) => (timed.min(bytes), false),
        None => (timed, true),
    }
}

fn median_rss(batches: &[&Batch]) -> u64 {
    let bytes: Vec<f64> =
        batches.iter().flat_map(|b| &b.copies.max_rss_bytes).map(|&bytes| bytes as f64).collect();
    quantile::median(&bytes).unwrap_or(0.0).round() as u64
}

fn sum(batches: &[&Batch], column: impl Fn(&Batch) -> &[u64]) -> f64 {
    batches.iter().flat_map(|batch| column(batch)).map(|&count| count as f64).sum()
}

fn completed(batch: &Batch) -> usize {
    batch.copies.len().saturating_sub(timed_out(batch) as usize)
}

/// Seconds per copy in the run queue, from the traced batches of this level. An account without a task read nothing.
fn run_delay(context: &Context<'_>, load: u32, index: usize) -> Option<f64> {
    let accounts = context.measured.accounts.iter();
    let here: Vec<_> = accounts.filter(|a| a.load == load && a.alternative == index && a.tasks > 0).collect();
    let copies: f64 = here.iter().map(|account| f64::from(account.load)).sum();
    let delays = quantile::sorted(here.iter().map(|account| account.delay_s));
    (copies > 0.0).then(|| delays.iter().sum::<f64>() / copies)
}

/// The bounds at this load. In closed mode N copies take N times the seconds per copy, and the same bounds hold for them; in open
/// mode the clock decides how many copies run, so there is no such bound.
fn bound(context: &Context<'_>, load: u32, index: usize, batches: &[&Batch]) -> Option<Bound> {
    let copies = match context.mode() {
        Mode::Batch => 1.0,
        Mode::Closed { .. } => f64::from(load),
        Mode::Open { .. } => return None,
    };
    let alone = context.alone(index)?;
    // What a copy did alone is no bound where it does less beside others, as caches stay warm and stages share a CPU.
    let here = median_of(batches, |batch| batch.work_s() / batch.copies.len() as f64);
    // Nor does a span bound it that was longer than the copies' here, as a CPU runs at two speeds.
    let span = median_of(batches, |batch| quantile::mean(&batch.copies.wall_s).unwrap_or(f64::INFINITY));
    let alone = Alone { span_s: alone.span_s.min(span), work_s: alone.work_s.min(here) };
    let measured = copies * median_of(batches, |batch| rounds::time_of(batch, context.mode()));
    let load = f64::from(load);
    let makespan_s = alone.makespan_bound_s(load, context.capacity);
    let work_s = alone.work_bound_s(load, context.capacity);
    Some(Bound { span_s: alone.span_s, work_s, makespan_s, gap: measured / makespan_s })
}
