//! What to run: the resolved form of the command line. Nothing right of here sees clap.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::metric::{Limit, Metric};

/// Everything a measurement needs to know before it begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Plan {
    /// The ways to do the work, in the order of the command line (a `--reference` command stands first).
    pub alternatives: Vec<Alternative>,
    /// Index of the alternative that the others are compared with.
    pub baseline: usize,
    /// Whether the baseline was named with `--reference` (exports then relate to it and not to the fastest).
    pub baseline_named: bool,
    /// How a command line becomes a process.
    pub shell: Shell,
    /// Standard input of every copy.
    pub input: Input,
    /// The load levels asked for.
    pub loads: Loads,
    /// How the copies of a level arrive.
    pub mode: Mode,
    /// How many rounds.
    pub rounds: Rounds,
    /// Untimed runs of every alternative before the first round.
    pub warmup: u32,
    /// Half-width of the band inside which two alternatives count as the same, as a fraction (0.02 is 2%).
    pub delta: f64,
    /// The same where time is over without another answer; null: no other band.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delta_at_end: Option<f64>,
    /// Confidence of all intervals of one record together, e.g. 0.95.
    pub confidence: f64,
    /// Seed of every random choice.
    pub seed: u64,
    /// A copy that runs longer is ended with its tree and counts as too slow. Seconds.
    pub timeout_s: Option<f64>,
    /// Whether every copy gets a session of its own.
    pub placement: Placement,
    /// CPUs that the copies may use; `None` leaves what whyfaster was given.
    pub cpus: Option<Vec<u32>>,
    /// Drop the page cache before every batch.
    pub drop_caches: bool,
    /// Compare the alternatives' standard output and exit status.
    pub check_output: bool,
    /// Outputs that differ are an error, also without a gate.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub strict_output: bool,
    /// What to do about exit statuses other than 0.
    pub failures: FailurePolicy,
    /// Gate: fail when an alternative is slower than the baseline by more than this fraction.
    pub fail_if_slower: Option<f64>,
    /// Rounds between two setups of an alternative, where alternatives have different ones: they then share a state (a checked-out
    /// branch, say), so each makes its own before each of its blocks of so many runs, and takes it away behind. Null: every setup
    /// runs once, before all rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rounds_per_setup: Option<u32>,
    /// Leave what a copy started running when it ends, and do not end it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keep_daemons: bool,
    /// Whether alternatives also run at once with the baseline on one CPU, so that changes of its speed cancel.
    #[serde(default, skip_serializing_if = "Pace::is_auto")]
    pub pace: Pace,
    /// Metrics to measure and to compare beside the time; absent in records of versions that did not know them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<Metric>,
    /// Gates: what these metrics may be at most.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<Limit>,
    /// As whom the commands and hooks run; absent in records of versions that did not note it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user: Option<User>,
    /// Whether a difference is explained, and how; null: it is not. Absent in records of versions that did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explain: Option<Explain>,
}

/// When the machine's changes of speed are cancelled by duets ([`crate::sample::Duet`]), and whether times in turns are corrected for those that the kernel tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Pace {
    /// Where copies run at once anyway: there the work decides, and the commands bear it.
    #[default]
    Auto,
    /// Also where one copy alone is measured.
    On,
    /// Neither.
    Off,
}

impl Pace {
    fn is_auto(&self) -> bool {
        *self == Self::Auto
    }
}

/// How differences are explained.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Explain {
    /// Asked for by name, so that it is said when it cannot be done; else it is done where it can be.
    pub asked: bool,
    /// Traced rounds; null: as many as an interval needs and time allows.
    pub rounds: Option<u32>,
    /// Whether experiments are made that remove the causes found.
    pub confirm: bool,
}

/// What holds where the command line says nothing.
pub mod defaults {
    /// Rounds of a single command at the least. A comparison has as many as its verdict needs.
    pub const MIN_ROUNDS: u32 = 10;
    /// No upper limit of rounds: the statistics and the time stop first.
    pub const MAX_ROUNDS: u32 = u32::MAX;
    /// Seconds for a whole measurement; a soft limit, the rounds that a verdict needs are still run.
    pub const MAX_TIME_S: f64 = 60.0;
    /// The same where one copy alone is all that is measured. Slow commands get more: the time of as many rounds as `MIN_ROUNDS`.
    pub const MAX_TIME_ALONE_S: f64 = 10.0;
    /// Half-width of the band in which two alternatives count as the same.
    pub const DELTA: f64 = 0.02;
    /// The same where time is over: that no more than this can be between them is an answer too.
    pub const DELTA_AT_END: f64 = 0.05;
    /// Confidence of all intervals of one record together.
    pub const CONFIDENCE: f64 = 0.95;
    /// Seconds during which copies are started in the closed and the open mode.
    pub const DURATION_S: f64 = 5.0;
    /// The shell of hyperfine 1.x on Unix.
    pub const SHELL: &str = "sh";
}

/// Most copies that a level may ask for. More processes than this fit into no machine: the kernel's own limit of
/// process ids is 4,194,304 (`PID_MAX_LIMIT` in include/linux/threads.h), and a copy is often more than one process.
pub const MAX_LOAD: u32 = 1_000_000;

impl Plan {
    /// The plan that compares these alternatives with the first of them when nothing else is asked for.
    pub fn new(alternatives: Vec<Alternative>, seed: u64) -> Self {
        Self {
            alternatives,
            baseline: 0,
            baseline_named: false,
            shell: Shell::Command(vec![defaults::SHELL.to_owned()]),
            input: Input::Null,
            loads: Loads::one_copy(),
            mode: Mode::Batch,
            rounds: Rounds {
                min: defaults::MIN_ROUNDS,
                max: defaults::MAX_ROUNDS,
                fixed: false,
                max_time_s: defaults::MAX_TIME_S,
                max_time_hard: false,
            },
            warmup: 0,
            delta: defaults::DELTA,
            delta_at_end: Some(defaults::DELTA_AT_END),
            confidence: defaults::CONFIDENCE,
            seed,
            timeout_s: None,
            placement: Placement::Session,
            cpus: None,
            drop_caches: false,
            check_output: true,
            strict_output: false,
            failures: FailurePolicy::Raise,
            fail_if_slower: None,
            rounds_per_setup: None,
            keep_daemons: false,
            pace: Pace::Auto,
            metrics: Vec::new(),
            limits: Vec::new(),
            user: None,
            explain: None,
        }
    }

    /// Whether runs besides the timed ones and the warm-ups may be made: to compare outputs, to see what a copy needs, for the
    /// scheduling account, for the floor. Who fixes the number of runs gets that number.
    pub fn extra_runs(&self) -> bool {
        !self.rounds.fixed
    }

    /// True if outputs that differ are an error: a gate judges equal work only.
    pub fn outputs_must_match(&self) -> bool {
        self.strict_output || self.fail_if_slower.is_some() || !self.limits.is_empty()
    }

    /// Whether every alternative is tried before the first round.
    pub fn tries(&self) -> bool {
        self.extra_runs() && (self.check_output || !self.loads.is_one_copy() || self.chooses_output())
    }

    /// Whether timed copies begin with as little memory as can be, so that their peak is their own: where it is asked for, and where no trial
    /// tells whether a larger load fits into memory. The others begin in the launcher's memory, which is quicker.
    pub fn shows_peak_memory(&self) -> bool {
        self.metrics.contains(&Metric::MemoryPeakResident) || !self.extra_runs() && !self.loads.is_one_copy()
    }

    /// Whether runs show where timed copies are to write. What is left running would hold a pipe open.
    pub fn chooses_output(&self) -> bool {
        self.extra_runs()
            && !self.keep_daemons
            && self.alternatives.iter().any(|alternative| alternative.output == Output::Auto)
    }

    /// True if alternatives run concurrently with the baseline. A hook, a file or the page cache may be one run's own, and a number of runs may be
    /// a promise: then they do not.
    pub fn duets(&self) -> bool {
        let wanted = match self.pace {
            Pace::Auto => !self.loads.is_one_copy(),
            Pace::On => true,
            Pace::Off => false,
        };
        let shareable = |it: &Alternative| {
            let hooks = [&it.setup, &it.prepare, &it.conclude, &it.cleanup];
            hooks.iter().all(|hook| hook.is_none()) && !matches!(it.output, Output::File(_) | Output::Inherit)
        };
        wanted
            && self.extra_runs()
            && self.mode == Mode::Batch
            && self.alternatives.len() > 1
            && self.timeout_s.is_none()
            && !self.drop_caches
            && !self.keep_daemons
            && self.alternatives.iter().all(shareable)
    }

    /// Rounds that follow one another for one alternative.
    pub fn block(&self) -> u32 {
        self.rounds_per_setup.unwrap_or(1).max(1)
    }
}

impl Alternative {
    /// Whether two alternatives leave the same state behind their setups.
    pub fn same_state(&self, other: &Self) -> bool {
        self.setup == other.setup && self.cleanup == other.cleanup && self.env == other.env
    }

    /// An alternative that is called by its command line and has no hooks.
    pub fn new(command: impl Into<String>) -> Self {
        let command = command.into();
        Self {
            name: command.clone(),
            given_name: None,
            command,
            named_bytes: None,
            parameters: BTreeMap::new(),
            env: BTreeMap::new(),
            setup: None,
            prepare: None,
            conclude: None,
            cleanup: None,
            output: Output::Auto,
        }
    }
}

/// One way to do the work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Alternative {
    /// Unique within the plan: the given name, else the command line; with the parameters that the command line does
    /// not show, and a number if that is not enough to tell it from another.
    pub name: String,
    /// The name that was given, parameters put in. hyperfine's exports call the alternative so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given_name: Option<String>,
    /// The command line after parameters were put in.
    pub command: String,
    /// Bytes of the files that its command line names, when the plan was made; null where it names none that was there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub named_bytes: Option<u64>,
    /// Parameters (`-P`, `-L`) of this alternative.
    pub parameters: BTreeMap<String, String>,
    /// Environment variables set for the copies and the hooks, on top of whyfaster's own environment.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Run before the alternative's first batch; see [`Plan::rounds_per_setup`].
    pub setup: Option<String>,
    /// Run before every batch.
    pub prepare: Option<String>,
    /// Run after every batch.
    pub conclude: Option<String>,
    /// Run after the alternative's last batch; see [`Plan::rounds_per_setup`].
    pub cleanup: Option<String>,
    /// Where standard output and standard error of timed copies go.
    pub output: Output,
}

/// How a command line becomes a process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Shell {
    /// Split into words and executed directly.
    None,
    /// These words, then `-c`, then the command line.
    Command(Vec<String>),
}

/// Standard input of a copy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Input {
    /// `/dev/null`.
    Null,
    /// Every copy opens this file for itself.
    File(PathBuf),
    /// whyfaster's own; only for a command that runs once.
    Inherit,
}

/// Where the output of a timed copy goes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Output {
    /// `/dev/null`, unless that changes what an alternative does ([`crate::sample::Trial::does_less_unread`]): then a pipe for all.
    Auto,
    /// `/dev/null`.
    Null,
    /// A pipe that a process of ours empties.
    Pipe,
    /// Where our own output goes.
    Inherit,
    /// This file, emptied before every batch.
    File(PathBuf),
}

/// The load levels of a measurement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Loads {
    /// These, in rising order, each once.
    Fixed(Vec<u32>),
    /// The ladder 1, C/2, C, 2C, 4C, 10, 100, 1000, then bisection where the answer changes.
    Auto,
}

impl Loads {
    /// One copy alone, which is measured where no load is asked for.
    pub fn one_copy() -> Self {
        Self::Fixed(vec![1])
    }

    /// Whether that is all.
    pub fn is_one_copy(&self) -> bool {
        matches!(self, Self::Fixed(loads) if loads == &[1])
    }
}

/// How the copies of a level arrive.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Mode {
    /// N copies released together; the makespan counts.
    Batch,
    /// N workers; each starts a new copy as soon as its last one ended, for this long.
    Closed {
        /// Seconds during which copies are started.
        duration_s: f64,
    },
    /// Copies start on a clock of their own, whatever became of the earlier ones.
    Open {
        /// Intended starts a second.
        rate_per_s: f64,
        /// Seconds during which copies are started.
        duration_s: f64,
    },
}

/// How many rounds to run at a level.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Rounds {
    /// At least this many.
    pub min: u32,
    /// At most this many.
    pub max: u32,
    /// The number was fixed beforehand (`--runs`): stop at exactly `max`, use the fixed-sample test.
    pub fixed: bool,
    /// Seconds for the whole measurement.
    pub max_time_s: f64,
    /// Whether `max_time_s` was asked for: then it also cuts `min` short.
    pub max_time_hard: bool,
}

impl Rounds {
    /// Seconds for comparing commands that alone take `alone_s` one after the other: slow ones get the time of ten runs each, up to the
    /// limit of a measurement with loads. A limit that was asked for stays.
    pub fn comparing_s(&self, alone_s: f64) -> f64 {
        let runs_s = f64::from(defaults::MIN_ROUNDS) * alone_s;
        match self.max_time_hard {
            true => self.max_time_s,
            false => self.max_time_s.max(runs_s.min(defaults::MAX_TIME_S)),
        }
    }
}

/// Where a copy is placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// Every copy in a session (and so an autogroup) of its own.
    Session,
    /// All copies of a batch in one session.
    Shared,
}

/// A user of this machine, as whom commands run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct User {
    /// User id.
    pub uid: u32,
    /// Group id.
    pub gid: u32,
    /// All groups, the group id's among them.
    pub groups: Vec<u32>,
    /// Name, if the machine knows one.
    pub name: Option<String>,
    /// Why this user.
    pub because: Because,
}

/// Why commands run as this user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Because {
    /// whyfaster itself runs as this user.
    Own,
    /// whyfaster was started with sudo by this user, and does not pass root on.
    Sudo,
    /// whyfaster was started with sudo, and `--as-root` asks for root.
    AsRoot,
}

/// What an exit status other than 0 means.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FailurePolicy {
    /// It ends the measurement.
    Raise,
    /// It is noted.
    IgnoreAll,
    /// These codes are noted; others end the measurement.
    IgnoreCodes(Vec<i32>),
}
