//! `whyfaster compare`: measures, writes what was measured, prints the report, decides the gate.

use std::io::{IsTerminal, stderr};

use whyfaster_core::event::Status;
use whyfaster_core::gate::{Gate, gate};
use whyfaster_core::plan::{Output, Plan};
use whyfaster_core::record::Record;

use super::results;
use crate::cli::args::CompareArgs;
use crate::cli::{HostSeed, Outputs, resolve};
use crate::exit::{self, Exit, Failure, say};
use crate::render::progress::Progress;
use crate::run::interrupts::Interrupts;
use crate::run::session::{Finished, measure};

/// Runs the verb.
pub fn run(args: &CompareArgs) -> anyhow::Result<Exit> {
    let (plan, outputs) = resolve(args, &HostSeed::here())?;
    let _kept = results::check(&outputs)?;
    for note in &outputs.notes {
        say(&format!("note: {note}"));
    }
    let interrupts = Interrupts::take_over()?;
    let finished = measured(&plan, &outputs, &interrupts)?;
    finish(&finished.record, finished.failure, &outputs)
}

/// Measures, showing on standard error how far it is.
pub(super) fn measured(plan: &Plan, outputs: &Outputs, interrupts: &Interrupts) -> Result<Finished, Failure> {
    let look = results::look_of(outputs, stderr().is_terminal());
    let names: Vec<String> = plan.alternatives.iter().map(|alternative| alternative.name.clone()).collect();
    // Output of the commands on the terminal and a moving line would write over each other.
    let inherits = plan.alternatives.iter().any(|it| it.output == Output::Inherit);
    let mut progress = Progress::new(&look, &names, stderr().is_terminal() && !inherits, !look.quiet);
    let finished = measure(plan, interrupts, &mut |event| progress.on(&event));
    progress.finish();
    finished
}

/// Writes all outputs, then says how it ended.
pub(super) fn finish(record: &Record, failure: Option<Failure>, outputs: &Outputs) -> anyhow::Result<Exit> {
    // A complete record without a batch says why no level fits; an early end without one says nothing.
    let worth_it = record.status == Status::Complete || !record.batches.is_empty();
    let written = if worth_it { results::write(record, outputs) } else { Ok(()) };
    let written = written.map_or_else(|error| exit::report(Err(error)), |()| Exit::Ok);
    let failed = failure.map(|failure| exit::report(Err(failure.into())));
    match (failed, record.status) {
        // An interrupt goes before all other ends: what could not be written to may be the terminal that went away.
        (_, Status::Interrupted) if written == Exit::Ok => {
            say(&format!("interrupted: {}", saved(record, outputs)));
            Ok(Exit::Interrupted)
        }
        (_, Status::Interrupted) => {
            say("interrupted");
            Ok(Exit::Interrupted)
        }
        (Some(failed), _) => Ok(if written == Exit::Ok { failed } else { written }),
        (None, _) if written != Exit::Ok => Ok(written),
        (None, _) if record.batches.is_empty() => Err(nothing_measured(record).into()),
        (None, _) => Ok(gated(record, outputs)),
    }
}

/// No level could be run. The reasons are on the screen too, but there may be none (`--json`, `--style none`).
fn nothing_measured(record: &Record) -> Failure {
    let reasons: Vec<String> =
        record.analysis.not_measured.iter().map(|it| format!("\n  {}: {}", it.what, it.why)).collect();
    Failure::new(
        Exit::Unfit,
        format!("no level could be measured on this machine{}", reasons.concat()),
        "do what the reasons say; `whyfaster doctor` shows the limits",
    )
}

/// What an interrupt left.
fn saved(record: &Record, outputs: &Outputs) -> String {
    let rounds = record
        .analysis
        .levels
        .iter()
        .flat_map(|level| &level.results)
        .map(|result| result.rounds)
        .sum::<u32>();
    match (&outputs.record, record.batches.is_empty()) {
        (_, true) => "nothing had been measured".to_owned(),
        (None, _) if outputs.json => {
            format!("{rounds} batches had been measured; they are in the record on standard output")
        }
        (Some(path), _) => format!("{rounds} batches had been measured; they are in '{}'", path.display()),
        (None, _) => format!("{rounds} batches had been measured; use --record FILE to keep them next time"),
    }
}

/// The exit status that the gate asks for.
fn gated(record: &Record, outputs: &Outputs) -> Exit {
    let Some(allowed) = outputs.fail_if_slower else { return Exit::Ok };
    // 7% is 0.07, which times 100 is 7.000000000000001.
    let percent = (allowed * 100.0 * 1e6).round() / 1e6;
    match gate(&record.analysis, allowed, record.plan.delta) {
        Gate::Passed => Exit::Ok,
        Gate::Slower(found) => {
            say(&format!(
                "gate: '{}' is slower than '{}' by more than {percent}%: it takes {:.2} times as long",
                found.alternative, found.baseline, found.ratio
            ));
            Exit::Slower
        }
        Gate::Inconclusive => {
            let more = if record.plan.rounds.fixed {
                "ask for more with --runs"
            } else {
                "allow more time with --max-time"
            };
            say(&format!(
                "gate: inconclusive: it is not decided whether an alternative is slower by more than {percent}%; {more}"
            ));
            if outputs.fail_on_inconclusive { Exit::Inconclusive } else { Exit::Ok }
        }
    }
}
