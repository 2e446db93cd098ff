//! Waiting while an allowed CPU stands idle.

use super::fixture::*;
use crate::trace::Throttled;
use crate::trace::event::{FileKind, Left, What};
use crate::trace::report::PathKind;

/// "job" waits on CPU 0 from 100 to 1100 behind 77; CPU 1 is idle from 400 to 900. Allowed: as said.
fn waits_beside_idle(allowed: u64) -> Script {
    let mut script = Script::new();
    script
        .fork(0, 0, 0, 10, allowed)
        .switch(0, 0, 0, 10, Left::Runnable)
        .switch(0, 1, 0, 88, Left::Runnable)
        .exec(0, 0, 10, "job")
        .switch(100, 0, 10, 77, Left::Runnable)
        .switch(400, 1, 88, 0, Left::Sleeping)
        .switch(900, 1, 0, 88, Left::Runnable)
        .switch(1100, 0, 77, 10, Left::Runnable)
        .end(1200, 0, 10, 0, 200);
    script
}

#[test]
fn it_counts_only_where_the_task_may_run() {
    let report = waits_beside_idle(BOTH).report();
    sound(&report);
    assert_eq!(us(report.avoidable_wait_s.unwrap()), 500);
    assert_eq!(us(report.avoidable_longest_s.unwrap()), 500);
    assert_eq!(us(command(&report, "job").avoidable_s.unwrap()), 500);
    assert_eq!(report.avoidable.unwrap().waits, 1);
    let pinned = waits_beside_idle(0b01).report();
    assert_eq!(pinned.avoidable_wait_s, Some(0.0));
    assert_eq!(pinned.avoidable.unwrap().but_for_affinity_s.map(us), Some(500));
    assert_eq!(report.avoidable.unwrap().but_for_affinity_s, Some(0.0));
}

#[test]
fn a_pin_within_the_open_cpus_is_a_choice_that_can_be_undone() {
    // CPU 1 idles from 400 to 900 of the wait; only their own pin keeps the tasks from it.
    let mut script = waits_beside_idle(0b01);
    script.setting.open = vec![BOTH];
    let report = script.report();
    sound(&report);
    let told = report.avoidable.unwrap();
    assert_eq!(report.avoidable_wait_s.map(us), Some(500));
    assert_eq!(report.avoidable_longest_s.map(us), Some(500));
    assert_eq!(command(&report, "job").avoidable_s.map(us), Some(500));
    assert_eq!((told.by_pinning_s.map(us), told.but_for_affinity_s.map(us)), (Some(500), Some(0)));
    let row = report.critical_path.iter().find(|row| row.kind == PathKind::CpuWait).unwrap();
    assert_eq!((us(row.avoidable_s), us(row.by_pinning_s), us(row.but_for_affinity_s)), (500, 500, 0));
    // Of CPUs that were not open to the command nobody could have made use.
    script.setting.open = vec![0b01];
    let told = script.report().avoidable.unwrap();
    assert_eq!((told.by_pinning_s.map(us), told.but_for_affinity_s.map(us)), (Some(0), Some(500)));
    // A CPU that is allowed stands idle as well: no pin is behind it.
    let mut free = waits_beside_idle(BOTH);
    free.setting.open = vec![0b111];
    assert_eq!(free.report().avoidable.unwrap().by_pinning_s, Some(0.0));
    assert_eq!(free.report().avoidable_wait_s.map(us), Some(500));
}

#[test]
fn a_pin_that_began_while_the_quota_was_used_up_is_told_apart() {
    let mut script = waits_beside_idle(0b01);
    script.setting.open = vec![BOTH];
    script.facts.throttled = Some(Throttled { times: 1, ns: 500_000 });
    let report = script.report();
    let told = report.avoidable.unwrap();
    assert_eq!((report.avoidable_wait_s, told.by_pinning_s), (Some(0.0), Some(0.0)));
    assert_eq!((us(told.throttled_s), told.but_for_affinity_s), (500, None));
}

#[test]
fn the_first_part_of_a_wait_does_not_count() {
    // CPU 1 idles all the time.
    let mut script = Script::began(0, 10, "job");
    script
        .switch(0, 1, 0, 0, Left::Runnable)
        .switch(100, 0, 10, 77, Left::Runnable)
        .switch(149, 0, 77, 10, Left::Runnable)
        .switch(200, 0, 10, 77, Left::Runnable)
        .switch(300, 0, 77, 10, Left::Runnable)
        .end(400, 0, 10, 0, 251);
    let report = script.report();
    sound(&report);
    // Of the wait of 49 nothing, of that of 100 what is beyond 50.
    assert_eq!(us(report.avoidable_wait_s.unwrap()), 50);
    assert_eq!(us(report.avoidable.unwrap().threshold_s), 50);
    assert_eq!(report.avoidable.unwrap().waits, 1);
}

#[test]
fn each_moment_counts_once_however_many_cpus_idle() {
    let mut script = waits_beside_idle(0b1111);
    script.events.insert(0, crate::trace::event::Event { at: 0, cpu: 2, what: idle() });
    script.events.insert(0, crate::trace::event::Event { at: 0, cpu: 3, what: idle() });
    let report = script.report();
    // From 150 on, all the 950 of the wait.
    assert_eq!(us(report.avoidable_wait_s.unwrap()), 950);
}

fn idle() -> What {
    What::Switch { prev: 0, next: 0, left: Left::Runnable, block: None }
}

#[test]
fn a_moved_task_and_a_changed_set_count_in_parts() {
    // Waits 100..1100; CPU 1 idle all the time; from 500 on it waits on CPU 2; from 800 on it may not run on CPU 1.
    let mut script = Script::new();
    script
        .fork(0, 0, 0, 10, 0b111)
        .switch(0, 0, 0, 10, Left::Runnable)
        .switch(0, 1, 0, 0, Left::Runnable)
        .switch(0, 2, 0, 88, Left::Runnable)
        .exec(0, 0, 10, "job")
        .switch(100, 0, 10, 77, Left::Runnable)
        .add(500, 2, What::Migrate { task: 10, from: 0, to: 2 })
        .add(800, 2, What::Allowed { task: 10, cpus: vec![0b101] })
        .switch(900, 0, 77, 0, Left::Sleeping)
        .switch(1100, 2, 88, 10, Left::Runnable)
        .end(1200, 2, 10, 0, 200);
    let report = script.report();
    sound(&report);
    // 150..800 beside CPU 1, and 900..1100 beside CPU 0, which has become idle.
    assert_eq!(us(report.avoidable_wait_s.unwrap()), 650 + 200);
}

#[test]
fn hardware_threads_of_a_busy_core_are_told_apart() {
    // CPUs 0 and 1 are one core, 2 and 3 another. CPU 1 idles from the beginning, the other core from 600 on.
    let mut script = Script::new();
    script.setting.cores = vec![0, 0, 1, 1];
    script
        .fork(0, 0, 0, 10, 0b1111)
        .switch(0, 0, 0, 10, Left::Runnable)
        .switch(0, 1, 0, 0, Left::Runnable)
        .switch(0, 2, 0, 88, Left::Runnable)
        .switch(0, 3, 0, 0, Left::Runnable)
        .exec(0, 0, 10, "job")
        .switch(100, 0, 10, 77, Left::Runnable)
        .switch(600, 2, 88, 0, Left::Sleeping)
        .switch(1100, 0, 77, 10, Left::Runnable)
        .end(1200, 0, 10, 0, 200);
    let report = script.report();
    sound(&report);
    assert_eq!(us(report.avoidable_wait_s.unwrap()), 950);
    assert_eq!(report.avoidable.unwrap().sibling_only_s.map(us), Some(450));
}

#[test]
fn throttling_is_not_avoidable() {
    // While "job" waits, nothing of the tree runs anywhere: so it is when the quota is used up.
    let mut script = waits_beside_idle(BOTH);
    script.facts.throttled = Some(Throttled { times: 1, ns: 500_000 });
    let report = script.report();
    assert_eq!(report.avoidable_wait_s, Some(0.0));
    assert_eq!(report.avoidable_longest_s, Some(0.0));
    assert_eq!(us(report.avoidable.unwrap().throttled_s), 500);
    assert_eq!(command(&report, "job").avoidable_s, Some(0.0));
}

#[test]
fn two_tasks_on_one_cpu_with_the_other_idle() {
    let mut script = Script::began(0, 10, "sh");
    script.switch(0, 1, 0, 0, Left::Runnable).fork(0, 0, 10, 11, BOTH).switch(
        1000,
        0,
        10,
        11,
        Left::Runnable,
    );
    // They take turns of 1000.
    for turn in 1..10_u64 {
        let (prev, next) = if turn % 2 == 1 { (11, 10) } else { (10, 11) };
        script.switch(1000 + turn * 1000, 0, prev, next, Left::Runnable);
    }
    script.end(11_000, 0, 10, 11, 6000).sleep(12_000, 0, 11, 0, block(NANOSLEEP, FileKind::None, 0));
    script.wake(12_000, 0, 11, 0, 0).switch(12_000, 0, 0, 11, Left::Runnable).end(13_000, 0, 11, 0, 7000);
    let report = script.report();
    sound(&report);
    // Ten waits of 1000 and one of 0, each without its first 50.
    assert_eq!(us(report.avoidable_wait_s.unwrap()), 11 * 950 - 950 + 950);
    assert_eq!(us(report.avoidable_longest_s.unwrap()), 950);
}
