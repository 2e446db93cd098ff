//! From raw samples to results: everything in a record that is not a plan, a fact or a sample.
//!
//! Pure and repeatable: the same samples give the same analysis, in whatever order they come, so a stored record can be
//! analysed again by a later version.

mod compare;
mod context;
mod corrected;
mod crossovers;
mod disturbances;
mod duets;
mod gaps;
mod levels;
mod metrics;
mod mixtures;
mod results;
mod rounds;
mod steps;
#[cfg(test)]
pub(crate) mod tests;
mod warnings;
mod work_left_out;

pub(crate) use self::corrected::WORTH_A_WORD;

pub use self::compare::{least_rounds, level_verdicts};
pub use self::context::{Measured, alpha_per_interval};
pub use self::duets::fewest_duets;
pub use self::results::{
    AlternativeSummary, Analysis, Change, Comparison, Corrected, DuetComparison, Floor, Latency, Level,
    LevelResult, MetricChange, MetricEstimate,
};
pub use self::rounds::{ratios, time, time_of};
pub use self::steps::step;

use self::context::Context;
use self::rounds::Arms;
use crate::sample::Arm;
use crate::warning::Warning;

/// Analyses what was measured; calling it again on a stored record gives the same. Statements come as kinds with their numbers;
/// their texts are made at the edge.
pub fn analyse(measured: Measured<'_>) -> Analysis {
    let context = Context::new(measured);
    let levels = context.levels.iter().map(|(&load, arms)| level(&context, load, arms)).collect::<Vec<_>>();
    let duets = duets::comparisons(&context, levels.first());
    let mut analysis = Analysis {
        alternatives: summaries(&context),
        crossovers: crossovers::crossovers(&context, &levels, &duets),
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
                Some(Comparison {
                    corrected: corrected::corrected(context, load, arms, index, comparison.time()),
                    metrics: metrics::changes(context, load, arms, index),
                    ..comparison
                })
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
