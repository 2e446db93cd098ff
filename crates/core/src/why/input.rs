//! What an explanation is made of.

use crate::analysis::{Analysis, Comparison};
use crate::host::Host;
use crate::plan::{Mode, Plan};
use crate::sample::{Arm, Batch, Io};

use super::report::{Traced, TracedBatch};

/// What there is to explain, and from what.
#[derive(Clone, Copy, Debug)]
pub struct ExplainInput<'a> {
    /// What was run.
    pub plan: &'a Plan,
    /// The machine.
    pub host: &'a Host,
    /// The untraced runs.
    pub batches: &'a [Batch],
    /// What follows from the untraced runs: the verdicts, the floor, the levels.
    pub analysis: &'a Analysis,
    /// The traced runs. Without any, only predictions and growth are made.
    pub traced: &'a [Traced],
    /// The traced batches of the highest load. They are no rounds of one copy, and explain no difference.
    pub traced_batches: &'a [TracedBatch],
}

impl<'a> ExplainInput<'a> {
    /// What the untraced runs of one copy alone say.
    pub(super) fn comparison(&self, alternative: &str) -> Option<&'a Comparison> {
        let level = self.analysis.levels.iter().find(|level| level.load == 1)?;
        level.comparisons.iter().find(|it| it.alternative == alternative)
    }
}

/// One copy alone, untraced.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Untraced {
    /// Index of the alternative.
    pub alternative: usize,
    /// Its round.
    pub round: u32,
    /// Wall time, seconds.
    pub wall_s: f64,
    /// CPU time of its tree, seconds; `None`: the kernel counted none.
    pub cpu_s: Option<f64>,
    /// Of that: in user mode.
    pub user_s: f64,
    /// How often its tasks gave up their CPU to wait.
    pub switches: f64,
    /// CPUs that others kept busy meanwhile; `None`: not known.
    pub foreign: Option<f64>,
    /// What it read and wrote; `None`: not known.
    pub io: Option<Io>,
}

/// The untraced runs of one copy alone. None in open mode, where copies overlap; and none of a copy that the time-out
/// ended.
pub(super) fn untraced(plan: &Plan, batches: &[Batch]) -> Vec<Untraced> {
    if matches!(plan.mode, Mode::Open { .. }) {
        return Vec::new();
    }
    batches.iter().filter(|batch| batch.load == 1 && !batch.timed_out()).filter_map(alone).collect()
}

fn alone(batch: &Batch) -> Option<Untraced> {
    let Arm::Alternative(alternative) = batch.arm else { return None };
    if batch.copies.is_empty() {
        return None;
    }
    // In closed mode one worker runs copy after copy.
    let copies = batch.copies.len() as f64;
    let (wall_s, cpu_s) = (batch.makespan_s / copies, batch.work_s() / copies);
    let cpu_s = (cpu_s > 0.0).then_some(cpu_s);
    let foreign = batch.machine_busy_s.map(|busy| ((busy - batch.work_s()) / batch.makespan_s).max(0.0));
    let user_s = (batch.copies.user_s.iter().sum::<f64>() + batch.orphans.user_s) / copies;
    let switches = batch.copies.voluntary_switches.iter().sum::<u64>() as f64 / copies;
    let io = batch.io.filter(|_| batch.copies.len() == 1);
    let round = batch.round;
    (wall_s > 0.0).then_some(Untraced { alternative, round, wall_s, cpu_s, user_s, switches, foreign, io })
}
