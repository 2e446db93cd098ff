//! Where the tree spent its time, by stack.
//!
//! On a CPU the clock's samples are counted, each for the time between two of them. Off it the stack at which a task
//! blocked counts, with the cause, for as long as it was blocked; waiting for a CPU is a state of its own.

use std::collections::HashMap;

use whyfaster_core::trace::cause::cause;
use whyfaster_core::trace::event::{Block, Context, Event, Left, Skipped, Stack, Tid, What};
use whyfaster_core::trace::report::Cause;

use super::sentence::cause_words;
use super::who::Who;

/// Different stacks that are kept, and what stands for the command of all others.
const STACKS: usize = 100_000;
const MORE: &str = "(more stacks than are kept)";
/// Frames of a stack that was not taken.
const UNKNOWN: &str = "(stack not taken)";
/// The frame of a task between its birth and its first time on a CPU.
const NOT_YET_RUN: &str = "(not yet run)";
/// Frames at addresses where no file is mapped: code made at run time, or what a walk by frame pointers finds in code that
/// keeps none. Their numbers are different in every stack, so that nothing would fold.
const UNRESOLVED: &str = "(unresolved)";

/// Collects the stacks of a stream.
#[derive(Debug)]
pub struct Flame {
    who: Who,
    sample_ns: u64,
    stacks: HashMap<Place, u64>,
    tasks: HashMap<Tid, Off>,
}

/// What a task does that is not running.
#[derive(Debug, Default)]
struct Off {
    /// The stack at which it blocked last; comes just before or just after the switch.
    stack: Option<String>,
    blocked: Option<(u64, Left, Option<Block>)>,
    runnable: Option<u64>,
    /// It has not run yet, so that there is no stack.
    fresh: bool,
    /// Belongs to the tree.
    tree: bool,
}

/// What a task does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// It runs.
    Running,
    /// It waits for a CPU.
    Runnable,
    /// It is blocked, and by what.
    Blocked(Cause),
}

/// A command in a state, and its stack.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// What it does.
    pub state: State,
    /// The command.
    pub command: String,
    /// The frames, the outermost first, parted by ';', which no frame holds; those of the kernel end in `_[k]`.
    pub frames: String,
}

/// Nanoseconds at each place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flames(pub Vec<(Place, u64)>);

impl Flame {
    /// Collects samples that were taken this many times a second.
    pub fn new(samples_per_s: u32) -> Self {
        let sample_ns = 1_000_000_000 / u64::from(samples_per_s.max(1));
        Self { who: Who::default(), sample_ns, stacks: HashMap::new(), tasks: HashMap::new() }
    }

    /// Takes one event of the stream.
    pub fn push(&mut self, event: &Event) {
        match &event.what {
            What::Stack(stack) => self.stack(stack),
            What::Switch { prev, next, left, block } => {
                self.switched_out(*prev, *left, *block, event.at);
                self.switched_in(*next, event.at);
            }
            What::Wake { wakee, context, .. } => self.woken(*wakee, context, event.at),
            What::Fork { parent, child, .. } => {
                // A child of the tree waits for a CPU from its birth on; what was found when it ran already may run.
                let born = self.tasks.get(parent).is_some_and(|off| off.tree);
                let runnable = born.then_some(event.at);
                self.tasks.insert(*child, Off { tree: true, fresh: born, runnable, ..Off::default() });
            }
            What::End { task, .. } | What::Skipped(Skipped { task, .. }) => {
                self.tasks.remove(task);
            }
            _ => {}
        }
        self.who.see(event);
    }

    /// What was collected. Waits that had not ended are not in it: how long they last, nobody knows.
    pub fn finish(self) -> Flames {
        Flames(self.stacks.into_iter().collect())
    }

    fn stack(&mut self, stack: &Stack) {
        let frames = joined(&stack.user, &stack.kernel);
        if stack.blocking {
            self.tasks.entry(stack.task).or_default().stack = Some(frames);
            return;
        }
        self.add(stack.task, State::Running, frames, self.sample_ns);
    }

    fn switched_out(&mut self, task: Tid, left: Left, block: Option<Block>, at: u64) {
        let Some(off) = self.tasks.get_mut(&task) else { return };
        match left {
            Left::Runnable | Left::Throttled => off.runnable = Some(at),
            Left::Dead => {}
            _ => off.blocked = Some((at, left, block)),
        }
    }

    fn woken(&mut self, task: Tid, context: &Context, at: u64) {
        let Some(off) = self.tasks.get_mut(&task) else { return };
        if let Some((since, left, block)) = off.blocked.take() {
            let stack = off.stack.take();
            off.runnable = Some(at);
            let state = State::Blocked(cause(left, block.as_ref(), Some(context)));
            self.add(task, state, stack.unwrap_or_else(|| UNKNOWN.to_owned()), at.saturating_sub(since));
        }
    }

    fn switched_in(&mut self, task: Tid, at: u64) {
        let Some(off) = self.tasks.get_mut(&task) else { return };
        let stack = off.stack.take();
        let fresh = std::mem::take(&mut off.fresh);
        // Its wake-up was not seen.
        if let Some((since, left, block)) = off.blocked.take() {
            let state = State::Blocked(cause(left, block.as_ref(), None));
            self.add(task, state, stack.unwrap_or_else(|| UNKNOWN.to_owned()), at.saturating_sub(since));
        } else if let Some(since) = off.runnable.take()
            && off.tree
        {
            let frames = if fresh { NOT_YET_RUN.to_owned() } else { String::new() };
            self.add(task, State::Runnable, frames, at.saturating_sub(since));
        }
    }

    fn add(&mut self, task: Tid, state: State, frames: String, ns: u64) {
        let place = Place { state, command: clean(&self.who.command(task)), frames };
        if let Some(sum) = self.stacks.get_mut(&place) {
            *sum += ns;
        } else if self.stacks.len() < STACKS {
            self.stacks.insert(place, ns);
        } else {
            let rest = Place { state, command: MORE.to_owned(), frames: String::new() };
            *self.stacks.entry(rest).or_default() += ns;
        }
    }
}

/// Outermost frame first; frames of the kernel carry the mark that flame graph programs colour by.
fn joined(user: &[String], kernel: &[String]) -> String {
    let name = |frame: &String| if is_address(frame) { UNRESOLVED.to_owned() } else { clean(frame) };
    let user = user.iter().rev().map(name);
    let kernel = kernel.iter().rev().map(|frame| format!("{}_[k]", clean(frame)));
    let mut frames: Vec<String> = user.chain(kernel).collect();
    frames.dedup_by(|a, b| a == UNRESOLVED && b == UNRESOLVED);
    if frames.is_empty() { UNKNOWN.to_owned() } else { frames.join(";") }
}

/// Whether a frame of user code is only a number, for want of a file at that address.
fn is_address(frame: &str) -> bool {
    let digits = frame.strip_prefix("0x");
    digits.is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// A frame may hold neither what parts frames nor what ends a line.
fn clean(frame: &str) -> String {
    frame
        .chars()
        .map(|c| {
            if c == ';' {
                ':'
            } else if c.is_control() {
                '?'
            } else {
                c
            }
        })
        .collect()
}

impl State {
    /// What it is off the CPU for; `None` on it.
    pub fn waits(self) -> Option<&'static str> {
        match self {
            Self::Running => None,
            Self::Runnable => Some("waiting for a CPU"),
            Self::Blocked(cause) => Some(cause_words(cause)),
        }
    }
}

#[cfg(test)]
mod tests {
    use whyfaster_core::trace::event::{FileKind, Softirq, TaskKind};

    use super::*;
    use crate::trace::outputs::{folded, svg};

    fn at(at: u64, what: What) -> Event {
        Event { at, cpu: 0, what }
    }

    fn stack(task: Tid, blocking: bool) -> What {
        let frames = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        What::Stack(Stack {
            task,
            blocking,
            kernel: frames(&["inner", "outer"]),
            user: frames(&["leaf", "ma;in"]),
        })
    }

    fn flames() -> Flames {
        let mut flame = Flame::new(1000);
        let disk =
            Block { call: None, fault: false, io: true, file: FileKind::File, inode: 0, bitset: false };
        let switch = |prev, next, left, block| What::Switch { prev, next, left, block };
        for event in [
            at(0, What::Fork { parent: 0, child: 7, process: 7, allowed: Vec::new() }),
            at(0, What::Name { task: 7, process: 7, name: "sort".to_owned(), kind: TaskKind::Tree }),
            at(1_000_000, stack(7, false)),
            at(2_000_000, stack(7, false)),
            at(2_100_000, stack(7, true)),
            at(2_100_000, switch(7, 0, Left::Uninterruptible, Some(disk))),
            at(5_100_000, What::Wake { wakee: 7, waker: 0, context: Context::Softirq(Softirq::Block) }),
            at(5_600_000, switch(0, 7, Left::Runnable, None)),
            at(6_000_000, switch(7, 0, Left::Sleeping, None)),
        ] {
            flame.push(&event);
        }
        flame.finish()
    }

    #[test]
    fn time_on_and_off_the_cpu_is_folded_by_cause() {
        let command = "sort (forked)";
        let stack = "ma:in;leaf;outer_[k];inner_[k]";
        assert_eq!(
            folded(&flames()),
            format!(
                "off-CPU;waiting for a CPU;{command} 500\noff-CPU;waiting for a disk;{command};{stack} 3000\non-CPU;{command};{stack} 2000\n"
            )
        );
    }

    #[test]
    fn a_new_task_waits_for_a_cpu_before_it_has_a_stack() {
        let fork = |parent, child| What::Fork { parent, child, process: child, allowed: Vec::new() };
        let switch = |prev, next| What::Switch { prev, next, left: Left::Runnable, block: None };
        let mut flame = Flame::new(1000);
        for event in [
            at(0, fork(1, 7)),
            at(0, What::Name { task: 7, process: 7, name: "sh".to_owned(), kind: TaskKind::Tree }),
            at(1_000_000, switch(0, 7)),
            at(2_000_000, fork(7, 8)),
            at(2_500_000, switch(7, 8)),
            at(3_000_000, switch(8, 7)),
        ] {
            flame.push(&event);
        }
        let folded = folded(&flame.finish());
        assert!(folded.contains("(forked);(not yet run) 500\n"), "{folded}");
        let all: u64 = folded.lines().filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).sum();
        assert_eq!(all, 1000, "the child once, the parent once: {folded}");
    }

    #[test]
    fn the_graph_is_an_svg_with_the_frames_in_it() {
        let flames = flames();
        let drawn = |flames, title| String::from_utf8(svg(flames, title).unwrap()).unwrap();
        let graph = drawn(&flames, "sort <input>");
        for part in ["<svg", "sort &lt;input&gt;", "waiting for a disk", "inner"] {
            assert!(graph.contains(part), "{part}");
        }
        let none = Flame::new(99).finish();
        assert!(folded(&none).is_empty());
        assert!(drawn(&none, "").contains("no stack"));
    }

    #[test]
    fn numbers_without_a_file_are_one_frame() {
        let frames = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let user = frames(&["leaf", "0x10", "0xfd", "sort+0xca6", "main"]);
        assert_eq!(joined(&user, &frames(&["0xffff"])), "main;sort+0xca6;(unresolved);leaf;0xffff_[k]");
    }

    #[test]
    fn memory_is_bounded_and_no_time_is_lost() {
        let mut flame = Flame::new(1000);
        for i in 0..STACKS + 5 {
            flame.add(7, State::Running, format!("f{i}"), 1_000);
        }
        assert_eq!(flame.stacks.len(), STACKS + 1);
        let more = flame.stacks.iter().find(|(place, _)| place.command == MORE);
        assert_eq!(more.map(|(_, ns)| *ns), Some(5_000));
    }
}
