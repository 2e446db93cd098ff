//! Times corrected for steal and for the clock, on machines where the truth is known.

use rand::{RngExt, SeedableRng};
use whyfaster_stats::random::Random;

use super::fixture::{Fixture, HIDDEN, OTHER, comparison};
use crate::analysis::{Comparison, Corrected};
use crate::metric::Metric;
use crate::plan::{Mode, Pace};
use crate::sample::Counters;

/// A tick of the kernel, in which it tells steal.
const TICK_S: f64 = 0.01;

/// One copy at a time takes so many seconds of CPU time, `OTHER` so much longer; of every run up to `most` of its time is stolen besides.
fn stolen(seed: u64, span_s: f64, effect: f64, most: f64) -> Fixture {
    let mut rng = Random::seed_from_u64(seed);
    let mut fixture = Fixture::two(&[1], 24, |_, arm, _| {
        let work = if arm == OTHER { span_s * effect } else { span_s };
        (work, work)
    });
    let mut ticks = 0.0;
    for batch in &mut fixture.batches {
        let noise = 1.0 + 0.01 * rng.random_range(-1.0..1.0);
        let taken = batch.makespan_s * most * rng.random_range(0.0..1.0f64).powi(2);
        batch.makespan_s = noise * batch.makespan_s + taken;
        batch.copies.wall_s[0] = batch.makespan_s;
        // The sum is told in whole ticks, so that a run gets more or less than it had.
        let before = f64::floor(ticks / TICK_S);
        ticks += taken;
        batch.steal_s = Some((f64::floor(ticks / TICK_S) - before) * TICK_S);
    }
    fixture
}

fn told(fixture: &Fixture) -> (Comparison, Option<Corrected>) {
    let comparison = comparison(&fixture.analyse(), 1).clone();
    let corrected = comparison.corrected;
    (comparison, corrected)
}

#[test]
fn what_was_stolen_is_taken_off_and_the_time_stays_beside_it() {
    let (whole, less) = told(&stolen(1, 1.0, 1.05, 1.0));
    let less = less.unwrap();
    assert!(!whole.time().excludes_one(), "{whole:?}");
    assert!(less.ratio.is_above_one() && (less.ratio.ratio - 1.05).abs() < 0.01, "{less:?}");
    assert!(less.narrower > 5.0 && (0.15..0.35).contains(&less.stolen.unwrap()), "{less:?}");
    assert_eq!(less.clock_hz, None);
}

#[test]
fn there_is_none_where_little_was_stolen_or_ticks_say_too_little() {
    assert_eq!(told(&stolen(1, 1.0, 1.05, 0.0)).1, None);
    assert_eq!(told(&stolen(1, 1.0, 1.05, 0.01)).1, None);
    // Runs of 2 ms, and ticks of 10 ms.
    assert_eq!(told(&stolen(1, 0.002, 1.05, 0.2)).1, None);
    let mut unknown = stolen(1, 1.0, 1.05, 1.0);
    unknown.each(HIDDEN, |batch| batch.steal_s = None);
    assert_eq!(told(&unknown).1, None);
    let mut open = stolen(1, 1.0, 1.05, 1.0);
    open.plan.mode = Mode::Open { rate_per_s: 1.0, duration_s: 1.0 };
    assert_eq!(told(&open).1, None);
    let mut off = stolen(1, 1.0, 1.05, 1.0);
    off.plan.pace = Pace::Off;
    assert_eq!(told(&off).1, None);
}

/// Copies that compute for `computing` of a second at 3 GHz and wait for the rest, on a clock from 2 to 4 GHz; `OTHER` computes so much longer.
fn at_any_clock(seed: u64, effect: f64, computing: f64, user_only: bool) -> Fixture {
    let mut rng = Random::seed_from_u64(seed);
    let mut fixture = Fixture::two(&[1], 24, |_, _, _| (1.0, 1.0));
    for batch in &mut fixture.batches {
        let hz = rng.random_range(2e9..4e9);
        let cycles = 3e9 * computing * if batch.arm == OTHER { effect } else { 1.0 };
        let work = cycles / hz;
        batch.makespan_s = (work + 1.0 - computing) * (1.0 + 0.002 * rng.random_range(-1.0..1.0));
        let copies = &mut batch.copies;
        (copies.wall_s[0], copies.user_s[0], copies.system_s[0]) = (batch.makespan_s, 0.5 * work, 0.5 * work);
        batch.machine_busy_s = Some(work);
        let counted = if user_only { 0.5 * cycles } else { cycles };
        let columns = [(Metric::CpuCycles, vec![counted as u64])].into();
        copies.counters = Some(Counters { columns, user_only, refused: [].into() });
    }
    fixture
}

#[test]
fn counted_cycles_take_the_clock_out_of_what_was_computed() {
    for user_only in [false, true] {
        let (whole, at_one) = told(&at_any_clock(3, 1.05, 1.0, user_only));
        let at_one = at_one.unwrap();
        assert!(!whole.time().excludes_one(), "{whole:?}");
        assert!((at_one.ratio.ratio - 1.05).abs() < 0.005 && at_one.narrower > 5.0, "{at_one:?}");
        let (low, high) = at_one.clock_hz.unwrap();
        assert!((2e9..2.5e9).contains(&low) && (3.5e9..4e9).contains(&high), "{low} to {high}");
        assert_eq!(at_one.stolen, None);
    }
    // What waits for half of the time does so at any clock.
    let half = told(&at_any_clock(3, 1.05, 0.5, false)).1.unwrap();
    assert!((half.ratio.ratio - 1.025).abs() < 0.005, "{half:?}");
    // A clock that stays corrects nothing, and neither does one that some run did not tell.
    let mut one_lacks = at_any_clock(3, 1.05, 1.0, false);
    one_lacks.batches[0].copies.counters = None;
    assert_eq!(told(&one_lacks).1, None);
}

#[test]
fn both_are_corrected_at_once() {
    let mut both = at_any_clock(5, 1.05, 1.0, false);
    for (at, batch) in both.batches.iter_mut().enumerate() {
        let taken = batch.makespan_s * [0.0, 0.4, 0.1, 0.9, 0.2][at % 5];
        batch.makespan_s += taken;
        batch.copies.wall_s[0] = batch.makespan_s;
        batch.steal_s = Some(taken);
    }
    let found = told(&both).1.unwrap();
    assert!(
        (found.ratio.ratio - 1.05).abs() < 0.005 && found.stolen.is_some() && found.clock_hz.is_some(),
        "{found:?}"
    );
}

/// Equal commands, and others: the interval misses the truth as rarely as that of the time does.
#[test]
fn its_interval_holds_the_truth() {
    let clocks = |seed, effect| at_any_clock(seed, effect, 1.0, false);
    let steal = |seed, effect| stolen(seed, 0.2, effect, 1.0);
    for (effect, of) in
        [(1.0, &steal as &dyn Fn(u64, f64) -> Fixture), (1.05, &steal), (1.0, &clocks), (1.05, &clocks)]
    {
        let all: Vec<Corrected> = (0..100).filter_map(|seed| told(&of(seed, effect)).1).collect();
        let missed =
            all.iter().filter(|it| it.ratio.low.unwrap() > effect || it.ratio.high.unwrap() < effect);
        assert!(all.len() > 80, "{} of 100", all.len());
        assert!(missed.count() <= 5, "{effect}");
    }
}
