//! What became of a machine that was asked to measure.

use serde::{Deserialize, Serialize};

/// Why a machine gave no record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Trouble {
    /// What leads to the machine did not lead there.
    Unreachable {
        /// Its last lines.
        said: Vec<String>,
        /// With what it ended.
        status: Option<i32>,
    },
    /// The engine that gives it out does not.
    Down {
        /// What it is, in the engine's word.
        state: String,
        /// Why, as somebody wrote down.
        reason: String,
    },
    /// Nothing came from there for so long.
    Silent {
        /// Seconds.
        seconds: f64,
        /// Whether it had begun to measure.
        measuring: bool,
    },
    /// It was not done within the time that one machine may take.
    TooLong {
        /// Seconds.
        seconds: f64,
    },
    /// Another name of a machine that measures or has measured.
    SameMachine {
        /// The name by which it is measured.
        name: String,
    },
    /// Another run measures on it.
    Busy {
        /// The user whose run that is, if it is known.
        #[serde(default)]
        uid: Option<u32>,
    },
    /// This program runs on Linux only.
    NotLinux {
        /// What it runs.
        system: String,
    },
    /// There is no program for its instruction set.
    NoProgram {
        /// The instruction set, as `uname -m` calls it.
        machine: String,
    },
    /// There is no room, or no directory to write to.
    NoRoom {
        /// What it said.
        said: Vec<String>,
    },
    /// The program that was copied there does not run.
    NotRun {
        /// What it said.
        said: Vec<String>,
    },
    /// What was copied there is not what was sent.
    Damaged,
    /// The verb ended with an error of its own.
    Verb {
        /// Its exit status.
        status: i32,
        /// Its last lines.
        said: Vec<String>,
    },
    /// The connection ended before the verb did.
    Cut {
        /// The last lines.
        said: Vec<String>,
    },
    /// The answer is no record, or one of something else.
    NoRecord {
        /// What is wrong with it.
        why: String,
    },
    /// A file that was to go along could not be read here.
    NotSent {
        /// What was wrong.
        why: String,
    },
    /// The record could not be written here.
    NotKept {
        /// What was wrong.
        why: String,
    },
    /// The user ended it all.
    Interrupted,
}

/// How many machines are where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Their records are home.
    pub done: usize,
    /// They measure.
    pub running: usize,
    /// They gave no record.
    pub failed: usize,
    /// Their turn has not come.
    pub waiting: usize,
}
