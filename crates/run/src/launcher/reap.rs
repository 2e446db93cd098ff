//! Waiting for children, and what they leave behind.

use std::cell::{Cell, RefCell};
use std::mem::MaybeUninit;
use std::ptr;
use std::time::Duration;

use rustix::process::{Pid, getppid};

use super::super::protocol::Who;
use super::gate::now_ns;
use super::tree;

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
    /// A child changed its state (or several did), or nothing that matters happened.
    Child,
    /// We are to stop.
    Stop,
    /// The time is over.
    Time,
}

/// Reaps the children that have ended, except these, which are waited for elsewhere.
pub(crate) fn reap_others(spared: [i32; 2]) {
    loop {
        let mut ended = MaybeUninit::<libc::siginfo_t>::zeroed();
        // SAFETY: waitid fills the siginfo, or leaves its zeros where nobody has ended.
        let pid = unsafe {
            let options = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
            libc::waitid(libc::P_ALL, 0, ended.as_mut_ptr(), options);
            ended.assume_init().si_pid()
        };
        if pid == 0 || spared.contains(&pid) {
            return;
        }
        // SAFETY: nobody wants to know how it ended.
        unsafe { libc::waitpid(pid, ptr::null_mut(), libc::WNOHANG) };
    }
}

/// Signals that are not blocked. The kernel sends the first ones for a fault of ours, and blocked they would kill us all the
/// same (signal(7)); the next ones stop us with all that is in the foreground; the last one is ignored.
const NOT_BLOCKED: [i32; 11] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGILL,
    libc::SIGTRAP,
    libc::SIGSYS,
    libc::SIGABRT,
    libc::SIGTSTP,
    libc::SIGTTIN,
    libc::SIGTTOU,
    libc::SIGPIPE,
];

/// Signals that by default change nothing, so that nobody means anything by them.
const NOT_WAITED_FOR: [i32; 2] = [libc::SIGURG, libc::SIGWINCH];

/// The signals that the launcher waits for. They are blocked all the time and taken with `sigtimedwait(2)`, so that none
/// can slip in between a look and a wait. All that would end a process are among them: a command may send its parent
/// whatever it likes, and nothing of it may be left running.
pub(super) struct Signals {
    set: libc::sigset_t,
    /// Who started us.
    program: Option<Pid>,
    /// The first signal that somebody else sent to end us, and who.
    strange: RefCell<Option<(i32, Who)>>,
    /// Which child the last wait told to have ended, and when that was.
    ended: Cell<Option<(i32, u64)>>,
}

impl Signals {
    /// Blocks them. Attached to a terminal, those that the terminal sends are for the command, and the program decides what
    /// becomes of us. (Stopping with Ctrl-Z is left to the kernel: all of us stop.)
    pub(super) fn block(attached: bool) -> Self {
        let mut set = MaybeUninit::uninit();
        // SAFETY: sigfillset initialises the set; the others take an initialised one. Whoever started us may have ignored
        // SIGCHLD, and then the kernel would reap the copies instead of us: wait(2), NOTES.
        let set = unsafe {
            libc::signal(libc::SIGCHLD, libc::SIG_DFL);
            libc::sigfillset(set.as_mut_ptr());
            let mut set = set.assume_init();
            let mut leave_out = |signals: &[i32]| {
                for &signal in signals {
                    libc::sigdelset(&mut set, signal);
                }
                set
            };
            libc::sigprocmask(libc::SIG_SETMASK, &leave_out(&NOT_BLOCKED), ptr::null_mut());
            leave_out(&NOT_WAITED_FOR);
            if attached {
                leave_out(&[libc::SIGINT, libc::SIGHUP, libc::SIGQUIT]);
            }
            set
        };
        Self { set, program: getppid(), strange: RefCell::new(None), ended: Cell::new(None) }
    }

    /// Whether the program that started us lives.
    pub(super) fn program_lives(&self) -> bool {
        getppid() == self.program
    }

    /// The signal that somebody else than the program sent to end us, if one came since [`Self::clear`], and who sent it.
    pub(super) fn strange(&self) -> Option<(i32, Who)> {
        self.strange.take()
    }

    /// When this child had ended, if that is what the last wait was for: sooner than it can be known from reaping it, as
    /// that takes the kernel a while.
    pub(super) fn ended(&self, child: i32) -> Option<u64> {
        self.ended.get().filter(|&(pid, _)| pid == child).map(|(_, at_ns)| at_ns)
    }

    /// Sleeps until a child changed, a signal tells us to stop, or the clock shows `until_ns`.
    pub(super) fn wait(&self, until_ns: Option<u64>) -> Woken {
        let left = until_ns.map(|until| Duration::from_nanos(until.saturating_sub(now_ns())));
        self.take(&self.set, left)
    }

    /// Whether a signal tells us to stop; ends of children stay to be taken.
    pub(super) fn told_to_stop(&self) -> bool {
        let mut stops = self.set;
        // SAFETY: the set is a copy of an initialised one.
        unsafe { libc::sigdelset(&mut stops, libc::SIGCHLD) };
        self.take(&stops, Some(Duration::ZERO)) == Woken::Stop
    }

    /// Forgets a stop that came when there was nothing to stop.
    pub(super) fn clear(&self) {
        while self.wait(Some(0)) != Woken::Time {}
        self.strange.take();
    }

    fn take(&self, set: &libc::sigset_t, timeout: Option<Duration>) -> Woken {
        let timeout = timeout
            .map(|t| libc::timespec { tv_sec: t.as_secs() as i64, tv_nsec: i64::from(t.subsec_nanos()) });
        let timeout = timeout.as_ref().map_or(ptr::null(), |t| t as *const libc::timespec);
        let mut info = MaybeUninit::<libc::siginfo_t>::zeroed();
        // SAFETY: the set is initialised, the information is memory of ours (plain data, zeroed is valid), the timespec
        // outlives the call.
        let (signal, info) =
            unsafe { (libc::sigtimedwait(set, info.as_mut_ptr(), timeout), info.assume_init()) };
        let named = signal == libc::SIGCHLD
            && [libc::CLD_EXITED, libc::CLD_KILLED, libc::CLD_DUMPED].contains(&info.si_code);
        // SAFETY: the kernel filled it, and this signal names the child.
        self.ended.set(named.then(|| (unsafe { info.si_pid() }, now_ns())));
        match signal {
            libc::SIGCHLD => Woken::Child,
            -1 => Woken::Time,
            _ if !self.program_lives() => Woken::Stop,
            libc::SIGCONT => Woken::Child,
            _ => {
                // Codes above 0 are the kernel's own, and only the others name a sender: sigaction(2).
                // SAFETY: the kernel filled it; without a sender the field is another number, which is not looked at.
                let sender = (info.si_code <= 0).then(|| unsafe { info.si_pid() });
                if signal != libc::SIGTERM || sender.and_then(Pid::from_raw) != self.program {
                    let who =
                        || sender.map_or(Who { pid: 0, name: Some("the kernel".to_owned()) }, tree::who);
                    self.strange.borrow_mut().get_or_insert_with(|| (signal, who()));
                }
                Woken::Stop
            }
        }
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
