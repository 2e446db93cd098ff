//! What the hypervisor took from observed runs. The step before what observing cost.
//!
//! A CPU that is stolen stands still, and whoever is on it seems to run: the events do not tell. What the scheduler left out of a task's account
//! does (`stolen_s` of the commands). So, as where times in turns are corrected (`analysis::corrected`), that is taken off what seemed to run:
//! on the path it becomes a wait for a CPU that the hypervisor had, and the path is as long as before.
//!
//! A kernel may leave out interrupts as well (`CONFIG_IRQ_TIME_ACCOUNTING`, update_rq_clock_task() in kernel/sched/core.c). So over all runs no
//! more is taken off than was stolen from the machine by `/proc/stat`.

use std::collections::BTreeMap;

use super::report::Traced;
use crate::analysis::WORTH_A_WORD;
use crate::trace::TraceReport;
use crate::trace::command::CommandName;
use crate::trace::report::{CommandRow, PathKind, PathRow, SharerKind};

/// The runs with what was stolen apart. `None` where that is little, or is not known of every run: then they stay as they are.
pub(super) fn apart(traced: &[Traced]) -> Option<Vec<Traced>> {
    let commands = || traced.iter().flat_map(|it| &it.report.commands);
    let ran_s: f64 = commands().map(|row| row.running_s).sum();
    let left_out_s: f64 = commands().map(|row| row.stolen_s).sum::<Option<f64>>()?;
    let told = |it: &Traced| it.report.avoidable.and_then(|it| it.steal_s);
    let stolen_s = left_out_s.min(traced.iter().map(told).sum::<Option<f64>>()?);
    if stolen_s <= WORTH_A_WORD * ran_s {
        return None;
    }
    let without = |run: &Traced| {
        let mut run = run.clone();
        take(&mut run.report, stolen_s / left_out_s);
        run
    };
    Some(traced.iter().map(without).collect())
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
