//! The critical path as it came: which command it went through when, and whether that ran or waited. Several on one axis of time can be held
//! against each other.

use maud::html;
use whyfaster_words::clean::clean;
use whyfaster_words::look::Look;
use whyfaster_words::text::shorten;

use super::super::super::section::scale;
use super::super::svg::{Axis, Picture, Px, WIDTH, times_below};
use super::build::GONE;
use super::{Timeline, lane};

/// Commands of one path that have a lane of their own; the others share one.
const LANES: usize = 7;

/// A command with its states while the path went through it.
#[derive(Debug, Default)]
struct Lane {
    name: String,
    /// How long that was, nanoseconds.
    ns: u64,
    states: Vec<(u64, u32)>,
}

impl Timeline {
    /// The commands of the path in the order in which it came to them; those of the shortest time together.
    fn lanes(&self) -> Vec<Lane> {
        let name = |track: usize| clean(&self.built.tracks[track].name);
        let mut sums: Vec<(String, u64)> = Vec::new();
        for (from, to, track) in &self.path {
            let name = name(*track);
            match sums.iter_mut().find(|(known, _)| *known == name) {
                Some((_, ns)) => *ns += to - from,
                None => sums.push((name, to - from)),
            }
        }
        let mut longest: Vec<(String, u64)> = sums.clone();
        longest.sort_by_key(|(_, ns)| std::cmp::Reverse(*ns));
        let others =
            longest.split_off(longest.len().min(if longest.len() > LANES { LANES - 1 } else { LANES }));
        let own = |(name, _): &&(String, u64)| longest.iter().any(|(it, _)| it == name);
        let mut lanes: Vec<Lane> = sums
            .iter()
            .filter(own)
            .map(|(name, ns)| Lane { name: name.clone(), ns: *ns, ..Lane::default() })
            .collect();
        if !others.is_empty() {
            let ns = others.iter().map(|(_, ns)| ns).sum();
            lanes.push(Lane { name: format!("{} others", others.len()), ns, ..Lane::default() });
        }
        for (from, to, track) in &self.path {
            let name = name(*track);
            let at = lanes.iter().position(|lane| lane.name == name).unwrap_or(lanes.len() - 1);
            self.pass(&mut lanes[at].states, *track, (*from, *to));
        }
        lanes
    }

    /// Adds what a track did in a stretch of time.
    fn pass(&self, states: &mut Vec<(u64, u32)>, track: usize, (from, to): (u64, u64)) {
        let all = &self.built.tracks[track].states;
        let first = all.partition_point(|(at, _)| *at <= from).saturating_sub(1);
        let within = all[first..].iter().take_while(|(at, _)| *at < to);
        for (at, code) in within {
            let at = (*at).max(from);
            match states.last_mut() {
                Some(last) if last.0 == at => last.1 = *code,
                _ => states.push((at, *code)),
            }
        }
        states.push((to, GONE));
    }
}

/// The paths one below the other on one axis; nothing where none is known.
pub(in super::super) fn picture(title: String, sides: &[(&str, &Timeline)], look: &Look) -> Option<Picture> {
    const LEFT: f64 = 150.0;
    const ROW: f64 = 20.0;
    const HEAD: f64 = 24.0;
    let sides: Vec<(&str, Vec<Lane>, u64)> =
        sides.iter().filter_map(|(name, it)| Some((*name, it.lanes(), it.path.last()?.1))).collect();
    let longest = sides.iter().map(|side| side.2).max()? as f64 * 1e-9;
    let axis = Axis::from_zero([longest], (LEFT, WIDTH - 16.0));
    let tall: f64 = sides.iter().map(|(_, lanes, _)| HEAD + ROW * lanes.len() as f64).sum();
    let bottom = 4.0 + tall;
    let unit = scale(sides.iter().map(|side| side.2 as f64 * 1e-9), look);
    let text: Vec<String> = sides
        .iter()
        .map(|(name, lanes, _)| {
            let lane =
                |lane: &Lane| format!("{} {} {}", lane.name, unit.number(lane.ns as f64 * 1e-9), unit.name);
            format!("{name}: {}", lanes.iter().map(lane).collect::<Vec<_>>().join(", "))
        })
        .collect();
    let tops = sides.iter().scan(4.0, |y, (_, lanes, _)| {
        let top = *y;
        *y += HEAD + ROW * lanes.len() as f64;
        Some(top)
    });
    let body = html! {
        (times_below(&axis, 8.0, bottom, look.time_unit))
        @for ((name, lanes, end), y) in sides.iter().zip(tops) {
            text class="strong" x="8" y=(Px(y + 15.0)) {
                (shorten(name, 60, true)) ": " (unit.number(*end as f64 * 1e-9)) " " (unit.name)
            }
            @for (row, it) in lanes.iter().enumerate() {
                @let top = y + HEAD + ROW * row as f64;
                text class="tick end" x=(Px(LEFT - 8.0)) y=(Px(top + 14.0)) { (shorten(&it.name, 20, true)) }
                (lane(&it.states, &axis, top))
            }
        }
    };
    Some(Picture { title, text: text.join("; "), height: bottom + 26.0, body })
}
