//! The state of every task of the tree over time, from switches, wake-ups and moves.
//!
//! Each task is in one state at a time and every nanosecond is added to exactly one, so running, runnable and blocked
//! sum to its life. What the kernel does not show is mended and counted: a switch that its tracepoint missed, a wake-up
//! that was lost, a wake-up that lands before the sleeper has left its CPU.

use super::cpus::Cpus;
use super::event::{Block, Context, Left, Tid};
use super::flaws::Flaws;
use super::holder::Holder;
use super::idle::{self, ByKind, Idle, Use};
use super::known::Known;
use super::labels::Labels;
use super::ledger::Ledger;
use super::path::Path;
use super::setting::Setting;
use super::stages::Stages;
use super::task::{EarlyWake, State, Task, Times};

/// The states, and the accounts that they are added to.
#[derive(Debug)]
pub(super) struct Timeline {
    pub(super) setting: Setting,
    pub(super) labels: Labels,
    pub(super) known: Known,
    pub(super) cpus: Cpus,
    pub(super) idle: Idle,
    pub(super) ledger: Ledger,
    pub(super) stages: Stages,
    pub(super) path: Path,
    pub(super) flaws: Flaws,
    /// We have ended the tree: paths are over, and what still comes only counts.
    pub(super) stopped: bool,
}

/// One switch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Switch<'a> {
    pub(super) prev: Tid,
    pub(super) next: Tid,
    pub(super) left: Left,
    pub(super) block: Option<&'a Block>,
}

impl Timeline {
    pub(super) fn new(setting: Setting) -> Self {
        let idle = Idle::new(&setting.cores, &setting.open, setting.avoidable_from_ns);
        Self {
            setting,
            labels: Labels::new(),
            known: Known::default(),
            cpus: Cpus::default(),
            idle,
            ledger: Ledger::default(),
            stages: Stages::default(),
            path: Path::new(),
            flaws: Flaws::default(),
            stopped: false,
        }
    }

    /// Waits that come to count as avoidable by now do.
    pub(super) fn advance(&mut self, now: u64) {
        while let Some((at, task, number)) = self.idle.due(now) {
            if let Some(task) = self.known.tree.get_mut(&task) {
                self.idle.arm(&mut task.wait, task.mask, number, at);
            }
        }
    }

    /// A CPU went from one task to another.
    pub(super) fn switch(&mut self, cpu: u16, now: u64, switch: &Switch<'_>) {
        let believed = self.cpus.current(cpu);
        match believed {
            Some(task) if task != switch.prev => self.mend(cpu, now, task, switch.prev),
            Some(_) => self.cpus.flush(cpu, now, &self.known),
            None => {
                self.cpus.flush(cpu, now, &self.known);
                self.cpus.began_with(cpu, switch.prev, now, &self.known);
            }
        }
        if switch.prev != switch.next {
            self.leave(cpu, now, switch, believed.is_none());
        }
        self.cpus.settle(cpu, now, None);
        let to_tree = self.known.tree.contains_key(&switch.next);
        let it = self.cpus.get(cpu);
        it.current = Some(switch.next);
        it.since = now;
        let from_tree = std::mem::replace(&mut it.in_tree, to_tree);
        let used = if switch.next == 0 { Use::Idle } else { Use::Busy };
        self.idle.turn(usize::from(cpu), used, i32::from(to_tree) - i32::from(from_tree), now);
        if to_tree {
            self.enter(switch.next, cpu, now);
        }
    }

    /// The believed runner is not the one that leaves: a switch was not shown. Who ran how long since cannot be told
    /// here; the kernel's own account of run time puts it right at the task's end.
    fn mend(&mut self, cpu: u16, now: u64, believed: Tid, prev: Tid) {
        self.flaws.gaps.add(Some(cpu));
        self.cpus.flush_unknown(cpu, now);
        let since = self.cpus.get(cpu).since;
        if let Some(task) = self.known.tree.get_mut(&believed)
            && task.state == State::Running(cpu)
        {
            task.segment.doubtful_run += now - since.max(task.since);
            task.charge(now);
            task.walk.ran(now);
            task.state = State::Lost;
            task.block = None;
        }
        if let Some(task) = self.known.tree.get_mut(&prev)
            && matches!(task.state, State::Runnable(_))
        {
            task.segment.doubtful_wait += now - since.max(task.since);
        }
    }

    /// A task that was there before is blocked, and its switch was before anything was seen.
    pub(super) fn found(&mut self, tid: Tid, left: Left, block: Block) {
        if let Some(task) = self.known.tree.get_mut(&tid).filter(|task| task.state == State::Lost) {
            task.state = State::Blocked;
            task.left = left;
            task.block = Some(block);
        }
    }

    /// The task of a switch that leaves its CPU.
    fn leave(&mut self, cpu: u16, now: u64, switch: &Switch<'_>, first: bool) {
        self.past_hole(switch.prev);
        let Some(task) = self.known.tree.get_mut(&switch.prev) else {
            if switch.left == Left::Dead {
                self.known.others.remove(&switch.prev);
            }
            return;
        };
        match task.state {
            State::Dead => return,
            // The former leader of a process, whose number the thread that called exec has taken.
            State::Running(other) if other != cpu && switch.left == Left::Dead => return,
            State::Blocked => self.wake_unseen(switch.prev, now),
            // The first record of a CPU: it has been there all the time.
            State::Lost if first => task.state = State::Running(cpu),
            State::Lost => self.settle_lost(switch.prev, now, true),
            State::Running(_) | State::Runnable(_) => {}
        }
        self.flaws.switches += 1;
        let next = match switch.left {
            Left::Runnable | Left::Throttled => State::Runnable(cpu),
            Left::Dead => State::Dead,
            _ => State::Blocked,
        };
        if let Some(task) = self.known.tree.get_mut(&switch.prev) {
            task.left = switch.left;
            // Where its switch in was not seen, it ran here all the same.
            task.last_cpu.get_or_insert(cpu);
        }
        self.turn(switch.prev, now, next);
        let Some(task) = self.known.tree.get_mut(&switch.prev) else { return };
        task.block = switch.block.copied();
        let early = task.early.take();
        match next {
            State::Blocked => task.segment.voluntary += 1,
            State::Runnable(_) => task.segment.involuntary += 1,
            _ => {}
        }
        if next == State::Blocked
            && let Some(early) = early
        {
            self.unblock(switch.prev, now, Some((early.waker, &early.context)));
            self.turn(switch.prev, now, State::Runnable(cpu));
        }
    }

    /// The task of a switch that gets the CPU.
    fn enter(&mut self, tid: Tid, cpu: u16, now: u64) {
        self.past_hole(tid);
        let Some(task) = self.known.tree.get_mut(&tid) else { return };
        match task.state {
            State::Dead => return,
            State::Blocked => self.wake_unseen(tid, now),
            State::Lost => self.settle_lost(tid, now, true),
            State::Running(other) if other != cpu => {
                self.flaws.gaps.add(Some(cpu));
                task.segment.doubtful_run += now - task.since;
            }
            State::Running(_) | State::Runnable(_) => {}
        }
        self.turn(tid, now, State::Running(cpu));
        let Some(task) = self.known.tree.get_mut(&tid) else { return };
        task.early = None;
        if task.last_cpu != Some(cpu) {
            task.segment.migrations += u64::from(task.last_cpu.is_some());
            task.last_cpu = Some(cpu);
            self.ledger.ran_on(task.label, cpu);
        }
    }

    /// A task was made runnable.
    pub(super) fn wake(&mut self, wakee: Tid, waker: Tid, context: &Context, now: u64) {
        self.past_hole(wakee);
        let Some(task) = self.known.tree.get_mut(&wakee) else { return };
        match task.state {
            State::Blocked => {
                let cpu = task.last_cpu.unwrap_or(0);
                self.unblock(wakee, now, Some((waker, context)));
                self.turn(wakee, now, State::Runnable(cpu));
            }
            State::Lost => {
                let cpu = task.last_cpu.unwrap_or(0);
                self.settle_lost(wakee, now, false);
                self.turn(wakee, now, State::Runnable(cpu));
            }
            // It has not left its CPU yet. Either it goes to sleep nevertheless and is queued behind its switch, or it runs on.
            State::Running(_) => task.early = Some(EarlyWake { waker, context: context.clone() }),
            State::Runnable(_) | State::Dead => {}
        }
    }

    /// A woken task was put on a run queue.
    pub(super) fn queued(&mut self, task: Tid, on: u16, now: u64) {
        self.past_hole(task);
        let Some(it) = self.known.tree.get_mut(&task) else { return };
        match it.state {
            State::Runnable(cpu) if cpu != on => self.requeue(task, on, now),
            State::Runnable(_) | State::Dead => {}
            // The wake-up was complete before it left: it never slept.
            State::Running(_) => it.early = None,
            State::Blocked => {
                self.wake_unseen(task, now);
                self.turn(task, now, State::Runnable(on));
            }
            State::Lost => {
                self.settle_lost(task, now, false);
                self.turn(task, now, State::Runnable(on));
            }
        }
    }

    /// A task was moved to another CPU's run queue.
    pub(super) fn migrate(&mut self, task: Tid, to: u16, now: u64) {
        if let Some(it) = self.known.tree.get(&task)
            && let State::Runnable(cpu) = it.state
            && cpu != to
        {
            self.requeue(task, to, now);
        }
    }

    /// A task does something that only a running one can do.
    pub(super) fn must_run(&mut self, tid: Tid, cpu: u16, now: u64) {
        self.runs_after_hole(tid, cpu, now);
        self.past_hole(tid);
        let Some(state) = self.known.tree.get(&tid).map(|task| task.state) else { return };
        match state {
            State::Running(_) | State::Dead => return,
            _ if !self.setting.whole() => return,
            State::Runnable(_) => {}
            State::Blocked => self.wake_unseen(tid, now),
            State::Lost => self.settle_lost(tid, now, true),
        }
        self.flaws.gaps.add(Some(cpu));
        self.turn(tid, now, State::Running(cpu));
    }

    /// A waiting task waits for another CPU from now on.
    fn requeue(&mut self, tid: Tid, to: u16, now: u64) {
        let Some(State::Runnable(from)) = self.known.tree.get(&tid).map(|task| task.state) else { return };
        self.cpus.flush(from, now, &self.known);
        self.cpus.flush(to, now, &self.known);
        let Some(task) = self.known.tree.get_mut(&tid) else { return };
        task.charge(now);
        task.state = State::Runnable(to);
        if let Some(label) = task.queued_as {
            task.walk.moved(self.cpus.held(from), self.cpus.held_for_new(to));
            self.cpus.dequeue(from, label, now);
            self.cpus.enqueue(to, label, now);
            self.idle.moved(&mut task.wait, (task.mask, task.mask), to, now);
        }
    }

    /// Brings a task into another state, with all accounts.
    pub(super) fn turn(&mut self, tid: Tid, now: u64, next: State) {
        let Some(state) = self.known.tree.get(&tid).map(|task| task.state) else { return };
        for state in [state, next] {
            if let State::Runnable(cpu) = state {
                self.cpus.flush(cpu, now, &self.known);
            }
        }
        let Some(task) = self.known.tree.get_mut(&tid) else { return };
        task.charge(now);
        if let (State::Runnable(cpu), Some(label)) = (state, task.queued_as.take()) {
            let avoidable = self.idle.end(&mut task.wait, task.mask, now);
            self.path.waited(&mut task.walk, label, self.cpus.held(cpu), &avoidable, now);
            self.cpus.dequeue(cpu, label, now);
            idle::add(&mut task.segment.avoidable, &avoidable);
            self.ledger.avoided(&avoidable);
        }
        if let (State::Runnable(_), Some((label, since))) = (state, task.throttled.take()) {
            let held = [(Holder::Throttled, now - since)];
            *self.cpus.sharers.entry((label, Holder::Throttled)).or_default() += now - since;
            self.path.waited(&mut task.walk, label, &held, &ByKind::default(), now);
        }
        if let State::Running(_) = state {
            task.walk.ran(now);
        }
        task.state = next;
        if let (State::Runnable(cpu), true) = (next, task.counts && self.setting.whole()) {
            let after = matches!(state, State::Running(_) | State::Dead).then_some(None);
            if matches!(state, State::Running(_)) && task.left == Left::Throttled {
                task.throttled = Some((task.label, now));
                return task.walk.waits(after, &[]);
            }
            task.queued_as = Some(task.label);
            task.walk.waits(after, self.cpus.held_for_new(cpu));
            self.cpus.enqueue(cpu, task.label, now);
            task.wait = self.idle.begin(tid, task.mask, cpu, now);
        }
    }

    /// A blocked task goes on though nobody was seen to wake it.
    fn wake_unseen(&mut self, tid: Tid, now: u64) {
        if self.setting.whole() {
            let on = self.known.tree.get(&tid).map(Task::seen_on);
            self.flaws.unfinished.add(on);
        }
        self.unblock(tid, now, None);
    }

    /// The time in which a task had left its CPU unseen: it waited for a CPU (nobody woke it), or was blocked.
    pub(super) fn settle_lost(&mut self, tid: Tid, now: u64, waited: bool) {
        let Some(task) = self.known.tree.get_mut(&tid) else { return };
        let passed = task.charge(now);
        if waited {
            task.segment.times.blocked -= passed;
            task.segment.times.wait += passed;
            *self.cpus.sharers.entry((task.label, Holder::Unknown)).or_default() += passed;
            self.path_lost(tid, now);
        } else {
            self.unblock_for(tid, passed, None, now);
        }
    }

    /// The blocked time of a task ends now: it is given to its cause.
    pub(super) fn unblock(&mut self, tid: Tid, now: u64, wake: Option<(Tid, &Context)>) {
        let Some(task) = self.known.tree.get_mut(&tid) else { return };
        let passed = task.charge(now);
        self.unblock_for(tid, passed, wake, now);
    }

    /// Corrects the times of a task's segment where switches were not shown, by the kernel's own account. `unseen`: so long
    /// it left its CPU and came back within what looks like one turn.
    pub(super) fn correct(&mut self, tid: Tid, kernel_run: u64, unseen: u64) {
        let Some(task) = self.known.tree.get_mut(&tid) else { return };
        task.segment.doubtful_run += unseen;
        let segment = &mut task.segment;
        let Times { run, .. } = segment.times;
        let unknown = self.cpus.sharers.entry((task.label, Holder::Unknown)).or_default();
        if run > kernel_run {
            let much = (run - kernel_run).min(segment.doubtful_run);
            segment.times.run -= much;
            segment.times.wait += much;
            *unknown += much;
        } else {
            let much = (kernel_run - run).min(segment.doubtful_wait).min(segment.times.wait).min(*unknown);
            segment.times.run += much;
            segment.times.wait -= much;
            *unknown -= much;
        }
    }
}
