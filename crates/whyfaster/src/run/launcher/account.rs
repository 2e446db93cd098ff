//! The scheduling account: every task of the copies is traced to its exit, where `/proc/TID/schedstat` is read.
//!
//! Only forks and exits stop a task, never system calls, so the schedule stays close to that of an untraced batch; it is
//! an untimed batch all the same. A shell reaps its own children, so this is the only way without privileges to see what
//! the scheduler did to every process of a pipeline. Source: ptrace(2), `PTRACE_O_TRACEEXIT`; Documentation/scheduler/
//! sched-stats.rst for the fields: time on the CPU and time waiting on a run queue, both in nanoseconds.

use std::{fs, io, ptr};

use super::super::protocol::Account;

const OPTIONS: i32 = libc::PTRACE_O_TRACEFORK
    | libc::PTRACE_O_TRACEVFORK
    | libc::PTRACE_O_TRACECLONE
    | libc::PTRACE_O_TRACEEXIT;

/// Traces a copy that waits at the gate.
pub(super) fn seize(pid: i32) -> io::Result<()> {
    // SAFETY: no memory of ours is passed; the options are an integer by the call's convention.
    match unsafe { libc::ptrace(libc::PTRACE_SEIZE, pid, ptr::null_mut::<libc::c_void>(), OPTIONS as usize) }
    {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// A traced task stopped: notes it if it is at its exit, and lets it go on.
pub(super) fn on_stop(account: &mut Account, task: i32, status: i32) {
    let (event, signal) = (status >> 16, libc::WSTOPSIG(status));
    match event {
        libc::PTRACE_EVENT_EXIT => {
            if let Some((run_ns, delay_ns)) = schedstat(task) {
                account.tasks += 1;
                account.run_ns += run_ns;
                account.delay_ns += delay_ns;
            }
            go_on(libc::PTRACE_CONT, task, 0);
        }
        // A group-stop (SIGSTOP and the like) must stay one; any other event stop just goes on.
        libc::PTRACE_EVENT_STOP if signal != libc::SIGTRAP => go_on(libc::PTRACE_LISTEN, task, 0),
        0 => go_on(libc::PTRACE_CONT, task, signal),
        _ => go_on(libc::PTRACE_CONT, task, 0),
    }
}

fn go_on(request: libc::c_uint, task: i32, signal: i32) {
    // SAFETY: no memory of ours is passed. A task that was killed meanwhile gives ESRCH, which is fine.
    unsafe { libc::ptrace(request, task, ptr::null_mut::<libc::c_void>(), signal as usize) };
}

/// Nanoseconds on the CPU and waiting for one.
fn schedstat(task: i32) -> Option<(u64, u64)> {
    let text = fs::read_to_string(format!("/proc/{task}/schedstat")).ok()?;
    let mut fields = text.split_whitespace().map(str::parse);
    Some((fields.next()?.ok()?, fields.next()?.ok()?))
}
