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
mod steps;
mod walk;

use rustc_hash::FxHashMap;

use super::event::Tid;
use super::holder::{Holder, WAKE_UP_NS};
use super::idle::{ALONE, ANY, ByKind, ELSEWHERE, PINNED, PINNED_ALONE};
use super::labels::{Label, UNNAMED};
use super::report::PathKind;
pub(super) use calls::tell_calls;
pub(crate) use faults::tell as tell_faults;
use nodes::{Id, NONE, Nodes};
use parts::{Key, Keys, Run, wait};
pub(super) use rows::Accounts;
pub use steps::Step;
use steps::{NO_TURN, TurnId, Turns};
use walk::Phase;
pub(super) use walk::Walk;

/// All paths.
#[derive(Debug)]
pub(super) struct Path {
    nodes: Nodes,
    keys: Keys,
    /// By kernel worker.
    messages: FxHashMap<Tid, Message>,
    /// Start-ups by command.
    pub(super) startups: FxHashMap<Label, Startup>,
    /// The path of the task that ended last: when, whether it ran then, and its end.
    last: Option<(u64, bool, Id)>,
    /// Through which tasks paths went, if that is kept.
    turns: Option<Turns>,
    /// When paths begin.
    began: Option<u64>,
}

/// What a worker was woken for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message {
    by: Tid,
    label: Label,
    /// The path of who woke it, up to when.
    leaf: Id,
    turn: TurnId,
    at: u64,
    /// A reader was woken with it. Others may wait for the same text, so it lasts until the worker does the next thing.
    brought: bool,
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
            turns: None,
            began: None,
        }
    }

    /// A path of its own for a task that nobody of the tree made. `before`: what the time before it is.
    pub(super) fn begin(&mut self, (task, walk): (Tid, &mut Walk), label: Label, before: PathKind, now: u64) {
        let began = *self.began.get_or_insert(now);
        walk.begin(self.nodes.leaf(NONE), now);
        self.comes_to(task, walk, began, NO_TURN);
        self.runs_as(walk, label);
        if now > began {
            let key = Key::Blocked { by: label, kind: before, what: None };
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
        if let Some(turns) = self.turns.as_mut().filter(|_| later) {
            turns.last = Some(walk.turn);
        }
        let gone = if later { self.last.replace((at, ran, leaf)).map(|(.., leaf)| leaf) } else { Some(leaf) };
        if let Some(leaf) = gone {
            self.nodes.release(leaf);
        }
    }

    /// The last end was later than that of any path: the rest is not known.
    pub(super) fn extend(&mut self, to: u64) {
        let Some((at, _, leaf)) = self.last.as_mut().filter(|(at, ..)| *at < to) else { return };
        let ns = to - std::mem::replace(at, to);
        let key = Key::Blocked { by: UNNAMED, kind: PathKind::Lost, what: None };
        self.nodes.add(*leaf, self.keys.of(key), ns, 1);
    }

    /// The task runs as a forked child.
    pub(super) fn forked(&mut self, walk: &mut Walk) {
        self.flush(walk);
        walk.phase = Phase::Forked;
    }

    /// The task runs under this name from now on.
    pub(super) fn runs_as(&mut self, walk: &mut Walk, label: Label) {
        self.flush(walk);
        walk.runs = self.keys.of(Key::Run(label));
    }

    /// The task runs another program from now on. `calls`: of its CPU time so far, within system calls.
    pub(super) fn execs(&mut self, walk: &mut Walk, from: Label, to: Label, calls: Option<u64>) {
        if let Some(calls) = calls {
            walk.spent(calls);
        }
        self.decided(walk, from, 0);
        self.runs_as(walk, to);
        walk.phase = Phase::Early;
        (walk.before, walk.before_calls, walk.early) = (0, 0, 0);
    }

    /// The task goes on without an exec, and nothing has to be loaded for that. Where its program had begun before, what it ran since
    /// its path was last shared is the program's.
    pub(super) fn lives_on(&mut self, walk: &mut Walk, to: Label, begins: bool, calls: Option<u64>) {
        if let Some(calls) = calls {
            walk.spent(calls);
        }
        if begins {
            self.flush(walk);
        }
        walk.runs = self.keys.of(Key::Run(to));
        walk.phase = Phase::Program;
    }

    /// The program has started up, which took so much CPU time, and so much of that within calls.
    pub(super) fn started(&mut self, walk: &mut Walk, label: Label, run: u64, calls: u64) {
        let sums = self.startups.entry(label).or_default();
        sums.programs += 1;
        sums.run = sums.run.saturating_add(run);
        sums.calls = sums.calls.saturating_add(calls.min(run));
        if walk.phase != Phase::Early || !walk.goes() {
            return;
        }
        let all = walk.unshared();
        let startup = run.saturating_sub(walk.before).min(all);
        let within = calls.min(run).saturating_sub(walk.before_calls).min(startup);
        // What is told goes first, for it came first.
        let kernel = within.min(walk.kernel);
        let user = (startup - within).min(walk.user);
        let untold = (startup - kernel - user).min(walk.untold);
        // Where one of the two has not enough, the other has: together they do.
        let rest = startup - kernel - user - untold;
        let more = rest.min(walk.user - user);
        walk.user -= user + more;
        walk.kernel -= kernel + (rest - more);
        walk.untold -= untold;
        walk.calls += (within - kernel).min(untold);
        self.nodes.add(walk.head, walk.runs + Run::Startup as u32, startup, u32::from(startup > 0));
        self.decided(walk, label, run);
    }

    /// What was a program that may still have been starting up is one from now on; so much of it was start-up.
    pub(super) fn decided(&mut self, walk: &mut Walk, label: Label, startup: u64) {
        if walk.phase == Phase::Early {
            walk.phase = Phase::Program;
            let Startup { early, early_startup, .. } = self.startups.entry(label).or_default();
            *early = early.saturating_add(walk.early);
            *early_startup = early_startup.saturating_add(startup.min(walk.early));
        }
    }

    /// What the task has run is put into its path.
    pub(super) fn flush(&mut self, walk: &mut Walk) {
        let all = walk.unshared();
        if all == 0 || walk.head == NONE {
            walk.forget();
            return;
        }
        let early = match walk.phase {
            Phase::Forked => {
                self.nodes.add(walk.head, walk.runs + Run::Forked as u32, all, walk.turns);
                return walk.forget();
            }
            Phase::Early => Run::EarlyUser as u32,
            Phase::Program => 0,
        };
        if early > 0 {
            walk.early += all;
        }
        for (ns, run) in [(walk.user, Run::User), (walk.kernel, Run::Kernel), (walk.untold, Run::Untold)] {
            if ns > 0 {
                self.nodes.add(walk.head, walk.runs + early + run as u32, ns, walk.turns);
            }
        }
        walk.forget();
    }

    /// A wait for a CPU is over. `held`: who held it for how long, over all times; `beside`: what of the wait was beside an
    /// idle CPU.
    pub(super) fn waited(
        &mut self,
        walk: &mut Walk,
        by: Label,
        held: &[(Holder, u64)],
        beside: &ByKind,
        now: u64,
    ) {
        if !walk.goes() {
            return;
        }
        walk.collect(held);
        let mut left = walk.pass(now);
        let busy = |(holder, ns): &(Holder, u64)| if holder.is_busy() { *ns } else { 0 };
        let mut all_busy: u64 = walk.held.iter().map(busy).sum();
        let mut beside = [
            (wait::ANY, beside[ANY]),
            (wait::ALONE, beside[ALONE]),
            (wait::ELSEWHERE, beside[ELSEWHERE]),
            (wait::PINNED, beside[PINNED]),
            (wait::PINNED_ALONE, beside[PINNED_ALONE]),
        ];
        let held = std::mem::take(&mut walk.held);
        for (at, (holder, ns)) in held.iter().enumerate() {
            let ns = (*ns).min(left);
            left -= ns;
            let named = if *holder == Holder::WakeUp && ns > WAKE_UP_NS { Holder::LongIdle } else { *holder };
            let kind = self.keys.of(Key::Wait { by, holder: named, after: walk.after });
            self.nodes.add(walk.head, kind + wait::TIME, ns, u32::from(at == 0));
            let share = busy(&(*holder, ns));
            for (number, rest) in beside.iter_mut().filter(|(_, rest)| *rest > 0 && share > 0) {
                let part = portion(*rest, share, all_busy).min(ns);
                *rest -= part;
                self.nodes.add(walk.head, kind + *number, part, 0);
            }
            all_busy -= share.min(all_busy);
        }
        walk.held = held;
        walk.held.clear();
        if left > 0 {
            self.unseen(walk, by, left);
        }
    }

    /// Records were lost: what the task did up to this moment is not known.
    pub(super) fn lost(&mut self, walk: &mut Walk, by: Label, to: u64) {
        if !walk.goes() {
            return;
        }
        let ns = walk.pass(to);
        if ns > 0 {
            let key = self.keys.of(Key::Blocked { by, kind: PathKind::Lost, what: None });
            self.nodes.add(walk.head, key, ns, 1);
        }
    }

    /// A wait for a CPU of which the stream does not show who held it.
    pub(super) fn unseen(&mut self, walk: &Walk, by: Label, ns: u64) {
        let kind = self.keys.of(Key::Wait { by, holder: Holder::Unknown, after: walk.after });
        self.nodes.add(walk.head, kind + wait::TIME, ns, 1);
    }

    /// Keeps turns from now on.
    pub(super) fn keep_turns(&mut self) {
        self.turns = Some(Turns::default());
    }

    /// The path of a task comes to it at this moment, behind that turn of another path.
    pub(super) fn comes_to(&mut self, task: Tid, walk: &mut Walk, at: u64, before: TurnId) {
        if let Some(turns) = &mut self.turns {
            walk.turn = turns.add(task, at, before);
        }
    }

    /// The critical path, from its beginning to its end. Empty where turns were not kept.
    pub(super) fn steps(&self) -> Vec<Step> {
        let ended = self.turns.as_ref().zip(self.last);
        ended.map(|(turns, (end, ..))| turns.steps(end)).unwrap_or_default()
    }

    /// How many nodes there are, and how many messages, each with a path of its own.
    #[cfg(test)]
    pub(super) fn size(&self) -> (usize, usize) {
        (self.nodes.len(), self.messages.len())
    }
}

/// So much of it as the part is of the whole.
fn portion(of: u64, part: u64, whole: u64) -> u64 {
    let portion = u128::from(of) * u128::from(part) / u128::from(whole.max(1));
    u64::try_from(portion).unwrap_or(of)
}
