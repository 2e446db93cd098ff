//! Whether there is anything to explain, and whether it can be done here.

use whyfaster_core::analysis::Comparison;
use whyfaster_core::plan::{Explain, Mode, Plan};
use whyfaster_core::verdict::Verdict;
use whyfaster_core::why;
use whyfaster_core::why::statement::{Missing, Refusal};

use super::super::machine::Machine;
use super::so_far::{SoFar, shares_s};
use super::{confirm, rounds};

/// Of a hard `--max-time`, the part that is kept for an explanation.
const KEPT: f64 = 0.4;

/// Seconds that an explanation that was asked for needs at least, on a busy machine: loading the tracer, the prices of
/// operations and some rounds.
const NEEDED_S: f64 = 3.0;

/// The part of a hard `--max-time` that an explanation may take from the verdicts to get these.
const KEPT_AT_MOST: f64 = 0.6;

/// What is to be done.
#[derive(Debug, PartialEq)]
pub(super) enum Feasibility {
    /// Nothing, and nothing is to be said.
    Nothing,
    /// It cannot be done, or makes no sense: why.
    Refused(Refusal),
    /// The full level is not to be had: why. These alternatives, the baseline among them, are counted.
    Counted(Vec<usize>, Refusal),
    /// These alternatives, the baseline among them, are observed.
    Traced(Vec<usize>),
}

/// Seconds of `--max-time` that the verdicts leave to an explanation, if there will be a difference to explain.
pub(crate) fn reserved_s(plan: &Plan, machine: &dyn Machine) -> f64 {
    let possible = plan.explain.is_some() && plan.alternatives.len() > 1 && machine.support().full();
    if possible && plan.rounds.max_time_hard && impossible(plan).is_none() {
        let asked = plan.explain.as_ref().is_some_and(|wanted| wanted.asked);
        kept_s(plan.rounds.max_time_s, asked)
    } else {
        0.0
    }
}

/// Seconds that an explanation will about take if there is a difference, by what a copy of each alternative took alone (wall and CPU
/// time); for those who wait.
pub(crate) fn expected_s(plan: &Plan, alone: &[(f64, f64)], machine: &dyn Machine) -> f64 {
    let Some(wanted) = &plan.explain else { return 0.0 };
    if plan.alternatives.len() < 2 || impossible(plan).is_some() {
        return 0.0;
    }
    let spans = || alone.iter().map(|(span_s, _)| *span_s);
    let most_s = match plan.rounds.max_time_hard {
        true => kept_s(plan.rounds.max_time_s, wanted.asked),
        false => plan.rounds.max_time_s.max(shares_s(plan, spans().sum(), plan.rounds.max_time_s).0),
    };
    let observed_s = match machine.support().full() {
        true => rounds::expected_s(wanted, spans()),
        false => spans().sum(),
    };
    let tried_s = if wanted.confirm { confirm::expected_s(spans()) } else { 0.0 };
    (observed_s + tried_s).min(most_s)
}

/// Of so many seconds in all.
fn kept_s(max_time_s: f64, asked: bool) -> f64 {
    let usual = KEPT * max_time_s;
    if asked { usual.max(NEEDED_S.min(KEPT_AT_MOST * max_time_s)) } else { usual }
}

/// Decides.
pub(super) fn feasibility(so_far: &SoFar<'_>) -> Feasibility {
    let plan = so_far.plan;
    let Some(wanted) = &plan.explain else { return Feasibility::Nothing };
    let if_asked = |why: Refusal| match wanted.asked {
        true => Feasibility::Refused(why),
        false => Feasibility::Nothing,
    };
    if so_far.machine.interrupted() {
        return if_asked(Refusal::Interrupted);
    }
    if so_far.analysis.levels.is_empty() {
        return Feasibility::Nothing;
    }
    if plan.alternatives.len() < 2 {
        return if_asked(Refusal::OneCommand);
    }
    if let Some(why) = impossible(plan) {
        return if_asked(why);
    }
    let found = so_far.machine.support();
    let differing = differing(so_far, found.full());
    if differing.is_empty() {
        return if_asked(Refusal::NothingDiffers);
    }
    let mut traced = vec![plan.baseline];
    traced.extend(differing);
    traced.sort_unstable();
    if !found.full() {
        return Feasibility::Counted(traced, needs(&found.missing, wanted));
    }
    let left_s = so_far.ends().last_s - so_far.now_s();
    if left_s <= 0.0 && plan.rounds.max_time_hard {
        return Feasibility::Refused(Refusal::NoTime);
    }
    Feasibility::Traced(traced)
}

/// Why such a plan cannot be explained.
fn impossible(plan: &Plan) -> Option<Refusal> {
    use whyfaster_core::plan::Loads;
    match (&plan.loads, plan.mode) {
        (_, Mode::Open { .. }) => Some(Refusal::OpenMode),
        (Loads::Fixed(loads), _) if !loads.contains(&1) => Some(Refusal::NoLevelOfOne),
        _ => None,
    }
}

/// Alternatives that are faster or slower than the baseline, alone; where runs can be observed, also those of which that is not known and
/// which need more CPU time or less.
fn differing(so_far: &SoFar<'_>, observed: bool) -> Vec<usize> {
    let alone = so_far.analysis.levels.iter().find(|level| level.load == 1);
    let differs = |it: &&Comparison| match it.verdict {
        Verdict::Undecided if !observed => false,
        _ => why::worth_observing(it, so_far.plan.delta),
    };
    let index = |name: &str| so_far.plan.alternatives.iter().position(|it| it.name == name);
    let comparisons = alone.into_iter().flat_map(|level| &level.comparisons);
    comparisons.filter(differs).filter_map(|it| index(&it.alternative)).collect()
}

/// What the full level needs and this machine or user lacks.
fn needs(missing: &[whyfaster_trace::Missing], wanted: &Explain) -> Refusal {
    let one = |it: &whyfaster_trace::Missing| Missing {
        what: it.what.clone(),
        why: it.why.clone(),
        remedy: it.remedy.clone(),
        command: it.command.clone(),
    };
    Refusal::Needs { missing: missing.iter().map(one).collect(), asked: wanted.asked }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_asks_gets_enough_for_rounds_and_not_all() {
        assert_eq!(kept_s(5.0, false), 2.0);
        assert_eq!(kept_s(5.0, true), 3.0);
        assert_eq!(kept_s(2.0, true), 1.2);
        assert_eq!(kept_s(60.0, true), kept_s(60.0, false));
    }
}
