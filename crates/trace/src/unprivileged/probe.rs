//! Whether a child may be traced by ptrace here. Security modules and the filters of containers forbid it, and only an
//! attempt tells.

use std::{fs, io};

use super::stop::{EVENTS, seize};
use crate::obstacles::{Missing, missing};

/// Tries it on a child that does nothing. The error says what forbids it, as far as that can be told, and what would allow it.
pub fn possible() -> Result<(), Missing> {
    // SAFETY: the child calls only functions that are allowed after a fork, and ends by a signal.
    let child = unsafe { libc::fork() };
    match child {
        -1 => {
            let why = format!("no process could be created: {}", io::Error::last_os_error());
            return Err(missing("ptrace", why, "free what is short, then try again"));
        }
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
    seized.map_err(|error| {
        let scope = fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default();
        forbidden(&error, scope.trim())
    })
}

/// Admin-guide/LSM/Yama.rst: 2 asks for CAP_SYS_PTRACE, 3 forbids it to everybody and cannot be changed once it is set.
fn forbidden(error: &io::Error, scope: &str) -> Missing {
    match scope {
        "3" => missing(
            "ptrace",
            "kernel.yama.ptrace_scope is 3: nobody may trace",
            "it cannot be lowered before the next boot: take it out of /etc/sysctl.d (or wherever it is set), then boot",
        ),
        "2" => Missing {
            command: Some("sudo sysctl kernel.yama.ptrace_scope=1".to_owned()),
            ..missing(
                "ptrace",
                "kernel.yama.ptrace_scope is 2: only who has CAP_SYS_PTRACE may trace",
                "run it with sudo, in a container with --cap-add SYS_PTRACE, or allow it to all",
            )
        },
        _ => missing(
            "ptrace",
            format!("ptrace is refused ({error}), by a security module or the filter of a container"),
            "in a container --cap-add SYS_PTRACE allows it",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_told_to_lower_what_cannot_be_lowered() {
        let advice = |scope| forbidden(&io::Error::from_raw_os_error(libc::EPERM), scope).advice();
        assert!(advice("2").ends_with(": sudo sysctl kernel.yama.ptrace_scope=1"));
        assert!(advice("3").contains("next boot") && !advice("3").contains("sysctl "));
        assert!(advice("1").contains("SYS_PTRACE") && !advice("").contains("sysctl"));
    }

    #[test]
    fn the_attempt_leaves_nothing_behind() {
        let _alone = super::super::waiting::alone();
        let before = std::fs::read_to_string("/proc/thread-self/children").unwrap_or_default();
        let _ = possible();
        assert_eq!(std::fs::read_to_string("/proc/thread-self/children").unwrap_or_default(), before);
    }
}
