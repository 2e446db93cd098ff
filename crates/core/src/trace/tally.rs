//! What one trace counted of a command, as the few numbers that claims about dispatching and placement are decided by.

use serde::{Deserialize, Serialize};

use super::report::{SharerKind, SyscallRow, TraceReport};

/// Calls that make a process or a thread.
const FORKS: [&str; 4] = ["fork", "vfork", "clone", "clone3"];
/// Calls that wait for one.
const WAITS: [&str; 2] = ["wait4", "waitid"];

/// What a trace counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// Processes that the whole tree made.
    Forks,
    /// Programs that the whole tree began.
    Execs,
    /// Forks of the dispatching process alone.
    OwnForks,
    /// CPU time of the dispatching process in forks and waits.
    OwnForkWaitCpu,
    /// Time that tasks waited for a CPU while another one that they were allowed on stood idle.
    AvoidableWait,
    /// Time that tasks waited for a CPU that a thread of the kernel held.
    BehindKernel,
}

/// What one trace says of a command. `None` is what the level could not see.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tally {
    /// Processes made, over the whole tree.
    pub forks: Option<u64>,
    /// Programs begun.
    pub execs: Option<u64>,
    /// Execs that failed.
    pub failed_execs: Option<u64>,
    /// Calls of wait4 and waitid.
    pub waits: Option<u64>,
    /// Forks of the dispatching process alone: what `strace -c` without `-f` shows.
    pub own_forks: Option<u64>,
    /// Its waits.
    pub own_waits: Option<u64>,
    /// CPU time within both, seconds.
    pub own_fork_wait_cpu_s: Option<f64>,
    /// Time that tasks waited for a CPU while another one that they were allowed on stood idle, seconds.
    pub avoidable_s: Option<f64>,
    /// Time that tasks waited for a CPU that a thread of the kernel held, seconds.
    pub behind_kernel_s: Option<f64>,
    /// What other programs had of the time of all CPUs meanwhile, as a part.
    pub strangers: Option<f64>,
    /// Wall time of the traced run, seconds.
    pub traced_s: f64,
    /// CPU time of the whole tree, seconds.
    pub work_s: f64,
}

impl Tally {
    /// Counts in a report. `dispatcher` is the kernel's name of the process that hands out the work.
    pub fn of(report: &TraceReport, dispatcher: &str) -> Self {
        let seen = !report.syscalls.is_empty();
        let all = |names: &[&str], own: bool| {
            let wanted = |row: &&SyscallRow| {
                names.contains(&row.name.as_str()) && (!own || row.command.as_deref() == Some(dispatcher))
            };
            report.syscalls.iter().filter(wanted).collect::<Vec<_>>()
        };
        let calls = |rows: Vec<&SyscallRow>| seen.then(|| rows.iter().map(|row| row.calls).sum());
        let both: Vec<&SyscallRow> = all(&FORKS, true).into_iter().chain(all(&WAITS, true)).collect();
        Self {
            forks: report.processes.forks,
            execs: report.processes.execs,
            failed_execs: report.processes.failed_execs,
            waits: calls(all(&WAITS, false)),
            own_forks: calls(all(&FORKS, true)),
            own_waits: calls(all(&WAITS, true)),
            own_fork_wait_cpu_s: if seen { both.iter().map(|row| row.cpu_s).sum() } else { None },
            avoidable_s: report.avoidable_wait_s,
            behind_kernel_s: report.avoidable_wait_s.is_some().then(|| behind_kernel(report)),
            strangers: None,
            traced_s: report.wall_s,
            work_s: report.commands.iter().map(|row| row.running_s).sum(),
        }
    }

    // Counts beyond 2^53 do not occur.
    pub(crate) fn get(&self, quantity: Quantity) -> Option<f64> {
        match quantity {
            Quantity::Forks => self.forks.map(|n| n as f64),
            Quantity::Execs => self.execs.map(|n| n as f64),
            Quantity::OwnForks => self.own_forks.map(|n| n as f64),
            Quantity::OwnForkWaitCpu => self.own_fork_wait_cpu_s,
            Quantity::AvoidableWait => self.avoidable_s,
            Quantity::BehindKernel => self.behind_kernel_s,
        }
    }
}

/// Time that tasks of the tree waited for a CPU that a thread of the kernel held.
fn behind_kernel(report: &TraceReport) -> f64 {
    let kernel = report.cpu_sharers.iter().filter(|row| row.kind == SharerKind::Kernel);
    kernel.map(|row| row.seconds).sum()
}

impl Quantity {
    /// Whether it is time and no count.
    pub fn is_time(self) -> bool {
        self == Self::OwnForkWaitCpu || self.is_wait()
    }

    /// Whether it is time that depends on who else wants the CPUs.
    pub fn is_wait(self) -> bool {
        matches!(self, Self::AvoidableWait | Self::BehindKernel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::report::Processes;

    fn row(command: &str, name: &str, calls: u64, cpu: Option<f64>) -> SyscallRow {
        SyscallRow {
            command: Some(command.into()),
            pid: None,
            name: name.to_owned(),
            calls,
            not_returned: 0,
            begun_before: 0,
            going_on: 0,
            errors: 0,
            errnos: Vec::new(),
            total_s: cpu,
            max_s: None,
            cpu_s: cpu,
            runnable_s: None,
            blocked_s: None,
            failed_s: None,
            histogram_log2_ns: Vec::new(),
        }
    }

    fn report(rows: Vec<SyscallRow>, forks: u64) -> TraceReport {
        TraceReport {
            syscalls: rows,
            processes: Processes {
                forks: Some(forks),
                execs: Some(forks),
                failed_execs: Some(3),
                ..Processes::default()
            },
            ..TraceReport::default()
        }
    }

    fn split() -> TraceReport {
        report(
            vec![
                row("split", "clone", 4, Some(0.001)),
                row("split", "wait4", 4, Some(0.002)),
                row("sh", "vfork", 10_000, Some(0.5)),
                row("sh", "wait4", 10_000, Some(0.5)),
            ],
            10_004,
        )
    }

    #[test]
    fn the_dispatcher_is_told_from_its_tree() {
        let tally = Tally::of(&split(), "split");
        assert_eq!(
            (tally.forks, tally.own_forks, tally.own_waits, tally.waits),
            (Some(10_004), Some(4), Some(4), Some(10_004))
        );
        assert_eq!(tally.own_fork_wait_cpu_s, Some(0.003));
        let blind = Tally::of(&report(Vec::new(), 5), "split");
        assert_eq!(
            (blind.forks, blind.own_forks, blind.waits, blind.own_fork_wait_cpu_s),
            (Some(5), None, None, None)
        );
    }
}
