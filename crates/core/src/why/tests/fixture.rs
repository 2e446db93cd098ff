//! Hand-made reports, records and measurements.

use crate::record::{Estimate, Latency, LevelResult};
use crate::trace::TraceReport;
use crate::trace::report::{Level, PathKind, PathRow, WorkKind, WorkRow};

/// A row of the path.
pub(in crate::why) fn path(command: &str, kind: PathKind, what: Option<&str>, seconds: f64) -> PathRow {
    PathRow {
        command: command.to_owned(),
        kind,
        what: what.map(str::to_owned),
        holder: None,
        after: None,
        seconds,
        avoidable_s: 0.0,
        but_for_affinity_s: 0.0,
        count: 1,
    }
}

/// A row of the work.
pub(in crate::why) fn work(command: &str, kind: WorkKind, seconds: f64) -> WorkRow {
    WorkRow {
        command: command.to_owned(),
        kind,
        seconds,
        count: None,
        price_s: None,
        priced_s: None,
        estimated: false,
    }
}

/// A full trace with these rows on its path.
pub(in crate::why) fn report(wall_s: f64, rows: &[PathRow]) -> TraceReport {
    TraceReport { wall_s, level: Level::Full, critical_path: rows.to_vec(), ..TraceReport::default() }
}

/// One alternative at one level.
pub(in crate::why) fn result(name: &str, makespan_s: f64, work_s: f64) -> LevelResult {
    LevelResult {
        alternative: name.to_owned(),
        rounds: 10,
        makespan_s: Estimate { median: makespan_s, low: None, high: None },
        work_per_copy_s: work_s,
        user_per_copy_s: work_s,
        system_per_copy_s: 0.0,
        throughput_per_s: 1.0 / makespan_s,
        share: 1.0,
        latency_s: Latency {
            min: makespan_s,
            p50: makespan_s,
            p95: makespan_s,
            p99: makespan_s,
            max: makespan_s,
        },
        slowdown: None,
        fairness: None,
        max_rss_bytes: 0,
        voluntary_switches: 0.0,
        involuntary_switches: 0.0,
        run_delay_s: None,
        bound: None,
        timed_out: 0,
    }
}
