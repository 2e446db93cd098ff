//! The same command again without an observer, to see what the observing cost. Only for that: nothing else is taken from
//! these runs.

use std::time::Instant;

use whyfaster_core::host::NotMeasured;
use whyfaster_core::plan::{Input, Output};
use whyfaster_core::stats::quantile::median;
use whyfaster_core::trace::plan::TracePlan;
use whyfaster_core::trace::report::Untraced;

use super::super::protocol::{Ended, Purpose};
use super::command::Watch;
use super::{Say, Watched};
use crate::exit::Failure;

/// Seconds for all untraced runs together: whoever traces a long command does not want to wait for it again and again.
const BUDGET_S: f64 = 10.0;

/// How the report calls what is made here.
const RATIO: &str = "overhead.traced_over_untraced";

/// Runs the command untraced as often as the plan and the time allow.
pub(super) fn compare(watch: &mut Watch<'_>, watched: &mut Watched, say: Say<'_>) -> Result<(), Failure> {
    let why = match reason_against(watch, watched) {
        Some(why) => Err(why),
        None => {
            // Before it runs again: what it does, it does once more.
            say(&announced(watch.plan));
            run(watch, watched)?
        }
    };
    match why {
        Ok(ratio) => watched.facts.traced_over_untraced = Some(ratio),
        Err(why) => watched.facts.not_measured.push(NotMeasured { what: RATIO.to_owned(), why }),
    }
    Ok(())
}

/// What is said before the command runs again.
fn announced(plan: &TracePlan) -> String {
    let times = match plan.untraced_runs {
        1 => "once more".to_owned(),
        runs => format!("up to {runs} times more"),
    };
    let output = if plan.output == Output::Inherit { ", its output thrown away" } else { "" };
    format!("the command runs {times}, untraced{output}, to see what tracing cost (--untraced-runs 0: never)")
}

/// Why it makes no sense to run it again.
fn reason_against(watch: &Watch<'_>, watched: &Watched) -> Option<String> {
    let plan = watch.plan;
    let Some(traced_s) = watched.runs.traced_s else {
        return Some("the traced run did not come to its end".to_owned());
    };
    if plan.untraced_runs == 0 {
        return Some("--untraced-runs 0".to_owned());
    }
    if watch.pressed() {
        return Some(
            "Ctrl-C was pressed while it was traced: a run without that is none to compare it with"
                .to_owned(),
        );
    }
    if plan.input == Input::Inherit && !rustix::termios::isatty(std::io::stdin()) && !is_null() {
        return Some(
            "the command's standard input can be read only once; with --input FILE it can be run again"
                .to_owned(),
        );
    }
    (traced_s > BUDGET_S).then(|| {
        format!("the command takes longer than the {BUDGET_S} s that are spent on this; 'whyfaster compare' times it")
    })
}

/// Whether our standard input is `/dev/null`, which every run finds the same.
fn is_null() -> bool {
    let id = |stat: rustix::fs::Stat| stat.st_rdev;
    let own = rustix::fs::fstat(std::io::stdin()).map(id);
    own.is_ok() && own == rustix::fs::stat("/dev/null").map(id)
}

fn run(watch: &mut Watch<'_>, watched: &mut Watched) -> Result<Result<f64, String>, Failure> {
    let plan = watch.plan;
    let clock = Instant::now();
    let traced_s = watched.runs.traced_s.unwrap_or(0.0);
    // What the command prints was on the terminal once; nobody wants it there again.
    let output = match &plan.output {
        Output::Inherit => Output::Null,
        other => other.clone(),
    };
    let input = match &plan.input {
        Input::Inherit => Input::Null,
        other => other.clone(),
    };
    for _ in 0..plan.untraced_runs {
        if clock.elapsed().as_secs_f64() + traced_s > BUDGET_S || watch.interrupts.interrupted() {
            break;
        }
        let request = watch.request(Purpose::Time, output.clone(), input.clone());
        let outcome = watch.launcher.run(request, watch.interrupts).map_err(|error| watch.failed(error))?;
        if outcome.ended != Ended::Normally {
            break;
        }
        let status = outcome.copies.status.first().copied();
        if status != watched.exit_status {
            let ends =
                |status: Option<i32>| status.map_or("not at all".to_owned(), |status| status.to_string());
            return Ok(Err(format!(
                "the command does not end alike when it runs again ({}, then {}): it may have changed what it reads",
                ends(watched.exit_status),
                ends(status)
            )));
        }
        watched.runs.untraced_s.push(outcome.makespan_s);
    }
    watched.facts.untraced = Untraced::of(traced_s, &watched.runs.untraced_s);
    Ok(match median(&watched.runs.untraced_s) {
        Some(untraced_s) if untraced_s > 0.0 => Ok(traced_s / untraced_s),
        _ => Err("no untraced run came to its end".to_owned()),
    })
}
