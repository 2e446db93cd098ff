//! The scheduler on a simulated clock, with costs that are known to the test and not to the scheduler.

mod limits;

use proptest::prelude::*;

use super::*;
use crate::bounds::Alone;
use crate::plan::{Alternative, Loads, Rounds};
use crate::sample::{Copies, Orphans};

/// A machine: what one copy of each alternative costs, and how many CPUs there are.
struct Machine {
    /// Span and work of a copy, seconds.
    copies: Vec<(f64, f64)>,
    capacity: f64,
}

impl Machine {
    fn with(copies: &[(f64, f64)]) -> Self {
        Self { copies: copies.to_vec(), capacity: 2.0 }
    }

    fn alone(&self, arm: Arm) -> Alone {
        let (span_s, work_s) = match arm {
            Arm::Alternative(index) => self.copies[index],
            Arm::HiddenCopy => self.copies[0],
        };
        Alone { span_s, work_s }
    }

    fn batch_s(&self, arm: Arm, load: u32) -> f64 {
        self.alone(arm).makespan_bound_s(f64::from(load), self.capacity)
    }

    fn round_s(&self, load: u32) -> f64 {
        let arms = (0..self.copies.len()).map(Arm::Alternative);
        let hidden = (self.copies.len() > 1).then_some(Arm::HiddenCopy);
        arms.chain(hidden).map(|arm| self.batch_s(arm, load)).sum()
    }

    fn run(&self, round: &Round) -> Vec<Batch> {
        let column = |value: f64| vec![value; round.load as usize];
        round
            .order
            .iter()
            .enumerate()
            .map(|(position, &(arm, number))| Batch {
                load: round.load,
                arm,
                round: number,
                position: position as u32,
                released_s: 0.0,
                makespan_s: self.batch_s(arm, round.load),
                copies: Copies {
                    wall_s: column(self.alone(arm).span_s),
                    user_s: column(self.alone(arm).work_s),
                    system_s: column(0.0),
                    status: vec![0; round.load as usize],
                    timed_out: vec![false; round.load as usize],
                    ..Copies::default()
                },
                orphans: Orphans::default(),
                machine_busy_s: None,
                steal_s: None,
                io: None,
            })
            .collect()
    }
}

/// What happened, in order.
#[derive(Debug, Default)]
struct Trace {
    rounds: Vec<Round>,
    ended: Vec<(u32, u32)>,
    skipped: Vec<(u32, NoTime)>,
    took_s: f64,
}

impl Trace {
    fn at(&self, load: u32) -> usize {
        self.rounds.iter().filter(|round| round.load == load).map(|round| round.runs as usize).sum()
    }
}

/// Verdict of a level after so many rounds.
type Verdicts<'a> = &'a dyn Fn(u32, u32) -> Verdict;

const NEVER: Verdicts<'_> = &|_, _| Verdict::Undecided;

fn after(rounds: u32) -> impl Fn(u32, u32) -> Verdict {
    move |_, done| if done >= rounds { Verdict::Faster } else { Verdict::Undecided }
}

fn plan(alternatives: usize, rounds: Rounds) -> Plan {
    let commands = (0..alternatives).map(|index| Alternative::new(format!("command {index}"))).collect();
    Plan { rounds, loads: Loads::Fixed(vec![1]), ..Plan::new(commands, 7) }
}

fn soft(min: u32, max: u32, max_time_s: f64) -> Rounds {
    Rounds { min, max, fixed: false, max_time_s, max_time_hard: false }
}

fn hard(min: u32, max: u32, max_time_s: f64) -> Rounds {
    Rounds { max_time_hard: true, ..soft(min, max, max_time_s) }
}

fn scheduler(plan: &Plan, machine: &Machine, levels: &[(u32, u32)]) -> Scheduler {
    Scheduler::new(plan, levels, &machine.copies, machine.capacity)
}

fn simulate(scheduler: &mut Scheduler, machine: &Machine, verdict: Verdicts<'_>) -> Trace {
    let (mut trace, mut now_s) = (Trace::default(), 0.0);
    loop {
        match scheduler.next(now_s) {
            Step::Round(round) => {
                assert!(round.expected > round.number, "{round:?}");
                assert!(round.left_s >= 0.0 && round.batch_s >= 0.0, "{round:?}");
                let took_s: f64 = round.order.iter().map(|&(arm, _)| machine.batch_s(arm, round.load)).sum();
                now_s += took_s;
                let done = round.number + round.runs;
                let verdicts = vec![verdict(round.load, done); machine.copies.len() - 1];
                scheduler.observe(
                    &round,
                    &machine.run(&round),
                    took_s,
                    Some(Standing { verdicts, needed: None }),
                );
                trace.rounds.push(round);
            }
            Step::EndLevel { load, rounds } => trace.ended.push((load, rounds)),
            Step::Skip { load, why } => trace.skipped.push((load, why)),
            Step::Done => break,
        }
        assert!(trace.rounds.len() < 1_000_000, "it goes on without end");
    }
    assert!(scheduler.finished());
    trace.took_s = now_s;
    trace
}

fn simulated(plan: &Plan, machine: &Machine, levels: &[(u32, u32)], verdict: Verdicts<'_>) -> Trace {
    simulate(&mut scheduler(plan, machine, levels), machine, verdict)
}

const TWO: [(f64, f64); 2] = [(0.1, 0.1), (0.2, 0.15)];

#[test]
fn levels_come_in_rising_order_each_begun_when_the_last_is_over() {
    let trace = simulated(
        &plan(2, soft(3, 100, 60.0)),
        &Machine::with(&TWO),
        &[(1, 3), (10, 3), (100, 3)],
        &after(3),
    );
    let loads: Vec<u32> = trace.rounds.iter().map(|round| round.load).collect();
    assert!(loads.is_sorted(), "{loads:?}");
    assert_eq!(trace.ended.iter().map(|level| level.0).collect::<Vec<_>>(), [1, 10, 100]);
    for load in [1, 10, 100] {
        let of_level: Vec<&Round> = trace.rounds.iter().filter(|round| round.load == load).collect();
        let mut numbers: Vec<u32> =
            of_level.iter().flat_map(|round| round.order.iter().map(|(_, number)| *number)).collect();
        numbers.sort_unstable();
        let rounds = trace.at(load) as u32;
        assert_eq!(numbers, (0..rounds).flat_map(|number| [number; 3]).collect::<Vec<_>>());
    }
    let places: Vec<(usize, usize)> = trace.rounds.iter().map(|round| round.level).collect();
    assert_eq!((places.first(), places.last()), (Some(&(0, 3)), Some(&(2, 3))));
}

#[test]
fn a_level_ends_with_its_verdict_but_not_before_the_least_rounds() {
    let machine = Machine::with(&TWO);
    for (decided_after, expected) in [(2, 10), (10, 10), (17, 17)] {
        let trace =
            simulated(&plan(2, soft(10, u32::MAX, 600.0)), &machine, &[(1, 6)], &after(decided_after));
        assert_eq!(trace.ended, [(1, expected)]);
    }
}

#[test]
fn every_comparison_must_be_decided() {
    let plan = plan(3, soft(2, 50, 1e6));
    let machine = Machine::with(&[(0.1, 0.1); 3]);
    let mut scheduler = scheduler(&plan, &machine, &[(1, 2)]);
    let mut rounds = 0;
    while let Step::Round(round) = scheduler.next(0.0) {
        rounds += round.runs;
        let second = if rounds >= 9 { Verdict::Same } else { Verdict::Undecided };
        let standing = Standing { verdicts: vec![Verdict::Slower, second], needed: None };
        scheduler.observe(&round, &machine.run(&round), 0.4, Some(standing));
    }
    assert_eq!(rounds, 9);
}

#[test]
fn who_is_decided_runs_no_longer() {
    let mut plan = plan(4, soft(2, 50, 60.0));
    plan.baseline = 1;
    // The second is the baseline; of the others the costly last one is decided first.
    let machine = Machine::with(&[(0.1, 0.1), (0.1, 0.1), (0.1, 0.1), (2.0, 2.0)]);
    let mut scheduler = scheduler(&plan, &machine, &[(1, 2)]);
    let (mut rounds, mut now_s, mut ran) = (0, 0.0, BTreeMap::<Arm, u32>::new());
    while let Step::Round(round) = scheduler.next(now_s) {
        rounds += round.runs;
        for (arm, _) in &round.order {
            *ran.entry(*arm).or_default() += 1;
        }
        let batches = machine.run(&round);
        let took_s: f64 = batches.iter().map(|batch| batch.makespan_s).sum();
        let planned_s = round.batch_s * round.order.len() as f64;
        assert!((took_s / planned_s - 1.0).abs() < 0.01, "{took_s} s, planned were {planned_s} s");
        now_s += took_s;
        let after = |least| if rounds >= least { Verdict::Slower } else { Verdict::Undecided };
        let standing = Standing { verdicts: vec![after(9), after(20), after(4)], needed: None };
        scheduler.observe(&round, &batches, took_s, Some(standing));
    }
    let of = |arm| ran[&arm];
    assert_eq!(of(Arm::Alternative(1)), rounds);
    assert!((9..20).contains(&of(Arm::HiddenCopy)), "once a single one is open it runs less often: {ran:?}");
    assert!((4..9).contains(&of(Arm::Alternative(3))), "{ran:?}");
    assert!((9..20).contains(&of(Arm::Alternative(0))), "{ran:?}");
    assert_eq!(of(Arm::Alternative(2)), rounds);
    assert!((20..30).contains(&rounds), "{rounds}");
}

#[test]
fn the_hidden_copy_of_one_comparison_runs_as_often_as_the_floor_needs() {
    let with = |alternatives: usize| {
        let machine = Machine::with(&vec![(0.3, 0.3); alternatives]);
        let trace = simulated(&plan(alternatives, hard(1, u32::MAX, 60.0)), &machine, &[(1, 3)], NEVER);
        let hidden = |round: &&Round| round.order.iter().any(|(arm, _)| *arm == Arm::HiddenCopy);
        let of = |rounds: &[Round]| rounds.iter().filter(hidden).map(|round| round.runs).sum::<u32>();
        (of(&trace.rounds), trace.at(1) as u32, of(&trace.rounds[..1]))
    };
    let (hidden, rounds, first) = with(2);
    assert_eq!(first, 3, "the first block has one in every round");
    assert!(hidden >= 5 && (rounds / 4..=rounds / 4 + 3).contains(&hidden), "{hidden} of {rounds} rounds");
    // What was not spent on it goes to further rounds: three runs each would be 66.
    assert!(rounds > 75, "{rounds} rounds");
    let (hidden, rounds, _) = with(3);
    assert_eq!(hidden, rounds, "several alternatives are all compared with it");
}

#[test]
fn one_alternative_alone_runs_for_three_seconds_at_the_least() {
    let alone = Machine::with(&[(0.05, 0.05)]);
    let trace = simulated(&plan(1, soft(10, u32::MAX, 60.0)), &alone, &[(1, 1)], NEVER);
    assert!(trace.took_s >= 3.0 && trace.took_s < 3.2, "{}", trace.took_s);
    assert!(
        trace.rounds.iter().all(|round| round.order == [(Arm::Alternative(0), round.number)]),
        "no hidden copy is needed"
    );
    // The least rounds go before, and the largest number cuts it short.
    let slow = Machine::with(&[(1.0, 1.0)]);
    assert_eq!(simulated(&plan(1, soft(10, u32::MAX, 60.0)), &slow, &[(1, 1)], NEVER).ended, [(1, 10)]);
    assert_eq!(simulated(&plan(1, soft(2, 5, 60.0)), &alone, &[(1, 1)], NEVER).ended, [(1, 5)]);
}

#[test]
fn a_level_that_is_given_up_is_left_out_and_the_next_one_runs() {
    let (plan, machine) = (plan(2, soft(3, 3, 60.0)), Machine::with(&TWO));
    let mut scheduler = scheduler(&plan, &machine, &[(1, 3), (10, 3), (100, 3)]);
    assert!(matches!(scheduler.next(0.0), Step::Round(Round { load: 1, .. })));
    scheduler.give_up();
    let trace = simulate(&mut scheduler, &machine, &after(1));
    assert_eq!(trace.ended, [(10, 3), (100, 3)]);
    assert_eq!(scheduler.verdicts(0), [(10, Verdict::Faster), (100, Verdict::Faster)]);
}

#[test]
fn an_added_level_is_measured_and_its_verdict_stands_in_its_place() {
    let (plan, machine) = (plan(2, soft(3, 3, 600.0)), Machine::with(&TWO));
    let mut scheduler = scheduler(&plan, &machine, &[(1, 3), (100, 3)]);
    let flips = |load: u32, _: u32| if load < 40 { Verdict::Faster } else { Verdict::Slower };
    simulate(&mut scheduler, &machine, &flips);
    assert_eq!(scheduler.next(0.0), Step::Done);
    scheduler.add_level(10, 3);
    assert!(!scheduler.finished());
    let trace = simulate(&mut scheduler, &machine, &flips);
    assert_eq!(trace.ended, [(10, 3)]);
    scheduler.add_level(32, 3);
    simulate(&mut scheduler, &machine, &flips);
    let expected =
        [(1, Verdict::Faster), (10, Verdict::Faster), (32, Verdict::Faster), (100, Verdict::Slower)];
    assert_eq!(scheduler.verdicts(0), expected);
    assert_eq!(scheduler.verdicts(5), [], "there is no such comparison");
}

#[test]
fn the_same_seed_gives_the_same_orders_and_another_gives_others() {
    let machine = Machine::with(&[(0.1, 0.1); 4]);
    let orders = |seed: u64| {
        let plan = Plan { seed, ..plan(4, soft(30, 30, 600.0)) };
        let trace = simulated(&plan, &machine, &[(1, 3), (2, 3)], NEVER);
        trace.rounds.into_iter().map(|round| round.order).collect::<Vec<_>>()
    };
    assert_eq!(orders(1), orders(1));
    assert_ne!(orders(1), orders(2));
    let all = orders(3);
    assert_ne!(all[..all.len() / 2], all[all.len() / 2..], "each level has orders of its own");
    let runs: Vec<(Arm, u32)> = all.concat();
    for arm in (0..4).map(Arm::Alternative).chain([Arm::HiddenCopy]) {
        let rounds = runs.iter().filter(|(of, _)| *of == arm).map(|(_, round)| *round);
        assert!(rounds.eq((0..30).chain(0..30)), "{arm:?} has one run in each round, and its rounds rise");
        // No arm has a place of its own: each stands first now and then.
        let first = all.iter().filter(|order| order[0].0 == arm).count();
        assert!(first <= all.len() / 2, "{arm:?} stood first {first} times of {}", all.len());
    }
}

#[test]
fn the_runs_of_a_block_stand_in_one_order() {
    // The first block has as many as a verdict needs, and where rounds take half a second one more.
    let slow = Machine::with(&[(0.4, 0.4), (0.5, 0.5)]);
    for (machine, runs) in [(&slow, 3), (&Machine::with(&TWO), 4)] {
        let trace = simulated(&plan(2, soft(1, u32::MAX, 60.0)), machine, &[(1, 3)], &after(3));
        let [only] = &trace.rounds[..] else { panic!("{:?}", trace.rounds) };
        assert_eq!((only.runs, only.order.len()), (runs, 3 * runs as usize));
    }
    // The rounds are not one after another: else each arm would be once in every three.
    let mixed = (0..20).any(|seed| {
        let plan = Plan { seed, ..plan(2, soft(1, u32::MAX, 60.0)) };
        let trace = simulated(&plan, &Machine::with(&TWO), &[(1, 3)], &after(3));
        trace.rounds[0].order.chunks(3).any(|three| three.iter().any(|(_, round)| *round != three[0].1))
    });
    assert!(mixed);
    // Short commands: many in a block, and half a second at least.
    let short = Machine::with(&[(0.001, 0.001), (0.0013, 0.001)]);
    let trace = simulated(&plan(2, soft(1, u32::MAX, 60.0)), &short, &[(1, 3)], &after(3));
    assert!(trace.took_s > 0.5 && trace.rounds.iter().all(|block| block.runs == 12), "{}", trace.took_s);
    // Where each alternative makes its own state, its runs follow one another.
    let plan = Plan { rounds_per_setup: Some(4), ..plan(2, soft(8, 8, 60.0)) };
    let trace = simulated(&plan, &Machine::with(&TWO), &[(1, 3)], &after(3));
    assert!(
        trace
            .rounds
            .iter()
            .all(|block| block.order.chunks(4).all(|four| four.iter().all(|it| it.0 == four[0].0)))
    );
}

#[test]
fn an_order_does_not_depend_on_what_was_measured() {
    let orders = |machine: &Machine| {
        let trace = simulated(&plan(2, soft(5, 5, 600.0)), machine, &[(1, 5), (8, 5)], NEVER);
        trace.rounds.into_iter().map(|round| round.order).collect::<Vec<_>>()
    };
    assert_eq!(orders(&Machine::with(&TWO)), orders(&Machine::with(&[(3.0, 1.0), (0.001, 0.001)])));
}

#[test]
fn planning_without_trials_learns_from_the_first_round() {
    let machine = Machine::with(&[(1.0, 1.0), (1.0, 1.0)]);
    let plan = plan(2, hard(6, u32::MAX, 40.0));
    let mut scheduler = Scheduler::new(&plan, &[(1, 6), (4, 6), (1000, 6)], &[(0.0, 0.0); 2], 2.0);
    let trace = simulate(&mut scheduler, &machine, NEVER);
    assert!(trace.at(1) > 0 && trace.at(4) > 0, "{:?}", trace.ended);
    // A round at 1000 takes 1500 s; that is known by now.
    assert_eq!(trace.skipped.iter().map(|it| it.0).collect::<Vec<_>>(), [1000]);
    assert!(trace.took_s <= 40.0, "{}", trace.took_s);
}

#[test]
fn modes_with_a_duration_are_planned_with_it() {
    let machine = Machine::with(&[(0.1, 0.1), (0.1, 0.1)]);
    for mode in [Mode::Closed { duration_s: 5.0 }, Mode::Open { rate_per_s: 10.0, duration_s: 5.0 }] {
        let plan = Plan { mode, ..plan(2, hard(10, u32::MAX, 10.0)) };
        let mut scheduler = scheduler(&plan, &machine, &[(1, 6), (4, 6)]);
        let Step::Round(round) = scheduler.next(0.0) else { panic!("no first round") };
        assert!(round.batch_s > 5.0 && round.batch_s < 6.0, "{round:?}");
        scheduler.observe(&round, &machine.run(&round), 15.3, Some(Standing::default()));
        assert_eq!(scheduler.next(15.3), Step::EndLevel { load: 1, rounds: 1 });
        assert!(matches!(scheduler.next(15.3), Step::Skip { load: 4, .. }));
        assert_eq!(scheduler.next(15.3), Step::Done);
    }
}

#[test]
fn nothing_to_do_is_done() {
    let mut scheduler = Scheduler::new(&plan(2, soft(1, 1, 1.0)), &[], &TWO, 2.0);
    assert_eq!(scheduler.next(0.0), Step::Done);
    scheduler.give_up();

    assert!(scheduler.finished());
}

proptest! {
    /// Whatever the costs, limits and verdicts: it ends, keeps the numbers of rounds, leaves no level without an answer,
    /// and overruns a hard limit by one block of the lowest level at most (which runs before its cost is known).
    #[test]
    fn limits_hold_on_any_machine(
        costs in prop::collection::vec((1e-4_f64..2.0, 1e-4_f64..2.0), 1..4),
        loads in prop::collection::btree_set(1_u32..200, 1..5),
        min in 1_u32..15, more in 0_u32..30, least in 1_u32..12,
        max_time_s in 0.1_f64..300.0, is_hard: bool, fixed: bool, decided in 1_u32..60, block in 1_u32..4,
    ) {
        let max = min + more;
        let min = if fixed { max } else { min };
        let rounds = Rounds { fixed, max_time_hard: is_hard, ..soft(min, max, max_time_s) };
        let machine = Machine::with(&costs);
        let levels: Vec<(u32, u32)> = loads.iter().map(|&load| (load, least)).collect();
        let plan = Plan { rounds_per_setup: Some(block), ..plan(costs.len(), rounds) };
        let trace = simulated(&plan, &machine, &levels, &after(decided));
        prop_assert_eq!(trace.ended.len() + trace.skipped.len(), levels.len());
        let lowest = levels[0].0;
        for &(load, done) in &trace.ended {
            prop_assert!(done >= 1 && done <= max, "load {}: {} rounds", load, done);
            if !is_hard && (fixed || load == lowest) {
                prop_assert!(done >= min, "load {}: {} rounds of {}", load, done, min);
            }
        }
        if is_hard {
            let over_s = trace.took_s - max_time_s;
            prop_assert!(over_s <= f64::from(block) * machine.round_s(lowest) + 1e-6, "{} s over", over_s);
        } else {
            prop_assert!(trace.skipped.is_empty());
        }
    }
}
