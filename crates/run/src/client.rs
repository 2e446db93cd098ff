//! The program's side of the launcher.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use whyfaster_words::exit::{Exit, Failure, files_or};

use super::interrupts::Interrupts;
use super::launcher;
use super::protocol::{Arrivals, Identity, LaunchError, Message, Outcome, Reply, Request, receive, send};

/// After this time a launcher is told again to stop: a signal that comes before it listens is lost.
pub(super) const AGAIN: Duration = Duration::from_millis(100);

/// So long after its time-out a batch is given before we see whether somebody has stopped the launcher.
const PATIENCE: Duration = Duration::from_secs(3);

/// A running launcher.
#[derive(Debug)]
pub(crate) struct Launcher {
    child: Child,
    socket: UnixStream,
    /// What hooks left running on purpose, and daemons of commands where these are kept. All else that comes to be below this process belongs to a measured tree.
    spared: Vec<Identity>,
}

/// Takes in what a copy of a trial writes.
pub(crate) trait Sink {
    /// The next bytes.
    fn take(&mut self, bytes: &[u8]) -> io::Result<()>;
}

/// Why there is no outcome.
#[derive(Debug)]
pub(crate) enum NoOutcome {
    /// The batch could not be run.
    Launch(LaunchError),
    /// Something else, for which no level is to blame.
    Failure(Failure),
}

impl From<io::Error> for NoOutcome {
    fn from(error: io::Error) -> Self {
        NoOutcome::Failure(Failure::new(
            Exit::Error,
            format!("lost the launcher: {error}"),
            files_or(&error, "this is a defect: please report it"),
        ))
    }
}

impl Launcher {
    /// Starts a launcher: this very program under its other verb.
    pub(crate) fn start() -> Result<Self, Failure> {
        Self::start_as(&[])
    }

    /// Starts a launcher that stays in this session and process group: its command has the terminal.
    pub(crate) fn start_attached() -> Result<Self, Failure> {
        Self::start_as(&[launcher::ATTACHED])
    }

    fn start_as(words: &[&str]) -> Result<Self, Failure> {
        if launcher::proc_is_foreign() {
            return Err(Failure::unfit(
                "/proc shows the processes of another PID namespace, so whyfaster cannot find those of its commands",
                "mount the /proc of this namespace first: unshare --mount-proc, or mount -t proc proc /proc",
            ));
        }
        Self::spawn(words).map_err(|error| {
            Failure::new(
                Exit::Error,
                format!("cannot start the launcher: {error}"),
                "is /proc mounted, and may processes be created?",
            )
        })
    }

    fn spawn(words: &[&str]) -> io::Result<Self> {
        // Should the launcher be killed, what it leaves behind comes to us and not to init, and Drop finds it.
        rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
        let (socket, theirs) = UnixStream::pair()?;
        // Not current_exe(): the file may have been replaced since we started.
        let child = Command::new("/proc/self/exe")
            .arg(launcher::VERB)
            .args(words)
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .spawn()?;
        Ok(Self { child, socket, spared: Vec::new() })
    }

    /// Runs a batch and waits for its end. An interrupt ends the batch; the outcome then says so.
    pub(crate) fn run(&mut self, request: Request, interrupts: &Interrupts) -> Result<Outcome, NoOutcome> {
        let overdue = overdue(&request);
        self.send(&Message::Run(Box::new(request)), &[])?;
        self.wait(interrupts, overdue, &mut [])
    }

    /// Runs a trial, whose standard output and error go to these sinks.
    pub(crate) fn run_into(
        &mut self,
        request: Request,
        interrupts: &Interrupts,
        stdout: &mut dyn Sink,
        stderr: &mut dyn Sink,
    ) -> Result<Outcome, NoOutcome> {
        let (out, out_writer) =
            rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).map_err(io::Error::from)?;
        let (err, err_writer) =
            rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).map_err(io::Error::from)?;
        let overdue = overdue(&request);
        self.send(&Message::Run(Box::new(request)), &[out_writer.as_fd(), err_writer.as_fd()])?;
        drop((out_writer, err_writer));
        self.wait(interrupts, overdue, &mut [(Some(out.into()), stdout), (Some(err.into()), stderr)])
    }

    fn wait(
        &mut self,
        interrupts: &Interrupts,
        overdue: Option<Instant>,
        streams: &mut [(Option<File>, &mut dyn Sink)],
    ) -> Result<Outcome, NoOutcome> {
        let mut buffer = vec![0; 1 << 16];
        loop {
            let stopping = interrupts.interrupted();
            if stopping {
                self.stop_batch();
            }
            let open: Vec<usize> = (0..streams.len()).filter(|&index| streams[index].0.is_some()).collect();
            let mut fds: Vec<BorrowedFd<'_>> =
                open.iter().filter_map(|&i| streams[i].0.as_ref().map(File::as_fd)).collect();
            fds.push(self.socket.as_fd());
            // A signal that comes before the launcher listens is lost: so it is repeated.
            let again = stopping.then_some(AGAIN);
            let left = overdue.map(|at| at.saturating_duration_since(Instant::now()).max(AGAIN));
            let ready = interrupts.wait(&fds, again.or(left))?;
            drop(fds);
            if overdue.is_some_and(|at| at <= Instant::now()) {
                self.go_on();
            }
            if ready.last() == Some(&true) {
                let reply = self.next_reply()?;
                for (file, sink) in streams {
                    file.as_mut().map_or(Ok(()), |file| take_rest(file, *sink))?;
                }
                return match reply {
                    Reply::Done(outcome) => Ok(*outcome),
                    Reply::Failed(error) => Err(NoOutcome::Launch(error)),
                    Reply::Held(_) | Reply::Released | Reply::Alone => Err(self.lost()),
                };
            }
            for (&index, _) in open.iter().zip(&ready).filter(|(_, ready)| **ready) {
                let (file, sink) = &mut streams[index];
                let read = match file {
                    Some(file) => file.read(&mut buffer)?,
                    None => 0,
                };
                if read == 0 {
                    *file = None;
                } else {
                    sink.take(&buffer[..read])?;
                }
            }
        }
    }

    /// What a hook's own process does before its exec: it tells the launcher who it is, so that it is ended should this
    /// program die. Were it told by us, a kill between the hook's start and the telling would leave the hook behind.
    pub(super) fn announcer(&self) -> io::Result<impl Fn() -> io::Result<()> + Send + Sync + use<>> {
        let socket = self.socket.try_clone()?;
        Ok(move || {
            let hook = launcher::identity(rustix::process::getpid().as_raw_nonzero().get());
            send(&socket, &Message::Hook(hook), &[])
        })
    }

    /// Tells the launcher that the hook is over.
    pub(super) fn hook_is_over(&self) {
        // A launcher that is gone is noticed at the next batch.
        let _ = send(&self.socket, &Message::Hook(None), &[]);
    }

    /// Reaps the processes that hooks left running and that have ended since, as init would. Until then they are zombies, and `kill -0` says that they
    /// live. `hook` is the one that runs now; it is waited for elsewhere.
    pub(super) fn reap_orphans(&self, hook: Pid) {
        launcher::reap_others([hook.as_raw_nonzero().get(), self.child.id() as i32]);
    }

    /// Notes what a hook left running: it is meant to stay.
    pub(super) fn spare_what_is_left(&mut self) {
        let launcher = self.child.id() as i32;
        self.spared = launcher::below_this().into_iter().filter(|(pid, _)| *pid != launcher).collect();
    }

    pub(super) fn send(&mut self, message: &Message, fds: &[BorrowedFd<'_>]) -> Result<(), NoOutcome> {
        send(&self.socket, message, fds).map_err(|_| self.lost())
    }

    pub(super) fn socket(&self) -> &UnixStream {
        &self.socket
    }

    /// Its process id.
    pub(super) fn pid(&self) -> i32 {
        self.child.id() as i32
    }

    /// The launcher's next word. Call it when there is one: nothing else is noticed meanwhile.
    pub(super) fn next_reply(&mut self) -> Result<Reply, NoOutcome> {
        match receive(&self.socket) {
            // What comes of a batch counts on columns of one length.
            Ok(Some((Reply::Done(outcome), _))) if !outcome.copies.even() => Err(self.lost()),
            Ok(Some((reply, _))) => {
                if let Reply::Done(outcome) = &reply {
                    self.spared.extend(&outcome.daemons);
                }
                Ok(reply)
            }
            Ok(None) | Err(_) => Err(self.lost()),
        }
    }

    /// The launcher is gone: says how it ended.
    pub(super) fn lost(&mut self) -> NoOutcome {
        // Should it live, it must not go on.
        let _ = self.child.kill();
        let how = match self.child.wait() {
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        };
        NoOutcome::Failure(Failure::new(
            Exit::Error,
            format!("the launcher, which starts the commands, is gone: {how}"),
            "if it was killed, memory may have run out: see dmesg, and lower --load or give the commands more memory",
        ))
    }

    pub(super) fn stop_batch(&self) {
        self.signal(Signal::TERM);
        self.go_on();
    }

    /// Lets it go on should somebody have stopped it: its command may send its parent what it likes.
    fn go_on(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        if let Some(pid) = Pid::from_raw(self.child.id() as i32) {
            // It is our unreaped child, so the id is still its own. An error means that it is gone, which we shall see.
            let _ = kill_process(pid, signal);
        }
    }
}

/// When a batch with a time-out should have been over for long. Until then nothing wakes us, so that nothing disturbs it.
fn overdue(request: &Request) -> Option<Instant> {
    let arriving_s = match request.arrivals {
        Arrivals::Together { .. } | Arrivals::Duet => 0.0,
        Arrivals::Workers { duration_s, .. } | Arrivals::Rate { duration_s, .. } => duration_s,
    };
    let longest = Duration::try_from_secs_f64(arriving_s + request.timeout_s?).ok()?;
    Instant::now().checked_add(longest + PATIENCE)
}

/// Takes in what is in a pipe by now. The batch is over, so all that its processes wrote is there. The end of the file is not
/// waited for: a process that could not be ended may hold the other end for ever.
fn take_rest(file: &mut File, sink: &mut dyn Sink) -> io::Result<()> {
    let there = rustix::io::ioctl_fionread(&*file)?;
    let mut rest = Vec::new();
    file.take(there).read_to_end(&mut rest)?;
    sink.take(&rest)
}

impl Drop for Launcher {
    fn drop(&mut self) {
        // The end of the socket is its sign to go.
        let _ = self.socket.shutdown(std::net::Shutdown::Both);
        self.go_on();
        if !self.child.wait().is_ok_and(|status| status.success()) {
            // It was killed: its copies died with it (PR_SET_PDEATHSIG), but what they had started is ours now.
            launcher::end_all(&self.spared, false, || false);
        }
    }
}
