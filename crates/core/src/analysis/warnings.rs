//! What the numbers themselves warn of: noise, tails, share of the machine, effects too small to trust.

use super::compare;
use super::context::Context;
use super::results::{Analysis, Comparison, Floor, Level};
use super::words::{at, percent};
use crate::crossover;
use crate::host::Warning;
use crate::plan::Mode;
use crate::reason;
use crate::verdict::Verdict;

/// An effect smaller than this may come from how one build happens to lie in memory (Mytkowicz and others, ASPLOS 2009).
const LAYOUT: f64 = 0.01;

pub(super) fn warnings(context: &Context<'_>, analysis: &Analysis) -> Vec<Warning> {
    let mut warnings = Vec::new();
    warnings.extend(floor_off(context, analysis));
    warnings.extend(span_under_load(context));
    warnings.extend(single_rounds(context, analysis));
    for index in context.others() {
        let name = context.name(index);
        let by_level = compared(analysis, name);
        warnings.extend(tails(context, &by_level));
        warnings.extend(
            by_level.iter().filter_map(|&(level, comparison)| more_share(context, level, comparison)),
        );
        warnings.extend(below_floor(context, &by_level));
        warnings.extend(tiny(context, &by_level));
        warnings.extend(flips_back(analysis, name));
    }
    warnings
}

pub(super) fn warning(what: String, remedy: &str) -> Warning {
    Warning { what, remedy: remedy.to_owned() }
}

/// The comparisons of one alternative, with their levels.
fn compared<'a>(analysis: &'a Analysis, name: &str) -> Vec<(&'a Level, &'a Comparison)> {
    let of = |level: &'a Level| Some((level, level.comparisons.iter().find(|c| c.alternative == name)?));
    analysis.levels.iter().filter_map(of).collect()
}

/// The loads at which something is so, as words; `None` if nowhere.
fn where_is(
    context: &Context<'_>,
    by_level: &[(&Level, &Comparison)],
    is: impl Fn(&Level, &Comparison) -> bool,
) -> Option<String> {
    let loads: Vec<u32> = by_level.iter().filter(|(l, c)| is(l, c)).map(|(level, _)| level.load).collect();
    (!loads.is_empty()).then(|| at(context.mode(), &loads))
}

fn excludes_one(low: Option<f64>, high: Option<f64>) -> bool {
    low.is_some_and(|low| low > 1.0) || high.is_some_and(|high| high < 1.0)
}

fn floor_off(context: &Context<'_>, analysis: &Analysis) -> Vec<Warning> {
    let off = |floor: &Option<Floor>| floor.is_some_and(|floor| excludes_one(floor.low, floor.high));
    let loads: Vec<u32> =
        analysis.levels.iter().filter(|level| off(&level.floor)).map(|level| level.load).collect();
    let place = match (loads.is_empty(), off(&analysis.floor)) {
        (false, _) => at(context.mode(), &loads),
        (true, true) => "over all levels together".to_owned(),
        (true, false) => return Vec::new(),
    };
    vec![warning(
        format!(
            "the baseline differs from its own hidden copy {place}: something other than the commands decides part of the time"
        ),
        "look for state that one run leaves to the next (caches, files, a clock that falls): use --prepare, or measure again on a quieter machine",
    )]
}

fn span_under_load(context: &Context<'_>) -> Option<Warning> {
    if let Mode::Open { .. } = context.mode() {
        return Some(warning(
            "span and work were taken from copies that arrived by the clock, perhaps beside others"
                .to_owned(),
            "measure once in batch mode at --load 1 for the span of one copy alone",
        ));
    }
    let lowest = context.alone.iter().flatten().map(|(load, _)| *load).max().filter(|&load| load > 1)?;
    Some(warning(
        format!(
            "the span was taken at load {lowest}, not from one copy alone: it holds waiting for the CPU, so the bounds may be too high"
        ),
        "add 1 to --load",
    ))
}

fn single_rounds(context: &Context<'_>, analysis: &Analysis) -> Option<Warning> {
    let single = |level: &&Level| level.results.iter().any(|result| result.rounds == 1);
    let loads: Vec<u32> = analysis.levels.iter().filter(single).map(|level| level.load).collect();
    (!loads.is_empty()).then(|| {
        warning(
            format!(
                "only one round ran {}: its numbers carry no uncertainty at all",
                at(context.mode(), &loads)
            ),
            "give it more time (--max-time) or more rounds (--min-runs)",
        )
    })
}

/// Median and mean say opposite things, both surely: the tail decides.
fn tails(context: &Context<'_>, by_level: &[(&Level, &Comparison)]) -> Option<Warning> {
    let opposed = |_: &Level, c: &Comparison| {
        let Some(totals) = c.ratio_of_totals else { return false };
        let below = |high: Option<f64>| high.is_some_and(|high| high < 1.0);
        let above = |low: Option<f64>| low.is_some_and(|low| low > 1.0);
        below(c.high) && above(totals.low) || above(c.low) && below(totals.high)
    };
    let place = where_is(context, by_level, opposed)?;
    let names = names(by_level)?;
    Some(warning(
        format!(
            "{names}: the typical round and the total say opposite things {place}: a few slow rounds outweigh the rest"
        ),
        "decide which one matters: the verdict follows the median, ratio_of_totals the sum; the latency quantiles show the tail",
    ))
}

/// On a full machine a copy also ends earlier by getting more CPU than others would: that is no saving.
fn more_share(context: &Context<'_>, level: &Level, c: &Comparison) -> Option<Warning> {
    let (work, share) = (c.work?, c.share?);
    let result = |name: &str| level.results.iter().find(|result| result.alternative == name);
    let full = |name: &str| result(name)?.bound.filter(|bound| bound.work_s >= bound.span_s);
    full(&c.alternative)?;
    full(&c.baseline)?;
    let decided = matches!(c.verdict, Verdict::Faster | Verdict::Slower);
    // Work must explain at least half of the time, or the share decided.
    let explained = reason::explained(c.ratio, work);
    if !decided || !share.excludes_one() || !reason::is_minor(explained) {
        return None;
    }
    let (winner, loser, time, work, share) = if c.verdict == Verdict::Faster {
        (&c.alternative, &c.baseline, c.ratio, work.ratio, share.ratio)
    } else {
        (&c.baseline, &c.alternative, c.ratio.recip(), work.ratio.recip(), share.ratio.recip())
    };
    let place = at(context.mode(), &[level.load]);
    Some(warning(
        format!(
            "'{winner}' took {time:.2}x the time of '{loser}' {place} with {work:.2}x the work: it got {share:.2}x the share of the machine, \
             rather than doing less"
        ),
        "where other programs want the CPUs too, expect the ratio of work, not of time; compare --placement session with --placement shared",
    ))
}

fn below_floor(context: &Context<'_>, by_level: &[(&Level, &Comparison)]) -> Option<Warning> {
    let below = |_: &Level, c: &Comparison| c.verdict == Verdict::Undecided && excludes_one(c.low, c.high);
    let place = where_is(context, by_level, below)?;
    let names = names(by_level)?;
    Some(warning(
        format!(
            "{names}: the difference {place} is not above the floor: the baseline differs from its own copy by as much"
        ),
        "measure on a quieter machine, or give it more time (--max-time): the floor narrows with rounds",
    ))
}

fn tiny(context: &Context<'_>, by_level: &[(&Level, &Comparison)]) -> Option<Warning> {
    let tiny = |_: &Level, c: &Comparison| {
        matches!(c.verdict, Verdict::Faster | Verdict::Slower) && c.ratio.ln().abs() < LAYOUT
    };
    let place = where_is(context, by_level, tiny)?;
    let names = names(by_level)?;
    Some(warning(
        format!("{names}: the difference {place} is below {}: it may be layout, not code", percent(LAYOUT)),
        "rebuild with another link order, or change the size of the environment, and see whether the difference stays",
    ))
}

fn flips_back(analysis: &Analysis, name: &str) -> Option<Warning> {
    let flips = crossover::flip_count(&compare::verdicts_of(&analysis.levels, name));
    (flips > 1).then(|| {
        warning(
            format!("'{name}': the winner changes {flips} times with the load; the crossover is the first of them"),
            "read the ranges of verdicts, and measure the loads in doubt again with more rounds (--load, --min-runs)",
        )
    })
}

fn names(by_level: &[(&Level, &Comparison)]) -> Option<String> {
    let (_, c) = by_level.first()?;
    Some(format!("'{}' against '{}'", c.alternative, c.baseline))
}
