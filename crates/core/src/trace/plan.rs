//! What a trace is to observe: the resolved form of the command line of `trace`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::plan::{Input, Output, Shell, User, defaults};

/// Everything a trace needs to know before it begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TracePlan {
    /// What is observed.
    pub target: Target,
    /// How a command line becomes a process.
    pub shell: Shell,
    /// Standard input of the traced run.
    pub input: Input,
    /// Standard output of the traced run.
    pub output: Output,
    /// Its standard error goes where whyfaster's own goes, whatever becomes of its standard output.
    #[serde(default)]
    pub show_errors: bool,
    /// Environment variables set for the command.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// CPUs that the command may use; `None` leaves what whyfaster was given.
    pub cpus: Option<Vec<u32>>,
    /// As whom the command runs.
    pub user: Option<User>,
    /// The level asked for.
    pub level: LevelChoice,
    /// Lost records are a failure.
    pub strict: bool,
    /// The observation ends after this many seconds, and the command with it if whyfaster started it.
    pub duration_s: Option<f64>,
    /// Untraced runs beside the traced one, to see what the observing cost.
    pub untraced_runs: u32,
    /// Calls are counted by process and not by command.
    pub by_process: bool,
    /// Calls are timed, not only counted.
    pub call_times: bool,
    /// Every call is handed on by itself.
    pub each_call: bool,
    /// Stacks of what runs, this many a second on every CPU.
    pub samples_per_s: Option<u32>,
    /// Stacks of where tasks block.
    pub blocking_stacks: bool,
    /// Bytes of the ring that streamed records go through.
    pub ring_bytes: u32,
    /// The scheduling records are kept in the record.
    pub keep_schedule: bool,
}

/// What is observed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// A command that whyfaster starts.
    Command(String),
    /// A process that runs already, and all below it.
    Process(u32),
    /// The processes of a cgroup: its directory.
    Cgroup(PathBuf),
}

/// Which level is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum LevelChoice {
    /// The best that is to be had.
    #[default]
    Auto,
    /// Everything, by BPF, or nothing.
    Full,
    /// Forks, execs and ends by ptrace, without a stop at calls.
    Unprivileged,
    /// Every call by ptrace.
    Ptrace,
    /// Only what the kernel adds up for a parent.
    Rusage,
}

impl TracePlan {
    /// The plan that observes this when nothing else is asked for.
    pub fn new(target: Target) -> Self {
        Self {
            target,
            shell: Shell::Command(vec![defaults::SHELL.to_owned()]),
            input: Input::Null,
            output: Output::Null,
            show_errors: false,
            env: BTreeMap::new(),
            cpus: None,
            user: None,
            level: LevelChoice::Auto,
            strict: false,
            duration_s: None,
            untraced_runs: UNTRACED_RUNS,
            by_process: false,
            call_times: true,
            each_call: false,
            samples_per_s: None,
            blocking_stacks: false,
            ring_bytes: RING_BYTES,
            keep_schedule: false,
        }
    }
}

impl Target {
    /// In words, as it stands above a report.
    pub fn words(&self) -> String {
        match self {
            Self::Command(line) => line.clone(),
            Self::Process(pid) => format!("process {pid}"),
            Self::Cgroup(directory) => format!("cgroup {}", directory.display()),
        }
    }
}

/// Untraced runs unless told otherwise, where time allows them.
pub const UNTRACED_RUNS: u32 = 3;

/// Bytes of the ring unless told otherwise: 4 MiB hold three million records a second at a poll every 20 ms, measured.
pub const RING_BYTES: u32 = 16 << 20;
