//! Claims about the ratios of loads: of levels made by hand, and of simulated rounds.

use proptest::prelude::*;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use whyfaster_stats::random::Random;

use super::super::*;
use crate::analysis::tests::fixture::{BASE, Fixture, HIDDEN, OTHER, batch, jitter};
use crate::analysis::{Analysis, Comparison, Level, alpha_per_interval, level_verdicts};
use crate::crossover::{MAX_BISECTIONS, ladder};
use crate::host::Host;
use crate::missing::{NotMeasured, Obstacle, Quantity};
use crate::plan::Loads;
use crate::studied::{Kind, LeftOut, Unfit};
use crate::verdict::{self, Method, Ratio, Verdict};
use crate::warning::Place;

const PAIR: Pair<'static> = Pair { alternative: "other", baseline: "base" };

const FASTER_ALONE: Rule = Rule::Verdict { load: 1, verdict: Verdict::Faster };
const SLOWER_STILL: Rule = Rule::SlowerStill { from: 10, to: 100 };
const RISES: Rule = Rule::RisesThroughout { least_levels: 3 };

/// Load, low end, ratio, high end, verdict.
type At = (u32, Option<f64>, f64, Option<f64>, Verdict);

fn level(&(load, low, ratio, high, verdict): &At) -> Level {
    let comparison = Comparison {
        alternative: PAIR.alternative.into(),
        baseline: PAIR.baseline.into(),
        ratio,
        low,
        high,
        less_sure: None,
        corrected: None,
        verdict,
        rounds: 9,
        rounds_needed: None,
        method: Method::RankEProcess,
        ratio_of_totals: None,
        work: None,
        share: None,
        reason: None,
        metrics: Vec::new(),
    };
    Level { load, results: Vec::new(), comparisons: vec![comparison], floor: None }
}

/// An analysis with these levels.
fn analysis(levels: &[At]) -> Analysis {
    Analysis { levels: levels.iter().map(level).collect(), ..Analysis::default() }
}

/// A measurement and its analysis.
struct Seen {
    fixture: Fixture,
    analysis: Analysis,
    left_out: Vec<LeftOut>,
}

impl Seen {
    fn of(fixture: Fixture) -> Self {
        let Loads::Fixed(loads) = &fixture.plan.loads else { unreachable!("the fixture has loads") };
        let at = |&load: &u32| {
            let alpha = alpha_per_interval(&fixture.plan, &fixture.host, load);
            let of_level = fixture.batches.iter().filter(|batch| batch.load == load);
            let found = level_verdicts(&fixture.plan, of_level, alpha)[0];
            (load, found.low, found.ratio.unwrap(), found.high, found.verdict)
        };
        let analysis = analysis(&loads.iter().map(at).collect::<Vec<_>>());
        Self { fixture, analysis, left_out: Vec::new() }
    }

    fn judged(&self, rule: Rule, needs: Needs, reads: Option<Kind>) -> Judgement {
        let claim = Claim { number: 1, text: "a claim".into(), alternative: None, rule, needs };
        let Fixture { plan, host, batches, .. } = &self.fixture;
        let Self { analysis, left_out, .. } = self;
        let runs = Runs { pair: PAIR, plan, host, batches, analysis, tallies: &[], left_out, reads };
        judge(&[claim], &Measured { runs: Some(runs), prices: None }).remove(0)
    }

    fn decided(&self, rule: Rule) -> (Outcome, Evidence) {
        let judged = self.judged(rule, Needs::default(), None);
        (judged.outcome, judged.evidence)
    }

    fn outcome(&self, rule: Rule) -> Outcome {
        self.decided(rule).0
    }
}

/// Runs whose ratio is this at each load, with so much noise, as a fraction.
fn with_ratios(ratios: &[(u32, f64)], noise: f64) -> Seen {
    let loads: Vec<u32> = ratios.iter().map(|(load, _)| *load).collect();
    let ratio = |load| ratios.iter().find(|(at, _)| *at == load).map_or(1.0, |(_, ratio)| *ratio);
    Seen::of(Fixture::two(&loads, 12, |load, arm, round| {
        let time = if arm == OTHER { ratio(load) } else { 1.0 };
        (time * (1.0 + noise * jitter(arm, round)), 1.0)
    }))
}

fn by_hand(levels: &[At]) -> Seen {
    let fixture = Fixture::new(&["base", "other"], &[1, 10, 100]);
    Seen { fixture, analysis: analysis(levels), left_out: Vec::new() }
}

#[test]
fn the_articles_own_ratios_make_every_claim_hold() {
    let seen = with_ratios(&[(1, 0.58), (10, 1.27), (100, 1.38), (1000, 1.73)], 0.01);
    for rule in [
        FASTER_ALONE,
        Rule::Verdict { load: 10, verdict: Verdict::Slower },
        SLOWER_STILL,
        Rule::SlowerStill { from: 100, to: 1000 },
        RISES,
    ] {
        assert_eq!(seen.outcome(rule.clone()), Outcome::Holds, "{rule:?}");
    }
}

/// The tables show the verdict: a claim that says another word of the same number contradicts them.
#[test]
fn a_verdict_claim_has_the_word_of_the_table() {
    let words = [Verdict::Faster, Verdict::Slower, Verdict::Same];
    // The interval of the last one is below 1, and reaches into the band of the same.
    for (low, high) in [(0.6, 0.7), (0.99, 1.01), (1.3, 1.4), (0.759, 0.992)] {
        for said in words {
            let seen = by_hand(&[(1, Some(low), 0.9, Some(high), said)]);
            for verdict in words {
                let expected = if verdict == said { Outcome::Holds } else { Outcome::DoesNotHold };
                let outcome = seen.outcome(Rule::Verdict { load: 1, verdict });
                assert_eq!(outcome, expected, "{said:?} {low} to {high}, claimed {verdict:?}");
            }
        }
        let open = by_hand(&[(1, Some(low), 0.9, Some(high), Verdict::Undecided)]);
        assert!(
            words
                .iter()
                .all(|&verdict| open.outcome(Rule::Verdict { load: 1, verdict }) == Outcome::Undecided)
        );
    }
    let at_least = by_hand(&[(1, Some(1.5), 2.0, None, Verdict::Slower)]);
    assert_eq!(at_least.outcome(Rule::Verdict { load: 1, verdict: Verdict::Slower }), Outcome::Holds);
}

#[test]
fn what_a_machine_lacks_is_named_unless_the_claim_holds() {
    let needs = Needs { cpus: Some(8), kernel_reads: true };
    let lacks = [Lack::Cpus { here: 2.0, needed: 8 }, Lack::KernelReads];
    let seen = |verdict| by_hand(&[(1, Some(0.9), 0.95, Some(1.02), verdict)]);
    for verdict in [Verdict::Undecided, Verdict::Slower] {
        assert_eq!(seen(verdict).judged(FASTER_ALONE, needs, Some(Kind::Plain)).lacks, lacks);
    }
    assert!(seen(Verdict::Faster).judged(FASTER_ALONE, needs, Some(Kind::Plain)).lacks.is_empty());
    let lacked = |needs, reads| seen(Verdict::Slower).judged(FASTER_ALONE, needs, reads).lacks;
    assert!(lacked(Needs { cpus: Some(2), ..needs }, Some(Kind::Compressed)).is_empty());
    assert!(lacked(Needs::default(), Some(Kind::Plain)).is_empty());
    // The CPUs of a machine may be unknown.
    let mut unknown = seen(Verdict::Slower);
    unknown.fixture.host = Host::default();
    assert!(unknown.judged(FASTER_ALONE, needs, None).lacks.is_empty());
}

/// The comparisons of a study and the steps that its claims rest on err together no more often than the plan allows.
#[test]
fn comparisons_and_steps_share_one_error() {
    let claims: Vec<Claim> = [FASTER_ALONE, SLOWER_STILL, Rule::SlowerStill { from: 100, to: 1000 }, RISES]
        .map(|rule| Claim {
            number: 1,
            text: "a claim".into(),
            alternative: None,
            rule,
            needs: Needs::default(),
        })
        .into();
    let whole = |names: &[&str], loads: &[u32]| {
        let mut fixture = Fixture::new(names, loads);
        fixture.plan.confidence = confidence(&claims, &fixture.plan);
        let each = |load: &u32| alpha_per_interval(&fixture.plan, &fixture.host, *load);
        let comparisons: f64 = loads.iter().map(each).sum::<f64>() * (names.len() - 1) as f64;
        // Into each level but the first one; 10 to 100 and 100 to 1000 are among them.
        comparisons + loads[1..].iter().map(each).sum::<f64>()
    };
    for names in [&["base", "other"][..], &["base", "other", "third"]] {
        for loads in [&[1][..], &[1, 10], &[1, 10, 100], &[1, 10, 100, 1000]] {
            assert!((whole(names, loads) - 0.05).abs() < 1e-12, "{names:?} {loads:?}");
        }
    }
    // Claims that compare no loads leave all of it to the comparisons.
    let plan = Fixture::new(&["base", "other"], &[1, 10]).plan;
    assert_eq!(confidence(&claims[..1], &plan), 0.95);
    // Levels that results add have their part as well.
    let mut fixture = Fixture::new(&["base", "other"], &[1]);
    fixture.plan.loads = Loads::Auto;
    fixture.plan.confidence = confidence(&claims, &fixture.plan);
    let of = |load| alpha_per_interval(&fixture.plan, &fixture.host, load);
    let ladder = ladder(2.0);
    let levels = ladder.iter().map(|&load| of(load)).sum::<f64>() + MAX_BISECTIONS as f64 * of(55);
    assert!(levels * (1.0 + 3.0) <= 0.05 + 1e-12, "{levels}");
}

#[test]
fn a_level_that_was_not_measured_leaves_the_claim_undecided_and_says_why() {
    let mut seen = with_ratios(&[(10, 1.27), (100, 1.38)], 0.01);
    let rule = Rule::SlowerStill { from: 100, to: 1000 };
    let why = |measured, reason| {
        (Outcome::Undecided, Evidence::NotCompared(NotCompared { load: 1000, measured, reason }))
    };
    let (outcome, evidence) = seen.decided(rule.clone());
    assert_eq!((outcome, evidence), (Outcome::NotAsked, why(false, None).1));

    // Another level, and a part of this one: neither is the reason why load 1000 was not measured.
    for (quantity, because) in [
        (Quantity::Level { load: 100 }, Obstacle::NoBatch),
        (Quantity::RunQueueDelay { at: Place::Loads(vec![1000]) }, Obstacle::NoTimeForTrace),
        (Quantity::Level { load: 1000 }, Obstacle::EndedBefore),
    ] {
        seen.analysis.not_measured.push(NotMeasured::new(quantity, because));
    }
    assert_eq!(seen.decided(rule), why(false, Some(Obstacle::EndedBefore)));
}

#[test]
fn a_rise_is_found_where_the_intervals_overlap() {
    let seen = with_ratios(&[(10, 1.27), (100, 1.5)], 0.08);
    let ends: Vec<_> = seen.analysis.levels.iter().map(|it| &it.comparisons[0]).collect();
    assert!(ends[0].high > ends[1].low, "{:?} and {:?}", ends[0].high, ends[1].low);
    let (outcome, why) = seen.decided(SLOWER_STILL);
    assert_eq!(outcome, Outcome::Holds, "{why:?}");
    let Evidence::Step(step) = why else { panic!("{why:?}") };
    assert_eq!(step.change, Change::Rises);
    assert!((step.moved.ratio - 1.5 / 1.27).abs() < 0.04, "{step:?}");
}

#[test]
fn slower_still_does_not_hold_when_the_ratio_falls_stays_or_the_alternative_wins() {
    for (at_100, noise, expected) in [
        (1.2, 0.01, Outcome::DoesNotHold),
        (1.305, 0.004, Outcome::DoesNotHold),
        (0.85, 0.01, Outcome::DoesNotHold),
        (1.0, 0.004, Outcome::DoesNotHold),
        (1.33, 0.1, Outcome::Undecided),
    ] {
        let seen = with_ratios(&[(10, 1.3), (100, at_100)], noise);
        assert_eq!(seen.outcome(SLOWER_STILL), expected, "{at_100}");
    }
    // It rises, and whether it is slower at 100 is open.
    let seen = with_ratios(&[(10, 0.6), (100, 1.02)], 0.06);
    assert_eq!(seen.outcome(SLOWER_STILL), Outcome::Undecided);
}

#[test]
fn without_runs_no_step_is_decided() {
    let at = |load, ratio| (load, Some(ratio - 0.01), ratio, Some(ratio + 0.01), Verdict::Slower);
    let (outcome, why) = by_hand(&[at(10, 1.2), at(100, 1.8)]).decided(SLOWER_STILL);
    assert_eq!(outcome, Outcome::Undecided);
    assert!(matches!(&why, Evidence::Step(step) if step.moved.low.is_none()), "{why:?}");
}

#[test]
fn rising_throughout_needs_every_step_and_enough_levels() {
    let three = with_ratios(&[(1, 0.58), (10, 1.27), (100, 1.38)], 0.01);
    assert_eq!(three.outcome(RISES), Outcome::Holds);
    let two = with_ratios(&[(1, 0.58), (10, 1.27)], 0.01);
    assert_eq!(two.decided(RISES), (Outcome::Undecided, Evidence::FewLevels(2, 3)));
    // A step down decides, even where another step is unclear.
    let bent = with_ratios(&[(1, 1.33), (10, 1.35), (100, 1.15)], 0.02);
    assert_eq!(bent.outcome(RISES), Outcome::DoesNotHold);
    let unclear = with_ratios(&[(1, 0.6), (10, 1.35), (100, 1.38)], 0.05);
    assert_eq!(unclear.outcome(RISES), Outcome::Undecided);
}

#[test]
fn the_comparison_of_another_pair_is_not_taken() {
    let mut seen = with_ratios(&[(1, 0.58)], 0.01);
    seen.analysis.levels[0].comparisons[0].alternative = "something else".into();
    let why = NotCompared { load: 1, measured: true, reason: None };
    assert_eq!(seen.decided(FASTER_ALONE), (Outcome::Undecided, Evidence::NotCompared(why)));
}

#[test]
fn a_claim_about_a_command_that_was_left_out_names_it() {
    let left_out = (PAIR.alternative.to_owned(), Unfit::NotInstalled("taskset".to_owned()));
    let seen = Seen { left_out: vec![left_out.clone()], ..by_hand(&[]) };
    assert_eq!(seen.decided(FASTER_ALONE), (Outcome::Undecided, Evidence::LeftOut(left_out)));
}

/// A record of loads 10 and 100 on a machine of two speeds whose runs are late at times.
fn noisy(at_10: f64, rise: f64, rounds: u32, rng: &mut Random) -> Seen {
    let mut fixture = Fixture::new(&["base", "other"], &[10, 100]);
    let mut slow = false;
    for load in [10, 100] {
        for round in 0..rounds {
            let mut arms = [BASE, OTHER, HIDDEN];
            arms.shuffle(rng);
            for (position, arm) in (0..).zip(arms) {
                slow ^= rng.random_bool(0.3);
                let late = -(1.0 - rng.random_range(0.0..1.0f64)).ln();
                let noise = (0.03 * (late + if slow { 1.0 } else { 0.0 })).exp();
                let ratio = if arm == OTHER { at_10 * if load == 100 { rise } else { 1.0 } } else { 1.0 };
                fixture
                    .batches
                    .push(crate::sample::Batch { position, ..batch(load, arm, round, ratio * noise, 1.0) });
            }
        }
    }
    Seen::of(fixture)
}

/// The same machine and commands, measured again and again: a claim that is true is hardly ever said not to hold, nor one that is
/// false to hold, and a clear one is decided nearly always.
#[test]
fn no_claim_flips_under_noise() {
    let mut rng = Random::seed_from_u64(9);
    let trials = 60;
    for rise in [0.9, 1.0, 1.01, 1.03, 1.05, 1.3] {
        let mut of = |_| noisy(1.4, rise, 14, &mut rng).outcome(SLOWER_STILL);
        let outcomes: Vec<Outcome> = (0..trials).map(&mut of).collect();
        let count = |wanted| outcomes.iter().filter(|it| **it == wanted).count();
        let (holds, not) = (count(Outcome::Holds), count(Outcome::DoesNotHold));
        let wrong = if rise > 1.02 { not } else { holds };
        assert!(wrong <= 3, "{rise}: {holds} hold and {not} do not");
        if rise == 1.3 {
            assert!(holds >= trials - 6, "{holds} of {trials}");
        }
    }
}

proptest! {
    /// Two measurements of one truth, each with the truth in its interval, decide a claim contrarily only where the truth is so near 1 that
    /// "the same" and a difference are both true of it.
    #[test]
    fn two_intervals_with_the_truth_in_them_agree(
        truth in 0.8..1.2f64, below in [0.0..0.1f64, 0.0..0.1], above in [0.0..0.1f64, 0.0..0.1], wanted in prop::sample::select(vec![Verdict::Faster, Verdict::Slower, Verdict::Same]),
    ) {
        const BAND: f64 = 0.05;
        let rule = verdict::Rule { delta: 0.02, delta_at_end: Some(BAND), alpha: 0.05, floor_alpha: 0.05, fixed: None, base: 2, shuffled: true };
        let outcomes = [0, 1].map(|at| {
            let ratio = Ratio { ratio: truth, low: Some(truth - below[at]), high: Some(truth + above[at]) };
            let seen = by_hand(&[(1, ratio.low, truth, ratio.high, rule.says(ratio))]);
            seen.outcome(Rule::Verdict { load: 1, verdict: wanted })
        });
        let contrary = outcomes.contains(&Outcome::Holds) && outcomes.contains(&Outcome::DoesNotHold);
        prop_assert!(!contrary || truth.ln().abs() <= BAND.ln_1p(), "{truth}: {outcomes:?}");
    }
}
