//! A machine, how it is reached, and the kinds of places that have machines.

use std::fmt;
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
    /// What has to work before anything else does.
    pub first: String,
    /// Ends a job of that engine.
    pub(super) cancel: Option<fn(&str)>,
    /// How the engine has it with our job, where its client does not say so by itself.
    pub(super) stands: Option<Arc<Stands>>,
}

/// Asks an engine how a job stands; `None` if it does not say.
type Stands = dyn Fn() -> Option<Standing> + Send + Sync;

/// How a job stands with its engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Standing {
    /// What the engine calls the job.
    pub(super) job: String,
    /// Why it waits; `None` once the machine is the job's.
    pub(super) waits: Option<String>,
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
            cancel: None,
            stands: None,
        }
    }
}

impl Machine {
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
fn file_name(name: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || "-_.@:,+=%".contains(c) { c } else { '_' };
    let name: String = name.chars().map(plain).collect();
    name.strip_prefix('.').map_or_else(|| name.clone(), |rest| format!("_{rest}"))
}
