//! The program's side of the launcher.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use super::interrupts::Interrupts;
use super::launcher::{self, Identity};
use super::protocol::{LaunchError, Message, Outcome, Reply, Request, receive, send};
use crate::exit::{Exit, Failure};

/// After this time a launcher is told again to stop: a signal that comes before it listens is lost.
pub(super) const AGAIN: Duration = Duration::from_millis(100);

/// A running launcher.
#[derive(Debug)]
pub(crate) struct Launcher {
    child: Child,
    socket: UnixStream,
    /// What hooks left running on purpose. All else that comes to be below this process belongs to a measured tree.
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
            "this is a defect: please report it",
        ))
    }
}

impl Launcher {
    /// Starts a launcher: this very program under its other verb.
    pub(crate) fn start() -> io::Result<Self> {
        Self::start_as(&[])
    }

    /// Starts a launcher that stays in this session and process group: its command has the terminal.
    pub(crate) fn start_attached() -> io::Result<Self> {
        Self::start_as(&[launcher::ATTACHED])
    }

    fn start_as(words: &[&str]) -> io::Result<Self> {
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
        self.send(&Message::Run(Box::new(request)), &[])?;
        self.wait(interrupts, &mut [])
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
        self.send(&Message::Run(Box::new(request)), &[out_writer.as_fd(), err_writer.as_fd()])?;
        drop((out_writer, err_writer));
        self.wait(interrupts, &mut [(Some(out.into()), stdout), (Some(err.into()), stderr)])
    }

    fn wait(
        &mut self,
        interrupts: &Interrupts,
        streams: &mut [(Option<File>, &mut dyn Sink)],
    ) -> Result<Outcome, NoOutcome> {
        let mut buffer = vec![0; 1 << 16];
        let mut reply = None;
        loop {
            let stopping = interrupts.interrupted() && reply.is_none();
            if stopping {
                self.stop_batch();
            }
            if let Some(reply) = reply.take_if(|_| streams.iter().all(|(file, _)| file.is_none())) {
                return match reply {
                    Reply::Done(outcome) => Ok(*outcome),
                    Reply::Failed(error) => Err(NoOutcome::Launch(error)),
                    Reply::Held(_) | Reply::Alone => Err(self.lost()),
                };
            }
            let open: Vec<usize> = (0..streams.len()).filter(|&index| streams[index].0.is_some()).collect();
            let mut fds: Vec<BorrowedFd<'_>> =
                open.iter().filter_map(|&i| streams[i].0.as_ref().map(File::as_fd)).collect();
            if reply.is_none() {
                fds.push(self.socket.as_fd());
            }
            // A signal that comes before the launcher listens is lost: so it is repeated.
            let ready = interrupts.wait(&fds, stopping.then_some(AGAIN))?;
            drop(fds);
            if reply.is_none() && ready.last() == Some(&true) {
                match receive(&self.socket) {
                    Ok(Some((message, _))) => reply = Some(message),
                    Ok(None) | Err(_) => return Err(self.lost()),
                }
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
        if let Some(pid) = Pid::from_raw(self.child.id() as i32) {
            // It is our unreaped child, so the id is still its own. An error means that it is gone, which we shall see.
            let _ = kill_process(pid, Signal::TERM);
        }
    }
}

impl Drop for Launcher {
    fn drop(&mut self) {
        // The end of the socket is its sign to go.
        let _ = self.socket.shutdown(std::net::Shutdown::Both);
        if !self.child.wait().is_ok_and(|status| status.success()) {
            // It was killed: its copies died with it (PR_SET_PDEATHSIG), but what they had started is ours now.
            launcher::end_all(&self.spared, false, || false);
        }
    }
}
