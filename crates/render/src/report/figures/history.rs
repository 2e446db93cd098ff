//! Prices over several machines or kernels, in the order in which their lists were named.

use maud::html;
use serde_json::{Value, json};
use whyfaster_core::price::history::{History, Line};
use whyfaster_words::clean::clean;
use whyfaster_words::look::Look;
use whyfaster_words::text::shorten;
use whyfaster_words::units::{price, price_tick};

use super::super::svg::{Axis, Picture, Px, WIDTH, beside, colour, line, mark};
use super::rounds::under_legend;

const LEFT: f64 = 80.0;
const RIGHT: f64 = WIDTH - 40.0;
const TOP: f64 = 30.0;
const BOTTOM: f64 = 250.0;
/// Rows of a picture.
pub(in super::super) const MOST: usize = 6;

/// Some rows over all lists.
pub(in super::super) fn picture(
    history: &History,
    rows: &[&Line],
    title: String,
    look: &Look,
) -> Option<(Picture, Value)> {
    let values = rows.iter().flat_map(|row| row.typical.iter().flatten().copied());
    let y = Axis::log(values, (BOTTOM, TOP))?;
    let last = history.kernels.len().saturating_sub(1);
    let x = Axis::from_zero([last as f64], (LEFT + 20.0, RIGHT));
    let name = |row: &Line| shorten(&clean(&format!("{} {}", row.name, row.variant)), 30, true);
    let names: Vec<String> = rows.iter().map(|row| name(row)).collect();
    let every = history.kernels.len().div_ceil(8).max(1);
    let body = html! {
        (beside(&y, LEFT, RIGHT + 20.0, |value, step| price_tick(value, step, look)))
        @for (at, kernel) in history.kernels.iter().enumerate().step_by(every) {
            text class="tick mid" x=(Px(x.at(at as f64))) y=(Px(BOTTOM + 18.0)) { (shorten(&clean(kernel), 14, true)) }
        }
        @for (at, row) in rows.iter().enumerate() {
            @let known: Vec<(f64, f64)> = row.typical.iter().enumerate().filter_map(|(list, it)| Some((x.at(list as f64), y.at((*it)?)))).collect();
            g class=(colour(at)) {
                (line("curve", known.iter().copied()))
                @for (px, py) in known { (mark(at, px, py)) }
            }
        }
    };
    let legend = names.iter().enumerate().map(|(at, name)| (at, name.as_str()));
    let (body, height) = under_legend(legend, &body, BOTTOM + 30.0);
    let said = rows.iter().zip(&names).map(|(row, name)| {
        let each =
            row.typical.iter().map(|it| it.map_or_else(|| "not measured".to_owned(), |it| price(it, look)));
        format!("{name}: {}", each.collect::<Vec<_>>().join(", "))
    });
    let text = said.collect::<Vec<_>>().join("; ");
    let plot = json!({
        "kind": "history", "unit": "", "log": true, "x": "list",
        "xs": (0..history.kernels.len()).collect::<Vec<_>>(), "labels": history.kernels.iter().map(|it| clean(it)).collect::<Vec<_>>(),
        "series": rows.iter().zip(&names).enumerate().map(|(at, (row, name))| json!({
            "name": name, "colour": colour(at), "values": row.typical,
        })).collect::<Vec<_>>(),
    });
    Some((Picture { title, text, height, body }, plot))
}
