//! Rules about the ratio at one load, and how it moves from load to load. Ratios are alternative over baseline in time: below 1
//! is faster.

use super::evidence::{AtLoad, Change, Decision, Evidence, NotCompared, Outcome};
use super::rule::{Rule, Runs};
use crate::analysis::{Comparison, Level};
use crate::missing::{NotMeasured, Quantity};
use crate::verdict::{Ratio, Verdict};

/// Decides a rule about loads; `None` for others.
pub(super) fn decide(rule: &Rule, runs: &Runs<'_>) -> Option<Decision> {
    let decided = match *rule {
        Rule::Verdict { load, verdict } => by_verdict(runs, load, verdict),
        Rule::SlowerStill { from, to } => by_slower_still(runs, from, to),
        Rule::RisesThroughout { least_levels } => Ok(by_rising(runs, least_levels)),
        _ => return None,
    };
    Some(decided.unwrap_or_else(|why| (Outcome::Undecided, Evidence::NotCompared(why))))
}

fn by_verdict(runs: &Runs<'_>, load: u32, wanted: Verdict) -> Result<Decision, NotCompared> {
    let found = compared(runs, load)?;
    let outcome = match found.verdict {
        verdict if verdict == wanted => Outcome::Holds,
        Verdict::Undecided => Outcome::Undecided,
        Verdict::Faster | Verdict::Slower | Verdict::Same => Outcome::DoesNotHold,
    };
    Ok((outcome, Evidence::Compared(vec![at(load, found)])))
}

fn by_slower_still(runs: &Runs<'_>, from: u32, to: u32) -> Result<Decision, NotCompared> {
    let (lower, higher) = (compared(runs, from)?, compared(runs, to)?);
    if matches!(higher.verdict, Verdict::Faster | Verdict::Same) {
        return Ok((Outcome::DoesNotHold, Evidence::Compared(vec![at(to, higher)])));
    }
    let (change, step) = step((from, lower), (to, higher), runs.delta);
    Ok(match change {
        Change::Falls | Change::Flat(_) => (Outcome::DoesNotHold, step),
        Change::Rises if higher.verdict == Verdict::Slower => (Outcome::Holds, step),
        Change::Rises => (Outcome::Undecided, Evidence::Compared(vec![at(to, higher)])),
        Change::Unclear => (Outcome::Undecided, step),
    })
}

fn by_rising(runs: &Runs<'_>, needed: usize) -> Decision {
    let all = runs.analysis.levels.iter();
    let levels: Vec<(u32, &Comparison)> =
        all.filter_map(|level| Some((level.load, of_pair(level, runs)?))).collect();
    if levels.len() < needed {
        return (Outcome::Undecided, Evidence::FewLevels(levels.len(), needed));
    }
    let mut steps: Vec<(Change, Evidence)> =
        levels.windows(2).map(|two| step(two[0], two[1], runs.delta)).collect();
    let first = |wanted: fn(&Change) -> bool| steps.iter().position(|(change, _)| wanted(change));
    let against = first(|change| matches!(change, Change::Falls | Change::Flat(_)));
    match (against, first(|change| *change == Change::Unclear)) {
        (Some(against), _) => (Outcome::DoesNotHold, steps.swap_remove(against).1),
        (None, Some(unclear)) => (Outcome::Undecided, steps.swap_remove(unclear).1),
        (None, None) => {
            let levels = levels.into_iter().map(|(load, found)| at(load, found));
            (Outcome::Holds, Evidence::Compared(levels.collect()))
        }
    }
}

fn step(from: (u32, &Comparison), to: (u32, &Comparison), delta: f64) -> (Change, Evidence) {
    // A missing end is an open one: it can still be below 0 or above everything.
    let low = |c: &Comparison| c.low.unwrap_or(0.0);
    let high = |c: &Comparison| c.high.unwrap_or(f64::INFINITY);
    let change = if low(to.1) > high(from.1) {
        Change::Rises
    } else if high(to.1) < low(from.1) {
        Change::Falls
    } else if high(to.1) <= low(from.1) * (1.0 + delta) {
        Change::Flat(delta)
    } else {
        Change::Unclear
    };
    (change, Evidence::Step([at(from.0, from.1), at(to.0, to.1)], change))
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
