//! Which sums of a trace must agree.

use whyfaster_core::trace::check::{A_SWITCH_NS, CheckKind};

/// The two sides, with their unit.
pub fn text(kind: CheckKind) -> String {
    let text = match kind {
        CheckKind::States => "sum of the tasks' states, their lives (seconds)",
        CheckKind::Late => "records that came too late for their own time, none",
        CheckKind::Blocked => "blocked time of the tasks, over all causes (seconds)",
        CheckKind::Waiting => "waiting of the tasks, over all who held a CPU (seconds)",
        CheckKind::Forks => "processes made, by the kernel and by the stream",
        CheckKind::Threads => "threads made, by the kernel and by the stream",
        CheckKind::Execs => "programs begun, by the kernel and by the stream",
        CheckKind::FailedExecs => "execs that failed, by the kernel and by the stream",
        CheckKind::Exits => "processes ended, by the kernel and by the stream",
        CheckKind::Alive => "processes still there, by the kernel and by the stream",
        CheckKind::MadeByCalls => "processes and threads made, by fork, vfork and clone that worked",
        CheckKind::CallsReturned => "calls entered, returned and not returned",
        CheckKind::CallsOfTable => "calls entered by the tasks, by the table",
        CheckKind::CallsOfEnded => "calls entered by all tasks, by those whose record of their end came",
        CheckKind::Running => {
            return format!(
                "running time of the tasks, by the scheduler's account (seconds; {} µs a switch allowed as well)",
                A_SWITCH_NS / 1000
            );
        }
        CheckKind::Work => "running time by what it was spent on, by the scheduler's account (seconds)",
        CheckKind::Path => "critical path, wall time (seconds)",
    };
    text.to_owned()
}
