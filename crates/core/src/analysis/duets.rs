//! CPU time against CPU time, from runs of two alternatives at once on one CPU.
//!
//! Duets: Bulej and others, "Duet benchmarking: improving measurement accuracy in the cloud", ICPE 2020; here on one CPU, because the
//! CPUs of a machine may change their speed independently, and filled, because who runs on alone would have another speed. Where the
//! two are equal, either is as likely to need more: so the sign test holds, and its interval assumes no distribution.
//!
//! How many there are is fixed before the first. An interrupt or the end of the time may leave fewer: both come when they come, or depend on how
//! long the longer of the two took, which is the same whichever it is; so of equal ones either is still as likely to need more.
//!
//! Where they are not equal, each may do more harm to the other's caches than it suffers itself. Nothing in the runs at once tells that from
//! work. So the interval has a margin: what was found at most on pairs of which that is known, or more where the runs in turns say so.

use super::context::{Context, alpha_per_alternative, rule};
use super::results::{DuetComparison, Level};
use crate::bounds::Alone;
use crate::plan::Plan;
use crate::sample::Duet;
use crate::verdict::Rule;
use whyfaster_stats::eprocess::Block;
use whyfaster_stats::{Observation, sign};

/// By how much the ratio at once may differ from the one of runs apart, as `bench/pace` found it: loops 0.1%, sorts, pipelines and walks over
/// memory up to 2%.
const BIAS: f64 = 0.02;

/// Fewest of an alternative: with fewer the sign test has no interval.
pub fn fewest_duets(plan: &Plan) -> u32 {
    u32::try_from(sign::min_rounds(alpha_per_alternative(plan))).unwrap_or(u32::MAX)
}

/// All comparisons by duets. `lowest` is the level that tells the same from runs in turns.
pub(super) fn comparisons(context: &Context<'_>, lowest: Option<&Level>) -> Vec<DuetComparison> {
    context.others().filter_map(|index| comparison(context, lowest, index)).collect()
}

fn comparison(context: &Context<'_>, lowest: Option<&Level>, index: usize) -> Option<DuetComparison> {
    let (plan, name) = (context.measured.plan, context.name(index));
    let of_it = context.measured.duets.iter().filter(|duet| duet.alternative == index);
    let blocks: Vec<Block> = of_it.filter_map(block).collect();
    let rounds = u32::try_from(blocks.len()).ok()?;
    if rounds < fewest_duets(plan) {
        // An interrupt, or a limit of the time.
        return None;
    }
    let alpha = alpha_per_alternative(plan);
    let rule = Rule { fixed: Some(rounds), delta_at_end: plan.delta_at_end, ..rule(plan, alpha) };
    let at_once = rule.ratio(&blocks)?;
    let in_turns = lowest?.comparisons.iter().find(|it| it.alternative == name).and_then(|it| it.work);
    let bias = BIAS.ln_1p().max(in_turns.map_or(0.0, |turns| turns.apart(at_once)));
    let with_margin = at_once.widened(bias);
    let narrower = in_turns.and_then(|turns| turns.wider_than(with_margin));
    // Where the margin is larger than what it gains, the runs in turns are the answer.
    let turns = in_turns.filter(|_| narrower.is_some_and(|narrower| narrower < 1.0));
    let work = turns.unwrap_or(with_margin);
    Some(DuetComparison {
        alternative: name.to_owned(),
        baseline: context.name(context.baseline()).to_owned(),
        work,
        change: rule.says(work).into(),
        in_turns: turns.is_some(),
        bias: bias.exp_m1(),
        rounds,
        decides_from: context
            .alone(index)
            .zip(context.alone(context.baseline()))
            .map(|(one, other)| saturating(one, context.capacity).max(saturating(other, context.capacity))),
        narrower,
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
