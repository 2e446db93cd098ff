//! What the numbers themselves warn of: noise, tails, share of the machine, effects too small to trust.

use std::collections::BTreeSet;

use super::compare;
use super::context::{Context, change_since, typical_wall_s};
use super::mixtures;
use super::results::{Analysis, Comparison, Floor, Level, LevelResult};
use super::rounds::median_of;
use crate::crossover;
use crate::plan::{Alternative, Mode, Plan};
use crate::reason;
use crate::sample::{Arm, Batch, Trial};
use crate::verdict::Verdict;
use crate::warning::{Caution, Place};
use whyfaster_stats::quantile;

/// An effect smaller than this may come from how one build happens to lie in memory (Mytkowicz and others, ASPLOS 2009).
const LAYOUT: f64 = 0.01;

pub(super) fn warnings(context: &Context<'_>, analysis: &Analysis) -> Vec<Caution> {
    let mut warnings = Vec::new();
    warnings.extend(context.measured.trials.iter().filter_map(|trial| outputs_differ(context, trial)));
    warnings.extend(parameters_unused(context.measured.plan));
    warnings.extend(mixtures::warnings(context));
    warnings.extend(floor_off(context, analysis));
    warnings.extend(rates_not_kept(context, analysis));
    warnings.extend(span_under_load(context));
    warnings.extend(single_rounds(context, analysis));
    for index in context.others() {
        let name = context.name(index);
        let by_level = compared(analysis, name);
        warnings.extend(hooks_differ(context, index, &by_level));
        warnings.extend(other_rounds(context, index));
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

/// The comparisons of one alternative, with their levels.
fn compared<'a>(analysis: &'a Analysis, name: &str) -> Vec<(&'a Level, &'a Comparison)> {
    let of = |level: &'a Level| Some((level, level.comparisons.iter().find(|c| c.alternative == name)?));
    analysis.levels.iter().filter_map(of).collect()
}

/// The loads at which something is so; `None` if nowhere.
fn where_is(
    context: &Context<'_>,
    by_level: &[(&Level, &Comparison)],
    is: impl Fn(&Level, &Comparison) -> bool,
) -> Option<Place> {
    let loads: Vec<u32> = by_level.iter().filter(|(l, c)| is(l, c)).map(|(level, _)| level.load).collect();
    (!loads.is_empty()).then(|| context.place(loads))
}

fn excludes_one(low: Option<f64>, high: Option<f64>) -> bool {
    low.is_some_and(|low| low > 1.0) || high.is_some_and(|high| high < 1.0)
}

/// A decided verdict of one command line with other hooks: it may be the hooks that differ.
fn hooks_differ(context: &Context<'_>, index: usize, by_level: &[(&Level, &Comparison)]) -> Option<Caution> {
    let baseline = context.baseline();
    let &(level, comparison) = by_level.first()?;
    let decided = level.load == 1 && matches!(comparison.verdict, Verdict::Faster | Verdict::Slower);
    (decided && differ_by_hooks(context, baseline, index)).then(|| Caution::HooksDiffer {
        alternative: context.name(index).to_owned(),
        baseline: context.name(baseline).to_owned(),
    })
}

/// True if two alternatives run the same in all but their hooks.
fn differ_by_hooks(context: &Context<'_>, one: usize, other: usize) -> bool {
    let of = |index: usize| context.measured.plan.alternatives.get(index);
    let (Some(one), Some(other)) = (of(one), of(other)) else { return false };
    let hooks = |it: &Alternative| {
        [&it.setup, &it.prepare, &it.conclude, &it.cleanup].map(|hook| hook.clone().unwrap_or_default())
    };
    (&one.command, &one.env) == (&other.command, &other.env) && hooks(one) != hooks(other)
}

fn outputs_differ(context: &Context<'_>, trial: &Trial) -> Option<Caution> {
    let difference = trial.differs.as_ref()?;
    let varies = |index: usize| context.measured.trials.iter().any(|it| it.alternative == index && it.varies);
    let both = [difference.before, trial.alternative];
    Some(Caution::OutputsDiffer {
        alternative: context.name(trial.alternative).to_owned(),
        before: context.name(difference.before).to_owned(),
        place: difference.place,
        first: difference.first.clone(),
        other: difference.other.clone(),
        vary: both.into_iter().filter(|it| varies(*it)).map(|it| context.name(it).to_owned()).collect(),
    })
}

/// Parameters whose value changes nothing of what is run.
fn parameters_unused(plan: &Plan) -> impl Iterator<Item = Caution> {
    let first = plan.alternatives.first().into_iter();
    let unused = first.flat_map(|it| it.parameters.keys()).filter(|name| is_unused(&plan.alternatives, name));
    unused.map(|name| Caution::ParameterUnused { parameter: name.clone() })
}

/// Whether everything that is run, is run with each of its values.
fn is_unused(alternatives: &[Alternative], parameter: &str) -> bool {
    let (mut values, mut different) = (BTreeSet::new(), BTreeSet::new());
    for alternative in alternatives {
        let mut without = alternative.clone();
        values.insert(without.parameters.remove(parameter));
        without.name.clear();
        without.given_name = None;
        different.insert(format!("{without:?}"));
    }
    values.len() > 1 && values.len() * different.len() <= alternatives.len()
}

/// From a change of this part on, times of other rounds mislead.
const CHANGED: f64 = 0.1;

/// The level at which the machine has changed most since an alternative was decided.
fn other_rounds(context: &Context<'_>, index: usize) -> Option<Caution> {
    let baseline = context.baseline();
    let changes = context.levels.iter().filter_map(|(load, arms)| {
        let rounds = |index| arms.get(&Arm::Alternative(index)).map_or(0, |it| it.len() as u32);
        Some((*load, change_since(arms, baseline, index, typical_wall_s)?, rounds(index), rounds(baseline)))
    });
    let far = |change: f64| change.ln().abs();
    let (load, change, rounds, of) = changes.max_by(|a, b| far(a.1).total_cmp(&far(b.1)))?;
    (far(change) > CHANGED).then(|| Caution::OtherRounds {
        alternative: context.name(index).to_owned(),
        rounds,
        of,
        baseline: context.name(baseline).to_owned(),
        change,
        at: context.place(vec![load]),
    })
}

fn floor_off(context: &Context<'_>, analysis: &Analysis) -> Option<Caution> {
    let off = |floor: &Option<Floor>| floor.is_some_and(|floor| excludes_one(floor.low, floor.high));
    let loads: Vec<u32> =
        analysis.levels.iter().filter(|level| off(&level.floor)).map(|level| level.load).collect();
    let at = (!loads.is_empty()).then(|| context.place(loads));
    (at.is_some() || off(&analysis.floor)).then_some(Caution::HiddenCopyDiffers { at })
}

fn span_under_load(context: &Context<'_>) -> Option<Caution> {
    if let Mode::Open { .. } = context.mode() {
        return Some(Caution::SpanByTheClock);
    }
    let lowest = context.alone.iter().flatten().map(|(load, _)| *load).max().filter(|&load| load > 1)?;
    Some(Caution::SpanUnderLoad { load: lowest })
}

/// The last quarter of the copies took so many times as long as the first one where they queue up.
const QUEUES_UP: f64 = 2.0;
/// Copies that end at this part of the rate or more keep it.
const KEPT: f64 = 0.95;

/// Alternatives whose copies come faster than they end. A long copy alone also ends late, so both must be: few ends, and longer and longer waits.
fn rates_not_kept(context: &Context<'_>, analysis: &Analysis) -> Vec<Caution> {
    let Mode::Open { rate_per_s, .. } = context.mode() else { return Vec::new() };
    let arms = context.levels.values().next();
    let grows = |batch: &Batch| {
        let walls = &batch.copies.wall_s;
        let quarter = (walls.len() / 4).max(1);
        let of = |walls: &[f64]| quantile::median(walls).unwrap_or(f64::NAN);
        of(&walls[walls.len() - quarter..]) / of(&walls[..quarter])
    };
    let caution = |result: &LevelResult| {
        let index = context.alternatives().find(|&index| context.name(index) == result.alternative)?;
        let batches: Vec<&Batch> = arms?.get(&Arm::Alternative(index))?.values().copied().collect();
        let queues = median_of(&batches, grows) >= QUEUES_UP;
        (queues && result.throughput_per_s < rate_per_s * KEPT).then(|| Caution::RateNotKept {
            alternative: result.alternative.clone(),
            rate_per_s,
            ended_per_s: result.throughput_per_s,
        })
    };
    analysis.levels.iter().flat_map(|level| &level.results).filter_map(caution).collect()
}

fn single_rounds(context: &Context<'_>, analysis: &Analysis) -> Option<Caution> {
    let single = |level: &&Level| level.results.iter().any(|result| result.rounds == 1);
    let loads: Vec<u32> = analysis.levels.iter().filter(single).map(|level| level.load).collect();
    (!loads.is_empty()).then(|| Caution::SingleRound { at: context.place(loads) })
}

/// Median and mean say opposite things, both surely: the tail decides.
fn tails(context: &Context<'_>, by_level: &[(&Level, &Comparison)]) -> Option<Caution> {
    let opposed = |_: &Level, c: &Comparison| {
        let Some(totals) = c.ratio_of_totals else { return false };
        let below = |high: Option<f64>| high.is_some_and(|high| high < 1.0);
        let above = |low: Option<f64>| low.is_some_and(|low| low > 1.0);
        below(c.high) && above(totals.low) || above(c.low) && below(totals.high)
    };
    let at = where_is(context, by_level, opposed)?;
    let (alternative, baseline) = names(by_level)?;
    Some(Caution::TailsOppose { alternative, baseline, at })
}

/// On a full machine a copy also ends earlier by getting more CPU than others would: that is no saving.
fn more_share(context: &Context<'_>, level: &Level, c: &Comparison) -> Option<Caution> {
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
    let (winner, loser) = (winner.clone(), loser.clone());
    Some(Caution::MoreShareNotLessWork {
        winner,
        loser,
        at: context.place(vec![level.load]),
        time,
        work,
        share,
    })
}

fn below_floor(context: &Context<'_>, by_level: &[(&Level, &Comparison)]) -> Option<Caution> {
    let below = |_: &Level, c: &Comparison| c.verdict == Verdict::Undecided && excludes_one(c.low, c.high);
    let at = where_is(context, by_level, below)?;
    let (alternative, baseline) = names(by_level)?;
    Some(Caution::BelowFloor { alternative, baseline, at })
}

fn tiny(context: &Context<'_>, by_level: &[(&Level, &Comparison)]) -> Option<Caution> {
    let tiny = |_: &Level, c: &Comparison| {
        matches!(c.verdict, Verdict::Faster | Verdict::Slower) && c.ratio.ln().abs() < LAYOUT
    };
    let at = where_is(context, by_level, tiny)?;
    let (alternative, baseline) = names(by_level)?;
    Some(Caution::MaybeLayout { alternative, baseline, at, below: LAYOUT })
}

fn flips_back(analysis: &Analysis, name: &str) -> Option<Caution> {
    let flips = crossover::flip_count(&compare::verdicts_of(&analysis.levels, name));
    (flips > 1).then(|| Caution::FlipsBack { alternative: name.to_owned(), flips })
}

/// The alternative and the baseline.
fn names(by_level: &[(&Level, &Comparison)]) -> Option<(String, String)> {
    let (_, c) = by_level.first()?;
    Some((c.alternative.clone(), c.baseline.clone()))
}
