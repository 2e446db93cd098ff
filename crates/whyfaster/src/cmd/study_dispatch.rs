//! `whyfaster study dispatch`: times the dispatchers untraced, traces each of them once, sets both beside the article.

use std::env;

use whyfaster_core::event::Status;

use super::results;
use super::study_traced::{Nobody, Traced, TracedRounds, bears_on, completed, ended, print, timed, traced};
use crate::cli::args::StudyArgs;
use crate::cli::{HostSeed, Outputs};
use crate::exit::Exit;
use crate::render::screen::screen;
use crate::run::interrupts::Interrupts;
use crate::study;

/// Runs the study.
pub(super) fn run(args: &StudyArgs, outputs: &Outputs) -> anyhow::Result<Exit> {
    let study = study::dispatch()?;
    bears_on(args, &study.name)?;
    let (dispatchers, left_out) = study.installed(&env::var_os("PATH").unwrap_or_default())?;
    let size = study.size(args.quick);
    let here = HostSeed::here();
    let mut plan = study.plan(&dispatchers, size, args.seed.unwrap_or(here.seed), args.max_time);
    completed(&mut plan, args, &here)?;
    let interrupts = Interrupts::take_over()?;
    let (record, failure) = timed(&study.name, &plan, outputs, &interrupts)?;
    let traced = match failure.is_none() && record.status == Status::Complete {
        true => traced(&dispatchers, (size.amount, TracedRounds::ONCE), &plan, &interrupts, &mut Nobody)?,
        false => Traced::default(),
    };
    let found = study.findings(&record, &traced.tallies, left_out, traced.missing);
    print(&record, &found, outputs, || {
        let look = results::look(outputs);
        format!("{}\n{}", study.text(&found, &look), screen(&record, &look))
    })?;
    ended(&record, failure, traced.interrupted)
}
