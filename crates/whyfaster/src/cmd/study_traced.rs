//! What studies have in common whose commands are timed untraced and then traced.

use std::time::{Duration, Instant};

use serde::Serialize;
use whyfaster_core::event::Status;
use whyfaster_core::host::NotMeasured;
use whyfaster_core::plan::Plan;
use whyfaster_core::record::Record;
use whyfaster_core::trace::claims::Tally;
use whyfaster_core::trace::event::Event;
use whyfaster_core::trace::plan::{Target, TracePlan};
use whyfaster_core::trace::report::TraceReport;

use super::compare::measured;
use super::results;
use crate::cli::args::StudyArgs;
use crate::cli::compare::user_note;
use crate::cli::{HostSeed, Outputs};
use crate::exit::{Exit, Failure, say};
use crate::run::interrupts::Interrupts;
use crate::run::trace::observe;
use crate::store;
use crate::study::TracedCommand;

/// A record with what the study found in it. A reader of records skips the addition.
#[derive(Serialize)]
struct Document<'a, F> {
    #[serde(flatten)]
    record: &'a Record,
    study_findings: &'a F,
}

/// Refuses options that such a study has no use for.
pub(super) fn bears_on(args: &StudyArgs, name: &str) -> Result<(), Failure> {
    if args.load.is_none() {
        return Ok(());
    }
    let message = format!("--load: study {name} runs one copy at a time");
    Err(Failure::new(Exit::Usage, message, "leave --load away"))
}

/// Puts in as whom the commands run and whether the difference is explained.
pub(super) fn completed(plan: &mut Plan, args: &StudyArgs, here: &HostSeed) -> Result<(), Failure> {
    plan.user = Some(here.user(args.user.as_root)?);
    plan.explain = args.why.plan()?;
    plan.user.as_ref().and_then(user_note).iter().for_each(|note| say(&format!("note: {note}")));
    Ok(())
}

/// Times the plan untraced, and keeps its record where it is asked for.
pub(super) fn timed(
    study: &str,
    plan: &Plan,
    outputs: &Outputs,
    interrupts: &Interrupts,
) -> anyhow::Result<(Record, Option<Failure>)> {
    let finished = measured(plan, outputs, interrupts)?;
    let (mut record, failure) = (finished.record, finished.failure);
    record.study = Some(study.to_owned());
    if let Some(path) = &outputs.record {
        store::write_atomic(path, &store::record_bytes(&record)?)?;
    }
    Ok((record, failure))
}

/// What the traces gave.
#[derive(Default)]
pub(super) struct Traced {
    /// What was counted, by command.
    pub(super) tallies: Vec<(String, Tally)>,
    /// What the level could not see, and why.
    pub(super) missing: Vec<String>,
    /// A signal ended it.
    pub(super) interrupted: bool,
}

/// Who looks on while commands are traced.
pub(super) trait Onlooker {
    /// Before a command: what its plan needs beside what all have.
    fn before(&mut self, command: &TracedCommand, plan: &mut TracePlan) -> Result<(), Failure>;
    /// An event of its stream.
    fn event(&mut self, event: &Event);
    /// It is over, and this is what was counted.
    fn after(
        &mut self,
        command: &TracedCommand,
        report: &TraceReport,
        tally: &mut Tally,
    ) -> anyhow::Result<()>;
}

/// Nobody.
pub(super) struct Nobody;

impl Onlooker for Nobody {
    fn before(&mut self, _: &TracedCommand, _: &mut TracePlan) -> Result<(), Failure> {
        Ok(())
    }

    fn event(&mut self, _: &Event) {}

    fn after(&mut self, _: &TracedCommand, _: &TraceReport, _: &mut Tally) -> anyhow::Result<()> {
        Ok(())
    }
}

/// How often every command is traced.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct TracedRounds {
    /// At least so often, however long it takes.
    pub(super) least: u32,
    /// At most so often.
    pub(super) most: u32,
    /// No further round once it would end later than this.
    pub(super) within: Duration,
}

impl TracedRounds {
    /// Once.
    pub(super) const ONCE: Self = Self { least: 1, most: 1, within: Duration::ZERO };

    /// Whether there is another round after so many, which took so long.
    fn another(self, done: u32, took: Duration) -> bool {
        let with_next = took * (done + 1) / done.max(1);
        done < self.least || (done < self.most && with_next <= self.within)
    }
}

/// Traces every command so many times, in turns. Their times come from the untraced runs.
pub(super) fn traced(
    commands: &[TracedCommand],
    (amount, rounds): (u32, TracedRounds),
    plan: &Plan,
    interrupts: &Interrupts,
    onlooker: &mut dyn Onlooker,
) -> anyhow::Result<Traced> {
    let mut traced = Traced::default();
    let began = Instant::now();
    let turns = (0..rounds.most).take_while(|done| rounds.another(*done, began.elapsed()));
    for command in turns.flat_map(|_| commands) {
        let mut wanted = TracePlan {
            shell: plan.shell.clone(),
            user: plan.user.clone(),
            output: command.output(),
            untraced_runs: 0,
            ..TracePlan::new(Target::Command(command.line(amount)))
        };
        onlooker.before(command, &mut wanted)?;
        let observed =
            observe(&wanted, interrupts, &mut |text| say(text), &mut |event| onlooker.event(event))?;
        if let Some(failure) = observed.failure {
            return Err(failure.into());
        }
        // Half a trace has half the processes, and they would be taken for all.
        if observed.record.status == Status::Interrupted {
            traced.interrupted = true;
            break;
        }
        let report = &observed.record.report;
        // The untraced runs of the comparison stand for those of a trace.
        let of_traces = |missing: &&NotMeasured| !missing.what.starts_with("overhead");
        for missing in report.not_measured.iter().filter(of_traces) {
            let text = format!("{}: {}", missing.what, missing.why);
            if !traced.missing.contains(&text) {
                traced.missing.push(text);
            }
        }
        if report.lost.any() {
            traced
                .missing
                .push(format!("some of {}: records were lost, see 'whyfaster trace'", command.name));
        }
        let mut tally = Tally::of(report, &command.process);
        onlooker.after(command, report, &mut tally)?;
        traced.tallies.push((command.name.clone(), tally));
    }
    Ok(traced)
}

/// Prints what was found: the document, or the report.
pub(super) fn print<F: Serialize>(
    record: &Record,
    found: &F,
    outputs: &Outputs,
    text: impl FnOnce() -> String,
) -> anyhow::Result<()> {
    if record.batches.is_empty() {
        return Ok(());
    }
    let bytes = match outputs.json {
        true => {
            let mut bytes = serde_json::to_vec_pretty(&Document { record, study_findings: found })?;
            bytes.push(b'\n');
            bytes
        }
        false if results::look(outputs).quiet => Vec::new(),
        false => text().into_bytes(),
    };
    store::to_stdout(&bytes)
}

/// How it ended.
pub(super) fn ended(record: &Record, failure: Option<Failure>, interrupted: bool) -> anyhow::Result<Exit> {
    match failure {
        _ if record.status == Status::Interrupted || interrupted => {
            say("interrupted: what had been measured is above");
            Ok(Exit::Interrupted)
        }
        Some(failure) => Err(failure.into()),
        None => Ok(Exit::Ok),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_go_on_as_long_as_there_is_time() {
        let rounds = TracedRounds { least: 3, most: 9, within: Duration::from_secs(10) };
        let after = |done, s| rounds.another(done, Duration::from_secs(s));
        assert!(after(0, 0) && after(2, 60), "the least is kept");
        assert!(after(3, 7) && !after(3, 8), "a fourth as long as the others ends after 9.3 s, or too late");
        assert!(!after(9, 1), "and there is a most");
        assert!(
            TracedRounds::ONCE.another(0, Duration::ZERO) && !TracedRounds::ONCE.another(1, Duration::ZERO)
        );
    }
}
