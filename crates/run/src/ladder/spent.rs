//! The CPU time that a program and all below it have spent, by /proc.

use std::fs;

use whyfaster_trace::unprivileged::schedstat;

use super::super::launcher::below_process;

/// CPU nanoseconds of the living processes below this one, and of those that they have reaped. The living are exact, the reaped are in
/// ticks of the kernel's clock.
pub(super) fn below(keeper: i32) -> u64 {
    let ticks = rustix::param::clock_ticks_per_second().max(1);
    let all = below_process(keeper).into_iter().map(|(pid, _)| pid).chain([keeper]);
    all.map(|pid| living(pid) + reaped_ticks(pid).unwrap_or(0) * (1_000_000_000 / ticks)).sum()
}

/// Of all its threads.
fn living(pid: i32) -> u64 {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return 0 };
    let numbers = threads.flatten().filter_map(|thread| thread.file_name().to_str()?.parse::<i32>().ok());
    numbers.filter_map(schedstat).map(|(run_ns, _)| run_ns).sum()
}

/// Ticks of its dead children: fields 16 and 17 of proc_pid_stat(5).
fn reaped_ticks(pid: i32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let fields: Vec<&str> = text.get(text.rfind(')')? + 2..)?.split(' ').collect();
    Some(fields.get(13)?.parse::<u64>().ok()? + fields.get(14)?.parse::<u64>().ok()?)
}
