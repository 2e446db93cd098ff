//! Exit statuses, in one place. All are documented in docs/src/exit-codes.md.

use std::io::{self, Write};

use crate::clean::clean_lines;

/// Why the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// Done; the gate passed or none was asked for.
    Ok = 0,
    /// whyfaster's own error.
    Error = 1,
    /// Wrong usage.
    Usage = 2,
    /// `--fail-if-slower`: an alternative is slower by more than allowed.
    Slower = 3,
    /// `--fail-on-inconclusive`: the gate could not decide.
    Inconclusive = 4,
    /// A measured command failed, or the alternatives did not do the same work.
    CommandFailed = 5,
    /// The machine is unfit for what was asked.
    Unfit = 6,
    /// Interrupted; partial results were saved.
    Interrupted = 130,
    /// The same by SIGTERM: only `trace` tells it apart.
    Terminated = 143,
}

/// The reader of standard output has gone. No error: the program ends quietly, as others in a pipeline do.
#[derive(Clone, Copy, Debug, thiserror::Error)]
#[error("the reader of standard output has gone")]
pub struct StdoutClosed;

/// An error with its exit status and the next step.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// The exit status.
    pub exit: Exit,
    /// What went wrong, naming the input.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
}

impl Failure {
    /// A failure with a next step.
    pub fn new(exit: Exit, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { exit, message: message.into(), hint: Some(hint.into()) }
    }
}

/// The name most like a word, if any is much like it.
pub fn nearest<'a>(word: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_ascii_lowercase();
    names
        .map(|name| (strsim::jaro_winkler(&word, name), name))
        .filter(|(alike, _)| *alike > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

/// The next step after a system call that may have failed for want of a descriptor; `otherwise`, if it failed for another reason.
pub(crate) fn files_or(error: &io::Error, otherwise: &'static str) -> &'static str {
    match error.raw_os_error() {
        Some(libc::EMFILE | libc::ENFILE) => "raise the limit of open files (ulimit -n)",
        _ => otherwise,
    }
}

/// A line on standard error, made safe for a terminal. It may be closed or full, which must not change how the program ends
/// (`eprintln!` panics).
pub fn say(line: &str) {
    let _ = writeln!(anstream::stderr().lock(), "{}", clean_lines(line));
}

/// The text of a message: what it quotes may steer no terminal, and a line that it brings along cannot pass for one of ours.
fn message(text: &str) -> String {
    clean_lines(text).replace('\n', "\n  ")
}

/// Says on standard error what went wrong and what to do, and gives the exit status. A reader of standard output that went
/// away is no error.
pub fn report(ended: anyhow::Result<Exit>) -> Exit {
    let error = match ended {
        Ok(exit) => return exit,
        Err(error) => error,
    };
    if error.is::<StdoutClosed>()
        || error.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
    {
        return Exit::Ok;
    }
    // Standard error may be closed or full as well; the exit status still tells.
    let mut stderr = anstream::stderr().lock();
    let _ = writeln!(stderr, "error: {}", message(&format!("{error:#}")));
    match error.downcast_ref::<Failure>() {
        Some(failure) => {
            if let Some(hint) = &failure.hint {
                let _ = writeln!(stderr, "  hint: {}", message(hint));
            }
            failure.exit
        }
        None => Exit::Error,
    }
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
