//! One line of `doctor`: what was found, what that means, and what to do about it.

use serde::{Deserialize, Serialize};
use whyfaster_core::host::HostFacts;

/// One line of `doctor`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// What it is about.
    pub name: String,
    /// What was found, in words.
    pub value: String,
    /// What that means for a measurement.
    pub mark: Mark,
    /// What to do about it; absent when all is well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

/// What a finding means for a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mark {
    /// Nothing to do.
    Ok,
    /// Worth knowing before believing a small difference, or not measured.
    Note,
    /// Numbers measured now would mislead.
    Problem,
}

impl Finding {
    /// All is well.
    pub fn ok(name: &str, value: impl Into<String>) -> Self {
        Self { name: name.to_owned(), value: value.into(), mark: Mark::Ok, remedy: None }
    }

    /// Something to do about it.
    pub fn with(mark: Mark, name: &str, value: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { name: name.to_owned(), value: value.into(), mark, remedy: Some(remedy.into()) }
    }

    /// Marks a value by how bad it is, with the remedy unless it is ok.
    pub(super) fn graded(mark: Mark, name: &str, value: impl Into<String>, remedy: &str) -> Self {
        match mark {
            Mark::Ok => Self::ok(name, value),
            _ => Self::with(mark, name, value, remedy),
        }
    }

    /// Not measured, for the reason that the facts give under `key`.
    pub(super) fn unknown(name: &str, facts: &HostFacts, key: &str, remedy: &str) -> Self {
        let missing = facts.missing.iter().find(|missing| missing.what == key);
        let value = match missing {
            Some(missing) => format!("not measured: {}", missing.why),
            None => "not measured".to_owned(),
        };
        Self::with(Mark::Note, name, value, remedy)
    }
}

/// From where a value is worth a note, and from where it is a problem.
pub(super) fn grade(value: f64, note: f64, problem: f64) -> Mark {
    match value {
        value if value >= problem => Mark::Problem,
        value if value >= note => Mark::Note,
        _ => Mark::Ok,
    }
}

/// What to do where a file of the kernel could not be read.
pub(super) const READ_IT: &str =
    "make it readable (mount /proc and /sys here, or ask who set up this container)";

/// A share as percent.
pub(super) fn percent(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}
