//! Waiting for traced tasks: what happened to whom, seen before it is taken.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{FromRawFd, OwnedFd};
use std::thread;
use std::time::{Duration, Instant};

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

/// Takes what came of them so far; whether there was anything.
pub(super) fn drain(signals: &OwnedFd) -> bool {
    let mut info = [0u8; size_of::<libc::signalfd_siginfo>()];
    let mut came = false;
    while rustix::io::read(signals, &mut info).is_ok_and(|read| read > 0) {
        came = true;
    }
    came
}

/// What happened to a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum News {
    Stopped(Tid),
    Ended(Tid),
}

/// A task that stopped or ended, this one or any, the newest first; it stays to be taken. An error: there is no such task
/// (any more). Only traced ones, which always count (Linux 4.7), and other children that end without `SIGCHLD`, of which nobody
/// here has any (`eligible_child` in kernel/exit.c): a child that is not traced and has ended, one that was left to this process or
/// started before it began, would stand before the traced ones for ever.
pub(super) fn next(of: Option<Tid>) -> io::Result<Option<News>> {
    let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
    let flags = libc::WEXITED | libc::WSTOPPED | libc::WNOHANG | libc::WNOWAIT | libc::__WCLONE;
    let kind = if of.is_some() { libc::P_PID } else { libc::P_ALL };
    // SAFETY: the pointer is to memory of ours; zeroed is valid, and means that nothing was found.
    let info = unsafe {
        if libc::waitid(kind, of.unwrap_or(0), info.as_mut_ptr(), flags) != 0 {
            return Err(io::Error::last_os_error());
        }
        info.assume_init()
    };
    // SAFETY: a child's signal, or zeroes.
    let task = unsafe { info.si_pid() } as Tid;
    Ok(match info.si_code {
        _ if task == 0 => None,
        libc::CLD_EXITED | libc::CLD_KILLED | libc::CLD_DUMPED => Some(News::Ended(task)),
        _ => Some(News::Stopped(task)),
    })
}

/// Whether a task is traced by this process: not one whose end was taken.
pub(super) fn is_traced(task: Tid) -> bool {
    next(Some(task)).is_ok()
}

/// Takes what happened to a task: its wait status.
pub(super) fn take(task: Tid) -> Option<i32> {
    let mut status = 0;
    // SAFETY: the pointer is to memory of ours.
    let taken = unsafe { libc::waitpid(task as i32, &mut status, libc::WNOHANG | libc::__WALL) };
    (taken == task as i32).then_some(status)
}

/// Stops tasks for a moment to let them go on untraced, and whatever they made meanwhile. Who cannot be stopped in time
/// is let go by the kernel when this process ends: ptrace(2).
pub(super) fn release(tasks: impl IntoIterator<Item = Tid>) {
    /// For all of them.
    const PATIENCE: Duration = Duration::from_millis(100);
    for task in tasks {
        // One that has ended needs nothing.
        let _ = stop::interrupt(task as i32);
    }
    let until = Instant::now() + PATIENCE;
    loop {
        match next(None) {
            Ok(Some(News::Stopped(task))) => {
                if let Some(status) = take(task) {
                    stop::detach(task as i32, status);
                }
            }
            Ok(Some(News::Ended(task))) => drop(take(task)),
            Ok(None) if Instant::now() < until => thread::sleep(Duration::from_millis(1)),
            Ok(None) | Err(_) => return,
        }
    }
}

/// Stops come for the whole process, and only the thread that seized a task can let it go: one test at a time has tasks.
#[cfg(test)]
pub(super) fn alone() -> std::sync::MutexGuard<'static, ()> {
    static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Child, Command, ExitStatus};

    use super::super::possible;
    use super::*;

    fn wait_for(what: &str, mut it: impl FnMut() -> bool) {
        let began = Instant::now();
        while !it() {
            assert!(began.elapsed() < Duration::from_secs(20), "{what}");
            thread::sleep(Duration::from_millis(2));
        }
    }

    fn is(task: u32, state: &str) -> bool {
        let status = std::fs::read_to_string(format!("/proc/{task}/status")).unwrap_or_default();
        status.lines().any(|line| line.strip_prefix("State:").is_some_and(|it| it.trim().starts_with(state)))
    }

    /// Lets it go where it is stopped. How it ends by itself.
    fn released(mut child: Child) -> ExitStatus {
        wait_for("it is stopped", || is(child.id(), "t"));
        release([child.id()]);
        let mut status = None;
        wait_for("it has ended", || {
            status = child.try_wait().unwrap();
            status.is_some()
        });
        status.unwrap()
    }

    #[test]
    fn who_is_let_go_gets_the_signal_that_it_was_stopped_at() {
        let _alone = alone();
        if possible().is_err() {
            return;
        }
        let child = Command::new("sleep").arg("60").spawn().unwrap();
        stop::seize(child.id() as i32, 0).unwrap();
        // SAFETY: a child that was not waited for.
        unsafe { libc::kill(child.id() as i32, libc::SIGTERM) };
        assert_eq!(released(child).signal(), Some(libc::SIGTERM));
    }

    #[test]
    fn who_is_let_go_in_a_fork_takes_the_child_along() {
        let _alone = alone();
        if possible().is_err() {
            return;
        }
        let go = tempfile::tempdir().unwrap();
        let script = "while [ ! -e go ]; do :; done; /bin/true && exit 3";
        let child = Command::new("sh").args(["-c", script]).current_dir(go.path()).spawn().unwrap();
        stop::seize(child.id() as i32, stop::EVENTS).unwrap();
        std::fs::write(go.path().join("go"), "").unwrap();
        assert_eq!(released(child).code(), Some(3));
    }
}
