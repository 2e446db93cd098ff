//! The real-time round-robin class: an experiment keeps ordinary tasks from the CPUs of a command with it.

use std::{fs, io, ptr, thread};

/// The lowest of its priorities, which already goes before all ordinary tasks (sched(7)).
const PRIORITY: i32 = 1;

/// What real-time tasks may take of every period, microseconds; -1 without a limit.
const RUNTIME: &str = "/proc/sys/kernel/sched_rt_runtime_us";

/// The part of a CPU that others get all the same: 50 ms of a second. Kernels from 6.12 on have a deadline server for them
/// (kernel/sched/fair.c, `fair_server_init`), older ones throttle real-time tasks by as much unless [`RUNTIME`] was changed.
pub(super) const LEFT_TO_OTHERS: f64 = 0.05;

/// Puts the calling task into the class. Children inherit it.
pub(super) fn become_realtime() -> io::Result<()> {
    // SAFETY: sched_param is plain data, zeroed is valid; some C libraries have more than the priority in it.
    let mut parameters: libc::sched_param = unsafe { std::mem::zeroed() };
    parameters.sched_priority = PRIORITY;
    // The system call itself: musl's function of this name only fails. On Linux it is about the one task, 0 the calling one.
    // SAFETY: the pointer is to memory of ours that the kernel only reads.
    let done =
        unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, libc::SCHED_RR, ptr::from_ref(&parameters)) };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Why commands cannot be put into it: what that needs. `None` where they can.
pub(super) fn denied() -> Option<String> {
    // SAFETY: takes an integer.
    let class = unsafe { libc::syscall(libc::SYS_sched_getscheduler, 0) };
    if [libc::SCHED_FIFO, libc::SCHED_RR].map(i64::from).contains(&class) {
        return Some(
            "changes nothing here: all commands have real-time priority, as whyfaster itself".to_owned(),
        );
    }
    // Without a limit, a command that computes on every CPU would let nobody end it.
    let unlimited = fs::read_to_string(RUNTIME).is_ok_and(|text| text.trim() == "-1");
    if unlimited {
        return Some(format!("needs a limit for real-time tasks ({RUNTIME} is -1)"));
    }
    // A task of its own, which is asked for it and ends: nothing else changes its class.
    let asked = thread::scope(|scope| scope.spawn(become_realtime).join());
    match asked {
        Ok(Ok(())) => None,
        Ok(Err(error)) => Some(format!("needs real-time priority (root or CAP_SYS_NICE): {error}")),
        Err(_) => Some("needs real-time priority, and asking for it failed".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class() -> i32 {
        // SAFETY: takes an integer.
        unsafe { libc::syscall(libc::SYS_sched_getscheduler, 0) as i32 }
    }

    #[test]
    fn asking_changes_nobody_else_and_says_what_is_true() {
        let before = class();
        let denied = denied();
        assert_eq!(class(), before);
        let (done, after) = thread::spawn(|| (become_realtime().is_ok(), class())).join().unwrap();
        assert_eq!(after == libc::SCHED_RR, done || before == libc::SCHED_RR);
        if let Some(why) = denied {
            assert!(why.starts_with("needs ") || why.starts_with("changes nothing"), "{why}");
        } else {
            assert!(done);
        }
    }
}
