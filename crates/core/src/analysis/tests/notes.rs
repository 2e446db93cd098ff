//! Every warning and every gap: that it comes when it should, and not otherwise.

use super::fixture::{BASE, Fixture, HIDDEN, OTHER, comparison, jitter, missing, warned};
use crate::missing::{NotMeasured, Obstacle, Quantity};
use crate::plan::{Mode, Rounds};
use crate::sample::{Batch, Io, SchedAccount};
use crate::verdict::Verdict;
use crate::warning::{Caution, Place};

/// Two alternatives, 30% apart, with little noise and every account taken: nothing to complain of.
fn clean() -> Fixture {
    let mut fixture = Fixture::two(&[1, 10], 20, |load, arm, round| {
        let (time, work) = if arm == OTHER { (1.3, 1.3) } else { (1.0, 1.0) };
        let load = f64::from(load);
        (f64::max(time, load * work / 2.0) * (1.0 + 0.004 * jitter(arm, round)), work)
    });
    for load in [1, 10] {
        for alternative in [0, 1] {
            fixture.accounts.push(SchedAccount { load, alternative, tasks: 1, run_s: 1.0, delay_s: 0.1 });
        }
    }
    fixture
}

/// The warning comes with the change and only with it.
fn warns(is: impl Fn(&Caution) -> bool, change: impl FnOnce(&mut Fixture)) {
    let mut fixture = clean();
    assert!(!warned(&fixture.analyse(), &is), "without cause");
    change(&mut fixture);
    let analysis = fixture.analyse();
    assert!(warned(&analysis, is), "not in {:#?}", analysis.warnings);
}

#[test]
fn a_clean_measurement_has_nothing_to_say() {
    let analysis = clean().analyse();
    assert_eq!(analysis.warnings, []);
    assert_eq!(analysis.not_measured, []);
}

/// Ticks of 10 ms say nothing of batches that together take a few ms, and add up to no more than all of the machine.
#[test]
fn what_others_took_is_no_more_than_the_machine() {
    let share = |makespan_s: f64| {
        let mut fixture = Fixture::two(&[1], 3, |_, _, _| (makespan_s, makespan_s));
        fixture.each(BASE, |batch| batch.machine_busy_s = Some(batch.makespan_s + 100.0));
        let of = |it: Caution| match it {
            Caution::OthersDuringBatches { share } => Some(share),
            _ => None,
        };
        fixture.analyse().warnings.into_iter().filter_map(|it| it.caution).find_map(of)
    };
    // One of the two CPUs is the command's own.
    assert_eq!((share(0.001), share(1.0)), (None, Some(0.5)));
}

#[test]
fn noise() {
    warns(
        |it| matches!(it, Caution::HiddenCopyDiffers { at: Some(_) }),
        |f| f.each(HIDDEN, |batch| batch.makespan_s *= 1.1),
    );
    warns(
        |it| matches!(it, Caution::Outlived { processes: 2, ended: 0, .. }),
        |f| f.batches[0].orphans.reaped = 2,
    );
    warns(
        |it| matches!(it, Caution::StealDuringBatches { .. }),
        |f| f.each(BASE, |batch| batch.steal_s = Some(0.2 * batch.makespan_s)),
    );
    warns(
        |it| matches!(it, Caution::OthersDuringBatches { .. }),
        |f| f.each(BASE, |batch| batch.machine_busy_s = Some(batch.work_s() + batch.makespan_s)),
    );
    warns(
        |it| matches!(it, Caution::TimedOut { copies: 1, .. }),
        |f| f.batches[0].copies.timed_out[0] = true,
    );
    warns(
        |it| matches!(it, Caution::TimedOut { hidden: true, copies: 40, .. }),
        |f| f.each(HIDDEN, |batch| batch.copies.timed_out[0] = true),
    );
    warns(|it| matches!(it, Caution::Failed { copies: 1, .. }), |f| f.batches[0].copies.status[0] = 3);
}

fn slower(batch: &mut Batch, factor: f64) {
    batch.makespan_s *= factor;
    batch.copies.wall_s.iter_mut().for_each(|wall| *wall *= factor);
}

#[test]
fn runs_that_are_not_alike_are_named() {
    let groups = |it: &Caution| matches!(it, Caution::RunsInGroups { slow: 7, of: 20, .. });
    warns(groups, |f| f.each(BASE, |batch| slower(batch, if batch.round % 3 == 0 { 20.0 } else { 1.0 })));
    // Two speeds of one machine, a single outlier, and a few milliseconds are no groups.
    for (factor, every, seconds) in [(1.9, 3, 1.0), (20.0, 100, 1.0), (20.0, 3, 0.0001)] {
        let mut fixture = clean();
        fixture
            .each(BASE, |batch| slower(batch, seconds * if batch.round % every == 0 { factor } else { 1.0 }));
        let found = fixture.analyse();
        assert!(
            !warned(&found, |it| matches!(it, Caution::RunsInGroups { .. })),
            "{factor}: {:?}",
            found.warnings
        );
    }
    let first =
        |it: &Caution| matches!(it, Caution::FirstRunSlower { alternative, .. } if alternative == "base");
    warns(first, |f| {
        f.batches.iter_mut().filter(|it| it.arm == BASE && it.round == 0).for_each(|it| slower(it, 4.0))
    });
    let mut warm = clean();
    warm.plan.warmup = 1;
    warm.each(BASE, |batch| slower(batch, if batch.round == 0 { 4.0 } else { 1.0 }));
    assert!(!warned(&warm.analyse(), first));
}

#[test]
fn hooks_that_alone_differ_are_named() {
    let differ = |it: &Caution| matches!(it, Caution::HooksDiffer { .. });
    let prepare = |f: &mut Fixture| f.plan.alternatives[1].prepare = Some("sleep 0.3".to_owned());
    let mut other_commands = clean();
    prepare(&mut other_commands);
    assert!(!warned(&other_commands.analyse(), differ));
    warns(differ, |f| {
        prepare(f);
        f.plan.alternatives[1].command = f.plan.alternatives[0].command.clone();
    });
}

/// An alternative that was decided early ran on the machine of the first rounds.
#[test]
fn times_of_other_rounds_are_brought_to_the_same_and_named() {
    let mut fixture = clean();
    let rounds = fixture.batches.iter().map(|batch| batch.round).max().unwrap() + 1;
    let early = rounds / 3;
    fixture.batches.retain(|batch| batch.arm != OTHER || batch.round < early);
    let span = |fixture: &Fixture| fixture.analyse().alternatives[1].span_s.unwrap();
    let before = span(&fixture);
    assert!(!warned(&fixture.analyse(), |it| matches!(it, Caution::OtherRounds { .. })));
    // The machine is half as fast while both run.
    for batch in fixture.batches.iter_mut().filter(|batch| batch.round < early) {
        batch.makespan_s *= 2.0;
        batch.copies.wall_s.iter_mut().for_each(|wall| *wall *= 2.0);
    }
    assert!((span(&fixture) / before - 1.0).abs() < 0.05, "{} {before}", span(&fixture));
    let named = |it: &Caution| matches!(it, Caution::OtherRounds { rounds, change, .. } if *rounds == early && (change - 0.5).abs() < 0.03);
    assert!(warned(&fixture.analyse(), named));
}

#[test]
fn a_parameter_that_changes_nothing_is_named() {
    let unused = |it: &Caution| matches!(it, Caution::ParameterUnused { parameter } if parameter == "n");
    let values = |f: &mut Fixture| {
        for (alternative, value) in f.plan.alternatives.iter_mut().zip(["1", "2"]) {
            alternative.parameters.insert("n".to_owned(), value.to_owned());
        }
    };
    let same = |f: &mut Fixture| {
        let command = f.plan.alternatives[0].command.clone();
        f.plan.alternatives[1].command = command;
    };
    warns(unused, |f| {
        values(f);
        same(f);
    });
    let silent = |change: &dyn Fn(&mut Fixture)| {
        let mut fixture = clean();
        values(&mut fixture);
        change(&mut fixture);
        assert!(!warned(&fixture.analyse(), unused));
    };
    silent(&|_| {});
    // It stands in a hook, or makes a variable.
    silent(&|f| {
        same(f);
        f.plan.alternatives[1].prepare = Some("set 2".to_owned());
    });
    silent(&|f| {
        same(f);
        f.plan.alternatives[1].env.insert("N".to_owned(), "2".to_owned());
    });
}

#[test]
fn a_winner_that_reads_far_less_may_leave_out_work() {
    let reads = |f: &mut Fixture, arm, read_bytes| {
        f.each(arm, |batch| {
            batch.io = Some(Io { read_bytes: read_bytes * u64::from(batch.load), ..Io::default() })
        });
    };
    let far_less =
        |it: &Caution| matches!(it, Caution::ReadsFarLess { unread: true, winner, .. } if winner == "base");
    warns(far_less, |f| {
        reads(f, BASE, 100_000);
        reads(f, OTHER, 10 << 20);
    });
    let silent = |change: &dyn Fn(&mut Fixture)| {
        let mut fixture = clean();
        reads(&mut fixture, BASE, 100_000);
        reads(&mut fixture, OTHER, 10 << 20);
        change(&mut fixture);
        assert!(!warned(&fixture.analyse(), |it| matches!(it, Caution::ReadsFarLess { .. })));
    };
    // It may have mapped all of it.
    silent(&|f| f.each(BASE, |batch| batch.copies.max_rss_bytes.fill(11 << 20)));
    // It starts a program for every file: many small reads more.
    silent(&|f| f.each(OTHER, |batch| batch.io.as_mut().unwrap().reads = 10 << 10));
    // Twelve stages of a pipeline hand it on.
    silent(&|f| f.plan.alternatives[1].command = "cat x | ".repeat(11) + "wc");
    // It reads all that it names, and the loser reads that more than once.
    silent(&|f| f.plan.alternatives[0].named_bytes = Some(100_000));
    // The loser reads less, and nothing is known of one of them.
    silent(&|f| reads(f, BASE, 100 << 20));
    silent(&|f| f.each(BASE, |batch| batch.io = None));
}

#[test]
fn facts_that_moved() {
    warns(
        |it| matches!(it, Caution::SettingChanged { .. }),
        |f| {
            f.host.before.governor = Some("performance".to_owned());
            f.host.after.governor = Some("powersave".to_owned());
        },
    );
    warns(
        |it| matches!(it, Caution::ClockMoved { .. }),
        |f| {
            f.host.before.clock_khz = Some(vec![3_000_000, 3_000_000]);
            f.host.after.clock_khz = Some(vec![2_000_000, 2_000_000]);
        },
    );
    warns(
        |it| matches!(it, Caution::Throttled { times: 6, .. }),
        |f| {
            f.host.before.cgroup_throttled = Some(3);
            f.host.after.cgroup_throttled = Some(9);
        },
    );
    // What could be read only once is not a change.
    let mut fixture = clean();
    fixture.host.after.governor = Some("powersave".to_owned());
    assert_eq!(fixture.analyse().warnings, []);
}

#[test]
fn span_under_load() {
    warns(
        |it| matches!(it, Caution::SpanUnderLoad { load: 10 }),
        |f| f.batches.retain(|batch| batch.load == 10),
    );
}

#[test]
fn single_rounds() {
    let at = Place::Loads(vec![10]);
    warns(
        |it| *it == Caution::SingleRound { at: at.clone() },
        |f| f.batches.retain(|batch| batch.load == 1 || batch.round == 0),
    );
}

#[test]
fn tails() {
    let opposed = |it: &Caution| matches!(it, Caution::TailsOppose { .. });
    // Usually 10% faster, but now and then ten times as slow.
    let mut fixture = Fixture::two(&[1], 60, |_, arm, round| {
        let slow = if arm == OTHER && round % 5 == 0 { 10.0 } else { 1.0 };
        (if arm == OTHER { 0.9 * slow } else { 1.0 }, 0.5)
    });
    let analysis = fixture.analyse();
    assert_eq!(comparison(&analysis, 1).verdict, Verdict::Faster);
    assert!(comparison(&analysis, 1).ratio_of_totals.unwrap().low.unwrap() > 1.0);
    assert!(warned(&analysis, opposed));
    fixture.each(OTHER, |batch| batch.makespan_s = 0.9);
    assert!(!warned(&fixture.analyse(), opposed));
}

/// On a full machine the other ends in half the time with no less work.
fn grabs(alternative_is_faster: bool) -> Fixture {
    Fixture::two(&[1, 16], 20, |load, arm, round| {
        let noise = 1.0 + 0.004 * jitter(arm, round);
        let slow = (arm == OTHER) != alternative_is_faster;
        let time = if load == 1 { 0.2 } else { 2.0 };
        (time * if slow && load > 1 { 2.0 } else { 1.0 } * noise, 0.2)
    })
}

#[test]
fn more_share_is_not_less_work() {
    let analysis = grabs(true).analyse();
    assert_eq!(comparison(&analysis, 16).verdict, Verdict::Faster);
    let won = |by: &'static str| {
        move |it: &Caution| match it {
            Caution::MoreShareNotLessWork { winner, at, time, work, .. } => {
                let half = (time - 0.5).abs() < 0.01 && (work - 1.0).abs() < 0.01;
                winner == by && *at == Place::Loads(vec![16]) && half
            }
            _ => false,
        }
    };
    assert!(warned(&analysis, won("other")), "{:?}", analysis.warnings);
    let mirrored = grabs(false).analyse();
    assert!(warned(&mirrored, won("base")), "{:?}", mirrored.warnings);
    // Half the work in half the time is a saving.
    let mut saving = grabs(true);
    for arm in [BASE, HIDDEN] {
        saving.each(arm, |batch| batch.copies.user_s.iter_mut().for_each(|user| *user += 0.2));
    }
    assert!(!warned(&saving.analyse(), |it| matches!(it, Caution::MoreShareNotLessWork { .. })));
}

#[test]
fn below_the_floor() {
    // With a fixed number of rounds, the baseline's own runs are the floor: here every second one is much slower.
    let mut fixture = Fixture::two(&[1], 20, |_, arm, round| {
        let noise = if round % 2 == 1 { 0.3 + 0.3 * jitter(BASE, round) } else { 0.0 };
        (if arm == OTHER { 1.05 * (1.0 + noise) } else { 1.0 + noise }, 0.9)
    });
    fixture.batches.retain(|batch| batch.arm != HIDDEN);
    fixture.plan.rounds = Rounds { fixed: true, min: 20, max: 20, ..fixture.plan.rounds };
    let analysis = fixture.analyse();
    assert_eq!(comparison(&analysis, 1).verdict, Verdict::Undecided);
    assert!(warned(&analysis, |it| matches!(it, Caution::BelowFloor { .. })));
}

#[test]
fn tiny_effects() {
    let layout = |it: &Caution| matches!(it, Caution::MaybeLayout { .. });
    let mut fixture = Fixture::two(&[1], 20, |_, arm, _| (if arm == OTHER { 1.005 } else { 1.0 }, 0.9));
    fixture.plan.delta = 0.001;
    let analysis = fixture.analyse();
    assert_eq!(comparison(&analysis, 1).verdict, Verdict::Slower);
    assert!(warned(&analysis, layout));
    fixture.plan.delta = 0.02;
    assert!(!warned(&fixture.analyse(), layout));
}

#[test]
fn a_winner_that_changes_twice() {
    let fixture = Fixture::two(&[1, 2, 3], 20, |load, arm, _| {
        (if arm == OTHER { [0.5, 2.0, 0.5][load as usize - 1] } else { 1.0 }, 0.5)
    });
    let analysis = fixture.analyse();
    assert!(warned(&analysis, |it| matches!(it, Caution::FlipsBack { flips: 2, .. })));
    let crossover = &analysis.crossovers[0];
    assert_eq!((crossover.measured_from, crossover.measured_to), (Some(1), Some(2)));
}

#[test]
fn littles_law() {
    let closed = |busy: f64| {
        let mut fixture = Fixture::two(&[2], 8, |_, _, _| (10.0, 0.4));
        fixture.plan.mode = Mode::Closed { duration_s: 10.0 };
        for batch in &mut fixture.batches {
            batch.copies = super::fixture::batch(20, batch.arm, 0, busy, 0.4).copies;
        }
        fixture.analyse()
    };
    // 20 copies of 1 s by 2 workers in 10 s fill them; of 0.8 s do not.
    let off = |it: &Caution| matches!(it, Caution::LittlesLaw { .. });
    assert!(!warned(&closed(1.0), off));
    assert!(warned(&closed(0.8), off));
}

#[test]
fn gaps() {
    let without = |change: fn(&mut Fixture)| {
        let mut fixture = clean();
        change(&mut fixture);
        fixture.analyse()
    };
    let lacks = |change: fn(&mut Fixture), is: fn(&Quantity) -> bool| {
        let analysis = without(change);
        assert!(missing(&analysis, is), "{:#?}", analysis.not_measured);
    };
    lacks(|f| f.accounts.clear(), |it| matches!(it, Quantity::RunQueueDelay { .. }));
    lacks(|f| f.batches.retain(|b| b.load == 1), |it| matches!(it, Quantity::Level { load: 10 }));
    lacks(|f| f.batches.retain(|b| b.arm != HIDDEN), |it| matches!(it, Quantity::Floor));
    lacks(
        |f| f.batches.retain(|b| b.arm != OTHER),
        |it| matches!(it, Quantity::SpanAndWork { alternative } if alternative == "other"),
    );
    lacks(|f| f.batches.retain(|b| b.round < 2), |it| matches!(it, Quantity::Interval { .. }));
    lacks(|f| f.batches[0].makespan_s = 0.0, |it| matches!(it, Quantity::Batches { count: 1 }));
    lacks(|f| drop(f.batches.swap_remove(0)), |it| matches!(it, Quantity::Rounds { count: 1 }));
    lacks(
        |f| f.batches.iter_mut().for_each(|b| b.machine_busy_s = None),
        |it| matches!(it, Quantity::OtherPrograms),
    );
    let no_cpu = without(|f| {
        f.batches[1].copies.user_s.fill(0.0);
        f.batches[1].copies.system_s.fill(0.0);
    });
    assert!(missing(&no_cpu, |it| matches!(it, Quantity::WorkAndShare { .. })));
    assert_eq!(comparison(&no_cpu, 1).work, None);
    lacks(
        |f| {
            f.host.before.cpus_allowed = None;
            f.host.before.cpus_online = None;
        },
        |it| matches!(it, Quantity::Cpus),
    );
}

#[test]
fn what_the_runner_said_is_passed_on_and_not_repeated() {
    let mut fixture = clean();
    fixture.accounts.clear();
    let delay = Quantity::RunQueueDelay { at: Place::Loads(vec![1]) };
    let said = NotMeasured::new(delay, Obstacle::from("ptrace is not allowed".to_owned()));
    fixture.not_measured.push(said.clone());
    assert_eq!(fixture.analyse().not_measured, [said]);
}
