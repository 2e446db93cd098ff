//! What the program and its launcher say to each other: one request, one reply, as length-prefixed JSON on a socket.
//!
//! The launcher is a process of its own so that the measured processes begin in something small (a child starts
//! with its parent's resident memory on its account) and so that a subreaper stands above every measured tree.
//!
//! Neither side believes the other blindly: a message has a bound, and what has begun must come to its end in time.

use std::io::{self, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use whyfaster_core::metric::Metric;
use whyfaster_core::plan::{Input, Output};
use whyfaster_core::sample::{Copies, Io, Orphans};

/// What may be said, and how long it may be.
pub(crate) trait Said: Serialize + DeserializeOwned {
    /// Most bytes of such a message.
    const MOST_BYTES: u32;
}

/// The kernel takes no more than 6 MiB of words and environment for a program (`setup_arg_pages` and `bprm_stack_limits` in fs/exec.c);
/// as JSON text they are a few times as long at most.
impl Said for Message {
    const MOST_BYTES: u32 = 64 << 20;
}

/// A copy takes some hundred bytes, and a batch that goes on for long may have millions of them.
impl Said for Reply {
    const MOST_BYTES: u32 = 2 << 30;
}

/// How long the rest of a message may take once it has begun. Nothing else is noticed meanwhile.
const REST: Duration = Duration::from_secs(20);

/// What most messages have room in.
const USUAL_BYTES: u32 = 16 << 10;

/// A process that cannot be mistaken for another one with the same id.
pub(crate) type Identity = (i32, u64);

/// What the launcher is told.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Message {
    /// Run a batch and answer.
    Run(Box<Request>),
    /// What the program waited for has been done: the held command may go, or is to be ended. No answer.
    Go(bool),
    /// The program runs a hook, or has none any more: the launcher ends it should the program die. No answer.
    Hook(Option<Identity>),
}

/// A batch to run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Request {
    /// Absolute path of the program: PATH was searched before.
    pub(crate) program: String,
    /// Its words, the first being its name.
    pub(crate) argv: Vec<String>,
    /// Environment variables to set, beside those that the launcher was started with.
    pub(crate) env: Vec<(String, String)>,
    /// The other command, where two run at once.
    pub(crate) beside: Option<Beside>,
    /// Standard input.
    pub(crate) input: Input,
    /// Standard output and standard error. Not used by a trial, whose streams are sent along.
    pub(crate) output: Output,
    /// Standard error goes where ours goes, whatever becomes of standard output.
    pub(crate) show_errors: bool,
    /// Every copy in a session of its own.
    pub(crate) own_session: bool,
    /// CPUs of the copies.
    pub(crate) cpus: Option<Vec<u32>>,
    /// In the real-time round-robin class at priority 1, with all that they start.
    pub(crate) realtime: bool,
    /// As whom they run, if not as we do.
    pub(crate) user: Option<RunAs>,
    /// End a copy and its tree after this many seconds.
    pub(crate) timeout_s: Option<f64>,
    /// What a copy started and left running stays.
    pub(crate) keep_daemons: bool,
    /// What the CPU is to count.
    pub(crate) counters: Vec<Metric>,
    /// The copies' peak memory is asked for: before their exec they are to have as little as can be.
    pub(crate) peak_memory: bool,
    /// How the copies arrive.
    pub(crate) arrivals: Arrivals,
    /// What is asked of the batch.
    pub(crate) purpose: Purpose,
}

/// What runs at once with a request's command, and has all else in common with it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Beside {
    pub(crate) program: String,
    pub(crate) argv: Vec<String>,
    pub(crate) env: Vec<(String, String)>,
}

/// A user to become.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct RunAs {
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    pub(crate) groups: Vec<u32>,
    /// Variables to set: who one is. Those of the request go before.
    pub(crate) set: Vec<(String, String)>,
    /// Variables to take away.
    pub(crate) unset: Vec<String>,
    /// The terminal is read by another user after us, and is given up first.
    pub(crate) leaves_terminal: bool,
}

/// How the copies arrive.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) enum Arrivals {
    /// All at once.
    Together {
        /// How many.
        copies: u32,
    },
    /// One of the request's command and one of the other, in this order. Whichever ends first is started again, uncounted, until the
    /// other has ended.
    Duet,
    /// A new one whenever a worker's last one ended.
    Workers {
        /// How many workers.
        workers: u32,
        /// Seconds during which copies are started.
        duration_s: f64,
    },
    /// At fixed intervals.
    Rate {
        /// Starts a second.
        rate_per_s: f64,
        /// Seconds during which copies are started.
        duration_s: f64,
        /// Give up when more than this many are under way.
        most: u32,
    },
}

/// What is asked of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Purpose {
    /// Time it: nothing else may happen meanwhile.
    Time,
    /// Watch what one copy needs; its output goes to the streams that came with the request.
    Trial,
    /// Trace it for the scheduling account of every task.
    Account,
    /// Hold all copies at the gate until told to go; else as a timed one.
    Traced,
    /// Hold the only copy at the gate until told to go, and wait for all that comes from it. Its standard input comes with
    /// the request, if it is to have one of its own.
    Observed,
}

/// What the launcher answers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Reply {
    /// The copies stand at the gate under these process ids.
    Held(Vec<i32>),
    /// The copies have left the gate.
    Released,
    /// The command itself has ended; what it started runs on.
    Alone,
    /// The batch ran.
    Done(Box<Outcome>),
    /// It could not be run; nothing of it is left.
    Failed(LaunchError),
}

/// What became of a batch.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Outcome {
    /// How it ended.
    pub(crate) ended: Ended,
    /// `CLOCK_MONOTONIC` at the release, nanoseconds.
    pub(crate) released_ns: u64,
    /// First exec to last end, seconds.
    pub(crate) makespan_s: f64,
    /// The copies.
    pub(crate) copies: Copies,
    /// What outlived them.
    pub(crate) orphans: Orphans,
    /// Processes that could not be ended.
    pub(crate) left: Vec<Who>,
    /// Processes that were left running, as asked.
    pub(crate) daemons: Vec<Identity>,
    /// CPU seconds that the machine was busy meanwhile.
    pub(crate) machine_busy_s: Option<f64>,
    /// CPU seconds stolen meanwhile.
    pub(crate) steal_s: Option<f64>,
    /// What the copies and what outlived them read and wrote, where the kernel tells.
    pub(crate) io: Option<Io>,
    /// What a trial saw.
    pub(crate) needs: Option<Needs>,
    /// What a traced batch added up, or why it could not.
    pub(crate) account: Option<Result<Account, NoAccount>>,
}

impl Outcome {
    /// Whether no copy was cut short or failed.
    pub(crate) fn whole(&self) -> bool {
        !self.copies.timed_out.contains(&true) && self.copies.status.iter().all(|&status| status == 0)
    }
}

/// A process, for a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Who {
    pub(crate) pid: i32,
    /// Its name, if it may be seen.
    pub(crate) name: Option<String>,
}

/// How a batch ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Ended {
    /// All copies ended, or the time-out ended them.
    Normally,
    /// The program told us to stop, or died.
    Aborted,
    /// Somebody else sent us a signal that ends a process.
    Signalled {
        /// Which one.
        signal: i32,
        /// Who sent it.
        by: Who,
    },
    /// More copies were under way than allowed: the rate cannot be sustained.
    Overloaded,
    /// The program could not be executed.
    ExecFailed {
        /// The error number.
        errno: i32,
    },
}

/// What one copy needed, sampled.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Needs {
    /// Most processes at once.
    pub(crate) processes: u32,
    /// Most memory at once.
    pub(crate) memory_bytes: u64,
    /// Most anonymous and shared memory at once.
    pub(crate) private_bytes: u64,
}

/// Scheduling account of a traced batch.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Account {
    /// Tasks seen to exit.
    pub(crate) tasks: u64,
    /// Nanoseconds they ran.
    pub(crate) run_ns: u64,
    /// Nanoseconds they waited for a CPU.
    pub(crate) delay_ns: u64,
}

/// Why a traced batch has no account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum NoAccount {
    /// Tracing is not permitted.
    Forbidden {
        /// The error number.
        errno: i32,
    },
    /// A program that has rights of its own ran without them, because it was traced.
    WithoutRights {
        /// Its file.
        program: PathBuf,
    },
}

/// Why a batch could not be run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum LaunchError {
    /// A copy could not be created.
    Fork {
        /// Which one, from 1.
        copy: u32,
        /// The error number.
        errno: i32,
    },
    /// Something had to be opened or set before the copy could run.
    Prepare {
        /// What.
        step: Step,
        /// The error number.
        errno: i32,
    },
}

/// What has to be done before a copy can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u32)]
pub(crate) enum Step {
    /// Standard input.
    Input = 1,
    /// Standard output or error.
    Output,
    /// CPU affinity.
    Affinity,
    /// The exec itself.
    Exec,
    /// Becoming another user.
    User,
    /// The class that it is scheduled in.
    Class,
    /// Its words and its environment.
    Words,
    /// The memory that copies share with the launcher.
    Memory,
}

impl Step {
    /// All of them.
    pub(crate) const ALL: [Self; 8] = [
        Self::Input,
        Self::Output,
        Self::Affinity,
        Self::Exec,
        Self::User,
        Self::Class,
        Self::Words,
        Self::Memory,
    ];
}

/// Sends a message, with descriptors for the other side if any.
pub(crate) fn send<T: Said>(socket: &UnixStream, message: &T, fds: &[BorrowedFd<'_>]) -> io::Result<()> {
    let body = serde_json::to_vec(message)?;
    let length = bounded::<T>(u32::try_from(body.len()).map_err(io::Error::other)?)?.to_le_bytes();
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !fds.is_empty() && !control.push(SendAncillaryMessage::ScmRights(fds)) {
        return Err(io::Error::other("too many descriptors for one message"));
    }
    // At once, so that the other side is woken once.
    let both = [io::IoSlice::new(&length), io::IoSlice::new(&body)];
    let sent = sendmsg(socket, &both, &mut control, SendFlags::NOSIGNAL)?;
    (&*socket).write_all(&length[sent.min(length.len())..])?;
    (&*socket).write_all(&body[sent.saturating_sub(length.len())..])
}

/// The length of a message, if it may be so long.
fn bounded<T: Said>(length: u32) -> io::Result<u32> {
    if length > T::MOST_BYTES {
        let most = T::MOST_BYTES;
        return Err(io::Error::other(format!("a message of {length} bytes, where {most} are allowed")));
    }
    Ok(length)
}

/// Receives a message, waiting for its first byte without limit; `None` when the other side is gone.
pub(crate) fn receive<T: Said>(socket: &UnixStream) -> io::Result<Option<(T, Vec<OwnedFd>)>> {
    let mut length = [0u8; 4];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let got = rustix::io::retry_on_intr(|| {
        recvmsg(
            socket.as_fd(),
            &mut [io::IoSliceMut::new(&mut length)],
            &mut control,
            RecvFlags::CMSG_CLOEXEC,
        )
    })?;
    if got.bytes == 0 {
        return Ok(None);
    }
    // A stream socket may hand out less than was sent in one call.
    let mut rest = Rest { socket, until: Instant::now() + REST };
    rest.read_exact(&mut length[got.bytes..])?;
    let fds = control
        .drain()
        .filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(fds) => Some(fds),
            _ => None,
        })
        .flatten()
        .collect();
    let length = bounded::<T>(u32::from_le_bytes(length))?;
    // Most messages come with one call into this. For more, memory is taken for what has come, not for what was announced.
    let mut body = Vec::with_capacity(length.min(USUAL_BYTES) as usize);
    if rest.take(length.into()).read_to_end(&mut body)? < length as usize {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(Some((serde_json::from_slice(&body)?, fds)))
}

/// The rest of a message, which must come in time.
struct Rest<'a> {
    socket: &'a UnixStream,
    until: Instant,
}

impl Read for Rest<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.until.saturating_duration_since(Instant::now());
        let left = Timespec::try_from(left).map_err(io::Error::other)?;
        let mut polled = [PollFd::new(self.socket, PollFlags::IN)];
        match rustix::io::retry_on_intr(|| poll(&mut polled, Some(&left)))? {
            0 => Err(io::ErrorKind::TimedOut.into()),
            _ => self.socket.read(buffer),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn pair() -> (UnixStream, UnixStream) {
        UnixStream::pair().unwrap()
    }

    #[test]
    fn a_message_comes_whole_with_its_descriptors() {
        let (here, there) = pair();
        send(&here, &Message::Go(true), &[here.as_fd(), there.as_fd()]).unwrap();
        let (message, fds) = receive::<Message>(&there).unwrap().unwrap();
        assert!(matches!(message, Message::Go(true)));
        assert_eq!(fds.len(), 2);
        drop((here, fds));
        assert!(receive::<Message>(&there).unwrap().is_none());
    }

    /// Whoever sends four bytes of 0xff must not have us take 4 GiB.
    #[test]
    fn what_is_announced_too_long_or_ends_early_is_an_error_at_once() {
        for bytes in [&[0xff; 4][..], &[0xff; 3], &[4, 0, 0, 0, b'n'], &[4, 0, 0, 0, b'n', b'o', b'n', b'e']]
        {
            let (mut here, there) = pair();
            here.write_all(bytes).unwrap();
            here.shutdown(std::net::Shutdown::Write).unwrap();
            assert!(receive::<Message>(&there).is_err(), "{bytes:?}");
            let (mut here, there) = pair();
            here.write_all(bytes).unwrap();
            here.shutdown(std::net::Shutdown::Write).unwrap();
            assert!(receive::<Reply>(&there).is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn a_message_that_does_not_go_on_is_given_up() {
        let (_here, there) = pair();
        let mut rest = Rest { socket: &there, until: Instant::now() + Duration::from_millis(20) };
        assert_eq!(rest.read(&mut [0; 4]).unwrap_err().kind(), io::ErrorKind::TimedOut);
    }
}
