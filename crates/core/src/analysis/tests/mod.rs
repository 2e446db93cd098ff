//! The analysis as a whole, on made-up measurements.

mod corrected;
mod duets;
mod fixed_runs;
pub(crate) mod fixture;
mod notes;
mod results;
mod shares;

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use whyfaster_stats::random::Random;

use self::fixture::{BASE, Fixture, HIDDEN, OTHER, batch, comparison, jitter, level};
use crate::analysis::{alpha_per_interval, level_verdicts};
use crate::sample::Arm;
use crate::verdict::{Method, Verdict};

/// A pipe is shorter alone and costs more work: it wins until the two CPUs are full.
fn pipe(rounds: u32) -> Fixture {
    Fixture::two(&[1, 2, 10, 100], rounds, |load, arm, round| {
        let noise = 1.0 + 0.004 * jitter(arm, round);
        let (span, work) = if arm == OTHER { (0.6, 1.2) } else { (1.0, 1.0) };
        (f64::max(span, f64::from(load) * work / 2.0) * noise, work)
    })
}

#[test]
fn the_main_story_is_told() {
    let analysis = pipe(20).analyse();
    let verdicts: Vec<_> =
        analysis.levels.iter().map(|level| (level.load, level.comparisons[0].verdict)).collect();
    let (faster, slower) = (Verdict::Faster, Verdict::Slower);
    assert_eq!(verdicts, [(1, faster), (2, slower), (10, slower), (100, slower)]);
    assert!((comparison(&analysis, 1).ratio - 0.6).abs() < 0.01);
    assert!((comparison(&analysis, 100).ratio - 1.2).abs() < 0.01);
    let crossover = &analysis.crossovers[0];
    assert_eq!((crossover.measured_from, crossover.measured_to), (Some(1), Some(2)));
    // 2 CPUs * 1.0 / 1.2, and the span is measured with 0.4% of noise.
    assert!((crossover.predicted_load.unwrap() - 2.0 / 1.2).abs() < 0.02);
    let floor = analysis.floor.unwrap();
    assert!(floor.low.unwrap() <= 1.0 && 1.0 <= floor.high.unwrap() && floor.rounds == 80);
}

#[test]
fn a_planted_five_percent_is_found() {
    let mut rng = Random::seed_from_u64(5);
    let fixture = Fixture::two(&[1], 40, |_, arm, _| {
        let spike = if rng.random_range(0..16) == 0 { 0.3 } else { 0.0 };
        let noise = 1.0 + 0.02 * rng.random_range(-1.0..1.0) + spike;
        (if arm == OTHER { 1.05 } else { 1.0 } * noise, 0.9)
    });
    let analysis = fixture.analyse();
    let found = comparison(&analysis, 1);
    assert_eq!(found.verdict, Verdict::Slower, "{found:?}");
    assert!(found.low.unwrap() < 1.05 && 1.05 < found.high.unwrap());
    assert_eq!(found.method, Method::RankEProcess);
}

/// The scheduler's way: look after every round, stop at a verdict. On a noisy machine that drifts, equal commands may be
/// called different in at most 5% of measurements.
#[test]
fn equal_commands_are_rarely_called_different() {
    let mut rng = Random::seed_from_u64(17);
    let runs = 150u32;
    let alarms = (0..runs)
        .filter(|_| {
            let mut fixture = Fixture::new(&["base", "other"], &[1]);
            let alpha = alpha_per_interval(&fixture.plan, &fixture.host, 1);
            (0..40).any(|round| {
                let mut arms = [BASE, OTHER, HIDDEN];
                // A fresh random order every round; each place costs 3% more than the one before.
                for place in (1..3).rev() {
                    arms.swap(place, rng.random_range(0..=place));
                }
                for (place, arm) in (0u32..).zip(arms) {
                    let time = 1.0
                        + 0.03 * f64::from(place)
                        + 0.001 * f64::from(round)
                        + rng.random_range(0.0..0.02);
                    fixture.batches.push(batch(1, arm, round, time, 0.9));
                }
                let verdict = level_verdicts(&fixture.plan, &fixture.batches, alpha)[0].verdict;
                matches!(verdict, Verdict::Faster | Verdict::Slower)
            })
        })
        .count();
    assert!(alarms <= 7 + 8, "{alarms} of {runs}");
}

#[test]
fn looking_while_measuring_and_analysing_afterwards_agree() {
    let fixture = pipe(12);
    let analysis = fixture.analyse();
    for level in &analysis.levels {
        let alpha = alpha_per_interval(&fixture.plan, &fixture.host, level.load);
        let here = fixture.batches.iter().filter(|batch| batch.load == level.load);
        let judgement = level_verdicts(&fixture.plan, here, alpha)[0];
        let comparison = &level.comparisons[0];
        assert_eq!(judgement.verdict, comparison.verdict);
        assert_eq!((judgement.low, judgement.high), (comparison.low, comparison.high));
        assert_eq!(judgement.ratio, Some(comparison.ratio));
    }
}

#[test]
fn swapping_the_baseline_gives_the_reciprocal() {
    let there = pipe(20);
    let mut back = there.clone();
    back.plan.baseline = 1;
    // The hidden copy is a copy of the new baseline then.
    back.batches.retain(|batch| batch.arm != HIDDEN);
    let mut without = there.clone();
    without.batches.retain(|batch| batch.arm != HIDDEN);
    let (there, back) = (without.analyse(), back.analyse());
    for (one, other) in there.levels.iter().zip(&back.levels) {
        let (one, other) = (&one.comparisons[0], &other.comparisons[0]);
        assert!((one.ratio * other.ratio - 1.0).abs() < 1e-9);
        assert!((one.low.unwrap() * other.high.unwrap() - 1.0).abs() < 1e-9);
        assert!((one.work.unwrap().ratio * other.work.unwrap().ratio - 1.0).abs() < 1e-9);
        let mirrored = matches!(
            (one.verdict, other.verdict),
            (Verdict::Faster, Verdict::Slower) | (Verdict::Slower, Verdict::Faster)
        );
        assert!(mirrored, "{:?} {:?}", one.verdict, other.verdict);
    }
    let loads = [&there, &back].map(|it| it.crossovers[0].predicted_load.unwrap());
    assert!((loads[0] / loads[1] - 1.0).abs() < 0.01, "{loads:?}");
    assert_eq!(there.crossovers[0].measured_to, back.crossovers[0].measured_to);
}

#[test]
fn a_stored_record_gives_the_same_analysis() {
    let fixture = pipe(9);
    let again = Fixture {
        plan: serde_json::from_str(&serde_json::to_string(&fixture.plan).unwrap()).unwrap(),
        host: serde_json::from_str(&serde_json::to_string(&fixture.host).unwrap()).unwrap(),
        batches: serde_json::from_str(&serde_json::to_string(&fixture.batches).unwrap()).unwrap(),
        ..fixture.clone()
    };
    let analysis = fixture.analyse();
    assert_eq!(analysis, again.analyse());
    let text = serde_json::to_string(&analysis).unwrap();
    assert_eq!(analysis, serde_json::from_str(&text).unwrap());
}

#[test]
fn a_large_record_is_analysed() {
    // 10 rounds, 3 arms, 1000 copies, 5 levels.
    let fixture = Fixture::two(&[1000, 1001, 1002, 1003, 1004], 10, |_, arm, round| {
        (1.0 + 0.01 * jitter(arm, round), 0.002)
    });
    let analysis = fixture.analyse();
    assert_eq!(analysis.levels.len(), 5);
    assert_eq!(level(&analysis, 1000).results[0].rounds, 10);
}

fn arm() -> impl Strategy<Value = Arm> {
    prop_oneof![Just(BASE), Just(OTHER), Just(HIDDEN), Just(Arm::Alternative(9))]
}

/// Whether some number in a JSON value was not finite: serde writes null for it, so the struct no longer reads back.
fn reads_back(fixture: &Fixture) {
    let analysis = fixture.analyse();
    let text = serde_json::to_string(&analysis).unwrap();
    let back = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(analysis, back);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever the batches: holes, doubles, time-outs, times of 0 and below, no copies, unknown alternatives.
    #[test]
    fn nothing_infinite_is_written(
        rows in prop::collection::vec((0u32..4, arm(), 0u32..9, prop_oneof![Just(0.0), Just(-1.0), Just(1e308), Just(1e-308), 1e-9..1e9f64], prop_oneof![Just(0.0), Just(1e-308), Just(1e308), 0.0..2.0f64], any::<bool>()), 0..80),
        baseline in 0usize..4, fixed: bool, delta in 0.0..0.5f64, confidence in prop_oneof![Just(0.0), Just(1.0), 0.5..0.999f64],
    ) {
        let mut fixture = Fixture::new(&["a", "b", "c"], &[1, 2, 3]);
        fixture.plan.baseline = baseline;
        fixture.plan.rounds.fixed = fixed;
        fixture.plan.rounds.max = 5;
        fixture.plan.delta = delta;
        fixture.plan.confidence = confidence;
        for (load, arm, round, makespan, work, cut) in rows {
            let mut made = batch(load, arm, round, makespan, work);
            made.copies.timed_out.fill(cut);
            fixture.batches.push(made);
        }
        reads_back(&fixture);
    }

    #[test]
    fn the_order_of_batches_does_not_matter(seed: u64) {
        let fixture = pipe(8);
        let mut shuffled = fixture.clone();
        let mut rng = Random::seed_from_u64(seed);
        for place in (1..shuffled.batches.len()).rev() {
            shuffled.batches.swap(place, rng.random_range(0..=place));
        }
        prop_assert_eq!(fixture.analyse(), shuffled.analyse());
    }
}
