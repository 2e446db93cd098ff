//! The critical path of a tree that is still there when observing ends, by hand: who waits has the path of whom it waits
//! for.

use super::fixture::*;
use crate::trace::event::{Block, FileKind, Left, TaskKind, Tid, Totals, What};
use crate::trace::report::Cause::{Child, PipeEmpty, PipeFull, Timer};
use crate::trace::report::PathKind::{CpuWait, Lock, Sleep, Unknown, User};
use crate::trace::report::TraceReport;

/// A tree that ran already: number, parent, name, where it is blocked (none: it runs on CPU 0), pipes in and out.
type Found<'a> = (Tid, Tid, &'a str, Option<Block>, (u64, u64));

fn taken_up(found: &[Found<'_>]) -> Script {
    let mut script = Script::new();
    script.setting.running = true;
    for (tid, parent, name, block, (input, output)) in found {
        if block.is_none() {
            script.switch(0, 0, 0, *tid, Left::Runnable);
        }
        script.fork(0, 1, 0, *tid, BOTH).name(*tid, name, TaskKind::Tree);
        script.add(0, 1, What::Pipes { task: *tid, input: *input, output: *output });
        script.add(0, 1, What::Below { task: *tid, parent: *parent });
        if let Some(block) = block {
            script.add(0, 1, What::Waits { task: *tid, left: Left::Sleeping, block: *block });
        }
    }
    script
}

/// All of them are there at 1000, but told one after the other.
fn left(script: &mut Script, tasks: &[(Tid, u64)]) -> TraceReport {
    for (at, (task, run)) in (1000_u64..).zip(tasks) {
        let totals = Totals { run_ns: run * 1000, ..Totals::default() };
        script.add(at, 1, What::End { task: *task, process: *task, status: None, totals });
    }
    let report = script.report();
    assert!(report.checks.iter().all(|check| check.holds), "{:?}", report.checks);
    report
}

fn child() -> Option<Block> {
    Some(block(WAIT4, FileKind::None, 0))
}

fn sleep() -> Option<Block> {
    Some(block(NANOSLEEP, FileKind::None, 0))
}

fn reads(inode: u64) -> Option<Block> {
    Some(block(READ, FileKind::Pipe, inode))
}

fn writes(inode: u64) -> Option<Block> {
    Some(block(WRITE, FileKind::Pipe, inode))
}

#[test]
fn who_waits_for_a_pipe_waits_for_its_writer() {
    let mut script = taken_up(&[
        (10, 1, "sh", child(), (0, 0)),
        (11, 10, "sleep", sleep(), (0, 7)),
        (12, 10, "cat", reads(7), (7, 0)),
    ]);
    let report = left(&mut script, &[(10, 0), (11, 0), (12, 0)]);
    assert_eq!(us(report.wall_s), 1002);
    assert_eq!(path(&report), [("sleep", Sleep, None, 1002)]);
    let mut all = waits(&report);
    all.sort_unstable();
    let expected = [
        ("cat", PipeEmpty, Some("sleep"), 1002, 1),
        ("sh", Child, Some("cat"), 1002, 1),
        ("sleep", Timer, None, 1002, 1),
    ];
    assert_eq!(all, expected);
    let tree: Vec<_> = report.tree.iter().map(|row| (row.command.as_str(), row.parent)).collect();
    assert_eq!(tree, [("sh", None), ("sleep", Some(0)), ("cat", Some(0))]);
}

#[test]
fn who_waits_for_room_in_a_pipe_waits_for_its_reader_that_runs() {
    let mut script = taken_up(&[
        (10, 1, "gen", writes(7), (0, 7)),
        (11, 1, "eat", None, (7, 0)),
        (12, 1, "job", sleep(), (0, 0)),
    ]);
    let report = left(&mut script, &[(10, 0), (11, 1001), (12, 0)]);
    assert_eq!(path(&report), [("eat", User, None, 1002)]);
    assert!(waits(&report).contains(&("gen", PipeFull, Some("eat"), 1002, 1)), "{:?}", waits(&report));
}

#[test]
fn who_waits_for_one_that_waits_for_a_cpu_waits_for_that_too() {
    let mut script = taken_up(&[(10, 1, "sh", child(), (0, 0)), (11, 10, "job", None, (0, 0))]);
    script.name(77, "cc1", TaskKind::Other).switch(400, 0, 11, 77, Left::Runnable);
    let report = left(&mut script, &[(10, 0), (11, 400)]);
    assert_eq!(path(&report), [("job", CpuWait, Some("cc1"), 601), ("job", User, None, 400)]);
}

#[test]
fn what_was_before_the_last_wait_is_given_up_with_it() {
    // eat ran for 300, then waits for gen, which ran all the time and sleeps since 900.
    let mut script = taken_up(&[(10, 1, "gen", None, (0, 7)), (11, 1, "eat", sleep(), (7, 0))]);
    script.switch(100, 1, 0, 11, Left::Runnable).sleep(400, 1, 11, 0, block(READ, FileKind::Pipe, 7));
    script.sleep(900, 0, 10, 0, block(NANOSLEEP, FileKind::None, 0));
    let report = left(&mut script, &[(10, 900), (11, 300)]);
    assert_eq!(path(&report), [("gen", User, None, 900), ("gen", Sleep, None, 101)]);
}

#[test]
fn tasks_that_wait_for_each_other_have_a_path_of_full_length() {
    let mut script = taken_up(&[
        (10, 1, "a", reads(7), (7, 8)),
        (11, 1, "b", reads(8), (8, 7)),
        (12, 1, "lock", Some(block(FUTEX, FileKind::None, 0)), (0, 0)),
    ]);
    let report = left(&mut script, &[(10, 0), (11, 0), (12, 0)]);
    // Nobody ran: the first of them is shown. Its path is that of the one that closes the circle.
    assert_eq!(path(&report), [("b", Unknown, None, 1002)]);
    let peers: Vec<_> = waits(&report).into_iter().map(|(by, _, peer, ..)| (by, peer)).collect();
    assert!(peers.contains(&("a", Some("b"))) && peers.contains(&("lock", None)), "{peers:?}");
}

#[test]
fn who_waits_for_itself_or_for_nobody_keeps_its_wait() {
    let mut script = taken_up(&[(10, 1, "own", reads(7), (7, 7)), (11, 1, "sh", child(), (0, 0))]);
    let report = left(&mut script, &[(10, 0), (11, 0)]);
    assert_eq!(path(&report), [("own", Unknown, None, 1001)]);
    let mut script = taken_up(&[(12, 1, "lock", Some(block(FUTEX, FileKind::None, 0)), (0, 0))]);
    assert_eq!(path(&left(&mut script, &[(12, 0)])), [("lock", Lock, None, 1000)]);
}

/// `sh` waits for `cat`, which reads what `sleep` does not write. At 1000 we end all of it, at 1100 they are woken for it.
fn stopped(head: Block) -> (Script, TraceReport) {
    let mut script = taken_up(&[
        (10, 1, "sh", Some(head), (0, 0)),
        (11, 10, "sleep", sleep(), (0, 7)),
        (12, 10, "cat", reads(7), (7, 0)),
    ]);
    script.name(99, "whyfaster", TaskKind::Tool);
    script.add(1000, 0, What::Stop);
    for (at, task) in [(1100, 10), (1200, 11), (1300, 12)] {
        script.wake(at, 1, task, 99, 0).switch(at + 10, 0, 0, task, Left::Runnable);
        script.end(at + 20, 0, task, 0, 10);
    }
    let report = script.report();
    assert!(report.checks.iter().all(|check| check.holds), "{:?}", report.checks);
    (script, report)
}

#[test]
fn who_is_ended_by_us_waited_for_whom_it_waited_until_then() {
    for head in [block(WAIT4, FileKind::None, 0), block(RT_SIGSUSPEND, FileKind::None, 0)] {
        let (_, report) = stopped(head);
        assert_eq!(us(report.wall_s), 1000);
        assert_eq!(path(&report), [("sleep", Sleep, None, 1000)]);
        let mut all = waits(&report);
        all.sort_unstable();
        let expected = [
            ("cat", PipeEmpty, Some("sleep"), 1300, 1),
            ("sh", Child, Some("cat"), 1100, 1),
            ("sleep", Timer, None, 1200, 1),
        ];
        assert_eq!(all, expected);
        assert!(report.waits.iter().all(|wait| wait.unfinished == 1), "{:?}", report.waits);
    }
}

#[test]
fn who_runs_when_we_end_it_has_the_path() {
    let mut script = Script::began(0, 10, "burn");
    script.add(1000, 0, What::Stop).end(1500, 0, 10, 0, 1500);
    let report = script.report();
    assert_eq!(path(&report), [("burn", User, None, 1000)]);
    assert_eq!((us(report.wall_s), report.complete), (1000, true), "{:?}", report.checks);
}

#[test]
fn a_tree_that_is_over_when_we_would_end_it_ended_by_itself() {
    let mut script = Script::began(0, 10, "burn");
    script.end(500, 0, 10, 0, 500).add(1000, 0, What::Stop);
    assert_eq!(us(script.report().wall_s), 500);
}
