//! A forest plot: ratios with their intervals below each other, each on a line, and what they come to together.

use maud::{Markup, html};
use whyfaster_core::verdict::Ratio;

use super::super::svg::{Axis, Picture, Px, WIDTH, below};
use super::ratios::plain;
use whyfaster_words::units::{range, times};

const LANE: f64 = 22.0;
const TOP: f64 = 26.0;
const LEFT: f64 = 250.0;
const RIGHT: f64 = WIDTH - 190.0;
/// Farther than this nothing is drawn at its own place.
const FAR: f64 = 100.0;

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super) enum Kind {
    /// A title for those below.
    Heading,
    /// One of many, in the tone of what it says.
    One(&'static str),
    /// Several together, and the range of the next one.
    Together(Option<(f64, f64)>),
}

/// One line.
#[derive(Clone, Debug)]
pub(in super::super) struct Lane {
    /// What it is called.
    pub(in super::super) name: String,
    /// Its ratio; a title has none.
    pub(in super::super) ratio: Option<Ratio>,
    /// What it is.
    pub(in super::super) kind: Kind,
}

/// The lines; nothing where none has a ratio. `sides` says what left and right of 1 mean.
pub(in super::super) fn picture(title: String, lanes: &[Lane], sides: [&str; 2]) -> Option<Picture> {
    let near = |value: f64| value.clamp(FAR.recip(), FAR);
    let of = |lane: &Lane| {
        let ratio = lane.ratio?;
        Some([Some(ratio.ratio), ratio.low, ratio.high])
    };
    let values = lanes.iter().filter_map(of).flatten().flatten().map(near);
    let axis = Axis::log(values.chain([0.95, 1.05]), (LEFT, RIGHT))?;
    if !lanes.iter().any(|lane| lane.ratio.is_some()) {
        return None;
    }
    let bottom = TOP + LANE * lanes.len() as f64 + 6.0;
    let one = axis.at(1.0);
    let said: Vec<String> =
        lanes.iter().filter_map(|it| Some(format!("{}: {}", it.name, told(it.ratio?)))).collect();
    let body = html! {
        (below(&axis, TOP, bottom, |value, _| format!("{}x", plain(value))))
        text class="tick end" x=(Px(one - 8.0)) y="14" { "← " (sides[0]) }
        text class="tick" x=(Px(one + 8.0)) y="14" { (sides[1]) " →" }
        line class="one" x1=(Px(one)) x2=(Px(one)) y1=(Px(TOP - 8.0)) y2=(Px(bottom)) {}
        @for (row, lane) in lanes.iter().enumerate() { (drawn(lane, &axis, TOP + LANE * row as f64)) }
    };
    Some(Picture { title, text: said.join("; "), height: bottom + 26.0, body })
}

fn told(ratio: Ratio) -> String {
    format!("{}{}", times(ratio), range(ratio))
}

fn drawn(lane: &Lane, axis: &Axis, top: f64) -> Markup {
    let middle = top + LANE / 2.0 + 2.0;
    let place = |value: f64| axis.at(value.clamp(FAR.recip(), FAR));
    let class = match lane.kind {
        Kind::Heading => "name strong",
        Kind::One(_) => "name",
        Kind::Together(_) => "name strong",
    };
    html! {
        text class=(class) x="4" y=(Px(middle + 4.0)) { (lane.name) }
        @if let Some(ratio) = lane.ratio {
            @let ends = [ratio.low.map_or(LEFT, place), ratio.high.map_or(RIGHT, place)];
            @match lane.kind {
                Kind::Together(next) => {
                    @if let Some((low, high)) = next {
                        line class="predicted" x1=(Px(place(low))) x2=(Px(place(high))) y1=(Px(middle)) y2=(Px(middle)) { title { "the next machine" } }
                    }
                    (diamond(ends, place(ratio.ratio), middle))
                }
                Kind::Heading => {},
                Kind::One(tone) => {
                    g class={ "on " (tone) } {
                        @if ratio.low.is_some() || ratio.high.is_some() {
                            line class="sure" x1=(Px(ends[0])) x2=(Px(ends[1])) y1=(Px(middle)) y2=(Px(middle)) {}
                        }
                        rect class="middle" x=(Px(place(ratio.ratio) - 3.5)) y=(Px(middle - 3.5)) width="7" height="7" {}
                    }
                }
            }
            text class="tick" x=(Px(RIGHT + 12.0)) y=(Px(middle + 4.0)) { (told(ratio)) }
        }
    }
}

fn diamond([low, high]: [f64; 2], at: f64, middle: f64) -> Markup {
    let (low, high) = (low.min(at - 4.0), high.max(at + 4.0));
    let d = format!(
        "{low:.1},{middle:.1} {at:.1},{:.1} {high:.1},{middle:.1} {at:.1},{:.1}",
        middle - 6.0,
        middle + 6.0
    );
    html! { polygon class="together" points=(d) {} }
}
