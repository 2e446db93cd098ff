//! What was predicted for levels of load, beside what was measured there; and what grows with load.

use std::collections::BTreeSet;

use whyfaster_core::record::Record;
use whyfaster_core::trace::report::WorkKind;
use whyfaster_core::why::Why;
use whyfaster_core::why::report::{Evidence, Growth, Prediction};
use whyfaster_core::why::statement::Measure;
use whyfaster_words::grid::{Grid, Group, or_absent};
use whyfaster_words::look::Look;
use whyfaster_words::text::wrap_indented;
use whyfaster_words::units::{Scale, deviation};

use super::super::names::Names;
use super::super::section::section;
use super::super::table::interval;
use super::shown::{labels, shown};

/// Rows at most.
const MOST: usize = 16;

/// Where one level was measured only, nothing says how good they are: they are in `--json`.
pub(super) fn predictions(record: &Record, names: &Names, look: &Look) -> Vec<String> {
    let all = &record.why.predictions;
    let mut rows: Vec<&Prediction> = all.iter().collect();
    // What can be held against a measurement goes before what cannot, where there is no room for all.
    rows.sort_by_key(|it| it.measured_s.is_none());
    rows.truncate(MOST);
    let place = |name: &str| record.plan.alternatives.iter().position(|it| it.name == name);
    rows.sort_by_key(|it| (place(&it.alternative), it.load));
    if record.analysis.levels.len() < 2 || rows.is_empty() {
        return Vec::new();
    }
    let scale = Scale::choose(rows.iter().map(|it| it.predicted_s), look.time_unit);
    let error = |it: &&Prediction| or_absent(it.measured_s, |seconds| deviation(it.predicted_s / seconds));
    let measured = |it: &&Prediction| {
        it.measured_s.map_or_else(|| "not measured".to_owned(), |seconds| scale.number(seconds))
    };
    let label = |it: &&Prediction| format!("{} x {}", it.load, names.show(&it.alternative));
    let ends = |it: &&Prediction| interval(it.low, it.high, |value| scale.number(value));
    let grid = Grid {
        key: labels("copies", rows.iter().map(label), look),
        groups: vec![
            Group::in_unit("predicted", scale.name, &rows, |it| scale.number(it.predicted_s)),
            Group::of("measured", &rows, measured),
            Group::of("error", &rows, error),
            Group::of("interval", &rows, ends),
        ],
    };
    let mut lines = section("predicted makespans, from other levels alone", grid, 0, look);
    if rows.iter().any(|it| it.lower_bound) {
        let loads: BTreeSet<u32> = rows.iter().filter(|it| it.lower_bound).map(|it| it.load).collect();
        let loads: Vec<String> = loads.iter().map(u32::to_string).collect();
        let text = format!(
            "At {} copies no other level says what full CPUs cost: what is predicted there is as if a copy cost what it costs alone.",
            loads.join(", ")
        );
        lines.extend(wrap_indented(&text, look.width, 2));
    }
    lines
}

/// What makes a copy dearer the more of them run, in words.
pub(super) fn growth(why: &Why, names: &Names, look: &Look) -> Vec<String> {
    let said = why.growth.iter().filter(|it| !it.sentence.is_empty());
    let mut lines: Vec<String> =
        said.flat_map(|it| wrap_indented(&shown(&it.sentence, look), look.width, 2)).collect();
    for it in &why.growth {
        if let Some(unknown) = &it.kinds_not_measured {
            let of = names.show(&it.alternative);
            let text = format!("{of}: the kernel's part by kind: not measured ({unknown}).");
            lines.extend(wrap_indented(&shown(&text, look), look.width, 2));
        }
    }
    lines
}

/// Rows at most.
const MOST_GROWING: usize = 6;

/// The times that grow, by kind of work, where batches were observed; a section of its own.
pub(super) fn what_grows(growth: &Growth, names: &Names, look: &Look) -> Vec<String> {
    let in_kernel =
        |row: &Evidence| matches!(row.measure, Some(Measure::CopyWork { on }) if on != WorkKind::Startup);
    if !growth.grows.iter().any(in_kernel) {
        return Vec::new();
    }
    let times = growth.grows.iter().filter(|row| row.unit == "s");
    let rows: Vec<&Evidence> = times.take(MOST_GROWING).collect();
    let scale = Scale::choose(rows.iter().map(|row| row.there), look.time_unit);
    let grid = Grid {
        key: labels("of one copy", rows.iter().map(|row| row.what.clone()), look),
        groups: vec![
            Group::in_unit("alone", scale.name, &rows, |row| scale.number(row.here)),
            Group::of("among the others", &rows, |row| scale.number(row.there)),
        ],
    };
    let of = names.show(&growth.alternative);
    let title = format!(
        "what grows from 1 to {} copies of {of}; the kinds are parts of the CPU times",
        growth.highest
    );
    section(&title, grid, 0, look)
}
