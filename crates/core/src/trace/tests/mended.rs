//! Streams that are not whole: mended where it can be, and counted.

use super::fixture::*;
use crate::trace::check::CheckKind;
use crate::trace::event::{Context, FileKind, Left, Totals};
use crate::trace::report::{Cause, SharerKind};
use crate::warning::Caution;

#[test]
fn a_switch_that_was_not_shown_is_put_right_by_the_kernels_account() {
    // 77 left CPU 0 unseen at about 150, and "job" ran from there on: its next record is its own switch at 400.
    let mut script = Script::began(0, 10, "job");
    script
        .switch(100, 0, 10, 77, Left::Runnable)
        .sleep(400, 0, 10, 0, block(NANOSLEEP, FileKind::None, 0))
        .wake_by(600, 0, 10, 0, 0, Context::Timer)
        .switch(600, 0, 0, 10, Left::Runnable)
        .end(700, 0, 10, 0, 450);
    let report = script.report();
    assert_eq!(report.lost.gaps, 1);
    assert_eq!(task(&report, 10), (450, 50, 200));
    assert_eq!(sharers(&report), [("job", "(not shown)", SharerKind::Unknown, 50)]);
    assert!(report.checks.iter().all(|check| check.holds), "{:?}", report.checks);
    assert!(
        report.warnings.iter().any(|warning| matches!(warning.caution, Some(Caution::HolderUnknown { .. })))
    );
}

#[test]
fn a_task_that_left_unseen_waited_or_was_blocked_as_the_next_record_says() {
    for (woken, blocked, waited) in [(true, 200, 0), (false, 0, 200)] {
        // "job" was on CPU 0 since 0; at 300 another leaves it.
        let mut script = Script::began(0, 10, "job");
        script.switch(300, 0, 77, 0, Left::Sleeping);
        if woken {
            script.wake(500, 1, 10, 55, 0);
        }
        script.switch(500, 0, 0, 10, Left::Runnable).end(600, 0, 10, 0, 400);
        let report = script.report();
        assert_eq!(report.lost.gaps, 1);
        assert_eq!(task(&report, 10), (400, waited, blocked), "woken: {woken}");
        assert!(report.checks.iter().all(|check| check.holds), "{:?}", report.checks);
    }
}

#[test]
fn what_a_task_was_away_for_unseen_is_no_running_time() {
    // Within what looks like one turn: the kernel counted switches, and 30 less than the clock.
    let mut script = Script::began(0, 10, "job");
    script.switch(200, 0, 10, 0, Left::Dead);
    let away = Totals { unseen_ns: 30_000, ..totals(170) };
    let report = script.ended(200, 10, away).report();
    assert_eq!(task(&report, 10), (170, 30, 0));
    assert!(report.checks.iter().all(|check| check.holds), "{:?}", report.checks);
    // Without that the two accounts do not agree, and that is said.
    let mut script = Script::began(0, 10, "job");
    let report = script.end(200, 0, 10, 0, 170).report();
    assert!(report.checks.iter().any(|check| !check.holds && check.kind == Some(CheckKind::Running)));
}

#[test]
fn a_task_that_is_told_to_have_a_cpu_has_come_there_unseen() {
    // "job" waits from 100 on, for 77 as far as is seen. It came back unseen and had run for 250 when it left at 400; the tracer
    // can go back for 200 of them.
    let mut script = Script::began(0, 10, "job");
    script
        .switch(100, 0, 10, 77, Left::Runnable)
        .switch(200, 0, 10, 10, Left::Runnable)
        .sleep(400, 0, 10, 0, block(NANOSLEEP, FileKind::None, 0))
        .wake_by(600, 0, 10, 0, 0, Context::Timer)
        .switch(600, 0, 0, 10, Left::Runnable)
        .end(700, 0, 10, 0, 450);
    let report = script.report();
    assert_eq!(task(&report, 10), (450, 50, 200));
    assert_eq!(sharers(&report), [("job", "(not shown)", SharerKind::Unknown, 50)]);
    assert!(report.checks.iter().all(|check| check.holds), "{:?}", report.checks);
    // Whom it was seen to wait for is a task of the tree, which was away unseen: it had run up to 160.
    let mut script = Script::began(0, 10, "job");
    script.fork(100, 0, 10, 11, BOTH).switch(100, 0, 10, 11, Left::Runnable);
    script.switch(200, 0, 10, 10, Left::Runnable).switch(300, 0, 10, 11, Left::Runnable);
    script.end(400, 0, 11, 0, 160).switch(450, 0, 0, 10, Left::Runnable).end(500, 0, 10, 0, 250);
    let report = script.report();
    assert_eq!((task(&report, 10), task(&report, 11)), ((250, 250, 0), (160, 140, 0)));
    assert!(report.checks.iter().all(|check| check.holds), "{:?}", report.checks);
}

#[test]
fn a_wake_up_that_was_lost_ends_the_sleep_with_the_switch() {
    let mut script = Script::began(0, 10, "job");
    script
        .sleep(100, 0, 10, 0, block(READ, FileKind::Pipe, 5))
        .switch(400, 0, 0, 10, Left::Runnable)
        .end(500, 0, 10, 0, 200);
    let report = script.report();
    assert_eq!(task(&report, 10), (200, 0, 300));
    assert_eq!(report.lost.unfinished, 1);
    assert_eq!((report.waits[0].cause, report.waits[0].unfinished), (Cause::PipeEmpty, 1));
}

#[test]
fn a_number_that_is_used_again_is_another_task() {
    let mut script = Script::began(0, 10, "sh");
    script.fork(100, 0, 10, 11, BOTH).switch(100, 1, 0, 11, Left::Runnable).end(200, 1, 11, 0, 100);
    script.fork(300, 0, 10, 11, BOTH).switch(300, 1, 0, 11, Left::Runnable);
    script.exec(350, 1, 11, "true").end(500, 1, 11, 0, 200).end(600, 0, 10, 0, 600);
    let report = script.report();
    sound(&report);
    let lives: Vec<(u64, &str)> = report
        .tasks
        .iter()
        .filter(|row| row.tid == 11)
        .map(|row| (us(row.running_s), row.command.as_str()))
        .collect();
    assert_eq!(lives, [(100, "sh (forked)"), (200, "true")]);
    assert_eq!((report.processes.forks, report.processes.exits), (Some(2), Some(3)));
}

#[test]
fn a_number_that_is_used_again_though_its_end_was_lost() {
    let mut script = Script::began(0, 10, "sh");
    script.fork(100, 0, 10, 11, BOTH).switch(100, 1, 0, 11, Left::Runnable);
    script.fork(300, 0, 10, 11, BOTH).end(500, 1, 11, 0, 200).end(600, 0, 10, 0, 600);
    let report = script.report();
    assert_eq!(report.lost.unfinished, 1);
    assert_eq!(report.tasks.iter().filter(|row| row.tid == 11).count(), 2);
    assert!(
        report
            .checks
            .iter()
            .filter(|check| !matches!(check.kind, Some(CheckKind::Running | CheckKind::Work)))
            .all(|check| check.holds)
    );
}

#[test]
fn an_event_that_comes_late_is_counted() {
    let mut script = Script::began(0, 10, "job");
    script
        .switch(300, 0, 10, 77, Left::Runnable)
        .switch(200, 0, 77, 10, Left::Runnable)
        .end(400, 0, 10, 0, 400);
    let report = script.report();
    assert_eq!(task(&report, 10), (400, 0, 0));
    assert!(report.warnings.iter().any(|warning| matches!(warning.caution, Some(Caution::Late { .. }))));
}

#[test]
fn running_time_that_does_not_fit_the_schedulers_account_fails_its_check() {
    let mut script = Script::began(0, 10, "job");
    script.end(10_000, 0, 10, 0, 8_000);
    let report = script.report();
    let failed: Vec<CheckKind> =
        report.checks.iter().filter(|check| !check.holds).filter_map(|check| check.kind).collect();
    assert_eq!(failed, [CheckKind::Running, CheckKind::Work]);
    assert!(
        report.warnings.iter().any(|warning| matches!(warning.caution, Some(Caution::CheckFailed { .. })))
    );
}

#[test]
fn a_thread_that_execs_takes_the_number_of_the_first() {
    let report = exec_by_a_thread().report();
    sound(&report);
    assert_eq!(
        (report.processes.threads, report.processes.exits, report.processes.forks),
        (Some(1), Some(1), Some(0))
    );
    let rows: Vec<(&str, u64)> =
        report.tasks.iter().map(|row| (row.command.as_str(), us(row.running_s))).collect();
    assert_eq!(rows, [("job", 200), ("next", 300)]);
}
