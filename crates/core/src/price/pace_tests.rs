//! A list that was made while the CPU was slow is not called dearer for that.

use super::super::compare::{Rule, compare};
use super::super::fixture::{list, row, samples};
use super::super::list::PriceList;
use super::*;
use crate::missing::{Noise, Obstacle};
use crate::verdict::Verdict;

/// A list of one call and of plain user code, both of which took this many times as long as usual.
fn slowed(call: f64, compute: f64) -> PriceList {
    let times = |each: f64, factor: f64| samples(8, 12, each * factor);
    let mut made = list(vec![
        (row("kernel", "fstat", "raw"), times(200.0, call)),
        (row("cpu", COMPUTE, "cache,cpu=0"), times(500.0, compute)),
        (row("cpu", COMPUTE, "code,cpu=1"), times(10_000.0, 1.0)),
    ]);
    made.fingerprint.facts.cpu_model = Some("a CPU".into());
    made
}

/// A clock of 10 ns shows one that takes 145 ns now as 140 and now as 150.
#[test]
fn steps_of_the_clock_are_no_difference() {
    let on_coarse_clock = |each: f64| {
        let mut made = list(vec![(row("thread", "wake", "awake"), samples(8, 12, each / 200.0))]);
        if let Some(clock) = &mut made.clock {
            clock.resolution_ns = Some(10.0);
        }
        made.reprice();
        made
    };
    let of = |each: f64| {
        let found = compare(&[on_coarse_clock(140.0), on_coarse_clock(each)], &Rule::default());
        (found.rows[0].others[0].verdict, found.rows[0].others[0].reason.clone())
    };
    let (found, why) = of(155.0);
    assert_eq!(found, Some(Verdict::Undecided));
    assert!(matches!(why, Some(Obstacle::WithinNoise { noise: Noise::ClockSteps, .. })), "{why:?}");
    assert_eq!(of(190.0).0, Some(Verdict::Slower));
    let price = &on_coarse_clock(140.0).prices[0];
    assert!(price.high_ns.unwrap() - price.low_ns.unwrap() >= 20.0 / 200.0, "{price:?}");
}

fn verdict(first: &PriceList, second: &PriceList, name: &str) -> (Option<Verdict>, Option<Obstacle>) {
    let found = compare(&[first.clone(), second.clone()], &Rule::default());
    let row = found.rows.iter().find(|row| row.name == name && row.variant != "code,cpu=1").unwrap();
    (row.others[0].verdict, row.others[0].reason.clone())
}

#[test]
fn a_slower_cpu_explains_what_is_dearer_by_as_much() {
    let (usual, slow) = (slowed(1.0, 1.0), slowed(1.35, 1.4));
    let (found, why) = verdict(&usual, &slow, "fstat");
    assert_eq!(found, Some(Verdict::Undecided));
    assert!(matches!(why, Some(Obstacle::WithinNoise { noise: Noise::Pace, .. })), "{why:?}");
    assert_eq!(verdict(&slow, &usual, "fstat").0, Some(Verdict::Undecided));
    // The CPU's own rows are no property of the machine either.
    assert_eq!(verdict(&usual, &slow, COMPUTE).0, Some(Verdict::Undecided));
    let pace = compare(&[usual, slow], &Rule::default()).paces[0].unwrap();
    assert!((1.38..1.42).contains(&pace.ratio) && pace.low <= 1.0 && pace.high >= pace.ratio, "{pace:?}");
}

#[test]
fn what_it_does_not_explain_is_called_dearer_or_cheaper() {
    let usual = slowed(1.0, 1.0);
    assert_eq!(verdict(&usual, &slowed(2.0, 1.4), "fstat").0, Some(Verdict::Slower));
    assert_eq!(verdict(&usual, &slowed(1.35, 1.0), "fstat").0, Some(Verdict::Slower));
    // Cheaper although the CPU was slower.
    assert_eq!(verdict(&usual, &slowed(0.8, 1.4), "fstat").0, Some(Verdict::Faster));
}

#[test]
fn cpus_of_two_kinds_have_speeds_of_their_own() {
    let (usual, mut slow) = (slowed(1.0, 1.0), slowed(1.35, 1.4));
    slow.fingerprint.facts.cpu_model = Some("another CPU".into());
    assert_eq!(compare(&[usual.clone(), slow.clone()], &Rule::default()).paces, [None]);
    assert_eq!(verdict(&usual, &slow, "fstat").0, Some(Verdict::Slower));
}

#[test]
fn cpus_that_nobody_told_are_not_known_to_be_of_one_kind() {
    let (mut usual, mut slow) = (slowed(1.0, 1.0), slowed(1.35, 1.4));
    (usual.fingerprint.facts.cpu_model, slow.fingerprint.facts.cpu_model) = (None, None);
    assert_eq!(compare(&[usual, slow], &Rule::default()).paces, [None]);
}

#[test]
fn few_repetitions_leave_all_that_was_seen() {
    let few = |compute: f64| {
        let mut made = list(vec![(row("cpu", COMPUTE, "cache,cpu=0"), samples(2, 12, 500.0 * compute))]);
        made.fingerprint.facts.cpu_model = Some("a CPU".into());
        made
    };
    let pace = compare(&[few(1.0), few(1.4)], &Rule::default()).paces[0].unwrap();
    assert!(pace.low < pace.ratio && pace.ratio < pace.high, "{pace:?}");
}

#[test]
fn lists_without_these_rows_are_compared_as_ever() {
    let bare = |cost| list(vec![(row("kernel", "fstat", "raw"), samples(8, 12, cost))]);
    assert_eq!(compare(&[bare(200.0), bare(200.0)], &Rule::default()).paces, [None]);
    assert_eq!(verdict(&bare(200.0), &bare(270.0), "fstat").0, Some(Verdict::Slower));
}
