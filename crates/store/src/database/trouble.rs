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
    /// The file that is held has lost its name.
    Moved,
    /// Others wrote for so long that this writer gave up.
    Busy,
    /// The server undid the transaction, in its words; it may succeed when it is done again.
    Undone(String),
    /// The disk is full.
    Full,
    /// What was to be done is not allowed, in the words of the database.
    Forbidden(String),
    /// There is no connection to the server.
    Unconnected(Unconnected),
    /// Anything else, in the words of the database.
    Other(String),
}

/// Why there is no connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unconnected {
    /// The server does not answer.
    Unreachable(String),
    /// The server does not let this user in.
    Refused(String),
    /// There is no safe way to the server.
    Unproven(String),
    /// There was one, and it broke.
    Cut(String),
}

impl From<Unconnected> for Trouble {
    fn from(why: Unconnected) -> Self {
        Self::Unconnected(why)
    }
}

/// What holds after every error while records are added.
const NOTHING_TWICE: &str = "what was added before is in the store, and no record is ever counted twice";

impl Trouble {
    pub(super) fn told(&self, address: &Address) -> Failure {
        let server = matches!(address, Address::Server(_));
        let (what, hint): (String, String) = match self {
            Self::Unconnected(why) => why.told(address),
            Self::Absent => (
                format!("there is no store at {address}"),
                "make it: whyfaster store add RECORD, or measure with --save".into(),
            ),
            Self::Newer { found, known } => (
                format!(
                    "a newer whyfaster made the store {address}: its tables are of version {found}, and this one knows {known}"
                ),
                "update whyfaster to use it".into(),
            ),
            Self::Foreign if server => (
                format!("{address} is no store of whyfaster: it holds tables of others"),
                "name a database of its own, or a schema of its own: ?options=-csearch_path%3DSCHEMA; nothing in this one was changed".into(),
            ),
            Self::Foreign => (
                format!("{address} is no store of whyfaster"),
                "name another file; nothing in this one was changed".into(),
            ),
            Self::Moved => (
                format!("the store {address} was moved, replaced or removed while it was held"),
                format!("put it back, and try again; {NOTHING_TWICE}"),
            ),
            Self::Busy => (
                format!("others wrote to the store {address} for a minute on end"),
                format!("try again; {NOTHING_TWICE}"),
            ),
            Self::Undone(why) => (
                format!("the store {address} did not add it, because others wrote at the same time: {why}"),
                format!("try again; {NOTHING_TWICE}"),
            ),
            Self::Full => (
                format!("the disk of the store {address} is full"),
                format!("free some space and run the same again: {NOTHING_TWICE}"),
            ),
            Self::Forbidden(why) if server => (
                format!("the store {address} does not allow it: {why}"),
                "ask its owner for the rights that the page 'store' of the book names".into(),
            ),
            Self::Forbidden(why) => (
                format!("the store {address} does not allow it: {why}"),
                "ask its owner, use a copy of the file, or name another: --store FILE".into(),
            ),
            Self::Other(why) if server => (
                format!("the store {address} cannot be used: {why}"),
                "the log of the server says more".into(),
            ),
            Self::Other(why) => (
                format!("the store {address} cannot be used: {why}"),
                "check the file, or name another: --store FILE".into(),
            ),
        };
        Failure::new(Exit::Error, what, hint)
    }
}

impl Unconnected {
    /// What to say of it, and what to do.
    fn told(&self, address: &Address) -> (String, String) {
        match self {
            Self::Unreachable(why) => (
                format!("the server of the store {address} cannot be reached: {why}"),
                format!("check host and port, and that the server runs; {NOTHING_TWICE}"),
            ),
            Self::Refused(why) => (
                format!("the server of the store {address} refuses the connection: {why}"),
                "check user and database; give the password in ~/.pgpass or the file of PGPASSFILE (mode 0600), or by PGPASSWORD".into(),
            ),
            Self::Unproven(why) => (
                format!("there is no safe connection to the store {address}: {why}"),
                "name the certificate that signs the server's with sslrootcert=FILE, and the host as it stands in there; sslmode says how much is asked for".into(),
            ),
            Self::Cut(why) => (
                format!("the connection to the store {address} broke: {why}"),
                format!("run the same again: {NOTHING_TWICE}"),
            ),
        }
    }
}
