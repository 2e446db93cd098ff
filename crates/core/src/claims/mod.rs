//! What an article claims, and whether it holds here: one vocabulary of rules and one judge for all studies.
//!
//! A rule is data, so that a study is a file and not a program. [`judge`] takes what was measured and gives, for every
//! claim, an [`Outcome`] and the [`Evidence`] that decided it, as numbers; the words are made where they are shown. Rules are about
//! the ratios of loads (`loads`), about what traces counted (`traced`), or about prices (`prices`).

mod evidence;
mod loads;
mod prices;
mod rule;
mod traced;

use std::collections::BTreeSet;

use crate::plan::{Loads, Plan};
use whyfaster_stats::sign;

pub use evidence::{
    Against, AtLoad, Change, Evidence, Judgement, Lack, NoPrice, NotCompared, Outcome, RowRatio, Silence,
    SilentTraces, Step, Traced,
};
pub use loads::compared;
pub use rule::{Claim, Measured, Needs, Order, Pair, Prices, Rule, Runs, Share};

use evidence::Decision;

/// Judges every claim. A claim about a verdict is decided by that verdict, so that it has the word of the tables. The intervals of prices share
/// the error of the study: they hold together at the list's confidence.
pub fn judge(claims: &[Claim], measured: &Measured<'_>) -> Vec<Judgement> {
    let judged = |claim: &Claim| {
        let decision = match (measured.runs, measured.prices) {
            (Some(runs), _) if claim.rows().next().is_none() => of_runs(claim, &runs),
            (_, Some(prices)) => prices::decide(&claim.rule, &prices, shared(claims, prices.list.confidence)),
            _ => None,
        };
        let (outcome, evidence) = decision.unwrap_or((Outcome::Undecided, Evidence::NotMeasured));
        let shown = matches!(outcome, Outcome::Holds | Outcome::NotAsked);
        let lacks = measured.runs.filter(|_| !shown).map_or_else(Vec::new, |runs| claim.needs.lacked(&runs));
        Judgement { number: claim.number, text: claim.text.clone(), outcome, evidence, lacks }
    };
    claims.iter().map(judged).collect()
}

fn of_runs(claim: &Claim, runs: &Runs<'_>) -> Option<Decision> {
    let alternative = claim.alternative.as_deref().unwrap_or(runs.pair.alternative);
    let runs = Runs { pair: Pair { alternative, ..runs.pair }, ..*runs };
    let Pair { alternative, baseline } = runs.pair;
    if let Some(command) = runs.left_out.iter().find(|(name, _)| name == alternative || name == baseline) {
        return Some((Outcome::Undecided, Evidence::LeftOut(command.clone())));
    }
    loads::decide(&claim.rule, &runs).or_else(|| traced::decide(&claim.rule, &runs))
}

/// The confidence of a plan's comparisons at which they hold, together with the steps from load to load that these claims rest on, at the
/// plan's own. A step errs as rarely as the comparison at its higher load, so what counts is how many steps there are to a comparison.
pub fn confidence(claims: &[Claim], plan: &Plan) -> f64 {
    let (steps, comparisons) = match &plan.loads {
        Loads::Fixed(loads) => {
            let mut steps = BTreeSet::new();
            for claim in claims {
                steps.extend(claim.steps(loads).into_iter().map(|step| (&claim.alternative, step)));
            }
            (steps.len(), loads.len())
        }
        // Which levels there will be is not known. Their parts of the error sum to 1 at most, and a claim has one step at most into each.
        Loads::Auto => (claims.iter().filter(|claim| claim.compares_loads()).count(), 1),
    };
    let others = plan.alternatives.len().saturating_sub(1);
    let each = steps as f64 / (comparisons * others).max(1) as f64;
    1.0 - (1.0 - plan.confidence) / (1.0 + each)
}

/// Error probability of one interval of prices.
fn shared(claims: &[Claim], confidence: f64) -> f64 {
    whyfaster_stats::bonferroni(1.0 - confidence, claims.iter().map(Claim::intervals).sum())
}

/// The least number of repetitions that decides anything of these claims about prices.
pub fn least_repetitions(claims: &[Claim], confidence: f64) -> usize {
    sign::min_rounds(shared(claims, confidence))
}

#[cfg(test)]
mod tests {
    mod loads;
    mod prices;
    mod traced;
}
