//! The study of dispatchers: the same small jobs handed out in several ways, timed untraced and counted traced.

use std::ffi::OsStr;

use anyhow::Context;
use serde::{Deserialize, Serialize};

use super::traced::{About, Command, LeftOut, TracedStudy};
use super::workdir::is_on;
use crate::exit::Failure;

/// The article's figures of one dispatcher. Calls are those of the dispatching process alone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Which.
    pub dispatcher: String,
    /// Elapsed time, seconds.
    pub real_s: f64,
    /// User CPU time.
    pub user_s: f64,
    /// System CPU time.
    pub system_s: f64,
    /// Calls of clone, failed ones among them.
    pub own_forks: u64,
    /// How many of them failed.
    pub own_failed_forks: u64,
    /// Calls of wait4.
    pub own_waits: u64,
    /// System CPU time within both.
    pub own_fork_wait_cpu_s: f64,
}

impl About for Figure {
    fn about(&self) -> &str {
        &self.dispatcher
    }
}

const EMBEDDED: &str = include_str!("../../shared/studies/dispatch/study.json");

/// The study.
pub fn dispatch() -> anyhow::Result<TracedStudy<Figure>> {
    serde_json::from_str(EMBEDDED).context("a study in this program cannot be read; please report it")
}

impl TracedStudy<Figure> {
    /// The dispatchers whose programs are there, and those left out with what is missing.
    pub fn installed(&self, path: &OsStr) -> Result<(Vec<Command>, LeftOut), Failure> {
        self.check(path)?;
        let (there, missing): (Vec<_>, Vec<_>) =
            self.commands.iter().cloned().partition(|dispatcher| is_on(path, program(dispatcher)));
        let missing = missing.into_iter().map(|d| {
            let why = format!("{} is not installed", program(&d));
            (d.name, why)
        });
        Ok((there, missing.collect()))
    }
}

/// The program that hands out: the first word behind the pipe. What a shell has built in is always there.
fn program(dispatcher: &Command) -> &str {
    let behind = dispatcher.command.split_once('|').map_or(dispatcher.command.as_str(), |(_, behind)| behind);
    match behind.split_whitespace().next() {
        Some("while") | None => "sh",
        Some(word) => word,
    }
}

#[cfg(test)]
#[path = "dispatch_tests.rs"]
mod tests;
