//! `whyfaster study dispatch`: times the dispatchers untraced, traces each of them once, sets both beside the article.

use std::env;

use serde::Serialize;
use whyfaster_core::host::NotMeasured;
use whyfaster_core::plan::Plan;
use whyfaster_core::record::{Record, Status};
use whyfaster_core::trace::claims::Tally;
use whyfaster_core::trace::plan::{Target, TracePlan};

use super::compare::measured;
use super::results;
use crate::cli::args::StudyArgs;
use crate::cli::compare::user_note;
use crate::cli::{HostSeed, Outputs};
use crate::exit::{Exit, Failure, say};
use crate::render::screen::screen;
use crate::run::interrupts::Interrupts;
use crate::run::trace::observe;
use crate::store;
use crate::study::{self, DispatchFindings, DispatchStudy, Dispatcher};

/// A record with what the study found in it. A reader of records skips the addition.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    record: &'a Record,
    study_findings: &'a DispatchFindings,
}

/// Runs the study.
pub(super) fn run(args: &StudyArgs, outputs: &Outputs) -> anyhow::Result<Exit> {
    let study = study::dispatch()?;
    if args.load.is_some() {
        let message = format!("--load: study {} hands out jobs itself, one copy at a time", study.name);
        return Err(Failure::new(Exit::Usage, message, "leave --load away").into());
    }
    let (dispatchers, left_out) = study.installed(&env::var_os("PATH").unwrap_or_default())?;
    let size = study.size(args.quick);
    let here = HostSeed::here();
    let mut plan = study.plan(&dispatchers, size, args.seed.unwrap_or(here.seed), args.max_time);
    plan.user = Some(here.user(args.user.as_root)?);
    plan.user.as_ref().and_then(user_note).iter().for_each(|note| say(&format!("note: {note}")));
    let interrupts = Interrupts::take_over()?;
    let finished = measured(&plan, outputs, &interrupts)?;
    let (mut record, failure) = (finished.record, finished.failure);
    record.study = Some(study.name.clone());
    if let Some(path) = &outputs.record {
        store::write_atomic(path, &store::record_bytes(&record)?)?;
    }
    let traced = if failure.is_none() && record.status == Status::Complete {
        traced(&dispatchers, size.items, &plan, &interrupts)?
    } else {
        Traced::default()
    };
    let found = study.findings(&record, &traced.tallies, left_out, traced.missing);
    if !record.batches.is_empty() {
        store::to_stdout(&report(&study, &record, &found, outputs)?)?;
    }
    match failure {
        _ if record.status == Status::Interrupted || traced.interrupted => {
            say("interrupted: what had been measured is above");
            Ok(Exit::Interrupted)
        }
        Some(failure) => Err(failure.into()),
        None => Ok(Exit::Ok),
    }
}

/// What the traces gave.
#[derive(Default)]
struct Traced {
    tallies: Vec<(String, Tally)>,
    missing: Vec<String>,
    interrupted: bool,
}

/// Traces every dispatcher once. Their times come from the untraced runs.
fn traced(
    dispatchers: &[&Dispatcher],
    items: u32,
    plan: &Plan,
    interrupts: &Interrupts,
) -> anyhow::Result<Traced> {
    let mut traced = Traced::default();
    for dispatcher in dispatchers {
        let wanted = TracePlan {
            shell: plan.shell.clone(),
            user: plan.user.clone(),
            untraced_runs: 0,
            ..TracePlan::new(Target::Command(dispatcher.line(items)))
        };
        let observed = observe(&wanted, interrupts, &mut |text| say(text), &mut |_| {})?;
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
                .push(format!("some of {}: records were lost, see 'whyfaster trace'", dispatcher.name));
        }
        traced.tallies.push((dispatcher.name.clone(), Tally::of(report, &dispatcher.process)));
    }
    Ok(traced)
}

fn report(
    study: &DispatchStudy,
    record: &Record,
    found: &DispatchFindings,
    outputs: &Outputs,
) -> anyhow::Result<Vec<u8>> {
    if outputs.json {
        let mut bytes = serde_json::to_vec_pretty(&Document { record, study_findings: found })?;
        bytes.push(b'\n');
        return Ok(bytes);
    }
    let look = results::look(outputs);
    if look.quiet {
        return Ok(Vec::new());
    }
    Ok(format!("{}\n{}", study.text(found, &look), screen(record, &look)).into_bytes())
}
