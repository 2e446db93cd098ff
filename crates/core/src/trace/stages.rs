//! Stages of pipelines: who reads from whom, and who waits for whom.
//!
//! Two processes are neighbours when one of them, blocked on a pipe, is woken by the other, twice: one such wake-up may
//! be a signal (`SIGCHLD` ends a read as well). Where nobody waited so often, those are neighbours that have the pipe as
//! standard output and input, without the children that inherited it; and failing that the last that woke a reader, which
//! closed the pipe (but not a child of its own: `xargs` waits for the exec of each on a pipe that closes with it).
//! Processes are folded when they end, by command and by the commands of their neighbours, so that memory does not grow
//! with their number.

use std::collections::{BTreeSet, VecDeque};

use rustc_hash::{FxHashMap, FxHashSet};

use super::event::Pid;
use super::labels::Label;
use super::report::Cause;
use super::stage_groups::{Group, Groups};
use super::task::Times;

/// Pipes that are followed at a time; a process in a pipe beyond has no neighbours.
const MOST_PIPES: usize = 1 << 16;
/// Neighbours of a pipe, and commands beside a process, that are told apart.
pub(super) const MOST_BESIDE: usize = 16;
/// Pipes that are kept for a reader to come.
const MOST_UNREAD: usize = 1 << 10;
/// Kinds of stages that are told apart.
const MOST_STAGES: usize = 1 << 12;

/// One end of a wait on a pipe.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contact {
    /// Inode of the pipe.
    pub(super) inode: u64,
    /// Who was blocked.
    pub(super) blocked: (Pid, Label),
    /// Who woke it.
    pub(super) waker: (Pid, Label),
    /// It wanted to read (otherwise to write).
    pub(super) reads: bool,
    /// The waker is a child of the blocked process.
    pub(super) own_child: bool,
}

/// A process that has a pipe as standard input or output.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    pub(super) process: Pid,
    pub(super) label: Label,
    pub(super) parent: Option<Pid>,
    /// As output.
    pub(super) writes: bool,
    /// Which pipeline it belongs to.
    pub(super) group: Group,
}

/// A writer and a reader of one pipe.
#[derive(Clone, Copy, Debug)]
struct Pair {
    writer: (Pid, Label),
    reader: (Pid, Label),
    groups: (Group, Group),
    times: u32,
}

#[derive(Debug, Default)]
struct Pipe {
    pairs: Vec<Pair>,
    /// The last that woke a reader and was no child of it.
    last: Option<Pair>,
    ends: Vec<End>,
    /// There were too many ends to know all.
    crowded: bool,
}

/// What a process did with pipes, and its time.
#[derive(Debug, Default)]
struct Side {
    up: Vec<Label>,
    down: Vec<Label>,
    pipes: Vec<u64>,
    /// Of who has a pipe.
    group: Option<Group>,
    sums: Sums,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    pub(super) processes: u64,
    pub(super) life: u64,
    pub(super) times: Times,
    pub(super) starved: u64,
    pub(super) held_up: u64,
}

impl Sums {
    pub(super) fn add(&mut self, other: &Self) {
        self.processes += other.processes;
        self.life += other.life;
        self.times.add(&other.times);
        self.starved += other.starved;
        self.held_up += other.held_up;
    }
}

/// A command with the commands before and behind it.
pub(super) type Shape = (Label, Vec<Label>, Vec<Label>);

/// What belongs to each group: its commands, and what was summed up of them.
pub(super) type Folded = FxHashMap<(Group, Shape), Sums>;

/// All processes and pipes that matter.
#[derive(Debug, Default)]
pub(super) struct Stages {
    pipes: FxHashMap<u64, Pipe>,
    live: FxHashMap<Pid, Side>,
    pub(super) folded: Folded,
    pub(super) groups: Groups,
    /// So many processes were folded since kinds were taken together last.
    since: usize,
    /// Whether pipes at standard descriptors are told at all.
    told: bool,
    /// Pipes whose writers are gone and whose reader has not come yet, the oldest first.
    unread: VecDeque<u64>,
    /// Neighbours that were known only when the writer had been folded.
    pub(super) late: Vec<(Group, Label, Label)>,
}

impl Stages {
    /// A task of this process waited for its input or output. Where standard descriptors are told, only these count: a
    /// pipe that a program made for itself (as `xargs` does to learn of a failed exec) says nothing of the pipeline.
    pub(super) fn waited(&mut self, process: Pid, cause: Cause, inode: u64, ns: u64) {
        let writes = cause == Cause::PipeFull;
        let standard = |pipe: &Pipe| {
            pipe.crowded || pipe.ends.iter().any(|end| end.process == process && end.writes == writes)
        };
        if self.told && !self.pipes.get(&inode).is_some_and(standard) {
            return;
        }
        match cause {
            Cause::PipeEmpty => self.live.entry(process).or_default().sums.starved += ns,
            Cause::PipeFull => self.live.entry(process).or_default().sums.held_up += ns,
            _ => {}
        }
    }

    /// Somebody blocked on a pipe was woken by somebody else of the tree. The command at the other end.
    pub(super) fn contact(&mut self, contact: &Contact) -> Label {
        let Contact { inode, blocked, waker, reads, own_child } = *contact;
        if self.pipes.len() >= MOST_PIPES && !self.pipes.contains_key(&inode) {
            return waker.1;
        }
        let (writer, reader) = if reads { (waker, blocked) } else { (blocked, waker) };
        let groups = (self.group(writer.0), self.group(reader.0));
        let pipe = self.pipes.entry(inode).or_default();
        let pair = pipe.met(writer, reader, groups);
        if !own_child {
            pipe.last = Some(pair);
        }
        self.uses(writer.0, inode);
        self.uses(reader.0, inode);
        if pair.times == 2 {
            self.neighbours(&pair);
        }
        // A first waker beside well-known neighbours only sent a signal.
        let other = |pair: &Pair| if reads { pair.writer.1 } else { pair.reader.1 };
        let own =
            |pair: &&Pair| (if reads { pair.reader.0 } else { pair.writer.0 }) == blocked.0 && pair.times > 1;
        let known = self.pipes.get(&inode).and_then(|pipe| pipe.pairs.iter().find(own)).map(other);
        if pair.times > 1 { waker.1 } else { known.unwrap_or(waker.1) }
    }

    /// The living process at the other end of a pipe that this one reads (or writes): the one that it was seen to wait for,
    /// or that has it as standard output (or input), without the children that inherited it; of several the last.
    pub(super) fn other_end(&self, inode: u64, process: Pid, reads: bool) -> Option<Pid> {
        let pipe = self.pipes.get(&inode)?;
        let other = |pair: &Pair| match reads {
            true => (pair.reader.0 == process).then_some(pair.writer.0),
            false => (pair.writer.0 == process).then_some(pair.reader.0),
        };
        let lives = |pid: &Pid| *pid != process && self.live.contains_key(pid);
        let met = pipe.pairs.iter().filter(|pair| pair.times > 1).filter_map(other).rfind(lives);
        let holds = |end: &&End| end.writes == reads && lives(&end.process);
        let inherited = |end: &&End| {
            pipe.ends
                .iter()
                .any(|it| holds(&it) && it.process != end.process && Some(it.process) == end.parent)
        };
        let top = pipe.ends.iter().filter(holds).rfind(|end| !inherited(end));
        met.or(top.map(|end| end.process))
    }

    /// A process has this pipe as standard input or output.
    pub(super) fn holds(&mut self, inode: u64, mut end: End) {
        self.told = true;
        if self.pipes.len() >= MOST_PIPES && !self.pipes.contains_key(&inode) {
            return;
        }
        end.group = self.group(end.process);
        let live = &self.live;
        let pipe = self.pipes.entry(inode).or_default();
        pipe.ends.retain(|it| it.process != end.process || it.writes != end.writes);
        if pipe.ends.len() >= MOST_BESIDE {
            // Children that inherited it and are gone make room. Without room, who comes later is not looked at.
            let first: Vec<Pid> =
                [true, false].iter().flat_map(|writes| pipe.top(*writes)).map(|end| end.process).collect();
            pipe.ends.retain(|it| live.contains_key(&it.process) || first.contains(&it.process));
            pipe.crowded |= pipe.ends.len() >= MOST_BESIDE;
        }
        if !pipe.crowded {
            pipe.ends.push(end);
        }
        self.uses(end.process, inode);
    }

    /// The pipeline of a process that lives.
    fn group(&mut self, process: Pid) -> Group {
        let groups = &mut self.groups;
        *self.live.entry(process).or_default().group.get_or_insert_with(|| groups.begin())
    }

    /// The pipelines of what may still come to belong together with others.
    fn groups_in_use(&self) -> impl Iterator<Item = Group> {
        let pairs = |pipe: &Pipe| {
            let pairs = pipe.pairs.iter().chain(&pipe.last);
            pairs.flat_map(|pair| [pair.groups.0, pair.groups.1]).collect::<Vec<Group>>()
        };
        let of_pipe = move |pipe: &Pipe| {
            pipe.ends.iter().map(|end| end.group).chain(pairs(pipe)).collect::<Vec<Group>>()
        };
        let live = self.live.values().filter_map(|side| side.group);
        live.chain(self.pipes.values().flat_map(of_pipe))
    }

    /// Puts another number in the place of each of them.
    fn for_groups_in_use(&mut self, new: &dyn Fn(Group) -> Group) {
        self.live.values_mut().filter_map(|side| side.group.as_mut()).for_each(|group| *group = new(*group));
        for pipe in self.pipes.values_mut() {
            pipe.ends.iter_mut().for_each(|end| end.group = new(end.group));
            for pair in pipe.pairs.iter_mut().chain(&mut pipe.last) {
                pair.groups = (new(pair.groups.0), new(pair.groups.1));
            }
        }
    }

    /// Resolves joined groups, and takes those together that are over and had the same commands.
    fn compact(&mut self) {
        self.resolve();
        let lives: FxHashSet<Group> = self.groups_in_use().collect();
        let names = commands(&self.folded);
        let mut first: FxHashMap<&BTreeSet<Label>, Group> = FxHashMap::default();
        let mut closed: Vec<Group> = names.keys().copied().filter(|group| !lives.contains(group)).collect();
        closed.sort_unstable();
        let into: FxHashMap<Group, Group> =
            closed.iter().map(|group| (*group, *first.entry(&names[group]).or_insert(*group))).collect();
        self.renumber(&|group| into.get(&group).copied().unwrap_or(group));
    }

    fn resolve(&mut self) {
        let groups = std::mem::take(&mut self.groups);
        self.for_groups_in_use(&|group| groups.of(group));
        self.renumber(&|group| groups.of(group));
        self.groups = groups.resolved();
    }

    /// Gives what is folded to other groups.
    fn renumber(&mut self, new: &dyn Fn(Group) -> Group) {
        for ((group, shape), sums) in std::mem::take(&mut self.folded) {
            self.folded.entry((new(group), shape)).or_default().add(&sums);
        }
        self.late.iter_mut().for_each(|(group, ..)| *group = new(*group));
    }

    fn uses(&mut self, process: Pid, inode: u64) {
        let pipes = &mut self.live.entry(process).or_default().pipes;
        if !pipes.contains(&inode) && pipes.len() < MOST_BESIDE {
            pipes.push(inode);
        }
    }

    fn neighbours(&mut self, pair: &Pair) {
        let beside = |labels: &mut Vec<Label>, label: Label| {
            if !labels.contains(&label) && labels.len() < MOST_BESIDE {
                labels.push(label);
            }
        };
        self.groups.join(pair.groups.0, pair.groups.1);
        beside(&mut self.live.entry(pair.writer.0).or_default().down, pair.reader.1);
        beside(&mut self.live.entry(pair.reader.0).or_default().up, pair.writer.1);
    }

    /// A task of this process has spent so much time.
    pub(super) fn spent(&mut self, process: Pid, times: &Times) {
        self.live.entry(process).or_default().sums.times.add(times);
    }

    /// The process is gone.
    pub(super) fn ended(&mut self, process: Pid, label: Label, life: u64) {
        let Some(mut side) = self.live.remove(&process) else { return };
        (side.sums.processes, side.sums.life) = (1, life);
        for inode in std::mem::take(&mut side.pipes) {
            self.leave(process, inode, &mut side);
        }
        // Who never had a pipe has no neighbours.
        let Some(group) = side.group else { return };
        side.up.sort_unstable();
        side.down.sort_unstable();
        self.since += 1;
        if (self.folded.len() >= MOST_STAGES || self.groups.crowded()) && self.since >= MOST_STAGES / 4 {
            self.compact();
            self.since = 0;
        }
        let mut key = (self.groups.of(group), (label, side.up, side.down));
        if self.folded.len() >= 2 * MOST_STAGES && !self.folded.contains_key(&key) {
            key = (0, (label, Vec::new(), Vec::new()));
        }
        self.folded.entry(key).or_default().add(&side.sums);
    }

    /// The process reads and writes this pipe no longer.
    fn leave(&mut self, process: Pid, inode: u64, side: &mut Side) {
        let Some(pipe) = self.pipes.get(&inode) else { return };
        let writers = pipe.writers_to(process);
        let own = side.group;
        for ((writer, group), reader) in writers {
            if let Some(own) = own {
                self.groups.join(own, group);
            }
            if !side.up.contains(&writer.1) {
                side.up.push(writer.1);
            }
            match self.live.get_mut(&writer.0) {
                Some(writer) if !writer.down.contains(&reader) => writer.down.push(reader),
                Some(_) => {}
                None if self.late.len() < MOST_STAGES => self.late.push((group, writer.1, reader)),
                None => {}
            }
        }
        if self.used(inode) {
            return;
        }
        // A short writer may be gone before its reader has begun its program: the pipe is kept for a while.
        let waits = |pipe: &Pipe| pipe.ends.iter().all(|end| end.writes) && !pipe.ends.is_empty();
        if !self.pipes.get(&inode).is_some_and(waits) {
            self.pipes.remove(&inode);
            return;
        }
        self.unread.push_back(inode);
        if self.unread.len() > MOST_UNREAD
            && let Some(oldest) = self.unread.pop_front()
            && !self.used(oldest)
        {
            self.pipes.remove(&oldest);
        }
    }

    /// A process that lives reads or writes this pipe.
    fn used(&self, inode: u64) -> bool {
        let lives = |pid: Pid| self.live.contains_key(&pid);
        let met = |pair: &Pair| lives(pair.writer.0) || lives(pair.reader.0);
        let used = |pipe: &Pipe| pipe.pairs.iter().any(met) || pipe.ends.iter().any(|end| lives(end.process));
        self.pipes.get(&inode).is_some_and(used)
    }
}

/// A process that writes with its command and pipeline, and the command that reads.
type Writer = (((Pid, Label), Group), Label);

impl Pipe {
    /// Who writes what this process has read, and as which command it has, where no two of them waited for each other
    /// often enough to be known.
    fn writers_to(&self, process: Pid) -> Vec<Writer> {
        if self.pairs.iter().any(|pair| pair.times > 1) {
            return Vec::new();
        }
        if let Some(reader) = self.top(false).find(|end| end.process == process) {
            return self.top(true).map(|it| (((it.process, it.label), it.group), reader.label)).collect();
        }
        let last = self.last.filter(|last| last.reader.0 == process && self.ends.is_empty());
        last.map(|last| ((last.writer, last.groups.0), last.reader.1)).into_iter().collect()
    }

    /// Those that have it as standard output (or input), without the children that inherited it.
    fn top(&self, writes: bool) -> impl Iterator<Item = &End> {
        let all = self.ends.iter().filter(move |end| end.writes == writes);
        let holds =
            move |pid: Option<Pid>| self.ends.iter().any(|it| it.writes == writes && Some(it.process) == pid);
        all.filter(move |end| !holds(end.parent))
    }

    fn met(&mut self, writer: (Pid, Label), reader: (Pid, Label), groups: (Group, Group)) -> Pair {
        let found = self.pairs.iter_mut().find(|pair| pair.writer.0 == writer.0 && pair.reader.0 == reader.0);
        match found {
            Some(pair) => {
                *pair = Pair { writer, reader, groups, times: pair.times.saturating_add(1) };
                *pair
            }
            None => {
                let pair = Pair { writer, reader, groups, times: 1 };
                if self.pairs.len() >= MOST_BESIDE {
                    // Wakers that came but once make room.
                    let once = self.pairs.iter().position(|pair| pair.times == 1).unwrap_or(0);
                    self.pairs.remove(once);
                }
                self.pairs.push(pair);
                pair
            }
        }
    }
}

/// The commands of every group.
pub(super) fn commands(folded: &Folded) -> FxHashMap<Group, BTreeSet<Label>> {
    let mut names: FxHashMap<Group, BTreeSet<Label>> = FxHashMap::default();
    for (group, shape) in folded.keys() {
        names.entry(*group).or_default().insert(shape.0);
    }
    names
}
