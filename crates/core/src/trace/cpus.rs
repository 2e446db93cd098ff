//! Who held a CPU while tasks of the tree waited for it.
//!
//! Per CPU: who runs there, and how many tasks of which command wait there. Whenever one of the two changes, the time
//! since the last change is added once for each waiter. So each moment of each wait is given to exactly one holder, however long
//! the wait is, and no history is kept.

use rustc_hash::FxHashMap;

use super::event::Tid;
use super::holder::{Holder, WAKE_UP_NS};
use super::known::Known;
use super::labels::{Label, REST, UNNAMED};
use super::report::SharerKind;

/// Pairs of a command and a holder that are told apart; further holders have one name.
const MOST_SHARERS: usize = 1 << 16;

/// Holders of one CPU that are told apart while tasks wait there without a break.
const MOST_HELD: usize = 64;

/// Time that tasks of a command waited, by who held the CPU.
pub(super) type Sharers = FxHashMap<(Label, Holder), u64>;

/// One CPU.
#[derive(Debug, Default)]
pub(super) struct Cpu {
    /// Who runs there; `None` before the first record.
    pub(super) current: Option<Tid>,
    /// Since when.
    pub(super) since: u64,
    /// That task belonged to the tree when it got the CPU.
    pub(super) in_tree: bool,
    /// Up to when waiting has been added up.
    flushed: u64,
    waiters: Vec<(Label, u64)>,
    /// Who held it for how long since tasks wait there without a break. A task that comes to wait notes how far each had
    /// come, so that a wait costs the same however long it lasts.
    held: Vec<(Holder, u64)>,
    /// Waiting on the idle CPU, or on one of which nothing is known yet, in the present stretch.
    pending: Vec<(Label, u64)>,
    pending_from: Option<u64>,
}

/// All CPUs that were seen.
#[derive(Debug, Default)]
pub(super) struct Cpus {
    cpus: Vec<Cpu>,
    pub(super) sharers: Sharers,
}

impl Cpus {
    pub(super) fn get(&mut self, cpu: u16) -> &mut Cpu {
        let cpu = usize::from(cpu);
        if cpu >= self.cpus.len() {
            self.cpus.resize_with(cpu + 1, Cpu::default);
        }
        &mut self.cpus[cpu]
    }

    pub(super) fn current(&self, cpu: u16) -> Option<Tid> {
        self.cpus.get(usize::from(cpu)).and_then(|cpu| cpu.current)
    }

    /// Who runs on each CPU, and since when.
    pub(super) fn running(&self) -> impl Iterator<Item = (Tid, u64)> {
        self.cpus.iter().filter_map(|cpu| Some((cpu.current?, cpu.since)))
    }

    pub(super) fn all(&self) -> impl Iterator<Item = u16> + use<> {
        0..u16::try_from(self.cpus.len()).unwrap_or(u16::MAX)
    }

    /// Adds up the waiting so far: who runs there has run since the last time.
    pub(super) fn flush(&mut self, cpu: u16, now: u64, known: &Known) {
        let it = self.get(cpu);
        let passed = now - std::mem::replace(&mut it.flushed, now);
        if it.waiters.is_empty() || passed == 0 {
            return;
        }
        let holder = match it.current {
            None | Some(0) => {
                it.pending_from.get_or_insert(now - passed);
                it.waiters.iter().for_each(|(label, count)| add(&mut it.pending, *label, passed * count));
                let idle = if it.current.is_some() { Holder::WakeUp } else { Holder::Unknown };
                return it.holds(idle, passed);
            }
            Some(task) => holder(known, task),
        };
        it.holds(holder, passed);
        for (label, count) in &self.cpus[usize::from(cpu)].waiters {
            let full = self.sharers.len() >= MOST_SHARERS && !self.sharers.contains_key(&(*label, holder));
            let holder = if full { Holder::Task(SharerKind::Other, REST) } else { holder };
            *self.sharers.entry((*label, holder)).or_default() += passed * count;
        }
    }

    /// Adds up the waiting so far as time in which the stream did not show who ran.
    pub(super) fn flush_unknown(&mut self, cpu: u16, now: u64) {
        let it = self.get(cpu);
        let passed = now - std::mem::replace(&mut it.flushed, now);
        if !it.waiters.is_empty() {
            it.holds(Holder::Unknown, passed);
        }
        for (label, count) in &self.cpus[usize::from(cpu)].waiters {
            *self.sharers.entry((*label, Holder::Unknown)).or_default() += passed * count;
        }
        self.settle(cpu, now, None);
    }

    /// The first record of a CPU says who ran there all the time before.
    pub(super) fn began_with(&mut self, cpu: u16, task: Tid, now: u64, known: &Known) {
        let holder = if task == 0 { None } else { Some(holder(known, task)) };
        self.settle(cpu, now, holder);
        let it = self.get(cpu);
        it.current = Some(task);
        if let Some((unseen, _)) = it.held.iter_mut().find(|(it, _)| *it == Holder::Unknown) {
            *unseen = holder.unwrap_or(Holder::WakeUp);
        }
    }

    /// Gives the pending waiting to whom it belongs: to this holder, or to an idle CPU.
    pub(super) fn settle(&mut self, cpu: u16, now: u64, holder: Option<Holder>) {
        let it = self.get(cpu);
        let Some(from) = it.pending_from.take() else { return };
        let idle = if now - from > WAKE_UP_NS { Holder::LongIdle } else { Holder::WakeUp };
        for (label, ns) in std::mem::take(&mut it.pending) {
            *self.sharers.entry((label, holder.unwrap_or(idle))).or_default() += ns;
        }
    }

    /// Who held the CPU for how long since tasks wait there.
    pub(super) fn held(&self, cpu: u16) -> &[(Holder, u64)] {
        self.cpus.get(usize::from(cpu)).map_or(&[], |cpu| &cpu.held)
    }

    /// The same for a task that is about to wait there: nobody held it yet if it is the only one.
    pub(super) fn held_for_new(&self, cpu: u16) -> &[(Holder, u64)] {
        match self.cpus.get(usize::from(cpu)) {
            Some(cpu) if !cpu.waiters.is_empty() => &cpu.held,
            _ => &[],
        }
    }

    /// A task begins to wait there. The CPU has been flushed.
    pub(super) fn enqueue(&mut self, cpu: u16, label: Label, now: u64) {
        let it = self.get(cpu);
        if it.waiters.is_empty() {
            it.held.clear();
        }
        it.flushed = now;
        add(&mut it.waiters, label, 1);
    }

    /// A task waits there no longer. The CPU has been flushed.
    pub(super) fn dequeue(&mut self, cpu: u16, label: Label, now: u64) {
        let it = self.get(cpu);
        let waiters = &mut it.waiters;
        if let Some(index) = waiters.iter().position(|(it, _)| *it == label) {
            waiters[index].1 -= 1;
            if waiters[index].1 == 0 {
                waiters.swap_remove(index);
            }
        }
        if it.waiters.is_empty() && it.current == Some(0) {
            self.settle(cpu, now, None);
        }
    }
}

impl Cpu {
    fn holds(&mut self, holder: Holder, passed: u64) {
        let full = self.held.len() >= MOST_HELD && !self.held.iter().any(|(it, _)| *it == holder);
        let holder = if full { Holder::Task(SharerKind::Other, REST) } else { holder };
        match self.held.iter_mut().find(|(it, _)| *it == holder) {
            Some((_, ns)) => *ns += passed,
            None => self.held.push((holder, passed)),
        }
    }
}

fn add(counts: &mut Vec<(Label, u64)>, label: Label, amount: u64) {
    match counts.iter_mut().find(|(it, _)| *it == label) {
        Some((_, count)) => *count += amount,
        None => counts.push((label, amount)),
    }
}

fn holder(known: &Known, task: Tid) -> Holder {
    let (kind, label) = known.who(task).unwrap_or((SharerKind::Other, UNNAMED));
    Holder::Task(kind, label)
}
