//! How many times as long an alternative takes as the baseline: round by round, with the interval, what counts as the same, and the
//! floor that the hidden copy of the baseline measured.

use maud::{Markup, html};
use whyfaster_core::analysis::{Comparison, Floor, Level, ratios};
use whyfaster_core::record::Record;
use whyfaster_core::sample::Arm;
use whyfaster_core::verdict::Verdict;
use whyfaster_words::look::Look;
use whyfaster_words::text::finish;
use whyfaster_words::units::{Figures, digits, times};

use super::super::super::names::Names;
use super::super::super::sentence::at;
use super::super::super::table::{interval, verdict_word};
use super::super::svg::{Axis, Picture, Px, WIDTH, below, colour, mark, points};

/// Comparisons that are drawn; the tables have all.
const MOST: usize = 24;
const LANE: f64 = 58.0;
const TOP: f64 = 26.0;
const LEFT: f64 = 20.0;

struct Lane<'a> {
    level: &'a Level,
    comparison: &'a Comparison,
    index: usize,
    rounds: Vec<f64>,
}

/// Every comparison; nothing where nothing was compared.
pub(in super::super) fn picture(record: &Record, names: &Names, _: &Look) -> Option<(Picture, usize)> {
    let place = |name: &str| record.plan.alternatives.iter().position(|it| it.name == name);
    let mut lanes: Vec<Lane<'_>> = Vec::new();
    for level in &record.analysis.levels {
        for comparison in &level.comparisons {
            let Some((index, base)) = place(&comparison.alternative).zip(place(&comparison.baseline)) else {
                continue;
            };
            let arms = (Arm::Alternative(index), Arm::Alternative(base));
            let rounds = ratios(&record.batches, record.plan.mode, level.load, arms);
            let rounds = rounds.into_iter().map(|(_, ratio)| ratio).filter(|it| it.is_finite() && *it > 0.0);
            lanes.push(Lane { level, comparison, index, rounds: rounds.collect() });
        }
    }
    let left_out = lanes.len().saturating_sub(MOST);
    lanes.truncate(MOST);
    let delta = 1.0 + record.plan.delta;
    let values = lanes.iter().flat_map(|lane| {
        let c = lane.comparison;
        lane.rounds.iter().copied().chain([Some(c.ratio), c.low, c.high].into_iter().flatten())
    });
    let axis = Axis::log(values.chain([1.0 / delta, delta]), (LEFT, WIDTH - LEFT))?;
    if lanes.is_empty() {
        return None;
    }
    let bottom = TOP + LANE * lanes.len() as f64;
    let floor = record.analysis.floor.as_ref();
    let said: Vec<String> = lanes.iter().map(|lane| said(record, lane, names)).collect();
    let baseline = names.show(&lanes[0].comparison.baseline);
    let body = html! {
        (bands(&axis, floor, record.plan.delta, (TOP, bottom)))
        (below(&axis, TOP, bottom, |value, _| format!("{}x", plain(value))))
        text class="tick end" x=(Px(axis.at(1.0) - 8.0)) y="14" { "← faster than " (baseline) }
        text class="tick" x=(Px(axis.at(1.0) + 8.0)) y="14" { "slower →" }
        line class="one" x1=(Px(axis.at(1.0))) x2=(Px(axis.at(1.0))) y1=(Px(TOP - 8.0)) y2=(Px(bottom)) {}
        @for (row, (lane, said)) in lanes.iter().zip(&said).enumerate() {
            (drawn(lane, said, &axis, TOP + LANE * row as f64))
        }
    };
    let picture = Picture {
        title: format!("Time over that of {baseline}, round by round"),
        text: said.join("; "),
        height: bottom + 26.0,
        body,
    };
    Some((picture, left_out))
}

/// A number of an axis: no zeros that say nothing.
pub(super) fn plain(value: f64) -> String {
    let text = digits(value);
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

/// "alone: B 0.70x (0.60x to 0.75x), faster, 20 rounds".
fn said(record: &Record, lane: &Lane<'_>, names: &Names) -> String {
    let c = lane.comparison;
    let ends = match (c.low, c.high) {
        (None, None) => "too few rounds for an interval".to_owned(),
        (low, high) => interval(low, high, |end| Figures::of(c.time()).factor(end)),
    };
    format!(
        "{}, {}: {} ({ends}), {}",
        names.show(&c.alternative),
        at(record, lane.level.load),
        times(c.time()),
        finish(&verdict_word(c.verdict), false)
    )
}

/// What counts as the same, and how far the baseline is from itself.
fn bands(axis: &Axis, floor: Option<&Floor>, delta: f64, (top, bottom): (f64, f64)) -> Markup {
    let band = |class: &str, low: f64, high: f64, what: &str| {
        let (from, to) = (axis.at(low), axis.at(high));
        html! {
            rect class=(class) x=(Px(from)) width=(Px((to - from).max(1.0))) y=(Px(top)) height=(Px(bottom - top)) {
                title { (what) }
            }
        }
    };
    html! {
        (band("same", 1.0 / (1.0 + delta), 1.0 + delta, "what counts as the same"))
        @if let Some((low, high)) = floor.and_then(|floor| floor.low.zip(floor.high)) {
            (band("floor", low, high, "the baseline against itself"))
        }
    }
}

fn drawn(lane: &Lane<'_>, said: &str, axis: &Axis, top: f64) -> Markup {
    let c = lane.comparison;
    let middle = top + 38.0;
    let spread = |at: usize| middle + ((at * 5 % 7) as f64 - 3.0) * 3.0;
    let places = lane.rounds.iter().enumerate().map(|(at, ratio)| (axis.at(*ratio), spread(at)));
    let (low, high) = (c.low.map(|it| axis.at(it)), c.high.map(|it| axis.at(it)));
    let ends = low.or(high).map(|_| (low.unwrap_or(LEFT), high.unwrap_or(WIDTH - LEFT)));
    let verdict = match c.verdict {
        Verdict::Faster => "good",
        Verdict::Slower => "bad",
        Verdict::Same => "plain",
        Verdict::Undecided => "unsure",
    };
    html! {
        g class=(colour(lane.index)) {
            text class={ "label " (verdict) } x=(Px(LEFT)) y=(Px(top + 16.0)) { (said) }
            (points("dots", places))
            @if let Some((from, to)) = ends {
                line class="sure" x1=(Px(from)) x2=(Px(to)) y1=(Px(middle)) y2=(Px(middle)) {}
                line class="sure" x1=(Px(from)) x2=(Px(from)) y1=(Px(middle - 6.0)) y2=(Px(middle + 6.0)) {}
                line class="sure" x1=(Px(to)) x2=(Px(to)) y1=(Px(middle - 6.0)) y2=(Px(middle + 6.0)) {}
            }
            (mark(lane.index, axis.at(c.ratio), middle))
        }
    }
}
