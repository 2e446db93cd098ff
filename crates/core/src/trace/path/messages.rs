//! What a task of the tree hands to a kernel worker that brings it to another one: what is written to a terminal.
//!
//! A write to a terminal queues the text and wakes a worker, which executes `flush_to_ldisc` and wakes the reader
//! (drivers/tty/tty_buffer.c). So the reader waited for the writer, whatever that one does by then: the path of the writer is
//! kept as it was when it woke the worker. Where the worker was busy already nobody woke it, and the writer is not known.

use super::super::event::{Context, TaskKind, Tid};
use super::super::labels::Label;
use super::super::report::{Cause, PathKind};
use super::super::timeline::Timeline;
use super::Id;
use super::parts::Key;

/// The function that brings what was written to a terminal to who reads from it.
const TERMINAL: &str = "flush_to_ldisc";

/// Messages that are kept at a time: more than there are workers.
const MOST: usize = 1 << 14;

/// What a worker was woken for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message {
    by: Tid,
    label: Label,
    /// The path of who woke it, up to when.
    leaf: Id,
    at: u64,
}

impl Timeline {
    /// A task that is not of the tree was woken: perhaps a worker, for what a task of the tree hands to it.
    pub(in super::super) fn path_handed(&mut self, worker: Tid, by: Tid, context: &Context, now: u64) {
        // A worker that has not run yet has not been named: so much is seen of it only then.
        let worker_perhaps =
            self.known.others.get(&worker).is_none_or(|other| other.kind == TaskKind::Kernel)
                && !self.known.tree.contains_key(&worker)
                && self.path.messages.len() < MOST;
        if !worker_perhaps || *context != Context::Task || self.stopped {
            return;
        }
        let Some(label) = self.known.tree.get(&by).map(|task| task.label) else { return };
        let Some(shared) = self.path_shared(by, now) else { return };
        let leaf = self.path.nodes.leaf(shared);
        if let Some(former) = self.path.messages.insert(worker, Message { by, label, leaf, at: now }) {
            self.path.nodes.release(former.leaf);
        }
    }

    /// A worker begins to execute a function. `None`: it turns out to be no worker.
    pub(in super::super) fn path_works(&mut self, worker: Tid, function: Option<&str>) {
        if function != Some(TERMINAL)
            && let Some(message) = self.path.messages.remove(&worker)
        {
            self.path.nodes.release(message.leaf);
        }
    }

    /// For whom a worker has woken a task that waited for a terminal.
    pub(in super::super) fn path_sender(
        &self,
        worker: Tid,
        cause: Cause,
        context: &Context,
    ) -> Option<Label> {
        brings(cause, context).then(|| self.path.messages.get(&worker).map(|message| message.label))?
    }

    /// The path of a task that waited for a terminal goes on with that of who wrote to it. False where that is not known.
    pub(super) fn path_brought(
        &mut self,
        tid: Tid,
        worker: Tid,
        (cause, context): (Cause, &Context),
        now: u64,
    ) -> bool {
        let known =
            self.path.messages.get(&worker).filter(|message| brings(cause, context) && message.by != tid);
        let Some(Message { leaf, at, .. }) = known.copied() else { return false };
        self.path.messages.remove(&worker);
        if let Some(task) = self.known.tree.get_mut(&tid) {
            let key = Key::Blocked { by: task.label, kind: PathKind::Terminal, what: None };
            let key = self.path.keys.of(key);
            let before = self.path.nodes.before(leaf);
            self.path.go_on_with(&mut task.walk, before);
            self.path.nodes.add(task.walk.head, key, now - at, 1);
        }
        self.path.nodes.release(leaf);
        true
    }
}

fn brings(cause: Cause, context: &Context) -> bool {
    cause == Cause::Terminal && matches!(context, Context::Work(function) if function == TERMINAL)
}
