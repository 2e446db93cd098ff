//! Why alternatives differ: observed runs after the verdicts, and experiments that remove a cause. From a rig and what was
//! measured so far to an explanation; what follows from the runs is computed in the core.
//!
//! `feasibility` decides if there is anything to explain, `tracer` observes one run, `rounds` all of them, `batches` many copies at
//! once, `keeping` the one run whose events stay, `sampled` the stacks of all of them, `counts` what needs no privileges, `confirm` makes
//! the experiments.

mod batches;
mod confirm;
mod counts;
mod elf;
mod feasibility;
mod keeping;
pub(super) mod prices;
mod rounds;
mod sampled;
mod so_far;
mod tracer;
mod varied;

use feasibility::Feasibility;
use so_far::Ends;
use tracer::{Observing, Tracer};
use whyfaster_core::event::Event;
use whyfaster_core::plan::Explain;
use whyfaster_core::why::statement::{LeftOut, Refusal};
use whyfaster_core::why::{self, Why};
use whyfaster_words::exit::Failure;

use super::rig::Rig;

pub(super) use feasibility::{expected_s, reserved_s};
pub(super) use so_far::SoFar;

/// Of the time for an explanation, the part for the observed runs where experiments follow.
const OBSERVING: f64 = 0.55;

/// Explains what was measured, if that is wanted and can be done. What goes wrong on the way ends the explanation and is
/// told in it: the verdicts stand.
pub(super) fn explain(rig: &mut Rig<'_>, so_far: &SoFar<'_>, on: &mut dyn FnMut(Event)) -> Why {
    let mut explained = Why::default();
    let Some(wanted) = &so_far.plan.explain else { return explained };
    // Predictions need no observed run.
    made_anew(&mut explained, so_far);
    match feasibility::feasibility(so_far) {
        Feasibility::Nothing => {}
        Feasibility::Refused(why) => explained.refusals = vec![why],
        Feasibility::Counted(alternatives, why) => {
            // Without these runs there still is what the timed ones say.
            let counted = counts::run(rig, so_far, &alternatives, &mut explained, on);
            made_anew(&mut explained, so_far);
            explained.refusals = vec![why];
            let ended = counted.and_then(|()| match wanted.confirm && !so_far.machine.interrupted() {
                true => confirm::confirm(rig, so_far, &mut explained, on),
                false => Ok(()),
            });
            if let Err(failure) = ended {
                explained.refusals.push(Refusal::Ended { error: failure.message, hint: failure.hint });
            }
        }
        Feasibility::Traced(alternatives) => {
            if let Err(failure) = observe(rig, so_far, &alternatives, wanted, &mut explained, on) {
                explained.refusals = vec![Refusal::Ended { error: failure.message, hint: failure.hint }];
            } else if so_far.machine.interrupted() {
                interrupted(&mut explained);
            }
        }
    }
    explained
}

/// What an interrupt left out. Experiments tell for themselves how far they came.
fn interrupted(explained: &mut Why) {
    if explained.traced.is_empty() {
        explained.refusals = vec![Refusal::Interrupted];
    } else if explained.experiments.is_empty() {
        explained.left_out.push(LeftOut::Rest);
    }
}

fn observe(
    rig: &mut Rig<'_>,
    so_far: &SoFar<'_>,
    alternatives: &[usize],
    wanted: &Explain,
    explained: &mut Why,
    on: &mut dyn FnMut(Event),
) -> Result<(), Failure> {
    let (began_s, ends) = (so_far.now_s(), so_far.ends());
    let part = if wanted.confirm { OBSERVING } else { 1.0 };
    let usual_s = began_s + (ends.usual_s - began_s) * part;
    let facts = prices::facts(so_far, alternatives, explained);
    let tracer = Tracer::open(so_far.machine)?;
    let mut observing = Observing { tracer, alternatives: alternatives.to_vec(), facts };
    let planned = batches::planned(so_far, alternatives, explained);
    let kept_s = batches::kept_s(&planned, usual_s - so_far.now_s());
    let until = Ends { usual_s: usual_s - kept_s, ..ends };
    let traced = rounds::run(rig, so_far, &mut observing, (wanted, until), explained, on);
    if traced.is_ok() {
        batches::run(rig, so_far, &mut observing, (&planned, usual_s), explained, on);
    }
    // While the programs are attached, every process of the machine pays for them: experiments are timed without.
    drop(observing);
    if !explained.traced.is_empty() {
        made_anew(explained, so_far);
    }
    traced?;
    if explained.refusals.is_empty() {
        explained.refusals.extend(rounds::none_made(explained));
    }
    if wanted.confirm && !so_far.machine.interrupted() {
        confirm::confirm(rig, so_far, explained, on)?;
    }
    Ok(())
}

/// The explanation that follows from the traced runs; they stay, and what was left out.
fn made_anew(why: &mut Why, so_far: &SoFar<'_>) {
    let new = why::explain(&so_far.given(why));
    let Why { traced, traced_batches, schedules, stacks, left_out, .. } = std::mem::take(why);
    *why = Why { traced, traced_batches, schedules, stacks, left_out, ..new };
}

#[cfg(test)]
mod tests {
    use whyfaster_core::why::report::Traced;

    use super::*;

    #[test]
    fn an_interrupt_is_told_where_the_explanation_would_stand() {
        let mut none = Why::default();
        interrupted(&mut none);
        assert_eq!((none.refusals, none.left_out), (vec![Refusal::Interrupted], Vec::new()));
        let mut some = Why::default();
        some.traced.push(Traced {
            alternative: 0,
            round: 0,
            report: Default::default(),
            own: Default::default(),
        });
        interrupted(&mut some);
        assert_eq!((some.refusals, some.left_out), (Vec::new(), vec![LeftOut::Rest]));
    }
}
