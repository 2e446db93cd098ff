//! CPU time against CPU time, from made-up duets.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::fixture::{Fixture, OTHER};
use crate::analysis::{Change, DuetComparison};
use crate::sample::Duet;

/// One round of two alternatives on two CPUs, and these duets.
fn found(duets: Vec<Duet>) -> Option<DuetComparison> {
    let alone = |_, arm, _| if arm == OTHER { (0.6, 1.1) } else { (1.0, 1.0) };
    let fixture = Fixture { duets, ..Fixture::two(&[1], 1, alone) };
    fixture.analyse().duets.into_iter().next()
}

/// Duets on a CPU whose speed changes by 1.9x, and with 1% of noise of their own.
fn duets(rounds: u32, work: f64, rng: &mut ChaCha8Rng) -> Vec<Duet> {
    let duet = |round| {
        let pace = if rng.random_bool(0.5) { 1.9 } else { 1.0 };
        let mut noise = || rng.random_range(-0.01..0.01f64).exp();
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
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    let found = found(duets(12, 1.1, &mut rng)).expect("there are duets");
    assert_eq!((found.rounds, found.change), (12, Change::More));
    let (low, high) = found.work.low.zip(found.work.high).expect("twelve have an interval");
    assert!(1.08 < low && low < 1.1 && 1.1 < high && high < 1.12, "{low} to {high}");
}

#[test]
fn equal_commands_differ_as_rarely_as_promised() {
    let mut rng = ChaCha8Rng::seed_from_u64(5);
    let trials = 2000;
    let wrong = (0..trials)
        .filter(|_| found(duets(12, 1.0, &mut rng)).is_some_and(|it| it.work.excludes_one()))
        .count();
    assert!(wrong as f64 / f64::from(trials) <= 0.05 + 0.015, "{wrong} of {trials}");
}

#[test]
fn it_decides_where_both_keep_all_cpus_busy() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
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
}
