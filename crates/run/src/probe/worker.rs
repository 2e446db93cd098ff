//! Starting the worker fresh, giving it its plan, and reading what it writes, until it ends or somebody interrupts.
//!
//! The worker is carried in the program. It is run from a memory file, so that nothing is left on any disk. Where `/proc`
//! is missing such a file has no path, and `vm.memfd_noexec` may forbid to run it: then a temporary file is used.

use std::fs::File;
use std::io::{self, BufRead, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::fs::MemfdFlags;
use whyfaster_core::plan::User;
use whyfaster_store::Scratch;
use whyfaster_words::exit::{Exit, Failure};

use super::super::interrupts::Interrupts;
use super::super::protocol::RunAs;
use super::group::Group;

/// How long a worker gets to end its children before it is killed.
const GRACE: Duration = Duration::from_secs(2);

/// The longest line of the worker that is kept; a longer one is a defect.
const MAX_LINE: usize = 1 << 16;

/// The worker as a file that can be run.
#[derive(Debug)]
pub struct Worker {
    path: PathBuf,
    /// Keeps the file.
    _held: Held,
    /// Where probes make their files. It goes with us, so that a probe that was killed leaves nothing behind. Without one
    /// (a full disk, a directory that is not ours to write) the worker looks for a place itself, and says so if there is none.
    scratch: Option<Scratch>,
    /// As whom it runs, if not as ourselves.
    run_as: Option<RunAs>,
}

#[derive(Debug)]
enum Held {
    Memory {
        _file: File,
    },
    /// In the directory for scratch files, or somebody else's.
    Nothing,
}

/// How a run of the worker ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It came to its end.
    Whole,
    /// It was interrupted; its children are gone.
    Interrupted,
}

impl Worker {
    /// Makes the worker that this program carries into a file. It runs as the user as whom commands do.
    pub fn carried(user: Option<&User>) -> Result<Self, Failure> {
        let bytes = whyfaster_probe::worker();
        // A kernel before 6.3 does not know the word EXEC, and needs none.
        let made = memory(&bytes, MemfdFlags::CLOEXEC | MemfdFlags::EXEC)
            .or_else(|_| memory(&bytes, MemfdFlags::CLOEXEC))
            .or_else(|_| temporary(&bytes))
            .map(|worker| Self { run_as: RunAs::of(user), ..worker });
        made.map_err(|error| {
            Failure::unfit(
                format!("cannot make the worker into a file that can be run: {error}"),
                "set TMPDIR to a directory that you may write to and that is not mounted noexec",
            )
        })
    }

    /// A worker that is a file already (tests).
    pub fn given(path: &Path) -> Self {
        Self { path: path.to_owned(), _held: Held::Nothing, scratch: scratch().ok(), run_as: None }
    }

    /// Runs a plan in a fresh worker; every line that it writes goes to `take`.
    pub fn run(
        &self,
        plan: &str,
        interrupts: &Interrupts,
        take: &mut dyn FnMut(&str) -> Result<(), Failure>,
    ) -> Result<Ended, Failure> {
        let mut running = Running::start(self)?;
        running.feed(plan)?;
        let ended = running.read(interrupts, take);
        match ended {
            Ok(Ended::Whole) => running.check(),
            // Dropping ends it and all its children.
            other => other,
        }
    }
}

fn memory(bytes: &[u8], flags: MemfdFlags) -> io::Result<Worker> {
    // The worker is opened by its path below, before close-on-exec takes the descriptor away.
    let mut file = File::from(rustix::fs::memfd_create("whyfaster-worker", flags)?);
    // Without the right to be run if vm.memfd_noexec says so (Documentation/userspace-api/mfd_noexec.rst).
    if file.metadata()?.permissions().mode() & 0o100 == 0 {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    file.write_all(bytes)?;
    let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
    if !path.exists() {
        return Err(io::ErrorKind::NotFound.into());
    }
    Ok(Worker { path, _held: Held::Memory { _file: file }, scratch: scratch().ok(), run_as: None })
}

fn temporary(bytes: &[u8]) -> io::Result<Worker> {
    let scratch = scratch()?;
    let path = scratch.path().join("worker");
    // It is closed here: a file that is open for writing cannot be run (ETXTBSY).
    std::fs::write(&path, bytes)?;
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700))?;
    Ok(Worker { path, _held: Held::Nothing, scratch: Some(scratch), run_as: None })
}

fn scratch() -> io::Result<Scratch> {
    Scratch::make("prices")
}

struct Running {
    group: Group,
    out: io::BufReader<std::process::ChildStdout>,
}

impl Running {
    fn start(worker: &Worker) -> Result<Self, Failure> {
        let mut command = Command::new(&worker.path);
        if let Some(user) = worker.run_as.clone() {
            user.dress(&mut command);
            // SAFETY: only system calls are made, on lists that were laid out before the fork.
            unsafe { command.pre_exec(move || user.become_it()) };
        }
        command
            .envs(worker.scratch.as_ref().map(|scratch| ("TMPDIR", scratch.path())))
            .arg0("whyfaster-worker")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit());
        let mut group = Group::start(&mut command, GRACE).map_err(|error| {
            Failure::unfit(
                format!("cannot start the worker: {error}"),
                "run 'whyfaster doctor': it says what this machine allows",
            )
        })?;
        let out = group.child.stdout.take().map(io::BufReader::new);
        let out = out.ok_or_else(|| lost("it has no standard output"))?;
        Ok(Self { group, out })
    }

    fn feed(&mut self, plan: &str) -> Result<(), Failure> {
        let mut stdin = self.group.child.stdin.take().ok_or_else(|| lost("it has no standard input"))?;
        stdin.write_all(plan.as_bytes()).map_err(|error| lost(&format!("it does not take its plan: {error}")))
    }

    fn read(
        &mut self,
        interrupts: &Interrupts,
        take: &mut dyn FnMut(&str) -> Result<(), Failure>,
    ) -> Result<Ended, Failure> {
        let broken = |error: io::Error| lost(&format!("reading from it failed: {error}"));
        let mut line = Vec::new();
        loop {
            if interrupts.interrupted() {
                return Ok(Ended::Interrupted);
            }
            if self.out.buffer().is_empty() {
                let ready = interrupts.wait(&[self.out.get_ref().as_fd()], None).map_err(broken)?;
                if !ready.first().copied().unwrap_or(false) {
                    continue;
                }
            }
            let bytes = self.out.fill_buf().map_err(broken)?;
            if bytes.is_empty() {
                return Ok(Ended::Whole);
            }
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let used = end.map_or(bytes.len(), |end| end + 1);
            line.extend_from_slice(&bytes[..used]);
            self.out.consume(used);
            if line.len() > MAX_LINE {
                return Err(lost("it wrote a line without an end"));
            }
            if end.is_some() {
                take(String::from_utf8_lossy(&line).trim_end_matches('\n'))?;
                line.clear();
            }
        }
    }

    /// A worker that did not end well has lost samples.
    fn check(&mut self) -> Result<Ended, Failure> {
        // Its standard output is closed, so that it ends now; if not, it is in our way.
        let status = self.group.end().map_err(|error| lost(&error.to_string()))?;
        if status.success() { Ok(Ended::Whole) } else { Err(lost(&format!("it ended with {status}"))) }
    }
}

fn lost(why: &str) -> Failure {
    Failure::new(
        Exit::Error,
        format!("lost the worker: {why}"),
        "check the limits of processes and memory with 'whyfaster doctor', and run it again",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_memory_file_that_may_not_be_run_is_none_to_run_from() {
        // As vm.memfd_noexec=1 makes them; a kernel before 6.3 knows no such file.
        let sealed = memory(b"", MemfdFlags::CLOEXEC | MemfdFlags::NOEXEC_SEAL);
        assert!(sealed.is_err(), "{sealed:?}");
    }
}
