//! Waiting for traced tasks: what happened to whom, seen before it is taken.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{FromRawFd, OwnedFd};

use whyfaster_core::trace::event::Tid;

use super::stop;

/// Ends of children and stops of traced tasks as something that can be polled for.
pub(super) fn child_signals() -> io::Result<OwnedFd> {
    let mut set = MaybeUninit::uninit();
    // SAFETY: sigemptyset initialises the set, the other calls take an initialised one; signalfd returns a new descriptor
    // that nobody else owns.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), libc::SIGCHLD);
        libc::sigprocmask(libc::SIG_BLOCK, set.as_ptr(), std::ptr::null_mut());
        match libc::signalfd(-1, set.as_ptr(), libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) {
            -1 => Err(io::Error::last_os_error()),
            fd => Ok(OwnedFd::from_raw_fd(fd)),
        }
    }
}

pub(super) fn drain(signals: &OwnedFd) {
    let mut info = [0u8; size_of::<libc::signalfd_siginfo>()];
    while rustix::io::read(signals, &mut info).is_ok_and(|read| read > 0) {}
}

/// The next task that stopped or ended, and whether it ended; it stays to be taken.
pub(super) fn next() -> Option<(Tid, bool)> {
    let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
    let flags = libc::WEXITED | libc::WSTOPPED | libc::WNOHANG | libc::WNOWAIT | libc::__WALL;
    // SAFETY: the pointer is to memory of ours; zeroed is valid, and means that nothing was found.
    unsafe {
        if libc::waitid(libc::P_ALL, 0, info.as_mut_ptr(), flags) != 0 {
            return None;
        }
        let info = info.assume_init();
        let ended = matches!(info.si_code, libc::CLD_EXITED | libc::CLD_KILLED | libc::CLD_DUMPED);
        (info.si_pid() != 0).then(|| (info.si_pid() as Tid, ended))
    }
}

/// Takes what happened to a task: its wait status.
pub(super) fn take(task: Tid) -> Option<i32> {
    let mut status = 0;
    // SAFETY: the pointer is to memory of ours.
    let taken = unsafe { libc::waitpid(task as i32, &mut status, libc::WNOHANG | libc::__WALL) };
    (taken == task as i32).then_some(status)
}

/// Stops a task for a moment to let it go on untraced. One that cannot be stopped now is let go by the kernel when this
/// process ends: ptrace(2).
pub(super) fn release(task: i32) {
    if stop::interrupt(task).is_err() {
        return;
    }
    for _ in 0..100 {
        if take(task as Tid).is_some() {
            return stop::go_on(libc::PTRACE_DETACH, task, 0);
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}
