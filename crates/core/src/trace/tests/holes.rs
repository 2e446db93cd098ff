//! Streams with holes: what passed in them is unknown, and nothing lasts on beyond them by itself.

use super::fixture::*;
use crate::trace::check::CheckKind;
use crate::trace::counts::{Lives, Lost};
use crate::trace::event::{Context, FileKind, Left, Totals, What};
use crate::trace::report::{Cause, Check, PathKind, TraceReport};

fn lost(script: &mut Script, us: u64) -> &mut Script {
    script.counts.lost.ring += 3;
    script.add(us, 0, What::Lost { records: 3 })
}

fn check(report: &TraceReport, kind: CheckKind) -> &Check {
    report.checks.iter().find(|check| check.kind == Some(kind)).unwrap()
}

fn unknown(report: &TraceReport, name: &str) -> u64 {
    us(command(report, name).unknown_s)
}

#[test]
fn a_state_whose_end_was_lost_does_not_last_to_the_end() {
    // 11 waits for CPU 0 when records are lost between 210 and 300; nothing is heard of it any more.
    let mut script = Script::began(0, 10, "sh");
    script.fork(100, 0, 10, 11, BOTH).name(11, "sh", crate::trace::event::TaskKind::Tree);
    script.wake(200, 0, 77, 10, 1).switch(210, 1, 0, 77, Left::Runnable);
    lost(&mut script, 300);
    script.switch(1_000, 1, 77, 0, Left::Sleeping).end(100_000, 0, 10, 0, 100_000);
    script.counts.lives =
        Lives { forks: Some(1), exits: Some(2), last_end_ns: Some(100_000_000), ..Lives::default() };
    let report = script.report();
    assert_eq!(task(&report, 11), (0, 110, 0));
    assert_eq!(sharers(&report).iter().map(|row| row.3).sum::<u64>(), 110);
    // The first task is heard of again: it ran, but for the hole, of which the kernel's account says the same.
    assert_eq!(task(&report, 10), (100_000, 0, 0));
    assert_eq!(unknown(&report, "sh"), 0);
    // By the kernel both are gone, though one end was not seen: that is told, and fails its check.
    assert_eq!((report.processes.exits, report.processes.alive), (Some(2), Some(0)));
    assert!(!check(&report, CheckKind::Alive).holds && !report.complete);
    assert_eq!(us(report.wall_s), 100_000);
    let holds = [CheckKind::States, CheckKind::Blocked, CheckKind::Waiting, CheckKind::Path];
    assert!(holds.iter().all(|kind| check(&report, *kind).holds), "{:?}", report.checks);
}

#[test]
fn what_passes_in_a_hole_is_unknown_and_bounded_by_the_kernels_account() {
    // Asleep at 100; between 200 and 900 records are lost; on a CPU again at 1000 without a wake-up: it waited from 900 on.
    let mut script = Script::began(0, 10, "job");
    script.sleep(100, 0, 10, 0, block(READ, FileKind::Pipe, 5)).wake(200, 1, 77, 55, 1);
    lost(&mut script, 900);
    script.switch(1_000, 0, 0, 10, Left::Runnable).switch(1_200, 0, 10, 0, Left::Dead);
    let delay = Totals { run_ns: 450_000, delay_ns: Some(250_000), ..Totals::default() };
    script.ended(1_200, 10, delay);
    let report = script.report();
    // It ran 100 + 200 by what was seen, and 150 more by the kernel; it waited 100, and 150 more; blocked 100.
    assert_eq!(task(&report, 10), (450, 250, 100));
    assert_eq!(unknown(&report, "job"), 400);
    let on_path = path(&report);
    assert!(on_path.iter().any(|row| row.1 == PathKind::Lost && row.3 >= 700), "{on_path:?}");
    assert!(report.checks.iter().all(|check| check.holds), "{:?}", report.checks);
    assert!(!report.complete);
}

#[test]
fn after_a_hole_the_next_record_says_what_a_task_did_since() {
    let mut script = Script::began(0, 10, "job");
    lost(&mut script, 100);
    script
        .sleep(300, 0, 10, 0, block(NANOSLEEP, FileKind::None, 0))
        .wake_by(500, 0, 10, 0, 0, Context::Timer)
        .switch(500, 0, 0, 10, Left::Runnable);
    lost(&mut script, 600);
    script.wake(800, 0, 10, 77, 0).switch(850, 0, 0, 10, Left::Runnable).end(900, 0, 10, 0, 450);
    let report = script.report();
    // It ran from 100 to 300; after the second hole it slept from 600 to 800, waited to 850, ran to 900. The kernel says that
    // it ran in both holes.
    assert_eq!(task(&report, 10), (450, 50, 400));
    assert_eq!(unknown(&report, "job"), 0);
    assert_eq!(report.lost.gaps, 0);
    assert!(report.checks.iter().all(|check| check.holds), "{:?}", report.checks);
}

#[test]
fn a_wait_whose_beginning_or_end_was_lost_has_no_cause_that_was_not_seen() {
    // Stopped before the hole, and running again in it unseen: found blocked behind it, and woken at 800.
    let mut script = Script::began(0, 10, "job");
    script.switch(100, 0, 10, 0, Left::Stopped);
    lost(&mut script, 600);
    script.wake(800, 1, 10, 77, 0).switch(850, 0, 0, 10, Left::Runnable);
    // It reads from an empty pipe when records are lost again: who ended that is not known.
    script.sleep(900, 0, 10, 0, block(READ, FileKind::Pipe, 5)).wake(1_000, 1, 77, 55, 1);
    lost(&mut script, 1_500);
    script.switch(1_500, 0, 0, 10, Left::Runnable).end(1_600, 0, 10, 0, 250);
    let report = script.report();
    let waits: Vec<_> = report.waits.iter().map(|row| (row.cause, us(row.seconds))).collect();
    assert!(waits.contains(&(Cause::Lost, 200)), "{waits:?}");
    // What it was blocked on up to the hole was seen.
    assert!(waits.contains(&(Cause::PipeEmpty, 100)), "{waits:?}");
    assert!(
        waits.contains(&(Cause::Stopped, 0)) || waits.iter().any(|row| row.0 == Cause::Stopped),
        "{waits:?}"
    );
    let on_path = path(&report);
    assert!(on_path.iter().all(|row| row.1 != PathKind::Unknown), "{on_path:?}");
    assert!(on_path.iter().any(|row| row.1 == PathKind::Lost && row.3 >= 800), "{on_path:?}");
}

#[test]
fn the_wall_time_ends_with_the_last_end_that_the_kernel_counted() {
    let mut script = Script::began(0, 10, "job");
    script.wake(400, 1, 77, 55, 1);
    lost(&mut script, 400);
    // What the rest of the machine did afterwards is no part of it.
    script.switch(99_000, 1, 0, 77, Left::Runnable);
    script.counts.lives =
        Lives { forks: Some(0), exits: Some(1), last_end_ns: Some(700_000), ..Lives::default() };
    let report = script.report();
    assert_eq!((us(report.wall_s), report.processes.alive), (700, Some(0)));
    assert_eq!(task(&report, 10), (400, 0, 0));
    assert!(path(&report).iter().any(|row| row.1 == PathKind::Lost), "{:?}", report.critical_path);
    let sum: u64 = path(&report).iter().map(|row| row.3).sum();
    assert_eq!(sum, 700);
}

#[test]
fn records_that_came_late_are_a_loss_of_their_own() {
    let mut script = Script::began(0, 10, "job");
    script.end(400, 0, 10, 0, 400);
    script.counts.lost = Lost { late: 2, ..Lost::default() };
    let report = script.report();
    assert_eq!((report.lost.late, report.lost.gaps), (2, 0));
    assert!(report.lost.any() && !report.complete);
    assert!(!check(&report, CheckKind::Late).holds);
}

#[test]
fn a_stored_stream_keeps_its_holes() {
    let mut script = Script::began(0, 10, "job");
    lost(&mut script, 100);
    script.sleep(300, 0, 10, 0, block(READ, FileKind::Pipe, 5)).wake(500, 1, 10, 55, 0);
    lost(&mut script, 600);
    script.end(900, 0, 10, 0, 200);
    let mut recorder = crate::trace::stored::Recorder::new(1 << 16);
    script.events.iter().for_each(|event| recorder.push(event));
    let stored =
        recorder.finish(script.setting.clone(), script.counts.clone(), script.facts.clone()).unwrap();
    assert_eq!(stored.analyse().unwrap(), script.report());
}
