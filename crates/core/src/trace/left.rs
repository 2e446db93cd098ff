//! Tasks that are still there when observing ends.
//!
//! They all end at that moment. One that is blocked then was not seen to be woken, so whom it waits for does not follow
//! from a wake-up: it follows from where it is blocked. Who waits for a child waits for the last one that lives, who waits
//! for a pipe waits for the process at its other end, and its path is that one's. The same holds where we end the tree: that
//! it is we who end the waits then says nothing of them.

use rustc_hash::{FxHashMap, FxHashSet};

use super::cause;
use super::event::{Pid, Tid};
use super::report::Cause;
use super::task::State;
use super::timeline::Timeline;

impl Timeline {
    /// The waits of all tasks that are blocked now, and of which no end was seen. `goes_on`: the tasks are there still.
    pub(super) fn settle_blocked(&mut self, goes_on: bool, now: u64) {
        if !self.setting.whole() {
            return;
        }
        let mut blocked: Vec<Tid> =
            self.known.tree.keys().copied().filter(|tid| self.is_blocked(*tid)).collect();
        if blocked.is_empty() {
            return;
        }
        // Sums do not depend on the order, but rows of equal length do.
        blocked.sort_unstable();
        let ends = Ends::of(self);
        for tid in blocked {
            let mut chain: Vec<(Tid, Option<Tid>)> = Vec::new();
            let mut seen = FxHashSet::default();
            let mut next = Some(tid);
            while let Some(tid) = next.filter(|tid| self.is_blocked(*tid) && seen.insert(*tid)) {
                next = ends.waited_for(self, tid);
                chain.push((tid, next));
            }
            // Tasks that wait for each other in a circle: the wait of the one that closes it is its own.
            if let (Some((_, last)), Some(next)) = (chain.last_mut(), next)
                && seen.contains(&next)
            {
                *last = None;
            }
            // Whoever is waited for comes first: its path is the end of the others'.
            chain.into_iter().rev().for_each(|(tid, on)| self.still_blocked(tid, on, goes_on, now));
        }
    }

    fn is_blocked(&self, tid: Tid) -> bool {
        self.known.tree.get(&tid).is_some_and(|task| task.counts && task.state == State::Blocked)
    }

    /// The paths of all tasks end now, though the tasks go on.
    pub(super) fn end_paths(&mut self, now: u64) {
        let mut tasks: Vec<Tid> = self.known.tree.keys().copied().collect();
        tasks.sort_unstable();
        for tid in tasks {
            let Some(state) = self.known.tree.get(&tid).map(|task| task.state) else { continue };
            let runs = matches!(state, State::Running(_) | State::Runnable(_));
            if runs {
                self.turn(tid, now, state);
            }
            let Some(mut task) = self.known.tree.remove(&tid) else { continue };
            if state == State::Lost {
                self.path.lost(&mut task.walk, task.label, now);
            }
            if state != State::Dead {
                self.path_ends(&mut task, now, runs);
            }
            self.known.tree.insert(tid, task);
        }
    }

    /// A task waits at the end of observing, for this one if that is known.
    fn still_blocked(&mut self, tid: Tid, on: Option<Tid>, goes_on: bool, now: u64) {
        // Who is waited for and runs, or waits for a CPU: its path is brought to this moment.
        if let Some((on, state)) = on.and_then(|on| Some((on, self.known.tree.get(&on)?.state)))
            && matches!(state, State::Running(_) | State::Runnable(_))
        {
            self.turn(on, now, state);
        }
        let peer = on.and_then(|on| self.known.tree.get(&on)).map(|on| (on.label, on.parent));
        let Some(task) = self.known.tree.get_mut(&tid) else { return };
        let (label, process, block) = (task.label, task.process, task.block);
        let cause = match cause::cause_of(self.setting.abi, task.left, block.as_ref(), None) {
            // Nothing else woke it: the signal that it waits for is that of a child's end.
            Cause::OtherProcess if peer.is_some() => Cause::Child,
            cause => cause,
        };
        if goes_on {
            task.cut = Some((cause, peer.map(|(label, _)| label)));
            return self.path_still_blocked(tid, cause, on, now);
        }
        let ns = task.charge(now);
        self.flaws.unfinished.add(Some(task.seen_on()));
        self.ledger.blocked(label, cause, peer.map(|(label, _)| label), ns, true);
        self.path_still_blocked(tid, cause, on, now);
        if peer.is_none_or(|(_, parent)| parent != Some(process)) {
            self.stages.waited(process, cause, block.map_or(0, |block| block.inode), ns);
        }
        self.turn(tid, now, State::Dead);
    }
}

/// Who there is to be waited for.
struct Ends {
    /// The task that speaks for a process: one that runs, or its first.
    speaks: FxHashMap<Pid, Tid>,
    /// The child of a process that was made last.
    child: FxHashMap<Pid, Pid>,
}

impl Ends {
    fn of(line: &Timeline) -> Self {
        let (mut speaks, mut child) = (FxHashMap::default(), FxHashMap::default());
        let mut made: FxHashMap<Pid, (u64, Pid)> = FxHashMap::default();
        let lives = line.known.tree.iter().filter(|(_, task)| task.counts && task.state != State::Dead);
        let mut tasks: Vec<_> = lives.collect();
        tasks.sort_unstable_by_key(|(tid, task)| {
            let waits = matches!(task.state, State::Blocked | State::Lost);
            (waits, **tid != task.process, **tid)
        });
        for (tid, task) in tasks {
            speaks.entry(task.process).or_insert(*tid);
            if let Some(parent) = task.parent.filter(|parent| *parent != task.process) {
                let last = made.entry(parent).or_default();
                if (task.from, task.process) >= *last {
                    *last = (task.from, task.process);
                    child.insert(parent, task.process);
                }
            }
        }
        Self { speaks, child }
    }

    /// Whom a blocked task waits for.
    fn waited_for(&self, line: &Timeline, tid: Tid) -> Option<Tid> {
        let task = line.known.tree.get(&tid)?;
        let inode = task.block.map_or(0, |block| block.inode);
        let process = match cause::cause_of(line.setting.abi, task.left, task.block.as_ref(), None) {
            Cause::Child => *self.child.get(&task.process)?,
            Cause::PipeEmpty => line.stages.other_end(inode, task.process, true)?,
            Cause::PipeFull => line.stages.other_end(inode, task.process, false)?,
            Cause::OtherProcess if cause::waits_for_signal(line.setting.abi, task.block.as_ref()) => {
                *self.child.get(&task.process)?
            }
            _ => return None,
        };
        self.speaks.get(&process).copied().filter(|on| *on != tid)
    }
}
