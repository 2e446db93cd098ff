//! What is written to a terminal and brought by a worker: whose it is, until when, and what it does to paths. By hand.

use super::fixture::*;
use crate::trace::check::CheckKind;
use crate::trace::event::{Context, Event, FileKind, Left, TaskKind, What};
use crate::trace::report::Cause;
use crate::trace::report::PathKind::{Terminal, User};

const FLUSH: &str = "flush_to_ldisc";

/// "gen", task 10 on CPU 0, writes to a terminal at 50, which wakes worker 90; "cat", task 11 on CPU 1, reads from one from
/// 100 on, and "gen" sleeps from 300 on.
fn written() -> Script {
    let mut script = Script::began(0, 10, "gen");
    script.name(55, "sshd", TaskKind::Other);
    script.fork(0, 0, 10, 11, BOTH).switch(0, 1, 0, 11, Left::Runnable).exec(0, 1, 11, "cat");
    script.wake(50, 0, 90, 10, 1).name(90, "kworker/u4:1", TaskKind::Kernel);
    script.sleep(100, 1, 11, 0, block(READ, FileKind::Terminal, 0));
    script.sleep(300, 0, 10, 0, block(NANOSLEEP, FileKind::None, 0));
    script
}

/// The worker executes `function` on CPU 1 from then on, and has nothing more to do 10 later.
fn works(script: &mut Script, us: u64, function: &str) {
    script.switch(us, 1, 0, 90, Left::Runnable);
    script.add(us, 1, What::Work { task: 90, function: function.to_owned() });
    script.switch(us + 10, 1, 90, 0, Left::Sleeping);
}

/// The worker brings something to "cat" at 600, which runs to 1000; "gen" ends before.
fn brought(mut script: Script) -> Script {
    script.switch(590, 1, 0, 90, Left::Runnable);
    script.add(590, 1, What::Work { task: 90, function: FLUSH.to_owned() });
    script.wake_by(600, 1, 11, 90, 1, Context::Work(FLUSH.to_owned()));
    script.switch(610, 1, 90, 11, Left::Sleeping);
    script.wake_by(700, 0, 10, 0, 0, Context::Timer).switch(700, 0, 0, 10, Left::Runnable);
    script.end(750, 0, 10, 0, 350).end(1000, 1, 11, 0, 490);
    script
}

/// Who "cat" waited for, and whether its path went on with that of "gen".
fn peer(script: &Script) -> (Option<String>, bool) {
    let report = script.report();
    assert!(
        report.checks.iter().filter(|it| it.kind == Some(CheckKind::Path)).all(|it| it.holds),
        "{:?}",
        report.checks
    );
    let row = report.waits.iter().find(|row| row.command == "cat" && row.cause == Cause::Terminal).unwrap();
    (row.peer.clone(), path(&report).iter().any(|(command, kind, ..)| (*command, *kind) == ("gen", User)))
}

#[test]
fn what_nobody_else_woke_the_worker_for_is_the_writers() {
    assert_eq!(peer(&brought(written())), (Some("gen".to_owned()), true));
}

#[test]
fn whoever_wakes_the_worker_again_brings_something_else() {
    let contexts = [(55, Context::Task), (0, Context::Hardirq)];
    for (by, context) in contexts {
        let mut script = written();
        works(&mut script, 60, FLUSH);
        script.wake_by(580, 0, 90, by, 1, context.clone());
        let script = brought(script);
        assert_eq!(peer(&script), (None, false), "{context:?}");
        let report = script.report();
        sound(&report);
        // From 100 to 600, and 10 behind the worker.
        assert!(path(&report).contains(&("cat", Terminal, None, 500)), "{:?}", path(&report));
    }
}

#[test]
fn what_was_brought_to_somebody_is_not_brought_again() {
    // To a terminal emulator. The same text wakes all who wait for it, but what the worker does next brings another.
    let mut script = written();
    script.switch(400, 1, 0, 90, Left::Runnable);
    script.add(400, 1, What::Work { task: 90, function: FLUSH.to_owned() });
    script.wake_by(410, 1, 55, 90, 0, Context::Work(FLUSH.to_owned()));
    let mut both = Script { events: script.events.clone(), ..Script::new() };
    both.wake_by(410, 1, 11, 90, 1, Context::Work(FLUSH.to_owned()));
    both.switch(420, 1, 90, 11, Left::Sleeping).end(800, 1, 11, 0, 480).end(800, 0, 10, 0, 300);
    script.switch(420, 1, 90, 0, Left::Sleeping);
    assert_eq!(peer(&brought(script)), (None, false));
    assert_eq!(peer(&both), (Some("gen".to_owned()), true));
}

#[test]
fn a_worker_that_is_woken_to_bring_an_echo_is_not_who_it_is_for() {
    let mut script = written();
    script.switch(400, 1, 0, 90, Left::Runnable);
    script.add(400, 1, What::Work { task: 90, function: FLUSH.to_owned() });
    script.wake_by(405, 1, 91, 90, 1, Context::Work(FLUSH.to_owned()));
    script.name(91, "kworker/u4:2", TaskKind::Kernel).switch(410, 1, 90, 0, Left::Sleeping);
    assert_eq!(peer(&brought(script)), (Some("gen".to_owned()), true));
}

#[test]
fn where_records_were_lost_it_may_have_been_brought() {
    // Between 50 and 70, before "cat" begins to wait: what that ended for is known again.
    let mut script = written();
    let behind = script.events.iter().position(|event| event.at > 70_000).unwrap();
    script.events.insert(behind, Event { at: 70_000, cpu: 0, what: What::Lost { records: 1 } });
    assert_eq!(peer(&brought(script)), (None, false));
}

#[test]
fn a_writer_that_goes_on_with_another_path_leaves_its_own_to_who_reads() {
    // Another thread wakes "gen" at 400, so that nobody but the message has its path up to 50 any more.
    let mut script = Script::began(0, 9, "sh");
    script.fork(0, 0, 9, 10, BOTH).fork(0, 0, 9, 11, BOTH);
    script.switch(0, 0, 9, 10, Left::Runnable).exec(0, 0, 10, "gen");
    script.switch(0, 1, 0, 11, Left::Runnable).exec(0, 1, 11, "cat");
    script.sleep(20, 1, 11, 0, block(READ, FileKind::Terminal, 0));
    script.wake(50, 0, 90, 10, 1).name(90, "kworker/u4:1", TaskKind::Kernel);
    script.sleep(60, 0, 10, 9, block(READ, FileKind::Pipe, 7));
    script.wake(400, 0, 10, 9, 0).end(400, 0, 9, 10, 340).end(450, 0, 10, 0, 110);
    script.switch(590, 1, 0, 90, Left::Runnable);
    script.add(590, 1, What::Work { task: 90, function: FLUSH.to_owned() });
    script.wake_by(600, 1, 11, 90, 1, Context::Work(FLUSH.to_owned()));
    script.switch(600, 1, 90, 11, Left::Sleeping).end(1000, 1, 11, 0, 420);
    let report = script.report();
    sound(&report);
    assert_eq!(
        path(&report),
        [("cat", Terminal, None, 550), ("cat", User, None, 400), ("gen", User, None, 50)]
    );
}

#[test]
fn who_reads_what_it_wrote_itself_waits_for_no_peer() {
    let mut script = Script::began(0, 10, "sh");
    script.wake(50, 0, 90, 10, 1).name(90, "kworker/u4:1", TaskKind::Kernel);
    script.sleep(100, 0, 10, 0, block(READ, FileKind::Terminal, 0)).switch(390, 1, 0, 90, Left::Runnable);
    script.add(390, 1, What::Work { task: 90, function: FLUSH.to_owned() });
    script.wake_by(400, 1, 10, 90, 0, Context::Work(FLUSH.to_owned()));
    script.switch(400, 0, 0, 10, Left::Runnable).end(500, 0, 10, 0, 200);
    let report = script.report();
    sound(&report);
    assert_eq!(waits(&report), [("sh", Cause::Terminal, None, 300, 1)]);
    assert_eq!(path(&report), [("sh", Terminal, None, 300), ("sh", User, None, 200)]);
}
