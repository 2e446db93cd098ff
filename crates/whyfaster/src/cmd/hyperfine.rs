//! Called by hyperfine's name: its runs in its order, its report and its files, and below them our answer.
//!
//! Each command is measured by itself, one after the other, because scripts count on that: its setup, its warm-ups and its runs
//! stand together. The records become one, in which the runs of the commands are paired by their number.

use anyhow::Context;
use whyfaster_core::plan::{Alternative, Plan};
use whyfaster_core::record::Record;
use whyfaster_core::sample::Arm;
use whyfaster_core::status::Status;
use whyfaster_run::interrupts::Interrupts;
use whyfaster_run::session::pretend;
use whyfaster_store::again::reanalysed;
use whyfaster_words::display::Hyperfine;
use whyfaster_words::exit::{Exit, Failure};

use super::compare::{finish, listed, measured, prepared};
use super::rights;
use crate::cli::args::{CompareArgs, PaceWord};

/// Runs hyperfine's command line.
pub fn run(args: &CompareArgs) -> anyhow::Result<Exit> {
    check_here_alone(args)?;
    let (plan, outputs) = prepared(args)?;
    let alone = |it: &Alternative| Plan { alternatives: vec![it.clone()], baseline: 0, ..plan.clone() };
    let plans: Vec<Plan> = plan.alternatives.iter().map(alone).collect();
    if outputs.dry_run {
        return listed(&plans);
    }
    let interrupts = Interrupts::take_over()?;
    let (mut whole, mut failure) = (None, None);
    for (index, one) in plans.iter().enumerate() {
        let finished = if args.pretend {
            pretend(one)
        } else {
            measured(one, &outputs, &interrupts, (index, plans.len()))
        };
        match finished {
            Ok(finished) => {
                let status = finished.record.status;
                whole = Some(joined(whole, finished.record, &plan, index));
                failure = finished.failure;
                if status != Status::Complete {
                    break;
                }
            }
            Err(error) => {
                failure = Some(error);
                break;
            }
        }
    }
    rights::after_observing(args.user.as_root);
    let record = match (whole, failure.clone()) {
        (Some(record), _) => reanalysed(record),
        (None, Some(failure)) => return Err(failure.into()),
        (None, None) => return Err(anyhow::anyhow!("there was no command")).context("nothing was measured"),
    };
    finish(
        &record,
        failure.map(|failure| failure.as_hyperfine(outputs.called == Some(Hyperfine::Two))),
        &outputs,
    )
}

/// Every command is measured on this machine and by itself: options that ask for something else are refused.
fn check_here_alone(args: &CompareArgs) -> Result<(), Failure> {
    let along = &args.elsewhere.along;
    let asked = [
        ("--on", args.elsewhere.on.is_some()),
        ("--send", !along.send.is_empty()),
        ("--binary", !along.binary.is_empty()),
        ("--pace on", args.statistics.pace == Some(PaceWord::On)),
    ];
    let refused = asked.into_iter().find(|(_, asked)| *asked);
    refused.map_or(Ok(()), |(option, _)| {
        Err(Failure::usage(
            format!("{option}: called as hyperfine, each command is measured on this machine and by itself"),
            format!("leave {option} out, or take 'whyfaster compare'"),
        ))
    })
}

/// The record of the commands so far with that of one more.
fn joined(before: Option<Record>, mut record: Record, plan: &Plan, index: usize) -> Record {
    for batch in &mut record.batches {
        if batch.arm == Arm::Alternative(0) {
            batch.arm = Arm::Alternative(index);
        }
    }
    for trial in &mut record.trials {
        trial.alternative = index;
    }
    for account in &mut record.sched_accounts {
        account.alternative = index;
    }
    record.plan = plan.clone();
    let Some(mut before) = before else { return record };
    for batch in &mut record.batches {
        batch.released_s += before.took_s;
    }
    before.took_s += record.took_s;
    before.status = record.status;
    before.host.after = record.host.after;
    before.batches.extend(record.batches);
    before.trials.extend(record.trials);
    before.sched_accounts.extend(record.sched_accounts);
    before.skipped.extend(record.skipped);
    before
}
