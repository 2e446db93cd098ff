//! The metrics that were asked for, of every alternative and against the baseline: one table for each level.

use whyfaster_core::analysis::{Change, Level, MetricChange};
use whyfaster_core::record::Record;
use whyfaster_stats::Estimate;
use whyfaster_words::grid::{Column, Grid, Group, or_absent};
use whyfaster_words::look::Look;
use whyfaster_words::metric::{Chosen, Unit};
use whyfaster_words::phrases;
use whyfaster_words::text::{Tone, tone, wrap};
use whyfaster_words::units::digits;

use super::names::Names;
use super::sentence::at;
use super::table::interval;

/// The tables, and what is to be known of the counters in them.
pub(super) fn overview(record: &Record, names: &Names, look: &Look) -> Vec<String> {
    if record.plan.metrics.is_empty() {
        return Vec::new();
    }
    let levels: Vec<&Level> = record.analysis.levels.iter().filter(|l| !l.results.is_empty()).collect();
    let mut lines = Vec::new();
    for level in &levels {
        let place = if levels.len() > 1 { format!(" {}", at(record, level.load)) } else { String::new() };
        let against = level.comparisons.first().map(|it| format!(" against {}", names.show(&it.baseline)));
        let title = format!("metrics of one copy{place}{}", against.unwrap_or_default());
        lines.push(tone(Tone::Strong, &title));
        lines.extend(grid(record, level, names, look).draw(look.width, 2).lines);
    }
    let counters = || record.batches.iter().filter_map(|batch| batch.copies.counters.as_ref());
    if counters().any(|it| it.user_only && !it.columns.is_empty()) {
        let why = "counters are of user code alone: this user may not count the kernel (kernel.perf_event_paranoid above 1)";
        lines.extend(wrap(why, look.width, 2));
    }
    lines
}

/// A row of the table.
struct Row<'a> {
    chosen: Chosen,
    alternative: &'a str,
    unit: Unit,
    value: Option<Estimate>,
    change: Option<MetricChange>,
}

fn grid(record: &Record, level: &Level, names: &Names, look: &Look) -> Grid {
    let metrics = look.metrics_of(&record.plan);
    let rows: Vec<Row<'_>> = metrics.iter().flat_map(|it| rows(record, level, *it)).collect();
    let number = |row: &Row<'_>, value: f64| digits(value / row.unit.scale);
    let of = Column::of("of", &rows, |row| names.show(row.alternative));
    let median = Column::of("median", &rows, |row| {
        let median = |it: Estimate| format!("{} {}", number(row, it.median), row.unit.suffix());
        or_absent(row.value, median).trim_end().to_owned()
    });
    let mut groups = vec![Group::new("value", vec![of, median])];
    if !level.comparisons.is_empty() {
        let baseline = record.plan.alternatives.get(record.plan.baseline).map(|it| it.name.as_str());
        let changed = |row: &Row<'_>, text: fn(MetricChange) -> String| {
            if baseline == Some(row.alternative) { String::new() } else { or_absent(row.change, text) }
        };
        let change = Column::of("change", &rows, |row| changed(row, |it| percent(it.ratio.ratio)));
        let verdict = Column::of("verdict", &rows, |row| changed(row, |it| word(it.change)));
        groups.push(Group::new("change", vec![change, verdict]));
        groups.push(Group::of("change interval", &rows, |row| {
            changed(row, |it| interval(it.ratio.low, it.ratio.high, percent))
        }));
    }
    groups.push(Group::of("interval", &rows, |row| {
        or_absent(row.value, |it| interval(it.low, it.high, |value| number(row, value)))
    }));
    Grid { key: Column::of("metric", &rows, |row| phrases::metric(row.chosen.metric).to_owned()), groups }
}

/// A metric of every alternative, in the order of the command line.
fn rows<'a>(record: &'a Record, level: &'a Level, chosen: Chosen) -> Vec<Row<'a>> {
    let metric = chosen.metric;
    let value = |name: &str| {
        let result = level.results.iter().find(|it| it.alternative == name)?;
        Some(result.metrics.iter().find(|it| it.metric == metric)?.estimate)
    };
    let change = |name: &str| {
        let comparison = level.comparisons.iter().find(|it| it.alternative == name)?;
        comparison.metrics.iter().find(|it| it.metric == metric).copied()
    };
    let names = || record.plan.alternatives.iter().map(|it| it.name.as_str());
    let typical = names().filter_map(value).map(|it| it.median).find(|median| *median != 0.0);
    let unit = chosen.unit_for(typical.unwrap_or(0.0));
    names()
        .map(|name| Row { chosen, alternative: name, unit, value: value(name), change: change(name) })
        .collect()
}

/// A ratio as a change: "+33.1%"; from twice on as a factor.
fn percent(ratio: f64) -> String {
    if ratio >= 2.0 { format!("{}x", digits(ratio)) } else { format!("{:+.1}%", 100.0 * (ratio - 1.0)) }
}

fn word(change: Change) -> String {
    match change {
        Change::Less => tone(Tone::Good, "less"),
        Change::More => tone(Tone::Bad, "more"),
        Change::Same => "same".to_owned(),
        Change::Undecided => tone(Tone::Unsure, "undecided"),
    }
}

#[cfg(test)]
mod tests {
    use whyfaster_core::metric::Metric;
    use whyfaster_core::sample::{Arm, Counters};
    use whyfaster_store::again::reanalysed;

    use super::*;
    use crate::fixture::look;
    use crate::records::{batch, record};
    use crate::screen::screen;

    fn measured(metrics: Vec<Metric>, user_only: bool) -> Record {
        let batches = (0..12).flat_map(|round| {
            [(Arm::Alternative(0), 0.2, 1), (Arm::Alternative(1), 0.1, 3)].map(|(arm, seconds, times)| {
                let mut batch = batch(1, arm, round, seconds);
                batch.copies.max_rss_bytes = vec![times << 20];
                let columns = [(Metric::Instructions, vec![1000 * times + u64::from(round)])].into();
                batch.copies.counters = Some(Counters {
                    columns,
                    user_only,
                    refused: [(Metric::CacheMisses, libc::ENOENT)].into(),
                });
                batch
            })
        });
        let alternatives = ["one", "three"].map(whyfaster_core::plan::Alternative::new);
        let mut record = record(alternatives.to_vec(), vec![1], batches.collect());
        record.plan.metrics = metrics;
        reanalysed(record)
    }

    #[test]
    fn metrics_stand_against_the_baseline() {
        let record = measured(vec![Metric::MemoryPeakResident, Metric::Instructions], true);
        let text = screen(&record, &look(100, false));
        let overview = text.split("metrics of").nth(1).unwrap().split("\n\n").next().unwrap();
        insta::assert_snapshot!(overview);
    }

    #[test]
    fn what_was_not_counted_says_why() {
        let text = screen(&measured(vec![Metric::CacheMisses], false), &look(100, false));
        assert!(text.contains("cache misses: this machine has no such hardware counter"), "{text}");
        assert!(!text.contains("user code alone"), "{text}");
        let plain = screen(&measured(Vec::new(), true), &look(100, false));
        assert!(!plain.contains("metrics of") && !plain.contains("user code alone"), "{plain}");
    }
}
