//! Error rates of verdicts on machines that change their speed.

use rand::{RngExt, SeedableRng};
use whyfaster_stats::random::Random;

use super::*;

/// A machine on which runs take longer by chance: the spread is about the standard deviation of the logarithm.
pub(super) fn noisy(seed: u64, spread: f64) -> Pace {
    let rng = RefCell::new(Random::seed_from_u64(seed));
    Box::new(move |_, _| {
        // The sum of twelve has a variance of one.
        let sum: f64 = (0..12).map(|_| rng.borrow_mut().random::<f64>()).sum();
        (spread * (sum - 6.0)).exp()
    })
}

/// A machine whose CPUs have two speeds and keep one for some seconds.
fn two_speeds(seed: u64) -> Pace {
    let noise = noisy(seed, 0.02);
    Box::new(move |index, now_s| {
        let mut rng = Random::seed_from_u64(seed ^ (now_s / 1.5) as u64);
        let slow = rng.random_bool(0.4);
        noise(index, now_s) * if slow { 1.35 } else { 1.0 }
    })
}

/// A machine from which others now and then take much.
fn stolen(seed: u64) -> Pace {
    let noise = noisy(seed, 0.02);
    let rng = RefCell::new(Random::seed_from_u64(!seed));
    Box::new(move |index, now_s| {
        let mut rng = rng.borrow_mut();
        let taken = if rng.random_bool(0.25) { rng.random::<f64>() } else { 0.0 };
        noise(index, now_s) * (1.0 + taken)
    })
}

/// The verdict on the second command, for so many seeds.
fn verdicts_of(seeds: u64, seconds: [f64; 2], pace: fn(u64) -> Pace) -> Vec<Verdict> {
    let of = |seed| {
        let rounds = Rounds { max: 12, ..plan_of(2).rounds };
        let plan = Plan { seed, rounds, ..plan_of(2) };
        let machine = paced(computing(&plan, &seconds), pace(seed));
        verdicts(&measured(&machine, &plan).0.record)[0]
    };
    (0..seeds).map(of).collect()
}

/// The most of 200 that chance makes of one in twenty, but for once in a thousand times: the binomial distribution gives 0.0006 for 21 and more.
const MOST_OF_200: usize = 20;

#[test]
fn equal_commands_differ_no_more_often_than_stated() {
    for (name, pace) in [("two speeds", two_speeds as fn(u64) -> Pace), ("steal", stolen)] {
        let found = verdicts_of(200, [0.1, 0.1], pace);
        let wrong = found.iter().filter(|it| matches!(it, Verdict::Faster | Verdict::Slower)).count();
        assert!(wrong <= MOST_OF_200, "{name}: {wrong} of 200");
    }
}

#[test]
fn a_difference_of_a_tenth_is_found() {
    let quiet: fn(u64) -> Pace = |seed| noisy(seed, 0.02);
    // In twelve rounds steal from a quarter of the runs hides it often.
    for (name, pace, least) in [("quiet", quiet, 40), ("two speeds", two_speeds, 30), ("steal", stolen, 10)] {
        let found = verdicts_of(40, [0.1, 0.11], pace);
        let right = found.iter().filter(|it| **it == Verdict::Slower).count();
        assert!(right >= least, "{name}: {right} of 40");
        assert!(!found.contains(&Verdict::Faster), "{name}");
    }
}
