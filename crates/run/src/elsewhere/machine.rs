//! A machine, how it is reached, and the kinds of places that have machines.

use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::BuildHasher;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use whyfaster_core::fleet::visit::Trouble;
use whyfaster_words::exit::Failure;

/// A kind of place.
#[derive(Debug)]
pub struct PlaceKind {
    /// The word that asks for it.
    pub word: &'static str,
    /// What stands behind the word and the colon, as the help writes it.
    pub form: &'static str,
    /// What it is.
    pub help: &'static str,
    /// Says why what stands behind the colon is none.
    pub(super) read: fn(&str) -> Result<(), String>,
    /// Its machines.
    pub(super) machines: fn(&str) -> Result<Vec<Machine>, Failure>,
    /// From the words behind the kind for one machine, those for all machines that the same answer of its engine lists.
    pub(super) all: fn(&str) -> String,
}

/// Gives a shell over there, where that takes no longer than this.
type Way = dyn Fn(Duration) -> Command + Send + Sync;

/// A machine of a place.
#[derive(Clone)]
pub struct Machine {
    /// What its file is called, without `.json`.
    pub name: String,
    /// The words that lead to it.
    pub asked: String,
    pub(super) way: Arc<Way>,
    /// Why it cannot be had, if that is known.
    pub(super) out: Option<Trouble>,
    /// An engine gives it out: it may be waited for, and it may be taken away again.
    pub(super) queues: bool,
    /// What the user should make work first, where it cannot be reached.
    pub first: String,
    /// Its job with that engine, where the program that leads there can run only once the engine has given the machine.
    pub(super) job: Option<Arc<dyn Job>>,
}

/// A job of an engine.
pub(super) trait Job: Send + Sync {
    /// It will be requested in this run, which visits so many at once: what an engine takes together is asked for together.
    fn enlist(&self, at_once: usize);
    /// Asks for it, unless all is to stop; why that failed.
    fn request(&self, is_stopped: &dyn Fn() -> bool) -> Result<(), Vec<String>>;
    /// How it stands.
    fn standing(&self, is_stopped: &dyn Fn() -> bool) -> Standing;
    /// Ends it.
    fn cancel(&self);
}

/// A name that no other job has: the standard library draws the keys of a hash by chance.
pub(super) fn job_name() -> String {
    format!("whyfaster-{:016x}", RandomState::new().hash_one(()))
}

/// How a job stands with its engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// It waits, and why.
    Waits(String),
    /// The machine is the job's.
    Given,
    /// It has ended, or the engine no longer knows it; how that came.
    Gone(String),
    /// The engine does not say, and why.
    Unknown(String),
}

impl Machine {
    pub(super) fn new(
        name: &str,
        asked: String,
        way: impl Fn(Duration) -> Command + Send + Sync + 'static,
    ) -> Self {
        Self {
            name: file_name(name),
            asked,
            way: Arc::new(way),
            out: None,
            queues: false,
            first: String::new(),
            job: None,
        }
    }

    /// One that cannot be had, and why.
    pub(super) fn lost(name: &str, asked: &str, trouble: Trouble) -> Self {
        let way = |_| Command::new("false");
        Self { out: Some(trouble), ..Self::new(name, asked.to_owned(), way) }.called(name)
    }

    /// The same machine under the name that it had.
    #[must_use]
    pub fn called(self, name: &str) -> Self {
        Self { name: name.to_owned(), ..self }
    }
}

impl fmt::Debug for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Machine")
            .field("name", &self.name)
            .field("asked", &self.asked)
            .finish_non_exhaustive()
    }
}

/// A name as the name of a file: no directories, and none that is hidden.
pub(super) fn file_name(name: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || "-_.@:,+=%".contains(c) { c } else { '_' };
    let name: String = name.chars().map(plain).collect();
    name.strip_prefix('.').map_or_else(|| name.clone(), |rest| format!("_{rest}"))
}
