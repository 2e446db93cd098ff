//! The client: one call, one answer.

use std::fmt;
use std::io::Write;
use std::process::{Command, Stdio};

use serde::de::DeserializeOwned;

/// How long the cluster may take for one answer.
const PATIENCE: &str = "--request-timeout=15s";

/// Why a call brought nothing.
#[derive(Debug, PartialEq)]
pub(super) enum Fault {
    /// The API server will not do it, and would not if it were asked again.
    Refused { state: String, reason: String },
    /// Anything else.
    Failed(String),
}

impl Fault {
    /// From the last line on its standard error, which is all that kubectl tells: its `--output` is for answers only.
    /// <https://github.com/kubernetes/kubectl/blob/master/pkg/cmd/util/helpers.go> writes it.
    fn of(line: &str) -> Self {
        let said = line.strip_prefix("Error from server (").and_then(|rest| rest.split_once("): "));
        match said {
            Some((
                state @ ("Forbidden" | "Unauthorized" | "NotFound" | "BadRequest" | "Invalid"),
                reason,
            )) => Self::Refused { state: state.to_owned(), reason: reason.to_owned() },
            _ => Self::Failed(line.to_owned()),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused { state, reason } => write!(f, "{state}: {reason}"),
            Self::Failed(why) => f.write_str(why),
        }
    }
}

/// `kubectl` with these words, in the namespace that is named, or in the one of its context.
pub(super) fn kubectl(namespace: Option<&str>, words: &[&str]) -> Command {
    let mut command = Command::new("kubectl");
    command.args(namespace.map(|it| format!("--namespace={it}"))).args(words);
    command
}

/// What it answers; nothing if there is no such thing.
pub(super) fn ask<T: DeserializeOwned>(namespace: Option<&str>, words: &[&str]) -> Result<Option<T>, Fault> {
    let mut command = kubectl(namespace, words);
    let bytes = said(command.args([PATIENCE, "--output=json"]).stdin(Stdio::null()), &[])?;
    // With --ignore-not-found it says nothing of what is not there.
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(None);
    }
    serde_json::from_slice(&bytes)
        .map(Some)
        .map_err(|error| Fault::Failed(format!("its answer cannot be read: {error}")))
}

/// Tells it to do something, with this on its standard input.
pub(super) fn tell(namespace: Option<&str>, words: &[&str], input: &[u8]) -> Result<(), Fault> {
    let mut command = kubectl(namespace, words);
    said(command.arg(PATIENCE).stdin(Stdio::piped()), input).map(drop)
}

fn said(command: &mut Command, input: &[u8]) -> Result<Vec<u8>, Fault> {
    let not_run = |error| Fault::Failed(format!("it does not run: {error}"));
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(not_run)?;
    if let Some(mut stdin) = child.stdin.take() {
        // If it does not read, how it ends says why.
        let _ = stdin.write_all(input);
    }
    let output = child.wait_with_output().map_err(not_run)?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let text = String::from_utf8_lossy(&output.stderr);
    // Before its last word it may complain of the same several times.
    let last = text.lines().rfind(|line| !line.trim().is_empty()).map(str::trim);
    Err(last.map_or_else(|| Fault::Failed(output.status.to_string()), Fault::of))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_server_refuses_is_told_from_what_failed() {
        let refused = Fault::of("Error from server (Forbidden): nodes is forbidden: no (really): no");
        let reason = "nodes is forbidden: no (really): no".to_owned();
        assert_eq!(refused, Fault::Refused { state: "Forbidden".to_owned(), reason });
        for line in ["Error from server (Timeout): too slow", "Unable to connect to the server: EOF"] {
            assert_eq!(Fault::of(line), Fault::Failed(line.to_owned()));
        }
    }
}
