//! The end of one task's path: what is added to it while the task runs and waits for a CPU.

use super::super::cpus::{Holder, WAKE_UP_NS};
use super::super::idle::{ALONE, ANY, ByKind, ELSEWHERE, PINNED, PINNED_ALONE};
use super::super::labels::Label;
use super::super::report::{Cause, PathKind};
use super::alternatives::Joins;
use super::nodes::{Id, NONE};
use super::parts::{Key, Run, wait};
use super::{Path, Startup};

/// How a task's running counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
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
    /// Up to when the path has grown.
    at: u64,
    /// Numbers of the command's running.
    runs: u32,
    phase: Phase,
    /// Time that it has run since the path was last shared: user code, kernel, and not known yet which of them.
    user: u64,
    kernel: u64,
    untold: u64,
    turns: u32,
    /// Of its CPU time: within system calls, as far as was said.
    calls: u64,
    /// Since the exec, and not in the three above: it ran, it ran within calls, and what of it went into paths.
    before: u64,
    before_calls: u64,
    early: u64,
    /// What it had waited for before it waited for a CPU.
    after: Option<Cause>,
    /// Who had held the CPU for how long when it came to wait there.
    base: Vec<u64>,
    /// Who held the CPUs on which it waited before it was moved.
    held: Vec<(Holder, u64)>,
    /// Children that ended while it dealt with another one's end.
    pub(super) joins: Joins,
}

impl Default for Walk {
    fn default() -> Self {
        Self {
            head: NONE,
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

    fn collect(&mut self, held: &[(Holder, u64)]) {
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

impl Path {
    /// The task runs as a forked child.
    pub(in super::super) fn forked(&mut self, walk: &mut Walk) {
        self.flush(walk);
        walk.phase = Phase::Forked;
    }

    /// The task runs under this name from now on.
    pub(in super::super) fn runs_as(&mut self, walk: &mut Walk, label: Label) {
        self.flush(walk);
        walk.runs = self.keys.of(Key::Run(label));
    }

    /// The task runs another program from now on. `calls`: of its CPU time so far, within system calls.
    pub(in super::super) fn execs(&mut self, walk: &mut Walk, from: Label, to: Label, calls: Option<u64>) {
        if let Some(calls) = calls {
            walk.spent(calls);
        }
        self.decided(walk, from, 0);
        self.runs_as(walk, to);
        walk.phase = Phase::Early;
        (walk.before, walk.before_calls, walk.early) = (0, 0, 0);
    }

    /// The program has started up, which took so much CPU time, and so much of that within calls.
    pub(in super::super) fn started(&mut self, walk: &mut Walk, label: Label, run: u64, calls: u64) {
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
    pub(in super::super) fn waited(
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
    pub(in super::super) fn lost(&mut self, walk: &mut Walk, by: Label, to: u64) {
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
}

/// So much of it as the part is of the whole.
fn portion(of: u64, part: u64, whole: u64) -> u64 {
    let portion = u128::from(of) * u128::from(part) / u128::from(whole.max(1));
    u64::try_from(portion).unwrap_or(of)
}
