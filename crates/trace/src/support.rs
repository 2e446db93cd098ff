//! Whether this kernel and these privileges allow the full level, and if not, what is missing and what would give it.

use std::fmt;

/// Something that the full level needs and that is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// What.
    pub what: String,
    /// Why it is needed, or how its lack was seen.
    pub why: String,
    /// What would give it.
    pub remedy: String,
}

/// What the full level finds here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Support {
    /// What it cannot do without; empty: the full level is there.
    pub missing: Vec<Missing>,
    /// What it does without, each with what is then not seen.
    pub reduced: Vec<Missing>,
}

/// The full level is not to be had here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// Everything that is missing; never empty.
    pub missing: Vec<Missing>,
}

impl Support {
    /// Whether the full level is there.
    pub fn full(&self) -> bool {
        self.missing.is_empty()
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}; {}", self.what, self.why, self.remedy)
    }
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, missing) in self.missing.iter().enumerate() {
            write!(f, "{}{missing}", if i == 0 { "" } else { "; " })?;
        }
        Ok(())
    }
}

impl std::error::Error for Unsupported {}

/// What the full level finds here.
pub fn support() -> Support {
    Support::default()
}
