//! What holds in every record, whatever was measured.

use whyfaster_core::analysis::{Floor, LevelResult};
use whyfaster_core::bounds::capacity;
use whyfaster_core::record::Record;
use whyfaster_stats::Estimate;

/// Tick accounting and the resolution of clocks may add this part to a sum of CPU times.
const PART: f64 = 0.05;
/// The same in seconds: one tick on each CPU.
const TICK_S: f64 = 0.01;

/// Asserts that the numbers of a record can all be true.
#[track_caller]
pub(crate) fn assert_identities(record: &Record) {
    let cpus = capacity(&record.plan, &record.host);
    for batch in &record.batches {
        // What outlives its copy uses CPUs after the last end.
        if batch.orphans.reaped + batch.orphans.killed + batch.orphans.left_running > 0 {
            continue;
        }
        let most_s = cpus * (batch.makespan_s * (1.0 + PART) + TICK_S);
        assert!(batch.work_s() <= most_s, "CPU time {} s of {most_s} s: {batch:#?}", batch.work_s());
        let slowest_s = batch.copies.wall_s.iter().copied().fold(0.0, f64::max);
        assert!(slowest_s <= batch.makespan_s + 1e-9, "a copy of {slowest_s} s: {batch:#?}");
    }
    for level in &record.analysis.levels {
        level.results.iter().for_each(|result| of_result(result));
        for it in &level.comparisons {
            ordered(&[it.low, Some(it.ratio), it.high]);
        }
        level.floor.iter().for_each(of_floor);
    }
    record.analysis.floor.iter().for_each(of_floor);
    for traced in &record.why.traced {
        let report = &traced.report;
        let path_s: f64 = report.critical_path.iter().map(|row| row.seconds).sum();
        assert!(
            path_s <= report.wall_s * (1.0 + PART) + TICK_S,
            "a path of {path_s} s in {} s",
            report.wall_s
        );
    }
}

#[track_caller]
fn of_result(it: &LevelResult) {
    let name = &it.alternative;
    assert!(it.rounds > 0, "{name}: {it:#?}");
    assert!((0.0..=1.0 + PART).contains(&it.share), "{name}: a share of {}", it.share);
    let parts_s = it.user_per_copy_s + it.system_per_copy_s;
    assert!(
        (parts_s - it.work_per_copy_s).abs() <= 1e-9 + 1e-6 * parts_s,
        "{name}: {parts_s} s, {} s",
        it.work_per_copy_s
    );
    let Estimate { median, low, high, .. } = it.makespan_s;
    ordered(&[low, Some(median), high]);
    let latency = it.latency_s;
    ordered(&[latency.min, latency.p50, latency.p95, latency.p99, latency.max].map(Some));
    assert!(it.fairness.is_none_or(|of| of >= 1.0), "{name}: {it:#?}");
}

#[track_caller]
fn of_floor(it: &Floor) {
    ordered(&[it.low, Some(it.ratio), it.high]);
}

#[track_caller]
fn ordered(values: &[Option<f64>]) {
    let known: Vec<f64> = values.iter().copied().flatten().collect();
    assert!(known.is_sorted(), "not in order: {known:?}");
}
