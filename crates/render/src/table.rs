//! The tables of a record: one per level, and one over all levels.

use whyfaster_core::analysis::{Comparison, Level, LevelResult};
use whyfaster_core::plan::{Loads, Mode};
use whyfaster_core::record::Record;
use whyfaster_core::verdict::{Ratio, Verdict};
use whyfaster_stats::Estimate;
use whyfaster_words::display::Sort;
use whyfaster_words::grid::{ABSENT, Column, Grid, Group, or_absent};
use whyfaster_words::look::Look;
use whyfaster_words::text::{Tone, tone};
use whyfaster_words::units::{Figures, Scale, count, digits, factor, memory_scale, ratio};

use super::names::Names;

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

/// The ends of a ratio, with as many digits as it has.
pub fn ratio_interval(of: Ratio) -> String {
    interval(of.low, of.high, |end| Figures::of(of).number(end))
}

fn estimate_interval(estimate: &Estimate, scale: Scale) -> String {
    interval(estimate.low, estimate.high, |value| scale.number(value))
}

/// The table of one level: who, how long, against the baseline, and what it cost.
pub fn level_grid(record: &Record, level: &Level, names: &Names, look: &Look) -> Grid {
    let rows = ordered(record, level, look);
    let rows = rows.as_slice();
    let batch = matches!(record.plan.mode, Mode::Batch);
    // Where copies arrive for a fixed time, the makespan is that time and tells nothing.
    let mut groups = vec![if batch { makespan_group(rows, look) } else { latency_group(rows, look) }];
    if !level.comparisons.is_empty() {
        groups.extend(comparison_groups(rows, level));
    }
    let [work, share, throughput] = work_groups(rows, look);
    groups.push(work);
    if batch && level.load > 1 {
        groups.push(latency_group(rows, look));
    }
    groups.extend([share, throughput]);
    if !batch || level.load > 1 {
        groups.push(Group::of("slowdown", rows, |row| or_absent(row.slowdown, factor)));
    }
    groups.extend(machine_groups(rows, look));
    Grid { key: Column::of("alternative", rows, |row| names.show(&row.alternative)), groups }
}

/// The results of a level in the order in which they are shown.
pub(super) fn ordered<'a>(record: &Record, level: &'a Level, look: &Look) -> Vec<&'a LevelResult> {
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
            Column::of(format!("makespan {}", scale.name), rows, median),
            Column::of("interval", rows, intervals),
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
    let ratio = Column::new("ratio", cells(&|c| ratio(c.time()), "1"));
    let verdict = Column::new("verdict", cells(&|c| verdict_word(c.verdict), "baseline"));
    let ends = Column::new("ratio interval", cells(&|c| ratio_interval(c.time()), ""));
    [Group::new("ratio", vec![ratio, verdict]), Group::new("ratio interval", vec![ends])]
}

fn work_groups(rows: &[&LevelResult], look: &Look) -> [Group; 3] {
    let scale = Scale::choose(rows.iter().map(|row| row.work_per_copy_s), look.time_unit);
    let work = Column::of(format!("work {}", scale.name), rows, |row| scale.number(row.work_per_copy_s));
    let parts = Column::of("user + system", rows, |row| {
        format!("{} + {}", scale.number(row.user_per_copy_s), scale.number(row.system_per_copy_s))
    });
    let throughput = Column::of("copies/s", rows, |row| count(row.throughput_per_s));
    [
        Group::new("work", vec![work, parts]),
        Group::in_unit("share", "%", rows, |row| digits(row.share * 100.0)),
        Group::new("throughput", vec![throughput]),
    ]
}

fn latency_group(rows: &[&LevelResult], look: &Look) -> Group {
    let scale = Scale::choose(rows.iter().map(|row| row.latency_s.p50), look.time_unit);
    let median = format!("latency {} p50", scale.name);
    Group::new(
        "latency",
        vec![
            Column::of(median, rows, |row| scale.number(row.latency_s.p50)),
            Column::of("p95", rows, |row| scale.number(row.latency_s.p95)),
            Column::of("p99", rows, |row| scale.number(row.latency_s.p99)),
        ],
    )
}

fn machine_groups(rows: &[&LevelResult], look: &Look) -> Vec<Group> {
    let bounds = rows.iter().filter_map(|row| row.bound).map(|bound| bound.makespan_s);
    let scale = Scale::choose(bounds, look.time_unit);
    let bound = Column::of(format!("bound {}", scale.name), rows, |row| {
        or_absent(row.bound, |bound| scale.number(bound.makespan_s))
    });
    let gap = Column::of("gap", rows, |row| or_absent(row.bound, |bound| factor(bound.gap)));
    let scale = Scale::choose(rows.iter().filter_map(|row| row.run_delay_s), look.time_unit);
    let delay = Column::of(format!("run-queue {}", scale.name), rows, |row| {
        or_absent(row.run_delay_s, |delay| scale.number(delay))
    });
    let (memory, bytes) = memory_scale(rows.iter().map(|row| row.max_rss_bytes));
    // Bytes to a float loses digits only beyond 9 PB.
    let rss = Column::of(format!("max RSS {memory}"), rows, |row| {
        let most = if row.max_rss_at_most { "at most " } else { "" };
        format!("{most}{}", digits(row.max_rss_bytes as f64 / bytes))
    });
    let switches = Column::of("switches vol + invol", rows, |row| {
        format!("{} + {}", count(row.voluntary_switches), count(row.involuntary_switches))
    });
    vec![
        Group::new("bound and gap", vec![bound, gap]),
        Group::new("run-queue delay", vec![delay]),
        Group::new("memory", vec![rss]),
        Group::new("switches", vec![switches]),
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
            or_absent(result(*load).and_then(|r| r.bound).map(|b| b.makespan_s), |b| scale.number(b))
        };
        let comparison = |load: u32| level(load)?.comparisons.iter().find(|c| c.alternative == name);
        let verdict = |load: &u32| {
            comparison(*load).map_or_else(
                || ABSENT.to_owned(),
                |c| format!("{} {}", ratio(c.time()), verdict_word(c.verdict)),
            )
        };
        let shown = names.show(name);
        let time = Column::of(format!("{shown} {}", scale.name), &loads, makespan);
        let bound = Column::of("bound", &loads, bound);
        groups.push(Group::new("more alternatives", vec![time, bound]));
        if loads.iter().any(|load| comparison(*load).is_some()) {
            let ratio = Column::of(format!("{shown} ratio"), &loads, verdict);
            groups.push(Group::new("more alternatives", vec![ratio]));
        }
    }
    let key = match record.plan.mode {
        Mode::Closed { .. } => "workers",
        Mode::Batch | Mode::Open { .. } => "copies",
    };
    Grid { key: Column::of(key, &loads, u32::to_string), groups }
}

/// The loads that were asked for or measured, rising.
pub fn loads(record: &Record) -> Vec<u32> {
    let asked = match (&record.plan.loads, record.plan.mode) {
        // Copies come by the clock: there is one level, whatever its load.
        (_, Mode::Open { .. }) | (Loads::Auto, _) => &[],
        (Loads::Fixed(loads), _) => loads.as_slice(),
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
