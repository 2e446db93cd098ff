//! The scheduling account: every task of the copies is traced to its exit, where `/proc/TID/schedstat` is read.
//!
//! Only forks, execs and exits stop a task, never system calls, so the schedule stays close to that of an untraced batch; it is
//! an untimed batch all the same. A shell reaps its own children, so this is the only way without privileges to see what
//! the scheduler did to every process of a pipeline. Source: ptrace(2), `PTRACE_O_TRACEEXIT`; Documentation/scheduler/
//! sched-stats.rst for the fields: time on the CPU and time waiting on a run queue, both in nanoseconds.

use std::io;

use whyfaster_trace::unprivileged::{EVENTS, go_on, pass_on, schedstat, without_rights};

use super::super::protocol::{Account, NoAccount};

/// Traces a copy that waits at the gate.
pub(super) fn seize(pid: i32) -> io::Result<()> {
    whyfaster_trace::unprivileged::seize(pid, EVENTS | libc::PTRACE_O_TRACEEXEC | libc::PTRACE_O_TRACEEXIT)
}

/// A traced task stopped: notes it if it is at its exit, or is not what it would be untraced, and lets it go on.
pub(super) fn on_stop(account: &mut Result<Account, NoAccount>, task: i32, status: i32) {
    match (status >> 16, &mut *account) {
        (libc::PTRACE_EVENT_EXIT, Ok(account)) => {
            if let Some((run_ns, delay_ns)) = schedstat(task) {
                account.tasks += 1;
                account.run_ns += run_ns;
                account.delay_ns += delay_ns;
            }
        }
        (libc::PTRACE_EVENT_EXEC, Ok(_)) => {
            if let Some(program) = without_rights(task) {
                *account = Err(NoAccount::WithoutRights { program });
            }
        }
        (libc::PTRACE_EVENT_EXIT | libc::PTRACE_EVENT_EXEC, Err(_)) => {}
        _ => return pass_on(libc::PTRACE_CONT, task, status),
    }
    go_on(libc::PTRACE_CONT, task, 0);
}
