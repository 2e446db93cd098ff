//! Records made by hand, for the tests of renderers.

use whyfaster_core::analysis::{
    AlternativeSummary, Analysis, Comparison, Floor, Latency, Level, LevelResult,
};
use whyfaster_core::bounds::Bound;
use whyfaster_core::crossover::{Crossover, VerdictRange};
use whyfaster_core::host::{Host, HostFacts};
use whyfaster_core::plan::{
    Alternative, FailurePolicy, Input, Loads, Mode, Pace, Placement, Plan, Rounds, Shell,
};
use whyfaster_core::reason::Reason;
use whyfaster_core::record::{Record, SCHEMA};
use whyfaster_core::sample::{Arm, Batch, Copies, Orphans};
use whyfaster_core::status::Status;
use whyfaster_core::verdict::{Method, Ratio, Verdict};
use whyfaster_stats::Estimate;
use whyfaster_words::look::Look;

/// A look without colour.
pub(crate) fn look(width: usize, unicode: bool) -> Look {
    Look::plain(width, unicode)
}

/// One row of a level: makespan, CPU seconds of a copy, and the ratio with its verdict for all but the baseline.
pub(crate) struct Row {
    pub(crate) makespan: f64,
    pub(crate) work: f64,
    pub(crate) ratio: Option<(f64, Verdict)>,
}

pub(crate) fn row(makespan: f64, work: f64, ratio: Option<(f64, Verdict)>) -> Row {
    Row { makespan, work, ratio }
}

/// A record of these alternatives, without a level; the first is the baseline.
pub(crate) fn record(alternatives: &[(&str, &str)], loads: Loads) -> Record {
    let summary = |(name, command): &(&str, &str)| AlternativeSummary {
        name: (*name).to_owned(),
        command: (*command).to_owned(),
        span_s: None,
        work_s: None,
    };
    Record {
        schema: SCHEMA.to_owned(),
        tool_version: "0.1.0".to_owned(),
        started: "2026-11-20T12:00:00Z".to_owned(),
        took_s: 48.3,
        status: Status::Complete,
        study: None,
        studied: None,
        plan: plan(alternatives, loads),
        host: Host {
            before: HostFacts { cpus_allowed: Some(vec![0, 1]), ..HostFacts::default() },
            after: HostFacts::default(),
        },
        trials: Vec::new(),
        batches: Vec::new(),
        sched_accounts: Vec::new(),
        duets: Vec::new(),
        why: whyfaster_core::why::Why::default(),
        skipped: Vec::new(),
        analysis: Analysis {
            alternatives: alternatives.iter().map(summary).collect(),
            ..Analysis::default()
        },
    }
}

fn plan(alternatives: &[(&str, &str)], loads: Loads) -> Plan {
    let alternative = |(name, command): &(&str, &str)| Alternative {
        name: (*name).to_owned(),
        ..Alternative::new(*command)
    };
    Plan {
        alternatives: alternatives.iter().map(alternative).collect(),
        baseline: 0,
        baseline_named: false,
        shell: Shell::Command(vec!["/bin/sh".to_owned()]),
        input: Input::Null,
        loads,
        mode: Mode::Batch,
        rounds: Rounds { min: 6, max: 1000, fixed: false, max_time_s: 60.0, max_time_hard: false },
        warmup: 0,
        delta: 0.02,
        delta_at_end: None,
        confidence: 0.95,
        seed: 42,
        timeout_s: None,
        placement: Placement::Session,
        cpus: None,
        drop_caches: false,
        check_output: true,
        strict_output: false,
        failures: FailurePolicy::Raise,
        fail_if_slower: None,
        rounds_per_setup: None,
        keep_daemons: false,
        pace: Pace::Auto,
        metrics: Vec::new(),
        limits: Vec::new(),
        user: None,
        explain: None,
    }
}

/// Adds a level, and the batches that belong to it.
pub(crate) fn level(record: &mut Record, load: u32, rows: &[Row]) {
    let name = |index: usize| record.plan.alternatives[index].name.clone();
    let base_work = rows[0].work;
    let spans: Vec<(f64, f64)> = match record.analysis.levels.first() {
        Some(first) => first.results.iter().map(|r| (r.makespan_s.median, r.work_per_copy_s)).collect(),
        None => rows.iter().map(|row| (row.makespan, row.work)).collect(),
    };
    let results = rows.iter().enumerate().map(|(i, row)| result(name(i), load, row, spans[i])).collect();
    let compare = |(index, row): (usize, &Row)| {
        let (ratio, verdict) = row.ratio?;
        let (work, share) = (Some(around(row.work / base_work)), Some(around(row.work / base_work / ratio)));
        Some(Comparison {
            alternative: name(index),
            baseline: name(0),
            ratio,
            low: Some(ratio * 0.97),
            high: Some(ratio * 1.02),
            less_sure: None,
            corrected: None,
            verdict,
            rounds: 24,
            rounds_needed: (verdict == Verdict::Undecided).then_some(30),
            method: Method::SignEProcess,
            ratio_of_totals: None,
            work,
            share,
            reason: Reason::of(verdict, ratio, work, share),
            metrics: Vec::new(),
        })
    };
    let comparisons = rows.iter().enumerate().filter_map(compare).collect();
    record.analysis.levels.push(Level { load, results, comparisons, floor: None });
    let batches = rows.iter().enumerate().map(|(index, row)| batch(load, index, row.makespan));
    record.batches.extend(batches);
}

fn around(ratio: f64) -> Ratio {
    Ratio { ratio, low: Some(ratio * 0.99), high: Some(ratio * 1.01) }
}

fn result(alternative: String, load: u32, row: &Row, (span, span_work): (f64, f64)) -> LevelResult {
    let copies = f64::from(load);
    let work_bound = copies * span_work / 2.0;
    let bound = span.max(work_bound);
    let makespan = row.makespan;
    LevelResult {
        alternative,
        rounds: 24,
        makespan_s: Estimate { median: makespan, low: Some(makespan * 0.98), high: Some(makespan * 1.03) },
        work_per_copy_s: row.work,
        user_per_copy_s: row.work * 0.8,
        system_per_copy_s: row.work * 0.2,
        throughput_per_s: copies / makespan,
        share: (row.work * copies / makespan / 2.0).min(1.0),
        latency_s: Latency {
            min: makespan * 0.6,
            p50: makespan * 0.9,
            p95: makespan * 0.97,
            p99: makespan * 0.99,
            max: makespan,
        },
        slowdown: Some(makespan * 0.9 / span),
        fairness: Some(1.6),
        max_rss_bytes: 3_250_000,
        max_rss_at_most: false,
        voluntary_switches: 12.0 * copies,
        involuntary_switches: 3.5,
        run_delay_s: Some(makespan * 0.4),
        bound: Some(Bound { span_s: span, work_s: work_bound, makespan_s: bound, gap: makespan / bound }),
        timed_out: 0,
        metrics: Vec::new(),
    }
}

fn batch(load: u32, alternative: usize, makespan: f64) -> Batch {
    let n = load as usize;
    Batch {
        load,
        arm: Arm::Alternative(alternative),
        round: 0,
        position: 0,
        released_s: 0.0,
        makespan_s: makespan,
        copies: Copies { wall_s: vec![makespan; n], timed_out: vec![false; n], ..Copies::default() },
        orphans: Orphans::default(),
        machine_busy_s: None,
        steal_s: None,
        io: None,
    }
}

/// The article's case: a pipeline that wins alone and loses under load.
pub(crate) fn flip() -> Record {
    let mut record = record(
        &[
            ("no-pipe", "mawk -f ifstat.awk ifconfig.log"),
            ("use-pipe", "grep RX ifconfig.log | mawk '{print $2, $5}' | sort -n"),
        ],
        Loads::Fixed(vec![1, 10, 100]),
    );
    level(&mut record, 1, &[row(0.412, 0.405, None), row(0.258, 0.551, Some((0.626, Verdict::Faster)))]);
    level(&mut record, 10, &[row(2.13, 0.411, None), row(2.71, 0.534, Some((1.27, Verdict::Slower)))]);
    level(&mut record, 100, &[row(21.7, 0.42, None), row(29.9, 0.561, Some((1.38, Verdict::Slower)))]);
    record.analysis.crossovers.push(Crossover {
        alternative: "use-pipe".to_owned(),
        baseline: "no-pipe".to_owned(),
        predicted_load: Some(1.4959),
        predicted_low: None,
        predicted_high: None,
        not_predicted: None,
        measured_from: Some(1),
        measured_to: Some(10),
        ranges: vec![
            VerdictRange { from: 1, to: 1, verdict: Verdict::Faster },
            VerdictRange { from: 10, to: 100, verdict: Verdict::Slower },
        ],
    });
    record.analysis.floor = Some(Floor { ratio: 1.0031, low: Some(0.991), high: Some(1.0142), rounds: 72 });
    record
}

/// Two alternatives at load 1 with this ratio and verdict.
pub(crate) fn one_level(ratio: f64, verdict: Verdict) -> Record {
    let mut record = record(
        &[("awk -f p.awk log", "awk -f p.awk log"), ("mawk -f p.awk log", "mawk -f p.awk log")],
        Loads::one_copy(),
    );
    level(
        &mut record,
        1,
        &[row(0.412, 0.405, None), row(0.412 * ratio, 0.405 * ratio, Some((ratio, verdict)))],
    );
    record.analysis.floor = Some(Floor { ratio: 0.9991, low: Some(0.994), high: Some(1.0042), rounds: 24 });
    record
}
