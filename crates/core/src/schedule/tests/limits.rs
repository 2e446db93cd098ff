//! Limits on rounds and on time.

use super::*;

#[test]
fn the_largest_number_of_rounds_is_kept() {
    let trace = simulated(&plan(2, soft(10, 12, 600.0)), &Machine::with(&TWO), &[(1, 6), (4, 6)], NEVER);
    assert_eq!(trace.ended, [(1, 12), (4, 12)]);
    // Also where it is below the least number.
    let trace = simulated(&plan(2, soft(10, 3, 600.0)), &Machine::with(&TWO), &[(1, 6)], NEVER);
    assert_eq!(trace.ended, [(1, 3)]);
}

#[test]
fn a_fixed_number_of_rounds_ignores_verdicts_and_the_soft_limit() {
    let fixed = Rounds { fixed: true, ..soft(25, 25, 1.0) };
    let trace = simulated(&plan(2, fixed), &Machine::with(&TWO), &[(1, 6), (10, 6)], &after(1));
    assert_eq!(trace.ended, [(1, 25), (10, 25)]);
    assert!(trace.took_s > 1.0);
    assert!(trace.rounds.iter().all(|round| round.expected == 25));
}

#[test]
fn a_hard_limit_cuts_a_fixed_number_and_the_least_number_short() {
    let machine = Machine::with(&TWO);
    let fixed = Rounds { fixed: true, ..hard(1000, 1000, 10.0) };
    for rounds in [fixed, hard(1000, u32::MAX, 10.0)] {
        let trace = simulated(&plan(2, rounds), &machine, &[(1, 6)], NEVER);
        assert_eq!(trace.ended.len(), 1);
        assert!(trace.ended[0].1 > 10, "{:?}: time was left unused", trace.ended);
        assert!(trace.took_s <= 10.0, "{}", trace.took_s);
    }
}

#[test]
fn too_little_time_for_a_verdict_is_known_before_the_first_round() {
    // Three rounds of a baseline, its copy and another one, a second each.
    let machine = Machine::with(&[(1.0, 1.0), (1.0, 1.0)]);
    let of = |rounds, now_s| scheduler(&plan(2, rounds), &machine, &[(1, 3)]).too_little(now_s);
    let (needed_s, left_s) = of(hard(1, u32::MAX, 10.0), 2.0).expect("nine seconds do not fit into eight");
    assert!((needed_s - 9.0).abs() < 0.1 && left_s == 8.0, "{needed_s} {left_s}");
    assert_eq!(of(hard(1, u32::MAX, 12.0), 2.0), None);
    assert_eq!(of(soft(1, u32::MAX, 1.0), 2.0), None, "more is taken");
}

#[test]
fn a_first_block_of_slow_commands_is_expected_whole() {
    let machine = Machine::with(&[(10.0, 0.1), (11.0, 0.1)]);
    let mut scheduler = scheduler(&plan(2, soft(1, u32::MAX, 10.0)), &machine, &[(1, 3)]);
    let Step::Round(round) = scheduler.next(21.0) else { panic!("the first block always runs") };
    assert_eq!((round.runs, round.expected), (3, 3));
    assert!(round.left_s >= 93.0, "{} s", round.left_s);
}

#[test]
fn a_soft_limit_is_kept_but_for_the_least_rounds_of_the_lowest_level() {
    let machine = Machine::with(&[(1.0, 1.0), (1.0, 1.0)]);
    // Ten rounds of three seconds do not fit into 12, and run all the same.
    let trace = simulated(&plan(2, soft(10, u32::MAX, 12.0)), &machine, &[(1, 6)], NEVER);
    assert_eq!(trace.ended, [(1, 10)]);
    // Beyond the least rounds the time is kept.
    let trace = simulated(&plan(2, soft(10, u32::MAX, 100.0)), &machine, &[(1, 6)], NEVER);
    assert!(trace.at(1) > 20 && trace.took_s <= 100.0, "{} rounds, {} s", trace.at(1), trace.took_s);
    // Levels above the lowest get fewer when the time is over, but are tried once.
    let trace = simulated(&plan(2, soft(10, u32::MAX, 12.0)), &machine, &[(1, 6), (4, 6)], NEVER);
    assert_eq!((trace.at(1), trace.at(4)), (10, 1));
}

#[test]
fn slow_commands_get_the_time_of_ten_runs_each() {
    let took_s = |span_s: f64, rounds: Rounds, duets_s: f64| {
        let machine = Machine::with(&[(span_s, span_s); 2]);
        let mut scheduler = scheduler(&plan(2, rounds), &machine, &[(1, 3)]);
        scheduler.keep_for_duets(duets_s);
        scheduler.stretch();
        simulate(&mut scheduler, &machine, NEVER).took_s
    };
    let usual = soft(1, u32::MAX, 10.0);
    for (span_s, most_s) in [(0.1, 10.0), (0.5, 10.0), (1.0, 20.0), (2.0, 40.0), (4.0, 60.0)] {
        let took_s = took_s(span_s, usual, 0.0);
        assert!((most_s - 6.0 * span_s..=most_s).contains(&took_s), "{span_s} s: {took_s} s");
    }
    assert!(took_s(1.0, hard(1, u32::MAX, 10.0), 0.0) <= 10.0, "a limit that was asked for");
    assert!(took_s(1.0, usual, 4.0) <= 10.0, "time for duets");
}

#[test]
fn the_first_round_always_runs_and_a_level_without_time_is_skipped_with_the_reason() {
    let machine = Machine::with(&[(1.0, 1.0), (1.0, 1.0)]);
    let trace = simulated(&plan(2, hard(10, u32::MAX, 0.5)), &machine, &[(1, 6), (100, 6)], NEVER);
    assert_eq!(trace.ended, [(1, 1)], "with nothing at all there is nothing to report");
    let (load, why) = &trace.skipped[0];
    assert_eq!(*load, 100);
    assert!((why.round_s - 150.0).abs() < 1.0, "{why:?}");
    assert_eq!((why.left_s, why.max_time_s), (0.0, 0.5));
}

#[test]
fn a_level_that_cannot_fit_does_not_keep_the_others_from_their_rounds() {
    let machine = Machine::with(&[(0.01, 0.01), (0.01, 0.01)]);
    let levels = [(1, 6), (10, 6), (100_000, 6)];
    let trace = simulated(&plan(2, hard(6, u32::MAX, 20.0)), &machine, &levels, NEVER);
    assert!(trace.at(1) >= 6 && trace.at(10) >= 6, "{:?}", trace.ended);
    assert_eq!(trace.skipped.iter().map(|it| it.0).collect::<Vec<_>>(), [100_000]);
    assert!(trace.took_s <= 20.0, "{}", trace.took_s);
}

#[test]
fn every_level_gets_its_least_rounds_where_all_fit() {
    let machine = Machine::with(&[(0.01, 0.01), (0.01, 0.01)]);
    let levels = [(1, 8), (10, 8), (100, 8), (1000, 8)];
    // A round at 1000 takes 15 s: eight of them and their account fit into 180 s with those below.
    let trace = simulated(&plan(2, hard(1, u32::MAX, 180.0)), &machine, &levels, NEVER);
    for (load, least) in levels {
        assert!(trace.at(load) >= least as usize, "load {load}: {:?}", trace.ended);
    }
    assert!(trace.took_s <= 180.0, "{}", trace.took_s);
}

#[test]
fn what_an_early_verdict_saves_goes_to_later_levels() {
    let machine = Machine::with(&[(0.1, 0.1), (0.1, 0.1)]);
    let levels = [(1, 6), (2, 6), (4, 6)];
    let plan = plan(2, hard(6, u32::MAX, 30.0));
    let rounds_at_4 = |decided_at_1: u32| {
        let verdict = move |load: u32, done: u32| match load {
            1 if done >= decided_at_1 => Verdict::Faster,
            _ => Verdict::Undecided,
        };
        simulated(&plan, &machine, &levels, &verdict).at(4)
    };
    assert!(rounds_at_4(6) > rounds_at_4(u32::MAX), "{} against {}", rounds_at_4(6), rounds_at_4(u32::MAX));
}

#[test]
fn time_that_is_kept_for_an_explanation_is_given_back_where_there_is_no_difference() {
    let machine = Machine::with(&TWO);
    let of = |verdict: Verdicts<'_>| {
        let plan = plan(2, hard(3, u32::MAX, 20.0));
        let mut scheduler = scheduler(&plan, &machine, &[(1, 3), (2, 3)]);
        scheduler.keep(8.0);
        simulate(&mut scheduler, &machine, verdict)
    };
    let differs = of(&|load, _| if load == 1 { Verdict::Faster } else { Verdict::Undecided });
    assert!(differs.took_s <= 12.0, "{} s", differs.took_s);
    let undecided = of(NEVER);
    assert!(undecided.took_s > 15.0 && undecided.took_s <= 20.0, "{} s", undecided.took_s);
    assert!(undecided.at(1) > 3 && undecided.at(2) > 3);
}

#[test]
fn time_that_is_kept_for_duets_is_kept_behind_the_lowest_level_and_from_no_verdict() {
    let machine = Machine::with(&TWO);
    let of = |least: u32| {
        let plan = plan(2, hard(least, u32::MAX, 20.0));
        let mut scheduler = scheduler(&plan, &machine, &[(1, least)]);
        scheduler.keep_for_duets(4.0);
        simulate(&mut scheduler, &machine, NEVER)
    };
    let took_s = of(3).took_s;
    assert!((14.0..=16.0).contains(&took_s), "{took_s} s");
    // As many as a verdict needs fill all of the time.
    let round_s = took_s / of(3).at(1) as f64;
    let least = (19.0 / round_s) as u32;
    assert_eq!(of(least).at(1), least as usize);
}
