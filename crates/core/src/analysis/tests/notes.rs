//! Every warning and every gap: that it comes when it should, and not otherwise.

use super::fixture::{BASE, Fixture, HIDDEN, OTHER, comparison, jitter, missing, warned};
use crate::analysis::RUN_QUEUE_DELAY;
use crate::host::NotMeasured;
use crate::plan::Mode;
use crate::sample::SchedAccount;
use crate::verdict::Verdict;

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
fn warns(words: &str, change: impl FnOnce(&mut Fixture)) {
    let mut fixture = clean();
    assert!(!warned(&fixture.analyse(), words), "without cause: {words}");
    change(&mut fixture);
    let analysis = fixture.analyse();
    assert!(warned(&analysis, words), "{words} not in {:#?}", analysis.warnings);
}

#[test]
fn a_clean_measurement_has_nothing_to_say() {
    let analysis = clean().analyse();
    assert_eq!(analysis.warnings, []);
    assert_eq!(analysis.not_measured, []);
}

#[test]
fn noise() {
    warns("its own hidden copy", |f| f.each(HIDDEN, |batch| batch.makespan_s *= 1.1));
    warns("outlived the copy", |f| f.batches[0].orphans.reaped = 2);
    warns("hypervisor", |f| f.each(BASE, |batch| batch.steal_s = Some(0.2 * batch.makespan_s)));
    warns("other programs", |f| {
        f.each(BASE, |batch| batch.machine_busy_s = Some(batch.work_s() + batch.makespan_s))
    });
    warns("time-out ended", |f| f.batches[0].copies.timed_out[0] = true);
    warns("status other than 0", |f| f.batches[0].copies.status[0] = 3);
}

#[test]
fn facts_that_moved() {
    warns("governor changed", |f| {
        f.host.before.governor = Some("performance".to_owned());
        f.host.after.governor = Some("powersave".to_owned());
    });
    warns("CPU clock", |f| {
        f.host.before.clock_khz = Some(vec![3_000_000, 3_000_000]);
        f.host.after.clock_khz = Some(vec![2_000_000, 2_000_000]);
    });
    warns("throttled 6 times", |f| {
        f.host.before.cgroup_throttled = Some(3);
        f.host.after.cgroup_throttled = Some(9);
    });
    // What could be read only once is not a change.
    let mut fixture = clean();
    fixture.host.after.governor = Some("powersave".to_owned());
    assert_eq!(fixture.analyse().warnings, []);
}

#[test]
fn span_under_load() {
    warns("the span was taken at load 10", |f| f.batches.retain(|batch| batch.load == 10));
}

#[test]
fn single_rounds() {
    warns("only one round ran at load 10", |f| f.batches.retain(|batch| batch.load == 1 || batch.round == 0));
}

#[test]
fn tails() {
    // Usually 10% faster, but now and then ten times as slow.
    let mut fixture = Fixture::two(&[1], 60, |_, arm, round| {
        let slow = if arm == OTHER && round % 5 == 0 { 10.0 } else { 1.0 };
        (if arm == OTHER { 0.9 * slow } else { 1.0 }, 0.5)
    });
    let analysis = fixture.analyse();
    assert_eq!(comparison(&analysis, 1).verdict, Verdict::Faster);
    assert!(comparison(&analysis, 1).ratio_of_totals.unwrap().low.unwrap() > 1.0);
    assert!(warned(&analysis, "opposite things"));
    fixture.each(OTHER, |batch| batch.makespan_s = 0.9);
    assert!(!warned(&fixture.analyse(), "opposite things"));
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
    assert!(
        warned(&analysis, "'other' took 0.50x the time of 'base' at load 16 with 1.00x the work"),
        "{:?}",
        analysis.warnings
    );
    let mirrored = grabs(false).analyse();
    assert!(warned(&mirrored, "'base' took 0.50x the time of 'other'"), "{:?}", mirrored.warnings);
    // Half the work in half the time is a saving.
    let mut saving = grabs(true);
    for arm in [BASE, HIDDEN] {
        saving.each(arm, |batch| batch.copies.user_s.iter_mut().for_each(|user| *user += 0.2));
    }
    assert!(!warned(&saving.analyse(), "share of the machine"));
}

#[test]
fn below_the_floor() {
    let fixture = Fixture::two(&[1], 20, |_, arm, round| {
        let noise = if arm == HIDDEN { 0.3 * jitter(HIDDEN, round) } else { 0.0 };
        (if arm == OTHER { 1.05 } else { 1.0 } + noise, 0.9)
    });
    let analysis = fixture.analyse();
    assert_eq!(comparison(&analysis, 1).verdict, Verdict::Undecided);
    assert!(warned(&analysis, "not above the floor"));
}

#[test]
fn tiny_effects() {
    let mut fixture = Fixture::two(&[1], 20, |_, arm, _| (if arm == OTHER { 1.005 } else { 1.0 }, 0.9));
    fixture.plan.delta = 0.001;
    let analysis = fixture.analyse();
    assert_eq!(comparison(&analysis, 1).verdict, Verdict::Slower);
    assert!(warned(&analysis, "may be layout"));
    fixture.plan.delta = 0.02;
    assert!(!warned(&fixture.analyse(), "may be layout"));
}

#[test]
fn a_winner_that_changes_twice() {
    let fixture = Fixture::two(&[1, 2, 3], 20, |load, arm, _| {
        (if arm == OTHER { [0.5, 2.0, 0.5][load as usize - 1] } else { 1.0 }, 0.5)
    });
    let analysis = fixture.analyse();
    assert!(warned(&analysis, "changes 2 times"));
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
    assert!(!warned(&closed(1.0), "number of workers"));
    assert!(warned(&closed(0.8), "number of workers"));
}

#[test]
fn gaps() {
    let without = |change: fn(&mut Fixture)| {
        let mut fixture = clean();
        change(&mut fixture);
        fixture.analyse()
    };
    assert!(missing(&without(|f| f.accounts.clear()), RUN_QUEUE_DELAY));
    assert!(missing(&without(|f| f.batches.retain(|b| b.load == 1)), "load 10"));
    assert!(missing(&without(|f| f.batches.retain(|b| b.arm != HIDDEN)), "floor"));
    assert!(missing(&without(|f| f.batches.retain(|b| b.arm != OTHER)), "span and work of 'other'"));
    assert!(missing(&without(|f| f.batches.retain(|b| b.round < 5)), "interval of 'other' against 'base'"));
    assert!(missing(&without(|f| f.batches[0].makespan_s = 0.0), "1 batch"));
    assert!(missing(&without(|f| drop(f.batches.pop())), "comparison in 1 round"));
    assert!(missing(
        &without(|f| f.batches.iter_mut().for_each(|b| b.machine_busy_s = None)),
        "other programs"
    ));
    let no_cpu = without(|f| {
        f.batches[1].copies.user_s.fill(0.0);
        f.batches[1].copies.system_s.fill(0.0);
    });
    assert!(missing(&no_cpu, "work and share of 'other'"));
    assert_eq!(comparison(&no_cpu, 1).work, None);
    let no_cpus = without(|f| {
        f.host.before.cpus_allowed = None;
        f.host.before.cpus_online = None;
    });
    assert!(missing(&no_cpus, "CPUs"));
}

#[test]
fn what_the_runner_said_is_passed_on_and_not_repeated() {
    let mut fixture = clean();
    fixture.accounts.clear();
    let said =
        NotMeasured { what: format!("{RUN_QUEUE_DELAY} of all"), why: "ptrace is not allowed".to_owned() };
    fixture.not_measured.push(said.clone());
    assert_eq!(fixture.analyse().not_measured, [said]);
}
