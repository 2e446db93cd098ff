//! A wait that is over: why it was, and who was at the other end.

use super::cause;
use super::event::{Block, Context, FileKind, Left, Tid};
use super::labels::Label;
use super::report::{Cause, SharerKind};
use super::stages::Contact;
use super::timeline::Timeline;

impl Timeline {
    /// A task was blocked for so long, until now.
    pub(super) fn unblock_for(&mut self, tid: Tid, ns: u64, wake: Option<(Tid, &Context)>, now: u64) {
        let counts = self.setting.whole();
        let Some(task) = self.known.tree.get_mut(&tid).filter(|task| counts && task.counts) else {
            return;
        };
        let (label, process, left, block) = (task.label, task.process, task.left, task.block);
        if let Some((cause, peer)) = task.cut.take() {
            self.ledger.blocked(label, cause, peer, ns, true);
            return self.stages.waited(process, cause, block.map_or(0, |block| block.inode), ns);
        }
        // Once we end the tree, that we wake a task says nothing of what it waits for.
        let ours = |waker: Tid| matches!(self.known.who(waker), Some((SharerKind::Tool, _)));
        let wake = wake.filter(|(waker, _)| !(self.stopped && ours(*waker)));
        let context = wake.map(|(_, context)| context);
        // Behind a hole it was found blocked: where is in none of the records.
        let lost = block.is_none() && wake.is_none() && left != Left::Stopped && self.flaws.holes > 0;
        let cause = match lost {
            true => Cause::Lost,
            false => cause::cause_of(self.setting.abi, left, block.as_ref(), context),
        };
        let peer = self.peer(tid, cause, block.as_ref(), wake);
        self.ledger.blocked(label, cause, peer, ns, wake.is_none());
        self.path_unblocked(tid, cause, wake, now);
        // What a process waits for from its own child is not its place in a pipeline.
        let waker = wake.and_then(|(waker, _)| self.known.tree.get(&waker));
        if waker.is_none_or(|waker| waker.parent != Some(process)) {
            self.stages.waited(process, cause, block.map_or(0, |block| block.inode), ns);
        }
    }

    /// The command at the other end: who woke the task, unless that was only the messenger.
    fn peer(
        &mut self,
        tid: Tid,
        cause: Cause,
        block: Option<&Block>,
        wake: Option<(Tid, &Context)>,
    ) -> Option<Label> {
        let (waker, context) = wake?;
        match (cause, context) {
            (Cause::PipeEmpty | Cause::PipeFull, Context::Task) => self.across(tid, cause, block, waker),
            (
                Cause::Child | Cause::Lock | Cause::OtherProcess | Cause::Network | Cause::Stopped,
                Context::Task,
            ) => self.known.who(waker).map(|(_, label)| label),
            (Cause::Network | Cause::OtherProcess, Context::Sent) => {
                self.known.who(waker).map(|(_, label)| label)
            }
            (Cause::Terminal, Context::Work(_)) => self.path_sender(tid, waker, cause, context),
            (Cause::Terminal, Context::Task) => {
                self.known.who(waker).filter(|(kind, _)| *kind != SharerKind::Kernel).map(|it| it.1)
            }
            // Who writes back, or turns the blocks of an encrypted disk into data, is worth a name.
            (Cause::Disk | Cause::WriteBack, Context::Work(function)) => Some(self.labels.of(function)),
            (Cause::Disk | Cause::WriteBack, Context::Task) => {
                self.known.who(waker).filter(|(kind, _)| *kind == SharerKind::Kernel).map(|(_, label)| label)
            }
            _ => None,
        }
    }

    /// The command at the other end of a pipe.
    fn across(&mut self, tid: Tid, cause: Cause, block: Option<&Block>, waker: Tid) -> Option<Label> {
        let blocked = self.known.tree.get(&tid)?;
        let Some(other) = self.known.tree.get(&waker).filter(|other| other.process != blocked.process) else {
            return self.known.who(waker).map(|(_, label)| label);
        };
        match block.filter(|block| block.file == FileKind::Pipe && block.inode != 0) {
            None => Some(other.label),
            Some(block) => Some(self.stages.contact(&Contact {
                inode: block.inode,
                blocked: (blocked.process, blocked.label),
                waker: (other.process, other.label),
                reads: cause == Cause::PipeEmpty,
                own_child: other.parent == Some(blocked.process),
            })),
        }
    }
}
