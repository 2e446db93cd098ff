//! Whether a child may be traced by ptrace here. Security modules and the filters of containers forbid it, and only an
//! attempt tells.

use std::io;

use super::stop::{EVENTS, seize};

/// Tries it on a child that does nothing. The error says what forbids it, as far as that can be told.
pub fn possible() -> Result<(), String> {
    // SAFETY: the child calls only functions that are allowed after a fork, and ends by a signal.
    let child = unsafe { libc::fork() };
    match child {
        -1 => return Err(format!("no process could be created: {}", io::Error::last_os_error())),
        // SAFETY: as above; a parent that died in between must not leave it behind.
        0 => unsafe {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            loop {
                libc::pause();
            }
        },
        _ => {}
    }
    let seized = seize(child, EVENTS);
    // SAFETY: our own child, which nobody else waits for.
    unsafe {
        libc::kill(child, libc::SIGKILL);
        libc::waitpid(child, std::ptr::null_mut(), libc::__WALL);
    }
    seized.map_err(|error| match std::fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").as_deref() {
        Ok("3\n") => "kernel.yama.ptrace_scope is 3: nobody may trace".to_owned(),
        _ => format!("ptrace is refused ({error}), by a security module or the filter of a container"),
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_attempt_leaves_nothing_behind() {
        let before = std::fs::read_to_string("/proc/thread-self/children").unwrap_or_default();
        let _ = super::possible();
        assert_eq!(std::fs::read_to_string("/proc/thread-self/children").unwrap_or_default(), before);
    }
}
