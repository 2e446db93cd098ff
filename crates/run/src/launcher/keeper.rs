//! The keeper: runs one program and ends all that comes of it, sessions of their own included, when it is told to or when
//! whyfaster dies. A place that runs the worker elsewhere may start whatever it likes.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};
use std::time::Duration;

use rustix::io::{FdFlags, fcntl_setfd};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, getpid, getppid};

use super::gate::now_ns;
use super::reap::{self, Signals, Woken};
use super::tree::{below_this, end_all, signal};
use whyfaster_host::said::unblock_signals;

/// The first word after the program's name that makes it a keeper.
pub const VERB: &str = "__keeper";

/// How long what is told to end may take before it is killed.
const PATIENCE: Duration = Duration::from_secs(2);

/// What the kernel sends when the parent dies; who is told to end gets SIGTERM.
const PARENT_DIED: Signal = Signal::HUP;

/// How long it may take to end by itself when its input has closed: what a far side needs to end its verb and to clear up.
const BY_ITSELF: Duration = Duration::from_secs(8);

/// What ends a program when whyfaster has died.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Orphaned {
    /// It is told to end, at once.
    Told,
    /// Its standard input, which whyfaster held open, has closed: it gets time to end by itself before it is told to. srun, told to end, kills all
    /// on its node at once, and nobody clears up there.
    InputClosed,
}

impl Orphaned {
    const ALL: [Self; 2] = [Self::Told, Self::InputClosed];

    /// Among the words of the keeper's command line.
    fn word(self) -> &'static str {
        match self {
            Self::Told => "told",
            Self::InputClosed => "input-closed",
        }
    }
}

/// What becomes of what a program leaves at its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    /// It may do the program's work, and is waited for.
    Awaited,
    /// It is ended.
    Ended,
}

impl Left {
    const ALL: [Self; 2] = [Self::Awaited, Self::Ended];

    /// Among the words of the keeper's command line.
    fn word(self) -> &'static str {
        match self {
            Self::Awaited => "awaited",
            Self::Ended => "ended",
        }
    }
}

/// How a program that is kept began: nothing comes, or the number of the error.
#[derive(Debug)]
pub(crate) struct Began(File);

/// The same command below a keeper, and where it tells how that began. Both are to be read after the spawn.
pub(crate) fn kept(command: &Command, orphaned: Orphaned, left: Left) -> io::Result<(Command, Began)> {
    let (tell, told) = pipe_with(PipeFlags::CLOEXEC).map(|(read, write)| (write, read))?;
    let mut keeper = Command::new("/proc/self/exe");
    keeper.arg(VERB).arg(getpid().as_raw_nonzero().to_string()).arg(tell.as_raw_fd().to_string());
    keeper.arg(orphaned.word()).arg(left.word());
    keeper.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => keeper.env(name, value),
            None => keeper.env_remove(name),
        };
    }
    if let Some(directory) = command.get_current_dir() {
        keeper.current_dir(directory);
    }
    // SAFETY: a system call on a descriptor that the closure owns; nothing else is done between fork and exec.
    unsafe { keeper.pre_exec(move || Ok(fcntl_setfd(&tell, FdFlags::empty())?)) };
    Ok((keeper, Began(told.into())))
}

impl Began {
    /// Waits until the program runs, or could not be started. The command of the keeper must be gone: it holds the other end.
    pub(crate) fn wait(mut self) -> io::Result<()> {
        let mut number = Vec::new();
        self.0.read_to_end(&mut number)?;
        match <[u8; 4]>::try_from(number) {
            Ok(number) => Err(io::Error::from_raw_os_error(i32::from_ne_bytes(number))),
            Err(_) => Ok(()),
        }
    }
}

/// Runs the program that the words after the verb name, and ends as it did.
pub fn main() -> ExitCode {
    let signals = Signals::block(false);
    let mut words = std::env::args_os().skip(2);
    let (Some(parent), Some(tell), Some(orphaned), Some(left), Some(program)) = (
        number(words.next()),
        number(words.next()),
        one_of(Orphaned::ALL, Orphaned::word, words.next()),
        one_of(Left::ALL, Left::word, words.next()),
        words.next(),
    ) else {
        return ExitCode::FAILURE;
    };
    let mut command = Command::new(program);
    command.args(words);
    match keep(&signals, parent, tell, (orphaned, left), command) {
        Some(status) => end_as(status),
        None => ExitCode::FAILURE,
    }
}

fn number(word: Option<OsString>) -> Option<i32> {
    word?.to_str()?.parse().ok()
}

fn one_of<T: Copy>(all: [T; 2], named: fn(T) -> &'static str, word: Option<OsString>) -> Option<T> {
    let word = word?;
    all.into_iter().find(|it| word == named(*it))
}

/// What the program ended with, if it ran and ended by itself.
fn keep(
    signals: &Signals,
    parent: i32,
    tell: RawFd,
    (orphaned, left): (Orphaned, Left),
    mut command: Command,
) -> Option<i32> {
    // SAFETY: who started us left this descriptor open for us and nobody else.
    let mut tell = File::from(unsafe { OwnedFd::from_raw_fd(tell) });
    let ready = fcntl_setfd(&tell, FdFlags::CLOEXEC)
        .and_then(|()| rustix::process::set_parent_process_death_signal(Some(PARENT_DIED)))
        .and_then(|()| rustix::process::set_child_subreaper(Some(getpid())));
    // Who died before that sends no signal.
    if ready.is_err() || getppid().map(Pid::as_raw_pid) != Some(parent) {
        return None;
    }
    // SAFETY: this process has one thread, and these are system calls.
    unsafe {
        command.pre_exec(|| {
            unblock_signals()?;
            // If we are killed, nobody else would end it.
            Ok(rustix::process::set_parent_process_death_signal(Some(Signal::TERM))?)
        });
    }
    let child = match command.spawn() {
        Ok(child) => child.id() as i32,
        Err(error) => {
            let errno = error.raw_os_error().unwrap_or(libc::EINVAL);
            // Who would read it may be gone.
            let _ = tell.write_all(&errno.to_ne_bytes());
            return None;
        }
    };
    drop(tell);
    let mut status = None;
    while !reaped(child, &mut status) {
        if status.is_some() && left == Left::Ended {
            end_what_is_left(signals, child, &mut status);
            break;
        }
        if signals.wait(None) == Woken::Stop {
            if orphaned == Orphaned::InputClosed && parent_died(signals) {
                wait_for_all(signals, child, &mut status, BY_ITSELF);
            }
            end_what_is_left(signals, child, &mut status);
            break;
        }
    }
    status
}

/// Whether it is no order of the parent that stops us, but its death. Of a parent with several threads the signal comes with the first of them,
/// when it still is our parent.
fn parent_died(signals: &Signals) -> bool {
    !signals.program_lives() || signals.strange().is_some_and(|(signal, _)| signal == PARENT_DIED.as_raw())
}

/// Takes in who has ended; whether nobody is left.
fn reaped(child: i32, status: &mut Option<i32>) -> bool {
    loop {
        match reap::next() {
            Ok(Some(ended)) if ended.pid == child && !ended.stopped() => *status = Some(ended.code()),
            Ok(Some(_)) => {}
            Ok(None) => return false,
            Err(_) => return true,
        }
    }
}

/// Waits until nobody is left, but no longer than this.
fn wait_for_all(signals: &Signals, child: i32, status: &mut Option<i32>, patience: Duration) {
    let until = now_ns() + patience.as_nanos() as u64;
    while !reaped(child, status) && now_ns() < until {
        signals.wait(Some(until));
    }
}

/// Tells all to end, gives them time for it, and kills who is left.
fn end_what_is_left(signals: &Signals, child: i32, status: &mut Option<i32>) {
    for process in below_this() {
        // It may have ended meanwhile.
        let _ = signal(process, Signal::TERM);
    }
    wait_for_all(signals, child, status, PATIENCE);
    end_all(&[], false, || reaped(child, status));
}

/// Ends with the program's exit status, or by its signal.
fn end_as(code: i32) -> ExitCode {
    if code < 0 {
        // SAFETY: plain system calls on this process, which has nothing left to do. A signal that dumps core would dump ours.
        unsafe {
            libc::prctl(libc::PR_SET_DUMPABLE, 0);
            libc::signal(-code, libc::SIG_DFL);
            let _ = unblock_signals();
            libc::raise(-code);
        }
    }
    ExitCode::from(code as u8)
}
