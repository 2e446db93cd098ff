//! What may go wrong while observing, and before.

use std::path::Path;
use std::{fmt, io};

use crate::obstacles::{Unsupported, missing};

/// Observing failed.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The process to follow is gone or may not be followed.
    #[error("cannot follow process {pid}: {why}")]
    Follow {
        /// Which.
        pid: i32,
        /// Why.
        why: String,
    },
    /// The cgroup to follow cannot be read.
    #[error("cannot follow the cgroup {path}: {why}")]
    Cgroup {
        /// Which.
        path: String,
        /// Why.
        why: String,
    },
    /// The kernel refused to hand out what was collected.
    #[error("cannot read the {what} of the trace: {why}")]
    Read {
        /// What was to be read.
        what: &'static str,
        /// Why not.
        why: String,
    },
    /// The own cost could not be measured.
    #[error("cannot calibrate: {0}")]
    Calibrate(String),
}

impl TraceError {
    /// This cgroup cannot be followed.
    pub(crate) fn cgroup(path: &Path, why: &dyn fmt::Display) -> Self {
        Self::Cgroup { path: path.display().to_string(), why: why.to_string() }
    }
}

/// The kernel refused a step without which there is no observing.
pub(super) fn refused(step: &str, e: &dyn fmt::Display) -> Unsupported {
    without(step, e, "trace at a lower level, and report this with the kernel's version")
}

/// Events on every CPU were refused.
pub(super) fn opening(step: &str, e: &io::Error) -> Unsupported {
    match (e.raw_os_error(), e.kind()) {
        (Some(libc::EMFILE), _) => without(
            step,
            e,
            "each CPU takes two descriptors: a larger limit on open files (ulimit -n) gives them",
        ),
        // The kernel's own error has a number.
        (None, io::ErrorKind::PermissionDenied) => without(step, e, "a larger one of the two gives it"),
        _ => refused(step, e),
    }
}

fn without(step: &str, e: &dyn fmt::Display, remedy: &str) -> Unsupported {
    Unsupported { missing: vec![missing(step, e.to_string(), remedy)] }
}
