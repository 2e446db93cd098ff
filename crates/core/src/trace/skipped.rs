//! Tasks that were to be followed, and that the caller may not observe: how many, and why.

use std::collections::{BTreeMap, BTreeSet};

use super::event::{NotOurs, Pid, Skipped};
use super::report::SkippedRow;

/// Processes by their command and why they were skipped.
#[derive(Debug, Default)]
pub(super) struct AllSkipped(BTreeMap<(String, NotOurs), BTreeSet<Pid>>);

impl AllSkipped {
    pub(super) fn add(&mut self, it: &Skipped) {
        self.0.entry((it.name.clone(), it.why)).or_default().insert(it.process);
    }

    pub(super) fn rows(&self) -> Vec<SkippedRow> {
        let row = |((command, why), processes): (&(String, NotOurs), &BTreeSet<Pid>)| SkippedRow {
            command: command.clone(),
            why: *why,
            processes: processes.len() as u64,
        };
        self.0.iter().map(row).collect()
    }
}
