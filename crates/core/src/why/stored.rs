//! Explanations that were stored: whether they can be believed, and the same explained again by this version.

use super::report::{Experiment, Traced, TracedBatch};
use super::{ExplainInput, Why, conclude, explain};
use crate::trace::TraceReport;
use crate::trace::counts::OwnCost;
use crate::trace::path::tell_faults;
use crate::trace::record::report;
use crate::trace::report::Level;
use crate::validate::{Invalid, MAX_COUNT, amount, ensure};

/// What this version says of stored runs. The experiments are those that were made then; what was refused and cannot be
/// tried again stays refused.
pub fn again(given: &ExplainInput<'_>, stored: Why) -> Why {
    let Why {
        mut traced, traced_batches, schedules, stacks, experiments, refused, refusals, left_out, ..
    } = stored;
    // Older versions left them in the user code of the path.
    traced.iter_mut().for_each(|it| tell_faults(&mut it.report.critical_path, &it.report.work));
    let mut why = explain(&ExplainInput { traced: &traced, traced_batches: &traced_batches, ..*given });
    conclude(&mut why, experiments);
    let observed = traced.iter().any(|it| it.report.level == Level::Full);
    if !observed && why.refusals.is_empty() {
        (why.refused, why.refusals) = (refused, refusals);
    }
    (why.traced, why.traced_batches, why.schedules) = (traced, traced_batches, schedules);
    (why.stacks, why.left_out) = (stacks, left_out);
    why
}

impl Why {
    /// Checks what the explaining and the renderers rely on.
    pub(crate) fn validate(&self, alternatives: usize) -> Result<(), Invalid> {
        for (i, one) in self.traced.iter().enumerate() {
            traced(one, alternatives, &format!("traced[{i}]"))?;
        }
        for (i, one) in self.traced_batches.iter().enumerate() {
            batch(one, alternatives, &format!("traced_batches[{i}]"))?;
        }
        for (i, one) in self.schedules.iter().enumerate() {
            observed((one.alternative, one.round), alternatives, &format!("schedules[{i}]"))?;
        }
        for (i, one) in self.stacks.iter().enumerate() {
            let place = format!("stacks[{i}]");
            observed((one.alternative, one.runs), alternatives, &place)?;
            one.stacks.validate(&place)?;
        }
        for (i, one) in self.experiments.iter().enumerate() {
            experiment(one, &format!("experiments[{i}]"))?;
        }
        Ok(())
    }
}

fn traced(one: &Traced, alternatives: usize, place: &str) -> Result<(), Invalid> {
    observed((one.alternative, one.round), alternatives, place)?;
    seen(&one.report, &one.own, place)
}

fn batch(one: &TracedBatch, alternatives: usize, place: &str) -> Result<(), Invalid> {
    observed((one.alternative, one.round), alternatives, place)?;
    ensure(one.load > 0, || place.to_owned(), "a batch of no copies")?;
    seen(&one.report, &one.own, place)
}

fn observed((alternative, round): (usize, u32), alternatives: usize, place: &str) -> Result<(), Invalid> {
    let at = || place.to_owned();
    ensure(alternative < alternatives, at, "there is no such alternative")?;
    ensure(u64::from(round) < MAX_ROUNDS, at, "its round is absurd")
}

fn seen(seen: &TraceReport, own: &OwnCost, place: &str) -> Result<(), Invalid> {
    let at = || place.to_owned();
    report(seen, &format!("{place}.report."))?;
    for value in [own.call_ns, own.switch_ns, own.process_ns, own.failed_exec_ns, own.plain_call_ns]
        .into_iter()
        .flatten()
    {
        amount(value, at)?;
    }
    ensure(own.switches <= MAX_COUNT && own.tool_ns <= MAX_COUNT, at, "a count is absurd")
}

/// No explanation has more observed rounds.
const MAX_ROUNDS: u64 = 1_000_000;

fn experiment(one: &Experiment, place: &str) -> Result<(), Invalid> {
    let at = || place.to_owned();
    ensure(one.control_s.len() == one.changed_s.len(), at, "its columns are not equally long")?;
    one.control_s.iter().chain(&one.changed_s).try_for_each(|value| amount(*value, at))
}
