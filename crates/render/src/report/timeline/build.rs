//! A timeline as it grows, event by event.

use std::collections::HashMap;

use whyfaster_core::trace::Step;
use whyfaster_core::trace::cause::cause_of;
use whyfaster_core::trace::event::{Block, Context, Event, Left, Tid, What};
use whyfaster_core::trace::names::Abi;

use super::super::super::trace::sentence::cause_words;
use super::super::super::trace::who::Who;

/// A state: gone, or not seen.
pub(super) const GONE: u32 = 0;
/// A state: waiting for a CPU.
pub(super) const WAITING: u32 = 1;

/// A task with its states.
#[derive(Debug, Default)]
pub(super) struct Track {
    pub(super) name: String,
    pub(super) process: u32,
    pub(super) task: u32,
    pub(super) tree: bool,
    /// When a state began, nanoseconds since the first event, and its code.
    pub(super) states: Vec<(u64, u32)>,
    /// Where it blocked, until a wake-up tells why.
    blocked: Option<(Left, Option<Block>)>,
}

impl Track {
    fn enter(&mut self, at: u64, code: u32) {
        match self.states.last_mut() {
            Some(last) if last.1 == code => {}
            Some(last) if last.0 == at => last.1 = code,
            _ => self.states.push((at, code)),
        }
    }

    fn code(&self) -> u32 {
        self.states.last().map_or(GONE, |last| last.1)
    }
}

/// Words that come again and again, by number.
#[derive(Debug, Default)]
pub(super) struct Words {
    pub(super) all: Vec<String>,
    known: HashMap<String, u32>,
}

impl Words {
    fn number(&mut self, word: &str) -> u32 {
        if let Some(number) = self.known.get(word) {
            return *number;
        }
        let number = self.all.len() as u32;
        self.all.push(word.to_owned());
        self.known.insert(word.to_owned(), number);
        number
    }
}

/// A timeline as it grows.
#[derive(Debug)]
pub(super) struct Builder {
    abi: Abi,
    /// When time begins, on the stream's clock.
    first: Option<u64>,
    pub(super) last: u64,
    who: Who,
    pub(super) tracks: Vec<Track>,
    current: HashMap<Tid, usize>,
    /// Which tracks had a number, and since when.
    had: HashMap<Tid, Vec<(u64, usize)>>,
    pub(super) reasons: Words,
    pub(super) labels: Words,
    /// When, who, whom.
    pub(super) arrows: Vec<(u64, u32, u32)>,
    /// When, who, what.
    pub(super) marks: Vec<(u64, u32, u32)>,
}

impl Builder {
    /// One in which nothing has happened yet.
    pub(super) fn new(abi: Abi) -> Self {
        Self {
            abi,
            first: None,
            last: 0,
            who: Who::default(),
            tracks: Vec::new(),
            current: HashMap::new(),
            had: HashMap::new(),
            reasons: Words::default(),
            labels: Words::default(),
            arrows: Vec::new(),
            marks: Vec::new(),
        }
    }

    /// Time begins here, unless it has begun.
    pub(super) fn begin(&mut self, at: u64) {
        self.first.get_or_insert(at);
    }

    /// A moment of the stream's clock on that of the timeline.
    fn since_first(&self, at: u64) -> u64 {
        self.first.map_or(0, |first| at.saturating_sub(first))
    }

    /// The critical path by track: from when to when on which. What no track shows is left out.
    pub(super) fn path(&self, steps: &[Step]) -> Vec<(u64, u64, usize)> {
        let on_track = |step: &Step| {
            let (from, to) = (self.since_first(step.from_ns), self.since_first(step.to_ns));
            let (_, track) = self.had.get(&step.task)?.iter().rfind(|(since, _)| *since <= from)?;
            (from < to).then_some((from, to, *track))
        };
        steps.iter().filter_map(on_track).collect()
    }

    pub(super) fn push(&mut self, event: &Event) {
        // Time begins with the first program of the tree; who was there before stands at 0.
        if matches!(event.what, What::Exec { .. }) {
            self.begin(event.at);
        }
        let at = self.since_first(event.at);
        self.last = self.last.max(at);
        match &event.what {
            What::Switch { prev, next, left, block } => {
                self.switch(at, event.cpu, (*prev, *next), (*left, *block))
            }
            What::Wake { wakee, waker, context } => self.wake(at, *wakee, *waker, context),
            What::Fork { parent, child, process, .. } => {
                self.who.see(event);
                self.fork(at, *parent, *child, *process);
            }
            What::Exec { task, former, name, .. } => {
                if former != task
                    && let Some(index) = self.current.remove(former)
                {
                    self.has_number(*task, index, at);
                }
                self.who.see(event);
                let index = self.track(*task, at);
                self.tracks[index].name.clone_from(name);
                let label = self.labels.number(&format!("begins {name}"));
                self.marks.push((at, index as u32, label));
            }
            What::End { task, status, .. } => {
                let index = self.track(*task, at);
                self.who.see(event);
                let how = match status {
                    None => return,
                    Some(code @ 0..) => format!("ends with {code}"),
                    Some(signal) => format!("ended by signal {}", -signal),
                };
                let label = self.labels.number(&how);
                self.marks.push((at, index as u32, label));
                self.tracks[index].enter(at, GONE);
                self.current.remove(task);
            }
            What::Name { task, name, process, .. } => {
                self.who.see(event);
                if let Some(index) = self.current.get(task) {
                    let track = &mut self.tracks[*index];
                    (track.name, track.process) = (name.clone(), *process);
                    track.tree |= self.who.get(*task).is_some_and(|known| known.tree);
                }
            }
            _ => self.who.see(event),
        }
    }

    fn fork(&mut self, at: u64, parent: Tid, child: Tid, process: u32) {
        // One that runs already is the same task: it was held before its first program.
        let alive = self.current.get(&child).is_some_and(|index| self.tracks[*index].code() != GONE);
        if !alive {
            self.current.remove(&child);
        }
        let index = self.track(child, at);
        (self.tracks[index].process, self.tracks[index].tree) = (process, true);
        if !alive {
            self.tracks[index].enter(at, WAITING);
        }
        if parent != 0 {
            let from = self.track(parent, at);
            self.arrows.push((at, from as u32, index as u32));
        }
    }

    fn has_number(&mut self, task: Tid, index: usize, at: u64) {
        self.current.insert(task, index);
        self.had.entry(task).or_default().push((at, index));
    }

    fn track(&mut self, task: Tid, at: u64) -> usize {
        if let Some(index) = self.current.get(&task) {
            return *index;
        }
        let known = self.who.get(task);
        let track = Track {
            name: self.who.name(task),
            process: known.map_or(task, |it| it.process),
            task,
            tree: known.is_some_and(|it| it.tree),
            ..Track::default()
        };
        let index = self.tracks.len();
        self.tracks.push(track);
        self.has_number(task, index, at);
        index
    }

    fn switch(&mut self, at: u64, cpu: u16, (prev, next): (Tid, Tid), (left, block): (Left, Option<Block>)) {
        if prev != 0 {
            let index = self.track(prev, at);
            let reason = match left {
                Left::Runnable | Left::Throttled => None,
                Left::Dead => Some(GONE),
                _ => {
                    let cause = cause_of(self.abi, left, block.as_ref(), None);
                    Some(2 * self.reasons.number(cause_words(cause)) + 3)
                }
            };
            let track = &mut self.tracks[index];
            track.blocked = reason.is_some().then_some((left, block));
            let code = match reason {
                // What others wait for is not seen.
                _ if !track.tree => GONE,
                None => WAITING,
                Some(code) => code,
            };
            track.enter(at, code);
        }
        if next != 0 {
            let index = self.track(next, at);
            self.tracks[index].enter(at, 2 * u32::from(cpu) + 2);
        }
    }

    fn wake(&mut self, at: u64, wakee: Tid, waker: Tid, context: &Context) {
        let Some(index) = self.current.get(&wakee).copied() else { return };
        if !self.tracks[index].tree || self.tracks[index].code() == WAITING {
            return;
        }
        let running = self.tracks[index].code() > WAITING && self.tracks[index].code().is_multiple_of(2);
        if let Some((left, block)) = self.tracks[index].blocked.take() {
            // Who ended the wait tells what it was for.
            let cause = cause_of(self.abi, left, block.as_ref(), Some(context));
            let code = 2 * self.reasons.number(cause_words(cause)) + 3;
            if let Some(last) = self.tracks[index].states.last_mut().filter(|last| last.1 > WAITING) {
                last.1 = code;
            }
        }
        if !running {
            self.tracks[index].enter(at, WAITING);
        }
        if matches!(context, Context::Task | Context::Work(_) | Context::Sent) && waker != 0 && waker != wakee
        {
            let from = self.track(waker, at);
            self.arrows.push((at, from as u32, index as u32));
        }
    }

    /// Nothing more comes.
    pub(super) fn end(&mut self) {
        let last = self.last;
        self.tracks.iter_mut().for_each(|track| track.enter(last, GONE));
    }
}
