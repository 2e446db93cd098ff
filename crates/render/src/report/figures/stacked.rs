//! Parts of a whole as bars on one scale, one below the other: critical paths aligned, where the time of each command went.

use maud::{Markup, html};
use whyfaster_stats::order::largest_first;
use whyfaster_words::look::Look;
use whyfaster_words::units::time;

use super::super::svg::{Axis, Picture, Px, WIDTH, advance, times_below};

const LEFT: f64 = 150.0;
const RIGHT: f64 = WIDTH - 16.0;
const ROW: f64 = 42.0;
const TOP: f64 = 8.0;
/// Narrower parts have no text in them.
const ROOM: f64 = 7.2;

/// A part of a bar.
#[derive(Clone, Debug)]
pub(in super::super) struct Part {
    /// Its class of colour.
    pub(in super::super) class: &'static str,
    pub(in super::super) what: String,
    pub(in super::super) seconds: f64,
}

/// A bar.
#[derive(Clone, Debug)]
pub(in super::super) struct Bar {
    pub(in super::super) name: String,
    pub(in super::super) parts: Vec<Part>,
}

/// The bars, and what their colours are.
pub(in super::super) fn picture(title: String, bars: &[Bar], look: &Look) -> Option<Picture> {
    let whole = |bar: &Bar| bar.parts.iter().map(|part| part.seconds.max(0.0)).sum::<f64>();
    if bars.iter().map(whole).fold(0.0, f64::max) <= 0.0 {
        return None;
    }
    let axis = Axis::from_zero(bars.iter().map(whole), (LEFT, RIGHT));
    let bottom = TOP + ROW * bars.len() as f64;
    let mut classes: Vec<(&str, &str)> = Vec::new();
    for part in bars.iter().flat_map(|bar| &bar.parts) {
        let word = class_word(part.class);
        if part.seconds > 0.0 && !classes.contains(&(part.class, word)) {
            classes.push((part.class, word));
        }
    }
    classes.sort_unstable();
    let said = bars.iter().map(|bar| {
        let mut largest: Vec<&Part> = bar.parts.iter().filter(|part| part.seconds > 0.0).collect();
        largest_first(&mut largest, |part| part.seconds);
        let part = |part: &&Part| format!("{} {}", part.what, time(part.seconds, look.time_unit));
        let parts: Vec<String> = largest.iter().take(4).map(part).collect();
        format!("{}: {} in all, most of it {}", bar.name, time(whole(bar), look.time_unit), parts.join(", "))
    });
    let text = said.collect::<Vec<_>>().join("; ");
    let body = html! {
        (times_below(&axis, TOP, bottom, look.time_unit))
        @for (row, bar) in bars.iter().enumerate() { (drawn(bar, TOP + ROW * row as f64, &axis, look)) }
        (key(&classes, bottom + 38.0))
    };
    Some(Picture { title, text, height: bottom + 52.0, body })
}

/// What a class of colour stands for.
fn class_word(class: &str) -> &'static str {
    match class {
        "k-user" => "user code",
        "k-kernel" => "kernel",
        "k-start" => "starting programs",
        "k-wait" => "waiting for a CPU",
        "k-io" => "waiting for disk, network or terminal",
        "k-block" => "waiting for others or asleep",
        _ => "not known",
    }
}

fn drawn(bar: &Bar, y: f64, axis: &Axis, look: &Look) -> Markup {
    let mut from = 0.0;
    html! {
        text class="label end" x=(Px(LEFT - 10.0)) y=(Px(y + 25.0)) { (whyfaster_words::text::shorten(&bar.name, 19, true)) }
        @for part in bar.parts.iter().filter(|part| part.seconds > 0.0) {
            @let start = advance(&mut from, part.seconds);
            @let (a, b) = (axis.at(start), axis.at(start + part.seconds));
            @let room = ((b - a - 8.0) / ROOM).max(0.0) as usize;
            rect class={ "part " (part.class) } x=(Px(a)) width=(Px((b - a - 0.7).max(0.6))) y=(Px(y + 6.0)) height=(Px(ROW - 14.0)) {
                title { (part.what) ": " (time(part.seconds, look.time_unit)) }
            }
            @if room >= 6 {
                text class="inside" x=(Px(a + 5.0)) y=(Px(y + 25.0)) {
                    (whyfaster_words::text::beginning(&part.what, room, true))
                }
            }
        }
    }
}

fn key(classes: &[(&str, &str)], y: f64) -> Markup {
    let mut x = 16.0;
    html! {
        @for (class, word) in classes {
            @let here = advance(&mut x, 28.0 + 6.6 * word.len() as f64);
            rect class={ "part " (class) } x=(Px(here)) y=(Px(y - 10.0)) width="12" height="12" rx="2" {}
            text class="tick" x=(Px(here + 17.0)) y=(Px(y)) { (word) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::look;

    #[test]
    fn the_largest_parts_are_said_whatever_their_colour() {
        let part = |class, what: &str, seconds| Part { class, what: what.to_owned(), seconds };
        let mut parts: Vec<Part> =
            (1..=4).map(|at| part("k-start", "starting up", f64::from(at) / 1e4)).collect();
        parts.push(part("k-block", "asleep", 0.9));
        let bars = [Bar { name: "sleep".to_owned(), parts }];
        let text = picture(String::new(), &bars, &look(80, true)).unwrap().text;
        assert!(text.contains("most of it asleep 900 ms, starting up 400 us"), "{text}");
    }
}
