//! An experiment as before and after: every run with nothing changed, and every run with the change.

use maud::{Markup, html};
use whyfaster_core::why::report::Experiment;
use whyfaster_stats::quantile::median;
use whyfaster_words::look::Look;
use whyfaster_words::units::time;

use super::super::svg::{Axis, Picture, Px, WIDTH, points, times_below};

const LEFT: f64 = 130.0;
const RIGHT: f64 = WIDTH - 100.0;
const ROW: f64 = 44.0;
const TOP: f64 = 8.0;

/// The runs of an experiment; nothing where none was run.
pub(in super::super) fn picture(it: &Experiment, title: String, look: &Look) -> Option<Picture> {
    let values = it.control_s.iter().chain(&it.changed_s).copied();
    let axis = Axis::over(values, (LEFT, RIGHT))?;
    let bottom = TOP + 2.0 * ROW;
    let rows = [("as it is", &it.control_s, "before"), ("with the change", &it.changed_s, "after")];
    let said = rows.iter().filter_map(|(name, values, _)| {
        Some(format!("{name}: median {} of {} runs", time(median(values)?, look.time_unit), values.len()))
    });
    let text = said.collect::<Vec<_>>().join("; ");
    let body = html! {
        (times_below(&axis, TOP, bottom, look.time_unit))
        @for (at, (name, values, class)) in rows.iter().enumerate() {
            (row(name, values, class, TOP + ROW * at as f64, &axis, look))
        }
    };
    Some(Picture { title, text, height: bottom + 26.0, body })
}

fn row(name: &str, values: &[f64], class: &str, top: f64, axis: &Axis, look: &Look) -> Markup {
    let middle = top + ROW / 2.0;
    let spread = |at: usize| middle + ((at * 5 % 7) as f64 - 3.0) * 3.4;
    let places = values.iter().enumerate().map(|(at, value)| (axis.at(*value), spread(at)));
    html! {
        g class=(class) {
            text class="label end" x=(Px(LEFT - 10.0)) y=(Px(middle + 4.0)) { (name) }
            (points("dots", places))
            @if let Some(value) = median(values) {
                line class="median" x1=(Px(axis.at(value))) x2=(Px(axis.at(value))) y1=(Px(middle - 15.0)) y2=(Px(middle + 15.0)) {}
                text class="label" x=(Px(RIGHT + 8.0)) y=(Px(middle + 4.0)) { (time(value, look.time_unit)) }
            }
        }
    }
}
