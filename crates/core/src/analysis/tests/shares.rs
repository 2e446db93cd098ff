//! How the error of a record is shared over its levels, and what else it could be: simulated, because the number of rounds goes in steps where a
//! difference is clear, and with the noise where it is not.

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use whyfaster_stats::random::Random;

use super::fixture::Fixture;
use crate::analysis::alpha_per_interval;
use crate::crossover::{MAX_BISECTIONS, error_share, ladder};
use crate::plan::{Loads, Plan};
use whyfaster_stats::eprocess::{Block, Evidence, min_rounds};

const CPUS: f64 = 2.0;
const ALPHA: f64 = 0.05;
/// Rounds at which a comparison gives up.
const MOST: usize = 120;

#[test]
fn the_error_is_shared_before_anything_is_measured() {
    let mut fixture = Fixture::new(&["a", "b", "c"], &[1, 10]);
    let of = |fixture: &Fixture, load| alpha_per_interval(&fixture.plan, &fixture.host, load);
    // Two comparisons at two levels.
    assert!((4.0 * of(&fixture, 10) - ALPHA).abs() < 1e-12);
    // The ladder on two CPUs and all bisections, wherever they fall.
    fixture.plan.loads = Loads::Auto;
    let bisections = MAX_BISECTIONS as f64 * of(&fixture, 55);
    let all = ladder(CPUS).into_iter().map(|load| of(&fixture, load)).sum::<f64>() + bisections;
    assert!((2.0 * all - ALPHA).abs() < 1e-12);
    for load in [1, 100, 1000] {
        assert!((12.0 * of(&fixture, load) - ALPHA).abs() < 1e-12);
    }
}

/// An alternative that takes longer by `effect`, alone with so much noise, both in logarithms.
struct Pair {
    effect: f64,
    noise: f64,
}

/// One is clear from the least rounds on; of the others noise decides the number.
const PAIRS: [Pair; 3] = [
    Pair { effect: 0.3, noise: 0.03 },
    Pair { effect: 0.1, noise: 0.06 },
    Pair { effect: 0.05, noise: 0.06 },
];

impl Pair {
    /// Rounds until it is found at this load: many copies average noise out.
    fn rounds(&self, load: u32, alpha: f64, seed: u64) -> usize {
        let mut rng = Random::seed_from_u64(seed);
        rng.set_stream(u64::from(load));
        let spread = self.noise / f64::from(load).sqrt() + 0.01;
        let (mut blocks, mut rounds) = (Vec::new(), 0);
        while rounds < MOST {
            let length = if rounds == 0 { min_rounds(alpha, 2) } else { 2 };
            let mut order = [true, false, false].repeat(length);
            order.shuffle(&mut rng);
            let mut next = Block::default();
            for arm in order {
                // Of twelve, as good as normal.
                let time = (0..12).map(|_| rng.random_range(-0.5..0.5)).sum::<f64>() * spread;
                if arm { next.arm.push((time + self.effect).into()) } else { next.base.push(time.into()) }
            }
            blocks.push(next);
            rounds += length;
            if Evidence::of(&blocks).refuses(0.0, true, 1.0, alpha) {
                break;
            }
        }
        rounds
    }
}

/// What a comparison over these loads takes, with parts of the error by load: in times of one copy alone, and how many rounds the lowest
/// level has.
fn cost(loads: &[u32], part: &dyn Fn(u32) -> f64) -> (f64, f64) {
    const RUNS: u64 = 30;
    let (mut time, mut alone) = (0.0, 0.0);
    for pair in PAIRS {
        for (seed, load) in (0..RUNS).flat_map(|seed| loads.iter().map(move |load| (seed, *load))) {
            let rounds = pair.rounds(load, ALPHA * part(load), seed) as f64 / RUNS as f64;
            time += rounds * (f64::from(load) / CPUS).max(1.0);
            alone += if load == loads[0] { rounds } else { 0.0 };
        }
    }
    (time, alone)
}

/// Parts by a power of the load, of loads that get `of` the error together.
fn by_load(loads: &[u32], power: f64, of: f64) -> impl Fn(u32) -> f64 {
    let all: f64 = loads.iter().map(|load| f64::from(*load).powf(power)).sum();
    move |load| of * f64::from(load).powf(power) / all
}

#[test]
fn no_other_parts_take_less_time_where_every_load_was_asked_for() {
    let loads = [1, 10, 100];
    let plan = Plan { loads: Loads::Fixed(loads.to_vec()), ..Fixture::new(&["a", "b"], &loads).plan };
    let ours = cost(&loads, &|load| error_share(&plan, CPUS, load)).0;
    let half_alone = |load| if load == 1 { 0.5 } else { 0.25 };
    assert!(ours <= 1.01 * cost(&loads, &half_alone).0);
    for power in [0.25, 0.5, 1.0] {
        let other = cost(&loads, &by_load(&loads, power, 1.0)).0;
        assert!(ours <= 1.01 * other, "by load to the power of {power}: {ours} against {other}");
    }
}

/// Equal parts are too small there for the least number of rounds at the levels that take the time; parts by load starve one copy alone.
#[test]
fn with_auto_the_ends_get_more_which_takes_a_fifth_less_time() {
    let loads = ladder(CPUS);
    let plan = Plan { loads: Loads::Auto, ..Fixture::new(&["a", "b"], &loads).plan };
    let (ours, alone) = cost(&loads, &|load| error_share(&plan, CPUS, load));
    let levels = (loads.len() + MAX_BISECTIONS) as f64;
    let (equal, equal_alone) = cost(&loads, &|_| 1.0 / levels);
    assert!(ours <= 0.85 * equal && alone < equal_alone, "{ours} {alone} against {equal} {equal_alone}");
    let half_alone = |load| if load == 1 { 0.5 } else { 0.5 / (levels - 1.0) };
    assert!(ours <= 0.85 * cost(&loads, &half_alone).0);
    // What is kept for bisections is the same.
    for power in [0.25, 0.5, 1.0] {
        let (other, other_alone) = cost(&loads, &by_load(&loads, power, loads.len() as f64 / levels));
        assert!(
            ours <= 1.01 * other && alone < other_alone,
            "by load to the power of {power}: {ours} {alone} against {other} {other_alone}"
        );
    }
}
