//! The tables of a record: one per level, and one over all levels.

use whyfaster_core::analysis::{Comparison, Level, LevelResult};
use whyfaster_core::bounds::Bound;
use whyfaster_core::plan::Mode;
use whyfaster_core::record::Record;
use whyfaster_core::stats::Estimate;
use whyfaster_core::verdict::Verdict;

use super::grid::{ABSENT, Column, Grid, Group};
use super::look::Look;
use super::text::{Names, Tone, tone};
use super::units::{Scale, count, digits, factor, memory_scale};
use crate::display::Sort;

/// A verdict in one word, with its tone.
pub fn verdict_word(verdict: Verdict) -> String {
    match verdict {
        Verdict::Faster => tone(Tone::Good, "faster"),
        Verdict::Slower => tone(Tone::Bad, "slower"),
        Verdict::Same => "same".to_owned(),
        Verdict::Undecided => tone(Tone::Unsure, "undecided"),
    }
}

/// "405 to 420", in the scale of its column; what is open at one end says so.
pub fn interval(low: Option<f64>, high: Option<f64>, number: impl Fn(f64) -> String) -> String {
    match (low, high) {
        (Some(low), Some(high)) => format!("{} to {}", number(low), number(high)),
        (Some(low), None) => format!("from {}", number(low)),
        (None, Some(high)) => format!("to {}", number(high)),
        (None, None) => ABSENT.to_owned(),
    }
}

fn estimate_interval(estimate: &Estimate, scale: Scale) -> String {
    interval(estimate.low, estimate.high, |value| scale.number(value))
}

/// The table of one level: who, how long, against the baseline, and what it cost.
pub fn level_grid(record: &Record, level: &Level, names: &Names, look: &Look) -> Grid {
    let rows = ordered(record, level, look);
    let column = |header: String, cell: &dyn Fn(&LevelResult) -> String| {
        Column::new(header, rows.iter().map(|row| cell(row)).collect())
    };
    let batch = matches!(record.plan.mode, Mode::Batch);
    // Where copies arrive for a fixed time, the makespan is that time and tells nothing.
    let mut groups = vec![if batch { makespan_group(&rows, look) } else { latency_group(&rows, look) }];
    if !level.comparisons.is_empty() {
        groups.extend(comparison_groups(&rows, level));
    }
    let [work, share, throughput] = work_groups(&rows, look);
    groups.push(work);
    if batch && level.load > 1 {
        groups.push(latency_group(&rows, look));
    }
    groups.extend([share, throughput]);
    if !batch || level.load > 1 {
        let slowdown = column("slowdown".into(), &|row| optional(row.slowdown, factor));
        groups.push(Group::new("slowdown", vec![slowdown]));
    }
    groups.extend(machine_groups(&rows, look));
    Grid { key: column("alternative".into(), &|row| names.show(&row.alternative)), groups }
}

/// The results of a level in the order in which they are shown.
fn ordered<'a>(record: &Record, level: &'a Level, look: &Look) -> Vec<&'a LevelResult> {
    let mut rows: Vec<&LevelResult> = level.results.iter().collect();
    let by_time = match look.sort {
        Sort::Auto => record.analysis.levels.len() == 1,
        Sort::Command => false,
        Sort::MeanTime => true,
    };
    if by_time {
        rows.sort_by(|a, b| typical(record, a).total_cmp(&typical(record, b)));
    }
    rows
}

/// The time by which a result is known: the makespan of a batch, else the median latency.
pub fn typical(record: &Record, result: &LevelResult) -> f64 {
    match record.plan.mode {
        Mode::Batch => result.makespan_s.median,
        Mode::Closed { .. } | Mode::Open { .. } => result.latency_s.p50,
    }
}

fn optional(value: Option<f64>, text: impl Fn(f64) -> String) -> String {
    value.map_or_else(|| ABSENT.to_owned(), text)
}

fn makespan_group(rows: &[&LevelResult], look: &Look) -> Group {
    let scale = Scale::choose(rows.iter().map(|row| row.makespan_s.median), look.time_unit);
    // A batch with a timed-out copy lasted at least this long; how long, nobody knows.
    let median = |row: &&LevelResult| {
        let number = scale.number(row.makespan_s.median);
        if row.timed_out > 0 { format!(">= {number}") } else { number }
    };
    let intervals = |row: &&LevelResult| estimate_interval(&row.makespan_s, scale);
    Group::new(
        "makespan",
        vec![
            Column::new(format!("makespan {}", scale.name), rows.iter().map(median).collect()),
            Column::new("interval", rows.iter().map(intervals).collect()),
        ],
    )
}

fn comparison_groups(rows: &[&LevelResult], level: &Level) -> [Group; 2] {
    let of = |row: &LevelResult| level.comparisons.iter().find(|c| c.alternative == row.alternative);
    let cells = |text: &dyn Fn(&Comparison) -> String, baseline: &str| {
        let is_baseline = |row: &LevelResult| level.comparisons.iter().any(|c| c.baseline == row.alternative);
        let missing = |row: &LevelResult| if is_baseline(row) { baseline } else { ABSENT }.to_owned();
        rows.iter().map(|row| of(row).map_or_else(|| missing(row), text)).collect::<Vec<_>>()
    };
    let ratio = Column::new("ratio", cells(&|c| digits(c.ratio), "1"));
    let verdict = Column::new("verdict", cells(&|c| verdict_word(c.verdict), "baseline"));
    let ends = Column::new("ratio interval", cells(&|c| interval(c.low, c.high, digits), ""));
    [Group::new("ratio", vec![ratio, verdict]), Group::new("ratio interval", vec![ends])]
}

fn work_groups(rows: &[&LevelResult], look: &Look) -> [Group; 3] {
    let scale = Scale::choose(rows.iter().map(|row| row.work_per_copy_s), look.time_unit);
    let cells = |text: &dyn Fn(&LevelResult) -> String| rows.iter().map(|row| text(row)).collect::<Vec<_>>();
    let parts = |row: &LevelResult| {
        format!("{} + {}", scale.number(row.user_per_copy_s), scale.number(row.system_per_copy_s))
    };
    [
        Group::new(
            "work",
            vec![
                Column::new(format!("work {}", scale.name), cells(&|row| scale.number(row.work_per_copy_s))),
                Column::new("user + system", cells(&parts)),
            ],
        ),
        Group::new("share", vec![Column::new("share %", cells(&|row| digits(row.share * 100.0)))]),
        Group::new("throughput", vec![Column::new("copies/s", cells(&|row| count(row.throughput_per_s)))]),
    ]
}

fn latency_group(rows: &[&LevelResult], look: &Look) -> Group {
    let scale = Scale::choose(rows.iter().map(|row| row.latency_s.p50), look.time_unit);
    let column = |name: &str, value: &dyn Fn(&LevelResult) -> f64| {
        Column::new(name, rows.iter().map(|row| scale.number(value(row))).collect())
    };
    Group::new(
        "latency",
        vec![
            column(&format!("latency {} p50", scale.name), &|row| row.latency_s.p50),
            column("p95", &|row| row.latency_s.p95),
            column("p99", &|row| row.latency_s.p99),
        ],
    )
}

fn machine_groups(rows: &[&LevelResult], look: &Look) -> Vec<Group> {
    let cells = |text: &dyn Fn(&LevelResult) -> String| rows.iter().map(|row| text(row)).collect::<Vec<_>>();
    let bounds = rows.iter().filter_map(|row| row.bound).map(|bound| bound.makespan_s);
    let bound_scale = Scale::choose(bounds, look.time_unit);
    let bound =
        |row: &LevelResult, text: &dyn Fn(Bound) -> String| row.bound.map_or_else(|| ABSENT.to_owned(), text);
    let delay_scale = Scale::choose(rows.iter().filter_map(|row| row.run_delay_s), look.time_unit);
    let (memory, bytes) = memory_scale(rows.iter().map(|row| row.max_rss_bytes));
    // Bytes to a float loses digits only beyond 9 PB.
    let rss = |row: &LevelResult| digits(row.max_rss_bytes as f64 / bytes);
    let switches = |row: &LevelResult| {
        format!("{} + {}", count(row.voluntary_switches), count(row.involuntary_switches))
    };
    vec![
        Group::new(
            "bound and gap",
            vec![
                Column::new(
                    format!("bound {}", bound_scale.name),
                    cells(&|row| bound(row, &|b| bound_scale.number(b.makespan_s))),
                ),
                Column::new("gap", cells(&|row| bound(row, &|b| factor(b.gap)))),
            ],
        ),
        Group::new(
            "run-queue delay",
            vec![Column::new(
                format!("run-queue {}", delay_scale.name),
                cells(&|row| optional(row.run_delay_s, |delay| delay_scale.number(delay))),
            )],
        ),
        Group::new("memory", vec![Column::new(format!("max RSS {memory}"), cells(&rss))]),
        Group::new("switches", vec![Column::new("switches vol + invol", cells(&switches))]),
    ]
}

/// Load by alternatives: makespan (or median latency), what the bound says, and the verdict.
pub fn summary_grid(record: &Record, names: &Names, look: &Look) -> Grid {
    let loads = loads(record);
    let level = |load: u32| record.analysis.levels.iter().find(|level| level.load == load);
    let medians = record.analysis.levels.iter().flat_map(|level| &level.results).map(|r| typical(record, r));
    let scale = Scale::choose(medians, look.time_unit);
    let mut groups = Vec::new();
    for alternative in &record.plan.alternatives {
        let name = alternative.name.as_str();
        let result = |load: u32| level(load)?.results.iter().find(|result| result.alternative == name);
        let makespan = |load: &u32| match result(*load) {
            Some(result) if result.timed_out > 0 => format!(">= {}", scale.number(typical(record, result))),
            Some(result) => scale.number(typical(record, result)),
            None => "not measured".to_owned(),
        };
        let bound = |load: &u32| {
            optional(result(*load).and_then(|r| r.bound).map(|b| b.makespan_s), |b| scale.number(b))
        };
        let comparison = |load: u32| level(load)?.comparisons.iter().find(|c| c.alternative == name);
        let verdict = |load: &u32| {
            comparison(*load).map_or_else(
                || ABSENT.to_owned(),
                |c| format!("{} {}", digits(c.ratio), verdict_word(c.verdict)),
            )
        };
        let shown = names.show(name);
        let time = Column::new(format!("{shown} {}", scale.name), loads.iter().map(makespan).collect());
        let bound = Column::new("bound", loads.iter().map(bound).collect());
        groups.push(Group::new("more alternatives", vec![time, bound]));
        if loads.iter().any(|load| comparison(*load).is_some()) {
            let ratio = Column::new(format!("{shown} ratio"), loads.iter().map(verdict).collect());
            groups.push(Group::new("more alternatives", vec![ratio]));
        }
    }
    let key = match record.plan.mode {
        Mode::Closed { .. } => "workers",
        Mode::Batch | Mode::Open { .. } => "copies",
    };
    Grid { key: Column::new(key, loads.iter().map(u32::to_string).collect()), groups }
}

/// The loads that were asked for or measured, rising.
pub fn loads(record: &Record) -> Vec<u32> {
    let asked = match &record.plan.loads {
        whyfaster_core::plan::Loads::Fixed(loads) => loads.as_slice(),
        whyfaster_core::plan::Loads::Auto => &[],
    };
    let mut loads: Vec<u32> =
        record.analysis.levels.iter().map(|level| level.load).chain(asked.iter().copied()).collect();
    loads.sort_unstable();
    loads.dedup();
    loads
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_say_what_is_open() {
        assert_eq!(interval(Some(1.0), Some(2.0), digits), "1.00 to 2.00");
        assert_eq!(interval(Some(1.0), None, digits), "from 1.00");
        assert_eq!(interval(None, None, digits), "-");
    }
}
