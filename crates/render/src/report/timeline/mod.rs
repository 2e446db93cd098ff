//! Who ran where and when, who waited for what, and who woke whom: packed for the scripts, and as a picture for whoever has none.
//!
//! A track is a task. Its states follow each other without a gap: a time since the state before, and a code (0 gone or not seen, 1
//! waiting for a CPU, even: running on CPU `code / 2 - 1`, odd: blocked, for the reason `code / 2 - 1`). Numbers are little-endian groups of
//! seven bits (LEB128). Scripts make the lanes of CPUs out of the same tracks.

//!
//! The critical path is beside them: a time at which it comes to a track, the track, and 1, or 0 where it ends.

mod build;
mod path;

use build::{Builder, GONE, Track, WAITING};
use maud::{Markup, html};
use serde_json::json;
use whyfaster_core::trace::stored::{Damaged, Stored};
use whyfaster_words::look::Look;
use whyfaster_words::phrases::count;
use whyfaster_words::text::shorten;

use super::data;
use super::svg::{Axis, Picture, Px, WIDTH, times_below};

pub(super) use path::picture as path_picture;

/// A timeline, whole.
#[derive(Debug)]
pub(super) struct Timeline {
    built: Builder,
    events: u64,
    /// The critical path: from when to when on which track, in order. Empty where it is not known.
    path: Vec<(u64, u64, usize)>,
}

/// The timeline of a stream; nothing where that holds no switch. `whole`: it goes to the end, without which there is no critical path.
pub(super) fn of(stream: &Stored, whole: bool) -> Result<Option<Timeline>, Damaged> {
    let mut built = Builder::new(stream.setting.abi);
    stream.each(&mut |event| {
        if stream.setting.running {
            built.begin(event.at);
        }
        built.push(event);
    })?;
    built.end();
    let seen = built.tracks.iter().any(|track| track.states.iter().any(|(_, code)| *code > WAITING));
    if !seen {
        return Ok(None);
    }
    let path = if whole { built.path(&stream.critical_path()?) } else { Vec::new() };
    Ok(Some(Timeline { built, events: stream.events, path }))
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
        let mut path: Vec<(u64, u32, u32)> =
            self.path.iter().map(|step| (step.0, step.2 as u32, 1)).collect();
        path.extend(self.path.last().map(|step| (step.1, step.2 as u32, 0)));
        put_all(&mut numbers, &path);
        let tracks: Vec<_> = built
            .tracks
            .iter()
            .map(|it| {
                json!([
                    whyfaster_words::clean::clean(&it.name),
                    it.process,
                    it.task,
                    u8::from(it.tree),
                    it.states.len()
                ])
            })
            .collect();
        let head = serde_json::to_vec(&json!({
            "span": built.last, "events": self.events, "reasons": built.reasons.all,
            "labels": built.labels.all.iter().map(|label| whyfaster_words::clean::clean(label)).collect::<Vec<_>>(),
            "arrows": built.arrows.len(), "marks": built.marks.len(), "path": path.len(), "tracks": tracks,
        }))?;
        let mut bytes = (head.len() as u32).to_le_bytes().to_vec();
        bytes.extend(head);
        bytes.extend(numbers);
        Ok(data::packed(id, &bytes, &[]))
    }

    /// Whether the critical path is known.
    pub(super) fn has_path(&self) -> bool {
        !self.path.is_empty()
    }

    /// Tasks and events, in words.
    pub(super) fn said(&self) -> String {
        let tree = self.built.tracks.iter().filter(|track| track.tree).count();
        format!(
            "{} of {} and of {} that shared the CPUs",
            count(self.events, "scheduling record", "scheduling records"),
            count(tree as u64, "task", "tasks"),
            count((self.built.tracks.len() - tree) as u64, "other", "others")
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
                    (shorten(&whyfaster_words::clean::clean(&track.name), 13, true)) " " (track.task)
                }
                (lane(&track.states, &axis, y))
            }
        };
        let names: Vec<String> = tracks
            .iter()
            .map(|track| format!("{} {}", whyfaster_words::clean::clean(&track.name), track.task))
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
fn lane(states: &[(u64, u32)], axis: &Axis, y: f64) -> Markup {
    let class = |code: u32| match code {
        GONE => None,
        WAITING => Some("part k-wait"),
        code if code.is_multiple_of(2) => Some("part k-user"),
        _ => Some("part k-block"),
    };
    let mut bars: Vec<(f64, f64, &'static str)> = Vec::new();
    for pair in states.windows(2) {
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
