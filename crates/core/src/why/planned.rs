//! What an experiment is: what of a command is changed, beside what it is measured, and what is expected of it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::cause::Cause;
use super::experiments::{Edit, Untestable};
use crate::plan::Placement;

/// What the program knows of the machine, to change how a command runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Machine {
    /// CPUs that the copies may use.
    pub cpus: Vec<u32>,
    /// Why commands cannot be given real-time priority; `None` where they can.
    pub no_realtime: Option<String>,
    /// The part of a CPU that real-time tasks leave to others, where these want it.
    pub left_to_others: f64,
    /// Words for a shell that wrap a command: `STAGE [--cpu LIST] [--pipe-size BYTES] [--first N WORDS] -- COMMAND...`.
    /// `--first` runs WORDS (one argument, split as a shell does) N times, one after the other, with standard input and
    /// output at `/dev/null`, before the command.
    pub stage: String,
    /// The largest pipe that may be asked for, bytes.
    pub pipe_max: u64,
    /// The PATH that commands get. Empty: not known.
    pub path: String,
    /// Where the programs that the traces name are found in PATH, by name; also `true`, `env`, `sh` and `stdbuf`. What is
    /// missing was not found.
    pub programs: BTreeMap<String, PathBuf>,
    /// Which of these the dynamic loader starts: their ELF file names an interpreter, and they change no user or group.
    pub dynamic: BTreeSet<String>,
    /// Words of the command lines that are regular files and no programs.
    pub files: BTreeSet<String>,
}

/// An experiment, as it is said before it runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned {
    /// Index of the finding that it is about.
    pub finding: usize,
    /// The cause.
    pub cause: Cause,
    /// Index of the alternative that is changed.
    pub alternative: usize,
    /// What is changed; `None`: nothing can be.
    pub edit: Option<Edit>,
    /// The seconds by which the difference is expected to shrink.
    pub predicted_s: f64,
    /// The cause is put into the faster alternative, which takes longer then, and not taken out of the slower one.
    pub put_in: bool,
    /// Whether the change surely removes (or puts in) the cause. If not, a difference that stays refutes nothing.
    pub sure: bool,
    /// How it is run; the error is why it cannot be tested.
    pub test: Result<Test, Untestable>,
}

/// Two ways to run one alternative, untraced, interleaved, in random order.
#[derive(Clone, Debug, PartialEq)]
pub struct Test {
    /// With nothing changed, but wrapped as the other is, so that the wrapper's own cost cancels.
    pub control: Variation,
    /// With the cause removed or put in.
    pub changed: Variation,
}

/// One way to run an alternative. What is `None` stays as it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Variation {
    /// The command line.
    pub command: String,
    /// Environment variables that are set besides.
    pub env: BTreeMap<String, String>,
    /// CPUs on which it may run.
    pub cpus: Option<Vec<u32>>,
    /// What is done before every run, outside of the time.
    pub before: Before,
    /// Another placement.
    pub placement: Option<Placement>,
    /// In the real-time round-robin class at its lowest priority, where ordinary tasks cannot take its CPUs.
    pub realtime: bool,
}

/// What is done before a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Before {
    /// Nothing.
    #[default]
    Nothing,
    /// The page cache is dropped.
    DropCaches,
    /// The page cache is filled: the command itself is run once.
    WarmCaches,
    /// These files are written out and leave the page cache, as far as no one has them mapped.
    DropFiles(Vec<PathBuf>),
}

impl Variation {
    /// The command with nothing changed.
    pub fn of(command: impl Into<String>) -> Self {
        Self {
            command: command.into(),
            env: BTreeMap::new(),
            cpus: None,
            before: Before::Nothing,
            placement: None,
            realtime: false,
        }
    }
}
