//! What the kernel's own events do not say: why a task waited, which calls it made, and who woke whom, as slices and
//! arrows below each thread of the tree.

use std::collections::HashMap;

use whyfaster_core::trace::cause::cause;
use whyfaster_core::trace::counts::Lost;
use whyfaster_core::trace::event::{Block, Call, Context, Event, Left, Skipped, TaskKind, Tid, What};
use whyfaster_core::trace::names::call_name;

use super::super::super::sentence::cause_words;
use super::super::super::who::Who;
use super::super::clock::Clock;
use super::proto::{Annotation, Packet, ThreadDescriptor, TrackDescriptor, TrackEvent};

/// All track events are one sequence of packets.
const SEQUENCE: u32 = 1;
/// `SEQ_INCREMENTAL_STATE_CLEARED`: there is no state from before.
const CLEARED: u32 = 1;
/// `TrackEvent.Type`.
const BEGIN: i32 = 1;
const END: i32 = 2;
const INSTANT: i32 = 3;
/// Track of what concerns the trace itself.
const OWN: u64 = 1;

/// The first packet of the sequence: the track of the trace itself.
pub(super) fn first_packet() -> Packet {
    let track =
        TrackDescriptor { uuid: Some(OWN), name: Some("whyfaster".to_owned()), thread: None, parent: None };
    Packet {
        sequence: Some(SEQUENCE),
        sequence_flags: Some(CLEARED),
        track: Some(track),
        ..Packet::default()
    }
}

/// What the tasks of the tree wait for now.
#[derive(Debug, Default)]
pub(super) struct Tracks {
    tasks: HashMap<Tid, Waiter>,
    /// Tracks and arrows so far.
    made: u64,
    arrows: u64,
    last: u64,
}

#[derive(Debug)]
struct Waiter {
    /// The thread's own track, and below it the one of its waits.
    thread: u64,
    waits: u64,
    state: State,
}

#[derive(Clone, Debug, PartialEq)]
enum State {
    Running,
    Blocked {
        since: u64,
        left: Left,
        block: Option<Block>,
    },
    /// Its slice has begun.
    Runnable,
}

impl Tracks {
    /// The packets that follow from an event. Those of a wait come at its end, when its cause is known, with the time
    /// of its beginning: Perfetto sorts.
    pub(super) fn push(&mut self, event: &Event, who: &Who, clock: Clock) -> Vec<Packet> {
        let at = clock.boottime(event.at);
        self.last = self.last.max(at);
        match &event.what {
            What::Switch { prev, next, left, block } => {
                let mut packets = self.switched_out(*prev, *left, *block, at);
                packets.extend(self.switched_in(*next, at));
                packets
            }
            What::Wake { wakee, waker, context } => self.woken(*wakee, *waker, context, at, who),
            What::Fork { parent, child, process, .. } => {
                let name = who.get(*parent).map_or_else(String::new, |known| known.name.clone());
                self.begin(*child, *process, name)
            }
            What::Name { task, process, name, kind: TaskKind::Tree } if !self.tasks.contains_key(task) => {
                self.begin(*task, *process, name.clone())
            }
            What::Exec { task, former, name, path, .. } => {
                self.exec(*task, *former, path.as_deref().unwrap_or(name), at)
            }
            What::ExecFailed { task, path, errno } => {
                let name = format!("exec failed: {}", path.as_deref().unwrap_or("(path not read)"));
                self.instant(*task, name, vec![number("errno", i64::from(*errno))], at)
            }
            What::Call(call) => self.call(call, clock, at),
            What::End { task, .. } | What::Skipped(Skipped { task, .. }) => self.end(*task, at),
            _ => Vec::new(),
        }
    }

    /// Open slices end with the trace; what was lost stands on a track of its own.
    pub(super) fn finish(&mut self, lost: &Lost) -> Vec<Packet> {
        let at = self.last;
        let tasks: Vec<Tid> = self.tasks.keys().copied().collect();
        let mut packets: Vec<Packet> = tasks.into_iter().flat_map(|task| self.end(task, at)).collect();
        let classes = [
            ("ring", lost.ring),
            ("map", lost.map),
            ("storage", lost.storage),
            ("string", lost.string),
            ("stack", lost.stack),
            ("recursion", lost.recursion),
            ("unfinished", lost.unfinished),
            ("gaps", lost.gaps),
            ("late", lost.late),
        ];
        let annotations: Vec<Annotation> = classes
            .into_iter()
            .filter(|(_, count)| *count > 0)
            .map(|(name, count)| number(name, i64::try_from(count).unwrap_or(i64::MAX)))
            .collect();
        if !annotations.is_empty() {
            packets
                .push(packet(at, TrackEvent { annotations, ..slice(INSTANT, OWN, Some("lost".to_owned())) }));
        }
        packets
    }

    fn begin(&mut self, task: Tid, process: Tid, name: String) -> Vec<Packet> {
        let (thread, waits) = (self.next_track(), self.next_track());
        self.tasks.insert(task, Waiter { thread, waits, state: State::Running });
        let of = ThreadDescriptor { pid: pid(process), tid: Some(i64::from(task)), name: Some(name) };
        let tracks = [
            TrackDescriptor { uuid: Some(thread), name: None, thread: Some(of), parent: None },
            TrackDescriptor {
                uuid: Some(waits),
                name: Some("waits".to_owned()),
                thread: None,
                parent: Some(thread),
            },
        ];
        tracks
            .into_iter()
            .map(|track| Packet { sequence: Some(SEQUENCE), track: Some(track), ..Packet::default() })
            .collect()
    }

    fn next_track(&mut self) -> u64 {
        self.made += 1;
        OWN + self.made
    }

    fn switched_out(&mut self, task: Tid, left: Left, block: Option<Block>, at: u64) -> Vec<Packet> {
        let Some(waiter) = self.tasks.get_mut(&task) else { return Vec::new() };
        match left {
            Left::Runnable | Left::Throttled => {
                waiter.state = State::Runnable;
                let what =
                    if left == Left::Throttled { "waiting for CPU quota" } else { "waiting for a CPU" };
                vec![packet(at, slice(BEGIN, waiter.waits, Some(what.to_owned())))]
            }
            Left::Dead => Vec::new(),
            _ => {
                waiter.state = State::Blocked { since: at, left, block };
                Vec::new()
            }
        }
    }

    fn switched_in(&mut self, task: Tid, at: u64) -> Vec<Packet> {
        let Some(waiter) = self.tasks.get_mut(&task) else { return Vec::new() };
        let waits = waiter.waits;
        match std::mem::replace(&mut waiter.state, State::Running) {
            State::Runnable => vec![packet(at, slice(END, waits, None))],
            // Its wake-up was not seen.
            State::Blocked { since, left, block } => {
                blocked(waits, since, at, left, block.as_ref(), None, Vec::new())
            }
            State::Running => Vec::new(),
        }
    }

    fn woken(&mut self, wakee: Tid, waker: Tid, context: &Context, at: u64, who: &Who) -> Vec<Packet> {
        let by_task = matches!(context, Context::Task | Context::Work(_) | Context::Sent);
        let from = self.tasks.get(&waker).filter(|_| by_task).map(|waiter| waiter.waits);
        let Some(waiter) = self.tasks.get_mut(&wakee) else { return Vec::new() };
        let waits = waiter.waits;
        let (since, left, block) = match waiter.state {
            State::Blocked { since, left, block } => (Some(since), left, block),
            // A new task waits for its first CPU; a task that is awake needs no waking.
            State::Running if who.get(wakee).is_some_and(|known| known.forked) => {
                (None, Left::Runnable, None)
            }
            _ => return Vec::new(),
        };
        waiter.state = State::Runnable;
        let mut packets = Vec::new();
        let by = match context {
            Context::Task => who.command(waker),
            Context::Work(function) => format!("kernel worker ({function})"),
            Context::Sent => format!("what {} sent", who.command(waker)),
            Context::Softirq(_) => "a soft interrupt".to_owned(),
            Context::Hardirq => "an interrupt".to_owned(),
            Context::Timer => "a timer".to_owned(),
        };
        if let Some(since) = since {
            packets.extend(blocked(
                waits,
                since,
                at,
                left,
                block.as_ref(),
                Some(context),
                vec![text("woken by", by)],
            ));
        }
        let mut wait = slice(BEGIN, waits, Some("waiting for a CPU".to_owned()));
        if let Some(from) = from {
            self.arrows += 1;
            wait.ending_flows.push(self.arrows);
            let mut wake = slice(INSTANT, from, Some(format!("wakes {}", who.command(wakee))));
            wake.flows.push(self.arrows);
            packets.push(packet(at, wake));
        }
        packets.push(packet(at, wait));
        packets
    }

    fn exec(&mut self, task: Tid, former: Tid, path: &str, at: u64) -> Vec<Packet> {
        // The thread that execs becomes the first of its process and keeps its own history.
        if former != task
            && let Some(waiter) = self.tasks.remove(&former)
        {
            self.tasks.insert(task, waiter);
        }
        self.instant(task, format!("exec {path}"), Vec::new(), at)
    }

    fn call(&self, call: &Call, clock: Clock, at: u64) -> Vec<Packet> {
        let Some(waiter) = self.tasks.get(&call.task) else { return Vec::new() };
        let mut annotations: Vec<Annotation> =
            call.path.iter().map(|path| text("path", path.clone())).collect();
        annotations.push(match call.result {
            Some(result) => number("result", result),
            None => text("result", "did not return".to_owned()),
        });
        let name = call_name(call.call).into_owned();
        let begin = TrackEvent { annotations, ..slice(BEGIN, waiter.thread, Some(name)) };
        vec![packet(clock.boottime(call.began), begin), packet(at, slice(END, waiter.thread, None))]
    }

    fn instant(&self, task: Tid, name: String, annotations: Vec<Annotation>, at: u64) -> Vec<Packet> {
        let Some(waiter) = self.tasks.get(&task) else { return Vec::new() };
        vec![packet(at, TrackEvent { annotations, ..slice(INSTANT, waiter.thread, Some(name)) })]
    }

    fn end(&mut self, task: Tid, at: u64) -> Vec<Packet> {
        let Some(waiter) = self.tasks.remove(&task) else { return Vec::new() };
        match waiter.state {
            State::Runnable => vec![packet(at, slice(END, waiter.waits, None))],
            State::Blocked { since, left, block } => {
                let open = vec![text("unfinished", "the trace ended first".to_owned())];
                blocked(waiter.waits, since, at, left, block.as_ref(), None, open)
            }
            State::Running => Vec::new(),
        }
    }
}

fn blocked(
    track: u64,
    since: u64,
    until: u64,
    left: Left,
    block: Option<&Block>,
    wake: Option<&Context>,
    mut annotations: Vec<Annotation>,
) -> Vec<Packet> {
    if let Some(call) = block.and_then(|block| block.call) {
        annotations.push(text("call", call_name(call).into_owned()));
    }
    let name = cause_words(cause(left, block, wake)).to_owned();
    let begin = TrackEvent { annotations, ..slice(BEGIN, track, Some(name)) };
    vec![packet(since, begin), packet(until, slice(END, track, None))]
}

fn slice(kind: i32, track: u64, name: Option<String>) -> TrackEvent {
    let categories = if kind == END { Vec::new() } else { vec!["whyfaster".to_owned()] };
    TrackEvent { kind: Some(kind), track: Some(track), categories, name, ..TrackEvent::default() }
}

fn packet(at: u64, event: TrackEvent) -> Packet {
    Packet { timestamp: Some(at), sequence: Some(SEQUENCE), event: Some(event), ..Packet::default() }
}

fn text(name: &str, value: String) -> Annotation {
    Annotation { name: Some(name.to_owned()), string: Some(value), int: None }
}

fn number(name: &str, value: i64) -> Annotation {
    Annotation { name: Some(name.to_owned()), string: None, int: Some(value) }
}

/// Numbers of tasks end at 2^22 (`PID_MAX_LIMIT`).
pub(super) fn pid(task: Tid) -> Option<i32> {
    i32::try_from(task).ok()
}
