//! When a measurement stops by itself.

use std::collections::BTreeSet;

use whyfaster_core::analysis::fewest_duets;

use super::chance::noisy;
use super::*;

/// The rounds of a plan: at least, at most, and the seconds for all.
fn rounds_of(min: u32, max: u32, max_time_s: f64) -> Rounds {
    Rounds { min, max, max_time_s, ..plan_of(1).rounds }
}

#[test]
fn each_rule_stops_a_measurement() {
    use Verdict::{Faster, Same, Slower, Undecided};
    const ALL: u32 = u32::MAX;
    let fixed = |runs| Rounds { fixed: true, ..rounds_of(runs, runs, 10.0) };
    let hard = |rounds| Rounds { max_time_hard: true, ..rounds };
    let with = |rounds| Plan { rounds, ..plan_of(2) };
    let at = |loads: &[u32], rounds| Plan { loads: Loads::Fixed(loads.to_vec()), ..with(rounds) };
    let closed = Plan { mode: Mode::Closed { duration_s: 1.0 }, ..with(rounds_of(1, ALL, 60.0)) };
    let mode = Mode::Open { rate_per_s: 3.0, duration_s: 2.0 };
    let open = Plan { mode, ..with(rounds_of(1, ALL, 60.0)) };
    let exactly = |rounds| rounds..=rounds;
    // The plan, the seconds of both commands, their noise, the rounds at each load, and the verdicts.
    let cases = [
        // A first block of four rounds ends within three seconds, or it has the three that a verdict needs.
        ("a clear difference", with(rounds_of(1, ALL, 10.0)), [0.2, 0.3], 0.0, vec![exactly(4)], Slower),
        ("the other way round", with(rounds_of(1, ALL, 10.0)), [0.3, 0.2], 0.0, vec![exactly(3)], Faster),
        ("equal commands", with(rounds_of(1, ALL, 10.0)), [0.2, 0.2], 0.0, vec![exactly(4)], Same),
        ("the least rounds", with(rounds_of(20, ALL, 60.0)), [0.2, 0.3], 0.0, vec![exactly(20)], Slower),
        ("the most rounds", with(rounds_of(1, 5, 60.0)), [0.2, 0.201], 0.5, vec![exactly(5)], Undecided),
        ("a fixed number", with(fixed(7)), [0.2, 0.3], 0.0, vec![exactly(7)], Slower),
        ("a fixed number beyond the time", with(fixed(30)), [1.0, 1.5], 0.0, vec![exactly(30)], Slower),
        ("a fixed number, cut", with(hard(fixed(30))), [1.0, 1.4], 0.0, vec![exactly(4)], Undecided),
        ("time", with(rounds_of(1, ALL, 10.0)), [0.2, 0.201], 0.5, vec![10..=25], Undecided),
        ("a limit", with(hard(rounds_of(1, ALL, 5.0))), [0.2, 0.201], 0.5, vec![5..=12], Undecided),
        (
            "a limit before the least",
            with(hard(rounds_of(9, ALL, 2.0))),
            [0.2, 0.3],
            0.0,
            vec![exactly(2)],
            Undecided,
        ),
        ("two loads", at(&[1, 4], rounds_of(1, ALL, 60.0)), [0.2, 0.3], 0.0, vec![exactly(4); 2], Slower),
        ("a closed loop", closed, [0.2, 0.3], 0.0, vec![exactly(3)], Slower),
        ("a rate", open, [0.2, 0.3], 0.0, vec![exactly(3)], Slower),
    ];
    for (case, plan, seconds, spread, expected, verdict) in cases {
        let machine = paced(computing(&plan, &seconds), noisy(3, spread));
        let (Finished { record, failure }, events) = measured(&machine, &plan);
        assert!(failure.is_none() && record.status == Status::Complete, "{case}: {failure:?}");
        let found = rounds(&record);
        assert_eq!(found.len(), expected.len(), "{case}: {found:?}");
        let as_expected = found.iter().zip(&expected).all(|((_, rounds), range)| range.contains(rounds));
        assert!(as_expected, "{case}: {found:?}");
        assert_eq!(verdicts(&record), vec![verdict; expected.len()], "{case}");
        if plan.rounds.max_time_hard {
            assert!(record.took_s <= plan.rounds.max_time_s * LATE, "{case}: {} s", record.took_s);
        }
        // Of a round that was cut, no run counts.
        let ended: Vec<(u32, u32)> = events.iter().filter_map(ended).collect();
        assert_eq!(ended, found, "{case}");
    }
}

fn ended(event: &Event) -> Option<(u32, u32)> {
    match event {
        Event::LevelEnd { load, rounds } => Some((*load, *rounds)),
        _ => None,
    }
}

/// Commands that become slower than in their trials.
#[test]
fn a_block_that_takes_too_long_is_cut_and_counts_its_whole_rounds() {
    let rounds = Rounds { max_time_hard: true, ..rounds_of(1, u32::MAX, 3.0) };
    let plan = Plan { rounds, ..plan_of(2) };
    for (late, begins_s) in [("the first block", 0.02), ("a later block", 0.2)] {
        let slow = move |_, now_s| if now_s < begins_s { 1.0 } else { 40.0 };
        let machine = paced(computing(&plan, &[0.01, 0.012]), Box::new(slow));
        let (Finished { record, failure }, events) = measured(&machine, &plan);
        assert!(failure.is_none() && record.status == Status::Complete, "{late}: {failure:?}");
        assert!(record.took_s <= plan.rounds.max_time_s * LATE + 0.5, "{late}: {} s", record.took_s);
        let rounds_of = |index| {
            let of_it = record.batches.iter().filter(move |it| it.arm == Arm::Alternative(index));
            of_it.map(|it| it.round).collect::<BTreeSet<u32>>()
        };
        let most = rounds_of(0).intersection(&rounds_of(1)).count();
        let counted: Vec<_> = events.iter().filter_map(ended).collect();
        assert!((1..=most).contains(&(counted[0].1 as usize)), "{late}: {counted:?} of {most}");
    }
}

/// Verdicts are also computed while a fixed number of rounds runs, for the progress line.
#[test]
fn the_verdict_so_far_is_reported_while_the_rounds_run() {
    let plan = Plan { rounds: Rounds { fixed: true, ..rounds_of(100, 100, 100.0) }, ..plan_of(2) };
    let (Finished { record, .. }, events) = measured(&computing(&plan, &[0.2, 0.3]), &plan);
    let looks: Vec<usize> =
        (0..events.len()).filter(|at| matches!(events[*at], Event::SoFar { .. })).collect();
    let runs_before = |at: usize| events[..at].iter().filter(|it| matches!(it, Event::Batch { .. })).count();
    assert!((10..=60).contains(&looks.len()), "{} looks", looks.len());
    assert!(
        runs_before(looks[0]) < record.batches.len() / 4,
        "the first after {} runs",
        runs_before(looks[0])
    );
}

#[test]
fn a_command_alone_runs_for_three_seconds_and_ten_times_at_least() {
    for (seconds, min, expected) in [(0.05, 10, 60), (0.5, 10, 10), (0.5, 2, 6), (4.0, 2, 2)] {
        let plan = Plan { rounds: rounds_of(min, u32::MAX, 60.0), ..plan_of(1) };
        let (Finished { record, .. }, _) = measured(&computing(&plan, &[seconds]), &plan);
        assert_eq!(rounds(&record), [(1, expected)], "{seconds} s, {min} runs at least");
    }
}

#[test]
fn the_seed_decides_the_order() {
    let order = |seed: u64| -> Vec<Arm> {
        let plan = Plan { seed, rounds: rounds_of(8, 8, 60.0), ..plan_of(3) };
        let (Finished { record, .. }, _) = measured(&computing(&plan, &[0.002; 3]), &plan);
        record.batches.iter().map(|batch| batch.arm).collect()
    };
    let first = order(7);
    assert_eq!(first, order(7));
    assert_ne!(first, order(8));
    for arm in [Arm::HiddenCopy, Arm::Alternative(0), Arm::Alternative(1), Arm::Alternative(2)] {
        assert_eq!(first.iter().filter(|it| **it == arm).count(), 8, "{first:?}");
    }
    // All runs of a block are in one order, not those of a round.
    assert!(
        first.chunks(4).any(|four| four.iter().any(|arm| four.iter().filter(|it| *it == arm).count() > 1))
    );
}

#[test]
fn loads_are_added_where_the_verdict_changes() {
    let plan = Plan { loads: Loads::Auto, rounds: rounds_of(1, u32::MAX, 1e5), ..plan_of(2) };
    // The second needs more CPU time and less time alone. They meet at 2 * 0.3 / 0.2 = 3 copies.
    let behaviours = vec![Behaviour::taking(0.3, 0.1), Behaviour::taking(0.2, 0.2)];
    let (Finished { record, .. }, _) = measured(&Simulated::new(&plan, two_cpus(), behaviours), &plan);
    let analysed: Vec<(u32, Verdict)> =
        record.analysis.levels.iter().map(|it| it.load).zip(verdicts(&record)).collect();
    let ladder = ladder(2.0);
    let added: Vec<u32> =
        rounds(&record).iter().map(|it| it.0).filter(|load| !ladder.contains(load)).collect();
    assert!(!added.is_empty() && added.len() <= MAX_BISECTIONS, "{added:?}");
    for (load, verdict) in analysed {
        let expected = if load < 3 { Verdict::Faster } else { Verdict::Slower };
        assert!(load == 3 || verdict == expected, "load {load}: {verdict:?}");
    }
}

#[test]
fn a_load_that_does_not_fit_is_left_out_with_the_reason_and_the_others_run() {
    let loads = Loads::Fixed(vec![1, 2, 1000]);
    let plan = Plan { loads, rounds: rounds_of(1, 4, 60.0), ..plan_of(2) };
    let large = |seconds| Behaviour { memory_bytes: 1 << 30, ..Behaviour::taking(seconds, seconds) };
    let machine = Simulated::new(&plan, two_cpus(), vec![large(0.2), large(0.3)]);
    let (Finished { record, failure }, events) = measured(&machine, &plan);
    assert!(failure.is_none() && record.status == Status::Complete);
    assert_eq!(rounds(&record), [(1, 4), (2, 4)]);
    let [only] = &record.skipped[..] else { panic!("{:?}", record.skipped) };
    assert_eq!(only.quantity, Some(Quantity::Level { load: 1000 }));
    assert!(matches!(only.reason, Some(Obstacle::DoesNotFit(_))), "{only:?}");
    assert!(events.iter().any(|it| matches!(it, Event::LevelSkipped { load: 1000, .. })));
}

#[test]
fn what_time_leaves_out_is_recorded() {
    let hard = |max_time_s| Rounds { max_time_hard: true, ..rounds_of(1, u32::MAX, max_time_s) };
    let of = |plan: &Plan, seconds: f64| {
        let (Finished { record, failure }, events) =
            measured(&computing(plan, &[seconds, 1.5 * seconds]), plan);
        assert!(failure.is_none() && record.status == Status::Complete, "{failure:?}");
        let told = events.iter().any(|it| matches!(it, Event::TooLittleTime { .. }));
        (record, told)
    };
    let loads = |it: &[u32]| Loads::Fixed(it.to_vec());
    // The trials take half of the first of ten seconds. Warm-up runs get half of the rest, and the last of them may end later.
    let (record, _) = of(&Plan { rounds: hard(10.0), warmup: 100, ..plan_of(2) }, 0.2);
    let cut = NotMeasured::new(Quantity::WarmUp, Obstacle::WarmUpCut { done: 10, wanted: 100 });
    assert_eq!(record.skipped, [cut]);
    // Too little time for a verdict is told at once. The level above, the account and the duets are left out.
    let (record, told) = of(&Plan { rounds: hard(2.0), loads: loads(&[1, 100]), ..plan_of(2) }, 0.2);
    assert!(told && record.duets.is_empty() && record.sched_accounts.is_empty());
    assert_eq!(rounds(&record), [(1, 2)]);
    let whys: Vec<Obstacle> = record.skipped.iter().map(NotMeasured::because).collect();
    let [Obstacle::NoTimeForTrace, Obstacle::NoTimeForDuets { .. }, Obstacle::NoTime(_)] = whys[..] else {
        panic!("{whys:?}")
    };
    // With enough of it nothing is left out.
    let (record, told) = of(&Plan { rounds: hard(30.0), loads: loads(&[1, 2]), ..plan_of(2) }, 0.2);
    assert!(!told && record.skipped.is_empty(), "{:?}", record.skipped);
    assert_eq!((record.duets.len(), record.sched_accounts.len()), (6, 4));
}

#[test]
fn commands_that_slow_down_behind_their_trials_are_cut_within_a_block() {
    for (max_time_s, whole) in [(5.0, 2), (60.0, 4)] {
        let limit = Rounds { max_time_hard: true, ..rounds_of(1, u32::MAX, max_time_s) };
        let plan = Plan { rounds: limit, ..plan_of(2) };
        // The trials end within half a second. Then a round takes 2.8 seconds and a block of four 11.
        let pace = Box::new(|_, now_s| if now_s > 0.49 { 4.0 } else { 1.0 });
        let (Finished { record, .. }, _) = measured(&paced(computing(&plan, &[0.2, 0.3]), pace), &plan);
        assert_eq!(rounds(&record), [(1, whole)]);
        assert!(record.took_s <= max_time_s * LATE, "{} s", record.took_s);
    }
}

#[test]
fn duets_that_take_longer_than_foreseen_are_cut_and_never_pass_for_enough() {
    let rounds = Rounds { max_time_hard: true, ..rounds_of(1, 4, 40.0) };
    let plan = Plan { loads: Loads::Fixed(vec![1, 2]), rounds, ..plan_of(2) };
    // The trials and the rounds of one copy end within 4.9 seconds. Behind them the machine is slower.
    for (slower, duets) in [(1.0, 6), (4.0, 4)] {
        let pace = Box::new(move |_, now_s| if now_s > 4.9 { slower } else { 1.0 });
        let machine = paced(computing(&plan, &[0.2, 0.3]), pace);
        let (Finished { record, .. }, _) = measured(&machine, &plan);
        assert_eq!(record.duets.len(), duets);
        let told = |it: &NotMeasured| matches!(it.because(), Obstacle::NoTimeForDuets { .. });
        assert_eq!(record.skipped.iter().any(told), duets < fewest_duets(&plan) as usize);
        assert!(record.took_s <= 40.0, "{} s", record.took_s);
    }
}

#[test]
fn a_copy_beyond_the_time_out_is_cut_and_its_time_is_a_lower_bound() {
    let plan = Plan { timeout_s: Some(0.25), ..plan_of(2) };
    let (Finished { record, failure }, _) = measured(&computing(&plan, &[0.2, 9.0]), &plan);
    assert!(failure.is_none() && record.status == Status::Complete, "{failure:?}");
    assert!(record.took_s < 10.0, "{} s", record.took_s);
    let cut = |batch: &Batch| batch.timed_out() && batch.makespan_s == 0.25;
    let of_second = |batch: &&Batch| batch.arm == Arm::Alternative(1);
    assert!(record.batches.iter().filter(of_second).all(cut));
    assert!(record.batches.iter().filter(|it| !of_second(it)).all(|it| !it.timed_out()));
    assert_eq!((verdicts(&record), record.trials[1].stdout_sha256.is_none()), (vec![Verdict::Slower], true));
}

#[test]
fn each_alternative_of_another_state_has_its_setups_and_warm_ups_around_its_runs() {
    let plan = Plan { rounds_per_setup: Some(2), warmup: 1, rounds: rounds_of(1, 4, 60.0), ..plan_of(2) };
    let plan = with_hooks(plan);
    let machine = computing(&plan, &[0.2, 0.3]);
    assert!(measured(&machine, &plan).0.failure.is_none());
    let mut state = None;
    for one in machine.done() {
        match one {
            Rehearsed::Hook { name: "setup", alternative, .. } => {
                assert_eq!(state.replace((alternative, 0)), None, "the state before is taken away");
            }
            Rehearsed::Hook { name: "cleanup", alternative, .. } => {
                assert_eq!(state.take().map(|it| it.0), Some(alternative));
            }
            Rehearsed::Run { arm, run, .. } => {
                let index = if let Arm::Alternative(index) = arm { index } else { plan.baseline };
                let (present, warm) = state.as_mut().expect("a setup comes before each run");
                assert_eq!(*present, index, "{run:?}");
                *warm += u32::from(run.kind == RunKind::WarmUp);
                assert!(run.kind != RunKind::Timed || *warm == 1, "{run:?} after {warm} warm-up runs");
            }
            Rehearsed::Hook { .. } => {}
        }
    }
    assert_eq!(state, None);
}
