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

use crate::stats::{self, sign};

pub use evidence::{
    Against, AtLoad, Change, Evidence, Judgement, NoPrice, NotCompared, Outcome, RowRatio, Silence,
    SilentTraces, Step, Traced,
};
pub use loads::compared;
pub use rule::{Claim, Measured, Order, Pair, Prices, Rule, Runs, Share};

use evidence::Decision;

/// Judges every claim. A claim holds where the interval shows it, does not hold where the interval excludes it, by the same threshold:
/// two intervals that both hold the truth never decide a claim contrarily. The intervals of prices share the error of the study: they
/// hold together at the list's confidence.
pub fn judge(claims: &[Claim], measured: &Measured<'_>) -> Vec<Judgement> {
    let judged = |claim: &Claim| {
        let decision = match (measured.runs, measured.prices) {
            (Some(runs), _) if claim.rows().next().is_none() => of_runs(claim, &runs, of_step(claims, &runs)),
            (_, Some(prices)) => prices::decide(&claim.rule, &prices, shared(claims, prices.list.confidence)),
            _ => None,
        };
        let (outcome, evidence) = decision.unwrap_or((Outcome::Undecided, Evidence::NotMeasured));
        Judgement { number: claim.number, text: claim.text.clone(), outcome, evidence }
    };
    claims.iter().map(judged).collect()
}

/// `alpha` is the error probability of one step from load to load.
fn of_runs(claim: &Claim, runs: &Runs<'_>, alpha: f64) -> Option<Decision> {
    let alternative = claim.alternative.as_deref().unwrap_or(runs.pair.alternative);
    let runs = Runs { pair: Pair { alternative, ..runs.pair }, ..*runs };
    loads::decide(&claim.rule, &runs, alpha).or_else(|| traced::decide(&claim.rule, &runs))
}

/// Error probability of one step: the steps of a study share as much error as the comparisons of its record do.
fn of_step(claims: &[Claim], runs: &Runs<'_>) -> f64 {
    let mut steps = BTreeSet::new();
    for claim in claims {
        steps.extend(claim.steps(&runs.plan.loads).into_iter().map(|step| (&claim.alternative, step)));
    }
    stats::bonferroni(1.0 - runs.plan.confidence, steps.len())
}

/// Error probability of one interval of prices.
fn shared(claims: &[Claim], confidence: f64) -> f64 {
    stats::bonferroni(1.0 - confidence, claims.iter().map(Claim::intervals).sum())
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
