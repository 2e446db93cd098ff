//! Avoidable waiting: a task waits for its CPU, which another holds, while a CPU that it may run on stands idle.
//!
//! It may run on the CPUs of its own set, and on those that were open to the command when it began: a pin (`--pin`, taskset,
//! `sched_setaffinity`) is a choice that can be undone. What only that choice cost has clocks of its own.
//!
//! For each set of allowed CPUs there is a clock that runs while any of them is idle. A wait's avoidable part is how far
//! that clock went while the wait's own CPU was busy, so each instant counts once however many CPUs are idle, and a wait
//! costs the same however long it lasts. The first part of every wait is left out ([`super::setting::AVOIDABLE_FROM_NS`]).
//! Where the own CPU stands idle too the task is about to run: that is wake-up latency, or a quota used up.

use std::collections::VecDeque;

use super::event::Tid;

/// Kinds of clocks.
const KINDS: usize = 6;
/// Nanoseconds by kind of clock.
pub(super) type ByKind = [u64; KINDS];
/// Any allowed or open CPU is idle.
pub(super) const ANY: usize = 0;
/// All hardware threads of such a CPU's core are idle.
pub(super) const CORE: usize = 1;
/// As [`ANY`], and no task of the tree runs anywhere: so it looks when the cgroup's quota is used up.
pub(super) const ALONE: usize = 2;
/// A CPU is idle, but none that is allowed or open.
pub(super) const ELSEWHERE: usize = 3;
/// Of [`ANY`]: an open CPU is idle, but none that is allowed.
pub(super) const PINNED: usize = 4;
/// Of [`ALONE`]: the same.
pub(super) const PINNED_ALONE: usize = 5;

/// Sets of allowed CPUs that are told apart at a time. A set beyond is not looked at, and that is counted.
const MOST_MASKS: usize = 1024;

/// One wait, as far as it concerns the clocks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Wait {
    /// Tells this wait from earlier ones of the same task; 0: it does not wait.
    number: u64,
    /// The own CPU.
    cpu: u16,
    /// The clock when the wait came to count on this CPU; `None` in the part that is left out.
    base: Option<ByKind>,
    /// From CPUs that it waited for before it was moved.
    sum: ByKind,
}

/// A set of allowed CPUs and its clocks.
#[derive(Debug, Default)]
struct Mask {
    cpus: Vec<u64>,
    /// With those that are open to the command.
    wide: Vec<u64>,
    tasks: usize,
    /// Idle CPUs of the set itself, and of the wide one.
    own_idle: u32,
    idle: u32,
    idle_cores: u32,
    runs: [bool; KINDS],
    since: u64,
    clock: ByKind,
    /// By CPU: how far the clocks went while it was busy, and the clocks when it came to be busy.
    busy: Vec<Busy>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Busy {
    sum: ByKind,
    from: Option<ByKind>,
}

/// What each CPU does, as far as idling goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    Unknown,
    Idle,
    Busy,
}

/// Idle CPUs, the clocks, and the waits that do not count yet.
#[derive(Debug)]
pub(super) struct Idle {
    uses: Vec<Use>,
    /// By CPU: the hardware threads of its core, itself among them. A CPU beyond the list is a core of its own.
    siblings: Vec<Vec<usize>>,
    /// CPUs that are open to the command; empty: not known.
    open: Vec<u64>,
    masks: Vec<Mask>,
    due: VecDeque<(u64, Tid, u64)>,
    from_ns: u64,
    number: u64,
    tree_runs: u32,
    /// CPUs that are idle.
    idle: u32,
    /// Tasks whose set of CPUs was not looked at.
    pub(super) unwatched: u64,
}

impl Idle {
    pub(super) fn new(cores: &[u16], open: &[u64], from_ns: u64) -> Self {
        let threads = |core: &u16| (0..cores.len()).filter(|cpu| cores[*cpu] == *core).collect();
        Self {
            uses: Vec::new(),
            siblings: cores.iter().map(threads).collect(),
            open: open.to_vec(),
            masks: Vec::new(),
            due: VecDeque::new(),
            from_ns,
            number: 0,
            tree_runs: 0,
            idle: 0,
            unwatched: 0,
        }
    }

    /// The clocks for a set of allowed CPUs; `None` for an unknown set and beyond the bound.
    pub(super) fn mask(&mut self, cpus: &[u64], now: u64) -> Option<usize> {
        if cpus.iter().all(|word| *word == 0) {
            return None;
        }
        if let Some(index) = self.masks.iter().position(|mask| mask.tasks > 0 && mask.cpus == cpus) {
            self.masks[index].tasks += 1;
            return Some(index);
        }
        let free = self.masks.iter().position(|mask| mask.tasks == 0);
        if free.is_none() && self.masks.len() >= MOST_MASKS {
            self.unwatched += 1;
            return None;
        }
        let index = free.unwrap_or(self.masks.len());
        if free.is_none() {
            self.masks.push(Mask::default());
        }
        self.masks[index] = self.fresh(cpus, now);
        Some(index)
    }

    fn fresh(&self, cpus: &[u64], now: u64) -> Mask {
        let words = cpus.len().max(self.open.len());
        let word = |of: &[u64], at: usize| of.get(at).copied().unwrap_or(0);
        let wide = (0..words).map(|at| word(cpus, at) | word(&self.open, at)).collect();
        let mut mask = Mask { cpus: cpus.to_vec(), wide, tasks: 1, since: now, ..Mask::default() };
        mask.busy = vec![Busy::default(); self.uses.len()];
        for (cpu, used) in self.uses.iter().enumerate() {
            match used {
                Use::Idle if has(&mask.wide, cpu) => {
                    mask.idle += 1;
                    mask.own_idle += u32::from(has(cpus, cpu));
                    mask.idle_cores += u32::from(self.core_idle(cpu));
                }
                Use::Busy => mask.busy[cpu].from = Some(mask.clock),
                _ => {}
            }
        }
        mask.judge(self.tree_runs, self.idle);
        mask
    }

    /// One task fewer has this set.
    pub(super) fn release(&mut self, mask: Option<usize>) {
        if let Some(mask) = mask.and_then(|index| self.masks.get_mut(index)) {
            mask.tasks -= 1;
        }
    }

    /// A CPU is idle or busy from now on, and one more or fewer task of the tree runs.
    pub(super) fn turn(&mut self, cpu: usize, used: Use, tree_change: i32, now: u64) {
        if cpu >= self.uses.len() {
            self.uses.resize(cpu + 1, Use::Unknown);
        }
        let former = self.uses[cpu];
        let tree_before = self.tree_runs;
        self.tree_runs = self.tree_runs.saturating_add_signed(tree_change);
        if former == used && (tree_before == 0) == (self.tree_runs == 0) {
            return;
        }
        let core_before = self.core_idle(cpu);
        self.uses[cpu] = used;
        self.idle = self.idle + u32::from(used == Use::Idle) - u32::from(former == Use::Idle);
        let core_after = self.core_idle(cpu);
        let uses = self.uses.len();
        let alone = [cpu];
        let siblings = self.siblings.get(cpu).map_or(&alone[..], |threads| threads);
        for mask in self.masks.iter_mut().filter(|mask| mask.tasks > 0) {
            mask.tick(now);
            mask.busy.resize(uses, Busy::default());
            mask.used(cpu, former, used);
            if core_before != core_after {
                let threads = siblings.iter().filter(|cpu| has(&mask.wide, **cpu)).count();
                let threads = u32::try_from(threads).unwrap_or(0);
                mask.idle_cores =
                    if core_after { mask.idle_cores + threads } else { mask.idle_cores - threads };
            }
            mask.judge(self.tree_runs, self.idle);
        }
    }

    fn core_idle(&self, cpu: usize) -> bool {
        let idle = |cpu: &usize| self.uses.get(*cpu) == Some(&Use::Idle);
        self.siblings.get(cpu).map_or_else(|| idle(&cpu), |threads| threads.iter().all(idle))
    }

    /// A task begins to wait for a CPU.
    pub(super) fn begin(&mut self, task: Tid, mask: Option<usize>, cpu: u16, now: u64) -> Wait {
        if mask.is_none() {
            return Wait::default();
        }
        self.number += 1;
        self.due.push_back((now + self.from_ns, task, self.number));
        Wait { number: self.number, cpu, base: None, sum: [0; KINDS] }
    }

    /// The next wait that comes to count by now, if any: when, and which.
    pub(super) fn due(&mut self, now: u64) -> Option<(u64, Tid, u64)> {
        let (at, ..) = *self.due.front()?;
        if at > now { None } else { self.due.pop_front() }
    }

    /// From `at` on the wait counts, if it is still the one that was meant.
    pub(super) fn arm(&self, wait: &mut Wait, mask: Option<usize>, number: u64, at: u64) {
        if wait.number == number && wait.base.is_none() {
            wait.base = self.value(mask, wait.cpu, at);
        }
    }

    /// The waiting task was moved to another CPU, or may run on other CPUs from now on.
    pub(super) fn moved(&self, wait: &mut Wait, masks: (Option<usize>, Option<usize>), cpu: u16, now: u64) {
        self.collect(wait, masks.0, now);
        wait.cpu = cpu;
        if wait.base.is_some() {
            wait.base = self.value(masks.1, cpu, now);
        }
    }

    /// The wait is over: how much of it was avoidable, by kind.
    pub(super) fn end(&self, wait: &mut Wait, mask: Option<usize>, now: u64) -> ByKind {
        self.collect(wait, mask, now);
        std::mem::take(wait).sum
    }

    fn collect(&self, wait: &mut Wait, mask: Option<usize>, now: u64) {
        let Some((base, value)) = wait.base.zip(self.value(mask, wait.cpu, now)) else { return };
        add_since(&mut wait.sum, &value, &base);
    }

    /// How far the clocks of a set went, up to now, while this CPU was busy.
    fn value(&self, mask: Option<usize>, cpu: u16, now: u64) -> Option<ByKind> {
        let mask = self.masks.get(mask?)?;
        let busy = mask.busy.get(usize::from(cpu)).copied().unwrap_or_default();
        let mut value = busy.sum;
        if let Some(from) = busy.from {
            let clock = mask.clock_at(now);
            add_since(&mut value, &clock, &from);
        }
        Some(value)
    }
}

impl Mask {
    fn clock_at(&self, now: u64) -> ByKind {
        let passed = now.saturating_sub(self.since);
        std::array::from_fn(|kind| self.clock[kind] + if self.runs[kind] { passed } else { 0 })
    }

    fn tick(&mut self, now: u64) {
        self.clock = self.clock_at(now);
        self.since = now;
    }

    fn used(&mut self, cpu: usize, former: Use, used: Use) {
        let clock = self.clock;
        let busy = &mut self.busy[cpu];
        if let Some(from) = busy.from.take() {
            add_since(&mut busy.sum, &clock, &from);
        }
        busy.from = (used == Use::Busy).then_some(clock);
        for (cpus, idle) in [(&self.cpus, &mut self.own_idle), (&self.wide, &mut self.idle)] {
            if has(cpus, cpu) {
                *idle = *idle + u32::from(used == Use::Idle) - u32::from(former == Use::Idle);
            }
        }
    }

    fn judge(&mut self, tree_runs: u32, idle: u32) {
        let (any, alone) = (self.idle > 0, tree_runs == 0);
        let pinned = any && self.own_idle == 0;
        let elsewhere = !any && idle > 0;
        self.runs = [any, self.idle_cores > 0, any && alone, elsewhere, pinned, pinned && alone];
    }
}

/// Adds each kind to its sum.
pub(super) fn add(sum: &mut ByKind, part: &ByKind) {
    sum.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
}

/// Adds what each clock went from one reading to the next.
fn add_since(sum: &mut ByKind, now: &ByKind, from: &ByKind) {
    sum.iter_mut().zip(now.iter().zip(from)).for_each(|(sum, (now, from))| *sum += now - from);
}

fn has(cpus: &[u64], cpu: usize) -> bool {
    cpus.get(cpu / 64).is_some_and(|word| word >> (cpu % 64) & 1 == 1)
}
