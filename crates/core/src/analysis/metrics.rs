//! The metrics that were asked for: what each alternative shows, and against the baseline round by round.

use super::compare::{contrasts, equal_blocks, sides};
use super::context::{Context, precision};
use super::results::{Change, MetricChange, MetricEstimate};
use super::rounds::{Arms, estimate, time};
use crate::metric::Metric;
use crate::missing::{NotMeasured, Obstacle, Quantity};
use crate::plan::Mode;
use crate::sample::Batch;
use crate::verdict::{Ratio, Verdict, judge};
use whyfaster_stats::Observation;

/// The metric of one batch, as it counts: the time as in every comparison, the memory of the largest copy, of all else
/// what one copy has on average. What the time-out cut short is at least what was seen. `None` where it was not measured.
fn value(batch: &Batch, metric: Metric, mode: Mode) -> Option<Observation> {
    let (copies, orphans) = (&batch.copies, &batch.orphans);
    let per_copy = |sum: f64| sum / copies.len() as f64;
    let value = match metric {
        Metric::TimeWallClock => return Some(time(batch, mode)),
        Metric::TimeCpu => per_copy(batch.work_s()),
        Metric::TimeUser => per_copy(copies.user_s.iter().sum::<f64>() + orphans.user_s),
        Metric::TimeSystem => per_copy(copies.system_s.iter().sum::<f64>() + orphans.system_s),
        Metric::MemoryPeakResident => copies.max_rss_bytes.iter().copied().max()? as f64,
        counter => {
            let column = copies.counters.as_ref()?.columns.get(&counter)?;
            per_copy(column.iter().map(|&count| count as f64).sum())
        }
    };
    let known = if batch.timed_out() { Observation::at_least(value) } else { value.into() };
    value.is_finite().then_some(known)
}

/// What an alternative shows: the median over rounds with its interval, of every metric that all of its batches have. A limit may be held against it, so
/// it holds however the number of rounds came about, and all of them share the error.
pub(super) fn estimates(context: &Context<'_>, load: u32, batches: &[&Batch]) -> Vec<MetricEstimate> {
    let (plan, mode) = (context.measured.plan, context.mode());
    // A level's part of the error, and of that the part of each alternative.
    let alpha = context.rule(load).floor_alpha / plan.alternatives.len().max(1) as f64;
    let of = |&metric: &Metric| {
        let values: Option<Vec<_>> = batches.iter().map(|batch| value(batch, metric, mode)).collect();
        let values = values?;
        let interval = precision(plan, alpha, values.len()).interval(&values);
        Some(MetricEstimate { metric, estimate: estimate(&values, interval) })
    };
    plan.metrics.iter().filter_map(of).collect()
}

/// An alternative against the baseline. A metric that is 0 in some round has no ratio.
pub(super) fn changes(context: &Context<'_>, load: u32, arms: &Arms<'_>, index: usize) -> Vec<MetricChange> {
    let (plan, rule) = (context.measured.plan, context.rule(load));
    let sides = sides(plan, arms, index);
    let of = |&metric: &Metric| {
        let number = |batch: &Batch| value(batch, metric, plan.mode).filter(|it| it.value > 0.0);
        let floor = equal_blocks(plan, arms, &rule, number);
        let judgement = judge(&contrasts(plan, &sides, number)?, floor.as_ref(), &rule);
        let ratio = Ratio { ratio: judgement.ratio?, low: judgement.low, high: judgement.high };
        Some(MetricChange { metric, ratio, change: judgement.verdict.into() })
    };
    plan.metrics.iter().filter_map(of).collect()
}

impl From<Verdict> for Change {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Faster => Self::Less,
            Verdict::Slower => Self::More,
            Verdict::Same => Self::Same,
            Verdict::Undecided => Self::Undecided,
        }
    }
}

/// Counters that were asked for and that some batch lacks, with the first reason.
pub(super) fn not_counted(context: &Context<'_>) -> Vec<NotMeasured> {
    let batches = context.measured.batches;
    let of = |&metric: &Metric| {
        let lacking = batches.iter().find(|batch| value(batch, metric, context.mode()).is_none())?;
        let refused = lacking.copies.counters.as_ref().and_then(|it| it.refused.get(&metric));
        let why = refused.map_or(Obstacle::NotCounted, |&errno| Obstacle::CounterRefused { errno });
        Some(NotMeasured::new(Quantity::Metric { metric }, why))
    };
    context.measured.plan.metrics.iter().filter_map(of).collect()
}
