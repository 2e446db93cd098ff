//! Running, waiting, blocked: each moment of a life belongs to one.

use super::fixture::*;
use crate::trace::event::{Context, FileKind, Left, Softirq, TaskKind, What};
use crate::trace::report::Cause;

#[test]
fn a_life_is_split_exactly() {
    // Runs 100..300, preempted until 350, runs until 400, sleeps until 900, waits 20, runs until 1000.
    let mut script = Script::began(100, 10, "job");
    script
        .switch(300, 0, 10, 77, Left::Runnable)
        .switch(350, 0, 77, 10, Left::Sleeping)
        .sleep(400, 0, 10, 0, block(NANOSLEEP, FileKind::None, 0))
        .wake_by(900, 0, 10, 0, 0, Context::Timer)
        .switch(920, 0, 0, 10, Left::Runnable)
        .end(1000, 0, 10, 0, 330);
    let report = script.report();
    sound(&report);
    assert_eq!(task(&report, 10), (330, 70, 500));
    assert_eq!(us(report.wall_s), 900);
    assert_eq!(waits(&report), [("job", Cause::Timer, None, 500, 1)]);
    let row = command(&report, "job");
    assert_eq!((row.voluntary, row.involuntary, row.migrations), (Some(1), Some(1), Some(0)));
    assert_eq!(row.cpus, [0]);
    assert!((report.effective_parallelism.unwrap() - 330.0 / 900.0).abs() < 1e-12);
}

#[test]
fn time_before_the_first_exec_does_not_count() {
    let mut script = Script::began(500, 10, "job");
    script.end(600, 0, 10, 0, 100);
    let report = script.report();
    sound(&report);
    assert_eq!(task(&report, 10), (100, 0, 0));
    assert_eq!(us(report.wall_s), 100);
    assert_eq!(report.tasks[0].from_s, 0.0);
}

#[test]
fn a_wake_that_lands_before_the_sleeper_has_left_ends_a_sleep_of_no_length() {
    // The waker on CPU 1 is faster than the sleeper's own switch; the run queue gets the sleeper behind that.
    let mut script = Script::began(0, 10, "job");
    script
        .add(200, 1, What::Wake { wakee: 10, waker: 55, context: Context::Task })
        .sleep(201, 0, 10, 0, block(READ, FileKind::Pipe, 9))
        .add(202, 1, What::Queued { task: 10, on: 0 })
        .switch(230, 0, 0, 10, Left::Runnable)
        .end(300, 0, 10, 0, 271);
    let report = script.report();
    sound(&report);
    assert_eq!(task(&report, 10), (271, 29, 0));
    assert_eq!(waits(&report), [("job", Cause::PipeEmpty, None, 0, 1)]);
}

#[test]
fn a_wake_that_is_complete_while_the_task_runs_has_no_effect() {
    // It had marked itself asleep, was woken, ran on, and goes to sleep for good only later.
    let mut script = Script::began(0, 10, "job");
    script
        .wake(200, 1, 10, 55, 0)
        .sleep(300, 0, 10, 0, block(READ, FileKind::Pipe, 9))
        .wake(500, 1, 10, 55, 0)
        .switch(500, 0, 0, 10, Left::Runnable)
        .end(600, 0, 10, 0, 400);
    let report = script.report();
    sound(&report);
    assert_eq!(task(&report, 10), (400, 0, 200));
}

#[test]
fn every_sleep_goes_to_its_cause() {
    let mut script = Script::began(0, 10, "job");
    let io = |number, file| crate::trace::event::Block { io: true, ..block(number, file, 0) };
    let sleeps = [
        (io(READ, FileKind::File), Context::Softirq(Softirq::Block)),
        (io(74, FileKind::File), Context::Work("blk_mq_requeue_work".to_owned())),
        (block(202, FileKind::None, 0), Context::Task),
        (block(READ, FileKind::Terminal, 0), Context::Work("flush_to_ldisc".to_owned())),
        (block(READ, FileKind::Socket, 0), Context::Softirq(Softirq::Net)),
    ];
    // Each runs 10 and sleeps 100, 200, ... microseconds.
    let mut at = 0;
    for (index, (block, context)) in sleeps.into_iter().enumerate() {
        let length = (index as u64 + 1) * 100;
        script.sleep(at + 10, 0, 10, 0, block).wake_by(at + 10 + length, 0, 10, 66, 0, context);
        at += 10 + length;
        script.switch(at, 0, 0, 10, Left::Runnable);
    }
    script.switch(at + 10, 0, 10, 0, Left::Stopped).wake(at + 610, 1, 10, 66, 0);
    script.switch(at + 610, 0, 0, 10, Left::Runnable).end(at + 620, 0, 10, 0, 70);
    let report = script.report();
    sound(&report);
    let expected = [
        ("job", Cause::Stopped, None, 600, 1),
        ("job", Cause::Network, None, 500, 1),
        ("job", Cause::Terminal, None, 400, 1),
        ("job", Cause::Lock, None, 300, 1),
        ("job", Cause::WriteBack, Some("blk_mq_requeue_work"), 200, 1),
        ("job", Cause::Disk, None, 100, 1),
    ];
    assert_eq!(waits(&report), expected);
}

#[test]
fn what_is_open_at_the_end_is_labelled() {
    let mut script = Script::began(0, 10, "job");
    script.sleep(100, 0, 10, 0, block(WAIT4, FileKind::None, 0));
    script.facts.ended = Some(1_000_000);
    let end = What::End { task: 10, process: 10, status: None, totals: totals(100) };
    let report = script.add(1000, 0, end).report();
    assert_eq!(task(&report, 10), (100, 0, 900));
    assert_eq!(report.waits[0].unfinished, 1);
    assert_eq!((report.waits[0].cause, report.lost.unfinished), (Cause::Child, 1));
    assert_eq!((report.processes.alive, report.processes.exits), (Some(1), Some(0)));
    assert!(report.checks.iter().all(|check| check.holds), "{:?}", report.checks);
}

#[test]
fn a_task_that_was_there_before_is_blocked_where_it_was_found() {
    let mut script = Script::new();
    script.setting.running = true;
    script.fork(0, 1, 0, 10, BOTH).name(10, "cat", TaskKind::Tree);
    let waits = What::Waits { task: 10, left: Left::Sleeping, block: block(READ, FileKind::Pipe, 7) };
    let alive = What::End { task: 10, process: 10, status: None, totals: totals(0) };
    let report = script.add(0, 0, waits).add(500, 0, alive).report();
    assert_eq!(waits_of(&report), [(Cause::PipeEmpty, 500_000)]);
}

fn waits_of(report: &crate::trace::report::TraceReport) -> Vec<(Cause, u64)> {
    report.waits.iter().map(|it| (it.cause, ns(it.seconds))).collect()
}
