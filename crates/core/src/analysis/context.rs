//! What every part of the analysis needs: the batches in rounds, what each alternative takes alone, and the rule of all comparisons.

use std::collections::BTreeMap;

use super::rounds::{Arms, TINY_S, arms, median_of, median_wall};
use crate::bounds::{self, Alone};
use crate::crossover;
use crate::host::Host;
use crate::missing::NotMeasured;
use crate::plan::{Mode, Plan};
use crate::sample::{Arm, Batch, Duet, SchedAccount, Trial};
use crate::verdict::Rule;
use crate::warning::Place;
use whyfaster_stats::looks::Precision;

/// What there is to analyse.
#[derive(Clone, Copy, Debug)]
pub struct Measured<'a> {
    /// What was to be run.
    pub plan: &'a Plan,
    /// The machine.
    pub host: &'a Host,
    /// The untimed runs.
    pub trials: &'a [Trial],
    /// The timed batches.
    pub batches: &'a [Batch],
    /// Scheduling accounts.
    pub accounts: &'a [SchedAccount],
    /// Alternatives at once with the baseline.
    pub duets: &'a [Duet],
    /// What the runner could not measure.
    pub not_measured: &'a [NotMeasured],
}

/// What every part of the analysis needs.
pub(super) struct Context<'a> {
    pub(super) measured: Measured<'a>,
    /// CPUs that the copies could use.
    pub(super) capacity: f64,
    /// Usable batches by load, arm and round.
    pub(super) levels: BTreeMap<u32, Arms<'a>>,
    /// Span and work of every alternative, and the load at which they were taken.
    pub(super) alone: Vec<Option<(u32, Alone)>>,
}

impl<'a> Context<'a> {
    pub(super) fn new(measured: Measured<'a>) -> Self {
        let Measured { plan, host, batches, .. } = measured;
        let mut by_load: BTreeMap<u32, Vec<&Batch>> = BTreeMap::new();
        for batch in batches {
            by_load.entry(batch.load).or_default().push(batch);
        }
        let levels = by_load.into_iter().map(|(load, batches)| (load, arms(batches, plan.mode)));
        let levels: BTreeMap<_, _> = levels.filter(|(_, arms)| !arms.is_empty()).collect();
        let alone = (0..plan.alternatives.len()).map(|index| alone(&levels, plan.baseline, index)).collect();
        Self { measured, capacity: bounds::capacity(plan, host), levels, alone }
    }

    /// The rule of every comparison at a level, when all is over.
    pub(super) fn rule(&self, load: u32) -> Rule {
        let Measured { plan, host, .. } = self.measured;
        Rule { delta_at_end: plan.delta_at_end, ..rule(plan, alpha_per_interval(plan, host, load)) }
    }

    /// These loads, as a statement names them.
    pub(super) fn place(&self, loads: Vec<u32>) -> Place {
        Place::of(self.mode(), loads)
    }

    pub(super) fn mode(&self) -> Mode {
        self.measured.plan.mode
    }

    pub(super) fn name(&self, index: usize) -> &str {
        // Every index comes from counting the alternatives or from `baseline`, which a damaged record may have wrong.
        self.measured.plan.alternatives.get(index).map_or("", |alternative| &alternative.name)
    }

    pub(super) fn baseline(&self) -> usize {
        self.measured.plan.baseline
    }

    pub(super) fn alternatives(&self) -> std::ops::Range<usize> {
        0..self.measured.plan.alternatives.len()
    }

    /// All alternatives but the baseline.
    pub(super) fn others(&self) -> impl Iterator<Item = usize> {
        others(self.measured.plan)
    }

    pub(super) fn alone(&self, index: usize) -> Option<Alone> {
        self.alone.get(index).copied().flatten().map(|(_, alone)| alone)
    }

    /// Whether one copy of it was measured alone, so that its span is that.
    pub(super) fn ran_alone(&self, index: usize) -> bool {
        self.alone.get(index).copied().flatten().is_some_and(|(load, _)| load == 1)
    }
}

/// Span and work of an alternative, from the lowest level at which it ran. `None` when it never ran, when the time-out ended
/// half of its copies, or when the kernel counted no CPU time.
fn alone(levels: &BTreeMap<u32, Arms<'_>>, baseline: usize, index: usize) -> Option<(u32, Alone)> {
    let (load, arms) = levels.iter().find(|(_, arms)| arms.contains_key(&Arm::Alternative(index)))?;
    let batches: Vec<&Batch> = arms.get(&Arm::Alternative(index))?.values().copied().collect();
    let span = median_wall(&batches).filter(|span| span.high.is_finite() && span.value > TINY_S)?;
    let work_s = median_of(&batches, |batch| batch.work_s() / batch.copies.len() as f64);
    let since = |of: &dyn Fn(&Batch) -> f64| change_since(arms, baseline, index, of).unwrap_or(1.0);
    let span_s = span.value * since(&typical_wall_s);
    let alone = Alone { span_s, work_s: work_s * since(&Batch::work_s) };
    (work_s > TINY_S).then_some((*load, alone))
}

/// The median wall time of a batch's copies.
pub(super) fn typical_wall_s(batch: &Batch) -> f64 {
    median_wall(&[batch]).map_or(0.0, |wall| wall.value)
}

/// How many times as much the baseline needs over all of its rounds as in those in which this alternative ran too. An alternative that was
/// decided early ran in the first rounds only, and the speed of the machine changes: brought to all rounds, times are those of one machine.
/// `None` where it ran in all of them, or where nothing is known of those in which it did not.
pub(super) fn change_since(
    arms: &Arms<'_>,
    baseline: usize,
    index: usize,
    of: impl Fn(&Batch) -> f64,
) -> Option<f64> {
    let (all, own) = (arms.get(&Arm::Alternative(baseline))?, arms.get(&Arm::Alternative(index))?);
    let whole: Vec<&Batch> = all.values().copied().collect();
    let then: Vec<&Batch> =
        all.iter().filter(|(round, _)| own.contains_key(round)).map(|(_, batch)| *batch).collect();
    if then.len() == whole.len() {
        return None;
    }
    let before = median_of(&then, &of);
    (before > TINY_S).then(|| median_of(&whole, &of) / before)
}

/// Error probability of one comparison's interval at a level: what the plan's confidence leaves, shared over all
/// comparisons at all levels that the plan may come to. It depends on nothing measured, so that it is the same at the
/// first look and the last.
pub fn alpha_per_interval(plan: &Plan, host: &Host, load: u32) -> f64 {
    let share = crossover::error_share(plan, bounds::capacity(plan, host), load);
    whyfaster_stats::bonferroni(alpha(plan) * share, others(plan).count())
}

/// Error probability of the whole record. A damaged record may have any confidence; here it stays a probability.
pub(super) fn alpha(plan: &Plan) -> f64 {
    (1.0 - plan.confidence).clamp(1e-12, 0.5)
}

/// Error probability of what is said of one alternative by itself, whatever levels there are.
pub(super) fn alpha_per_alternative(plan: &Plan) -> f64 {
    whyfaster_stats::bonferroni(alpha(plan), others(plan).count())
}

/// How the interval of a median of so many rounds is made. Cut short, their number was not fixed after all.
pub(super) fn precision(plan: &Plan, alpha: f64, rounds: usize) -> Precision {
    Precision { alpha, fixed: plan.rounds.fixed && rounds == plan.rounds.max as usize }
}

/// All alternatives but the baseline.
pub(super) fn others(plan: &Plan) -> impl Iterator<Item = usize> + use<> {
    let baseline = plan.baseline;
    (0..plan.alternatives.len()).filter(move |&index| index != baseline)
}

/// The rule of every comparison of a plan. There is one floor a level, so floors share the error over levels only.
pub(super) fn rule(plan: &Plan, alpha: f64) -> Rule {
    Rule {
        delta: plan.delta,
        delta_at_end: None,
        alpha,
        floor_alpha: alpha * others(plan).count().max(1) as f64,
        fixed: plan.rounds.fixed.then(|| plan.rounds.max.div_ceil(plan.block())),
        base: 1 + usize::from(plan.extra_runs()),
        shuffled: plan.extra_runs() && plan.rounds_per_setup.is_none(),
    }
}
