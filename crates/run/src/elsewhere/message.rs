//! What both sides say to each other once the program is there: one line of JSON a message.

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// A message is never longer than this, so that what is none cannot fill the memory.
pub(super) const LONGEST: usize = 1 << 20;

/// A record is never longer than this: the store and the reports read no larger one.
pub(super) const LARGEST: u64 = whyfaster_store::MAX_BYTES;

/// What to do over there. The files follow, one after the other.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Request {
    /// What the program's bytes must be.
    pub(super) digest: String,
    /// The verb and its words.
    pub(super) words: Vec<String>,
    pub(super) files: Vec<Sent>,
    /// After so long without a sign the other side counts as gone, on both sides.
    pub(super) silence_ms: u64,
}

/// A file that goes along.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Sent {
    /// Without a directory.
    pub(super) name: String,
    pub(super) bytes: u64,
    pub(super) executable: bool,
}

/// What comes from there.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(super) enum Message {
    /// The program runs and waits for the request.
    Ready,
    /// All is there and as it was sent; the verb begins.
    Begun,
    /// It is not what was sent.
    Damaged,
    /// Another run measures there, of this user if that is known.
    Busy { uid: Option<u32> },
    /// There is no room for it.
    NoRoom { why: String },
    /// It lives.
    Alive,
    /// The verb said a line on its standard error.
    Said { line: String },
    /// The verb has ended. So many bytes of its record follow.
    Ended { status: i32, bytes: u64 },
}

/// How often either side gives a sign: so rarely that nobody measures it.
pub(super) fn beat(silence_ms: u64) -> u64 {
    (silence_ms / 4).max(1)
}

/// The content hash of a program.
pub(super) fn digest(bytes: &[u8]) -> String {
    data_encoding::HEXLOWER.encode(&Sha256::digest(bytes))
}
