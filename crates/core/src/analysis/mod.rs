//! From raw samples to results: everything in a record that is not a plan, a fact or a sample.
//!
//! Pure and repeatable: the same samples give the same analysis, in whatever order they come, so a stored record can be
//! analysed again by a later version.

mod compare;
mod disturbances;
mod gaps;
mod levels;
mod rounds;
#[cfg(test)]
mod tests;
mod warnings;
mod words;

use std::collections::BTreeMap;

pub use self::compare::{alpha_per_interval, least_rounds, level_verdicts};
pub use self::gaps::{RUN_QUEUE_DELAY, level_name};
pub use self::rounds::{time, time_of};

use self::rounds::{Arms, arms};
use crate::bounds::{self, Alone};
use crate::crossover;
use crate::host::{Host, NotMeasured};
use crate::plan::{Mode, Plan};
use crate::record::{AlternativeSummary, Analysis, Crossover, Level, NotPredicted};
use crate::sample::{Arm, Batch, SchedAccount, Trial};
use crate::verdict::{Ratio, Rule};

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
    /// What the runner could not measure.
    pub not_measured: &'a [NotMeasured],
}

/// Analyses what was measured; calling it again on a stored record gives the same.
pub fn analyse(measured: Measured<'_>) -> Analysis {
    let context = Context::new(measured);
    let levels = context.levels.iter().map(|(&load, arms)| level(&context, load, arms)).collect::<Vec<_>>();
    let mut analysis = Analysis {
        alternatives: summaries(&context),
        crossovers: crossovers(&context, &levels),
        floor: compare::overall_floor(&context),
        levels,
        warnings: Vec::new(),
        not_measured: Vec::new(),
    };
    analysis.warnings = warnings::warnings(&context, &analysis);
    analysis.warnings.extend(disturbances::warnings(&context));
    analysis.not_measured = gaps::not_measured(&context, &analysis);
    analysis
}

/// What every part of the analysis needs.
struct Context<'a> {
    measured: Measured<'a>,
    /// CPUs that the copies could use.
    capacity: f64,
    /// Usable batches by load, arm and round.
    levels: BTreeMap<u32, Arms<'a>>,
    /// Span and work of every alternative, and the load at which they were taken.
    alone: Vec<Option<(u32, Alone)>>,
}

impl<'a> Context<'a> {
    fn new(measured: Measured<'a>) -> Self {
        let Measured { plan, host, batches, .. } = measured;
        let mut by_load: BTreeMap<u32, Vec<&Batch>> = BTreeMap::new();
        for batch in batches {
            by_load.entry(batch.load).or_default().push(batch);
        }
        let levels = by_load.into_iter().map(|(load, batches)| (load, arms(batches, plan.mode)));
        let levels: BTreeMap<_, _> = levels.filter(|(_, arms)| !arms.is_empty()).collect();
        let alone = (0..plan.alternatives.len()).map(|index| levels::alone(&levels, index)).collect();
        Self { measured, capacity: bounds::capacity(plan, host), levels, alone }
    }

    /// The rule of every comparison at a load.
    fn rule(&self, load: u32) -> Rule {
        let Measured { plan, host, .. } = self.measured;
        compare::rule(plan, alpha_per_interval(plan, host, load))
    }

    fn mode(&self) -> Mode {
        self.measured.plan.mode
    }

    fn name(&self, index: usize) -> &str {
        // Every index comes from counting the alternatives or from `baseline`, which a damaged record may have wrong.
        self.measured.plan.alternatives.get(index).map_or("", |alternative| &alternative.name)
    }

    fn baseline(&self) -> usize {
        self.measured.plan.baseline
    }

    fn alternatives(&self) -> std::ops::Range<usize> {
        0..self.measured.plan.alternatives.len()
    }

    /// All alternatives but the baseline.
    fn others(&self) -> impl Iterator<Item = usize> {
        compare::others(self.measured.plan)
    }

    fn alone(&self, index: usize) -> Option<Alone> {
        self.alone.get(index).copied().flatten().map(|(_, alone)| alone)
    }
}

fn level(context: &Context<'_>, load: u32, arms: &Arms<'_>) -> Level {
    let result = |index| {
        let batches = arms.get(&Arm::Alternative(index))?;
        Some(levels::result(context, load, index, &batches.values().copied().collect::<Vec<_>>()))
    };
    Level {
        load,
        results: context.alternatives().filter_map(result).collect(),
        comparisons: context
            .others()
            .filter_map(|index| compare::comparison(context, load, arms, index))
            .collect(),
        floor: compare::level_floor(context, load, arms),
    }
}

fn summaries(context: &Context<'_>) -> Vec<AlternativeSummary> {
    let alternatives = context.measured.plan.alternatives.iter().enumerate();
    let summary = |(index, alternative): (usize, &crate::plan::Alternative)| {
        let alone = context.alone(index);
        AlternativeSummary {
            name: alternative.name.clone(),
            command: alternative.command.clone(),
            span_s: alone.map(|alone| alone.span_s),
            work_s: alone.map(|alone| alone.work_s),
        }
    };
    alternatives.map(summary).collect()
}

/// Whether the interval of the work ratio at the lowest level excludes 1.
fn works_differ(lowest: Option<&Level>, alternative: &str) -> bool {
    let comparisons = lowest.into_iter().flat_map(|level| &level.comparisons);
    let work = comparisons.filter(|it| it.alternative == alternative).find_map(|it| it.work);
    work.is_some_and(Ratio::excludes_one)
}

fn crossovers(context: &Context<'_>, levels: &[Level]) -> Vec<Crossover> {
    let crossover = |index: usize| {
        let name = context.name(index);
        let verdicts = compare::verdicts_of(levels, name);
        let flip = crossover::flip(&verdicts);
        // In open mode copies come by the clock: there is no N to predict.
        let closed = !matches!(context.mode(), Mode::Open { .. });
        // Two works that cannot be told apart cross anywhere or nowhere.
        let differ = works_differ(levels.first(), name);
        let pair = context.alone(index).zip(context.alone(context.baseline())).filter(|_| closed && differ);
        let predicted_load = pair.and_then(|(a, b)| bounds::crossover(a, b, context.capacity));
        let why = if differ { NotPredicted::BoundsDoNotCross } else { NotPredicted::WorksAlike };
        Crossover {
            alternative: name.to_owned(),
            baseline: context.name(context.baseline()).to_owned(),
            predicted_load,
            not_predicted: (closed && predicted_load.is_none()).then_some(why),
            measured_from: flip.map(|flip| flip.from),
            measured_to: flip.map(|flip| flip.to),
            ranges: crossover::ranges(&verdicts),
        }
    };
    context.others().map(crossover).collect()
}
