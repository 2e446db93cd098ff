//! Tasks of the tree that are gone, as rows of the report: all, or those with the longest lives.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::event::{Pid, Tid};
use super::labels::{Label, Labels};
use super::ledger::seconds;
use super::report::TaskRow;
use super::task::Times;

/// Tasks that are kept for the report.
pub(super) const MOST_TASKS: usize = 10_000;

/// One task that is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Gone {
    pub(super) label: Label,
    pub(super) process: Pid,
    pub(super) tid: Tid,
    pub(super) from: u64,
    pub(super) to: u64,
    pub(super) times: Times,
    pub(super) kernel: Option<u64>,
    /// Waiting and being blocked could be told apart.
    pub(super) told: bool,
}

#[derive(Debug, PartialEq, Eq)]
struct Kept(Gone);

impl Ord for Kept {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let key = |gone: &Gone| (gone.to - gone.from, Reverse((gone.from, gone.tid)));
        key(&self.0).cmp(&key(&other.0))
    }
}

impl PartialOrd for Kept {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// All tasks that are gone.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    kept: BinaryHeap<Reverse<Kept>>,
    pub(super) total: u64,
    /// Tasks whose times are not known: they were still there, and nobody said what they had used.
    pub(super) timeless: u64,
}

impl Tasks {
    pub(super) fn add(&mut self, gone: Gone) {
        self.total += 1;
        self.kept.push(Reverse(Kept(gone)));
        if self.kept.len() > MOST_TASKS {
            self.kept.pop();
        }
    }

    /// The tasks in the order in which they began; times count from `began`.
    pub(super) fn rows(&self, labels: &Labels, began: u64) -> Vec<TaskRow> {
        let mut kept: Vec<&Gone> = self.kept.iter().map(|Reverse(Kept(gone))| gone).collect();
        kept.sort_by_key(|gone| (gone.from, gone.tid));
        kept.into_iter().map(|gone| gone.row(labels, began)).collect()
    }
}

impl Gone {
    fn row(&self, labels: &Labels, began: u64) -> TaskRow {
        let kernel = self.kernel.map(|kernel| kernel.min(self.times.run));
        TaskRow {
            command: labels.command(self.label).clone(),
            pid: self.process,
            tid: self.tid,
            from_s: seconds(self.from.saturating_sub(began)),
            to_s: seconds(self.to.saturating_sub(began)),
            running_user_s: kernel.map(|kernel| seconds(self.times.run - kernel)),
            running_kernel_s: kernel.map(seconds),
            running_s: seconds(self.times.run),
            runnable_s: self.told.then(|| seconds(self.times.wait)),
            blocked_s: self.told.then(|| seconds(self.times.blocked)),
            unknown_s: seconds(self.times.unknown),
        }
    }
}
