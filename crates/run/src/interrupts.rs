//! Signals that end a measurement, taken in where we wait and nowhere else.
//!
//! They are blocked for the whole program and read from a signalfd(2): no handler runs, no call is cut short, and none is
//! lost between a look and a wait.

use std::cell::Cell;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use whyfaster_words::exit::{Exit, Failure, files_or};

/// The code of a signal that the kernel itself sends: include/uapi/asm-generic/siginfo.h.
const SI_KERNEL: i32 = 0x80;

/// Where an interrupting signal came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// A key of the terminal (Ctrl-C, Ctrl-\\): all in the foreground got this signal.
    Terminal { signal: i32 },
    /// Another process, or the end of the terminal: meant for us.
    Other,
}

/// The interrupting signals of this process.
#[derive(Debug)]
pub struct Interrupts {
    fd: OwnedFd,
    seen: Cell<u32>,
    terminated: Cell<bool>,
}

impl Interrupts {
    /// Takes over Ctrl-C, SIGTERM and the hang-up of the terminal. One that we were started to ignore stays ignored, as
    /// with `nohup`, or with `&` in a script.
    pub fn take_over() -> Result<Self, Failure> {
        Self::blocked().map_err(|error| {
            let otherwise =
                "signalfd(2) must be allowed: a filter of system calls, such as a container's, may forbid it";
            let hint = files_or(&error, otherwise);
            Failure::unfit(format!("cannot wait for signals: {error}"), hint)
        })
    }

    fn blocked() -> io::Result<Self> {
        let mut set = MaybeUninit::uninit();
        // SAFETY: sigemptyset initialises the set, the other calls take an initialised one; signalfd returns a new
        // descriptor that nobody else owns.
        unsafe {
            // An ignored SIGCHLD would be inherited, and then nobody could wait for a hook: wait(2), NOTES.
            libc::signal(libc::SIGCHLD, libc::SIG_DFL);
            libc::sigemptyset(set.as_mut_ptr());
            for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT] {
                if !ignored(signal) {
                    libc::sigaddset(set.as_mut_ptr(), signal);
                }
            }
            libc::sigprocmask(libc::SIG_BLOCK, set.as_ptr(), std::ptr::null_mut());
            match libc::signalfd(-1, set.as_ptr(), libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) {
                -1 => Err(io::Error::last_os_error()),
                fd => Ok(Self {
                    fd: OwnedFd::from_raw_fd(fd),
                    seen: Cell::new(0),
                    terminated: Cell::new(false),
                }),
            }
        }
    }

    /// How many interrupting signals came so far.
    pub fn count(&self) -> u32 {
        while self.take().is_some() {}
        self.seen.get()
    }

    /// The exit status after an interrupt: what a shell gives for the first signal that came.
    pub fn exit(&self) -> Exit {
        if self.terminated.get() { Exit::Terminated } else { Exit::Interrupted }
    }

    /// The next interrupting signal, if one came: where from.
    pub(crate) fn take(&self) -> Option<Source> {
        let mut info = [0u8; size_of::<libc::signalfd_siginfo>()];
        let read = rustix::io::read(&self.fd, &mut info).unwrap_or(0);
        if read < info.len() {
            return None;
        }
        self.seen.set(self.seen.get() + 1);
        // SAFETY: the kernel filled it, and it is plain data; the bytes need not be aligned for this read.
        let info: libc::signalfd_siginfo = unsafe { std::ptr::read_unaligned(info.as_ptr().cast()) };
        if self.seen.get() == 1 {
            self.terminated.set(info.ssi_signo as i32 == libc::SIGTERM);
        }
        // The terminal's own signals come from the kernel, and go to its whole foreground process group.
        let signal = info.ssi_signo as i32;
        let of_terminal = info.ssi_code == SI_KERNEL && [libc::SIGINT, libc::SIGQUIT].contains(&signal);
        Some(if of_terminal { Source::Terminal { signal } } else { Source::Other })
    }

    /// Whether we are to stop.
    pub fn interrupted(&self) -> bool {
        self.count() > 0
    }

    /// Whether we are to stop, be it in a moment.
    pub(crate) fn soon(&self) -> bool {
        let _ = self.wait(&[], Some(Duration::from_millis(200)));
        self.interrupted()
    }

    /// Waits until one of the descriptors can be read, a further signal comes, or the time is over. Returns which
    /// descriptors are ready.
    pub(crate) fn wait(&self, fds: &[BorrowedFd<'_>], timeout: Option<Duration>) -> io::Result<Vec<bool>> {
        let own = self.fd.as_fd();
        let mut polled: Vec<PollFd<'_>> =
            fds.iter().chain([&own]).map(|fd| PollFd::from_borrowed_fd(*fd, PollFlags::IN)).collect();
        let timeout = timeout.and_then(|t| Timespec::try_from(t).ok());
        rustix::io::retry_on_intr(|| poll(&mut polled, timeout.as_ref()))?;
        Ok(polled[..fds.len()].iter().map(|fd| !fd.revents().is_empty()).collect())
    }
}

/// Whether a signal is ignored.
fn ignored(signal: i32) -> bool {
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: nothing is changed, the pointer is to memory of ours; sigaction is plain data, zeroed is valid.
    unsafe {
        libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) == 0
            && action.assume_init().sa_sigaction == libc::SIG_IGN
    }
}
