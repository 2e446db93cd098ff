//! Claims on records made by hand.

use super::{Claim, Figure, Outcome, Pair, Rule, Timing, beside, judge};
use crate::analysis::{Analysis, Comparison, Level};
use crate::event::Status;
use crate::host::{Host, NotMeasured};
use crate::plan::{FailurePolicy, Input, Loads, Mode, Placement, Plan, Rounds, Shell};
use crate::record::{Record, SCHEMA};
use crate::verdict::{Method, Verdict};

const PAIR: Pair<'static> = Pair { alternative: "use-pipe", baseline: "no-pipe" };

fn plan() -> Plan {
    Plan {
        alternatives: Vec::new(),
        baseline: 0,
        baseline_named: false,
        shell: Shell::None,
        input: Input::Null,
        loads: Loads::Fixed(vec![1, 10, 100]),
        mode: Mode::Batch,
        rounds: Rounds { min: 7, max: 60, fixed: false, max_time_s: 150.0, max_time_hard: true },
        warmup: 0,
        delta: 0.02,
        confidence: 0.95,
        seed: 1,
        timeout_s: None,
        placement: Placement::Session,
        cpus: None,
        drop_caches: false,
        check_output: true,
        failures: FailurePolicy::Raise,
        fail_if_slower: None,
        user: None,
        explain: None,
    }
}

/// Load, low end, ratio, high end, verdict.
type Measured = (u32, Option<f64>, f64, Option<f64>, Verdict);

/// A record with these levels.
fn record(levels: &[Measured]) -> Record {
    let levels = levels
        .iter()
        .map(|&(load, low, ratio, high, verdict)| Level {
            load,
            results: Vec::new(),
            comparisons: vec![Comparison {
                alternative: "use-pipe".into(),
                baseline: "no-pipe".into(),
                ratio,
                low,
                high,
                verdict,
                rounds: 9,
                rounds_needed: None,
                method: Method::SignEProcess,
                ratio_of_totals: None,
                work: None,
                share: None,
                reason: None,
            }],
            floor: None,
        })
        .collect();
    Record {
        schema: SCHEMA.into(),
        tool_version: "0".into(),
        started: "2026-01-01T00:00:00Z".into(),
        took_s: 1.0,
        status: Status::Complete,
        study: Some("pipes".into()),
        plan: plan(),
        host: Host::default(),
        trials: Vec::new(),
        batches: Vec::new(),
        sched_accounts: Vec::new(),
        why: crate::why::Why::default(),
        skipped: Vec::new(),
        analysis: Analysis { levels, ..Analysis::default() },
    }
}

fn outcome(rule: Rule, record: &Record) -> (Outcome, String) {
    let claim = Claim { number: 1, text: "a claim".into(), rule };
    let judged = judge(&[claim], PAIR, record).remove(0);
    (judged.outcome, judged.why)
}

/// What the article saw, with narrow intervals.
fn as_in_the_article() -> Record {
    record(&[
        (1, Some(0.55), 0.58, Some(0.61), Verdict::Faster),
        (10, Some(1.25), 1.27, Some(1.29), Verdict::Slower),
        (100, Some(1.36), 1.38, Some(1.40), Verdict::Slower),
        (1000, Some(1.70), 1.73, Some(1.75), Verdict::Slower),
    ])
}

const FASTER_ALONE: Rule = Rule::Verdict { load: 1, verdict: Verdict::Faster };
const RISES: Rule = Rule::RisesThroughout { least_levels: 3 };

#[test]
fn the_articles_own_ratios_make_every_claim_hold() {
    let record = as_in_the_article();
    for rule in [
        FASTER_ALONE,
        Rule::Verdict { load: 10, verdict: Verdict::Slower },
        Rule::SlowerStill { from: 10, to: 100 },
        Rule::SlowerStill { from: 100, to: 1000 },
        RISES,
    ] {
        let (outcome, why) = outcome(rule, &record);
        assert_eq!(outcome, Outcome::Holds, "{rule:?}: {why}");
    }
}

#[test]
fn a_verdict_claim_follows_the_verdict() {
    for (verdict, expected) in [
        (Verdict::Faster, Outcome::Holds),
        (Verdict::Slower, Outcome::DoesNotHold),
        (Verdict::Same, Outcome::DoesNotHold),
        (Verdict::Undecided, Outcome::Undecided),
    ] {
        let record = record(&[(1, Some(0.9), 1.0, Some(1.1), verdict)]);
        assert_eq!(outcome(FASTER_ALONE, &record).0, expected, "{verdict:?}");
    }
}

#[test]
fn a_level_that_was_not_measured_leaves_the_claim_undecided_and_says_why() {
    let mut record = as_in_the_article();
    record.analysis.levels.pop();
    let rule = Rule::SlowerStill { from: 100, to: 1000 };
    assert_eq!(outcome(rule, &record), (Outcome::Undecided, "load 1000 not measured here".into()));

    // Another level, and a part of this one: neither is the reason why load 1000 was not measured.
    for (what, why) in [
        ("load 100", "wrong"),
        ("run-queue delay at load 1000", "wrong"),
        ("load 1000", "memory: 9 GB needed, 4 GB available"),
    ] {
        record.analysis.not_measured.push(NotMeasured { what: what.into(), why: why.into() });
    }
    let (_, why) = outcome(rule, &record);
    assert_eq!(why, "load 1000 not measured: memory: 9 GB needed, 4 GB available");
}

#[test]
fn overlapping_intervals_do_not_decide_slower_still() {
    let record = record(&[
        (10, Some(1.2), 1.3, Some(1.4), Verdict::Slower),
        (100, Some(1.35), 1.5, Some(1.6), Verdict::Slower),
    ]);
    let (outcome, why) = outcome(Rule::SlowerStill { from: 10, to: 100 }, &record);
    assert_eq!(outcome, Outcome::Undecided);
    assert!(why.contains("overlap"), "{why}");
}

#[test]
fn slower_still_does_not_hold_when_the_ratio_falls_stays_or_the_alternative_wins() {
    let rule = Rule::SlowerStill { from: 10, to: 100 };
    let at_10 = (10, Some(1.30), 1.305, Some(1.31), Verdict::Slower);
    for at_100 in [
        (100, Some(1.1), 1.2, Some(1.25), Verdict::Slower),
        (100, Some(1.30), 1.31, Some(1.32), Verdict::Slower),
        (100, Some(0.8), 0.85, Some(0.9), Verdict::Faster),
        (100, Some(0.99), 1.0, Some(1.01), Verdict::Same),
    ] {
        let record = record(&[at_10, at_100]);
        assert_eq!(outcome(rule, &record).0, Outcome::DoesNotHold, "{at_100:?}");
    }
}

#[test]
fn a_rise_without_the_verdict_slower_is_not_slower_still() {
    let record = record(&[
        (10, Some(0.5), 0.6, Some(0.7), Verdict::Faster),
        (100, Some(0.9), 1.1, Some(1.3), Verdict::Undecided),
    ]);
    assert_eq!(outcome(Rule::SlowerStill { from: 10, to: 100 }, &record).0, Outcome::Undecided);
}

#[test]
fn an_open_end_of_an_interval_counts_as_everything_beyond_it() {
    let rule = Rule::SlowerStill { from: 10, to: 100 };
    let open_below = record(&[
        (10, Some(1.2), 1.3, None, Verdict::Slower),
        (100, Some(1.6), 1.7, Some(1.8), Verdict::Slower),
    ]);
    assert_eq!(outcome(rule, &open_below).0, Outcome::Undecided);
    let open_above = record(&[
        (10, Some(1.2), 1.3, Some(1.4), Verdict::Slower),
        (100, Some(1.6), 1.7, None, Verdict::Slower),
    ]);
    assert_eq!(outcome(rule, &open_above).0, Outcome::Holds);
    let no_interval =
        record(&[(10, None, 1.3, None, Verdict::Undecided), (100, None, 1.7, None, Verdict::Undecided)]);
    assert_eq!(outcome(rule, &no_interval).0, Outcome::Undecided);
}

#[test]
fn rising_throughout_needs_every_step_and_enough_levels() {
    let mut three = as_in_the_article();
    three.analysis.levels.pop();
    assert_eq!(outcome(RISES, &three).0, Outcome::Holds);

    let mut two = three.clone();
    two.analysis.levels.pop();
    assert_eq!(outcome(RISES, &two), (Outcome::Undecided, "2 levels compared, 3 needed".into()));

    // A step down decides, even where another step is unclear.
    let bent = record(&[
        (1, Some(0.5), 0.9, Some(1.4), Verdict::Undecided),
        (10, Some(1.3), 1.35, Some(1.4), Verdict::Slower),
        (100, Some(1.1), 1.15, Some(1.2), Verdict::Slower),
    ]);
    assert_eq!(outcome(RISES, &bent).0, Outcome::DoesNotHold);

    let unclear = record(&[
        (1, Some(0.5), 0.6, Some(0.7), Verdict::Faster),
        (10, Some(1.3), 1.35, Some(1.5), Verdict::Slower),
        (100, Some(1.4), 1.5, Some(1.6), Verdict::Slower),
    ]);
    assert_eq!(outcome(RISES, &unclear).0, Outcome::Undecided);
}

#[test]
fn the_comparison_of_another_pair_is_not_taken() {
    let mut record = as_in_the_article();
    for level in &mut record.analysis.levels {
        level.comparisons[0].alternative = "something else".into();
    }
    assert_eq!(outcome(FASTER_ALONE, &record), (Outcome::Undecided, "load 1: no round of both".into()));
}

#[test]
fn the_article_and_this_record_stand_side_by_side_by_load() {
    let timing = |mean_s, cpu_s| Timing { mean_s, sd_s: 0.0, user_s: cpu_s, system_s: 0.0 };
    let figures = [
        Figure { load: 10, baseline: timing(2.0, 4.0), alternative: timing(3.0, 5.0) },
        Figure { load: 1000, baseline: timing(4.0, 4.0), alternative: timing(1.0, 8.0) },
    ];
    let record = record(&[
        (1, Some(0.5), 0.6, Some(0.7), Verdict::Faster),
        (10, Some(1.3), 1.35, Some(1.5), Verdict::Slower),
    ]);
    let rows = beside(&figures, PAIR, &record);
    let loads: Vec<u32> = rows.iter().map(|row| row.load).collect();
    assert_eq!(loads, [1, 10, 1000]);
    assert_eq!((rows[0].article_ratio, rows[0].verdict), (None, Some(Verdict::Faster)));
    assert_eq!((rows[1].article_ratio, rows[1].article_work), (Some(1.5), Some(1.25)));
    assert_eq!(rows[1].ratio.map(|r| (r.ratio, r.low, r.high)), Some((1.35, Some(1.3), Some(1.5))));
    assert_eq!((rows[2].article_ratio, rows[2].ratio), (Some(0.25), None));
    assert_eq!(rows[2].missing.as_deref(), Some("load 1000 not measured here"));
}
