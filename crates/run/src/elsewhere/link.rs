//! One connection: a program that gives a shell over there, what is still to be sent to it, and what came from it.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::ioctl_fionbio;
use rustix::process::{Resource, Rlimit, setrlimit};

use crate::launcher::keeper::{Left, Orphaned};
use crate::probe::group::Group;

/// How long it gets to end by itself before it is told to, and then before it is killed. Its keeper needs some of that to end what does not listen.
const GRACE: Duration = Duration::from_secs(3);

/// Lines that are kept for the reason of a failure.
const KEPT: usize = 12;

/// Read and written at once.
const CHUNK: usize = 1 << 16;

/// Something that is to be sent.
enum Parcel {
    Bytes {
        bytes: Arc<[u8]>,
        from: usize,
    },
    /// So many bytes of a file.
    File {
        file: File,
        left: u64,
    },
}

/// A stream that is read without waiting.
struct Inlet {
    file: File,
    buffer: VecDeque<u8>,
    open: bool,
}

impl Inlet {
    fn of(fd: Option<impl Into<OwnedFd>>) -> io::Result<Self> {
        let fd: OwnedFd = fd.ok_or_else(|| io::Error::other("it has no output"))?.into();
        ioctl_fionbio(&fd, true)?;
        Ok(Self { file: fd.into(), buffer: VecDeque::new(), open: true })
    }

    /// Takes in what is there; whether anything was.
    fn read(&mut self) -> bool {
        let mut bytes = [0; CHUNK];
        match self.file.read(&mut bytes) {
            Ok(read) if read > 0 => {
                self.buffer.extend(&bytes[..read]);
                return true;
            }
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {}
            _ => self.open = false,
        }
        false
    }

    /// The next line; at the end also one without a line end, and a part of one that is too long.
    fn line(&mut self, longest: usize) -> Option<String> {
        let end = self.buffer.iter().position(|byte| *byte == b'\n');
        let whole = end.map(|end| end + 1);
        let rest = (!self.buffer.is_empty() && (!self.open || self.buffer.len() > longest))
            .then_some(self.buffer.len());
        let line: Vec<u8> = self.buffer.drain(..whole.or(rest)?).collect();
        Some(String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']).to_owned())
    }
}

/// The connection. Dropped, it is cut.
pub(super) struct Link {
    group: Group,
    input: Option<File>,
    output: Inlet,
    errors: Inlet,
    parcels: VecDeque<Parcel>,
    said: VecDeque<String>,
    /// When something last came.
    pub(super) heard: Instant,
    /// When something last came, or went: what is sent may take long.
    pub(super) stirred: Instant,
}

impl Link {
    /// Starts the program, with a limit on open files of its own if ours is another one: srun passes it on to what it runs.
    pub(super) fn open(command: &Command, files: Option<Rlimit>) -> io::Result<Self> {
        let mut group = Group::kept(command, Orphaned::InputClosed, Left::Awaited, GRACE, |it| {
            it.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
            let limited = move || files.map_or(Ok(()), |files| Ok(setrlimit(Resource::Nofile, files)?));
            // SAFETY: a system call between fork and exec.
            unsafe { it.pre_exec(limited) };
        })?;
        let input: OwnedFd =
            group.child.stdin.take().ok_or_else(|| io::Error::other("it has no input"))?.into();
        ioctl_fionbio(&input, true)?;
        Ok(Self {
            input: Some(input.into()),
            output: Inlet::of(group.child.stdout.take())?,
            errors: Inlet::of(group.child.stderr.take())?,
            group,
            parcels: VecDeque::new(),
            said: VecDeque::new(),
            heard: Instant::now(),
            stirred: Instant::now(),
        })
    }

    /// Sends these bytes as soon as they can be taken.
    pub(super) fn send(&mut self, bytes: impl Into<Arc<[u8]>>) {
        self.parcels.push_back(Parcel::Bytes { bytes: bytes.into(), from: 0 });
    }

    /// The same of a file.
    pub(super) fn send_file(&mut self, file: File, bytes: u64) {
        self.parcels.push_back(Parcel::File { file, left: bytes });
    }

    /// Whether all has gone.
    pub(super) fn idle(&self) -> bool {
        self.parcels.is_empty()
    }

    /// Nothing more is sent: over there the lifeline has closed.
    pub(super) fn close(&mut self) {
        self.parcels.clear();
        self.input = None;
    }

    /// Whether nothing will come any more.
    pub(super) fn over(&self) -> bool {
        self.ended() && self.output.buffer.is_empty()
    }

    /// Whether nothing will come but what is here already.
    pub(super) fn ended(&self) -> bool {
        !self.output.open
    }

    /// Waits until something comes or goes, `stop` closes, or the time is there. Whether `stop` closed. An error is one of a file of ours.
    pub(super) fn turn(&mut self, stop: Option<BorrowedFd<'_>>, until: Instant) -> io::Result<bool> {
        let left = until.saturating_duration_since(Instant::now());
        let timeout = Timespec::try_from(left).ok();
        let stopped = {
            let mut fds: Vec<PollFd<'_>> =
                stop.iter().map(|stop| PollFd::from_borrowed_fd(*stop, PollFlags::IN)).collect();
            for inlet in [&self.output, &self.errors].into_iter().filter(|it| it.open) {
                fds.push(PollFd::from_borrowed_fd(inlet.file.as_fd(), PollFlags::IN));
            }
            if let Some(input) = self.input.as_ref().filter(|_| !self.parcels.is_empty()) {
                fds.push(PollFd::from_borrowed_fd(input.as_fd(), PollFlags::OUT));
            }
            rustix::io::retry_on_intr(|| poll(&mut fds, timeout.as_ref()))?;
            stop.is_some() && !fds[0].revents().is_empty()
        };
        // None of them waits, so each may be asked.
        let heard = self.output.open && self.output.read();
        let now = Instant::now();
        if heard {
            self.heard = now;
        }
        if heard | self.write()? {
            self.stirred = now;
        }
        if self.errors.open {
            self.errors.read();
        }
        while let Some(line) = self.errors.line(CHUNK) {
            self.note(&line);
        }
        Ok(stopped)
    }

    /// Sends what can be taken; whether anything was.
    fn write(&mut self) -> io::Result<bool> {
        let (Some(input), Some(parcel)) = (&mut self.input, self.parcels.front_mut()) else {
            return Ok(false);
        };
        let wrote = match parcel {
            Parcel::Bytes { bytes, from } => {
                let wrote = input.write(&bytes[*from..bytes.len().min(*from + CHUNK)]);
                wrote.inspect(|wrote| *from += wrote)
            }
            Parcel::File { file, left } => {
                let mut bytes = [0; CHUNK];
                let most = (*left).min(CHUNK as u64) as usize;
                let read = file.read(&mut bytes[..most])?;
                if read == 0 && *left > 0 {
                    return Err(io::Error::other("a file that is sent has become shorter"));
                }
                let wrote = input.write(&bytes[..read]);
                let kept = wrote.as_ref().map_or(0, |wrote| *wrote);
                // What was not taken is read again.
                io::Seek::seek_relative(file, kept as i64 - read as i64)?;
                wrote.inspect(|wrote| *left -= *wrote as u64)
            }
        };
        let gone = matches!(parcel, Parcel::Bytes { bytes, from } if *from >= bytes.len())
            || matches!(parcel, Parcel::File { left: 0, .. });
        if gone {
            self.parcels.pop_front();
        }
        match wrote {
            Ok(wrote) => Ok(wrote > 0),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
                Ok(false)
            }
            Err(_) => {
                // Nobody reads: how it ended says why.
                self.close();
                Ok(false)
            }
        }
    }

    /// The next line that came.
    pub(super) fn line(&mut self, longest: usize) -> Option<String> {
        self.output.line(longest)
    }

    /// So many bytes, once they have come.
    pub(super) fn bytes(&mut self, count: u64) -> Option<Vec<u8>> {
        let count = usize::try_from(count).ok()?;
        (self.output.buffer.len() >= count).then(|| self.output.buffer.drain(..count).collect())
    }

    /// Keeps a line for the reason of a failure.
    pub(super) fn note(&mut self, line: &str) {
        let line = line.trim_end();
        if line.is_empty() {
            return;
        }
        self.said.push_back(line.chars().take(300).collect());
        if self.said.len() > KEPT {
            self.said.pop_front();
        }
    }

    /// The last lines that were said.
    pub(super) fn said(&self) -> Vec<String> {
        self.said.iter().cloned().collect()
    }

    /// Closes it and waits so long for the far side to end; with what the program here then ended.
    pub(super) fn end(&mut self, patience: Duration) -> Option<i32> {
        self.close();
        let until = Instant::now() + patience;
        while (self.output.open || self.errors.open) && Instant::now() < until {
            // Nothing stops this: it is what stopping waits for.
            if self.turn(None, until).is_err() {
                break;
            }
            self.output.buffer.clear();
        }
        self.group.end().ok().and_then(|status| status.code())
    }
}
