//! The end of a wait: whether the path goes on with that of whoever ended it, or keeps the wait as a part.

use super::super::event::{Block, Context, Softirq, Tid};
use super::super::labels::Label;
use super::super::report::{Cause, PathKind, SharerKind};
use super::super::task::State;
use super::super::timeline::Timeline;
use super::parts::Key;

impl Timeline {
    /// A task is blocked no longer. Its path goes on with that of its waker, or has the wait as a part.
    pub(in super::super) fn path_unblocked(
        &mut self,
        tid: Tid,
        cause: Cause,
        wake: Option<(Tid, &Context)>,
        now: u64,
    ) {
        let Some((block, ns)) = self.waited_so_far(tid, cause, now) else { return };
        if let Some(task) = self.known.tree.get_mut(&tid) {
            self.path.settle(&mut task.walk, now - ns);
        }
        if let Some((waker, context)) = wake
            && self.path_brought(tid, waker, (cause, context), now)
        {
            return;
        }
        let by_task =
            wake.filter(|(waker, context)| matches!(context, Context::Task | Context::Sent) && *waker != tid);
        if let Some((waker, _)) = by_task
            && follows(cause, block.as_ref())
            && self.follow((tid, cause), waker, (now - ns, now))
        {
            return;
        }
        if cause == Cause::Timer
            && block.is_some_and(|block| block.bitset)
            && let Some(other) = self.thread_at_work(tid, ns, now)
            && self.follow((tid, cause), other, (now - ns, now))
        {
            return;
        }
        let waker = by_task.and_then(|(waker, _)| self.known.who(waker));
        let kept = own(cause, block.as_ref(), wake.map(|(_, context)| context), waker);
        let (kind, what) = match kept {
            // Who ended it is among what was lost.
            (PathKind::Unknown, what) if wake.is_none() && self.flaws.holes > 0 => (PathKind::Lost, what),
            kept => kept,
        };
        self.keep_wait(tid, kind, what, ns);
    }

    /// Another thread of its process that has run for at least half of a wait whose time limit is over: what a thread waits for with a limit, and
    /// asks for again when it is over, is what that one does. So Python's threads wait for the lock of the interpreter.
    fn thread_at_work(&self, tid: Tid, ns: u64, now: u64) -> Option<Tid> {
        let process = |tid: Tid| self.known.tree.get(&tid).map(|task| task.process);
        let own = process(tid);
        let others = self
            .cpus
            .running()
            .filter(|(other, since)| *other != tid && now.saturating_sub(*since) >= ns / 2);
        others.map(|(other, _)| other).find(|other| process(*other) == own)
    }

    /// A task is blocked still, and observing is over. Its path goes on with that of whom it waits for, which has been
    /// brought to this moment, or has the wait as a part.
    pub(in super::super) fn path_still_blocked(&mut self, tid: Tid, cause: Cause, on: Option<Tid>, now: u64) {
        let Some((block, ns)) = self.waited_so_far(tid, cause, now) else { return };
        if let Some((on, shared)) = on.and_then(|on| Some((on, self.path_at_end(on, now)?))) {
            let turn = self.turn_of(on);
            if let Some(task) = self.known.tree.get_mut(&tid) {
                self.path.go_on_with(&mut task.walk, shared);
                self.path.comes_to(tid, &mut task.walk, now, turn);
            }
            return;
        }
        let (kind, what) = own(cause, block.as_ref(), None, None);
        self.keep_wait(tid, kind, what, ns);
    }

    /// On what a task is blocked, and for how long so far. `None`: it has no path, or has not waited for anybody, for its wake-up came
    /// before it had left its CPU.
    fn waited_so_far(&mut self, tid: Tid, cause: Cause, now: u64) -> Option<(Option<Block>, u64)> {
        let task = self.known.tree.get_mut(&tid).filter(|task| task.walk.goes())?;
        task.walk.waited_for(cause);
        let ns = task.walk.pass(now);
        (ns > 0).then_some((task.block, ns))
    }

    /// A wait stays on the path of who waited.
    fn keep_wait(&mut self, tid: Tid, kind: PathKind, what: Option<Label>, ns: u64) {
        let Some(task) = self.known.tree.get(&tid) else { return };
        let key = self.path.keys.of(Key::Blocked { by: task.label, kind, what });
        self.path.nodes.add(task.walk.head, key, ns, 1);
    }

    /// The path of a task that was blocked since `since` becomes that of another, which runs. False if that has none.
    fn follow(&mut self, (tid, cause): (Tid, Cause), waker: Tid, (since, now): (u64, u64)) -> bool {
        let Some(shared) = self.path_shared(waker, now) else { return false };
        let turn = self.turn_of(waker);
        let parent = self.known.tree.get(&waker).and_then(|waker| waker.parent);
        if let Some(task) = self.known.tree.get_mut(&tid) {
            // Shells wait for the end of any child in sigsuspend(2) as well.
            if matches!(cause, Cause::Child | Cause::OtherProcess) && parent == Some(task.process) {
                self.path.joined(&mut task.walk, task.label, shared, (since, now));
            } else {
                self.path.go_on_with(&mut task.walk, shared);
            }
            self.path.comes_to(tid, &mut task.walk, now, turn);
        }
        true
    }

    /// The path of a running task up to now, for somebody else to go on with.
    pub(super) fn path_shared(&mut self, tid: Tid, now: u64) -> Option<super::Id> {
        let task = self.known.tree.get_mut(&tid)?;
        if !task.walk.goes() || !matches!(task.state, State::Running(_)) {
            return None;
        }
        task.walk.ran(now);
        self.path.settle(&mut task.walk, now);
        Some(self.path.share(&mut task.walk))
    }

    /// The path of a task that has been brought to the end of observing, whatever it does there.
    fn path_at_end(&mut self, tid: Tid, now: u64) -> Option<super::Id> {
        let task = self.known.tree.get_mut(&tid)?;
        (task.walk.goes() && task.walk.is_at(now)).then(|| self.path.share(&mut task.walk))
    }
}

/// Whether a wait that a task of the tree ended lasted as long as that one's path. A lock is let go by whoever happened
/// to hold it: the wait itself is what the lock costs. But with a bitset glibc waits for the end of a thread, or for a
/// condition, that is for what the other one does (`nptl/futex-internal.c`).
fn follows(cause: Cause, block: Option<&Block>) -> bool {
    match cause {
        Cause::Lock => block.is_some_and(|block| block.bitset),
        // What serves a fault is a device; a task that ends the wait let go of the address space, a lock.
        Cause::Stopped | Cause::PageFault => false,
        _ => true,
    }
}

/// What a wait is that stays on the path: its kind, and what it was for.
fn own(
    cause: Cause,
    block: Option<&Block>,
    context: Option<&Context>,
    waker: Option<(SharerKind, Label)>,
) -> (PathKind, Option<Label>) {
    let name = waker.map(|(_, label)| label);
    let outside = waker.filter(|(kind, _)| matches!(kind, SharerKind::Other | SharerKind::Tool));
    match cause {
        Cause::Lock => (PathKind::Lock, name),
        Cause::PageFault if fault_waits_for_disk(block, context, waker) => (PathKind::Disk, None),
        Cause::PageFault if waker.is_some() => (PathKind::Lock, name),
        Cause::Disk => (PathKind::Disk, None),
        Cause::WriteBack => (PathKind::WriteBack, None),
        Cause::Timer => (PathKind::Sleep, None),
        Cause::Network => (PathKind::Network, outside.map(|(_, label)| label)),
        Cause::Terminal => (PathKind::Terminal, None),
        Cause::Stopped => (PathKind::Stopped, None),
        Cause::PipeEmpty
        | Cause::PipeFull
        | Cause::Child
        | Cause::OtherProcess
        | Cause::Other
        | Cause::Lost
        | Cause::PageFault => match outside {
            Some((_, label)) => (PathKind::Outside, Some(label)),
            None => (PathKind::Unknown, None),
        },
    }
}

fn fault_waits_for_disk(
    block: Option<&Block>,
    context: Option<&Context>,
    waker: Option<(SharerKind, Label)>,
) -> bool {
    let device =
        matches!(context, Some(Context::Softirq(Softirq::Block) | Context::Hardirq | Context::Work(_)));
    let kernel = waker.is_some_and(|(kind, _)| kind == SharerKind::Kernel);
    block.is_some_and(|block| block.io) || device || kernel
}
