//! How results are to be shown: unit of time, order, style. Words of the command line that renderers read.

use clap::ValueEnum;
use clap::builder::PossibleValue;

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

impl TimeUnit {
    /// The unit in which this many seconds read well: hyperfine's rule.
    pub fn fitting(seconds: f64) -> Self {
        if seconds < 1e-3 {
            Self::Microsecond
        } else if seconds < 1.0 {
            Self::Millisecond
        } else {
            Self::Second
        }
    }

    /// Its abbreviation.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Microsecond => "µs",
            Self::Millisecond => "ms",
            Self::Second => "s",
            Self::Minute => "min",
            Self::Hour => "h",
        }
    }

    /// How many of it make a second.
    pub fn per_second(self) -> f64 {
        match self {
            Self::Microsecond => 1e6,
            Self::Millisecond => 1e3,
            Self::Second => 1.0,
            Self::Minute => 1.0 / 60.0,
            Self::Hour => 1.0 / 3600.0,
        }
    }
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
    /// By time on the screen, in the order of the command line in exported tables.
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
