//! What is known of one task of the tree: its state now, and its time so far.

use super::event::{Block, Context, Left, Pid, Tid, Totals};
use super::idle::{ByKind, Wait};
use super::labels::Label;
use super::path::Walk;
use super::report::Cause;
use super::searches::Search;

/// What a task does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Runs on a CPU.
    Running(u16),
    /// Waits for a CPU, on the run queue of this one.
    Runnable(u16),
    /// Blocked.
    Blocked,
    /// Left its CPU unseen: the next record says whether it was blocked or waited.
    Lost,
    /// Ended.
    Dead,
}

/// Time by state, nanoseconds. They sum to the time passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Times {
    pub(super) run: u64,
    pub(super) wait: u64,
    pub(super) blocked: u64,
    /// Passed while records were lost: in which state is not known.
    pub(super) unknown: u64,
}

impl Times {
    pub(super) fn life(&self) -> u64 {
        self.run + self.wait + self.blocked + self.unknown
    }

    pub(super) fn add(&mut self, other: &Times) {
        self.run += other.run;
        self.wait += other.wait;
        self.blocked += other.blocked;
        self.unknown += other.unknown;
    }

    /// The parts of a life by what the kernel adds up. They sum to the life: what the kernel counts beyond it (it knows the
    /// times before the task was seen) is cut.
    pub(super) fn of_totals(life: u64, run: u64, wait: u64) -> Self {
        let run = run.min(life);
        let wait = wait.min(life - run);
        Self { run, wait, blocked: life - run - wait, unknown: 0 }
    }
}

/// The time of a task under one command: from its fork or exec to its next exec or end.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Segment {
    pub(super) from: u64,
    pub(super) times: Times,
    /// Of the running: perhaps it had left unseen.
    pub(super) doubtful_run: u64,
    /// Of the waiting: perhaps it ran already.
    pub(super) doubtful_wait: u64,
    /// Waits that were avoidable, by kind ([`super::idle`]).
    pub(super) avoidable: ByKind,
    pub(super) voluntary: u64,
    pub(super) involuntary: u64,
    pub(super) migrations: u64,
}

/// A wake-up that came while the task was still on its CPU.
#[derive(Clone, Debug)]
pub(super) struct EarlyWake {
    pub(super) waker: Tid,
    pub(super) context: Context,
}

/// One task of the tree.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) process: Pid,
    /// The process that made it, if that is of the tree.
    pub(super) parent: Option<Pid>,
    pub(super) label: Label,
    pub(super) state: State,
    /// Since when it is in this state (or since when its time is not yet added up).
    pub(super) since: u64,
    /// Up to when records were lost since then: what it did until there is not known, and nothing was heard of it since.
    pub(super) hole: Option<u64>,
    /// Its time counts: false for a held task before its first exec.
    pub(super) counts: bool,
    pub(super) from: u64,
    pub(super) segment: Segment,
    /// Times of the segments before.
    pub(super) before: Times,
    /// What the kernel had counted when the segment began.
    pub(super) base: Totals,
    /// What the kernel had counted when its time began.
    pub(super) start: Totals,
    /// [`Task::base`] was given for this segment, or it is the first one.
    pub(super) based: bool,
    pub(super) left: Left,
    pub(super) block: Option<Block>,
    pub(super) early: Option<EarlyWake>,
    /// It is blocked since before we ended the tree: what it waited for until then.
    pub(super) cut: Option<(Cause, Option<Label>)>,
    /// Under which name it waits for its CPU, while it does.
    pub(super) queued_as: Option<Label>,
    /// The same while its cgroup has no CPU quota left, and since when.
    pub(super) throttled: Option<(Label, u64)>,
    pub(super) wait: Wait,
    pub(super) mask: Option<usize>,
    pub(super) last_cpu: Option<u16>,
    /// Where it was told of first.
    pub(super) told_on: u16,
    pub(super) search: Option<Search>,
    /// The end of its path.
    pub(super) walk: Walk,
}

impl Task {
    pub(super) fn new(process: Pid, label: Label, at: u64, cpu: u16) -> Self {
        Self {
            process,
            parent: None,
            label,
            state: State::Runnable(cpu),
            since: at,
            hole: None,
            counts: true,
            from: at,
            segment: Segment { from: at, ..Segment::default() },
            before: Times::default(),
            base: Totals::default(),
            start: Totals::default(),
            based: true,
            left: Left::Runnable,
            block: None,
            early: None,
            cut: None,
            queued_as: None,
            throttled: None,
            wait: Wait::default(),
            mask: None,
            last_cpu: None,
            told_on: cpu,
            search: None,
            walk: Walk::default(),
        }
    }

    /// The CPU where it was last seen: it ran there, or waited for it, or was made there.
    pub(super) fn seen_on(&self) -> u16 {
        match self.state {
            State::Running(cpu) | State::Runnable(cpu) => cpu,
            State::Blocked | State::Lost | State::Dead => self.last_cpu.unwrap_or(self.told_on),
        }
    }

    /// Adds up the time in the present state. Lost time is settled by what comes next: the next state.
    pub(super) fn charge(&mut self, now: u64) -> u64 {
        let passed = now - self.since;
        self.since = now;
        if !self.counts {
            return 0;
        }
        let times = &mut self.segment.times;
        match self.state {
            State::Running(_) => times.run += passed,
            State::Runnable(_) => times.wait += passed,
            State::Blocked | State::Lost => times.blocked += passed,
            State::Dead => {}
        }
        passed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the documentation says of memory, and 100 000 living tasks in less than 100 MB.
    #[test]
    fn a_task_is_small() {
        assert!(size_of::<Task>() <= 1000, "{}", size_of::<Task>());
    }
}
