//! What every document that is read must hold to: why one is refused, and the bounds of its numbers.
//!
//! A document may come from anywhere. The parser has checked its form; its numbers are checked where its type stands.

use std::fmt;

use thiserror::Error;

/// No time in a record is longer, in seconds: some thirty thousand years. Sums of such numbers stay exact enough.
const MAX_SECONDS: f64 = 1e12;

/// No count in a record is larger: the largest number up to which a double holds every integer (2^53).
pub(crate) const MAX_COUNT: u64 = 1 << 53;

/// Why a document cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Invalid {
    /// It follows another version of the schema.
    #[error("its schema is '{found}', and this version of whyfaster reads '{reads}'")]
    Schema {
        /// What it says.
        found: String,
        /// What is read here.
        reads: &'static str,
    },
    /// A value makes no sense.
    #[error("{place}: {why}")]
    Value {
        /// Where, in the words of the document.
        place: String,
        /// What is wrong there.
        why: String,
    },
}

impl Invalid {
    /// Another schema than the one that is read. A hostile text is not repeated at length.
    pub fn schema(found: &str, reads: &'static str) -> Self {
        Self::Schema { found: found.chars().take(80).collect(), reads }
    }

    /// Whether the document says of itself that a later version wrote it.
    pub fn is_newer(&self) -> bool {
        let Self::Schema { found, reads } = self else { return false };
        let kind = |schema: &str| schema.split_once('/').map(|(kind, _)| kind.to_owned());
        let number = |schema: &str| schema.split_once('/').and_then(|(_, n)| n.parse::<u64>().ok());
        kind(found) == kind(reads) && number(found) > number(reads) && number(found).is_some()
    }
}

pub(crate) fn ensure(
    holds: bool,
    place: impl FnOnce() -> String,
    why: impl fmt::Display,
) -> Result<(), Invalid> {
    // The text is made only for what does not hold: a price list has hundreds of values that do.
    if holds { Ok(()) } else { Err(Invalid::Value { place: place(), why: why.to_string() }) }
}

/// A time or another amount: finite, at least 0, not absurd.
pub(crate) fn amount(value: f64, place: impl FnOnce() -> String) -> Result<(), Invalid> {
    ensure((0.0..=MAX_SECONDS).contains(&value), place, format_args!("{value} is no amount"))
}

/// A place in time or a difference of two counters of the kernel, which may step back by a tick.
pub(crate) fn moment(value: f64, place: impl FnOnce() -> String) -> Result<(), Invalid> {
    amount(value.abs(), place)
}
