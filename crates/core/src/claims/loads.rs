//! Rules about the ratio at one load, and how it moves from load to load. Ratios are alternative over baseline in time: below 1
//! is faster.

use super::evidence::{AtLoad, Change, Decision, Evidence, NotCompared, Outcome, Step};
use super::rule::{Rule, Runs};
use crate::analysis::{self, Comparison, Level};
use crate::missing::{NotMeasured, Quantity};
use crate::verdict::{Ratio, Verdict};

/// Decides a rule about loads; `None` for other rules.
pub(super) fn decide(rule: &Rule, runs: &Runs<'_>) -> Option<Decision> {
    let decided = match *rule {
        Rule::Verdict { load, verdict } => by_verdict(runs, load, verdict),
        Rule::SlowerStill { from, to } => by_slower_still(runs, (from, to)),
        Rule::RisesThroughout { least_levels } => Ok(by_rising(runs, least_levels)),
        _ => return None,
    };
    Some(decided.unwrap_or_else(|why| {
        let outcome = if why.asked() { Outcome::Undecided } else { Outcome::NotAsked };
        (outcome, Evidence::NotCompared(why))
    }))
}

fn by_verdict(runs: &Runs<'_>, load: u32, wanted: Verdict) -> Result<Decision, NotCompared> {
    let found = compared(runs, load)?;
    Ok((is(found, wanted), Evidence::Compared(vec![at(load, found)])))
}

/// Decides whether the verdict is the claimed one. The tables show the same verdict, so a claim has no threshold of its own: it would contradict them.
fn is(found: &Comparison, wanted: Verdict) -> Outcome {
    match found.verdict {
        Verdict::Undecided => Outcome::Undecided,
        verdict if verdict == wanted => Outcome::Holds,
        _ => Outcome::DoesNotHold,
    }
}

fn by_slower_still(runs: &Runs<'_>, (from, to): (u32, u32)) -> Result<Decision, NotCompared> {
    let (lower, higher) = (compared(runs, from)?, compared(runs, to)?);
    let slower = is(higher, Verdict::Slower);
    let at_higher = || Evidence::Compared(vec![at(to, higher)]);
    if slower == Outcome::DoesNotHold {
        return Ok((Outcome::DoesNotHold, at_higher()));
    }
    let step = step(runs, (from, lower), (to, higher));
    Ok(match step.change {
        Change::Falls | Change::Flat(_) => (Outcome::DoesNotHold, Evidence::Step(step)),
        Change::Rises if slower == Outcome::Undecided => (Outcome::Undecided, at_higher()),
        Change::Rises => (Outcome::Holds, Evidence::Step(step)),
        Change::Unclear => (Outcome::Undecided, Evidence::Step(step)),
    })
}

fn by_rising(runs: &Runs<'_>, needed: usize) -> Decision {
    let all = runs.analysis.levels.iter();
    let levels: Vec<(u32, &Comparison)> =
        all.filter_map(|level| Some((level.load, of_pair(level, runs)?))).collect();
    if levels.len() < needed {
        return (Outcome::Undecided, Evidence::FewLevels(levels.len(), needed));
    }
    let mut steps: Vec<Step> = levels.windows(2).map(|two| step(runs, two[0], two[1])).collect();
    let first = |wanted: fn(&Change) -> bool| steps.iter().position(|step| wanted(&step.change));
    let against = first(|change| matches!(change, Change::Falls | Change::Flat(_)));
    match (against, first(|change| *change == Change::Unclear)) {
        (Some(against), _) => (Outcome::DoesNotHold, Evidence::Step(steps.swap_remove(against))),
        (None, Some(unclear)) => (Outcome::Undecided, Evidence::Step(steps.swap_remove(unclear))),
        (None, None) => {
            let levels = levels.into_iter().map(|(load, found)| at(load, found));
            (Outcome::Holds, Evidence::Compared(levels.collect()))
        }
    }
}

/// The ratio at one load over that at a lower one: not whether their two intervals overlap, which takes twice the rounds. Its interval errs as
/// rarely as that of the comparison at the higher load; [`super::confidence`] counts both.
fn step(runs: &Runs<'_>, from: (u32, &Comparison), to: (u32, &Comparison)) -> Step {
    let (delta, alpha) = (runs.plan.delta, analysis::alpha_per_interval(runs.plan, runs.host, to.0));
    let place = runs.plan.alternatives.iter().position(|it| it.name == runs.pair.alternative);
    let found = place.and_then(|place| analysis::step(runs.plan, runs.batches, place, (from.0, to.0), alpha));
    // A record without its runs has only the ratio.
    let moved = found.unwrap_or(Ratio { ratio: to.1.ratio / from.1.ratio, low: None, high: None });
    // A missing end is an open one: it can still be below 0 or above everything.
    let (low, high) = (moved.low.unwrap_or(0.0), moved.high.unwrap_or(f64::INFINITY));
    let change = if low > 1.0 + delta {
        Change::Rises
    } else if high < 1.0 {
        Change::Falls
    } else if high <= 1.0 + delta {
        Change::Flat(delta)
    } else {
        Change::Unclear
    };
    Step { levels: [at(from.0, from.1), at(to.0, to.1)], moved, change }
}

fn at(load: u32, found: &Comparison) -> AtLoad {
    let ratio = Ratio { ratio: found.ratio, low: found.low, high: found.high };
    AtLoad { load, verdict: found.verdict, ratio }
}

/// The comparison of the pair at a load, or why there is none.
pub fn compared<'a>(runs: &Runs<'a>, load: u32) -> Result<&'a Comparison, NotCompared> {
    let level = runs.analysis.levels.iter().find(|level| level.load == load);
    if let Some(found) = level.and_then(|level| of_pair(level, runs)) {
        return Ok(found);
    }
    // Parts of a level, such as its run-queue delay, are other entries.
    let whole = Some(Quantity::Level { load });
    let reason = runs.analysis.not_measured.iter().find(|missing| missing.quantity == whole);
    Err(NotCompared { load, measured: level.is_some(), reason: reason.map(NotMeasured::because) })
}

fn of_pair<'a>(level: &'a Level, runs: &Runs<'_>) -> Option<&'a Comparison> {
    let pair = runs.pair;
    level.comparisons.iter().find(|c| c.alternative == pair.alternative && c.baseline == pair.baseline)
}
