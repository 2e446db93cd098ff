//! Places in the stream where records were lost.
//!
//! Between the event before and the one behind such a place every task may have done anything, so that time is in no state:
//! it is unknown. From there on the stream is whole again, and the next record of a task says what it did since, as for a
//! task that was there before anything was seen. A task of which nothing comes any more has perhaps ended there: its
//! life is cut where it was last known.

use super::event::{Left, Tid, Totals};
use super::holder::Holder;
use super::idle::Use;
use super::task::State;
use super::timeline::Timeline;

impl Timeline {
    /// Records were lost between these two moments.
    pub(super) fn hole(&mut self, from: u64, to: u64) {
        self.flaws.holes += 1;
        if !self.setting.whole() {
            return;
        }
        self.path_messages_lost();
        let mut tasks: Vec<Tid> = self.known.tree.keys().copied().collect();
        // Sums do not depend on the order, but rows of equal length do.
        tasks.sort_unstable();
        for tid in tasks {
            self.lose(tid, from, to);
        }
        for cpu in self.cpus.all() {
            self.cpus.flush(cpu, from, &self.known);
            let it = self.cpus.get(cpu);
            it.current = None;
            let in_tree = std::mem::take(&mut it.in_tree);
            self.idle.turn(usize::from(cpu), Use::Unknown, -i32::from(in_tree), from);
        }
    }

    fn lose(&mut self, tid: Tid, from: u64, to: u64) {
        let Some(task) = self.known.tree.get_mut(&tid) else { return };
        if task.hole.is_some() {
            task.hole = Some(to);
            return;
        }
        match task.state {
            State::Dead => return,
            State::Blocked => self.unblock(tid, from, None),
            State::Lost => self.settle_lost(tid, from, false),
            State::Running(_) | State::Runnable(_) => {}
        }
        self.turn(tid, from, State::Lost);
        if let Some(task) = self.known.tree.get_mut(&tid) {
            task.hole = Some(to);
            // What it was before says nothing of what it is behind the hole.
            task.left = Left::Runnable;
            task.block = None;
            task.early = None;
        }
    }

    /// Something is heard of a task again: until the end of the hole its time is unknown.
    pub(super) fn past_hole(&mut self, tid: Tid) {
        let Some(task) = self.known.tree.get_mut(&tid) else { return };
        let Some(to) = task.hole.take() else { return };
        let passed = to.saturating_sub(task.since);
        task.since = task.since.max(to);
        if task.counts {
            task.segment.times.unknown += passed;
            self.path.lost(&mut task.walk, task.label, to);
        }
    }

    /// A task does what only a running one can: it has run since the last hole, if nothing else was seen of it since.
    pub(super) fn runs_after_hole(&mut self, tid: Tid, cpu: u16, now: u64) {
        let Some(task) = self.known.tree.get(&tid).filter(|task| task.hole.is_some()) else { return };
        let known = self.cpus.current(cpu);
        if task.state != State::Lost || known.is_some_and(|runs| runs != tid) {
            return;
        }
        self.past_hole(tid);
        self.cpus.flush(cpu, now, &self.known);
        if known.is_none() {
            self.cpus.began_with(cpu, tid, now, &self.known);
            let it = self.cpus.get(cpu);
            (it.since, it.in_tree) = (now, true);
            self.idle.turn(usize::from(cpu), Use::Busy, 1, now);
        }
        if let Some(task) = self.known.tree.get_mut(&tid) {
            task.state = State::Running(cpu);
            task.last_cpu = Some(cpu);
        }
    }

    /// Of the unknown time of a task that is gone: what the kernel says that it ran and waited beyond what was seen.
    pub(super) fn share_unknown(&mut self, tid: Tid, totals: &Totals) {
        let Some(task) = self.known.tree.get_mut(&tid) else { return };
        let times = &mut task.segment.times;
        let ran = totals.on_cpu_ns().saturating_sub(task.start.on_cpu_ns() + task.before.run + times.run);
        let ran = ran.min(times.unknown);
        times.run += ran;
        times.unknown -= ran;
        let Some(delay) = totals.delay_ns else { return };
        let before = task.start.delay_ns.unwrap_or(0) + task.before.wait + times.wait;
        let waited = delay.saturating_sub(before).min(times.unknown);
        times.wait += waited;
        times.unknown -= waited;
        if waited > 0 {
            *self.cpus.sharers.entry((task.label, Holder::Unknown)).or_default() += waited;
        }
    }
}
