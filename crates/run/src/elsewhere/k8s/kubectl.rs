//! The client: one call, one answer.

use std::io::Write;
use std::process::{Command, Stdio};

use serde::de::DeserializeOwned;

/// How long the cluster may take for one answer.
const PATIENCE: &str = "--request-timeout=15s";

/// `kubectl` with these words, in the namespace that is named, or in the one of its context.
pub(super) fn kubectl(namespace: Option<&str>, words: &[&str]) -> Command {
    let mut command = Command::new("kubectl");
    command.args(namespace.map(|it| format!("--namespace={it}"))).args(words);
    command
}

/// What it answers, or what it says on its standard error.
pub(super) fn ask<T: DeserializeOwned>(namespace: Option<&str>, words: &[&str]) -> Result<Option<T>, String> {
    let mut command = kubectl(namespace, words);
    let bytes = said(command.args([PATIENCE, "--output=json"]).stdin(Stdio::null()), &[])?;
    // With --ignore-not-found it says nothing of what is not there.
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(None);
    }
    serde_json::from_slice(&bytes).map(Some).map_err(|error| format!("its answer cannot be read: {error}"))
}

/// Tells it to do something, with this on its standard input.
pub(super) fn tell(namespace: Option<&str>, words: &[&str], input: &[u8]) -> Result<(), String> {
    let mut command = kubectl(namespace, words);
    said(command.arg(PATIENCE).stdin(Stdio::piped()), input).map(drop)
}

fn said(command: &mut Command, input: &[u8]) -> Result<Vec<u8>, String> {
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(|error| error.to_string())?;
    if let Some(mut stdin) = child.stdin.take() {
        // If it does not read, how it ends says why.
        let _ = stdin.write_all(input);
    }
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    let text = String::from_utf8_lossy(&output.stderr);
    // Before its last word it may complain of the same several times.
    let last = text.lines().rfind(|line| !line.trim().is_empty()).map(str::trim);
    Err(last.map_or_else(|| output.status.to_string(), str::to_owned))
}
