//! What a task of the tree hands to a kernel worker that brings it to another one: what is written to a terminal.
//!
//! A write to a terminal queues the text and wakes a worker, which executes `flush_to_ldisc` and wakes the reader
//! (drivers/tty/tty_buffer.c). So the reader waited for the writer, whatever that one does by then: the path of the writer is
//! kept as it was when it woke the worker. Where the worker was busy already nobody woke it, and the writer is not known.
//! A message lasts until it is brought: whoever wakes the worker again wakes it for something else, and where records were
//! lost that may have happened.

use super::super::event::{Context, TaskKind, Tid};
use super::super::labels::Label;
use super::super::report::{Cause, PathKind};
use super::super::timeline::Timeline;
use super::parts::Key;
use super::{Message, Path};

/// The function that brings what was written to a terminal to who reads from it.
const TERMINAL: &str = "flush_to_ldisc";

/// Messages that are kept at a time: more than there are workers.
const MOST: usize = 1 << 14;

impl Timeline {
    /// A task was woken: perhaps a worker, for what a task of the tree hands to it, and perhaps by one that brings it.
    pub(in super::super) fn path_handed(&mut self, wakee: Tid, by: Tid, context: &Context, now: u64) {
        self.path_withdraw(wakee);
        // A worker that has not run yet has not been named: so much is seen of it only then.
        let worker_perhaps = self.known.others.get(&wakee).is_none_or(|it| it.kind == TaskKind::Kernel)
            && !self.known.tree.contains_key(&wakee);
        if !worker_perhaps {
            // What the worker echoes is brought by another one, which it wakes before the reader.
            if let Some(message) = self.path.messages.get_mut(&by).filter(|_| flushes(context)) {
                message.brought = true;
            }
            return;
        }
        if *context != Context::Task || self.stopped || self.path.messages.len() >= MOST {
            return;
        }
        let Some(label) = self.known.tree.get(&by).map(|task| task.label) else { return };
        let Some(shared) = self.path_shared(by, now) else { return };
        let (leaf, turn) = (self.path.nodes.leaf(shared), self.turn_of(by));
        self.path.nodes.rest(leaf);
        self.path.messages.insert(wakee, Message { by, label, leaf, turn, at: now, brought: false });
    }

    /// A worker begins to execute a function. `None`: it turns out to be no worker.
    pub(in super::super) fn path_works(&mut self, worker: Tid, function: Option<&str>) {
        let lasts = function == Some(TERMINAL)
            && self.path.messages.get(&worker).is_some_and(|message| !message.brought);
        if !lasts {
            self.path_withdraw(worker);
        }
    }

    /// Records were lost: what was written may have been brought meanwhile.
    pub(in super::super) fn path_messages_lost(&mut self) {
        for (_, message) in self.path.messages.drain() {
            self.path.nodes.release(message.leaf);
        }
    }

    /// What this worker was woken for is over.
    fn path_withdraw(&mut self, worker: Tid) {
        if let Some(message) = self.path.messages.remove(&worker) {
            self.path.nodes.release(message.leaf);
        }
    }

    /// For whom a worker has woken a task that waited for a terminal.
    pub(in super::super) fn path_sender(
        &self,
        tid: Tid,
        worker: Tid,
        cause: Cause,
        context: &Context,
    ) -> Option<Label> {
        self.path.message(tid, worker, (cause, context)).map(|message| message.label)
    }

    /// The path of a task that waited for a terminal goes on with that of who wrote to it. False where that is not known.
    pub(super) fn path_brought(&mut self, tid: Tid, worker: Tid, wake: (Cause, &Context), now: u64) -> bool {
        let Some(message) = self.path.message(tid, worker, wake) else { return false };
        // What its writer left of the path may be the message's own by now. It stays, for who else is woken with it.
        let (shared, leaf) = self.path.nodes.fork(message.leaf);
        self.path.messages.insert(worker, Message { leaf, ..message });
        if let Some(task) = self.known.tree.get_mut(&tid) {
            let key = Key::Blocked { by: task.label, kind: PathKind::Terminal, what: None };
            let key = self.path.keys.of(key);
            self.path.go_on_with(&mut task.walk, shared);
            self.path.comes_to(tid, &mut task.walk, message.at, message.turn);
            self.path.nodes.add(task.walk.head, key, now - message.at, 1);
        }
        true
    }
}

impl Path {
    /// What a worker brings that has woken this task: nothing that the task wrote itself, an echo perhaps.
    fn message(&self, tid: Tid, worker: Tid, (cause, context): (Cause, &Context)) -> Option<Message> {
        let brings = cause == Cause::Terminal && flushes(context);
        self.messages.get(&worker).filter(|message| brings && message.by != tid).copied()
    }
}

fn flushes(context: &Context) -> bool {
    matches!(context, Context::Work(function) if function == TERMINAL)
}
