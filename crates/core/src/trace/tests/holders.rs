//! Who held the CPU while a task waited for it.

use super::fixture::*;
use crate::trace::Throttled;
use crate::trace::event::{FileKind, Left, TaskKind, What};
use crate::trace::report::{PathRow, SharerKind};
use crate::warning::Caution;

/// Preempted at 100 on CPU 0; whoever comes next runs until it is back.
fn preempted(others: &[(u32, u64)]) -> Script {
    let mut script = Script::began(0, 10, "job");
    let (mut before, mut at) = (10, 100);
    for (other, length) in others {
        script.switch(at, 0, before, *other, Left::Runnable);
        (before, at) = (*other, at + length);
    }
    script.switch(at, 0, before, 10, Left::Runnable).end(at + 100, 0, 10, 0, 200);
    script
}

#[test]
fn each_holder_gets_its_time() {
    let mut script = Script::new();
    script.name(55, "whyfaster", TaskKind::Tool).name(66, "ksoftirqd/0", TaskKind::Kernel).name(
        77,
        "cc1",
        TaskKind::Other,
    );
    script.events.extend(preempted(&[(55, 30), (66, 40), (77, 50), (88, 60)]).events);
    let report = script.report();
    sound(&report);
    let expected = [
        ("job", "(unnamed)", SharerKind::Other, 60),
        ("job", "cc1", SharerKind::Other, 50),
        ("job", "ksoftirqd", SharerKind::Kernel, 40),
        ("job", "whyfaster", SharerKind::Tool, 30),
    ];
    assert_eq!(sharers(&report), expected);
    assert_eq!(task(&report, 10), (200, 180, 0));
}

#[test]
fn a_worker_is_named_by_what_it_executes() {
    let mut script = Script::began(0, 10, "job");
    let work = |function: &str| What::Work { task: 66, function: function.to_owned() };
    script
        .name(66, "kworker/0:1-events", TaskKind::Kernel)
        .switch(100, 0, 10, 66, Left::Runnable)
        .add(110, 0, work("kcryptd_crypt"))
        .add(150, 0, work("wb_workfn"))
        .switch(180, 0, 66, 10, Left::Sleeping)
        .end(200, 0, 10, 0, 120);
    let report = script.report();
    sound(&report);
    let expected = [
        ("job", "kworker kcryptd_crypt", SharerKind::Kernel, 40),
        ("job", "kworker wb_workfn", SharerKind::Kernel, 30),
        ("job", "kworker", SharerKind::Kernel, 10),
    ];
    assert_eq!(sharers(&report), expected);
}

#[test]
fn an_idle_cpu_is_waking_up() {
    let mut script = Script::began(0, 10, "job");
    script
        .sleep(100, 0, 10, 0, block(NANOSLEEP, FileKind::None, 0))
        .wake(200, 1, 10, 55, 0)
        .switch(230, 0, 0, 10, Left::Runnable)
        .end(300, 0, 10, 0, 170);
    let report = script.report();
    sound(&report);
    assert_eq!(sharers(&report), [("job", "(idle: waking up)", SharerKind::Idle, 30)]);
    assert_eq!(report.avoidable_wait_s, Some(0.0));
}

#[test]
fn a_long_wait_on_an_idle_cpu_is_throttling_if_the_quota_was_used_up() {
    let mut script = Script::began(0, 10, "job");
    script
        .switch(100, 0, 10, 0, Left::Runnable)
        .switch(40_100, 0, 0, 10, Left::Runnable)
        .end(40_200, 0, 10, 0, 200);
    let free = script.report();
    assert_eq!(sharers(&free), [("job", "(idle: waking up)", SharerKind::Idle, 40_000)]);
    script.facts.throttled = Some(Throttled { times: 1, ns: 40_000_000 });
    let report = script.report();
    assert_eq!(sharers(&report), [("job", "(CPU quota used up)", SharerKind::Throttled, 40_000)]);
    assert!(report.warnings.iter().any(|it| matches!(it.caution, Some(Caution::QuotaUsedUp { .. }))));
    // Whoever has the CPU meanwhile.
    let mut told = Script::began(0, 10, "job");
    told.name(77, "cc1", TaskKind::Other)
        .switch(100, 0, 10, 77, Left::Throttled)
        .switch(40_100, 0, 77, 10, Left::Runnable)
        .end(40_200, 0, 10, 0, 200);
    sound(&told.report());
    assert_eq!(sharers(&told.report()), sharers(&report));
    let path = told.report().critical_path;
    let throttled = |row: &&PathRow| row.holder == Some(SharerKind::Throttled);
    assert!((path.iter().find(throttled).unwrap().seconds - 0.04).abs() < 1e-9, "{path:?}");
    // The same, told of a group into which the command moved.
    script.facts.throttled = Some(Throttled::default());
    script.counts.lives.throttled = Some(1);
    assert_eq!(sharers(&script.report()), sharers(&report));
}

#[test]
fn a_moved_task_waits_on_each_cpu_in_turn() {
    let mut script = Script::began(0, 10, "job");
    script
        .name(77, "cc1", TaskKind::Other)
        .name(88, "ld", TaskKind::Other)
        .switch(0, 1, 0, 88, Left::Runnable)
        .switch(100, 0, 10, 77, Left::Runnable)
        .add(300, 1, What::Migrate { task: 10, from: 0, to: 1 })
        .switch(400, 1, 88, 10, Left::Runnable)
        .end(500, 1, 10, 0, 200);
    let report = script.report();
    sound(&report);
    assert_eq!(
        sharers(&report),
        [("job", "cc1", SharerKind::Other, 200), ("job", "ld", SharerKind::Other, 100)]
    );
    assert_eq!(command(&report, "job").cpus, [0, 1]);
    assert_eq!(command(&report, "job").migrations, Some(1));
}

#[test]
fn tasks_of_the_tree_hold_it_against_each_other() {
    let mut script = Script::began(0, 10, "sh");
    script
        .fork(100, 0, 10, 11, BOTH)
        .switch(200, 0, 10, 11, Left::Runnable)
        .switch(300, 0, 11, 10, Left::Runnable)
        .switch(450, 0, 10, 11, Left::Runnable)
        .end(500, 0, 11, 10, 150)
        .end(600, 0, 10, 0, 450);
    let report = script.report();
    sound(&report);
    // 11 waits 100 for its first turn and 150 for the second; 10 waits 100 and 50.
    let expected =
        [("sh (forked)", "sh", SharerKind::Tree, 250), ("sh", "sh (forked)", SharerKind::Tree, 150)];
    assert_eq!(sharers(&report), expected);
}

#[test]
fn the_first_record_of_a_cpu_says_who_was_there_before() {
    let mut script = Script::began(0, 10, "job");
    script
        .name(88, "ld", TaskKind::Other)
        .sleep(100, 0, 10, 0, block(NANOSLEEP, FileKind::None, 0))
        .wake(200, 0, 10, 55, 3)
        .switch(260, 3, 88, 10, Left::Runnable)
        .end(300, 3, 10, 0, 140);
    let report = script.report();
    sound(&report);
    assert_eq!(sharers(&report), [("job", "ld", SharerKind::Other, 60)]);
}
