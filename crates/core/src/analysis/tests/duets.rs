//! CPU time against CPU time, from made-up duets.

use rand::{RngExt, SeedableRng};
use whyfaster_stats::random::Random;

use super::fixture::{Fixture, OTHER};
use crate::analysis::{Change, DuetComparison};
use crate::sample::Duet;
use crate::verdict::Ratio;

/// One round of two alternatives on two CPUs, and these duets.
fn found(duets: Vec<Duet>) -> Option<DuetComparison> {
    let alone = |_, arm, _| if arm == OTHER { (0.6, 1.1) } else { (1.0, 1.0) };
    let fixture = Fixture { duets, ..Fixture::two(&[1], 1, alone) };
    fixture.analyse().duets.into_iter().next()
}

/// Duets on a CPU whose speed changes by 1.9x, and with 1% of noise of their own.
fn duets(rounds: u32, work: f64, rng: &mut Random) -> Vec<Duet> {
    noisy_duets(rounds, work, 0.01, rng)
}

fn noisy_duets(rounds: u32, work: f64, size: f64, rng: &mut Random) -> Vec<Duet> {
    let duet = |round| {
        let pace = if rng.random_bool(0.5) { 1.9 } else { 1.0 };
        let mut noise = || rng.random_range(-size..size).exp();
        let (cpu_s, baseline_cpu_s) = (work * pace * noise(), pace * noise());
        Duet {
            alternative: 1,
            round,
            cpu: 0,
            baseline_first: false,
            cpu_s,
            baseline_cpu_s,
            took_s: 2.0 * pace,
        }
    };
    (0..rounds).map(duet).collect()
}

#[test]
fn a_change_of_speed_that_both_meet_is_no_noise() {
    let mut rng = Random::seed_from_u64(3);
    let found = found(duets(12, 1.1, &mut rng)).expect("there are duets");
    assert_eq!((found.rounds, found.change), (12, Change::More));
    let (low, high) = found.work.low.zip(found.work.high).expect("twelve have an interval");
    // 2% of it are the margin.
    assert!(1.06 < low && low < 1.08 && 1.12 < high && high < 1.14, "{low} to {high}");
}

#[test]
fn equal_commands_differ_as_rarely_as_promised() {
    let mut rng = Random::seed_from_u64(5);
    let trials = 2000;
    // The margin does not make up for an interval that is too narrow: without it the promise holds as well.
    let differ = |it: &DuetComparison| {
        it.work.low.is_some_and(|low| low * (1.0 + it.bias) > 1.0)
            || it.work.high.is_some_and(|high| high / (1.0 + it.bias) < 1.0)
    };
    for rounds in [6, 9, 12] {
        let found =
            (0..trials).map(|_| found(noisy_duets(rounds, 1.0, 0.1, &mut rng)).expect("there are duets"));
        let found: Vec<DuetComparison> = found.collect();
        let share = |wrong: usize| wrong as f64 / f64::from(trials);
        let (bare, told) = (
            share(found.iter().filter(|it| differ(it)).count()),
            share(found.iter().filter(|it| it.work.excludes_one()).count()),
        );
        // With six the interval is their whole range, which misses in 2 of 64; so the simulation can fail.
        assert!(
            (0.01..=0.05 + 0.015).contains(&bare) && told <= bare,
            "{rounds}: {bare}, {told} with the margin"
        );
    }
}

/// Rounds in turns, with so much noise, of an alternative that needs this much more CPU time; and duets that say something else.
fn beside_turns(
    truth: f64,
    bias: f64,
    noise: f64,
    rng: &mut Random,
) -> (Option<DuetComparison>, Option<Ratio>) {
    let duets = duets(12, truth * bias, rng);
    let mut run =
        |_, arm, _| (1.0, if arm == OTHER { truth } else { 1.0 } * rng.random_range(-noise..noise).exp());
    let analysis = Fixture { duets, ..Fixture::two(&[1], 12, &mut run) }.analyse();
    let turns = analysis.levels[0].comparisons[0].work;
    (analysis.duets.into_iter().next(), turns)
}

#[test]
fn two_that_change_each_other_are_within_the_margin() {
    let mut rng = Random::seed_from_u64(11);
    let trials = 100;
    let holds = |ratio: Ratio, truth: f64| {
        ratio.low.is_some_and(|it| it <= truth) && ratio.high.is_some_and(|it| truth <= it)
    };
    let of = |truth: f64, bias: f64, noise: f64, rng: &mut Random| {
        let found: Vec<DuetComparison> =
            (0..trials).filter_map(|_| beside_turns(truth, bias, noise, rng).0).collect();
        (
            found.iter().filter(|it| !it.in_turns).count(),
            found.iter().filter(|it| holds(it.work, truth)).count(),
        )
    };
    // As much as was found on real pairs: the truth is within, and the interval is used.
    for bias in [0.98, 0.99, 1.0, 1.02] {
        let (used, right) = of(1.1, bias, 0.2, &mut rng);
        assert!(used >= 95 && right >= 95, "{bias}: used {used} times, right in {right} of {trials}");
    }
    // Far more: the runs in turns do not say the same, and are better then.
    let (used, right) = of(1.1, 1.3, 0.1, &mut rng);
    assert!(used <= 5 && right >= 95, "used {used} times, right in {right} of {trials}");
}

#[test]
fn the_interval_is_never_less_than_the_margin_and_touches_that_of_runs_in_turns() {
    let mut rng = Random::seed_from_u64(13);
    for bias in [0.8, 0.9, 0.95, 1.0, 1.05, 1.1, 1.25] {
        let (found, turns) = beside_turns(1.0, bias, 0.3, &mut rng);
        let found = found.expect("there are duets");
        assert!(found.bias >= 0.02 - 1e-12, "{found:?}");
        assert!(found.work.apart(turns.expect("there are rounds")) < 1e-9, "{found:?} and {turns:?}");
    }
}

#[test]
fn it_decides_where_both_keep_all_cpus_busy() {
    let mut rng = Random::seed_from_u64(7);
    let found = found(duets(6, 1.1, &mut rng)).expect("there are duets");
    // One needs two copies for two CPUs, the other 2 * 0.6 / 1.1.
    assert_eq!(found.decides_from, Some(2));
}

#[test]
fn what_was_not_counted_says_nothing() {
    let none = Duet {
        alternative: 1,
        round: 0,
        cpu: 0,
        baseline_first: true,
        cpu_s: 0.0,
        baseline_cpu_s: 0.1,
        took_s: 0.1,
    };
    assert_eq!(found(vec![none]), None);
    assert_eq!(found(Vec::new()), None);
    // Five have no interval at 5%: an interrupt left them.
    let mut rng = Random::seed_from_u64(17);
    assert_eq!(found(duets(5, 1.1, &mut rng)), None);
}
