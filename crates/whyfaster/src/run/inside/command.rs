//! `command:WORDS`: the worker behind any program that starts another one: taskset, chroot, nsenter, docker run.

use std::process::Command;
use std::time::Duration;

use super::guest::{About, Guest, Options, directory, write};
use super::process::{self, Start};
use super::workers;
use crate::exit::Failure;
use crate::run::interrupts::Interrupts;
use crate::run::probe::site::{Site, Take};
use crate::run::probe::worker::Ended;
use crate::store::Scratch;

/// A launcher with its words.
#[derive(Debug)]
pub struct Launcher {
    words: Vec<String>,
    silence: Duration,
    _directory: Scratch,
}

impl Launcher {
    /// `{}` is replaced by the path of the worker, `{name}` by its name without directories; without either the path comes
    /// last.
    pub fn open(words: &[String], options: &Options) -> Result<Self, Failure> {
        let directory = directory()?;
        let path = directory.path().join("worker");
        write(&path, &workers::own_or_given(options)?, 0o755)?;
        // Whoever the launcher becomes must get to the worker.
        workers::open_to_all(directory.path())?;
        let path = path.to_string_lossy().into_owned();
        let name =
            directory.path().file_name().unwrap_or_default().to_string_lossy().into_owned() + "/worker";
        let placed = words.iter().any(|word| word.contains("{}") || word.contains("{name}"));
        let mut words: Vec<String> =
            words.iter().map(|word| word.replace("{}", &path).replace("{name}", &name)).collect();
        if !placed {
            words.push(path);
        }
        Ok(Self { words, silence: options.silence, _directory: directory })
    }
}

impl Site for Launcher {
    fn run(&self, plan: &str, interrupts: &Interrupts, take: &mut Take<'_>) -> Result<Ended, Failure> {
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]);
        let what = format!("'{}'", self.words[0]);
        let input = plan.as_bytes().to_vec();
        let start = Start { command, what, input, hold: false, silence: self.silence, console: None };
        process::run(start, interrupts, take)
    }
}

impl Guest for Launcher {
    fn about(&self) -> About {
        About { mechanism: format!("behind '{}'", self.words[0]), here: true, ..About::default() }
    }
}
