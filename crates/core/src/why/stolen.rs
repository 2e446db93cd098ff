//! What the hypervisor took from observed runs. The step before what observing cost.
//!
//! A CPU that is stolen stands still, and whoever is on it seems to run: the events do not tell. What the scheduler left out of a task's account
//! does (`stolen_s` of the commands). So, as where times in turns are corrected (`analysis::corrected`), that is taken off what seemed to run:
//! on the path it becomes a wait for a CPU that the hypervisor had, and the path is as long as before.
//!
//! A kernel may leave out interrupts as well (`CONFIG_IRQ_TIME_ACCOUNTING`, update_rq_clock_task() in kernel/sched/core.c). So over all runs no
//! more is taken off than was stolen from the machine by `/proc/stat`.

use std::collections::BTreeMap;

use super::report::{Traced, TracedBatch};
use crate::analysis::WORTH_A_WORD;
use crate::trace::TraceReport;
use crate::trace::command::CommandName;
use crate::trace::report::{CommandRow, PathKind, PathRow, SharerKind};

/// The runs with what was stolen apart. `None` where that is little, or is not known of every run: then they stay as they are.
pub(super) fn from_runs(traced: &[Traced]) -> Option<Vec<Traced>> {
    let part = part(traced.iter().map(|it| &it.report))?;
    let mut runs = traced.to_vec();
    runs.iter_mut().for_each(|it| take(&mut it.report, part));
    Some(runs)
}

/// The same of the batches of the highest load.
pub(super) fn from_batches(traced: &[TracedBatch]) -> Option<Vec<TracedBatch>> {
    let part = part(traced.iter().map(|it| &it.report))?;
    let mut batches = traced.to_vec();
    batches.iter_mut().for_each(|it| take(&mut it.report, part));
    Some(batches)
}

/// The part of what the scheduler left out that was stolen, over all these. `None` where that is little of what ran.
fn part<'a>(reports: impl Iterator<Item = &'a TraceReport> + Clone) -> Option<f64> {
    let commands = || reports.clone().flat_map(|it| &it.commands);
    let ran_s: f64 = commands().map(|row| row.running_s).sum();
    let left_out_s: f64 = commands().map(|row| row.stolen_s).sum::<Option<f64>>()?;
    let told = |it: &TraceReport| it.avoidable.and_then(|it| it.steal_s);
    let stolen_s = left_out_s.min(reports.clone().map(told).sum::<Option<f64>>()?);
    (stolen_s > WORTH_A_WORD * ran_s).then(|| stolen_s / left_out_s)
}

/// Takes this part of what the scheduler left out off all that ran.
fn take(report: &mut TraceReport, part: f64) {
    let of = |row: &CommandRow| {
        let stolen = part * row.stolen_s? / row.running_s;
        Some((row.command.clone(), stolen.min(1.0))).filter(|_| stolen > 0.0 && row.running_s > 0.0)
    };
    let stolen: BTreeMap<CommandName, f64> = report.commands.iter().filter_map(of).collect();
    let mut waits: BTreeMap<CommandName, f64> = BTreeMap::new();
    for row in report.critical_path.iter_mut().filter(|row| row.kind.runs()) {
        if let Some(stolen) = stolen.get(&row.command) {
            *waits.entry(row.command.clone()).or_default() += stolen * row.seconds;
            row.seconds *= 1.0 - stolen;
        }
    }
    for row in &mut report.work {
        row.seconds *= 1.0 - stolen.get(&row.command).copied().unwrap_or(0.0);
    }
    report.critical_path.extend(waits.into_iter().map(|(command, seconds)| PathRow {
        holder: Some(SharerKind::Steal),
        ..PathRow::of(command, PathKind::CpuWait, seconds)
    }));
}
