//! Experiments: for the largest findings, a change that removes the cause (or puts it into the other alternative), with
//! everything else the same. What is expected is said before. Which change tries a cause stands with the cause.

mod context;
mod judge;
mod reach;
mod statement;

pub(super) mod line;
pub(super) mod nothing;
pub(super) mod pipes;
pub(super) mod starts;

use super::account::Alternative;
use super::cause::Cause;
use super::causes;
use super::facts::Side;
use super::input::{self, ExplainInput};
use super::planned::{Machine, Planned};
use super::report::{Finding, Why};

pub(super) use context::{Change, ExperimentContext, SOME, instead};
pub use judge::{conclude, judge};
pub(super) use reach::REACHED;
pub use statement::{Edit, InPlace, Pace, Repeated, Shown, Untestable};

/// So many findings are tested, the largest.
const MOST: usize = 3;

/// A smaller part of the difference is not worth a test, which takes as long as that of a large one.
const LEAST_SHARE: f64 = 0.03;

/// What to try for the findings of an explanation, in their order: those that make much of the difference. Findings that work
/// against it and what is not explained have no cause to remove.
pub fn experiments(why: &Why, given: &ExplainInput<'_>, machine: &Machine) -> Vec<Planned> {
    let untraced = input::untraced(given.plan, given.batches);
    let sides: Vec<Side> = (0..given.plan.alternatives.len())
        .map(|index| Side::of(&Alternative::of(given, &untraced, index)))
        .collect();
    let testable = |it: &(usize, &Finding)| it.1.share >= LEAST_SHARE && it.1.cause != Cause::Unexplained;
    let findings = why.findings.iter().enumerate().filter(testable).take(MOST);
    findings
        .filter_map(|(at, finding)| {
            Some(planned(at, &ExperimentContext::of(finding, (why, given), machine, &sides)?))
        })
        .collect()
}

fn planned(at: usize, it: &ExperimentContext<'_>) -> Planned {
    let definition = causes::definition(it.finding.cause);
    let change = (definition.change)(it);
    let put_in = change.as_ref().is_ok_and(|it| it.put_in);
    Planned {
        finding: at,
        cause: it.finding.cause,
        alternative: if put_in { it.places.1 } else { it.places.0 },
        predicted_s: if change.is_ok() { (definition.winnable_s)(it) } else { it.finding.seconds },
        put_in,
        sure: change.as_ref().is_ok_and(|it| it.sure),
        edit: change.as_ref().ok().map(|it| it.edit.clone()),
        test: change.map(|it| it.test),
    }
}
