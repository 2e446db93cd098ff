//! Time by load, with what no machine can go below, and from where on another one wins.

use maud::{Markup, html};
use serde_json::{Value, json};
use whyfaster_core::record::Record;
use whyfaster_words::look::Look;
use whyfaster_words::units::{Scale, digits, tick, time};

use super::super::super::chart::{Point, Series};
use super::super::svg::{Axis, Picture, Px, WIDTH, below_at, beside, colour, line, mark};
use super::rounds::under_legend;

const LEFT: f64 = 70.0;
const RIGHT: f64 = WIDTH - 16.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 320.0;

/// The picture and what scripts draw in its place; nothing below two loads.
pub(in super::super) fn picture(
    record: &Record,
    title: String,
    series: &[Series],
    look: &Look,
) -> Option<(Picture, Value)> {
    let points = || series.iter().flat_map(|it| &it.points).filter(|it| it.load > 0 && it.value > 0.0);
    let mut loads: Vec<u32> = points().map(|it| it.load).collect();
    loads.sort_unstable();
    loads.dedup();
    if loads.len() < 2 {
        return None;
    }
    let x = Axis::log(loads.iter().map(|load| f64::from(*load)), (LEFT + 8.0, RIGHT - 8.0))?;
    let values = points().flat_map(|it| {
        let (low, high) = it.interval.unzip();
        [Some(it.value), low, high, bound(it)].into_iter().flatten()
    });
    let y = Axis::log(values, (BOTTOM, TOP))?;
    let measured: Vec<f64> = loads.iter().map(|load| f64::from(*load)).collect();
    let scale = Scale::choose(points().map(|it| it.value), look.time_unit);
    let body = html! {
        (crossover(record, &x))
        (beside(&y, LEFT, RIGHT, |value, step| tick(value, step, look.time_unit)))
        (below_at(&x, &measured, TOP, BOTTOM, |load| format!("{load:.0}")))
        @for (at, it) in series.iter().enumerate() { (drawn(at, it, &x, &y)) }
    };
    let names = series.iter().enumerate().map(|(at, it)| (at, it.name.as_str()));
    let (body, height) = under_legend(names, &body, BOTTOM + 30.0);
    let said = series.iter().map(|it| {
        let least = |p: &Point| if p.at_least { "at least " } else { "" };
        let value = |p: &Point| format!("{}{} at {}", least(p), time(p.value, look.time_unit), p.load);
        let each = it.points.iter().map(value);
        format!("{}: {}", it.name, each.collect::<Vec<_>>().join(", "))
    });
    let text = said.collect::<Vec<_>>().join("; ");
    let of = |it: &Series, value: &dyn Fn(&Point) -> Option<f64>| -> Vec<Option<f64>> {
        let at = |load: &u32| {
            it.points.iter().find(|p| p.load == *load).and_then(value).map(|v| v / scale.seconds)
        };
        loads.iter().map(at).collect()
    };
    let each = series.iter().enumerate().flat_map(|(at, it)| {
        [
            json!({
                "name": it.name, "colour": colour(at), "values": of(it, &|p| Some(p.value)),
                "least": loads.iter().map(|load| it.points.iter().any(|p| p.load == *load && p.at_least)).collect::<Vec<_>>(),
            }),
            json!({ "name": format!("{}: at least", it.name), "colour": colour(at), "dash": true, "values": of(it, &bound) }),
        ]
    });
    let plot = json!({
        "kind": "load", "unit": scale.name, "log": true, "xlog": true, "x": "copies", "xs": loads,
        "series": each.collect::<Vec<_>>(),
    });
    Some((Picture { title, text, height, body }, plot))
}

fn bound(point: &Point) -> Option<f64> {
    point.bound.map(|(span, work)| span.max(work)).filter(|it| *it > 0.0)
}

/// Between which loads the answer flips, and where that was predicted.
fn crossover(record: &Record, x: &Axis) -> Markup {
    html! {
        @for it in record.analysis.crossovers.iter().take(3) {
            @if let (Some(from), Some(to)) = (it.measured_from, it.measured_to) {
                @let (from, to) = (x.at(f64::from(from)), x.at(f64::from(to)));
                rect class="flip" x=(Px(from)) width=(Px((to - from).max(2.0))) y=(Px(TOP)) height=(Px(BOTTOM - TOP)) {
                    title { "the answer flips in here" }
                }
            }
            @if let Some(load) = it.predicted_load.filter(|load| x.has(*load)) {
                line class="predicted" x1=(Px(x.at(load))) x2=(Px(x.at(load))) y1=(Px(TOP)) y2=(Px(BOTTOM)) {}
                text class="tick mid" x=(Px(x.at(load))) y=(Px(BOTTOM - 6.0)) { "predicted: " (digits(load)) }
            }
        }
    }
}

fn drawn(at: usize, it: &Series, x: &Axis, y: &Axis) -> Markup {
    let points = || it.points.iter().filter(|point| point.load > 0 && point.value > 0.0);
    let place = |point: &Point, value: f64| (x.at(f64::from(point.load)), y.at(value));
    html! {
        g class=(colour(at)) {
            (line("bound", points().filter_map(|point| Some(place(point, bound(point)?)))))
            (line("curve", points().map(|point| place(point, point.value))))
            @for point in points() {
                @let (px, py) = place(point, point.value);
                @if let Some((low, high)) = point.interval {
                    line class="sure" x1=(Px(px)) x2=(Px(px)) y1=(Px(y.at(low))) y2=(Px(y.at(high))) {}
                }
                @if point.at_least {
                    path class="curve" d=(format!("M{px:.1} {py:.1}v-16m-4 5l4 -5l4 5")) {
                        title { "at least: cut by the time-out" }
                    }
                }
                (mark(at, px, py))
            }
        }
    }
}
