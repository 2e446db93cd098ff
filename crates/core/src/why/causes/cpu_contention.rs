//! Others take the CPU.

use super::definition::{About, BASE, Definition, Seen};
use crate::trace::report::{PathKind, SharerKind};
use crate::why::experiments::{Change, Edit, ExperimentContext, SOME, Untestable};
use crate::why::planned::{Test, Variation};
use crate::why::report::Account;
use crate::why::statement::{Fact, Measure};

pub(super) const DEFINITION: Definition = Definition {
    on_path: |row, _| row.kind == PathKind::CpuWait,
    seen: Seen::Wait,
    counted: &[(Measure::CpusOthersBusy, |it| it.foreign.unwrap_or(0.0))],
    fact: |it| match longer_stolen_s(it) > it.seconds / 2.0 {
        true => Fact::Stolen,
        false => Fact::CpuContention {
            holders: it.slow.sharers.iter().take(2).map(|(name, _)| name.clone()).collect(),
            both: it.slow.disturbed_like(it.fast),
        },
    },
    change,
    winnable_s,
    ..BASE
};

/// How much longer the slower one waits for CPUs that the hypervisor has.
fn longer_stolen_s(it: &About<'_>) -> f64 {
    let stolen = |account: &Account| -> f64 {
        let rows = account.critical_path.iter().filter(|row| row.holder == Some(SharerKind::Steal));
        rows.map(|row| row.seconds).sum()
    };
    stolen(it.accounts.0) - stolen(it.accounts.1)
}

/// Its whole wait goes, and not only what it waits more than the other one.
fn winnable_s(it: &ExperimentContext<'_>) -> f64 {
    it.finding.seconds.max(kept_waiting_s(it)) - left_to_others_s(it)
}

/// Ordinary tasks kept away. `nice` would not do that: where sessions are groups of their own, it counts within the session
/// only (sched(7), "The autogroup feature").
fn change(it: &ExperimentContext<'_>) -> Result<Change, Untestable> {
    if it.finding.fact == Some(Fact::Stolen) {
        return Err(Untestable::Stolen);
    }
    if let Some(why) = &it.machine.no_realtime {
        return Err(Untestable::NoRealTime { why: why.clone() });
    }
    if it.finding.seconds < kept_waiting_s(it) * SOME {
        return Err(Untestable::BothWaitForCpus);
    }
    if winnable_s(it) < it.finding.seconds * SOME {
        return Err(Untestable::LeftToOthers);
    }
    let control = Variation::of(it.slow_line());
    let changed = Variation { realtime: true, ..control.clone() };
    Ok(Change { edit: Edit::RealTime, put_in: false, sure: false, test: Test { control, changed } })
}

/// What others may take all the same: the kernel leaves them a part of every period, and of a run that ends before that
/// begins nothing (sched(7), "Limiting the CPU usage of real-time and deadline processes").
fn left_to_others_s(it: &ExperimentContext<'_>) -> f64 {
    const PERIOD_S: f64 = 1.0;
    let left = it.machine.left_to_others;
    let runs_s = (it.slow.wall_s - kept_waiting_s(it)).max(0.0);
    if runs_s < PERIOD_S * (1.0 - left) { 0.0 } else { runs_s * left / (1.0 - left) }
}

/// Seconds for which the slower side waits for CPUs that tasks outside of it have.
fn kept_waiting_s(it: &ExperimentContext<'_>) -> f64 {
    let outside = |kind| matches!(kind, SharerKind::Other | SharerKind::Kernel);
    it.path_s(|row| row.kind == PathKind::CpuWait && row.holder.is_some_and(outside))
}
