//! The output of programs that may hang: tools of this machine, clients of an engine, interpreters that load modules.

use std::fs::File;
use std::io::{self, Read};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// How often to look whether it has ended.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };

/// How long its output is read once it has ended. A server that it leaves behind may keep the pipes open for ever.
const REST: Duration = Duration::from_secs(1);

/// Taken at once.
const CHUNK: usize = 1 << 16;

/// Runs a command and reads the pipes that it was given. It is killed, and the error is `TimedOut`, if it does not end in time.
pub fn said_within(command: &mut Command, patience: Duration) -> io::Result<Output> {
    said_unless(command, patience, &|| false)
}

/// The same, and the error is `Interrupted` if all is to stop meanwhile.
pub fn said_unless(
    command: &mut Command,
    patience: Duration,
    is_stopped: &dyn Fn() -> bool,
) -> io::Result<Output> {
    // Ctrl-C is to end it also where we have taken the signals over.
    // SAFETY: system calls between fork and exec.
    unsafe { command.pre_exec(unblock_signals) };
    let mut child = command.spawn()?;
    let mut stdout = Pipe::of(child.stdout.take());
    let mut stderr = Pipe::of(child.stderr.take());
    let mut until = Instant::now() + patience;
    let mut ended = None;
    while (ended.is_none() || stdout.is_open() || stderr.is_open()) && Instant::now() < until && !is_stopped()
    {
        // Who says much waits until it is read.
        read([&mut stdout, &mut stderr]);
        if ended.is_none()
            && let Some(status) = child.try_wait()?
        {
            (ended, until) = (Some(status), Instant::now() + REST);
        }
    }
    let Some(status) = ended else {
        let _ = child.kill();
        child.wait()?;
        if Instant::now() < until {
            return Err(io::Error::new(io::ErrorKind::Interrupted, "it was to stop"));
        }
        let why = format!("no answer within {} s", patience.as_secs());
        return Err(io::Error::new(io::ErrorKind::TimedOut, why));
    };
    Ok(Output { status, stdout: stdout.said, stderr: stderr.said })
}

/// Lets all signals through again: the mask that we set is inherited.
pub fn unblock_signals() -> io::Result<()> {
    let mut none = MaybeUninit::uninit();
    // SAFETY: sigemptyset initialises the set, sigprocmask takes an initialised one.
    unsafe {
        libc::sigemptyset(none.as_mut_ptr());
        match libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), std::ptr::null_mut()) {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

/// The last line of its standard error that is not empty.
pub fn last_line(said: &Output) -> String {
    let text = String::from_utf8_lossy(&said.stderr);
    text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default().to_owned()
}

/// What came by a pipe.
struct Pipe {
    /// `None` at its end.
    file: Option<File>,
    said: Vec<u8>,
}

impl Pipe {
    fn of(stream: Option<impl Into<OwnedFd>>) -> Self {
        Self { file: stream.map(|stream| stream.into().into()), said: Vec::new() }
    }

    fn is_open(&self) -> bool {
        self.file.is_some()
    }

    /// Takes what is there, or waits for it.
    fn read(&mut self) {
        let mut bytes = [0; CHUNK];
        match self.file.as_mut().map(|file| file.read(&mut bytes)) {
            Some(Ok(read)) if read > 0 => self.said.extend(&bytes[..read]),
            // What came before an error is what it said.
            _ => self.file = None,
        }
    }
}

/// Takes what comes from either in a moment. No thread does it: Ctrl-C would end us in one that outlives this.
fn read(pipes: [&mut Pipe; 2]) {
    let mut open: Vec<&mut Pipe> = pipes.into_iter().filter(|pipe| pipe.is_open()).collect();
    let mut fds: Vec<PollFd<'_>> = open
        .iter()
        .flat_map(|pipe| &pipe.file)
        .map(|file| PollFd::from_borrowed_fd(file.as_fd(), PollFlags::IN))
        .collect();
    // An error only costs one more look.
    let _ = poll(&mut fds, Some(&LOOK));
    let ready: Vec<bool> = fds.iter().map(|fd| !fd.revents().is_empty()).collect();
    open.iter_mut().zip(ready).filter(|(_, ready)| *ready).for_each(|(pipe, _)| pipe.read());
}

#[cfg(test)]
mod tests {
    use std::process::Stdio;

    use super::*;

    fn said(line: &str, patience: Duration) -> io::Result<Output> {
        let mut command = Command::new("sh");
        command.args(["-c", line]).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        said_within(&mut command, patience)
    }

    #[test]
    fn all_that_it_says_is_taken() {
        // More than a pipe holds.
        let said = said("head -c 300000 /dev/zero; echo no >&2; exit 3", Duration::from_secs(30)).unwrap();
        assert_eq!(
            (said.status.code(), said.stdout.len(), said.stderr.as_slice()),
            (Some(3), 300_000, &b"no\n"[..])
        );
    }

    #[test]
    fn who_does_not_answer_is_left_with_all_that_it_started() {
        let began = Instant::now();
        let late = said("sleep 60; true", Duration::from_millis(50)).unwrap_err();
        assert_eq!(late.kind(), io::ErrorKind::TimedOut);
        // A server that it leaves behind keeps its pipes.
        let server = said("echo yes; echo no >&2; sleep 60 & exit 3", Duration::from_secs(60)).unwrap();
        assert_eq!(
            (server.status.code(), server.stdout.as_slice(), last_line(&server).as_str()),
            (Some(3), &b"yes\n"[..], "no")
        );
        assert!(began.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn a_signal_ends_it_also_where_ours_are_blocked() {
        // SAFETY: sigemptyset initialises the set; only this thread's mask is changed.
        unsafe {
            let mut set = std::mem::zeroed();
            libc::sigemptyset(&mut set);
            libc::sigaddset(&mut set, libc::SIGTERM);
            libc::pthread_sigmask(libc::SIG_BLOCK, &set, std::ptr::null_mut());
        }
        let ended = said("kill -TERM $$; sleep 1", Duration::from_secs(30)).unwrap();
        assert_eq!(std::os::unix::process::ExitStatusExt::signal(&ended.status), Some(libc::SIGTERM));
    }
}
