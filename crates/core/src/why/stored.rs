//! Explanations that were stored: whether they can be believed, and the same explained again by this version.

use super::report::{Experiment, Traced};
use super::{Given, Why, conclude, explain};
use crate::trace::path::tell_faults;
use crate::trace::record::report;
use crate::validate::{Invalid, MAX_COUNT, amount, ensure};

/// What this version says of stored runs. The experiments are those that were made then; what was refused and cannot be
/// tried again stays refused.
pub fn again(given: &Given<'_>, stored: Why) -> Why {
    let Why { mut traced, experiments, refused, .. } = stored;
    // Older versions left them in the user code of the path.
    traced.iter_mut().for_each(|it| tell_faults(&mut it.report.critical_path, &it.report.work));
    let mut why = explain(&Given { traced: &traced, ..*given });
    conclude(&mut why, experiments);
    why.refused = why.refused.or(refused.filter(|_| traced.is_empty()));
    why.traced = traced;
    why
}

impl Why {
    /// Checks what the explaining and the renderers rely on.
    pub(crate) fn validate(&self, alternatives: usize) -> Result<(), Invalid> {
        for (i, one) in self.traced.iter().enumerate() {
            traced(one, alternatives, &format!("traced[{i}]"))?;
        }
        for (i, one) in self.experiments.iter().enumerate() {
            experiment(one, &format!("experiments[{i}]"))?;
        }
        Ok(())
    }
}

fn traced(one: &Traced, alternatives: usize, place: &str) -> Result<(), Invalid> {
    let at = || place.to_owned();
    ensure(one.alternative < alternatives, at, "there is no such alternative")?;
    ensure(u64::from(one.round) < MAX_ROUNDS, at, "its round is absurd")?;
    report(&one.report, &format!("{place}.report."))?;
    let own = &one.own;
    for value in [own.call_ns, own.switch_ns, own.process_ns, own.failed_exec_ns].into_iter().flatten() {
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
