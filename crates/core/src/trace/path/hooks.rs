//! Where the timeline and the analysis tell of what changes paths.

use super::super::event::{Tid, Totals};
use super::super::labels::Label;
use super::super::report::PathKind;
use super::super::task::{State, Task};
use super::super::timeline::Timeline;
use super::steps::{NO_TURN, TurnId};

impl Timeline {
    /// The last turn of the path of a task.
    pub(super) fn turn_of(&self, tid: Tid) -> TurnId {
        self.known.tree.get(&tid).map_or(NO_TURN, |task| task.walk.turn)
    }

    /// A task that nobody of the tree made has a path from now on.
    pub(in super::super) fn path_begins(&mut self, tid: Tid, now: u64) {
        if !self.setting.whole() || self.stopped {
            return;
        }
        if let Some(task) = self.known.tree.get_mut(&tid) {
            // Who made it may be among what was lost.
            let before = if self.flaws.holes > 0 { PathKind::Lost } else { PathKind::Unknown };
            self.path.begin((tid, &mut task.walk), task.label, before, now);
        }
    }

    /// A task was made: its path is that of its parent up to now.
    pub(in super::super) fn path_forked(&mut self, parent: Tid, child: Tid, thread: bool, now: u64) {
        let shared = self.path_shared(parent, now);
        let turn = self.turn_of(parent);
        let Some(task) = self.known.tree.get_mut(&child) else { return };
        let Some(shared) = shared else { return self.path_begins(child, now) };
        task.walk.begin(self.path.nodes.leaf(shared), now);
        self.path.comes_to(child, &mut task.walk, now, turn);
        self.path.runs_as(&mut task.walk, task.label);
        if !thread {
            self.path.forked(&mut task.walk);
        }
    }

    /// A task is gone.
    pub(in super::super) fn path_ends(&mut self, task: &mut Task, at: u64, ran: bool) {
        self.path.settle(&mut task.walk, at);
        let parent = task.parent.and_then(|parent| self.known.tree.get_mut(&parent));
        if let Some(parent) = parent.filter(|parent| parent.state != State::Blocked) {
            self.path.ends_beside(&mut parent.walk, &task.walk, task.label, at);
        }
        self.path.end(&mut task.walk, task.label, at, ran);
    }

    /// A task runs another program from now on; its label is still the former one.
    pub(in super::super) fn path_execs(&mut self, tid: Tid, to: Label, so_far: &Totals, now: u64) {
        let Some(task) = self.known.tree.get_mut(&tid) else { return };
        if matches!(task.state, State::Running(_)) {
            task.walk.ran(now);
        }
        self.path.execs(&mut task.walk, task.label, to, so_far.call_run_ns);
    }

    /// A task goes on without an exec. Its program begins here, or had begun before that was known.
    pub(in super::super) fn path_lives_on(
        &mut self,
        tid: Tid,
        to: Label,
        begins: bool,
        so_far: &Totals,
        now: u64,
    ) {
        let Some(task) = self.known.tree.get_mut(&tid) else { return };
        if matches!(task.state, State::Running(_)) {
            task.walk.ran(now);
        }
        self.path.lives_on(&mut task.walk, to, begins, so_far.call_run_ns);
    }

    /// The name of a task is known only now.
    pub(in super::super) fn path_renamed(&mut self, tid: Tid, to: Label) {
        if let Some(task) = self.known.tree.get_mut(&tid) {
            self.path.runs_as(&mut task.walk, to);
        }
    }

    /// How much of a task's CPU time went into system calls.
    pub(in super::super) fn path_spent(&mut self, tid: Tid, calls: u64, now: u64) {
        let Some(task) = self.known.tree.get_mut(&tid) else { return };
        if matches!(task.state, State::Running(_)) {
            task.walk.ran(now);
        }
        task.walk.spent(calls);
    }

    /// A program has started up.
    pub(in super::super) fn path_started(&mut self, tid: Tid, run: u64, calls: u64, now: u64) {
        let Some(task) = self.known.tree.get_mut(&tid) else { return };
        if matches!(task.state, State::Running(_)) {
            task.walk.ran(now);
        }
        self.path.started(&mut task.walk, task.label, run, calls);
    }

    /// A task had left its CPU unseen, and waited for one.
    pub(in super::super) fn path_lost(&mut self, tid: Tid, now: u64) {
        let Some(task) = self.known.tree.get_mut(&tid).filter(|task| task.walk.goes()) else { return };
        let ns = task.walk.pass(now);
        if ns > 0 {
            self.path.unseen(&task.walk, task.label, ns);
        }
    }
}
