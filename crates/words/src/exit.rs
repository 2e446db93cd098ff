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
    /// How hyperfine 1 and hyperfine 2 put it, for scripts that look for their words.
    pub in_hyperfine: Option<[String; 2]>,
}

impl Failure {
    /// A failure with a next step.
    pub fn new(exit: Exit, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { exit, message: message.into(), hint: Some(hint.into()), in_hyperfine: None }
    }

    /// With hyperfine's words first, those of its second version or of its first.
    #[must_use]
    pub fn as_hyperfine(self, second: bool) -> Self {
        let Some([one, two]) = self.in_hyperfine else { return self };
        let words = if second { two } else { one };
        let colon = if words.ends_with('.') { "" } else { ":" };
        Self { message: format!("{words}{colon} {}", self.message), in_hyperfine: None, ..self }
    }

    /// The same failure, with the words that scripts written for hyperfine look for.
    #[must_use]
    pub fn in_hyperfine(self, words: impl Into<String>) -> Self {
        let words = words.into();
        self.in_hyperfines(words.clone(), words)
    }

    /// The same where the two versions have words of their own.
    #[must_use]
    pub fn in_hyperfines(self, one: impl Into<String>, two: impl Into<String>) -> Self {
        Self { in_hyperfine: Some([one.into(), two.into()]), ..self }
    }

    /// Wrong usage.
    pub fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(Exit::Usage, message, hint)
    }

    /// A machine that is unfit for what was asked.
    pub fn unfit(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(Exit::Unfit, message, hint)
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
pub fn files_or(error: &io::Error, otherwise: &'static str) -> &'static str {
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
    report_in(ended, |what, hint| {
        let hint = hint.map_or_else(String::new, |hint| format!("\n  hint: {}", message(hint)));
        format!("error: {}{hint}", message(what))
    })
}

/// The same in a form made of the message and the hint.
fn report_in(ended: anyhow::Result<Exit>, form: impl Fn(&str, Option<&str>) -> String) -> Exit {
    let error = match ended {
        Ok(exit) => return exit,
        Err(error) => error,
    };
    if error.is::<StdoutClosed>()
        || error.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
    {
        return Exit::Ok;
    }
    let failure = error.downcast_ref::<Failure>();
    let hint = failure.and_then(|failure| failure.hint.as_deref());
    // Standard error may be closed or full as well; the exit status still tells.
    let _ = writeln!(anstream::stderr().lock(), "{}", form(&format!("{error:#}"), hint));
    failure.map_or(Exit::Error, |failure| failure.exit)
}

/// Like [`report`], where we are called by hyperfine's name: its words stand first, and its statuses take the place of ours, which
/// are 1 but for wrong options and an interrupt.
pub fn report_as_hyperfine(ended: anyhow::Result<Exit>, second: bool) -> Exit {
    if let Ok(Exit::Usage) = ended {
        return Exit::Usage;
    }
    let ended = ended.map_err(|error| {
        error.downcast::<Failure>().map_or_else(|it| it, |it| it.as_hyperfine(second).into())
    });
    // Its hints are lines of their own.
    let form = |what: &str, hint: Option<&str>| {
        let hint = hint.map_or_else(String::new, |hint| format!("\n{}", clean_lines(hint)));
        format!("Error: {}{hint}", message(what))
    };
    match report_in(ended, form) {
        exit @ (Exit::Ok | Exit::Interrupted | Exit::Slower | Exit::Inconclusive) => exit,
        _ => Exit::Error,
    }
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}
