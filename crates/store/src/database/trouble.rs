//! What can go wrong between this program and a database, and what to say of it.

use whyfaster_words::exit::{Exit, Failure};

use super::address::Address;

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Trouble {
    /// There is none, and none is to be made.
    Absent,
    /// A newer version made it.
    Newer { found: i64, known: i64 },
    /// It holds something else.
    Foreign,
    /// Others wrote for so long that this writer gave up.
    Busy,
    /// The disk is full.
    Full,
    /// It may not be written to.
    ReadOnly,
    /// Anything else, in the words of the database.
    Other(String),
}

impl Trouble {
    pub(super) fn told(&self, address: &Address) -> Failure {
        let (what, hint) = match self {
            Self::Absent => (
                format!("there is no store at {address}"),
                "make it: whyfaster store add RECORD, or measure with --save",
            ),
            Self::Newer { found, known } => (
                format!(
                    "a newer whyfaster made the store {address}: its tables are of version {found}, and this one knows {known}"
                ),
                "update whyfaster to use it",
            ),
            Self::Foreign => (
                format!("{address} is no store of whyfaster"),
                "name another file; nothing in this one was changed",
            ),
            Self::Busy => (
                format!("others wrote to the store {address} for a minute on end"),
                "try again; what was added before is in the store, and no record is ever counted twice",
            ),
            Self::Full => (
                format!("the disk of the store {address} is full"),
                "free some space and run the same again: what was added before is in the store, and no record is ever counted twice",
            ),
            Self::ReadOnly => (
                format!("the store {address} cannot be written to"),
                "ask its owner, or name another: --store FILE",
            ),
            Self::Other(why) => (
                format!("the store {address} cannot be used: {why}"),
                "check the file, or name another: --store FILE",
            ),
        };
        Failure::new(Exit::Error, what, hint)
    }
}
