//! Waits on the critical path: for a CPU, a device, a time, a lock, somebody outside; by hand.

use super::fixture::*;
use crate::trace::event::{Block, Context, FileKind, Left, Softirq, TaskKind, What};
use crate::trace::report::PathKind::{
    CpuWait, Disk, Lock, Network, Outside, Sleep, Stopped, Unknown, User, WriteBack,
};
use crate::trace::report::{Cause, PathKind, SharerKind};

/// "job" blocks from 100 to 600 and is woken in this context by 55, then runs to 700.
fn blocked(at: Block, context: Context) -> Script {
    let mut script = Script::began(0, 10, "job");
    script.name(55, "server", TaskKind::Other).sleep(100, 0, 10, 0, at);
    script.wake_by(600, 1, 10, 55, 0, context).switch(600, 0, 0, 10, Left::Runnable).end(700, 0, 10, 0, 200);
    script
}

#[test]
fn what_a_task_waits_for_by_itself_stays_on_its_path() {
    let disk = Block { io: true, ..block(READ, FileKind::File, 0) };
    let cases: [(Block, Context, PathKind, Option<&str>); 9] = [
        (block(NANOSLEEP, FileKind::None, 0), Context::Timer, Sleep, None),
        (disk, Context::Softirq(Softirq::Block), Disk, None),
        (block(74, FileKind::File, 0), Context::Work("wb_workfn".to_owned()), WriteBack, None),
        (block(READ, FileKind::Socket, 0), Context::Softirq(Softirq::Net), Network, None),
        (
            block(READ, FileKind::Terminal, 0),
            Context::Work("flush_to_ldisc".to_owned()),
            PathKind::Terminal,
            None,
        ),
        (block(READ, FileKind::UnixSocket, 0), Context::Task, Outside, Some("server")),
        (block(READ, FileKind::Pipe, 3), Context::Task, Outside, Some("server")),
        (block(FUTEX, FileKind::None, 0), Context::Task, Lock, Some("server")),
        (Block { fault: true, ..disk }, Context::Softirq(Softirq::Block), Disk, None),
    ];
    for (at, context, kind, what) in cases {
        let report = blocked(at, context.clone()).report();
        sound(&report);
        assert_eq!(path(&report), [("job", kind, what, 500), ("job", User, None, 200)], "{at:?} {context:?}");
    }
}

#[test]
fn a_stop_stays_whoever_ends_it() {
    let mut script = Script::began(0, 10, "sh");
    script.fork(0, 0, 10, 11, BOTH).switch(0, 1, 0, 11, Left::Runnable).exec(0, 1, 11, "job");
    script.switch(100, 1, 11, 0, Left::Stopped).wake(600, 0, 11, 10, 1);
    script.switch(600, 1, 0, 11, Left::Runnable).end(650, 0, 10, 0, 650).end(900, 1, 11, 0, 400);
    let report = script.report();
    sound(&report);
    assert_eq!(path(&report), [("job", Stopped, None, 500), ("job", User, None, 400)]);
}

/// Two threads of "job": 10 waits for 12 on a futex from 100 to 600.
fn threads(bitset: bool) -> Script {
    let mut script = Script::began(0, 10, "job");
    script.add(50, 0, What::Fork { parent: 10, child: 12, process: 10, allowed: vec![BOTH] });
    script.switch(50, 1, 0, 12, Left::Runnable);
    script.sleep(100, 0, 10, 0, Block { bitset, ..block(FUTEX, FileKind::None, 0) });
    script.wake(600, 1, 10, 12, 0).switch(600, 0, 0, 10, Left::Runnable);
    script.end(650, 1, 12, 0, 600).end(1000, 0, 10, 0, 500);
    script
}

#[test]
fn a_lock_is_a_wait_of_its_own_and_a_join_is_not() {
    let report = threads(false).report();
    sound(&report);
    assert_eq!(path(&report), [("job", User, None, 500), ("job", Lock, Some("job"), 500)]);
    let report = threads(true).report();
    sound(&report);
    assert_eq!(path(&report), [("job", User, None, 1000)]);
}

/// As Python's threads wait for the lock of the interpreter: for at most some time, and then once more.
#[test]
fn a_wait_with_a_limit_is_for_what_another_thread_does_meanwhile() {
    let waits = |other_until: u64| {
        let mut script = Script::began(0, 10, "job");
        script.add(50, 0, What::Fork { parent: 10, child: 12, process: 10, allowed: vec![BOTH] });
        script.switch(50, 1, 0, 12, Left::Runnable);
        let limited = Block { bitset: true, ..block(FUTEX, FileKind::None, 0) };
        script.sleep(100, 0, 10, 0, limited);
        if other_until < 600 {
            script.switch(other_until, 1, 12, 0, Left::Sleeping);
        }
        let current = if other_until < 600 { 0 } else { 12 };
        script.wake_by(600, 1, 10, current, 0, Context::Timer).switch(600, 0, 0, 10, Left::Runnable);
        if other_until < 600 {
            script.wake(700, 0, 12, 10, 1).switch(700, 1, 0, 12, Left::Runnable);
        }
        let had = if other_until < 600 { other_until - 50 + 200 } else { 850 };
        script.end(900, 1, 12, 0, had).end(1000, 0, 10, 0, 500);
        script.report()
    };
    let report = waits(900);
    sound(&report);
    assert_eq!(path(&report), [("job", User, None, 1000)]);
    // Nobody is at work: it slept.
    let report = waits(300);
    sound(&report);
    assert_eq!(path(&report), [("job", User, None, 500), ("job", Sleep, None, 500)]);
}

#[test]
fn a_wait_for_a_cpu_names_its_holders_what_was_before_and_what_was_avoidable() {
    // It sleeps, is woken at 200 behind cc1 and then ld; CPU 1 idles from 400 on and is forbidden to the second wait.
    let mut script = Script::began(0, 10, "job");
    script.name(77, "cc1", TaskKind::Other).name(78, "ld", TaskKind::Other);
    script.switch(0, 1, 0, 88, Left::Runnable).sleep(100, 0, 10, 77, block(NANOSLEEP, FileKind::None, 0));
    script.wake_by(200, 0, 10, 77, 0, Context::Timer).switch(400, 1, 88, 0, Left::Sleeping);
    script.switch(500, 0, 77, 78, Left::Runnable).switch(800, 0, 78, 10, Left::Runnable);
    script.add(900, 0, What::Allowed { task: 10, cpus: vec![0b01] });
    script.switch(1000, 0, 10, 77, Left::Runnable).switch(1400, 0, 77, 10, Left::Runnable);
    script.end(1500, 0, 10, 0, 400);
    let report = script.report();
    sound(&report);
    let rows: Vec<_> = report
        .critical_path
        .iter()
        .filter(|row| row.kind == CpuWait)
        .map(|row| {
            let beside = (us(row.avoidable_s), us(row.but_for_affinity_s));
            (row.what.as_deref().unwrap(), row.holder, row.after, us(row.seconds), beside, row.count)
        })
        .collect();
    let other = Some(SharerKind::Other);
    // Beside idle CPU 1 from 400 to 800: in proportion to the holders; of the second wait all but its first 50.
    let expected = [
        ("cc1", other, None, 400, (0, 350), 1),
        ("cc1", other, Some(Cause::Timer), 300, (200, 0), 1),
        ("ld", other, Some(Cause::Timer), 300, (200, 0), 0),
    ];
    assert_eq!(rows, expected);
    assert_eq!(us(report.avoidable_wait_s.unwrap()), 400);
}

/// "cat" reads from a terminal from 100 on. "gen" wakes a worker at 400 and sleeps from 450 to 900; the worker executes
/// `function` from 420 on and wakes "cat" at 500.
fn through_a_worker(function: &str) -> Script {
    let mut script = Script::began(0, 10, "gen");
    script.fork(0, 0, 10, 11, BOTH);
    script.switch(0, 1, 0, 11, Left::Runnable).exec(0, 1, 11, "cat");
    script.sleep(100, 1, 11, 0, block(READ, FileKind::Terminal, 0));
    // It is named when it first runs.
    script.wake(400, 0, 90, 10, 1).name(90, "kworker/u4:1", TaskKind::Kernel).switch(
        420,
        1,
        0,
        90,
        Left::Runnable,
    );
    script.add(420, 1, What::Work { task: 90, function: function.to_owned() });
    script.sleep(450, 0, 10, 0, block(NANOSLEEP, FileKind::None, 0));
    script.wake_by(500, 1, 11, 90, 0, Context::Work(function.to_owned())).switch(
        500,
        0,
        0,
        11,
        Left::Runnable,
    );
    script.wake_by(900, 0, 10, 0, 1, Context::Timer).switch(900, 1, 90, 10, Left::Sleeping);
    script.end(950, 1, 10, 0, 500).end(1000, 0, 11, 0, 600);
    script
}

#[test]
fn who_wrote_to_a_terminal_is_known_through_the_worker_that_brings_it() {
    let report = through_a_worker("flush_to_ldisc").report();
    sound(&report);
    assert!(waits(&report).contains(&("cat", Cause::Terminal, Some("gen"), 400, 1)), "{:?}", report.waits);
    let expected =
        [("cat", User, None, 500), ("gen", User, None, 400), ("cat", PathKind::Terminal, None, 100)];
    assert_eq!(path(&report), expected);
    // A worker that was woken for something else brings nothing.
    let report = through_a_worker("wb_workfn").report();
    assert!(waits(&report).contains(&("cat", Cause::Terminal, None, 400, 1)), "{:?}", report.waits);
    assert_eq!(path(&report), [("cat", User, None, 600), ("cat", PathKind::Terminal, None, 400)]);
}

#[test]
fn what_a_task_sent_to_this_machine_is_waited_for_with_it() {
    let mut script = Script::began(0, 10, "client");
    script.fork(0, 0, 10, 11, BOTH).switch(0, 1, 0, 11, Left::Runnable).exec(0, 1, 11, "server");
    script.sleep(100, 1, 11, 0, block(READ, FileKind::Socket, 0)).wake_by(400, 0, 11, 10, 1, Context::Sent);
    script.switch(400, 1, 0, 11, Left::Runnable).end(450, 0, 10, 0, 450).end(600, 1, 11, 0, 300);
    let report = script.report();
    sound(&report);
    assert_eq!(waits(&report), [("server", Cause::Network, Some("client"), 300, 1)]);
    assert_eq!(path(&report), [("client", User, None, 400), ("server", User, None, 200)]);
}

#[test]
fn waits_behind_many_and_moves_are_divided_as_they_were() {
    // Three of the tree wait on one CPU in turn; the last is moved to another that ld holds.
    let mut script = Script::began(0, 10, "a");
    script.name(88, "ld", TaskKind::Other).switch(0, 1, 0, 88, Left::Runnable);
    script.fork(0, 0, 10, 11, BOTH).fork(0, 0, 10, 12, BOTH);
    script.switch(100, 0, 10, 11, Left::Runnable).exec(100, 0, 11, "b");
    script.add(150, 1, What::Migrate { task: 12, from: 0, to: 1 });
    script.end(300, 0, 11, 10, 200).switch(400, 1, 88, 12, Left::Runnable).exec(400, 1, 12, "c");
    script.end(500, 0, 10, 0, 300).end(1000, 1, 12, 0, 600);
    let report = script.report();
    sound(&report);
    // c: 100 behind a, 50 behind b, 250 behind ld.
    let expected = [
        ("c", User, None, 600),
        ("a (forked)", CpuWait, Some("ld"), 250),
        ("a (forked)", CpuWait, Some("a"), 100),
        ("a (forked)", CpuWait, Some("b"), 50),
    ];
    assert_eq!(path(&report), expected);
}

#[test]
fn a_wake_up_before_the_task_has_left_its_cpu_keeps_its_path() {
    let mut script = Script::began(0, 10, "gen");
    script.fork(0, 0, 10, 11, BOTH).switch(0, 1, 0, 11, Left::Runnable).exec(0, 1, 11, "eat");
    script.add(300, 0, What::Wake { wakee: 11, waker: 10, context: Context::Task });
    script.sleep(310, 1, 11, 0, block(READ, FileKind::Pipe, 7)).add(310, 0, What::Queued { task: 11, on: 1 });
    script.switch(310, 1, 0, 11, Left::Runnable).end(400, 0, 10, 0, 400).end(1000, 1, 11, 0, 1000);
    let report = script.report();
    sound(&report);
    assert_eq!(path(&report), [("eat", User, None, 1000)]);
}

#[test]
fn a_wait_whose_end_was_lost_is_not_known() {
    let mut script = Script::began(0, 10, "job");
    script.sleep(100, 0, 10, 0, block(READ, FileKind::Pipe, 5)).switch(400, 0, 0, 10, Left::Runnable);
    let report = script.end(500, 0, 10, 0, 200).report();
    assert_eq!(path(&report), [("job", Unknown, None, 300), ("job", User, None, 200)]);
}
