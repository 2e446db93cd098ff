//! Who ran where and when, who waited for what, and who woke whom: packed for the scripts, and as a picture for whoever has none.
//!
//! A track is a task. Its states follow each other without a gap: a time since the state before, and a code (0 gone or not seen, 1
//! waiting for a CPU, even: running on CPU `code / 2 - 1`, odd: blocked, for the reason `code / 2 - 1`). Numbers are little-endian groups of
//! seven bits (LEB128). Scripts make the lanes of CPUs out of the same tracks.

use std::collections::HashMap;

use maud::{Markup, html};
use serde_json::json;
use whyfaster_core::trace::cause::cause_of;
use whyfaster_core::trace::event::{Block, Context, Event, Left, Tid, What};
use whyfaster_core::trace::names::Abi;
use whyfaster_core::trace::record::TraceRecord;

use super::super::look::Look;
use super::super::text::shorten;
use super::super::trace::sentence::cause_words;
use super::super::trace::who::Who;
use super::data;
use super::svg::{Axis, Picture, Px, WIDTH, times_below};

const GONE: u32 = 0;
const WAITING: u32 = 1;

/// A task with its states.
#[derive(Debug, Default)]
struct Track {
    name: String,
    process: u32,
    task: u32,
    tree: bool,
    /// When a state began, nanoseconds since the first event, and its code.
    states: Vec<(u64, u32)>,
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
struct Words {
    all: Vec<String>,
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
struct Builder {
    abi: Abi,
    first: Option<u64>,
    last: u64,
    who: Who,
    tracks: Vec<Track>,
    current: HashMap<Tid, usize>,
    reasons: Words,
    labels: Words,
    /// When, who, whom.
    arrows: Vec<(u64, u32, u32)>,
    /// When, who, what.
    marks: Vec<(u64, u32, u32)>,
}

/// A timeline, whole.
#[derive(Debug)]
pub(super) struct Timeline {
    built: Builder,
    events: u64,
}

/// The timeline of a trace; nothing where its scheduling records were not kept, or hold no switch.
pub(super) fn of(trace: &TraceRecord) -> anyhow::Result<Option<Timeline>> {
    let Some(schedule) = &trace.schedule else { return Ok(None) };
    let mut built = Builder {
        abi: schedule.setting.abi,
        first: None,
        last: 0,
        who: Who::default(),
        tracks: Vec::new(),
        current: HashMap::new(),
        reasons: Words::default(),
        labels: Words::default(),
        arrows: Vec::new(),
        marks: Vec::new(),
    };
    schedule.each(&mut |event| {
        if schedule.setting.running {
            built.first.get_or_insert(event.at);
        }
        built.push(event);
    })?;
    built.end();
    let seen = built.tracks.iter().any(|track| track.states.iter().any(|(_, code)| *code > WAITING));
    Ok(seen.then_some(Timeline { built, events: schedule.events }))
}

impl Builder {
    fn push(&mut self, event: &Event) {
        // Time begins with the first program of the tree; who was there before stands at 0.
        if matches!(event.what, What::Exec { .. }) {
            self.first.get_or_insert(event.at);
        }
        let at = self.first.map_or(0, |first| event.at.saturating_sub(first));
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
                    self.current.insert(*task, index);
                }
                self.who.see(event);
                let index = self.track(*task);
                self.tracks[index].name.clone_from(name);
                let label = self.labels.number(&format!("begins {name}"));
                self.marks.push((at, index as u32, label));
            }
            What::End { task, status, .. } => {
                let index = self.track(*task);
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
        let index = self.track(child);
        (self.tracks[index].process, self.tracks[index].tree) = (process, true);
        if !alive {
            self.tracks[index].enter(at, WAITING);
        }
        if parent != 0 {
            let from = self.track(parent);
            self.arrows.push((at, from as u32, index as u32));
        }
    }

    fn track(&mut self, task: Tid) -> usize {
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
        self.tracks.push(track);
        self.current.insert(task, self.tracks.len() - 1);
        self.tracks.len() - 1
    }

    fn switch(&mut self, at: u64, cpu: u16, (prev, next): (Tid, Tid), (left, block): (Left, Option<Block>)) {
        if prev != 0 {
            let index = self.track(prev);
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
            let index = self.track(next);
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
            let from = self.track(waker);
            self.arrows.push((at, from as u32, index as u32));
        }
    }

    fn end(&mut self) {
        let last = self.last;
        self.tracks.iter_mut().for_each(|track| track.enter(last, GONE));
    }
}

/// A number in groups of seven bits.
fn put(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push((number as u8 & 0x7f) | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Events in rising order, each with two numbers.
fn put_all(out: &mut Vec<u8>, events: &[(u64, u32, u32)]) {
    let mut before = 0;
    for (at, one, other) in events {
        put(out, at.saturating_sub(before));
        put(out, u64::from(*one));
        put(out, u64::from(*other));
        before = *at;
    }
}

impl Timeline {
    /// The block that scripts read: the length of a head of JSON, the head, the numbers.
    pub(super) fn block(&self, id: &str) -> serde_json::Result<Markup> {
        let built = &self.built;
        let mut numbers = Vec::new();
        for track in &built.tracks {
            let mut before = 0;
            for (at, code) in &track.states {
                put(&mut numbers, at.saturating_sub(before));
                put(&mut numbers, u64::from(*code));
                before = *at;
            }
        }
        put_all(&mut numbers, &built.arrows);
        put_all(&mut numbers, &built.marks);
        let tracks: Vec<_> = built
            .tracks
            .iter()
            .map(|it| {
                json!([
                    crate::clean::clean(&it.name),
                    it.process,
                    it.task,
                    u8::from(it.tree),
                    it.states.len()
                ])
            })
            .collect();
        let head = serde_json::to_vec(&json!({
            "span": built.last, "events": self.events, "reasons": built.reasons.all,
            "labels": built.labels.all.iter().map(|label| crate::clean::clean(label)).collect::<Vec<_>>(),
            "arrows": built.arrows.len(), "marks": built.marks.len(), "tracks": tracks,
        }))?;
        let mut bytes = (head.len() as u32).to_le_bytes().to_vec();
        bytes.extend(head);
        bytes.extend(numbers);
        Ok(data::packed(id, &bytes, &[]))
    }

    /// Tasks and events, in words.
    pub(super) fn said(&self) -> String {
        let tree = self.built.tracks.iter().filter(|track| track.tree).count();
        format!(
            "{} scheduling records of {tree} tasks and of {} others that shared the CPUs with them",
            self.events,
            self.built.tracks.len() - tree
        )
    }

    /// The tasks of the tree that ran longest, each state as a colour, for whoever has no scripts.
    pub(super) fn picture(&self, title: String, look: &Look) -> Option<Picture> {
        const LEFT: f64 = 150.0;
        const ROW: f64 = 20.0;
        const ROWS: usize = 24;
        let span = self.built.last.max(1) as f64 * 1e-9;
        let axis = Axis::from_zero([span], (LEFT, WIDTH - 16.0));
        let ran = |track: &Track| -> u64 {
            let pairs = track.states.windows(2);
            pairs
                .filter(|pair| pair[0].1 > WAITING && pair[0].1.is_multiple_of(2))
                .map(|pair| pair[1].0 - pair[0].0)
                .sum()
        };
        let mut tracks: Vec<&Track> = self.built.tracks.iter().filter(|track| track.tree).collect();
        tracks.sort_by_key(|track| std::cmp::Reverse(ran(track)));
        tracks.truncate(ROWS);
        tracks.sort_by_key(|track| track.states.first().map(|state| state.0));
        if tracks.is_empty() {
            return None;
        }
        let bottom = 8.0 + ROW * tracks.len() as f64;
        let body = html! {
            (times_below(&axis, 8.0, bottom, look.time_unit))
            @for (row, track) in tracks.iter().enumerate() {
                @let y = 8.0 + ROW * row as f64;
                text class="tick end" x=(Px(LEFT - 8.0)) y=(Px(y + 14.0)) {
                    (shorten(&crate::clean::clean(&track.name), 13, true)) " " (track.task)
                }
                (lane(track, &axis, y))
            }
        };
        let names: Vec<String> = tracks
            .iter()
            .map(|track| format!("{} {}", crate::clean::clean(&track.name), track.task))
            .collect();
        Some(Picture {
            title,
            text: format!("tasks in the order in which they began: {}", names.join(", ")),
            height: bottom + 26.0,
            body,
        })
    }
}

/// States as bars; those that share a pixel become the one that lasted longest in it.
fn lane(track: &Track, axis: &Axis, y: f64) -> Markup {
    let class = |code: u32| match code {
        GONE => None,
        WAITING => Some("part k-wait"),
        code if code.is_multiple_of(2) => Some("part k-user"),
        _ => Some("part k-block"),
    };
    let mut bars: Vec<(f64, f64, &'static str)> = Vec::new();
    for pair in track.states.windows(2) {
        let (from, to) = (axis.at(pair[0].0 as f64 * 1e-9), axis.at(pair[1].0 as f64 * 1e-9));
        let Some(class) = class(pair[0].1) else { continue };
        match bars.last_mut() {
            Some((start, end, kind)) if from - *end < 0.5 && (*kind == class || *end - *start < 1.0) => {
                if to - from > *end - *start {
                    *kind = class;
                }
                *end = to;
            }
            _ => bars.push((from, to, class)),
        }
    }
    html! {
        @for (from, to, class) in bars {
            rect class=(class) x=(Px(from)) width=(Px((to - from).max(0.4))) y=(Px(y + 3.0)) height="13" {}
        }
    }
}
