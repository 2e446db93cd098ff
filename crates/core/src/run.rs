//! The runs of commands: what each is for, and the list of them that a rehearsal makes.

use crate::sample::Arm;

/// What a run of a command is for: `WHYFASTER_RUN` tells it to the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunKind {
    /// Untimed: what it writes, what it needs.
    Trial,
    /// Untimed, to fill caches.
    WarmUp,
    /// Timed.
    Timed,
    /// At once with the baseline on one CPU, for its CPU time.
    Duet,
    /// Traced, for the run-queue delay.
    Account,
    /// Observed, for the explanation.
    Observed,
    /// Changed in one thing, to put an explanation to the test.
    Experiment,
}

impl RunKind {
    /// Its name in `WHYFASTER_RUN`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Trial => "trial",
            Self::WarmUp => "warmup",
            Self::Timed => "timed",
            Self::Duet => "duet",
            Self::Account => "account",
            Self::Observed => "observed",
            Self::Experiment => "experiment",
        }
    }
}

/// A run of an alternative, with what the command is told of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// What for.
    pub kind: RunKind,
    /// Its number among those of its kind, from 0: `HYPERFINE_ITERATION`.
    pub number: u32,
}

/// Something that a measurement does, as a rehearsal of it lists them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rehearsed {
    /// A hook.
    Hook {
        /// Its option's name.
        name: &'static str,
        /// Its command line.
        line: String,
        /// Index of the alternative.
        alternative: usize,
        /// The run that it belongs to; none for those that belong to all.
        run: Option<Run>,
    },
    /// Copies of an alternative's command.
    Run {
        /// Which.
        arm: Arm,
        /// What it is told.
        run: Run,
        /// Copies, or workers.
        load: u32,
    },
}
