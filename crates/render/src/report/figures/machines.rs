//! Rows over the machines of a fleet, as small multiples: how every machine's price stands to the median of its row, each group of machines in
//! its colour, the machines that stand out marked.

use maud::{Markup, html};

use super::super::svg::{Axis, COLOURS, Picture, Px, WIDTH, below, points};
use super::ratios::plain;
use whyfaster_words::units::factor;

/// Machines that are drawn one by one; of more, how many there are at each place.
pub(in super::super) const POINTS: usize = 200;
/// Rows of one picture.
pub(in super::super) const MOST: usize = 12;
/// Farther than this from the median nothing is drawn at its own place.
const FAR: f64 = 32.0;
/// Places of a row at which machines are counted.
const PLACES: usize = 150;
const LANE: f64 = 44.0;
const TOP: f64 = 24.0;
const LEFT: f64 = 250.0;
const RIGHT: f64 = WIDTH - 110.0;

/// One row.
#[derive(Clone, Debug)]
pub(in super::super) struct Lane {
    /// Its name.
    pub(in super::super) name: String,
    /// What stands below the name: the median.
    pub(in super::super) below: String,
    /// What stands behind it: how far the machines are apart.
    pub(in super::super) behind: String,
    /// Of every machine its group, and its price over the median.
    pub(in super::super) values: Vec<(usize, f64)>,
    /// Machines that stand out here, with the same.
    pub(in super::super) marked: Vec<(String, f64)>,
    /// From here to there are nine machines of ten.
    pub(in super::super) most: (f64, f64),
}

/// The axis that all rows of a page share.
pub(in super::super) fn axis<'a>(lanes: impl Iterator<Item = &'a Lane>) -> Option<Axis> {
    let values = lanes.flat_map(|lane| lane.values.iter().map(|(_, ratio)| *ratio));
    let near = values.map(|ratio| ratio.clamp(FAR.recip(), FAR));
    Axis::log(near.chain([0.8, 1.25]), (LEFT, RIGHT))
}

/// These rows; nothing where there is none.
pub(in super::super) fn picture(title: String, lanes: &[Lane], axis: &Axis) -> Option<Picture> {
    if lanes.is_empty() {
        return None;
    }
    let bottom = TOP + LANE * lanes.len() as f64;
    let said: Vec<String> = lanes.iter().map(said).collect();
    let body = html! {
        (below(axis, TOP, bottom, |value, _| format!("{}x", plain(value))))
        line class="one" x1=(Px(axis.at(1.0))) x2=(Px(axis.at(1.0))) y1=(Px(TOP - 8.0)) y2=(Px(bottom)) {}
        @for (row, (lane, said)) in lanes.iter().zip(&said).enumerate() {
            (drawn(lane, said, axis, TOP + LANE * row as f64))
        }
    };
    Some(Picture { title, text: said.join("; "), height: bottom + 26.0, body })
}

fn said(lane: &Lane) -> String {
    let marked: Vec<String> =
        lane.marked.iter().map(|(name, by)| format!("{name} {}", factor(*by))).collect();
    let out = if marked.is_empty() { String::new() } else { format!(", stand out: {}", marked.join(", ")) };
    let (low, high) = lane.most;
    format!(
        "{}: median {}, nine of ten machines from {} to {} of it{out}",
        lane.name,
        lane.below,
        factor(low),
        factor(high)
    )
}

fn drawn(lane: &Lane, said: &str, axis: &Axis, top: f64) -> Markup {
    let base = top + LANE - 8.0;
    let shown = |ratio: f64| axis.at(ratio.clamp(FAR.recip(), FAR));
    html! {
        g {
            title { (said) }
            text class="name" x="4" y=(Px(top + 20.0)) { (lane.name) }
            text class="tick" x="4" y=(Px(top + 35.0)) { (lane.below) }
            line class="axis" x1=(Px(LEFT)) x2=(Px(RIGHT)) y1=(Px(base)) y2=(Px(base)) {}
            @if lane.values.len() > POINTS { (areas(lane, &shown, base)) } @else { (dots(lane, &shown, base)) }
            @for (name, ratio) in &lane.marked {
                circle class="stray" cx=(Px(shown(*ratio))) cy=(Px(base - 6.0)) r="4.5" { title { (name) " " (factor(*ratio)) } }
            }
            text class="tick" x=(Px(RIGHT + 10.0)) y=(Px(top + 27.0)) { (lane.behind) }
        }
    }
}

/// The colour of a group; the smaller ones behind the first share the last.
pub(in super::super) fn colour(group: usize) -> String {
    format!("c{}", group.min(COLOURS - 1))
}

fn groups(lane: &Lane) -> impl Iterator<Item = (usize, Vec<f64>)> + '_ {
    (0..COLOURS).map(|colour| {
        let here = lane.values.iter().filter(move |(group, _)| (*group).min(COLOURS - 1) == colour);
        (colour, here.map(|(_, ratio)| *ratio).collect::<Vec<f64>>())
    })
}

/// Every machine a point, spread over the lane without chance.
fn dots(lane: &Lane, shown: &dyn Fn(f64) -> f64, base: f64) -> Markup {
    html! {
        @for (group, values) in groups(lane) {
            g class=(colour(group)) {
                (points("dots", values.iter().enumerate().map(|(at, ratio)| (shown(*ratio), base - 6.0 - ((at * 7 % 11) as f64) * 2.0))))
            }
        }
    }
}

/// How many machines there are at each place.
fn areas(lane: &Lane, shown: &dyn Fn(f64) -> f64, base: f64) -> Markup {
    let step = (RIGHT - LEFT) / PLACES as f64;
    let counted: Vec<(usize, Vec<usize>)> = groups(lane)
        .map(|(group, values)| {
            let mut places = vec![0usize; PLACES];
            for ratio in values {
                places[(((shown(ratio) - LEFT) / step) as usize).min(PLACES - 1)] += 1;
            }
            (group, places)
        })
        .collect();
    let most = counted.iter().flat_map(|(_, places)| places).copied().max().unwrap_or(0).max(1) as f64;
    let path = |places: &[usize]| {
        let mut d = String::new();
        for (at, count) in places.iter().enumerate().filter(|(_, count)| **count > 0) {
            // At least a pixel: one machine of ten thousand is to be seen.
            let (x, height) = (LEFT + step * at as f64, (*count as f64 / most * (LANE - 14.0)).max(1.0));
            d.push_str(&format!("M{x:.1} {base:.1}v-{height:.1}h{step:.1}v{height:.1}z"));
        }
        d
    };
    html! {
        @for (group, places) in counted.iter().filter(|(_, places)| places.iter().any(|it| *it > 0)) {
            g class=(colour(*group)) { path class="area" d=(path(places)) {} }
        }
    }
}
