//! Claims about the ratios of loads, on levels made by hand.

use super::super::*;
use crate::analysis::{Analysis, Comparison, Level};
use crate::missing::{NotMeasured, Obstacle, Quantity};
use crate::verdict::{Method, Verdict};
use crate::warning::Place;

const PAIR: Pair<'static> = Pair { alternative: "use-pipe", baseline: "no-pipe" };

/// Load, low end, ratio, high end, verdict.
type At = (u32, Option<f64>, f64, Option<f64>, Verdict);

/// An analysis with these levels.
fn analysis(levels: &[At]) -> Analysis {
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
                less_sure: None,
                verdict,
                rounds: 9,
                rounds_needed: None,
                method: Method::SignEProcess,
                ratio_of_totals: None,
                work: None,
                share: None,
                reason: None,
                metrics: Vec::new(),
            }],
            floor: None,
        })
        .collect();
    Analysis { levels, ..Analysis::default() }
}

fn decided(rule: Rule, analysis: &Analysis) -> (Outcome, Evidence) {
    let claim = Claim { number: 1, text: "a claim".into(), alternative: None, rule };
    let runs = Runs { pair: PAIR, analysis, delta: 0.02, tallies: &[] };
    let judged = judge(&[claim], &Measured { runs: Some(runs), prices: None }).remove(0);
    (judged.outcome, judged.evidence)
}

fn outcome(rule: Rule, analysis: &Analysis) -> Outcome {
    decided(rule, analysis).0
}

/// What the article saw, with narrow intervals.
fn as_in_the_article() -> Analysis {
    analysis(&[
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
    let seen = as_in_the_article();
    for rule in [
        FASTER_ALONE,
        Rule::Verdict { load: 10, verdict: Verdict::Slower },
        Rule::SlowerStill { from: 10, to: 100 },
        Rule::SlowerStill { from: 100, to: 1000 },
        RISES,
    ] {
        assert_eq!(outcome(rule.clone(), &seen), Outcome::Holds, "{rule:?}");
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
        let seen = analysis(&[(1, Some(0.9), 1.0, Some(1.1), verdict)]);
        assert_eq!(outcome(FASTER_ALONE, &seen), expected, "{verdict:?}");
    }
}

#[test]
fn a_level_that_was_not_measured_leaves_the_claim_undecided_and_says_why() {
    let mut seen = as_in_the_article();
    seen.levels.pop();
    let rule = Rule::SlowerStill { from: 100, to: 1000 };
    let why = |measured, reason| {
        (Outcome::Undecided, Evidence::NotCompared(NotCompared { load: 1000, measured, reason }))
    };
    assert_eq!(decided(rule.clone(), &seen), why(false, None));

    // Another level, and a part of this one: neither is the reason why load 1000 was not measured.
    for (quantity, because) in [
        (Quantity::Level { load: 100 }, Obstacle::NoBatch),
        (Quantity::RunQueueDelay { at: Place::Loads(vec![1000]) }, Obstacle::NoTimeForTrace),
        (Quantity::Level { load: 1000 }, Obstacle::EndedBefore),
    ] {
        seen.not_measured.push(NotMeasured::new(quantity, because));
    }
    assert_eq!(decided(rule, &seen), why(false, Some(Obstacle::EndedBefore)));
}

#[test]
fn overlapping_intervals_do_not_decide_slower_still() {
    let seen = analysis(&[
        (10, Some(1.2), 1.3, Some(1.4), Verdict::Slower),
        (100, Some(1.35), 1.5, Some(1.6), Verdict::Slower),
    ]);
    let (outcome, why) = decided(Rule::SlowerStill { from: 10, to: 100 }, &seen);
    assert_eq!(outcome, Outcome::Undecided);
    assert!(matches!(why, Evidence::Step(_, Change::Unclear)), "{why:?}");
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
        let seen = analysis(&[at_10, at_100]);
        assert_eq!(outcome(rule.clone(), &seen), Outcome::DoesNotHold, "{at_100:?}");
    }
}

#[test]
fn a_rise_without_the_verdict_slower_is_not_slower_still() {
    let seen = analysis(&[
        (10, Some(0.5), 0.6, Some(0.7), Verdict::Faster),
        (100, Some(0.9), 1.1, Some(1.3), Verdict::Undecided),
    ]);
    assert_eq!(outcome(Rule::SlowerStill { from: 10, to: 100 }, &seen), Outcome::Undecided);
}

#[test]
fn an_open_end_of_an_interval_counts_as_everything_beyond_it() {
    let rule = Rule::SlowerStill { from: 10, to: 100 };
    let open_below = analysis(&[
        (10, Some(1.2), 1.3, None, Verdict::Slower),
        (100, Some(1.6), 1.7, Some(1.8), Verdict::Slower),
    ]);
    assert_eq!(outcome(rule.clone(), &open_below), Outcome::Undecided);
    let open_above = analysis(&[
        (10, Some(1.2), 1.3, Some(1.4), Verdict::Slower),
        (100, Some(1.6), 1.7, None, Verdict::Slower),
    ]);
    assert_eq!(outcome(rule.clone(), &open_above), Outcome::Holds);
    let no_interval =
        analysis(&[(10, None, 1.3, None, Verdict::Undecided), (100, None, 1.7, None, Verdict::Undecided)]);
    assert_eq!(outcome(rule.clone(), &no_interval), Outcome::Undecided);
}

#[test]
fn rising_throughout_needs_every_step_and_enough_levels() {
    let mut three = as_in_the_article();
    three.levels.pop();
    assert_eq!(outcome(RISES, &three), Outcome::Holds);

    let mut two = three.clone();
    two.levels.pop();
    assert_eq!(decided(RISES, &two), (Outcome::Undecided, Evidence::FewLevels(2, 3)));

    // A step down decides, even where another step is unclear.
    let bent = analysis(&[
        (1, Some(0.5), 0.9, Some(1.4), Verdict::Undecided),
        (10, Some(1.3), 1.35, Some(1.4), Verdict::Slower),
        (100, Some(1.1), 1.15, Some(1.2), Verdict::Slower),
    ]);
    assert_eq!(outcome(RISES, &bent), Outcome::DoesNotHold);

    let unclear = analysis(&[
        (1, Some(0.5), 0.6, Some(0.7), Verdict::Faster),
        (10, Some(1.3), 1.35, Some(1.5), Verdict::Slower),
        (100, Some(1.4), 1.5, Some(1.6), Verdict::Slower),
    ]);
    assert_eq!(outcome(RISES, &unclear), Outcome::Undecided);
}

#[test]
fn the_comparison_of_another_pair_is_not_taken() {
    let mut seen = as_in_the_article();
    for level in &mut seen.levels {
        level.comparisons[0].alternative = "something else".into();
    }
    let why = NotCompared { load: 1, measured: true, reason: None };
    assert_eq!(decided(FASTER_ALONE, &seen), (Outcome::Undecided, Evidence::NotCompared(why)));
}
