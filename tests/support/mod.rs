//! What the end-to-end tests share: run the built program in a directory of its own, and read what it left there.

#![allow(dead_code, reason = "every test file uses its own part of this module")]

#[path = "signals.rs"]
mod signals;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A directory that is gone when the test ends. Commands run in it.
pub(crate) struct Scratch(TempDir);

/// What a run of the program gave.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary directory"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn dir(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("a file in the temporary directory");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The lines of a file; none if it was never written.
    pub(crate) fn lines(&self, name: &str) -> Vec<String> {
        fs::read_to_string(self.path(name)).unwrap_or_default().lines().map(str::to_owned).collect()
    }

    pub(crate) fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The program with these words, to be started in this directory.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_whyfaster"));
        command.args(words).current_dir(self.dir()).stdin(Stdio::null());
        // The tester's own surroundings decide nothing.
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "HYPERFINE_ITERATION"] {
            command.env_remove(name);
        }
        command.env("LC_ALL", "C.UTF-8");
        signals::heard(&mut command);
        command
    }

    pub(crate) fn run(&self, words: &[&str]) -> Ran {
        Ran::from(self.command(words).output().expect("the program that was just built can be started"))
    }

    /// `whyfaster compare`, unexplained: a test that counts runs does not want more of them where it may observe.
    pub(crate) fn compare(&self, words: &[&str]) -> Ran {
        self.run(&[&["compare", "--no-why"], words].concat())
    }

    /// `whyfaster compare --json`, which must succeed: the record.
    pub(crate) fn record(&self, words: &[&str]) -> Value {
        self.compare(&[&["--json"], words].concat()).ok().json()
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self { code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) }
    }
}

impl Ran {
    /// It ended with 0.
    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
        self
    }

    /// It ended with this exit status and said these things on standard error.
    #[track_caller]
    pub(crate) fn fails(self, code: i32, said: &[&str]) -> Self {
        assert_eq!(self.code, Some(code), "{}{}", self.stdout, self.stderr);
        for part in said {
            assert!(self.stderr.contains(part), "'{part}' is not in: {}", self.stderr);
        }
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        self
    }

    /// Standard output as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {}", self.stdout))
    }
}

/// The elements of a list of JSON.
#[track_caller]
pub(crate) fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("no list: {value}"))
}

#[track_caller]
pub(crate) fn numbers(value: &Value) -> Vec<f64> {
    list(value).iter().map(number).collect()
}

#[track_caller]
pub(crate) fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("no number: {value}"))
}

#[track_caller]
pub(crate) fn texts<'a>(values: &'a [Value], key: &str) -> Vec<&'a str> {
    values.iter().map(|v| v[key].as_str().unwrap_or_else(|| panic!("no text '{key}': {v}"))).collect()
}

/// The loads of a record's levels.
#[track_caller]
pub(crate) fn loads(record: &Value) -> Vec<u64> {
    list(&record["levels"]).iter().map(|level| level["load"].as_u64().expect("a load")).collect()
}

/// The arms of a record's batches in the order in which they ran: index of the alternative, or -1 for the hidden copy.
pub(crate) fn order(record: &Value) -> Vec<i64> {
    list(&record["batches"]).iter().map(|batch| batch["arm"]["alternative"].as_i64().unwrap_or(-1)).collect()
}
