//! A place: how it is asked for, and, once it is open, what a list says about it and how the worker is started there.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use whyfaster_core::price::Unit;
use whyfaster_core::warning::Caution;
use whyfaster_store::Scratch;
use whyfaster_words::exit::{Exit, Failure};

use super::super::probe::site::{Site, Take};
use super::super::probe::worker::Ended;
use super::process::{self, Lost, Start};
use crate::interrupts::Interrupts;

/// How a place is opened, besides its kind.
#[derive(Clone, Debug)]
pub struct Options {
    /// Images that are missing may be fetched.
    pub fetch: bool,
    /// A worker that the user built.
    pub worker: Option<PathBuf>,
    /// How long nothing may come before the place counts as hung.
    pub silence: Duration,
}

/// A kind of place, and how it is asked for.
#[derive(Debug)]
pub struct Kind {
    /// The word that asks for it.
    pub word: &'static str,
    /// What stands behind the word, as the help writes it; in brackets where it may be left out.
    pub form: &'static str,
    /// Where the worker then runs.
    pub help: &'static str,
    /// What stands behind the colon, for the error where nothing does.
    pub(super) needs: &'static str,
    /// Reads what stands behind the colon, and says why it is none.
    pub(super) read: fn(&str) -> Result<String, String>,
    /// Opens it. Nothing is started that stays, and what is made on a disk goes with the guest.
    pub(super) open: fn(&Asked, &Options) -> Result<Guest, Failure>,
}

/// A place as it was asked for.
#[derive(Clone, Debug)]
pub struct Asked {
    pub(super) kind: &'static Kind,
    /// What stands behind the colon; empty where nothing does.
    pub(super) behind: String,
}

impl Asked {
    /// Opens the place.
    pub fn open(&self, options: &Options) -> Result<Guest, Failure> {
        (self.kind.open)(self, options)
    }
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let colon = if self.behind.is_empty() { "" } else { ":" };
        write!(f, "{}{colon}{}", self.kind.word, self.behind)
    }
}

/// A place other than an ordinary process of this machine.
pub struct Guest {
    /// How it was asked for.
    pub asked: String,
    /// The same for tables.
    pub short: String,
    /// What stands between the worker and this machine, in words.
    pub mechanism: String,
    /// The version of that.
    pub version: Option<String>,
    /// What the prices are.
    pub unit: Unit,
    /// CPUs of the guest, where they are known before it starts.
    pub cpus: Option<Vec<u32>>,
    /// Whether it runs on this machine, so that this machine's CPU and crowd are its own.
    pub here: bool,
    /// Whether this machine's kernel serves it.
    pub own_kernel: bool,
    /// What a reader must know: what stood out, and what to do about it.
    pub caveats: Vec<Caution>,
    /// Whether all repetitions go into one run.
    pub(super) at_once: bool,
    /// How long nothing may come.
    pub(super) silence: Duration,
    /// What to do where it is lost, if that is known.
    pub(super) remedy: Box<Remedy>,
    /// What starts the worker with a plan; `None` if we were interrupted before that was known.
    pub(super) start: Box<Starter>,
}

pub(super) type Remedy = dyn Fn(&Lost) -> Option<(Exit, String)>;
pub(super) type Starter = dyn Fn(&str, &Interrupts) -> Result<Option<Start>, Failure>;

impl Guest {
    /// A place on this machine of which nothing special is known.
    pub(super) fn new(
        asked: &Asked,
        options: &Options,
        start: impl Fn(&str, &Interrupts) -> Result<Option<Start>, Failure> + 'static,
    ) -> Self {
        Self {
            asked: asked.to_string(),
            short: asked.to_string(),
            mechanism: String::new(),
            version: None,
            unit: Unit::default(),
            cpus: None,
            here: true,
            own_kernel: false,
            caveats: Vec::new(),
            at_once: false,
            silence: options.silence,
            remedy: Box::new(|_| None),
            start: Box::new(start),
        }
    }
}

impl fmt::Debug for Guest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guest").field("asked", &self.asked).finish_non_exhaustive()
    }
}

impl Site for Guest {
    fn run(&self, plan: &str, interrupts: &Interrupts, take: &mut Take<'_>) -> Result<Ended, Failure> {
        let Some(start) = (self.start)(plan, interrupts)? else { return Ok(Ended::Interrupted) };
        let ended = process::run(start, self.silence, interrupts, take)?;
        ended.map_err(|lost| lost.failure((self.remedy)(&lost)))
    }

    fn at_once(&self) -> bool {
        self.at_once
    }
}

/// A directory of our own that is gone when the guest is.
pub(super) fn directory() -> Result<Scratch, Failure> {
    Scratch::make("inside").map_err(|error| {
        Failure::unfit(
            format!("cannot make a directory in '{}': {error}", std::env::temp_dir().display()),
            "set TMPDIR to a directory that you may write to",
        )
    })
}

/// Writes a file of our directory, and the directories above it.
pub(super) fn write(path: &Path, bytes: &[u8], mode: u32) -> Result<(), Failure> {
    use std::os::unix::fs::PermissionsExt;
    let written = path
        .parent()
        .map_or(Ok(()), std::fs::create_dir_all)
        .and_then(|()| std::fs::write(path, bytes))
        .and_then(|()| std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)));
    written.map_err(|error| {
        Failure::unfit(
            format!("cannot write '{}': {error}", path.display()),
            "set TMPDIR to a directory with some MiB of room",
        )
    })
}
