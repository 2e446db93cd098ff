//! A program that runs the worker somewhere: started in a group of its own, read until the worker is done, and ended with
//! all that it started, whatever happens to us.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use whyfaster_words::exit::{Exit, Failure};

use super::super::interrupts::Interrupts;
use super::super::launcher::keeper::{Left, Orphaned};
use super::super::probe::group::Group;
use super::super::probe::site::Take;
use super::super::probe::worker::Ended;

/// How long it gets to end by itself before it is told to, and then before it is killed. Its keeper needs some of that to end what
/// does not listen.
const GRACE: Duration = Duration::from_secs(5);
/// Lines of a console that are kept, and shown when something went wrong.
const KEPT: usize = 200;
const SHOWN: usize = 8;
/// How a kernel says that it is at its end; some go on to hang.
const PANIC: &str = "Kernel panic";
/// Bytes that a pipe holds until we read them: the most that Linux gives everybody.
const PIPE: usize = 1 << 20;
/// Longest line that is kept.
const MAX_LINE: usize = 1 << 16;

/// The kinds of records that a worker writes; every other line is the console's.
const RECORDS: [&str; 8] = ["hello", "begin", "sample", "receipt", "verify", "unavailable", "error", "done"];

/// What to start.
#[derive(Debug)]
pub(super) struct Start {
    command: Command,
    what: String,
    input: Vec<u8>,
    hold: bool,
    console: Option<PathBuf>,
}

impl Start {
    /// A program, what errors call it, and what it is given on its standard input.
    pub(super) fn new(command: Command, what: impl Into<String>, input: impl Into<Vec<u8>>) -> Self {
        Self { command, what: what.into(), input: input.into(), hold: false, console: None }
    }

    /// Its standard input stays open until the worker is done: its end tells the far side that we are gone.
    pub(super) fn held(self) -> Self {
        Self { hold: true, ..self }
    }

    /// Lines of this file, such as those of a serial console, are its own too.
    pub(super) fn with_console(self, file: PathBuf) -> Self {
        Self { console: Some(file), ..self }
    }
}

/// The last lines that were no records.
#[derive(Debug, Default)]
struct Console(VecDeque<String>);

impl Console {
    fn take(&mut self, line: &str) {
        let line = line.trim_end();
        if !line.is_empty() {
            self.0.push_back(line.chars().take(200).collect());
            if self.0.len() > KEPT {
                self.0.pop_front();
            }
        }
    }

    fn panicked(&self) -> bool {
        self.0.iter().any(|line| line.contains(PANIC))
    }

    /// The lines that tell most: those up to a panic, else the last ones.
    fn telling(&self) -> Vec<&str> {
        let end = self.0.iter().position(|line| line.contains(PANIC)).map_or(self.0.len(), |at| at + 1);
        self.0.iter().skip(end.saturating_sub(SHOWN)).take(SHOWN.min(end)).map(String::as_str).collect()
    }
}

/// A worker that did not come to the end of its plan.
#[derive(Debug)]
pub(super) struct Lost {
    what: String,
    why: String,
    /// Whether it had begun.
    pub(super) began: bool,
    /// The exit status of what ran it.
    pub(super) status: Option<i32>,
    lines: Console,
}

impl Lost {
    /// Whether a line of its own, or of its console, has this in it.
    pub(super) fn said(&self, text: &str) -> bool {
        self.lines.0.iter().any(|line| line.contains(text))
    }

    /// The failure, with what to do about it where that is known.
    pub(super) fn failure(&self, remedy: Option<(Exit, String)>) -> Failure {
        let Self { what, why, began, lines, .. } = self;
        let state = if *began { "the worker had begun" } else { "the worker never began" };
        let mut message = format!("{what}: {why}; {state}");
        let said: Vec<String> = lines.telling().iter().map(|line| format!("  {line}")).collect();
        if !said.is_empty() {
            message = format!("{message}; its last lines:\n{}", said.join("\n"));
        }
        let usual = "the lines above are its own; --silence TIME waits longer for a slow one";
        let (exit, hint) = remedy.unwrap_or_else(|| (Exit::Error, usual.to_owned()));
        Failure::new(exit, message, hint)
    }
}

/// Runs it; every record of the worker goes to `take`. It is gone when this returns.
pub(super) fn run(
    start: Start,
    silence: Duration,
    interrupts: &Interrupts,
    take: &mut Take<'_>,
) -> Result<Result<Ended, Lost>, Failure> {
    let Start { command, what, input, hold, console } = start;
    let mut group = begin(&command, &what)?;
    let feeder = feed(&mut group.child, input, hold);
    let mut reading = Reading::of(&mut group.child)?;
    let ended = reading.follow(interrupts, silence, take);
    let status = match &ended {
        Ok(Ended::Whole) => Some(group.end()),
        // Dropping ends it and all its children.
        _ => None,
    };
    reading.drain();
    drop(group);
    drop(feeder);
    let why = match ended {
        Ok(Ended::Interrupted) => return Ok(Ok(Ended::Interrupted)),
        Ok(Ended::Whole) if reading.done => return Ok(Ok(Ended::Whole)),
        Ok(Ended::Whole) => ended_with(status.as_ref()),
        Err(Stop::Silent) => format!("nothing came from the worker for {} s", silence.as_secs()),
        Err(Stop::Panicked) => "its kernel gave up".to_owned(),
        Err(Stop::Broken(error)) => format!("reading from it failed: {error}"),
        Err(Stop::Failed(failure)) => return Err(failure),
    };
    let mut lines = Console::default();
    let file = console.and_then(|file| std::fs::read(file).ok()).unwrap_or_default();
    String::from_utf8_lossy(&file).lines().for_each(|line| lines.take(line));
    reading.console.0.iter().for_each(|line| lines.take(line));
    let status = status.and_then(Result::ok).and_then(|status| status.code());
    Ok(Err(Lost { what, why, began: reading.hello, status, lines }))
}

fn ended_with(status: Option<&io::Result<ExitStatus>>) -> String {
    match status {
        Some(Ok(status)) => format!("it ended with {status} before the plan did"),
        Some(Err(error)) => format!("it ended before the plan did ({error})"),
        None => "it ended before the plan did".to_owned(),
    }
}

/// Why reading stopped.
enum Stop {
    Silent,
    Panicked,
    Failed(Failure),
    Broken(io::Error),
}

/// Its output, sorted into records and console.
struct Reading {
    out: Stream,
    err: Stream,
    console: Console,
    hello: bool,
    done: bool,
}

/// A pipe of which lines are taken.
struct Stream {
    file: File,
    buffer: Vec<u8>,
    open: bool,
}

impl Stream {
    fn of(file: Option<impl Into<OwnedFd>>) -> io::Result<Self> {
        let fd: OwnedFd = file.ok_or_else(|| io::Error::other("it has no output"))?.into();
        rustix::io::ioctl_fionbio(&fd, true)?;
        // An emulated serial port drops what its reader is too slow for; a system that allows no more keeps 64 KiB.
        let _ = rustix::pipe::fcntl_setpipe_size(&fd, PIPE);
        Ok(Self { file: File::from(fd), buffer: Vec::new(), open: true })
    }

    /// Reads what is there; whole lines come back.
    fn lines(&mut self) -> io::Result<Vec<String>> {
        let mut bytes = [0; 1 << 14];
        match self.file.read(&mut bytes) {
            Ok(0) => self.open = false,
            Ok(n) => self.buffer.extend_from_slice(&bytes[..n]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
        let mut lines = Vec::new();
        while let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.buffer.drain(..=end).collect();
            lines.push(String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']).to_owned());
        }
        if !self.buffer.is_empty() && (!self.open || self.buffer.len() > MAX_LINE) {
            lines.push(String::from_utf8_lossy(&std::mem::take(&mut self.buffer)).into_owned());
        }
        Ok(lines)
    }
}

impl Reading {
    fn of(child: &mut Child) -> Result<Self, Failure> {
        let streams =
            Stream::of(child.stdout.take()).and_then(|out| Ok((out, Stream::of(child.stderr.take())?)));
        let (out, err) = streams
            .map_err(|e| Failure::new(Exit::Error, format!("cannot read a pipe: {e}"), "run it again"))?;
        Ok(Self { out, err, console: Console::default(), hello: false, done: false })
    }

    /// Reads until the worker is done, or all is over.
    fn follow(
        &mut self,
        interrupts: &Interrupts,
        silence: Duration,
        take: &mut Take<'_>,
    ) -> Result<Ended, Stop> {
        let mut heard = Instant::now();
        while self.out.open && !self.done {
            if interrupts.interrupted() {
                return Ok(Ended::Interrupted);
            }
            let left = silence.checked_sub(heard.elapsed()).ok_or(Stop::Silent)?;
            let mut fds = vec![self.out.file.as_fd()];
            if self.err.open {
                fds.push(self.err.file.as_fd());
            }
            let ready = interrupts.wait(&fds, Some(left)).map_err(Stop::Broken)?;
            if ready.first() == Some(&true) {
                for line in self.out.lines().map_err(Stop::Broken)? {
                    // What a console says for ever is no sign of the worker.
                    if self.take(&line, take).map_err(Stop::Failed)? {
                        heard = Instant::now();
                    }
                }
            }
            if self.console.panicked() {
                return Err(Stop::Panicked);
            }
            if ready.get(1) == Some(&true) {
                self.err.lines().map_err(Stop::Broken)?.iter().for_each(|line| self.console.take(line));
            }
        }
        Ok(Ended::Whole)
    }

    /// Whether it was a record.
    fn take(&mut self, line: &str, take: &mut Take<'_>) -> Result<bool, Failure> {
        let kind = line.split('\t').next().unwrap_or_default();
        if !RECORDS.contains(&kind) || (kind.len() == line.len() && kind != "done") {
            self.console.take(line);
            return Ok(false);
        }
        self.hello |= kind == "hello";
        self.done |= kind == "done";
        take(line).map(|()| true)
    }

    /// What is left in the pipes, for the error.
    fn drain(&mut self) {
        for stream in [&mut self.out, &mut self.err] {
            // Whoever still holds the other end will not close it for us: what is there is enough.
            for _ in 0..64 {
                let lines = stream.lines().unwrap_or_default();
                if lines.is_empty() {
                    break;
                }
                lines.iter().for_each(|line| self.console.take(line));
            }
        }
    }
}

/// Gives the input without keeping us from reading, and holds what shall stay open. A write that is stuck ends with the
/// child.
type Feeder = Option<JoinHandle<Option<ChildStdin>>>;

/// Starts it so that it goes when we do, with all that it starts.
fn begin(command: &Command, what: &str) -> Result<Group, Failure> {
    let started = Group::kept(command, Orphaned::Told, Left::Awaited, GRACE, |keeper| {
        keeper.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    });
    started.map_err(|error| {
        let program = command.get_program().to_string_lossy().into_owned();
        Failure::unfit(
            format!("{what}: cannot start '{program}': {error}"),
            "check that it is installed and that you may run it",
        )
    })
}

fn feed(child: &mut Child, input: Vec<u8>, hold: bool) -> Feeder {
    let mut stdin = child.stdin.take()?;
    Some(std::thread::spawn(move || {
        // Whoever ends early does not read all of it; how it ended tells more than this error.
        let _ = stdin.write_all(&input).and_then(|()| stdin.flush());
        hold.then_some(stdin)
    }))
}
