//! How results are to be shown: unit of time, order, style, format. Words of the command line that renderers read.

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

/// A format of hyperfine's exports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// AsciiDoc table.
    Asciidoc,
    /// Comma-separated values.
    Csv,
    /// JSON with every single time.
    Json,
    /// Markdown table.
    Markdown,
    /// Emacs Org table.
    Orgmode,
}

/// Rows of a table unless told otherwise.
pub const TOP: usize = 20;
