//! How results are to be shown: unit of time, order, style, files. Words of the command line that renderers read.

use clap::ValueEnum;
use clap::builder::PossibleValue;
use whyfaster_core::trace::table::{Order, Together};

/// The unit in which times are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// Millionths of a second.
    Microsecond,
    /// Thousandths of a second.
    Millisecond,
    /// Seconds.
    Second,
    /// Minutes.
    Minute,
    /// Hours.
    Hour,
}

impl ValueEnum for TimeUnit {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Microsecond, Self::Millisecond, Self::Second, Self::Minute, Self::Hour]
    }

    // The short and plural forms are those of hyperfine 1.21.
    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self {
            Self::Microsecond => PossibleValue::new("microsecond").aliases(["microseconds", "us", "µs"]),
            Self::Millisecond => PossibleValue::new("millisecond").aliases(["milliseconds", "ms"]),
            Self::Second => PossibleValue::new("second").aliases(["seconds", "s"]),
            Self::Minute => PossibleValue::new("minute").aliases(["minutes", "min"]),
            Self::Hour => PossibleValue::new("hour").aliases(["hours", "h"]),
        })
    }
}

/// The order in which alternatives are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Sort {
    /// On the screen by time at a single level, and in the order of the command line when there are several, so that rows
    /// keep their place; in exported tables in the order of the command line.
    #[default]
    Auto,
    /// In the order of the command line.
    Command,
    /// By mean time.
    MeanTime,
}

/// Colour and movement on the screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Style {
    /// What the terminal can do.
    #[default]
    Auto,
    /// Neither colour nor movement.
    Basic,
    /// Both, terminal or not.
    Full,
    /// Movement without colour.
    #[value(name = "nocolor")]
    NoColor,
    /// Colour without movement.
    Color,
    /// Nothing at all; exports and the exit status are the only result.
    None,
}

/// How much is printed: each level has what the ones before it have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Detail {
    /// The answer in one sentence (`-q`).
    Sentence,
    /// What fits one screen: the answer, whether it can be trusted, why, and what to do.
    #[default]
    Screen,
    /// The tables behind it (`-v`).
    Tables,
    /// Every row of them (`-vv`).
    Everything,
}

impl Detail {
    /// How many of a list are shown where so many are usual.
    pub fn most(self, usual: usize) -> usize {
        if self == Self::Everything { usize::MAX } else { usual }
    }
}

/// Whose system calls make one row of the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum By {
    /// Those of one command.
    #[default]
    Command,
    /// Those of one process.
    Process,
    /// Those of the whole tree.
    None,
}

impl From<By> for Together {
    fn from(by: By) -> Self {
        match by {
            By::Command => Self::Command,
            By::Process => Self::Process,
            By::None => Self::All,
        }
    }
}

/// What comes first in the table of system calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum CallSort {
    /// The most time.
    #[default]
    Time,
    /// The most calls.
    Calls,
    /// The most errors.
    Errors,
    /// By the name of the call.
    Name,
}

impl From<CallSort> for Order {
    fn from(sort: CallSort) -> Self {
        match sort {
            CallSort::Time => Self::Time,
            CallSort::Calls => Self::Calls,
            CallSort::Errors => Self::Errors,
            CallSort::Name => Self::Name,
        }
    }
}

/// Which hyperfine is meant where its versions differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Hyperfine {
    /// hyperfine 1.
    #[default]
    #[value(name = "hyperfine1")]
    One,
    /// hyperfine 2.
    #[value(name = "hyperfine2")]
    Two,
}

/// An option that names a file to be written. Who writes it describes the option, and the command line is made of that.
#[derive(Debug, PartialEq, Eq)]
pub struct FileOption {
    /// Its name, without dashes.
    pub name: &'static str,
    /// What it does, in a line.
    pub help: &'static str,
    /// What `--help-all` and the manual add.
    pub more: &'static str,
    /// Whether `--help` has it.
    pub short: bool,
}

impl FileOption {
    /// An option that only `--help-all` has, with nothing to add.
    pub const fn new(name: &'static str, help: &'static str) -> Self {
        Self { name, help, more: "", short: false }
    }

    /// The same in `--help`.
    pub const fn short(self) -> Self {
        Self { short: true, ..self }
    }
}

/// What is asked for by an option that names a file: one of all that there are of its kind.
pub trait Registered: std::fmt::Debug + Send + Sync + 'static {
    /// All of them.
    fn all() -> &'static [&'static Self];

    /// The option that asks for this one.
    fn option(&self) -> &FileOption;
}

/// Rows of a table unless told otherwise.
pub const TOP: usize = 20;
