//! Where the tree spent its time, by stack: folded stacks, and a flame graph of them.
//!
//! Two roots stand beside each other. "on-CPU" counts the clock's samples, each for the time between two of them.
//! "off-CPU" takes the stack at which a task blocked, below the cause, for as long as it was blocked; "waiting for a
//! CPU" is a cause of its own. Values are microseconds.

use std::collections::HashMap;

use anyhow::Context as _;
use inferno::flamegraph::{Options, from_lines};
use whyfaster_core::trace::cause::cause;
use whyfaster_core::trace::event::{Block, Context, Event, Left, Skipped, Stack, Tid, What};

use super::sentence::cause_words;
use super::who::Who;

/// Different stacks that are kept; time of others is counted below "(more stacks than are kept)".
const STACKS: usize = 100_000;
/// Frames of a stack that was not taken.
const UNKNOWN: &str = "(stack not taken)";
/// The frame of a task between its birth and its first time on a CPU.
const NOT_YET_RUN: &str = ";(not yet run)";
/// Frames at addresses where no file is mapped: code made at run time, or what a walk by frame pointers finds in code that
/// keeps none. Their numbers are different in every stack, so that nothing would fold.
const UNRESOLVED: &str = "(unresolved)";

/// The flame graph of no stack.
const NOTHING: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"480\" height=\"40\">\
    <text x=\"10\" y=\"25\">no stack was taken: the command ended too soon</text></svg>\n";

/// Collects the stacks of a stream.
#[derive(Debug)]
pub struct Flame {
    who: Who,
    sample_ns: u64,
    stacks: HashMap<String, u64>,
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

/// Folded stacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flames {
    /// Stack and nanoseconds, sorted by the stack.
    lines: Vec<(String, u64)>,
}

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
        let mut lines: Vec<(String, u64)> = self.stacks.into_iter().collect();
        lines.sort();
        Flames { lines }
    }

    fn stack(&mut self, stack: &Stack) {
        let frames = folded(&stack.user, &stack.kernel);
        if stack.blocking {
            self.tasks.entry(stack.task).or_default().stack = Some(frames);
            return;
        }
        let line = format!("on-CPU;{};{frames}", clean(&self.who.command(stack.task)));
        self.add(line, self.sample_ns);
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
            self.blocked(
                task,
                cause_words(cause(left, block.as_ref(), Some(context))),
                stack,
                at.saturating_sub(since),
            );
        }
    }

    fn switched_in(&mut self, task: Tid, at: u64) {
        let Some(off) = self.tasks.get_mut(&task) else { return };
        let stack = off.stack.take();
        let fresh = std::mem::take(&mut off.fresh);
        // Its wake-up was not seen.
        if let Some((since, left, block)) = off.blocked.take() {
            self.blocked(
                task,
                cause_words(cause(left, block.as_ref(), None)),
                stack,
                at.saturating_sub(since),
            );
        } else if let Some(since) = off.runnable.take()
            && off.tree
        {
            let born = if fresh { NOT_YET_RUN } else { "" };
            let line = format!("off-CPU;waiting for a CPU;{}{born}", clean(&self.who.command(task)));
            self.add(line, at.saturating_sub(since));
        }
    }

    fn blocked(&mut self, task: Tid, why: &str, stack: Option<String>, ns: u64) {
        let frames = stack.unwrap_or_else(|| UNKNOWN.to_owned());
        self.add(format!("off-CPU;{why};{};{frames}", clean(&self.who.command(task))), ns);
    }

    fn add(&mut self, line: String, ns: u64) {
        if let Some(sum) = self.stacks.get_mut(&line) {
            *sum += ns;
        } else if self.stacks.len() < STACKS {
            self.stacks.insert(line, ns);
        } else {
            let root = line.split(';').next().unwrap_or_default();
            *self.stacks.entry(format!("{root};(more stacks than are kept)")).or_default() += ns;
        }
    }
}

/// Outermost frame first; frames of the kernel carry the mark that flame graph programs colour by.
fn folded(user: &[String], kernel: &[String]) -> String {
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

impl Flames {
    /// Whether nothing was collected that can be shown.
    pub fn is_empty(&self) -> bool {
        self.folded().is_empty()
    }

    /// Folded stacks, as flame graph programs read them: a stack, a space, microseconds.
    pub fn folded(&self) -> String {
        let line = |(stack, ns): &(String, u64)| {
            let us = (ns + 500) / 1000;
            (us > 0).then(|| format!("{stack} {us}\n"))
        };
        self.lines.iter().filter_map(line).collect()
    }

    /// A flame graph; one that says so where there is nothing to draw.
    pub fn svg(&self, title: &str) -> anyhow::Result<Vec<u8>> {
        let folded = self.folded();
        if folded.is_empty() {
            return Ok(NOTHING.as_bytes().to_vec());
        }
        let mut options = Options::default();
        options.title = title.to_owned();
        options.subtitle = Some("time by stack: on a CPU, and off it by cause".to_owned());
        options.count_name = "us".to_owned();
        let mut svg = Vec::new();
        from_lines(&mut options, folded.lines(), &mut svg).context("cannot draw the flame graph")?;
        Ok(svg)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whyfaster_core::trace::event::{FileKind, Softirq, TaskKind};

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
            flames().folded(),
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
        let folded = flame.finish().folded();
        assert!(folded.contains("(forked);(not yet run) 500\n"), "{folded}");
        let all: u64 = folded.lines().filter_map(|line| line.rsplit(' ').next()?.parse::<u64>().ok()).sum();
        assert_eq!(all, 1000, "the child once, the parent once: {folded}");
    }

    #[test]
    fn the_graph_is_an_svg_with_the_frames_in_it() {
        let flames = flames();
        let svg = String::from_utf8(flames.svg("sort <input>").unwrap()).unwrap();
        for part in ["<svg", "sort &lt;input&gt;", "waiting for a disk", "inner"] {
            assert!(svg.contains(part), "{part}");
        }
        let none = Flame::new(99).finish();
        assert!(none.is_empty() && String::from_utf8(none.svg("").unwrap()).unwrap().contains("no stack"));
    }

    #[test]
    fn numbers_without_a_file_are_one_frame() {
        let frames = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let user = frames(&["leaf", "0x10", "0xfd", "sort+0xca6", "main"]);
        assert_eq!(folded(&user, &frames(&["0xffff"])), "main;sort+0xca6;(unresolved);leaf;0xffff_[k]");
    }

    #[test]
    fn memory_is_bounded_and_no_time_is_lost() {
        let mut flame = Flame::new(1000);
        for i in 0..STACKS + 5 {
            flame.add(format!("on-CPU;f{i}"), 1_000);
        }
        assert_eq!(flame.stacks.len(), STACKS + 1);
        assert_eq!(flame.stacks["on-CPU;(more stacks than are kept)"], 5_000);
    }
}
