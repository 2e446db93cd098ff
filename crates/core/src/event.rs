//! What a runner says while it works. Renderers only listen.

use crate::missing::Obstacle;
use crate::sample::Arm;
use crate::verdict::Verdict;
use crate::why::Planned;

/// Something happened. Events are sent between batches only, never while one is being timed.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The alternative with this index is being tried once, untimed.
    Trial(usize),
    /// A hook (setup, prepare, conclude, cleanup) of this alternative runs.
    Hook(&'static str, usize),
    /// A warm-up run of this alternative.
    Warmup(usize),
    /// Told before the first timed run: `--max-time` leaves less than the rounds take without which there is no verdict.
    TooLittleTime {
        /// Seconds that these rounds will about take.
        needed_s: f64,
        /// Seconds that are left for them.
        left_s: f64,
        /// The `--max-time` that would do, seconds.
        enough_s: f64,
    },
    /// A level begins.
    LevelBegin {
        /// Its load.
        load: u32,
        /// Its place among the levels, from 1.
        index: usize,
        /// How many levels are known.
        of: usize,
    },
    /// A batch is about to be released.
    Batch {
        /// Its load.
        load: u32,
        /// Round at this load, from 1.
        round: u32,
        /// Rounds expected at this load.
        rounds: u32,
        /// What runs.
        arm: Arm,
        /// Seconds that the batch is expected to take.
        batch_s: f64,
        /// Seconds until the end of the measurement with its explanation, as far as one can tell.
        left_s: f64,
    },
    /// What the rounds so far say, after each block of them.
    SoFar {
        /// The load.
        load: u32,
        /// Of every alternative but the baseline.
        standings: Vec<SoFar>,
    },
    /// An alternative and the baseline are about to run at once.
    Duet {
        /// Index of the alternative.
        alternative: usize,
        /// Its number among those of this alternative, from 1.
        round: u32,
        /// How many there will be.
        rounds: u32,
    },
    /// An untimed traced batch for the scheduling account.
    Account {
        /// Its load.
        load: u32,
        /// Index of the alternative.
        alternative: usize,
    },
    /// A traced run, after the verdicts.
    Traced {
        /// Traced round, from 1.
        round: u32,
        /// Rounds wanted.
        rounds: u32,
        /// Index of the alternative.
        alternative: usize,
        /// Seconds until the end of the measurement, as far as one can tell.
        left_s: f64,
    },
    /// A traced batch of the highest load, after the traced rounds.
    TracedBatch {
        /// Copies at once.
        load: u32,
        /// Index of the alternative.
        alternative: usize,
        /// Seconds until the end of the measurement, as far as one can tell.
        left_s: f64,
    },
    /// What is said before an experiment is made: what it changes, and what is expected of it.
    Predicted {
        /// Its number, from 1.
        number: usize,
        /// How many experiments there are.
        of: usize,
        /// What is planned.
        planned: Box<Planned>,
    },
    /// A run of an experiment.
    Experiment {
        /// Its number, from 1.
        number: usize,
        /// How many experiments there are.
        of: usize,
        /// Round, from 1.
        round: u32,
        /// Rounds wanted.
        rounds: u32,
        /// Seconds until the end of the measurement, as far as one can tell.
        left_s: f64,
    },
    /// A level could not be measured.
    LevelSkipped {
        /// Its load.
        load: u32,
        /// Why.
        why: Obstacle,
    },
    /// A level is done.
    LevelEnd {
        /// Its load.
        load: u32,
        /// Rounds that ran.
        rounds: u32,
    },
    /// A row of a price list begins.
    Price {
        /// Which.
        row: String,
        /// Repetition, from 1.
        repetition: u32,
        /// Repetitions at most.
        of: u32,
        /// Seconds until the end of the measurement, as far as one can tell.
        left_s: f64,
    },
    /// What `trace` was asked for is being observed.
    Observing {
        /// For how long.
        passed_s: f64,
        /// Seconds until the end, where one was set.
        left_s: Option<f64>,
    },
    /// A traced command is about to run again, untraced.
    Untraced {
        /// Which of these runs, from 1.
        run: u32,
        /// How many there are at most.
        runs: u32,
        /// Seconds until the end, as far as one can tell.
        left_s: f64,
    },
    /// All is done.
    Finished,
}

/// How an alternative stands against the baseline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoFar {
    /// Its index.
    pub alternative: usize,
    /// Its time over the baseline's, if there is a round.
    pub ratio: Option<f64>,
    /// The verdict if it were over now.
    pub verdict: Verdict,
}
