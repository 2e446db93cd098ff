//! Who calls: what the full level may show, and to whom.

use rustix::process::{getgid, getuid};

use crate::support::status;

/// Number of the capability that lets a process look into those of others (include/uapi/linux/capability.h).
const SYS_PTRACE: u32 = 19;

/// The user of this process, and what it may do beside what its user may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Caller {
    /// It observes what ptrace would let it look into and nothing else: it does not have CAP_SYS_PTRACE.
    pub(crate) restricted: bool,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    /// Capabilities that it does not have, one bit each.
    pub(crate) lacks: u64,
}

impl Caller {
    /// This process. Where `/proc` does not tell its capabilities it has none.
    pub(crate) fn here() -> Self {
        Self {
            restricted: capabilities("CapEff:").unwrap_or(0) & (1 << SYS_PTRACE) == 0,
            uid: getuid().as_raw(),
            gid: getgid().as_raw(),
            lacks: !capabilities("CapPrm:").unwrap_or(0),
        }
    }
}

/// A set of capabilities of this process, by its name in `/proc/PID/status`.
pub(crate) fn capabilities(which: &str) -> Option<u64> {
    u64::from_str_radix(&status(which)?, 16).ok()
}
