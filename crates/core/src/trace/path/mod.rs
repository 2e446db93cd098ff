//! The critical path: which chain of running and waiting took from the first exec to the end of the last task.
//!
//! It is followed forwards, as events come. Every task carries the path that ends at it now. While it runs or waits, the
//! time is added to its end. A task that is woken by another of the tree goes on with the waker's path, since without
//! that it would wait still; its own path until then is forgotten. A child begins with its parent's path. What a task
//! waits for by itself (a time, a device, somebody outside of the tree, a lock) stays on its path as a part of its own.
//! The path of the task that ends last is the critical one. The parts of every path sum to the time since the first
//! exec, for every moment of a task is added once, and paths are exchanged only between tasks at the same moment.
//!
//! Going forwards finds the same path as going backwards from the end (Yang and Miller, "Critical path analysis for the
//! execution of parallel and distributed programs", 1988) and needs no record of the trace: [`nodes`] holds the paths of
//! the tasks that live.

mod alternatives;
mod blocked;
mod calls;
mod faults;
mod hooks;
mod messages;
mod nodes;
mod parts;
mod rows;
mod walk;

use rustc_hash::FxHashMap;

use super::cpus::Holder;
use super::event::Tid;
use super::labels::Label;
use super::report::PathKind;
pub(super) use calls::tell_calls;
pub(crate) use faults::tell as tell_faults;
use nodes::{Id, NONE, Nodes};
use parts::Keys;
pub(super) use rows::Accounts;
pub(super) use walk::Walk;

/// All paths.
#[derive(Debug)]
pub(super) struct Path {
    nodes: Nodes,
    keys: Keys,
    /// By kernel worker.
    messages: FxHashMap<Tid, messages::Message>,
    /// Start-ups by command.
    pub(super) startups: FxHashMap<Label, Startup>,
    /// The path of the task that ended last: when, whether it ran then, and its end.
    last: Option<(u64, bool, Id)>,
    /// When paths begin.
    began: Option<u64>,
}

/// Programs of one command that started up.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Startup {
    pub(super) programs: u64,
    /// CPU time of them, and of that within system calls.
    pub(super) run: u64,
    pub(super) calls: u64,
    /// Time of this command that went into paths before it was known what it belongs to, and what then was start-up.
    early: u64,
    early_startup: u64,
}

impl Path {
    pub(super) fn new() -> Self {
        Self {
            nodes: Nodes::default(),
            keys: Keys::new(),
            messages: FxHashMap::default(),
            startups: FxHashMap::default(),
            last: None,
            began: None,
        }
    }

    /// A path of its own for a task that nobody of the tree made. `before`: what the time before it is.
    pub(super) fn begin(&mut self, walk: &mut Walk, label: Label, before: PathKind, now: u64) {
        let began = *self.began.get_or_insert(now);
        walk.begin(self.nodes.leaf(NONE), now);
        self.runs_as(walk, label);
        if now > began {
            let key = parts::Key::Blocked { by: label, kind: before, what: None };
            self.nodes.add(walk.head, self.keys.of(key), now - began, 1);
        }
    }

    /// The path up to now, for somebody else to go on with.
    pub(super) fn share(&mut self, walk: &mut Walk) -> Id {
        self.flush(walk);
        let (shared, head) = self.nodes.fork(walk.head);
        walk.head = head;
        shared
    }

    /// The path of a task becomes this one, and what it had of its own is gone.
    pub(super) fn go_on_with(&mut self, walk: &mut Walk, shared: Id) {
        walk.forget();
        self.nodes.jump(walk.head, shared);
    }

    /// The path of a task that is gone. It is kept if no other lasted longer.
    pub(super) fn end(&mut self, walk: &mut Walk, label: Label, at: u64, ran: bool) {
        self.decided(walk, label, 0);
        self.flush(walk);
        let leaf = std::mem::replace(&mut walk.head, NONE);
        if leaf == NONE {
            return;
        }
        let later = self.last.is_none_or(|(last, last_ran, _)| at > last || (at == last && ran && !last_ran));
        self.nodes.rest(leaf);
        let gone = if later { self.last.replace((at, ran, leaf)).map(|(.., leaf)| leaf) } else { Some(leaf) };
        if let Some(leaf) = gone {
            self.nodes.release(leaf);
        }
    }

    /// The last end was later than that of any path: the rest is not known.
    pub(super) fn extend(&mut self, to: u64) {
        let Some((at, _, leaf)) = self.last.as_mut().filter(|(at, ..)| *at < to) else { return };
        let ns = to - std::mem::replace(at, to);
        let key = parts::Key::Blocked { by: super::labels::UNNAMED, kind: PathKind::Lost, what: None };
        self.nodes.add(*leaf, self.keys.of(key), ns, 1);
    }

    /// How many nodes there are, and how many messages, each with a path of its own.
    #[cfg(test)]
    pub(super) fn size(&self) -> (usize, usize) {
        (self.nodes.len(), self.messages.len())
    }
}
