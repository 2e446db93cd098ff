//! Every number of a level, by hand.

use super::fixture::{BASE, Fixture, HIDDEN, OTHER, batch, comparison, level};
use crate::analysis::time_of;
use crate::plan::Mode;
use crate::sample::SchedAccount;
use crate::verdict::Verdict;
use crate::warning::{Caution, Warning};

fn close(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-9 * (1.0 + b.abs()), "{a} is not {b}");
}

#[test]
fn a_level_by_hand() {
    let mut fixture = Fixture::two(&[1, 4], 7, |load, _, _| if load == 1 { (1.0, 0.8) } else { (2.0, 0.9) });
    // Copies of unequal length in the level of 4.
    fixture.batches.iter_mut().filter(|batch| batch.load == 4).for_each(|batch| {
        batch.copies.wall_s = vec![0.5, 1.0, 1.5, 2.0];
    });
    fixture.accounts.push(SchedAccount { load: 4, alternative: 0, tasks: 8, run_s: 3.6, delay_s: 2.0 });
    let analysis = fixture.analyse();
    let summary = &analysis.alternatives[0];
    close(summary.span_s.unwrap(), 1.0);
    close(summary.work_s.unwrap(), 0.8);
    let result = &level(&analysis, 4).results[0];
    assert_eq!((result.rounds, result.timed_out, result.max_rss_bytes), (7, 0, 1 << 20));
    close(result.makespan_s.median, 2.0);
    close(result.work_per_copy_s, 0.9);
    close(result.user_per_copy_s, 0.675);
    close(result.system_per_copy_s, 0.225);
    close(result.throughput_per_s, 2.0);
    // 3.6 CPU seconds of 2 CPUs * 2 seconds.
    close(result.share, 0.9);
    close(result.latency_s.p50, 1.25);
    close(result.latency_s.p95, 2.0);
    close(result.slowdown.unwrap(), 1.25);
    close(result.fairness.unwrap(), 4.0);
    close(result.voluntary_switches, 3.0);
    close(result.run_delay_s.unwrap(), 0.5);
    let bound = result.bound.unwrap();
    close(bound.work_s, 1.6);
    close(bound.makespan_s, 1.6);
    close(bound.gap, 1.25);
    // Alone there is no other copy to be unfair to, and no account was taken.
    assert_eq!(level(&analysis, 1).results[0].fairness, None);
    assert_eq!(level(&analysis, 1).results[0].run_delay_s, None);
}

#[test]
fn what_counts_in_each_mode() {
    let mut made = batch(4, BASE, 0, 8.0, 0.1);
    made.copies.wall_s = vec![1.0, 2.0, 3.0, 8.0];
    close(time_of(&made, Mode::Batch), 8.0);
    close(time_of(&made, Mode::Closed { duration_s: 7.0 }), 2.0);
    close(time_of(&made, Mode::Open { rate_per_s: 1.0, duration_s: 4.0 }), 2.5);
    // The slowest was cut: the median is known all the same.
    made.copies.timed_out[3] = true;
    close(time_of(&made, Mode::Open { rate_per_s: 1.0, duration_s: 4.0 }), 2.5);
}

#[test]
fn time_outs_leave_the_upper_end_open() {
    let mut fixture = Fixture::two(&[1], 9, |_, arm, _| if arm == OTHER { (10.0, 9.0) } else { (1.0, 0.9) });
    fixture.each(OTHER, |batch| batch.copies.timed_out.fill(true));
    let analysis = fixture.analyse();
    let slower = comparison(&analysis, 1);
    assert_eq!((slower.verdict, slower.high), (Verdict::Slower, None));
    close(slower.low.unwrap(), 10.0);
    assert_eq!(slower.ratio_of_totals, None);
    let result = &level(&analysis, 1).results[1];
    assert_eq!((result.timed_out, result.makespan_s.high), (9, None));
    close(result.throughput_per_s, 0.0);
    // How long it takes is not known, so there is neither span nor bound.
    assert_eq!((analysis.alternatives[1].span_s, result.bound), (None, None));
}

#[test]
fn when_both_time_out_nothing_is_said() {
    let mut fixture = Fixture::two(&[1], 30, |_, _, _| (10.0, 9.0));
    for arm in [BASE, OTHER, HIDDEN] {
        fixture.each(arm, |batch| batch.copies.timed_out.fill(true));
    }
    let analysis = fixture.analyse();
    let neither = comparison(&analysis, 1);
    assert_eq!((neither.verdict, neither.low, neither.high), (Verdict::Undecided, None, None));
}

#[test]
fn what_was_measured_is_never_below_its_bound() {
    // Alone on a slow CPU, then two at once on quick ones.
    let alone = |load, _, _| if load == 1 { (1.9, 1.9) } else { (1.0, 1.0) };
    let analysis = Fixture::two(&[1, 2], 9, alone).analyse();
    close(level(&analysis, 2).results[0].bound.unwrap().gap, 1.0);
    // And the other way round: two at once are no quicker than one.
    let alone = |load, _, _| if load == 1 { (1.0, 1.0) } else { (1.9, 1.9) };
    let analysis = Fixture::two(&[1, 2], 9, alone).analyse();
    close(level(&analysis, 2).results[0].bound.unwrap().gap, 1.9);
}

#[test]
fn closed_mode_compares_seconds_per_copy() {
    // In the same ten seconds two workers complete 40 copies or 20.
    let mut fixture = Fixture::two(&[2], 9, |_, _, _| (10.0, 0.4));
    fixture.plan.mode = Mode::Closed { duration_s: 10.0 };
    for batch in &mut fixture.batches {
        let copies = if batch.arm == OTHER { 40 } else { 20 };
        let columns = super::fixture::batch(copies, batch.arm, 0, 20.0 / f64::from(copies), 0.4).copies;
        batch.copies = columns;
    }
    let analysis = fixture.analyse();
    close(comparison(&analysis, 2).ratio, 0.5);
    assert_eq!(comparison(&analysis, 2).verdict, Verdict::Faster);
    let result = &level(&analysis, 2).results[0];
    close(result.throughput_per_s, 2.0);
    // Two copies take two times half a second; the span of one was a second.
    close(result.bound.unwrap().gap, 1.0);
}

#[test]
fn open_mode_has_latencies_and_no_bound() {
    let mut fixture = Fixture::two(&[1], 9, |_, arm, _| (10.0, if arm == OTHER { 0.4 } else { 0.2 }));
    fixture.plan.mode = Mode::Open { rate_per_s: 3.0, duration_s: 1.0 };
    for batch in &mut fixture.batches {
        let slow = if batch.arm == OTHER { 2.0 } else { 1.0 };
        batch.copies = super::fixture::batch(3, batch.arm, 0, slow, 0.2).copies;
        batch.load = 0;
    }
    let analysis = fixture.analyse();
    close(comparison(&analysis, 0).ratio, 2.0);
    assert_eq!(level(&analysis, 0).results[0].bound, None);
    assert_eq!(level(&analysis, 0).results[0].slowdown, None, "none ran alone");
    assert_eq!(analysis.crossovers[0].predicted_load, None);
}

/// Ten starts a second for two seconds: copies that queue up take longer and longer, long ones end late and no later.
#[test]
fn a_rate_that_is_not_kept_is_said() {
    let mut fixture = Fixture::two(&[1], 9, |_, _, _| (2.2, 0.2));
    fixture.plan.mode = Mode::Open { rate_per_s: 10.0, duration_s: 2.0 };
    for batch in &mut fixture.batches {
        batch.copies = super::fixture::batch(20, batch.arm, 0, 1.0, 0.2).copies;
        batch.load = 0;
        batch.makespan_s = 4.0;
        if batch.arm == OTHER {
            batch.copies.wall_s = (1..=20).map(|copy| 0.1 * f64::from(copy)).collect();
        }
    }
    let of = |it: &Warning| match it.caution.as_ref()? {
        Caution::RateNotKept { alternative, ended_per_s, .. } => Some((alternative.clone(), *ended_per_s)),
        _ => None,
    };
    let analysis = fixture.analyse();
    let said: Vec<_> = analysis.warnings.iter().filter_map(of).collect();
    assert_eq!(said, [("other".to_owned(), 5.0)]);
}

#[test]
fn one_alternative_alone_is_measured_and_not_compared() {
    let mut fixture = Fixture::new(&["only"], &[1]);
    fixture.batches = (0..7).map(|round| batch(1, BASE, round, 1.0, 0.9)).collect();
    let analysis = fixture.analyse();
    assert_eq!(analysis.levels[0].results.len(), 1);
    assert!(analysis.levels[0].comparisons.is_empty() && analysis.crossovers.is_empty());
    assert!(analysis.warnings.is_empty(), "{:?}", analysis.warnings);
}
