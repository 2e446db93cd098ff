//! The CPU time that a program and all below it have spent, by /proc.

use std::fs;

use whyfaster_trace::unprivileged::schedstat;

use super::super::launcher::below_process;

/// What a program and all below it have spent.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spent {
    /// CPU nanoseconds of the living processes, and of those that they have reaped. The living are exact, the reaped are in ticks of the
    /// kernel's clock.
    pub(super) cpu_ns: u64,
    /// Page faults of those that were reaped: no process is without, so that more of them mean that one was reaped.
    pub(super) reaped_faults: u64,
}

/// A tick of the kernel's clock, nanoseconds.
pub(super) fn tick_ns() -> u64 {
    1_000_000_000 / rustix::param::clock_ticks_per_second().max(1)
}

pub(super) fn below(keeper: i32) -> Spent {
    let all = below_process(keeper).into_iter().map(|(pid, _)| pid).chain([keeper]);
    all.fold(Spent::default(), |sum, pid| {
        let reaped = reaped(pid).unwrap_or_default();
        Spent {
            cpu_ns: sum.cpu_ns + living(pid) + reaped.cpu_ns,
            reaped_faults: sum.reaped_faults + reaped.reaped_faults,
        }
    })
}

/// Of all its threads.
fn living(pid: i32) -> u64 {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return 0 };
    let numbers = threads.flatten().filter_map(|thread| thread.file_name().to_str()?.parse::<i32>().ok());
    numbers.filter_map(schedstat).map(|(run_ns, _)| run_ns).sum()
}

/// Of its dead children: fields 11, 16 and 17 of proc_pid_stat(5).
fn reaped(pid: i32) -> Option<Spent> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = text.get(text.rfind(')')? + 2..)?.split(' ').collect();
    let field = |at: usize| fields.get(at)?.parse::<u64>().ok();
    Some(Spent { cpu_ns: (field(13)? + field(14)?) * tick_ns(), reaped_faults: field(8)? })
}
