//! Stages: who reads from whom, and who waits for whom.

use super::fixture::*;
use crate::trace::event::{FileKind, Left, What};
use crate::trace::report::Cause;

#[test]
fn stages_stand_in_their_order_and_the_slowest_sets_the_pace() {
    // z writes pipe 7, m reads it and writes pipe 8, a reads that. z ends first; m runs long; a waits for its end.
    let mut script = Script::began(0, 10, "sh");
    for (tid, name, input, output) in [(11, "z", 0, 7), (12, "m", 7, 8), (13, "a", 8, 0)] {
        let cpu = tid as u16 - 10;
        script.fork(0, 0, 10, tid, 1 << cpu).switch(0, cpu, 0, tid, Left::Runnable).exec(0, cpu, tid, name);
        script.add(0, cpu, What::Pipes { task: tid, input, output });
    }
    script.sleep(10, 3, 13, 0, block(READ, FileKind::Pipe, 8)).end(20, 1, 11, 0, 20);
    script.wake(900, 2, 13, 12, 3).end(900, 2, 12, 0, 900).switch(900, 3, 0, 13, Left::Runnable);
    let report = script.end(950, 3, 13, 0, 60).end(1000, 0, 10, 0, 1000).report();
    sound(&report);
    let rows: Vec<(&str, &[usize], bool)> =
        report.stages.iter().map(|row| (row.command.as_str(), &row.reads_from[..], row.bottleneck)).collect();
    assert_eq!(rows, [("z", &[][..], false), ("m", &[0][..], true), ("a", &[1][..], false)]);
    assert_eq!(us(report.stages[2].starved_s), 890);
}

/// sh (10) makes `gen` (11) on CPU 1 and `eat` (12) on CPU 2; gen writes and eat reads pipe 7.
fn pair() -> Script {
    let mut script = Script::began(0, 10, "sh");
    script
        .fork(0, 0, 10, 11, 0b10)
        .switch(0, 1, 0, 11, Left::Runnable)
        .exec(0, 1, 11, "gen")
        .fork(0, 0, 10, 12, 0b100)
        .switch(0, 2, 0, 12, Left::Runnable)
        .exec(0, 2, 12, "eat")
        .sleep(0, 0, 10, 0, block(WAIT4, FileKind::None, 0));
    script
}

#[test]
fn a_slow_writer_starves_its_reader() {
    let mut script = pair();
    // eat reads for 10 and sleeps for 90, ten times over.
    for turn in 0..10 {
        let at = turn * 100 + 10;
        script.sleep(at, 2, 12, 0, block(READ, FileKind::Pipe, 7)).wake(at + 90, 1, 12, 11, 2).switch(
            at + 90,
            2,
            0,
            12,
            Left::Runnable,
        );
    }
    script
        .end(1010, 1, 11, 0, 1010)
        .wake(1020, 2, 10, 12, 0)
        .end(1020, 2, 12, 0, 120)
        .switch(1020, 0, 0, 10, Left::Runnable)
        .end(1030, 0, 10, 0, 10);
    let report = script.report();
    sound(&report);
    let rows: Vec<(&str, &[usize], u64, u64, bool)> = report
        .stages
        .iter()
        .map(|row| {
            (row.command.as_str(), &row.reads_from[..], us(row.starved_s), us(row.held_up_s), row.bottleneck)
        })
        .collect();
    assert_eq!(rows, [("gen", &[][..], 0, 0, true), ("eat", &[0][..], 900, 0, false)]);
    assert!(waits(&report).contains(&("eat", Cause::PipeEmpty, Some("gen"), 900, 10)));
    assert!(waits(&report).contains(&("sh", Cause::Child, Some("eat"), 1020, 1)));
}

#[test]
fn a_slow_reader_holds_up_its_writer() {
    let mut script = pair();
    for turn in 0..5 {
        let at = turn * 100 + 10;
        script.sleep(at, 1, 11, 0, block(WRITE, FileKind::Pipe, 7)).wake(at + 80, 2, 11, 12, 1).switch(
            at + 80,
            1,
            0,
            11,
            Left::Runnable,
        );
    }
    script.end(600, 1, 11, 0, 200).end(700, 2, 12, 0, 700);
    script.wake(700, 2, 10, 12, 0).switch(700, 0, 0, 10, Left::Runnable).end(710, 0, 10, 0, 10);
    let report = script.report();
    sound(&report);
    let stage = |name: &str| report.stages.iter().find(|row| row.command == name).unwrap();
    assert_eq!((us(stage("gen").held_up_s), stage("gen").bottleneck), (400, false));
    assert_eq!((us(stage("eat").starved_s), stage("eat").bottleneck), (0, true));
    assert_eq!(us(stage("eat").running_s), 700);
}

#[test]
fn a_signal_of_a_child_makes_no_stage_of_it() {
    // eat reads pipe 7 from gen, and its own short children end while it does.
    let mut script = pair();
    for turn in 0..6_u32 {
        let at = u64::from(turn) * 100 + 10;
        let child = 20 + turn;
        let waker = if turn % 2 == 0 { (1, 11) } else { (3, child) };
        script
            .fork(at, 2, 12, child, 0b1000)
            .switch(at, 3, 0, child, Left::Runnable)
            .exec(at, 3, child, "true");
        script
            .sleep(at + 10, 2, 12, 0, block(READ, FileKind::Pipe, 7))
            .wake(at + 60, waker.0, 12, waker.1, 2)
            .switch(at + 60, 2, 0, 12, Left::Runnable)
            .end(at + 70, 3, child, 0, 70);
    }
    script.end(700, 1, 11, 0, 700).end(800, 2, 12, 0, 500);
    script.wake(800, 2, 10, 12, 0).switch(800, 0, 0, 10, Left::Runnable).end(810, 0, 10, 0, 10);
    let report = script.report();
    sound(&report);
    let commands: Vec<&str> = report.stages.iter().map(|row| row.command.as_str()).collect();
    assert_eq!(commands, ["gen", "eat"]);
}

#[test]
fn a_short_pipe_with_one_wake_up_is_seen_at_the_end() {
    let mut script = pair();
    script
        .sleep(10, 2, 12, 0, block(READ, FileKind::Pipe, 7))
        .wake(100, 1, 12, 11, 2)
        .end(100, 1, 11, 0, 100)
        .switch(100, 2, 0, 12, Left::Runnable)
        .end(150, 2, 12, 0, 60)
        .wake(150, 2, 10, 12, 0)
        .switch(150, 0, 0, 10, Left::Runnable)
        .end(160, 0, 10, 0, 10);
    let report = script.report();
    let rows: Vec<(&str, &[usize])> =
        report.stages.iter().map(|row| (row.command.as_str(), &row.reads_from[..])).collect();
    assert_eq!(rows, [("gen", &[][..]), ("eat", &[0][..])]);
}

#[test]
fn stages_that_never_waited_are_known_by_their_descriptors() {
    // gen ends before eat runs; sh's own output is another pipe, which eat inherits; eat's child inherits both.
    let mut script = Script::began(0, 10, "sh");
    let pipes = |task, input, output| What::Pipes { task, input, output };
    script.add(0, 0, pipes(10, 0, 8)).fork(10, 0, 10, 11, 0b10).switch(10, 1, 0, 11, Left::Runnable);
    script.exec(20, 1, 11, "gen").add(20, 1, pipes(11, 0, 7)).end(50, 1, 11, 0, 40);
    script.fork(60, 0, 10, 12, 0b10).switch(60, 1, 0, 12, Left::Runnable);
    script.exec(70, 1, 12, "eat").add(70, 1, pipes(12, 7, 8));
    script.fork(80, 1, 12, 13, 0b100).switch(80, 2, 0, 13, Left::Runnable);
    script.exec(90, 2, 13, "child").add(90, 2, pipes(13, 7, 8)).end(120, 2, 13, 0, 40);
    script.end(200, 1, 12, 0, 140).end(300, 0, 10, 0, 300);
    let report = script.report();
    sound(&report);
    let rows: Vec<(&str, &[usize])> =
        report.stages.iter().map(|row| (row.command.as_str(), &row.reads_from[..])).collect();
    assert_eq!(rows, [("gen", &[][..]), ("eat", &[0][..])]);
}

#[test]
fn a_child_that_closes_a_pipe_by_its_exec_is_no_stage() {
    // xargs reads whether the exec worked, on a pipe that closes with it: one wake-up each, by its own child.
    let mut script = Script::began(0, 10, "xargs");
    for turn in 0..3_u32 {
        let (at, child) = (u64::from(turn) * 1000, 20 + turn);
        script.fork(at, 0, 10, child, 0b10).switch(at, 1, 0, child, Left::Runnable);
        script.sleep(at + 10, 0, 10, 0, block(READ, FileKind::Pipe, 100 + u64::from(turn)));
        script.wake(at + 30, 1, 10, child, 0).switch(at + 30, 0, 0, 10, Left::Runnable);
        script.exec(at + 30, 1, child, "true").end(at + 50, 1, child, 0, 50);
    }
    let report = script.end(4000, 0, 10, 0, 3940).report();
    sound(&report);
    assert_eq!(report.stages, []);
    assert!(waits(&report).contains(&("xargs", Cause::PipeEmpty, Some("xargs (forked)"), 60, 3)));
}

/// sh runs `first | second` from `at` on: over pipe 7, the output of all is pipe 8.
fn two_stages(script: &mut Script, at: u64, tid: u32, [first, second]: [&str; 2]) {
    let pipes = |task, input, output| What::Pipes { task, input, output };
    for (tid, cpu, name, input, output) in [(tid, 1, first, 0, 7), (tid + 1, 2, second, 7, 8)] {
        script
            .fork(at, 0, 10, tid, 1 << cpu)
            .switch(at, cpu, 0, tid, Left::Runnable)
            .exec(at, cpu, tid, name);
        script.add(at, cpu, pipes(tid, input, output));
    }
    script.end(at + 100, 1, tid, 0, 100).end(at + 300, 2, tid + 1, 0, 300);
}

#[test]
fn pipelines_that_ran_one_after_the_other_are_told_apart() {
    let mut script = Script::began(0, 10, "sh");
    script.add(0, 0, What::Pipes { task: 10, input: 0, output: 8 });
    two_stages(&mut script, 10, 20, ["seq", "sort"]);
    two_stages(&mut script, 400, 30, ["seq", "cat"]);
    // The first one again: it is added to what was seen of it.
    two_stages(&mut script, 800, 40, ["seq", "sort"]);
    let report = script.end(2000, 0, 10, 0, 2000).report();
    sound(&report);
    let rows: Vec<(usize, &str, &[usize], u64, bool)> = report
        .stages
        .iter()
        .map(|row| (row.pipeline, row.command.as_str(), &row.reads_from[..], row.processes, row.bottleneck))
        .collect();
    let expected = [
        (0, "seq", &[][..], 2, false),
        (0, "sort", &[0][..], 2, true),
        (1, "seq", &[][..], 1, false),
        (1, "cat", &[2][..], 1, true),
    ];
    assert_eq!(rows, expected);
}
