//! CPU time against CPU time, from runs of two alternatives at once on one CPU.
//!
//! Duets: Bulej and others, "Duet benchmarking: improving measurement accuracy in the cloud", ICPE 2020; here on one CPU, because the
//! CPUs of a machine may change their speed independently, and filled, because who runs on alone would have another speed. Where the
//! two are equal, either is as likely to need more: so the sign test holds, and its interval assumes no distribution.

use super::context::{Context, alpha, others, rule};
use super::results::{DuetComparison, Level};
use crate::bounds::Alone;
use crate::sample::Duet;
use crate::stats::eprocess::Block;
use crate::stats::{self, Observation};
use crate::verdict::{Ratio, Rule, judge};

/// All comparisons by duets. `lowest` is the level that tells the same from runs in turns.
pub(super) fn comparisons(context: &Context<'_>, lowest: Option<&Level>) -> Vec<DuetComparison> {
    context.others().filter_map(|index| comparison(context, lowest, index)).collect()
}

fn comparison(context: &Context<'_>, lowest: Option<&Level>, index: usize) -> Option<DuetComparison> {
    let (plan, name) = (context.measured.plan, context.name(index));
    let of_it = context.measured.duets.iter().filter(|duet| duet.alternative == index);
    let blocks: Vec<Block> = of_it.filter_map(block).collect();
    let rounds = u32::try_from(blocks.len()).ok()?;
    let alpha = stats::bonferroni(alpha(plan), others(plan).count());
    let rule = Rule { fixed: Some(rounds), delta_at_end: plan.delta_at_end, ..rule(plan, alpha) };
    let judgement = judge(&blocks, None, &rule);
    let work = Ratio { ratio: judgement.ratio?, low: judgement.low, high: judgement.high };
    let in_turns = lowest?.comparisons.iter().find(|it| it.alternative == name).and_then(|it| it.work);
    Some(DuetComparison {
        alternative: name.to_owned(),
        baseline: context.name(context.baseline()).to_owned(),
        work,
        change: judgement.verdict.into(),
        rounds,
        decides_from: context
            .alone(index)
            .zip(context.alone(context.baseline()))
            .map(|(one, other)| saturating(one, context.capacity).max(saturating(other, context.capacity))),
        narrower: in_turns.and_then(width).zip(width(work)).map(|(turns, duets)| turns / duets),
    })
}

/// What a duet says. A run of which the kernel counted no CPU time says nothing.
fn block(duet: &Duet) -> Option<Block> {
    let counted = duet.cpu_s > 0.0 && duet.baseline_cpu_s > 0.0;
    let of = |seconds: f64| vec![Observation::from(seconds).ln()];
    counted.then(|| Block { arm: of(duet.cpu_s), base: of(duet.baseline_cpu_s) })
}

/// The load from which on the work of all copies takes longer than one copy alone.
fn saturating(alone: Alone, capacity: f64) -> u32 {
    (capacity * alone.span_s / alone.work_s).ceil().clamp(1.0, f64::from(u32::MAX)) as u32
}

/// How wide an interval is, on the log scale.
fn width(ratio: Ratio) -> Option<f64> {
    let width = (ratio.high? / ratio.low?).ln();
    (width.is_finite() && width > 0.0).then_some(width)
}
