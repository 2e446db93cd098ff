//! From raw samples to results: everything in a record that is not a plan, a fact or a sample.
//!
//! Pure and repeatable: the same samples give the same analysis, in whatever order they come, so a stored record can be
//! analysed again by a later version.

mod compare;
mod context;
mod disturbances;
mod duets;
mod gaps;
mod levels;
mod metrics;
mod results;
mod rounds;
mod steps;
#[cfg(test)]
pub(crate) mod tests;
mod warnings;
mod work_left_out;

pub use self::compare::{least_rounds, level_verdicts};
pub use self::context::{Measured, alpha_per_interval};
pub use self::duets::fewest_duets;
pub use self::results::{
    AlternativeSummary, Analysis, Change, Comparison, DuetComparison, Floor, Latency, Level, LevelResult,
    MetricChange, MetricEstimate,
};
pub use self::rounds::{ratios, time, time_of};
pub use self::steps::step;

use self::context::Context;
use self::rounds::Arms;
use crate::bounds::Alone;
use crate::crossover::{Crossover, NotPredicted};
use crate::plan::Mode;
use crate::sample::Arm;
use crate::verdict::Ratio;
use crate::warning::Warning;
use crate::{bounds, crossover};

/// Analyses what was measured; calling it again on a stored record gives the same. Statements come as kinds with their numbers;
/// their texts are made at the edge.
pub fn analyse(measured: Measured<'_>) -> Analysis {
    let context = Context::new(measured);
    let levels = context.levels.iter().map(|(&load, arms)| level(&context, load, arms)).collect::<Vec<_>>();
    let duets = duets::comparisons(&context, levels.first());
    let mut analysis = Analysis {
        alternatives: summaries(&context),
        crossovers: crossovers(&context, &levels, &duets),
        duets,
        floor: compare::overall_floor(&context),
        levels,
        warnings: Vec::new(),
        not_measured: Vec::new(),
    };
    let cautions = work_left_out::warnings(&context, &analysis).into_iter();
    let cautions = cautions.chain(warnings::warnings(&context, &analysis));
    let cautions = cautions.chain(disturbances::warnings(&context));
    analysis.warnings = cautions.map(Warning::from).collect();
    analysis.not_measured = gaps::not_measured(&context, &analysis);
    analysis
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
            .filter_map(|index| {
                let comparison = compare::comparison(context, load, arms, index)?;
                Some(Comparison { metrics: metrics::changes(context, load, arms, index), ..comparison })
            })
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

/// Whether the interval of the work ratio excludes 1: from the duets if there are any, else at the lowest level.
fn works_differ(lowest: Option<&Level>, duets: &[DuetComparison], alternative: &str) -> bool {
    let duet = duets.iter().find(|it| it.alternative == alternative).map(|it| it.work);
    let comparisons = lowest.into_iter().flat_map(|level| &level.comparisons);
    let in_turns = || comparisons.filter(|it| it.alternative == alternative).find_map(|it| it.work);
    duet.or_else(in_turns).is_some_and(Ratio::excludes_one)
}

/// Span and work of both, in this order: alternative and baseline. The ratio of their works is that of the duets, if there are any: the machine's
/// changes of speed are not in it.
fn alone_of(context: &Context<'_>, duets: &[DuetComparison], index: usize) -> Option<(Alone, Alone)> {
    let (alternative, baseline) = (context.alone(index)?, context.alone(context.baseline())?);
    let duet = duets.iter().find(|it| it.alternative == context.name(index));
    let work_s = duet.map_or(alternative.work_s, |duet| baseline.work_s * duet.work.ratio);
    Some((Alone { work_s, ..alternative }, baseline))
}

fn crossovers(context: &Context<'_>, levels: &[Level], duets: &[DuetComparison]) -> Vec<Crossover> {
    let crossover = |index: usize| {
        let name = context.name(index);
        let verdicts = compare::verdicts_of(levels, name);
        let flip = crossover::flip(&verdicts);
        // In open mode copies come by the clock: there is no N to predict.
        let closed = !matches!(context.mode(), Mode::Open { .. });
        // Two works that cannot be told apart cross anywhere or nowhere.
        let differ = works_differ(levels.first(), duets, name);
        let pair = alone_of(context, duets, index).filter(|_| closed && differ);
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
