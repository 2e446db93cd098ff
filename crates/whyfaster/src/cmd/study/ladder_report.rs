//! The tables of a study of engines.

use super::ladder_findings::{AtOnce, OfEngine, OfLadder};
use super::sheet::Page;
use whyfaster_words::grid::{Column, Grid, Group, or_absent};
use whyfaster_words::handing;
use whyfaster_words::units::{digits, time};

/// What matters: what a task costs through the cheapest engine and through the dearest.
pub(super) fn sentence(found: &OfLadder) -> String {
    let ends = found.engines.first().zip(found.engines.last());
    let Some(((cheap, dear), (cheapest, dearest))) =
        ends.and_then(|(a, b)| Some(((a, b), (a.last()?, b.last()?))))
    else {
        return "No engine handed out a task here".to_owned();
    };
    format!(
        "A task costs {} through {} and {} through {}",
        time(1.0 / cheapest.tasks_per_s, None),
        cheap.name,
        time(1.0 / dearest.tasks_per_s, None),
        dear.name
    )
}

/// The table of the first screen: an engine a line.
pub(super) fn first(page: &mut Page<'_>, found: &OfLadder) {
    let rows = &found.engines;
    let at = |level: Option<&AtOnce>, value: fn(&AtOnce) -> Option<f64>| or_absent(level.and_then(value), ns);
    let grid = Grid {
        key: key(rows),
        groups: vec![
            Group::of("tasks/s", rows, |row| or_absent(row.last(), |level| digits(level.tasks_per_s))),
            Group::of("at once", rows, |row| or_absent(row.last(), |level| level.tasks.to_string())),
            Group::new(
                "latency of one",
                vec![
                    Column::of("one: p50", rows, |row| at(row.first(), |level| level.latency_ns)),
                    Column::of("p99", rows, |row| at(row.first(), |level| level.latency_p99_ns)),
                ],
            ),
            Group::new(
                "CPU a task",
                vec![
                    Column::of("CPU client", rows, |row| at(row.last(), |level| level.client_cpu_ns)),
                    Column::of("worker", rows, |row| at(row.last(), |level| level.worker_cpu_ns)),
                ],
            ),
            Group::of("<5% from", rows, |row| handing::briefly(row.threshold.as_ref())),
        ],
    };
    let title = format!(
        "{} workers; latency of one task, the rest with the most at once that were measured",
        found.workers
    );
    page.table(&title, grid);
    let lacking: Vec<&str> = not_there(found).map(|(row, _)| engine_of(row)).collect();
    if !lacking.is_empty() {
        page.missing(&format!("{}; -v says why, and what brings them", lacking.join(", ")));
    }
}

/// All tables, and what was not measured.
pub(super) fn all(page: &mut Page<'_>, found: &OfLadder) {
    let rows = &found.engines;
    let by_level = |value: &dyn Fn(&AtOnce) -> String| {
        let column = |(at, tasks): (usize, &u32)| {
            let cell = |row: &OfEngine| or_absent(row.levels[at].as_ref(), value);
            Group::new("tasks at once", vec![Column::of(tasks.to_string(), rows, cell)])
        };
        Grid { key: key(rows), groups: found.tasks.iter().enumerate().map(column).collect() }
    };
    let ends = |level: &AtOnce| {
        let ends = level.low_per_s.zip(level.high_per_s);
        let interval =
            ends.map_or(String::new(), |(low, high)| format!(" ({} to {})", digits(low), digits(high)));
        format!("{}{interval}", digits(level.tasks_per_s))
    };
    let two =
        |one: Option<f64>, other: Option<f64>| format!("{} / {}", or_absent(one, ns), or_absent(other, ns));
    page.table("tasks a second, by how many are handed over at once", by_level(&ends));
    page.table(
        "from the hand-over to the start of a task, p50 / p99",
        by_level(&|level| two(level.latency_ns, level.latency_p99_ns)),
    );
    page.table(
        "CPU time a task, of those who hand out / of those who take",
        by_level(&|level| two(level.client_cpu_ns, level.worker_cpu_ns)),
    );
    let grid = Grid {
        key: key(rows),
        groups: vec![
            Group::of("from", rows, |row| or_absent(row.threshold.as_ref(), handing::length)),
            Group::of("interval", rows, |row| or_absent(row.threshold.as_ref(), handing::interval)),
        ],
    };
    page.table(&handing::title(found.share, &found.reference), grid);
    page.say(&handing::how(found.workers, &found.reference));
    for row in rows.iter().filter(|row| !row.versions.is_empty()) {
        page.say(&handing::ran_on(&row.name, &row.versions));
    }
    for (row, why) in &found.not_measured {
        page.missing(&format!("{row}: {why}"));
    }
}

/// Engines of which nothing was measured.
fn not_there(found: &OfLadder) -> impl Iterator<Item = &(String, String)> {
    found.not_measured.iter().filter(|(row, _)| {
        let name = engine_of(row);
        row.contains('/') && found.engines.iter().all(|engine| engine.name != name)
    })
}

fn engine_of(row: &str) -> &str {
    row.split('/').next().unwrap_or_default()
}

fn key(rows: &[OfEngine]) -> Column {
    Column::of("engine", rows, |row| row.name.clone())
}

fn ns(value: f64) -> String {
    time(value * 1e-9, None)
}
