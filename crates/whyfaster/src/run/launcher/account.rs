//! The scheduling account: every task of the copies is traced to its exit, where `/proc/TID/schedstat` is read.
//!
//! Only forks and exits stop a task, never system calls, so the schedule stays close to that of an untraced batch; it is
//! an untimed batch all the same. A shell reaps its own children, so this is the only way without privileges to see what
//! the scheduler did to every process of a pipeline. Source: ptrace(2), `PTRACE_O_TRACEEXIT`; Documentation/scheduler/
//! sched-stats.rst for the fields: time on the CPU and time waiting on a run queue, both in nanoseconds.

use std::io;

use whyfaster_trace::unprivileged::{EVENTS, go_on, pass_on, schedstat};

use super::super::protocol::Account;

/// Traces a copy that waits at the gate.
pub(super) fn seize(pid: i32) -> io::Result<()> {
    whyfaster_trace::unprivileged::seize(pid, EVENTS | libc::PTRACE_O_TRACEEXIT)
}

/// A traced task stopped: notes it if it is at its exit, and lets it go on.
pub(super) fn on_stop(account: &mut Account, task: i32, status: i32) {
    if status >> 16 != libc::PTRACE_EVENT_EXIT {
        return pass_on(libc::PTRACE_CONT, task, status);
    }
    if let Some((run_ns, delay_ns)) = schedstat(task) {
        account.tasks += 1;
        account.run_ns += run_ns;
        account.delay_ns += delay_ns;
    }
    go_on(libc::PTRACE_CONT, task, 0);
}
