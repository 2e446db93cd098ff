//! Alternatives against the baseline, round by round, and the floor.

use super::context::{Context, alpha, alpha_per_interval, others, rule};
use super::results::{Comparison, Floor, Level};
use super::rounds::{Arms, arms, cpus_used, mean_time, pairs, time, work_per_copy};
use crate::host::Host;
use crate::plan::{Mode, Plan};
use crate::reason::Reason;
use crate::sample::{Arm, Batch};
use crate::stats::{self, Observation, bootstrap};
use crate::verdict::{Judgement, Method, Ratio, Rule, Verdict, judge, ratio};

/// Rounds without which there is no verdict at a load.
pub fn least_rounds(plan: &Plan, host: &Host, load: u32) -> u32 {
    let rule = rule(plan, alpha_per_interval(plan, host, load));
    let method = if plan.rounds.fixed { Method::Sign } else { Method::SignEProcess };
    u32::try_from(rule.min_rounds(method)).unwrap_or(u32::MAX)
}

/// The judgement of every alternative but the baseline, in the order of the plan, from the batches of one level so far.
/// Cheap enough to call after every round. `alpha` is [`alpha_per_interval`].
pub fn level_verdicts<'a>(
    plan: &Plan,
    batches: impl IntoIterator<Item = &'a Batch>,
    alpha: f64,
) -> Vec<Judgement> {
    let arms = arms(batches, plan.mode);
    let rule = rule(plan, alpha);
    let floor = floor_ratios(plan, &arms);
    others(plan).map(|index| judge(&time_ratios(plan, &arms, index), floor.as_deref(), &rule)).collect()
}

fn time_ratios(plan: &Plan, arms: &Arms<'_>, index: usize) -> Vec<Observation> {
    let pairs = pairs(arms, Arm::Alternative(index), Arm::Alternative(plan.baseline));
    ln_time_ratios(&pairs, plan.mode)
}

fn ln_time_ratios(pairs: &[(&Batch, &Batch)], mode: Mode) -> Vec<Observation> {
    pairs.iter().map(|(arm, base)| time(arm, mode).ln_ratio(time(base, mode))).collect()
}

/// ln ratios of the hidden copy over the baseline. `None` if no hidden copy ran.
fn floor_ratios(plan: &Plan, arms: &Arms<'_>) -> Option<Vec<Observation>> {
    let mut ratios =
        ln_time_ratios(&pairs(arms, Arm::HiddenCopy, Arm::Alternative(plan.baseline)), plan.mode);
    // Where the time-out cut both, the round says nothing about noise.
    ratios.retain(|ratio| ratio.low.is_finite() || ratio.high.is_finite());
    (!ratios.is_empty()).then_some(ratios)
}

/// One alternative against the baseline at one level. `None` without a round in which both ran.
pub(super) fn comparison(
    context: &Context<'_>,
    load: u32,
    arms: &Arms<'_>,
    index: usize,
) -> Option<Comparison> {
    let plan = context.measured.plan;
    let pairs = pairs(arms, Arm::Alternative(index), Arm::Alternative(plan.baseline));
    let floor = floor_ratios(plan, arms);
    let judgement = judge(&ln_time_ratios(&pairs, plan.mode), floor.as_deref(), &context.rule(load));
    let (ratio, rule) = (judgement.ratio?, context.rule(load));
    let work = ratio_of(&rule, &pairs, work_per_copy);
    let share = ratio_of(&rule, &pairs, |batch| cpus_used(batch).map(Observation::from));
    Some(Comparison {
        alternative: context.name(index).to_owned(),
        baseline: context.name(plan.baseline).to_owned(),
        ratio,
        low: judgement.low,
        high: judgement.high,
        verdict: judgement.verdict,
        rounds: judgement.rounds,
        rounds_needed: judgement.rounds_needed,
        method: judgement.method,
        ratio_of_totals: totals(context, load, index, &pairs),
        work,
        share,
        reason: Reason::of(judgement.verdict, ratio, work, share),
    })
}

/// Median of per-round ratios of some number of a batch. `None` if any batch lacks the number.
fn ratio_of(
    rule: &Rule,
    pairs: &[(&Batch, &Batch)],
    number: impl Fn(&Batch) -> Option<Observation>,
) -> Option<Ratio> {
    let ln_ratio = |(arm, base): &(&Batch, &Batch)| Some(number(arm)?.ln_ratio(number(base)?));
    let ratios = pairs.iter().map(ln_ratio).collect::<Option<Vec<_>>>()?;
    let interval = rule.interval(&ratios, rule.alpha);
    Some(Ratio {
        ratio: ratio(stats::median_of(&ratios)?)?,
        low: interval.and_then(|interval| ratio(interval.0)),
        high: interval.and_then(|interval| ratio(interval.1)),
    })
}

/// Ratio of totals over the rounds. `None` when a time-out cut a batch: its total is not known.
fn totals(context: &Context<'_>, load: u32, index: usize, pairs: &[(&Batch, &Batch)]) -> Option<Ratio> {
    if pairs.iter().any(|(arm, base)| arm.timed_out() || base.timed_out()) {
        return None;
    }
    let mode = context.mode();
    let times: Vec<(f64, f64)> =
        pairs.iter().map(|(arm, base)| (mean_time(arm, mode), mean_time(base, mode))).collect();
    // A stream of its own for every comparison, whatever else the record holds.
    let stream = (u64::from(load) << 32) ^ index as u64;
    let seed = context.measured.plan.seed ^ stream.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let totals = bootstrap::ratio_of_totals(&times, alpha(context.measured.plan), seed)?;
    let (low, high) = totals.interval.unzip();
    Some(Ratio { ratio: totals.ratio, low, high })
}

/// The hidden copy of the baseline at one level.
pub(super) fn level_floor(context: &Context<'_>, load: u32, arms: &Arms<'_>) -> Option<Floor> {
    let ratios = floor_ratios(context.measured.plan, arms)?;
    let rule = context.rule(load);
    floor(&ratios, &rule, rule.floor_alpha)
}

/// The hidden copy over all levels. Ratios of different levels have different spreads but the same median, 1, and the
/// sign needs no more. Levels come in rising order of load; only order statistics are taken, so any order would do.
pub(super) fn overall_floor(context: &Context<'_>) -> Option<Floor> {
    let plan = context.measured.plan;
    let ratios: Vec<_> =
        context.levels.values().filter_map(|arms| floor_ratios(plan, arms)).flatten().collect();
    let levels = u32::try_from(context.levels.len()).unwrap_or(u32::MAX);
    let rule = rule(plan, alpha(plan));
    let fixed = rule.fixed.map(|rounds| rounds.saturating_mul(levels));
    floor(&ratios, &Rule { fixed, ..rule }, rule.alpha)
}

fn floor(ratios: &[Observation], rule: &Rule, alpha: f64) -> Option<Floor> {
    let interval = rule.interval(ratios, alpha);
    Some(Floor {
        ratio: ratio(stats::median_of(ratios)?)?,
        low: interval.and_then(|interval| ratio(interval.0)),
        high: interval.and_then(|interval| ratio(interval.1)),
        rounds: u32::try_from(ratios.len()).unwrap_or(u32::MAX),
    })
}

/// The verdicts of one alternative, by load.
pub(super) fn verdicts_of(levels: &[Level], alternative: &str) -> Vec<(u32, Verdict)> {
    let of = |level: &Level| {
        let comparison = level.comparisons.iter().find(|comparison| comparison.alternative == alternative)?;
        Some((level.load, comparison.verdict))
    };
    levels.iter().filter_map(of).collect()
}
