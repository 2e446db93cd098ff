//! The far side: owns the directory with what was sent, starts the verb, and ends all of it when the lifeline closes.
//!
//! The lifeline is standard input. Whatever ends the other side or the connection closes it: a crash, Ctrl-C, a cut cable (then
//! signs stop coming). Above this process a shell waits for it and takes the directory away even if this process is killed.

use std::env;
use std::fs::{self, File, Permissions};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use rustix::net::sockopt::socket_peercred;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
use whyfaster_words::exit;

use super::message::{LONGEST, Message, Request, Sent, beat, digest};
use super::shell::NOT_RUN;
use crate::interrupts::Interrupts;
use crate::launcher::keeper::{Left, Orphaned};
use crate::probe::group::Group;

/// The first word after the program's name that makes it the far side; its directory follows.
pub const VERB: &str = "__far";

/// The first word that runs a verb for its record alone; the file of that follows, then the verb and its words.
pub const THERE: &str = "__there";

/// The name of the program in its directory.
const PROGRAM: &str = "whyfaster";

/// How long there may be no sign before the request says it.
const UNTOLD: Duration = Duration::from_secs(60);

/// How long the verb gets to end by itself.
const GRACE: Duration = Duration::from_secs(5);

/// At most so many lines of the verb are passed on: more do not help to explain a failure.
const PASSED_ON: usize = 200;

/// Why it is over before the verb is.
enum Gone {
    /// The lifeline closed, no sign came, or a signal did.
    Cut,
    /// This was said to the other side.
    Refused(Message),
    /// The verb could not be started.
    NotStarted(io::Error),
}

impl From<io::Error> for Gone {
    fn from(_: io::Error) -> Self {
        Self::Cut
    }
}

/// Serves one run.
pub fn main() -> ExitCode {
    let Some(directory) = env::args_os().nth(2).map(PathBuf::from) else { return ExitCode::FAILURE };
    let mut requested = false;
    let ended = serve(&directory, &mut requested);
    // Somebody may call this by hand, with any directory.
    if requested && holds_this_program(&directory) {
        remove(&directory);
    }
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(Gone::Refused(message)) => {
            let _ = say(&message);
            ExitCode::SUCCESS
        }
        Err(Gone::NotStarted(error)) => {
            exit::say(&format!("whyfaster-far: the verb cannot be started: {error}"));
            ExitCode::from(NOT_RUN as u8)
        }
        Err(Gone::Cut) => ExitCode::FAILURE,
    }
}

fn holds_this_program(directory: &Path) -> bool {
    let file = |path: &Path| fs::metadata(path).map(|about| (about.dev(), about.ino()));
    let (there, this) = (file(&directory.join(PROGRAM)), file(Path::new("/proc/self/exe")));
    there.is_ok_and(|there| this.is_ok_and(|this| this == there))
}

/// Takes the directory away. The shell above does it too, if it lives.
fn remove(directory: &Path) {
    if fs::remove_dir_all(directory).is_err() {
        open_up(directory);
        let _ = fs::remove_dir_all(directory);
    }
}

/// Takes back the right to write in directories that gave it up, as Go's cache of modules does.
fn open_up(directory: &Path) {
    let _ = fs::set_permissions(directory, Permissions::from_mode(0o700));
    // A link is no directory here.
    let below = fs::read_dir(directory).into_iter().flatten().flatten();
    for entry in below.filter(|it| it.file_type().is_ok_and(|it| it.is_dir())) {
        open_up(&entry.path());
    }
}

fn serve(directory: &Path, requested: &mut bool) -> Result<(), Gone> {
    let interrupts = Interrupts::take_over().map_err(|_| Gone::Cut)?;
    let mut line = Lifeline::of(&interrupts)?;
    say(&Message::Ready)?;
    let request: Request = serde_json::from_str(&line.line()?).map_err(|_| Gone::Cut)?;
    *requested = true;
    line.silence = Duration::from_millis(request.silence_ms);
    if digest(&fs::read(directory.join(PROGRAM))?) != request.digest {
        return Err(Gone::Refused(Message::Damaged));
    }
    let work = directory.join("work");
    for sent in &request.files {
        line.file(&work, sent)?;
    }
    let _alone = alone()?;
    let record = directory.join("record");
    let verb = start(&request.words, directory, &work, &record).map_err(Gone::NotStarted)?;
    say(&Message::Begun)?;
    let status = follow(verb, request.silence_ms, &mut line)?;
    let bytes = fs::read(&record).unwrap_or_default();
    say(&Message::Ended { status, bytes: bytes.len() as u64 })?;
    let mut out = io::stdout().lock();
    Ok(out.write_all(&bytes).and_then(|()| out.flush())?)
}

/// What one run at a time holds on a machine: an address that the kernel takes back with the process, whatever ends it. It is named after the
/// number that the kernel drew at its start, as machines are told apart.
fn alone() -> Result<Option<UnixListener>, Gone> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let name = format!("whyfaster-measures-{}", boot.trim());
    let held = SocketAddr::from_abstract_name(&name).and_then(|address| UnixListener::bind_addr(&address));
    match held {
        Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
            Err(Gone::Refused(Message::Busy { uid: holder(&name).ok() }))
        }
        // Where there is no such address, nothing is known of others.
        held => Ok(held.ok()),
    }
}

/// The user who holds it. Any user may hold it for ever, so the error has to name that user.
fn holder(name: &str) -> io::Result<u32> {
    // Nobody accepts: a full queue is not waited for.
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    connect(&socket, &SocketAddrUnix::new_abstract_name(name.as_bytes())?)?;
    Ok(socket_peercred(&socket)?.uid.as_raw())
}

fn say(message: &Message) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    let mut out = io::stdout().lock();
    out.write_all(&line)?;
    out.flush()
}

fn start(words: &[String], directory: &Path, work: &Path, record: &Path) -> io::Result<Group> {
    let mut command = Command::new(directory.join(PROGRAM));
    command.arg(THERE).arg(record).args(words).current_dir(work);
    Group::kept(&command, Orphaned::Told, Left::Ended, GRACE, |it| {
        it.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    })
}

/// Waits for the verb's end; its exit status. When this returns, nothing of it runs.
fn follow(mut verb: Group, silence_ms: u64, line: &mut Lifeline<'_>) -> Result<i32, Gone> {
    let said: OwnedFd = verb.child.stderr.take().ok_or(Gone::Cut)?.into();
    rustix::io::ioctl_fionbio(&said, true).map_err(io::Error::from)?;
    let mut said = Said { file: said.into(), buffer: Vec::new(), left: PASSED_ON };
    let every = Duration::from_millis(beat(silence_ms));
    let mut next = Instant::now() + every;
    // Its keeper holds its standard error until nothing of it is left.
    loop {
        let (alive, spoke) = line.wait(Some(said.file.as_fd()), Some(next))?;
        if alive {
            line.read()?;
        }
        if spoke && !said.pass_on()? {
            break;
        }
        if Instant::now() >= next {
            say(&Message::Alive)?;
            next += every;
        }
    }
    let status = verb.end()?;
    Ok(status.code().unwrap_or(-1))
}

/// What the verb says on its standard error.
struct Said {
    file: File,
    buffer: Vec<u8>,
    left: usize,
}

impl Said {
    /// Passes on what is there; whether more may come.
    fn pass_on(&mut self) -> io::Result<bool> {
        let mut bytes = [0; 4096];
        let more = match self.file.read(&mut bytes) {
            Ok(0) => false,
            Ok(read) => {
                self.buffer.extend_from_slice(&bytes[..read]);
                true
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => true,
            Err(_) => false,
        };
        while let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.buffer.drain(..=end).collect();
            if self.left > 0 {
                self.left -= 1;
                say(&Message::Said { line: String::from_utf8_lossy(&line).trim_end().to_owned() })?;
            }
        }
        self.buffer.truncate(LONGEST);
        Ok(more)
    }
}

/// Standard input.
struct Lifeline<'a> {
    file: File,
    interrupts: &'a Interrupts,
    buffer: Vec<u8>,
    silence: Duration,
    heard: Instant,
}

impl<'a> Lifeline<'a> {
    fn of(interrupts: &'a Interrupts) -> io::Result<Self> {
        let file = File::from(io::stdin().as_fd().try_clone_to_owned()?);
        Ok(Self { file, interrupts, buffer: Vec::new(), silence: UNTOLD, heard: Instant::now() })
    }

    /// Waits until it, or the other, can be read, or the time is there. Which can.
    fn wait(
        &self,
        other: Option<std::os::fd::BorrowedFd<'_>>,
        until: Option<Instant>,
    ) -> Result<(bool, bool), Gone> {
        if self.interrupts.interrupted() || self.heard.elapsed() > self.silence {
            return Err(Gone::Cut);
        }
        let silent = self.heard + self.silence;
        let until = until.map_or(silent, |until| until.min(silent));
        // A little more than the time, or it would be asked again in the same instant.
        let left = until.saturating_duration_since(Instant::now()) + Duration::from_millis(1);
        let fds: Vec<_> = [self.file.as_fd()].into_iter().chain(other).collect();
        let ready = self.interrupts.wait(&fds, Some(left))?;
        Ok((ready[0], ready.get(1) == Some(&true)))
    }

    /// Takes in what is there. Its end is the end of all.
    fn read(&mut self) -> Result<(), Gone> {
        let mut bytes = [0; 1 << 16];
        match self.file.read(&mut bytes)? {
            0 => Err(Gone::Cut),
            read => {
                self.heard = Instant::now();
                self.buffer.extend_from_slice(&bytes[..read]);
                Ok(())
            }
        }
    }

    fn fill(&mut self) -> Result<(), Gone> {
        while !self.wait(None, None)?.0 {}
        self.read()
    }

    fn line(&mut self) -> Result<String, Gone> {
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.buffer.drain(..=end).collect();
                return String::from_utf8(line).map_err(|_| Gone::Cut);
            }
            if self.buffer.len() > LONGEST {
                return Err(Gone::Cut);
            }
            self.fill()?;
        }
    }

    /// Writes a file that comes now.
    fn file(&mut self, directory: &Path, sent: &Sent) -> Result<(), Gone> {
        let no_room = |error: io::Error| {
            Gone::Refused(Message::NoRoom { why: format!("'{}' ({} bytes): {error}", sent.name, sent.bytes) })
        };
        let plain = !sent.name.contains('/') && !["", ".", ".."].contains(&sent.name.as_str());
        if !plain {
            return Err(no_room(io::ErrorKind::InvalidInput.into()));
        }
        let rights = if sent.executable { 0o700 } else { 0o600 };
        let mut options = File::options();
        let file = options.write(true).create_new(true).mode(rights).open(directory.join(&sent.name));
        let mut file = file.map_err(no_room)?;
        let mut left = sent.bytes;
        while left > 0 {
            if self.buffer.is_empty() {
                self.fill()?;
            }
            let now = self.buffer.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            file.write_all(&self.buffer[..now]).map_err(no_room)?;
            self.buffer.drain(..now);
            left -= now as u64;
        }
        Ok(())
    }
}
