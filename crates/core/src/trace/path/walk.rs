//! The end of one task's path: what it ran and waited for since the path was last shared.

use super::super::holder::Holder;
use super::super::report::Cause;
use super::nodes::{Alternative, Id, NONE};
use super::steps::{NO_TURN, TurnId};

/// Children that ended beside the last one that their parent waited for.
#[derive(Debug, Default)]
pub(super) struct Joins {
    /// The task was woken by the end of a child, and has made or woken nobody since.
    pub(super) joined: bool,
    /// Those that ended since, and when.
    pub(super) ended: Vec<(Alternative, u64)>,
}

/// How a task's running counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Phase {
    /// A process that was forked and runs no program of its own yet.
    Forked,
    /// A program of which nobody said yet when it had started up.
    Early,
    #[default]
    Program,
}

/// The end of a task's path.
#[derive(Debug)]
pub(in super::super) struct Walk {
    pub(super) head: Id,
    /// How the path came to this task, if that is kept.
    pub(super) turn: TurnId,
    /// Up to when the path has grown.
    pub(super) at: u64,
    /// Numbers of the command's running.
    pub(super) runs: u32,
    pub(super) phase: Phase,
    /// Time that it has run since the path was last shared: user code, kernel, and not known yet which of them.
    pub(super) user: u64,
    pub(super) kernel: u64,
    pub(super) untold: u64,
    pub(super) turns: u32,
    /// Of its CPU time: within system calls, as far as was said.
    pub(super) calls: u64,
    /// Since the exec, and not in the three above: it ran, it ran within calls, and what of it went into paths.
    pub(super) before: u64,
    pub(super) before_calls: u64,
    pub(super) early: u64,
    /// What it had waited for before it waited for a CPU.
    pub(super) after: Option<Cause>,
    /// Who had held the CPU for how long when it came to wait there.
    pub(super) base: Vec<u64>,
    /// Who held the CPUs on which it waited before it was moved.
    pub(super) held: Vec<(Holder, u64)>,
    /// Children that ended while it dealt with another one's end.
    pub(super) joins: Joins,
}

impl Default for Walk {
    fn default() -> Self {
        Self {
            head: NONE,
            turn: NO_TURN,
            at: 0,
            runs: 0,
            phase: Phase::default(),
            user: 0,
            kernel: 0,
            untold: 0,
            turns: 0,
            calls: 0,
            before: 0,
            before_calls: 0,
            early: 0,
            after: None,
            base: Vec::new(),
            held: Vec::new(),
            joins: Joins::default(),
        }
    }
}

impl Walk {
    pub(super) fn begin(&mut self, head: Id, now: u64) {
        *self = Self { head, at: now, ..Self::default() };
    }

    /// Whether the task has a path at all.
    pub(in super::super) fn goes(&self) -> bool {
        self.head != NONE
    }

    /// Whether the path has grown up to this moment.
    pub(super) fn is_at(&self, now: u64) -> bool {
        self.at == now
    }

    /// Brings the end of the path to this moment; how long that is since it was last brought.
    pub(super) fn pass(&mut self, now: u64) -> u64 {
        let passed = now.saturating_sub(self.at);
        self.at = self.at.max(now);
        passed
    }

    /// It has run up to now.
    pub(in super::super) fn ran(&mut self, now: u64) {
        let passed = self.pass(now);
        self.untold += passed;
        self.turns = self.turns.saturating_add(u32::from(passed > 0));
    }

    /// So much of its CPU time went into system calls.
    pub(in super::super) fn spent(&mut self, calls: u64) {
        let kernel = calls.saturating_sub(self.calls).min(self.untold);
        self.kernel += kernel;
        self.user += self.untold - kernel;
        self.untold = 0;
        self.calls = calls;
    }

    /// It waits for a CPU from now on. `held`: who held that CPU for how long.
    pub(in super::super) fn waits(&mut self, after: Option<Option<Cause>>, held: &[(Holder, u64)]) {
        if let Some(after) = after {
            self.after = after;
        }
        self.held.clear();
        self.waits_on(held);
    }

    fn waits_on(&mut self, held: &[(Holder, u64)]) {
        self.base.clear();
        self.base.extend(held.iter().map(|(_, ns)| ns));
    }

    /// It waits for another CPU from now on.
    pub(in super::super) fn moved(&mut self, from: &[(Holder, u64)], to: &[(Holder, u64)]) {
        self.collect(from);
        self.waits_on(to);
    }

    pub(super) fn collect(&mut self, held: &[(Holder, u64)]) {
        for (at, (holder, ns)) in held.iter().enumerate() {
            let ns = ns - self.base.get(at).copied().unwrap_or(0);
            match self.held.iter_mut().find(|(it, _)| it == holder) {
                Some((_, sum)) => *sum += ns,
                None if ns > 0 => self.held.push((*holder, ns)),
                None => {}
            }
        }
    }

    pub(super) fn waited_for(&mut self, cause: Cause) {
        self.after = Some(cause);
    }

    /// What it has run since its path was last shared.
    pub(super) fn unshared(&self) -> u64 {
        self.user + self.kernel + self.untold
    }

    /// What it has run since its path was last shared is forgotten with that path.
    pub(super) fn forget(&mut self) {
        self.before += self.unshared();
        self.before_calls += self.kernel;
        (self.user, self.kernel, self.untold, self.turns) = (0, 0, 0, 0);
    }
}
