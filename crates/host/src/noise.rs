//! How noisy the machine is, measured: two fixed pieces of work, repeated for about a second.

use std::hint::black_box;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde::Serialize;
use whyfaster_stats::quantile::{of_sorted, quantile, sorted};

use super::tools::search_path;

/// What the two self-tests showed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Noise {
    /// A piece of work that only computes.
    pub compute: Spread,
    /// Starting `true` and waiting for its end; or why that was not measured.
    pub launch: Result<Spread, String>,
}

/// How far repeats of the same thing lie apart.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// Repeats.
    pub repeats: usize,
    /// Median time, seconds.
    pub median_s: f64,
    /// 95th percentile over 5th percentile.
    pub ratio: f64,
    /// Smallest difference, as a fraction, that 20 rounds of this work would show 4 times out of 5.
    pub smallest_difference: f64,
}

/// Repeats of the launch, and the most time they may take on a slow or busy machine.
const LAUNCHES: usize = 100;
const COMPUTE_TIME: Duration = Duration::from_millis(600);
const LAUNCH_TIME: Duration = Duration::from_millis(1500);
/// Enough for a 5th and a 95th percentile that are not the extremes.
const FEWEST: usize = 20;

/// Measures for about a second.
pub(super) fn measure() -> Noise {
    Noise { compute: compute(), launch: launch() }
}

/// The piece is made about a millisecond long, so that the tick and short interruptions show, as they do in short commands.
fn compute() -> Spread {
    let mut steps = 10_000_u64;
    // The shortest of three: an interruption must not make the piece look long enough.
    while (0..3).map(|_| timed(|| work(steps))).fold(f64::INFINITY, f64::min) < 1e-3 {
        steps *= 2;
    }
    let begin = Instant::now();
    let mut times = Vec::new();
    while begin.elapsed() < COMPUTE_TIME || times.len() < FEWEST {
        times.push(timed(|| work(steps)));
    }
    Spread::of(&times).expect("there are at least FEWEST times, each above 0")
}

fn launch() -> Result<Spread, String> {
    let begin = Instant::now();
    let mut times = Vec::with_capacity(LAUNCHES);
    while times.len() < LAUNCHES && (begin.elapsed() < LAUNCH_TIME || times.len() < FEWEST) {
        let mut command = Command::new("true");
        command.env("PATH", search_path()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let start = Instant::now();
        let status = command.status().map_err(|error| format!("true: {error}"))?;
        times.push(start.elapsed().as_secs_f64());
        if !status.success() {
            return Err(format!("true: {status}"));
        }
    }
    Spread::of(&times).ok_or_else(|| "the clock did not move while true ran".to_owned())
}

/// A chain of multiplications: each needs the one before, so that nothing can be computed ahead or left out.
fn work(steps: u64) {
    let mut state = black_box(1_u64);
    for _ in 0..steps {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    }
    black_box(state);
}

fn timed(work: impl FnOnce()) -> f64 {
    let start = Instant::now();
    work();
    start.elapsed().as_secs_f64()
}

/// With 20 rounds and 95% the sign test calls a difference when 15 rounds or more agree. That happens 4 times out of 5 if
/// each round agrees with probability 0.8 (binomial: 0.804). So the difference has to be the 80th percentile of the noise of
/// one round's ln ratio, which is symmetric when both sides are the same: the 60th percentile of its size.
const AGREE: f64 = 0.6;

impl Spread {
    fn of(times: &[f64]) -> Option<Self> {
        let order = sorted(times.iter().copied());
        let at = |q| of_sorted(&order, q).filter(|seconds| *seconds > 0.0);
        // Neighbours are as far apart in time as the two sides of a round.
        let ratios: Vec<f64> = times.chunks_exact(2).map(|pair| (pair[1] / pair[0]).ln().abs()).collect();
        Some(Self {
            repeats: times.len(),
            median_s: at(0.5)?,
            ratio: at(0.95)? / at(0.05)?,
            smallest_difference: quantile(&ratios, AGREE)?.exp_m1(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_times_have_no_spread() {
        let spread = Spread::of(&[2.0; 40]).expect("forty times");
        assert_eq!(
            (spread.repeats, spread.median_s, spread.ratio, spread.smallest_difference),
            (40, 2.0, 1.0, 0.0)
        );
    }

    #[test]
    fn the_spread_is_that_of_the_middle_nine_tenths() {
        let times: Vec<f64> = (0..=100).map(|i| 100.0 + f64::from(i)).collect();
        let spread = Spread::of(&times).expect("times above 0");
        assert!((spread.ratio - 195.0 / 105.0).abs() < 1e-12);
        assert!((spread.median_s - 150.0).abs() < 1e-12);
    }

    #[test]
    fn the_smallest_difference_follows_the_noise_between_neighbours() {
        // Every second repeat is 10% longer: a difference of 10% cannot be told from that noise, a trend can.
        let noisy: Vec<f64> = (0..40).map(|i| if i % 2 == 0 { 1.0 } else { 1.1 }).collect();
        assert!((Spread::of(&noisy).expect("times").smallest_difference - 0.1).abs() < 1e-9);
        let trend: Vec<f64> = (0..40).map(|i| 1.0 + f64::from(i) * 1e-4).collect();
        assert!(Spread::of(&trend).expect("times").smallest_difference < 2e-4);
    }

    #[test]
    fn no_time_has_no_spread() {
        assert_eq!(Spread::of(&[]), None);
        assert_eq!(Spread::of(&[0.0; 20]), None);
    }

    #[test]
    fn four_of_five_is_right() {
        // P(Bin(20, 0.8) >= 15), exactly.
        let choose = |n: u32, k: u32| (1..=k).fold(1.0, |c, i| c * f64::from(n - k + i) / f64::from(i));
        let agree: f64 =
            (15..=20).map(|k| choose(20, k) * 0.8_f64.powi(k as i32) * 0.2_f64.powi(20 - k as i32)).sum();
        assert!((agree - 0.804).abs() < 5e-4, "{agree}");
    }

    #[test]
    fn the_real_machine_gives_a_spread() {
        let noise = measure();
        assert!(noise.compute.ratio >= 1.0 && noise.compute.repeats >= FEWEST);
        let launch = noise.launch.expect("every test machine has a true");
        assert!(launch.ratio >= 1.0 && launch.median_s > 0.0);
    }
}
