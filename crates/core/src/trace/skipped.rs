//! Tasks that were to be followed, and that the caller may not observe: how many, and why.

use std::collections::{BTreeMap, BTreeSet};

use super::analysis::Analysis;
use super::event::{NotOurs, Pid, Skipped};
use super::report::SkippedRow;
use super::task::State;

/// Processes by their command and why they were skipped.
#[derive(Debug, Default)]
pub(super) struct AllSkipped(BTreeMap<(String, NotOurs), BTreeSet<Pid>>);

impl AllSkipped {
    pub(super) fn rows(&self) -> Vec<SkippedRow> {
        let row = |((command, why), processes): (&(String, NotOurs), &BTreeSet<Pid>)| SkippedRow {
            command: command.clone(),
            why: *why,
            processes: processes.len() as u64,
        };
        self.0.iter().map(row).collect()
    }
}

impl Analysis {
    /// A task is not to be observed from here on. What was seen of it before stays.
    pub(super) fn skip(&mut self, it: &Skipped, now: u64) {
        self.skipped.0.entry((it.name.clone(), it.why)).or_default().insert(it.process);
        if let Some(totals) = it.totals.as_ref().filter(|_| self.line.known.tree.contains_key(&it.task)) {
            // It goes on, but not in this tree.
            self.line.turn(it.task, now, State::Dead);
            self.end(it.task, true, Some(totals), now);
        }
    }
}
