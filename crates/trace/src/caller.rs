//! Who calls: what this process may do, and what the full level may show to it.

use std::fs;

use rustix::process::{getgid, getuid};

/// Number of the capability that lets a process look into those of others (include/uapi/linux/capability.h).
const SYS_PTRACE: u32 = 19;

// Numbers of further capabilities.
pub(crate) const SYS_ADMIN: u32 = 21;
pub(crate) const PERFMON: u32 = 38;
pub(crate) const BPF: u32 = 39;

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

/// What the kernel says of this process under a word with a colon.
pub(crate) fn status(word: &str) -> Option<String> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    status.lines().find_map(|line| line.strip_prefix(word)).map(|rest| rest.trim().to_owned())
}
