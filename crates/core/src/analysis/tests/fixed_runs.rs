//! Numbers of runs that were fixed beforehand, with nothing besides: few rounds, no hidden copy, blocks behind a setup.

use super::fixture::{BASE, Fixture, HIDDEN, OTHER, comparison, jitter, missing};
use crate::metric::Metric;
use crate::missing::Quantity;
use crate::verdict::{Method, Verdict};

/// So many rounds of two alternatives without a hidden copy; the other takes `ratio` times as long, with a little noise.
fn fixed(rounds: u32, ratio: f64) -> Fixture {
    let mut fixture = Fixture::two(&[1], rounds, |_, arm, round| {
        let noise = 1.0 + 0.01 * jitter(arm, round);
        let time = if arm == OTHER { ratio } else { 1.0 };
        (time * noise, time * noise)
    });
    fixture.batches.retain(|batch| batch.arm != HIDDEN);
    let runs = &mut fixture.plan.rounds;
    (runs.min, runs.max, runs.fixed) = (rounds, rounds, true);
    fixture
}

#[test]
fn a_few_rounds_are_judged_by_students_t() {
    for rounds in [3, 5] {
        let analysis = fixed(rounds, 1.5).analyse();
        let found = comparison(&analysis, 1);
        assert_eq!((found.method, found.verdict), (Method::StudentT, Verdict::Slower), "{rounds}");
        assert!(found.work.unwrap().is_above_one(), "{found:?}");
    }
    assert_eq!(comparison(&fixed(6, 1.5).analyse(), 1).method, Method::Sign);
    let one = fixed(1, 1.5).analyse();
    assert_eq!((comparison(&one, 1).low, comparison(&one, 1).verdict), (None, Verdict::Undecided));
    // Cut short, the number was not fixed after all.
    let mut cut = fixed(5, 1.5);
    cut.batches.retain(|batch| batch.round < 4);
    assert_eq!(comparison(&cut.analyse(), 1).verdict, Verdict::Undecided);
}

#[test]
fn a_few_rounds_are_enough_for_a_limit_of_a_metric() {
    let interval = |fixture: &mut Fixture| {
        fixture.plan.metrics = vec![Metric::TimeCpu];
        let estimate = fixture.analyse().levels[0].results[1].metrics[0].estimate;
        estimate.low.zip(estimate.high)
    };
    for rounds in [2, 3, 5, 6] {
        let (low, high) = interval(&mut fixed(rounds, 1.5)).unwrap();
        assert!(low < 1.5 && high > 1.5 && high - low < 0.5, "{rounds}: {low} {high}");
    }
    assert_eq!(interval(&mut fixed(1, 1.5)), None);
    // Where the rounds end by what they show, looking several times widens it.
    let mut open = fixed(3, 1.5);
    open.plan.rounds.fixed = false;
    let (open, fixed) = (interval(&mut open).unwrap(), interval(&mut fixed(3, 1.5)).unwrap());
    assert!(open.1 - open.0 > fixed.1 - fixed.0, "{open:?} {fixed:?}");
}

#[test]
fn the_baselines_own_runs_are_the_floor() {
    let floor = |it: &Quantity| matches!(it, Quantity::Floor);
    let few = fixed(11, 1.5).analyse();
    assert!(few.floor.is_none() && missing(&few, floor));
    let enough = fixed(12, 1.5).analyse();
    assert_eq!(enough.floor.unwrap().rounds, 6);
    assert!(!missing(&enough, floor));
    // A baseline that differs from itself by half is no measure for 20%.
    let mut noisy = fixed(12, 1.2);
    noisy.each(BASE, |batch| batch.makespan_s *= if batch.round % 2 == 0 { 1.0 } else { 1.5 });
    noisy.each(OTHER, |batch| batch.makespan_s *= if batch.round % 2 == 0 { 1.0 } else { 1.5 });
    assert_eq!(comparison(&noisy.analyse(), 1).verdict, Verdict::Undecided);
}

#[test]
fn the_runs_behind_one_setup_are_one_observation() {
    // Ten rounds in five blocks; in one of them the machine was slow while the other ran.
    let mut fixture = fixed(10, 1.3);
    fixture.plan.rounds_per_setup = Some(2);
    let found = comparison(&fixture.analyse(), 1).clone();
    assert_eq!((found.rounds, found.method, found.verdict), (10, Method::StudentT, Verdict::Slower));
    let narrow = found.high.unwrap() / found.low.unwrap();
    fixture.each(OTHER, |batch| batch.makespan_s *= if batch.round / 2 == 1 { 2.0 } else { 1.0 });
    let found = comparison(&fixture.analyse(), 1).clone();
    assert!(
        found.high.unwrap() / found.low.unwrap() > 2.0 * narrow,
        "one of five observations, not two of ten"
    );
}
