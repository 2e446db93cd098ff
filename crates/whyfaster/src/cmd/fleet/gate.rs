//! `--fail-if` of `fleet report` and `fleet diff`: what the limits come to.

use whyfaster_core::fleet::PriceReport;
use whyfaster_core::fleet::change::ChangeReport;
use whyfaster_core::fleet::gate::{Limit, dearer, limit};
use whyfaster_core::fleet::questions::{Answered, Counted};
use whyfaster_core::gate::Gate;
use whyfaster_words::exit::{Exit, Failure};
use whyfaster_words::fleet as words;
use whyfaster_words::units::factor;

use super::super::gates;
use crate::cli::args::{FleetDiffArgs, FleetReportArgs};

/// Holds a report against the limits.
pub(super) fn report(
    args: &FleetReportArgs,
    prices: Option<&PriceReport>,
    answered: &[Answered],
    counted: &[Counted],
) -> Result<Exit, Failure> {
    if answered.is_empty() && !counted.is_empty() && args.fail_if.iter().any(|it| it.needs_machines()) {
        let message =
            format!("of {} comparisons the store is asked in short, not machine by machine", counted.len());
        let hint = "take fewer of them with --only TEXT, or ask for 'slower>0' or 'combined>5%'";
        return Err(Failure::usage(message, hint));
    }
    let all: Vec<Counted> = match answered {
        [] => counted.to_vec(),
        answered => answered.iter().map(Counted::of).collect(),
    };
    let gates = args.fail_if.iter().map(|it| match limit(*it, prices, answered, &all) {
        Gate::Passed => Gate::Passed,
        Gate::Failed(found) => Gate::Failed(words::excess(*it, &found, &factor)),
        Gate::Inconclusive => {
            gates::say_undecided(&words::limit(*it), next(*it, prices, &all));
            Gate::Inconclusive
        }
    });
    Ok(gates::exit(gates, args.fail_on_inconclusive))
}

/// What would help to decide.
fn next(limit: Limit, prices: Option<&PriceReport>, counted: &[Counted]) -> &'static str {
    match (limit, prices) {
        (Limit::Outlier(_), None) => "there are no price lists of two machines",
        (Limit::Outlier(_), Some(report)) if !report.alone.is_empty() => {
            "of a group with fewer than three machines nobody can be judged"
        }
        (Limit::Outlier(_), Some(report)) if report.not_told().next().is_some() => {
            "some machines lack too many of the rows: take all lists with the same rows"
        }
        (Limit::Outlier(_), Some(_)) => {
            "machines differ too much for so small a limit: allow more, or measure longer"
        }
        _ if counted.is_empty() => "no comparison was answered",
        _ => "measure longer where it is undecided, or allow more",
    }
}

/// Holds a change against the limit.
pub(super) fn diff(args: &FleetDiffArgs, change: &ChangeReport) -> Exit {
    let gate = args.fail_if.map(|allowed| match dearer(change, allowed) {
        Gate::Passed => Gate::Passed,
        Gate::Failed(found) => Gate::Failed(words::rose(allowed, &found, &factor)),
        Gate::Inconclusive => {
            gates::say_undecided(&words::dearer(allowed), "more machines, or longer measurements, tell more");
            Gate::Inconclusive
        }
    });
    gates::exit(gate.into_iter(), args.fail_on_inconclusive)
}
