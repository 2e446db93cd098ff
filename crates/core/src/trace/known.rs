//! Tasks by their number: those of the tree, and whoever else matters because it held a CPU or woke a task.
//!
//! Numbers are used again. A task of the tree leaves with its end, another with its last switch.

use rustc_hash::FxHashMap;

use super::event::{TaskKind, Tid};
use super::labels::Label;
use super::report::SharerKind;
use super::task::Task;

/// Others that are kept at a time. There cannot be more tasks on a machine whose `pid_max` is the usual 4 million, but
/// those that end unseen must not add up.
const MOST: usize = 1 << 18;

/// A task that does not belong to the tree.
#[derive(Clone, Copy, Debug)]
pub(super) struct Other {
    pub(super) kind: TaskKind,
    pub(super) label: Label,
    /// What a kernel worker executes, or executed last.
    pub(super) work: Option<Label>,
}

/// All tasks of which something is known.
#[derive(Debug, Default)]
pub(super) struct Known {
    pub(super) tree: FxHashMap<Tid, Task>,
    pub(super) others: FxHashMap<Tid, Other>,
}

impl Known {
    /// What kind of task it is and under which name it is shown.
    pub(super) fn who(&self, task: Tid) -> Option<(SharerKind, Label)> {
        if let Some(task) = self.tree.get(&task) {
            return Some((SharerKind::Tree, task.label));
        }
        let other = self.others.get(&task)?;
        Some((kind(other.kind), other.work.unwrap_or(other.label)))
    }

    pub(super) fn name(&mut self, task: Tid, other: Other) {
        if self.others.len() >= MOST {
            self.others.clear();
        }
        self.others.insert(task, other);
    }
}

fn kind(kind: TaskKind) -> SharerKind {
    match kind {
        TaskKind::Tree => SharerKind::Tree,
        TaskKind::Tool => SharerKind::Tool,
        TaskKind::Kernel => SharerKind::Kernel,
        TaskKind::Other => SharerKind::Other,
    }
}
