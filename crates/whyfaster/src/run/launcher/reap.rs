//! Waiting for children, and what they leave behind.

use std::mem::MaybeUninit;
use std::ptr;
use std::time::Duration;

use super::gate::now_ns;

/// A child that ended or, when traced, stopped.
pub(super) struct Reaped {
    pub(super) pid: i32,
    pub(super) status: i32,
    /// Of the child and of all its descendants that were waited for: getrusage(2), wait4(2).
    pub(super) usage: libc::rusage,
    /// When we saw it.
    pub(super) at_ns: u64,
}

/// What ended a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Woken {
    /// A child changed its state (or several did).
    Child,
    /// We are to stop.
    Stop,
    /// The time is over.
    Time,
}

/// The signals that the launcher waits for. They are blocked all the time and taken with `sigtimedwait(2)`, so that none
/// can slip in between a look and a wait.
pub(super) struct Signals(libc::sigset_t);

impl Signals {
    /// Blocks them. Attached to a terminal, those that the terminal sends are for the command, and the program decides what
    /// becomes of us: we then wait for SIGTERM alone. (Stopping with Ctrl-Z is left to the kernel: all of us stop.)
    pub(super) fn block(attached: bool) -> Self {
        let mut set = MaybeUninit::uninit();
        // SAFETY: sigemptyset initialises the set; the others take an initialised one. Whoever started us may have ignored
        // SIGCHLD, and then the kernel would reap the copies instead of us: wait(2), NOTES.
        unsafe {
            libc::signal(libc::SIGCHLD, libc::SIG_DFL);
            libc::sigemptyset(set.as_mut_ptr());
            for signal in [libc::SIGCHLD, libc::SIGTERM, libc::SIGINT, libc::SIGHUP, libc::SIGQUIT] {
                libc::sigaddset(set.as_mut_ptr(), signal);
            }
            libc::sigprocmask(libc::SIG_BLOCK, set.as_ptr(), ptr::null_mut());
            if attached {
                for signal in [libc::SIGINT, libc::SIGHUP, libc::SIGQUIT] {
                    libc::sigdelset(set.as_mut_ptr(), signal);
                }
            }
            Self(set.assume_init())
        }
    }

    /// Sleeps until a child changed, a signal tells us to stop, or the clock shows `until_ns`.
    pub(super) fn wait(&self, until_ns: Option<u64>) -> Woken {
        let left = until_ns.map(|until| Duration::from_nanos(until.saturating_sub(now_ns())));
        let timeout =
            left.map(|t| libc::timespec { tv_sec: t.as_secs() as i64, tv_nsec: i64::from(t.subsec_nanos()) });
        let timeout = timeout.as_ref().map_or(ptr::null(), |t| t as *const libc::timespec);
        // SAFETY: the set is initialised, no information is asked for, the timespec outlives the call.
        match unsafe { libc::sigtimedwait(&self.0, ptr::null_mut(), timeout) } {
            libc::SIGCHLD => Woken::Child,
            -1 => Woken::Time,
            _ => Woken::Stop,
        }
    }

    /// Whether a signal tells us to stop; ends of children stay to be taken.
    pub(super) fn told_to_stop(&self) -> bool {
        let mut stops = self.0;
        let at_once = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the set is a copy of an initialised one, no information is asked for, the timespec outlives the call.
        unsafe {
            libc::sigdelset(&mut stops, libc::SIGCHLD);
            libc::sigtimedwait(&stops, ptr::null_mut(), &at_once) > 0
        }
    }

    /// Forgets a stop that came when there was nothing to stop.
    pub(super) fn clear(&self) {
        while self.wait(Some(0)) != Woken::Time {}
    }
}

/// The next child that ended or stopped, if one did; `Err` when there is no child at all.
pub(super) fn next() -> Result<Option<Reaped>, NoChild> {
    let mut status = 0;
    let mut usage = MaybeUninit::zeroed();
    // SAFETY: both pointers are to memory of ours of the right type; rusage is plain data, zeroed is valid.
    let pid = unsafe { libc::wait4(-1, &mut status, libc::WNOHANG | libc::__WALL, usage.as_mut_ptr()) };
    match pid {
        0 => Ok(None),
        -1 => Err(NoChild),
        // SAFETY: as above.
        pid => Ok(Some(Reaped { pid, status, usage: unsafe { usage.assume_init() }, at_ns: now_ns() })),
    }
}

/// There is no child to wait for.
pub(super) struct NoChild;

impl Reaped {
    /// Whether it is a stop of a traced task and no end.
    pub(super) fn stopped(&self) -> bool {
        libc::WIFSTOPPED(self.status)
    }

    /// Exit code, or minus the signal.
    pub(super) fn code(&self) -> i32 {
        if libc::WIFSIGNALED(self.status) {
            -libc::WTERMSIG(self.status)
        } else {
            libc::WEXITSTATUS(self.status)
        }
    }
}

/// A `timeval` in microseconds.
pub(super) fn microseconds(time: libc::timeval) -> u64 {
    time.tv_sec as u64 * 1_000_000 + time.tv_usec as u64
}

/// A `timeval` in seconds.
pub(super) fn seconds(time: libc::timeval) -> f64 {
    microseconds(time) as f64 / 1e6
}
