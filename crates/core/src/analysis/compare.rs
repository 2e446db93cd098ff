//! Alternatives against the baseline, round by round, and the floor.

use super::context::{Context, alpha, alpha_per_interval, others, rule};
use super::results::{Comparison, Floor, Level};
use super::rounds::{
    Arms, Side, Sides, arms, blocks, cpus_used, mean_time, pairs, time, typical, work_per_copy,
};
use crate::host::Host;
use crate::plan::Plan;
use crate::reason::Reason;
use crate::sample::{Arm, Batch};
use crate::verdict::{FloorBlocks, Judgement, Ratio, Rule, Verdict, judge};
use whyfaster_stats::eprocess::Block;
use whyfaster_stats::{Observation, bootstrap, sign};

/// Rounds without which there is no verdict at this load.
pub fn least_rounds(plan: &Plan, host: &Host, load: u32) -> u32 {
    let rule = rule(plan, alpha_per_interval(plan, host, load));
    let method = rule.method(rule.fixed.map_or(0, |fixed| fixed as usize));
    u32::try_from(rule.min_rounds(method)).unwrap_or(u32::MAX).saturating_mul(plan.block())
}

/// The judgement of every alternative but the baseline, in the order of the plan, from the batches of one level so far.
/// Cheap enough to call after every round. `alpha` is [`alpha_per_interval`] of this level.
pub fn level_verdicts<'a>(
    plan: &Plan,
    batches: impl IntoIterator<Item = &'a Batch>,
    alpha: f64,
) -> Vec<Judgement> {
    if others(plan).next().is_none() {
        return Vec::new();
    }
    let arms = arms(batches, plan.mode);
    let rule = rule(plan, alpha);
    let floor = floor_blocks(plan, &arms, &rule);
    others(plan)
        .map(|index| {
            let blocks = contrasts(plan, &sides(plan, &arms, index), |batch| Some(time(batch, plan.mode)));
            judged(plan, &blocks.unwrap_or_default(), floor.as_ref(), &rule)
        })
        .collect()
}

/// The judgement, with the rounds that it needs further counted in rounds where it counts blocks of them.
fn judged(plan: &Plan, blocks: &[Block], floor: Option<&FloorBlocks>, rule: &Rule) -> Judgement {
    let judgement = judge(blocks, floor, rule);
    // With a larger fixed number the blocks get longer and not more.
    let grows = !plan.rounds.fixed || plan.block() == 1;
    let in_rounds = |blocks: u32| blocks.saturating_mul(plan.block());
    let further = |blocks: Option<u32>| blocks.filter(|_| grows).map(in_rounds);
    Judgement {
        rounds_needed: further(judgement.rounds_needed),
        soonest: further(judgement.soonest),
        ..judgement
    }
}

/// What an alternative ran, and the baseline with its hidden copy, block by block.
pub(super) fn sides<'a>(plan: &Plan, arms: &Arms<'a>, index: usize) -> Vec<Sides<'a>> {
    let base = [Arm::Alternative(plan.baseline), Arm::HiddenCopy];
    blocks(arms, Arm::Alternative(index), &base, plan.rounds_per_setup)
}

/// Logarithms of some number of each batch, block by block. `None` if a batch lacks it.
///
/// Where setups differ, the runs of an arm follow one another after one setup and share what the machine did meanwhile: of each arm
/// a block has one number, their median.
pub(super) fn contrasts(
    plan: &Plan,
    sides: &[Sides<'_>],
    number: impl Fn(&Batch) -> Option<Observation>,
) -> Option<Vec<Block>> {
    let numbers = |side: &Side<'_>| -> Option<Vec<Observation>> {
        match plan.rounds_per_setup {
            Some(_) => Some(vec![typical(side, &number)?.ln()]),
            None => side.iter().map(|batch| Some(number(batch)?.ln())).collect(),
        }
    };
    let block = |sides: &Sides<'_>| {
        let base: Option<Vec<_>> = sides.base.iter().map(numbers).collect();
        Some(Block { arm: numbers(&sides.arm)?, base: base?.concat() })
    };
    sides.iter().map(block).collect()
}

/// Things that are equal, in time.
fn floor_blocks(plan: &Plan, arms: &Arms<'_>, rule: &Rule) -> Option<FloorBlocks> {
    equal_blocks(plan, arms, rule, |batch| Some(time(batch, plan.mode)))
}

/// Some number of things that are equal: of the hidden copy beside the baseline; where none was to run, of the baseline's
/// own runs.
pub(super) fn equal_blocks(
    plan: &Plan,
    arms: &Arms<'_>,
    rule: &Rule,
    number: impl Fn(&Batch) -> Option<Observation>,
) -> Option<FloorBlocks> {
    let hidden = blocks(arms, Arm::HiddenCopy, &[Arm::Alternative(plan.baseline)], plan.rounds_per_setup);
    let hidden = contrasts(plan, &hidden, &number)?;
    match rule.fixed {
        Some(fixed) if hidden.is_empty() => {
            let floor = FloorBlocks { blocks: own_blocks(plan, arms, rule, number)?, fixed: Some(fixed / 2) };
            // With a pair less than was fixed there is no interval.
            (floor.fixed == u32::try_from(floor.blocks.len()).ok()).then_some(floor)
        }
        fixed => Some(FloorBlocks { blocks: hidden, fixed }).filter(|floor| !floor.blocks.is_empty()),
    }
}

/// Every second run of the baseline beside the one before it. `None` if these are too few for an interval that assumes nothing, or
/// follow one another in blocks, where they are more alike than runs of different blocks.
fn own_blocks(
    plan: &Plan,
    arms: &Arms<'_>,
    rule: &Rule,
    number: impl Fn(&Batch) -> Option<Observation>,
) -> Option<Vec<Block>> {
    let runs: Vec<_> = arms.get(&Arm::Alternative(plan.baseline))?.values().collect();
    let enough = runs.len() / 2 >= sign::min_rounds(rule.floor_alpha);
    let of = |pair: &[&&Batch]| match pair {
        [first, second] => Some(Block { arm: vec![number(second)?.ln()], base: vec![number(first)?.ln()] }),
        _ => None,
    };
    let comparing = others(plan).next().is_some();
    (comparing && enough && plan.block() == 1).then(|| runs.chunks(2).filter_map(of).collect())
}

/// One alternative against the baseline at one level. `None` without a round in which both ran.
pub(super) fn comparison(
    context: &Context<'_>,
    load: u32,
    arms: &Arms<'_>,
    index: usize,
) -> Option<Comparison> {
    let plan = context.measured.plan;
    let sides = sides(plan, arms, index);
    let rule = context.rule(load);
    let floor = floor_blocks(plan, arms, &rule);
    let times = contrasts(plan, &sides, |batch| Some(time(batch, plan.mode)))?;
    let judgement = judged(plan, &times, floor.as_ref(), &rule);
    let ratio = judgement.ratio?;
    let work = contrasts(plan, &sides, work_per_copy).and_then(|works| rule.ratio(&works));
    let cpus = contrasts(plan, &sides, |batch| cpus_used(batch).map(Observation::from));
    let share = cpus.and_then(|cpus| rule.ratio(&cpus));
    Some(Comparison {
        alternative: context.name(index).to_owned(),
        baseline: context.name(plan.baseline).to_owned(),
        ratio,
        low: judgement.low,
        high: judgement.high,
        less_sure: rule.less_sure(&times),
        verdict: judgement.verdict,
        rounds: sides.iter().map(|sides| sides.arm.len() as u32).sum(),
        rounds_needed: judgement.rounds_needed,
        method: judgement.method,
        ratio_of_totals: totals(context, load, arms, index),
        work,
        share,
        corrected: None,
        reason: Reason::of(judgement.verdict, ratio, work, share),
        metrics: Vec::new(),
    })
}

/// Ratio of totals over the rounds. `None` when a time-out cut a batch: its total is not known.
fn totals(context: &Context<'_>, load: u32, arms: &Arms<'_>, index: usize) -> Option<Ratio> {
    let plan = context.measured.plan;
    let pairs = pairs(arms, Arm::Alternative(index), Arm::Alternative(plan.baseline), plan.block());
    let cut = |side: &Side<'_>| side.iter().any(|batch| batch.timed_out());
    if pairs.iter().any(|(arm, base)| cut(arm) || cut(base)) {
        return None;
    }
    let sum = |side: &Side<'_>| side.iter().map(|batch| mean_time(batch, context.mode())).sum::<f64>();
    let times: Vec<(f64, f64)> = pairs.iter().map(|(arm, base)| (sum(arm), sum(base))).collect();
    // A stream of its own for every comparison, whatever else the record holds.
    let stream = (u64::from(load) << 32) ^ index as u64;
    let seed = plan.seed ^ stream.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let totals = bootstrap::ratio_of_totals(&times, alpha(plan), seed)?;
    let (low, high) = totals.interval.unzip();
    Some(Ratio { ratio: totals.ratio, low, high })
}

/// The noise floor at one level.
pub(super) fn level_floor(context: &Context<'_>, load: u32, arms: &Arms<'_>) -> Option<Floor> {
    let rule = context.rule(load);
    floor(&floor_blocks(context.measured.plan, arms, &rule)?, &rule, rule.floor_alpha)
}

/// The noise floor over all levels: blocks of different levels have different spreads but the same ratio, 1.
pub(super) fn overall_floor(context: &Context<'_>) -> Option<Floor> {
    let plan = context.measured.plan;
    let rule = rule(plan, alpha(plan));
    let of_levels: Vec<FloorBlocks> =
        context.levels.values().filter_map(|arms| floor_blocks(plan, arms, &rule)).collect();
    let all = FloorBlocks {
        fixed: of_levels.iter().map(|level| level.fixed).sum(),
        blocks: of_levels.into_iter().flat_map(|level| level.blocks).collect(),
    };
    floor(&all, &rule, rule.alpha)
}

fn floor(found: &FloorBlocks, rule: &Rule, alpha: f64) -> Option<Floor> {
    let Ratio { ratio, low, high } = Rule { fixed: found.fixed, alpha, ..*rule }.ratio(&found.blocks)?;
    let rounds: usize = found.blocks.iter().map(|block| block.arm.len()).sum();
    Some(Floor { ratio, low, high, rounds: u32::try_from(rounds).unwrap_or(u32::MAX) })
}

/// The verdicts of one alternative, by load.
pub(super) fn verdicts_of(levels: &[Level], alternative: &str) -> Vec<(u32, Verdict)> {
    let of = |level: &Level| {
        let comparison = level.comparisons.iter().find(|comparison| comparison.alternative == alternative)?;
        Some((level.load, comparison.verdict))
    };
    levels.iter().filter_map(of).collect()
}
