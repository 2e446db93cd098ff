//! Prices as bars on one logarithmic scale: from the floor to the typical price, with the tail behind it.

use maud::{Markup, html};
use whyfaster_core::price::Price;
use whyfaster_words::look::Look;
use whyfaster_words::units::{price, price_tick};

use super::super::svg::{Axis, Picture, Px, WIDTH, below};

const LEFT: f64 = 250.0;
const RIGHT: f64 = WIDTH - 84.0;
const ROW: f64 = 22.0;
const TOP: f64 = 8.0;

/// The priced rows of a group, on the scale of all groups.
pub(in super::super) fn picture(
    title: String,
    rows: &[&Price],
    all: &[&Price],
    look: &Look,
) -> Option<Picture> {
    let values = all.iter().flat_map(|it| [it.floor_ns, it.typical_ns(), it.p99_ns].into_iter().flatten());
    let axis = Axis::log(values, (LEFT, RIGHT))?;
    let rows: Vec<(&Price, f64)> = rows.iter().filter_map(|it| Some((*it, it.typical_ns()?))).collect();
    if rows.is_empty() {
        return None;
    }
    let bottom = TOP + ROW * rows.len() as f64;
    let said = rows.iter().map(|(it, typical)| {
        format!("{} {}", whyfaster_words::clean::clean(&it.id()), price(*typical, look))
    });
    let text = said.collect::<Vec<_>>().join(", ");
    let body = html! {
        (below(&axis, TOP, bottom, |value, step| price_tick(value, step, look)))
        @for (at, (it, typical)) in rows.iter().enumerate() { (row(it, *typical, TOP + ROW * at as f64, &axis, look)) }
    };
    Some(Picture { title, text, height: bottom + 26.0, body })
}

fn row(it: &Price, typical: f64, y: f64, axis: &Axis, look: &Look) -> Markup {
    let middle = y + ROW / 2.0;
    let name = whyfaster_words::text::shorten(
        &whyfaster_words::clean::clean(&format!("{} {}", it.name, it.variant)),
        34,
        true,
    );
    let start = axis.at(0.0);
    let at = axis.at(typical);
    html! {
        g class="c0" {
            text class="tick end name" x=(Px(LEFT - 8.0)) y=(Px(middle + 4.0)) { (name) }
            @if let Some(tail) = it.p99_ns.filter(|tail| *tail > typical) {
                line class="tail" x1=(Px(at)) x2=(Px(axis.at(tail))) y1=(Px(middle)) y2=(Px(middle)) {
                    title { "99 of 100 below " (price(tail, look)) }
                }
                line class="tail" x1=(Px(axis.at(tail))) x2=(Px(axis.at(tail))) y1=(Px(middle - 4.0)) y2=(Px(middle + 4.0)) {}
            }
            rect class="price" x=(Px(start)) width=(Px((at - start).max(1.5))) y=(Px(middle - 6.0)) height="12" rx="2" {
                title { (whyfaster_words::clean::clean(&it.unit)) }
            }
            @if let Some(floor) = it.floor_ns {
                line class="least" x1=(Px(axis.at(floor))) x2=(Px(axis.at(floor))) y1=(Px(middle - 6.0)) y2=(Px(middle + 6.0)) {
                    title { "5 of 100 below " (price(floor, look)) }
                }
            }
            @if let Some((low, high)) = it.low_ns.zip(it.high_ns) {
                line class="sure" x1=(Px(axis.at(low))) x2=(Px(axis.at(high))) y1=(Px(middle)) y2=(Px(middle)) {}
            }
            text class="tick" x=(Px(RIGHT + 8.0)) y=(Px(middle + 4.0)) { (price(typical, look)) }
        }
    }
}
