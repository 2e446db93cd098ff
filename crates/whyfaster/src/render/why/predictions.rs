//! What was predicted for levels of load, beside what was measured there; and what grows with load.

use whyfaster_core::record::Record;
use whyfaster_core::why::Why;
use whyfaster_core::why::report::Prediction;

use super::super::grid::{ABSENT, Grid};
use super::super::look::Look;
use super::super::table::interval;
use super::super::text::{Names, wrap_indented};
use super::super::units::deviation;
use super::{Scale, labels, section, shown, single};

/// Rows at most.
const MOST: usize = 16;

/// Levels that were asked for: what is predicted for others is in `--json`.
pub(super) fn predictions(record: &Record, names: &Names, look: &Look) -> Vec<String> {
    let measured = |it: &&Prediction| record.analysis.levels.iter().any(|level| level.load == it.load);
    let rows: Vec<&Prediction> = record.why.predictions.iter().filter(measured).take(MOST).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let scale = Scale::choose(rows.iter().map(|it| it.predicted_s), look.time_unit);
    let optional =
        |value: Option<f64>, text: &dyn Fn(f64) -> String| value.map_or_else(|| ABSENT.to_owned(), text);
    let error = |it: &&Prediction| optional(it.measured_s, &|seconds| deviation(it.predicted_s / seconds));
    let label = |it: &&Prediction| format!("{} x {}", it.load, names.show(&it.alternative));
    let ends = |it: &&Prediction| interval(it.low, it.high, |value| scale.number(value));
    let grid = Grid {
        key: labels("copies", rows.iter().map(label), look),
        groups: vec![
            single("predicted", scale.name, &rows, |it| scale.number(it.predicted_s)),
            single("measured", "", &rows, |it| optional(it.measured_s, &|it| scale.number(it))),
            single("error", "", &rows, error),
            single("interval", "", &rows, ends),
        ],
    };
    section("predicted makespans, from other levels alone", grid, look)
}

/// What makes a copy dearer the more of them run.
pub(super) fn growth(why: &Why, names: &Names, look: &Look) -> Vec<String> {
    let said = why.growth.iter().filter(|it| !it.sentence.is_empty());
    said.flat_map(|it| wrap_indented(&shown(&it.sentence, names, look), look.width, 2)).collect()
}
