//! The end of a task, of its time under one command, and of the trace.

use super::analysis::Analysis;
use super::counts::Counts;
use super::event::{Tid, Totals};
use super::holder::Holder;
use super::ledger::Details;
use super::rows::Gone;
use super::setting::Facts;
use super::task::{Segment, State, Task, Times};

impl Analysis {
    /// A task is gone, or observing ends while it is there (`alive`). Without totals only the stream knows its times.
    pub(super) fn end(&mut self, tid: Tid, alive: bool, totals: Option<&Totals>, now: u64) {
        let Some(state) = self.line.known.tree.get(&tid).map(|task| task.state) else { return };
        // Its end is among what was lost: it was last known before, and its time ends there.
        let unheard =
            self.line.known.tree.get_mut(&tid).filter(|task| totals.is_none() && task.hole.is_some());
        let now = unheard.map_or(now, |task| {
            task.hole = None;
            task.since
        });
        self.line.past_hole(tid);
        if state != State::Dead {
            self.cut(tid, state, now);
        }
        let ran = match state {
            State::Running(_) | State::Runnable(_) => true,
            // It left its CPU for good. Where it lives it was blocked up to now, see `left`.
            State::Dead => !alive,
            State::Blocked | State::Lost => false,
        };
        if let Some((task, totals)) = self.line.known.tree.get(&tid).zip(totals) {
            let kernel_run = totals.on_cpu_ns().saturating_sub(task.start.on_cpu_ns() + task.before.run);
            let unseen = totals.unseen_ns.saturating_sub(task.base.unseen_ns);
            self.line.correct(tid, kernel_run, unseen);
            self.line.share_unknown(tid, totals);
        }
        let Some(mut task) = self.line.known.tree.remove(&tid) else { return };
        let at = task.since;
        self.line.idle.release(task.mask);
        self.searches.close(&mut self.line.labels, task.label, task.search.take(), false);
        let run = if task.counts { self.account(tid, &mut task, totals, at) } else { 0 };
        if task.counts {
            if !self.line.stopped {
                self.last_end = self.last_end.max(at);
            }
            self.line.path_ends(&mut task, at, ran);
        }
        if tid == task.process {
            self.wrappers.ended(task.process);
        }
        if let Some(gone) = self.processes.ended(task.process, run, at, alive) {
            self.line.stages.ended(task.process, gone.label, gone.life);
        }
    }

    /// Ends the state that a task is in, whose own end was not seen.
    fn cut(&mut self, tid: Tid, state: State, now: u64) {
        if self.line.setting.whole() {
            let on = self.line.known.tree.get(&tid).map(Task::seen_on);
            self.line.flaws.unfinished.add(on);
        }
        match state {
            State::Blocked => self.line.unblock(tid, now, None),
            State::Lost => self.line.settle_lost(tid, now, false),
            State::Running(_) | State::Runnable(_) | State::Dead => {}
        }
        self.line.turn(tid, now, State::Dead);
    }

    /// Adds the time of a task that is gone to all accounts. Its time on a CPU.
    fn account(&mut self, tid: Tid, task: &mut Task, totals: Option<&Totals>, at: u64) -> u64 {
        if !self.line.setting.whole() {
            let Some(totals) = totals else {
                self.tasks.timeless += 1;
                return 0;
            };
            task.segment.times = by_totals(task, totals, at);
        }
        let told = self.line.setting.whole() || totals.is_some_and(|totals| totals.delay_ns.is_some());
        self.close_segment(task, totals, told);
        let mut times = task.before;
        times.add(&task.segment.times);
        self.sums.task(at - task.from, &times, totals.map(|totals| (totals, &task.start)));
        let kernel = totals.and_then(|totals| Details::between(&task.start, totals).kernel);
        self.tasks.add(Gone {
            label: task.label,
            process: task.process,
            tid,
            from: task.from,
            to: at,
            times,
            kernel,
            told,
        });
        times.run
    }

    /// The time under one command is complete.
    fn close_segment(&mut self, task: &Task, totals: Option<&Totals>, told: bool) {
        let known = totals.filter(|_| task.based);
        let mut details = known.map(|totals| Details::between(&task.base, totals)).unwrap_or_default();
        let segment = &task.segment;
        if self.line.setting.whole() {
            details.voluntary = Some(segment.voluntary);
            details.involuntary = Some(segment.involuntary);
            details.migrations = Some(segment.migrations);
            self.line.stages.spent(task.process, &segment.times);
        }
        self.line.ledger.close(task.label, segment, &details, told);
    }

    /// A task runs another program from now on: its time so far is that of the command before. Where times come from
    /// what the kernel adds up and it was not asked in time, all of it goes to the last command.
    pub(super) fn next_segment(&mut self, tid: Tid, totals: Option<&Totals>, now: u64) {
        let whole = self.line.setting.whole();
        if let Some((task, totals)) = self.line.known.tree.get_mut(&tid).zip(totals).filter(|_| whole) {
            // Once the segment is closed, what a switch that was not shown did to it cannot be put right any more.
            task.charge(now);
            let kernel_run = totals.on_cpu_ns().saturating_sub(task.start.on_cpu_ns() + task.before.run);
            let unseen = totals.unseen_ns.saturating_sub(task.base.unseen_ns);
            self.line.correct(tid, kernel_run, unseen);
            self.line.share_unknown(tid, totals);
        }
        let Some(mut task) = self.line.known.tree.remove(&tid) else { return };
        if whole || totals.is_some() {
            task.charge(now);
            if let Some(totals) = totals.filter(|_| !whole) {
                task.segment.times = by_totals(&task, totals, now);
            }
            let told = whole || totals.is_some_and(|totals| totals.delay_ns.is_some());
            self.close_segment(&task, totals, told);
            task.before.add(&task.segment.times);
            task.segment = Segment { from: now, ..Segment::default() };
            task.based = totals.is_some();
            task.base = totals.copied().unwrap_or(task.base);
        }
        self.line.known.tree.insert(tid, task);
    }

    /// Where ends were lost, the kernel's count of them says when the last one was, if none is left.
    pub(super) fn end_by_kernel(&mut self, counts: &Counts) {
        let none_left = self.alive_by_kernel(counts) == Some(0);
        if let Some(last) = counts.lives.last_end_ns.filter(|_| none_left && self.line.flaws.holes > 0)
            && self.line.setting.whole()
            && !self.line.stopped
        {
            self.last_end = self.last_end.max(last);
            self.line.path.extend(self.last_end);
        }
    }

    /// Processes that are left, by what the kernel counted.
    pub(super) fn alive_by_kernel(&self, counts: &Counts) -> Option<u64> {
        let (forks, exits) = counts.lives.forks.zip(counts.lives.exits)?;
        self.began.map(|_| (forks + self.processes.first.max(1)).saturating_sub(exits))
    }

    /// Observing is over: whatever is still open ends here.
    pub(super) fn close(&mut self, facts: &Facts) {
        let now = facts.ended.unwrap_or(self.now).max(self.now);
        self.line.advance(now);
        self.end_those_left(now);
        let mut alive: Vec<Tid> = self.line.known.tree.keys().copied().collect();
        alive.sort_unstable();
        for tid in alive {
            // One that has left its CPU for good is gone, though nobody counted it.
            let dead = self.line.known.tree.get(&tid).is_some_and(|task| task.state == State::Dead);
            self.end(tid, !dead, None, now);
        }
        for cpu in self.line.cpus.all() {
            self.line.cpus.flush(cpu, now, &self.line.known);
            let unknown = self.line.cpus.current(cpu).is_none().then_some(Holder::Unknown);
            self.line.cpus.settle(cpu, now, unknown);
        }
    }
}

/// The times of a segment by what the kernel adds up.
fn by_totals(task: &Task, totals: &Totals, at: u64) -> Times {
    let life = at - task.segment.from;
    let run = totals.on_cpu_ns().saturating_sub(task.base.on_cpu_ns());
    let wait = totals.delay_ns.unwrap_or(0).saturating_sub(task.base.delay_ns.unwrap_or(0));
    Times::of_totals(life, run, wait)
}
