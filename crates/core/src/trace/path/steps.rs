//! The critical path by time: through which task it went from when to when. Every turn from one task to another is kept, so this is done only
//! for a stream that is kept itself; the accounts need no more than sums.

use super::super::event::Tid;

/// A stretch of the critical path: until its end, the end of all waited for this task. Nanoseconds of the stream's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The task.
    pub task: Tid,
    /// When the path came to it.
    pub from_ns: u64,
    /// When the path left it: the next step begins then.
    pub to_ns: u64,
}

/// The number of a turn. [`NO_TURN`] is none.
pub(super) type TurnId = u32;

/// Nothing before: where a path begins, and everywhere where turns are not kept.
pub(super) const NO_TURN: TurnId = TurnId::MAX;

/// A path comes to a task.
#[derive(Clone, Copy, Debug)]
struct Turn {
    task: Tid,
    at: u64,
    before: TurnId,
}

/// All turns of all paths.
#[derive(Debug, Default)]
pub(super) struct Turns {
    all: Vec<Turn>,
    /// The last one of the path of the task that ended last.
    pub(super) last: Option<TurnId>,
}

impl Turns {
    /// The path of a task comes to it at this moment, behind that turn of another path.
    pub(super) fn add(&mut self, task: Tid, at: u64, before: TurnId) -> TurnId {
        match TurnId::try_from(self.all.len()) {
            Ok(id) if id != NO_TURN => {
                self.all.push(Turn { task, at, before });
                id
            }
            // No stream that is kept has so many.
            _ => NO_TURN,
        }
    }

    /// From the beginning to `end`; steps of no length are none, and a task that the path comes back to at once has one.
    pub(super) fn steps(&self, end: u64) -> Vec<Step> {
        let get = |id: TurnId| self.all.get(usize::try_from(id).ok()?);
        let back = std::iter::successors(self.last.and_then(get), |turn| get(turn.before));
        let mut steps: Vec<Step> = Vec::new();
        let mut to_ns = end;
        for turn in back {
            if turn.at >= to_ns {
                continue;
            }
            match steps.last_mut().filter(|step| step.task == turn.task) {
                Some(step) => step.from_ns = turn.at,
                None => steps.push(Step { task: turn.task, from_ns: turn.at, to_ns }),
            }
            to_ns = turn.at;
        }
        steps.reverse();
        steps
    }
}
