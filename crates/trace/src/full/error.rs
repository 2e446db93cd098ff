//! What may go wrong while observing, and before.

use std::fmt;
use std::path::Path;

use crate::obstacles::{Missing, Unsupported};

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
    let remedy = "trace at a lower level, and report this with the kernel's version".to_owned();
    let missing = Missing { what: step.to_owned(), why: e.to_string(), remedy, command: None };
    Unsupported { missing: vec![missing] }
}
