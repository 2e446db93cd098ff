//! A program of an engine, kept alive between bursts: it is told a line and answers with one. It ends with us.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::super::interrupts::Interrupts;
use super::super::launcher::keeper::{Left, Orphaned};
use super::super::probe::group::Group;
use whyfaster_words::clean::clean;

/// How long a program may take to end by itself before it is killed. Its keeper needs some of that to end what does not listen.
const GRACE: Duration = Duration::from_secs(3);
/// The longest line that is an answer.
const MAX_LINE: usize = 1 << 12;
/// Bytes of what a program said on standard error that an error shows.
const SHOWN: usize = 400;

/// Why there is no answer.
#[derive(Debug)]
pub(super) enum Stop {
    /// We are to end.
    Interrupted,
    /// What went wrong.
    Failed(String),
}

/// The program.
#[derive(Debug)]
pub(super) struct Client {
    group: Group,
    out: File,
    log: File,
    rest: Vec<u8>,
}

impl Client {
    /// Starts it; what it says on standard error goes to a file.
    pub(super) fn start(command: &Command, log: File) -> Result<Self, String> {
        let started = || -> io::Result<Self> {
            let errors = log.try_clone()?;
            let mut group = Group::kept(command, Orphaned::InputClosed, Left::Awaited, GRACE, |keeper| {
                keeper.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::from(errors));
            })?;
            let out = group.child.stdout.take().ok_or_else(|| io::Error::other("it has no output"))?;
            let out = File::from(OwnedFd::from(out));
            Ok(Self { group, out, log, rest: Vec::new() })
        };
        started().map_err(|error| {
            format!("{} could not be started: {error}", command.get_program().to_string_lossy())
        })
    }

    /// The number of the process below which all that it started is.
    pub(super) fn keeper(&self) -> i32 {
        self.group.child.id() as i32
    }

    /// Tells it a line.
    pub(super) fn tell(&mut self, line: &str) -> Result<(), Stop> {
        let told = self.group.child.stdin.as_mut().map(|stdin| stdin.write_all(line.as_bytes()));
        match told {
            Some(Ok(())) => Ok(()),
            Some(Err(_)) | None => Err(Stop::Failed(self.ended())),
        }
    }

    /// Waits until it says that it is ready; what others say before is their greeting.
    pub(super) fn ready(&mut self, interrupts: &Interrupts, patience: Duration) -> Result<(), Stop> {
        loop {
            let line = self.answer(interrupts, patience)?;
            match line.strip_prefix("failed ") {
                Some(why) => return Err(Stop::Failed(why.to_owned())),
                None if line == "ready" => return Ok(()),
                None => {}
            }
        }
    }

    /// Its next line.
    pub(super) fn answer(&mut self, interrupts: &Interrupts, patience: Duration) -> Result<String, Stop> {
        let began = Instant::now();
        loop {
            if let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.rest.drain(..=end).collect();
                return Ok(String::from_utf8_lossy(&line).trim().to_owned());
            }
            if interrupts.interrupted() {
                return Err(Stop::Interrupted);
            }
            let late = || Stop::Failed(format!("no answer within {} s{}", patience.as_secs(), self.said()));
            let left = patience.checked_sub(began.elapsed()).ok_or_else(late)?;
            let broken = |error: io::Error| Stop::Failed(format!("reading its answer failed: {error}"));
            let ready = interrupts.wait(&[self.out.as_fd()], Some(left)).map_err(broken)?;
            if ready.first() == Some(&true) {
                let mut bytes = [0; 512];
                let read = self.out.read(&mut bytes).map_err(broken)?;
                self.rest.extend_from_slice(&bytes[..read]);
                if read == 0 || self.rest.len() > MAX_LINE {
                    return Err(Stop::Failed(self.ended()));
                }
            }
        }
    }

    fn ended(&self) -> String {
        format!("it ended{}", self.said())
    }

    /// The end of what it said on standard error.
    fn said(&self) -> String {
        let mut text = vec![0; SHOWN];
        let begin = self.log.metadata().map_or(0, |it| it.len().saturating_sub(SHOWN as u64));
        let read = self.log.read_at(&mut text, begin).unwrap_or(0);
        let text = String::from_utf8_lossy(&text[..read]).into_owned();
        match clean(&text) {
            said if said.is_empty() => String::new(),
            said => format!(": {said}"),
        }
    }
}
