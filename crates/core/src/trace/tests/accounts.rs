//! System calls, checks and costs, from what the tracer counted.

use super::fixture::*;
use crate::missing::Quantity;
use crate::trace::check::CheckKind;
use crate::trace::counts::{CallCell, CallGroup, Lives, OwnCost};
use crate::trace::event::{CallNumber, FileKind, Totals};
use crate::warning::{Caution, Warning};

fn cell(name: &str, number: u32, entered: u64) -> CallCell {
    CallCell {
        by: CallGroup { name: name.to_owned(), forked: false, subshell: false, process: None },
        call: CallNumber { number, compat: false },
        file: FileKind::None,
        path: None,
        entered,
        not_returned: 0,
        begun_before: 0,
        going_on: 0,
        errors: Vec::new(),
        total_ns: Some(1000),
        max_ns: Some(500),
        runnable_ns: Some(100),
        blocked_ns: Some(600),
        failed_ns: None,
        bytes: None,
        histogram: vec![0, entered],
    }
}

fn counted(entered: u64, returned: u64) -> Script {
    let totals = Totals {
        calls_entered: Some(entered),
        calls_returned: Some(returned),
        run_ns: 1_000_000,
        ..Totals::default()
    };
    let mut script = Script::began(0, 10, "job");
    script.switch(1000, 0, 10, 0, crate::trace::event::Left::Dead).ended(1000, 10, totals);
    script.counts.lives =
        Lives { calls_entered: Some(entered), calls_returned: Some(returned), ..Lives::default() };
    script
}

#[test]
fn a_row_a_command_and_call() {
    let mut script = counted(12, 11);
    let forked = CallGroup { name: "sh".to_owned(), forked: true, subshell: false, process: None };
    script.counts.calls = vec![
        CallCell { errors: vec![(2, 3), (13, 1)], ..cell("job", 257, 10) },
        CallCell { by: forked, not_returned: 1, ..cell("sh", 231, 2) },
    ];
    let report = script.report();
    sound(&report);
    let row = &report.syscalls[0];
    assert_eq!(
        (row.command.as_deref(), row.name.as_str(), row.calls, row.errors),
        (Some("job"), "openat", 10, 4)
    );
    assert_eq!(row.errnos, [("ENOENT".to_owned(), 3), ("EACCES".to_owned(), 1)]);
    let parts = [row.total_s, row.cpu_s, row.runnable_s, row.blocked_s, row.max_s].map(|part| part.map(ns));
    assert_eq!(parts, [Some(1000), Some(300), Some(100), Some(600), Some(500)]);
    let row = &report.syscalls[1];
    assert_eq!(
        (row.command.as_deref(), row.name.as_str(), row.not_returned),
        (Some("sh (forked)"), "exit_group", 1)
    );
}

#[test]
fn calls_that_do_not_add_up_fail_their_check() {
    let mut script = counted(12, 11);
    script.counts.calls = vec![cell("job", 1, 13)];
    let report = script.report();
    let failed: Vec<CheckKind> =
        report.checks.iter().filter(|it| !it.holds).filter_map(|it| it.kind).collect();
    assert_eq!(failed, [CheckKind::CallsReturned, CheckKind::CallsOfTable]);
}

#[test]
fn what_the_kernel_counted_and_the_stream_does_not_tell_fails_its_check() {
    let mut script = counted(12, 12);
    script.counts.calls = vec![cell("job", 1, 11), cell("job", 57, 1)];
    let told = Lives {
        forks: Some(0),
        threads: Some(0),
        execs: Some(1),
        failed_execs: Some(0),
        exits: Some(1),
        ..script.counts.lives
    };
    script.counts.lives = told;
    let failed = |script: &Script| -> Vec<CheckKind> {
        let report = script.report();
        report.checks.iter().filter(|it| !it.holds).filter_map(|it| it.kind).collect()
    };
    // A fork returned, but no process was made.
    assert_eq!(failed(&script), [CheckKind::MadeByCalls]);
    script.counts.lives =
        Lives { forks: Some(1), exits: Some(2), calls_entered: Some(14), calls_returned: Some(14), ..told };
    script.counts.calls = vec![cell("job", 1, 13), cell("job", 57, 1)];
    assert_eq!(failed(&script), [CheckKind::Forks, CheckKind::Exits, CheckKind::CallsOfEnded]);
    let processes = script.report().processes;
    assert_eq!((processes.forks, processes.execs, processes.exits), (Some(1), Some(1), Some(2)));
}

#[test]
fn counted_calls_have_no_times() {
    let mut script = counted(12, 12);
    script.counts.calls = vec![CallCell {
        total_ns: None,
        max_ns: None,
        runnable_ns: None,
        blocked_ns: None,
        ..cell("job", 1, 12)
    }];
    let report = script.report();
    assert_eq!((report.syscalls[0].total_s, report.syscalls[0].cpu_s), (None, None));
    assert!(report.not_measured.iter().any(|it| it.quantity == Some(Quantity::TimeInCalls)));
    assert_eq!(report.overhead.calls_share, None);
}

#[test]
fn shares_of_what_observing_cost() {
    let mut script = counted(12, 12);
    script.counts.calls = vec![cell("job", 1, 12)];
    script.counts.own = OwnCost {
        call_ns: Some(50.0),
        switch_ns: Some(400.0),
        switches: 100,
        tool_ns: 20_000,
        ..OwnCost::default()
    };
    script.facts.traced_over_untraced = Some(1.02);
    let overhead = script.report().overhead;
    // 12 calls at 50 ns and 100 switches at 400 ns, over 1 ms of wall and 1 µs in calls.
    let close = |share: Option<f64>, expected: f64| (share.unwrap() - expected).abs() < 1e-12;
    assert!(close(overhead.calibrated_share, 0.0406));
    assert!(close(overhead.calls_share, 0.6));
    assert!(close(overhead.switches_share, 0.04));
    // In so short a run it is mostly the beginning and the end of whyfaster itself.
    assert_eq!(overhead.tool_share, None);
    assert_eq!(overhead.traced_over_untraced, Some(1.02));
}

#[test]
fn losses_and_rings_are_warned_of() {
    let mut script = counted(12, 12);
    script.counts.calls = vec![cell("job", 426, 12)];
    script.counts.lost.ring = 7;
    script.facts.steal_ns = Some(500_000);
    let report = script.report();
    let warned = |caution: &Caution| report.warnings.iter().any(|it| it.caution.as_ref() == Some(caution));
    assert!(warned(&Caution::Lost { records: 7 }) && warned(&Caution::IoUring), "{:?}", report.warnings);
    let steal = |it: &Warning| matches!(it.caution, Some(Caution::StealDuringTrace { .. }));
    assert!(report.warnings.iter().any(steal), "{:?}", report.warnings);
    assert!(report.lost.any());
}

#[test]
fn a_name_that_is_missing_takes_nothing_from_the_counts() {
    let mut script = counted(12, 12);
    script.counts.calls = vec![cell("job", 1, 12)];
    let whole = script.report();
    script.counts.lost.string = 3;
    let report = script.report();
    let warned = |caution: &Caution| report.warnings.iter().any(|it| it.caution.as_ref() == Some(caution));
    assert!(warned(&Caution::NamesUnread { paths: 3, stacks: 0 }), "{:?}", report.warnings);
    assert_eq!((report.complete, report.lost.any()), (whole.complete, false), "{:?}", report.checks);
    assert_eq!(report.warnings.len(), whole.warnings.len() + 1);
}
