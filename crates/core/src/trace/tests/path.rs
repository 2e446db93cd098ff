//! The critical path through processes and pipelines, worked out by hand.

use super::fixture::*;
use crate::missing::{Obstacle, Quantity};
use crate::trace::event::{FileKind, Left, What};
use crate::trace::report::PathKind::{CpuWait, Forked, Kernel, Sleep, Startup, User};
use crate::trace::report::{Cause, SharerKind};

#[test]
fn one_task_that_runs_is_its_own_path() {
    let mut script = Script::began(0, 10, "job");
    script.spent(400, 10, 100).end(1000, 0, 10, 0, 1000);
    let report = script.report();
    sound(&report);
    // 100 of the first 400 in calls; of the last 600 nobody told, and the task's totals say nothing of calls.
    assert_eq!(path(&report), [("job", User, None, 900), ("job", Kernel, Some("rest"), 100)]);
}

#[test]
fn a_child_that_is_waited_for_is_on_the_path_and_the_wait_is_not() {
    let mut script = Script::began(0, 10, "sh");
    script.fork(100, 0, 10, 11, BOTH).sleep(150, 0, 10, 0, block(WAIT4, FileKind::None, 0));
    // The child waits for its CPU behind its parent until 150, gets another at 180, runs its program from 200 on and ends at 900.
    script.switch(180, 1, 0, 11, Left::Runnable).exec(200, 1, 11, "true");
    script.wake(890, 1, 10, 11, 0).end(900, 1, 11, 0, 720);
    script.switch(920, 0, 0, 10, Left::Runnable).end(1000, 0, 10, 0, 230);
    let report = script.report();
    sound(&report);
    let idle = Some("(idle: waking up)");
    let expected = [
        ("true", User, None, 690),
        ("sh", User, None, 100 + 80),
        ("sh (forked)", CpuWait, Some("sh"), 50),
        ("sh", CpuWait, idle, 30),
        ("sh (forked)", CpuWait, idle, 30),
        ("sh (forked)", Forked, None, 20),
    ];
    assert_eq!(path(&report), expected);
    let wait = report.critical_path.iter().find(|row| row.command == "sh" && row.kind == CpuWait).unwrap();
    assert_eq!((wait.after, wait.holder), (Some(Cause::Child), Some(SharerKind::Idle)));
}

#[test]
fn a_child_that_ends_before_it_is_waited_for_is_not_on_the_path() {
    let mut script = Script::began(0, 10, "sh");
    script.fork(100, 0, 10, 11, BOTH).switch(100, 1, 0, 11, Left::Runnable).exec(110, 1, 11, "true");
    script.end(300, 1, 11, 0, 200).end(1000, 0, 10, 0, 1000);
    let report = script.report();
    sound(&report);
    assert_eq!(path(&report), [("sh", User, None, 1000)]);
}

/// gen (11) on CPU 1 writes what eat (12) on CPU 2 reads; sh (10) waits for eat.
fn pipeline() -> Script {
    let mut script = Script::began(0, 10, "sh");
    script.fork(0, 0, 10, 11, 0b10).switch(0, 1, 0, 11, Left::Runnable).exec(0, 1, 11, "gen");
    script.fork(0, 0, 10, 12, 0b100).switch(0, 2, 0, 12, Left::Runnable).exec(0, 2, 12, "eat");
    script.sleep(0, 0, 10, 0, block(WAIT4, FileKind::None, 0));
    script
}

#[test]
fn the_slower_stage_of_a_pipeline_is_the_path() {
    // eat waits for 90 of every 100 that gen takes.
    let mut script = pipeline();
    for turn in 0..10 {
        let at = turn * 100 + 10;
        script.sleep(at, 2, 12, 0, block(READ, FileKind::Pipe, 7)).wake(at + 90, 1, 12, 11, 2);
        script.switch(at + 90, 2, 0, 12, Left::Runnable);
    }
    script.end(1000, 1, 11, 0, 1000).wake(1020, 2, 10, 12, 0).end(1020, 2, 12, 0, 120);
    script.switch(1020, 0, 0, 10, Left::Runnable).end(1030, 0, 10, 0, 10);
    let report = script.report();
    sound(&report);
    let expected = [("gen", User, None, 1000), ("eat", User, None, 20), ("sh", User, None, 10)];
    assert_eq!(path(&report), expected);
    let stages: Vec<(&str, Option<u64>, bool, bool)> = report
        .stages
        .iter()
        .map(|row| (row.command.as_str(), row.slack_s.map(us), row.bottleneck, row.near))
        .collect();
    assert_eq!(stages, [("gen", Some(0), true, false), ("eat", Some(900), false, false)]);
}

#[test]
fn a_slow_reader_is_the_path_of_its_writer() {
    let mut script = pipeline();
    for turn in 0..5 {
        let at = turn * 100 + 10;
        script.sleep(at, 1, 11, 0, block(WRITE, FileKind::Pipe, 7)).wake(at + 80, 2, 11, 12, 1);
        script.switch(at + 85, 1, 0, 11, Left::Runnable);
    }
    // gen is the last that ends.
    script.end(600, 2, 12, 0, 600).wake(600, 2, 10, 12, 0).switch(600, 0, 0, 10, Left::Runnable);
    script.end(610, 0, 10, 0, 10).end(700, 1, 11, 0, 275);
    let report = script.report();
    sound(&report);
    // eat up to its last wake-up of gen at 490; then 5 on the way and 210 of gen.
    let expected =
        [("eat", User, None, 490), ("gen", User, None, 205), ("gen", CpuWait, Some("(idle: waking up)"), 5)];
    assert_eq!(path(&report), expected);
}

#[test]
fn stages_that_are_as_busy_are_said_to_be() {
    let mut script = pipeline();
    for turn in 0..5 {
        let at = turn * 100 + 95;
        script.sleep(at, 2, 12, 0, block(READ, FileKind::Pipe, 7)).wake(at + 2, 1, 12, 11, 2);
        script.switch(at + 2, 2, 0, 12, Left::Runnable);
    }
    script.end(1000, 1, 11, 0, 1000).wake(1005, 2, 10, 12, 0).end(1005, 2, 12, 0, 995);
    script.switch(1005, 0, 0, 10, Left::Runnable).end(1010, 0, 10, 0, 5);
    let report = script.report();
    let near: Vec<(&str, bool, bool)> =
        report.stages.iter().map(|row| (row.command.as_str(), row.bottleneck, row.near)).collect();
    assert_eq!(near, [("gen", true, false), ("eat", false, true)]);
}

#[test]
fn a_false_wake_up_leaves_no_trace() {
    // eat is woken at 100, finds nothing, sleeps again, and is woken by what it waits for at 500.
    let mut script = pipeline();
    script.sleep(10, 2, 12, 0, block(READ, FileKind::Pipe, 7)).wake(100, 1, 12, 11, 2);
    script.switch(120, 2, 0, 12, Left::Runnable).sleep(130, 2, 12, 0, block(READ, FileKind::Pipe, 7));
    script.wake(500, 1, 12, 11, 2).switch(500, 2, 0, 12, Left::Runnable).end(500, 1, 11, 0, 500);
    script.wake(700, 2, 10, 12, 0).end(700, 2, 12, 0, 220);
    script.switch(700, 0, 0, 10, Left::Runnable).end(710, 0, 10, 0, 10);
    let report = script.report();
    sound(&report);
    let expected = [("gen", User, None, 500), ("eat", User, None, 200), ("sh", User, None, 10)];
    assert_eq!(path(&report), expected);
}

#[test]
fn a_parent_in_vfork_goes_on_when_its_child_begins_its_program() {
    let mut script = Script::began(0, 10, "sh");
    let vfork = crate::trace::event::Block { io: true, ..block(VFORK, FileKind::None, 0) };
    let vfork = crate::trace::event::Block { io: false, ..vfork };
    script.fork(100, 0, 10, 11, BOTH);
    script.add(100, 0, What::Switch { prev: 10, next: 11, left: Left::Uninterruptible, block: Some(vfork) });
    script.wake(160, 0, 10, 11, 1).switch(170, 1, 0, 10, Left::Runnable).exec(180, 0, 11, "true");
    script.end(300, 0, 11, 0, 200).end(500, 1, 10, 0, 430);
    let report = script.report();
    sound(&report);
    let expected = [
        ("sh", User, None, 100 + 330),
        ("sh (forked)", Forked, None, 60),
        ("sh", CpuWait, Some("(idle: waking up)"), 10),
    ];
    assert_eq!(path(&report), expected);
}

#[test]
fn a_start_up_is_told_from_what_follows() {
    let mut script = Script::began(0, 10, "job");
    // 300 of start-up, 200 of them in calls; told at 400, when 250 had gone into calls.
    script.spent(350, 10, 220).started(400, 10, 300, 200).spent(1000, 10, 450).end(1000, 0, 10, 0, 1000);
    let report = script.report();
    sound(&report);
    let expected =
        [("job", User, None, 450), ("job", Startup, None, 300), ("job", Kernel, Some("rest"), 250)];
    assert_eq!(path(&report), expected);
}

#[test]
fn a_start_up_that_went_into_a_path_before_it_was_told_is_known_afterwards() {
    let mut script = Script::began(0, 10, "sh");
    script.started(0, 10, 0, 0);
    script.fork(100, 0, 10, 11, BOTH).switch(100, 1, 0, 11, Left::Runnable).exec(100, 1, 11, "job");
    script.sleep(100, 0, 10, 0, block(WAIT4, FileKind::None, 0));
    // It wakes its parent at 900 and says only then that the first 600 of its 800 were start-up.
    script.wake(900, 1, 10, 11, 0).switch(900, 0, 0, 10, Left::Runnable).started(950, 11, 600, 0);
    script.end(960, 1, 11, 0, 860).end(1000, 0, 10, 0, 200);
    let report = script.report();
    sound(&report);
    let expected = [("job", Startup, None, 600), ("job", User, None, 200), ("sh", User, None, 200)];
    assert_eq!(path(&report), expected);
}

#[test]
fn a_thread_that_execs_keeps_its_path() {
    let report = exec_by_a_thread().report();
    sound(&report);
    assert_eq!(path(&report), [("job", User, None, 300), ("next", User, None, 100)]);
}

#[test]
fn a_process_that_is_left_behind_is_the_path_only_if_it_lasts_longest() {
    // A daemon sleeps for long; the trace ends while it is there.
    for (ended, last) in [(Some(5_000_000), true), (None, false)] {
        let mut script = Script::began(0, 10, "sh");
        script.fork(100, 0, 10, 11, BOTH).switch(100, 1, 0, 11, Left::Runnable).exec(100, 1, 11, "daemon");
        script.sleep(200, 1, 11, 0, block(NANOSLEEP, FileKind::None, 0));
        if !last {
            script.wake_by(300, 1, 11, 0, 1, crate::trace::event::Context::Timer);
            script.switch(300, 1, 0, 11, Left::Runnable).end(310, 1, 11, 0, 110);
        }
        script.end(1000, 0, 10, 0, 1000);
        script.facts.ended = ended;
        let report = script.report();
        if last {
            assert_eq!(us(report.wall_s), 5000);
            let expected =
                [("daemon", Sleep, None, 4800), ("daemon", User, None, 100), ("sh", User, None, 100)];
            assert_eq!(path(&report), expected);
        } else {
            assert_eq!(path(&report), [("sh", User, None, 1000)]);
        }
        assert!(report.checks.iter().all(|check| check.holds), "{:?}", report.checks);
    }
}

#[test]
fn other_levels_have_no_path_and_say_why() {
    let mut script = Script::began(0, 10, "job");
    script.setting = crate::trace::Setting::of(crate::trace::report::Level::Unprivileged);
    let report = script.end(1000, 0, 10, 0, 1000).report();
    assert_eq!((report.critical_path.len(), report.work.len()), (0, 0));
    for field in ["critical_path", "work", "transfers", "files"] {
        let quantity = Some(Quantity::Report { field: field.into() });
        let said = report.not_measured.iter().find(|it| it.quantity == quantity);
        let said = said.and_then(|it| it.reason.as_ref());
        assert!(matches!(said, Some(Obstacle::Level { .. })), "{field}");
    }
}
