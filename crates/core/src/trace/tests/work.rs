//! What CPU time was spent on, by hand.

use super::fixture::*;
use crate::missing::Quantity;
use crate::trace::check::CheckKind;
use crate::trace::counts::{CallCell, CallGroup};
use crate::trace::event::{CallNumber, FileKind, Left, Totals, What};
use crate::trace::report::{Direction, PathKind, TraceReport, TransferRow, WorkKind};
use crate::trace::{Operation, Price};

/// Calls that took so many microseconds of CPU each.
fn cell(by: &str, forked: bool, number: u32, file: FileKind, (entered, cpu_us): (u64, u64)) -> CallCell {
    CallCell {
        by: CallGroup { name: by.to_owned(), forked, subshell: false, process: None },
        call: CallNumber { number, compat: false },
        file,
        path: None,
        entered,
        not_returned: 0,
        begun_before: 0,
        going_on: 0,
        errors: Vec::new(),
        total_ns: Some((cpu_us + 50) * 1000),
        max_ns: None,
        runnable_ns: Some(20_000),
        blocked_ns: Some(30_000),
        failed_ns: None,
        bytes: None,
        histogram: Vec::new(),
    }
}

fn used(run_us: u64, call_us: u64, faults: u64) -> Totals {
    Totals { call_run_ns: Some(call_us * 1000), faults: Some(faults), ..totals(run_us) }
}

fn work(report: &TraceReport) -> Vec<(&str, WorkKind, u64, Option<u64>)> {
    report.work.iter().map(|row| (row.command.as_str(), row.kind, us(row.seconds), row.count)).collect()
}

fn sum(report: &TraceReport, command: &str) -> u64 {
    report.work.iter().filter(|row| row.command == command).map(|row| us(row.seconds)).sum()
}

#[test]
fn the_kernel_divides_as_the_table_of_calls_says_and_all_sums_to_the_cpu_time() {
    let mut script = Script::began(0, 10, "job");
    script.switch(1000, 0, 10, 0, Left::Dead).ended(1000, 10, used(1000, 600, 50));
    script.counts.calls = vec![
        cell("job", false, READ, FileKind::Pipe, (100, 200)),
        cell("job", false, READ, FileKind::File, (10, 100)),
        cell("job", false, WRITE, FileKind::Socket, (5, 50)),
        cell("job", false, 257, FileKind::None, (4, 65)),
        cell("job", false, 3, FileKind::None, (9, 15)),
        cell("job", false, 9, FileKind::None, (3, 40)),
        cell("job", false, FUTEX, FileKind::None, (2, 30)),
        cell("job", false, NANOSLEEP, FileKind::None, (1, 20)),
        cell("job", false, 39, FileKind::None, (7, 10)),
        CallCell { not_returned: 1, ..cell("job", false, 231, FileKind::None, (1, 0)) },
    ];
    script.facts.prices =
        vec![Price { of: Operation::PageFault, ns: 1000.0 }, Price { of: Operation::Stat, ns: 5000.0 }];
    let report = script.report();
    let expected = [
        ("job", WorkKind::User, 350, None),
        ("job", WorkKind::Pipe, 200, Some(100)),
        ("job", WorkKind::FileData, 100, Some(10)),
        // 600 within calls, 530 in those that returned: the rest is the end of the process.
        ("job", WorkKind::Process, 70, None),
        ("job", WorkKind::FileMetadata, 65, Some(4)),
        ("job", WorkKind::PageFaults, 50, Some(50)),
        ("job", WorkKind::Socket, 50, Some(5)),
        ("job", WorkKind::Memory, 40, Some(3)),
        ("job", WorkKind::Lock, 30, Some(2)),
        ("job", WorkKind::Scheduling, 20, Some(1)),
        ("job", WorkKind::Descriptor, 15, Some(9)),
        ("job", WorkKind::Rest, 10, Some(7)),
    ];
    assert_eq!(work(&report), expected);
    let faults = report.work.iter().find(|row| row.kind == WorkKind::PageFaults).unwrap();
    assert_eq!((faults.estimated, faults.price_s, faults.priced_s), (true, Some(1e-6), Some(50.0 * 1e-6)));
    let names = report.work.iter().find(|row| row.kind == WorkKind::FileMetadata).unwrap();
    assert_eq!((names.estimated, names.priced_s), (false, Some(4.0 * 5e-6)));
    // The path through the same task divides its time in the kernel in the same way.
    let pipe = report.critical_path.iter().find(|row| row.what.as_deref() == Some("pipe")).unwrap();
    assert_eq!((pipe.kind, us(pipe.seconds)), (PathKind::Kernel, 200));
    let faults = report.critical_path.iter().find(|row| row.what.as_deref() == Some("page_faults")).unwrap();
    assert_eq!((faults.kind, us(faults.seconds)), (PathKind::Kernel, 50));
    assert_eq!(path(&report)[0], ("job", PathKind::User, None, 350));
}

#[test]
fn a_start_up_is_taken_out_of_the_calls_that_a_loader_makes() {
    let mut script = Script::began(0, 10, "job");
    script.started(300, 10, 300, 130).spent(1000, 10, 400);
    script.switch(1000, 0, 10, 0, Left::Dead).ended(1000, 10, used(1000, 400, 0));
    script.counts.calls = vec![
        cell("job", false, 59, FileKind::None, (1, 30)),
        cell("job", false, 9, FileKind::None, (20, 60)),
        cell("job", false, 257, FileKind::None, (10, 40)),
        cell("job", false, WRITE, FileKind::Pipe, (10, 270)),
    ];
    let report = script.report();
    // 130 in the calls of the start-up: 30 the exec, 100 the loader's.
    let expected = [
        ("job", WorkKind::User, 430, None),
        ("job", WorkKind::Startup, 170 + 100, Some(1)),
        ("job", WorkKind::Pipe, 270, Some(10)),
        ("job", WorkKind::Exec, 30, Some(1)),
        ("job", WorkKind::FileMetadata, 0, Some(10)),
        ("job", WorkKind::Memory, 0, Some(20)),
    ];
    assert_eq!(work(&report), expected);
    let expected = [
        ("job", PathKind::User, None, 430),
        ("job", PathKind::Kernel, Some("pipe"), 270),
        ("job", PathKind::Startup, None, 270),
        ("job", PathKind::Kernel, Some("exec"), 30),
    ];
    assert_eq!(path(&report), expected);
}

/// sh makes two children, of which each runs "true".
fn family() -> Script {
    let mut script = Script::began(0, 10, "sh");
    for (tid, at) in [(11, 1000), (12, 2000)] {
        script.fork(at, 0, 10, tid, BOTH).switch(at, 1, 0, tid, Left::Runnable);
        // 100 between fork and exec, of which 60 in calls: 20 in others, 40 in the exec so far.
        script.exec_after(at + 100, 1, tid, "true", used(100, 60, 5));
        script.switch(at + 400, 1, tid, 0, Left::Dead).ended(at + 400, tid, used(400, 160, 20));
    }
    script.switch(5000, 0, 10, 0, Left::Dead).ended(5000, 10, used(5000, 1000, 30));
    script.counts.calls = vec![
        cell("sh", false, 56, FileKind::None, (2, 700)),
        cell("sh", false, WAIT4, FileKind::None, (2, 300)),
        cell("sh", true, 3, FileKind::None, (6, 40)),
        // All of the two execs: 80 before the new programs began, and 50 behind.
        cell("true", false, 59, FileKind::None, (2, 130)),
        cell("true", false, 9, FileKind::None, (8, 90)),
        CallCell { not_returned: 2, ..cell("true", false, 231, FileKind::None, (2, 0)) },
    ];
    script.facts.prices =
        vec![Price { of: Operation::Process, ns: 400_000.0 }, Price { of: Operation::Exec, ns: 60_000.0 }];
    script
}

#[test]
fn processes_and_execs_are_counted_once_and_priced() {
    let report = family().report();
    let expected = [
        ("sh", WorkKind::User, 4000, None),
        ("sh", WorkKind::Process, 1000, Some(2)),
        ("true", WorkKind::User, 400, None),
        ("sh (forked)", WorkKind::Process, 80 + 40, None),
        ("true", WorkKind::Memory, 90, Some(8)),
        ("sh (forked)", WorkKind::Exec, 80, None),
        ("true", WorkKind::Process, 60, None),
        ("true", WorkKind::Exec, 50, Some(2)),
    ];
    assert_eq!(work(&report), expected);
    let priced = |kind, command: &str| {
        let row = report.work.iter().find(|row| row.kind == kind && row.command == command).unwrap();
        row.priced_s.map(us)
    };
    assert_eq!(priced(WorkKind::Process, "sh"), Some(800));
    assert_eq!(priced(WorkKind::Exec, "true"), Some(120));
    assert_eq!((sum(&report, "sh"), sum(&report, "sh (forked)"), sum(&report, "true")), (5000, 200, 600));
    let check = report.checks.iter().find(|check| check.kind == Some(CheckKind::Work)).unwrap();
    assert_eq!((check.holds, us(check.left), us(check.right)), (true, 5800, 5800));
}

#[test]
fn work_that_does_not_fit_the_cpu_time_fails_its_check() {
    let mut script = Script::began(0, 10, "job");
    let report = script.switch(10_000, 0, 10, 0, Left::Dead).ended(10_000, 10, used(9_500, 10, 0)).report();
    let check = report.checks.iter().find(|check| check.kind == Some(CheckKind::Work)).unwrap();
    assert_eq!((check.holds, us(check.left), us(check.right)), (false, 10_000, 9_500));
}

#[test]
fn calls_that_were_only_counted_are_one_group() {
    let mut script = Script::began(0, 10, "job");
    script.switch(1000, 0, 10, 0, Left::Dead).ended(1000, 10, used(1000, 600, 5));
    let counted = CallCell {
        total_ns: None,
        runnable_ns: None,
        blocked_ns: None,
        ..cell("job", false, READ, FileKind::Pipe, (9, 0))
    };
    script.counts.calls = vec![counted];
    let report = script.report();
    let expected = [
        ("job", WorkKind::Rest, 600, None),
        ("job", WorkKind::User, 400, None),
        ("job", WorkKind::Pipe, 0, Some(9)),
    ];
    assert_eq!(work(&report), expected);
    let files = Quantity::Report { field: "files".into() };
    for quantity in [Quantity::WorkInKernel, Quantity::WorkOfPageFaults, files] {
        let said = |it: &crate::missing::NotMeasured| it.quantity.as_ref() == Some(&quantity);
        assert!(report.not_measured.iter().any(said), "{quantity:?}");
    }
}

#[test]
fn a_thread_is_made_too() {
    let mut script = Script::began(0, 10, "job");
    script.add(100, 0, What::Fork { parent: 10, child: 12, process: 10, allowed: vec![BOTH] });
    script.switch(100, 1, 0, 12, Left::Runnable).switch(200, 1, 12, 0, Left::Dead);
    script.add(200, 1, What::End { task: 12, process: 10, status: Some(0), totals: used(100, 0, 0) });
    script.switch(1000, 0, 10, 0, Left::Dead).ended(1000, 10, used(1000, 60, 0));
    script.counts.calls = vec![cell("job", false, 435, FileKind::None, (1, 60))];
    script.facts.prices = vec![Price { of: Operation::Thread, ns: 20_000.0 }];
    let report = script.report();
    let made = report.work.iter().find(|row| row.kind == WorkKind::Process).unwrap();
    assert_eq!((made.count, us(made.seconds), made.priced_s.map(us)), (Some(1), 60, Some(20)));
}

#[test]
fn transfers_have_a_direction_a_kind_of_file_and_bytes() {
    let mut script = Script::began(0, 10, "cat");
    let moved = |number, file, bytes, times| CallCell {
        bytes: Some(bytes),
        ..cell("cat", false, number, file, times)
    };
    script.counts.calls = vec![
        moved(READ, FileKind::File, 1 << 20, (16, 300)),
        moved(WRITE, FileKind::Pipe, 1 << 20, (32, 500)),
        moved(20, FileKind::Pipe, 4096, (1, 20)),
        moved(45, FileKind::Socket, 77, (3, 10)),
        cell("cat", false, 3, FileKind::None, (5, 5)),
    ];
    let report = script.end(1000, 0, 10, 0, 1000).report();
    let rows: Vec<_> = report
        .transfers
        .iter()
        .map(|row| (row.direction, row.file, row.calls, row.bytes, row.cpu_s.map(us)))
        .collect();
    let expected = [
        (Direction::Write, FileKind::Pipe, 33, (1 << 20) + 4096, Some(520)),
        (Direction::Read, FileKind::File, 16, 1 << 20, Some(300)),
        (Direction::Read, FileKind::Socket, 3, 77, Some(10)),
    ];
    assert_eq!(rows, expected);
    assert_eq!(report.files, []);
}

#[test]
fn files_that_take_long_have_rows_and_the_rest_of_the_transfers_is_in_others() {
    let mut script = Script::began(0, 10, "cat");
    let moved = |path: Option<&str>, file, (calls, us)| CallCell {
        bytes: Some(calls * 4096),
        path: path.map(str::to_owned),
        ..cell("cat", false, READ, file, (calls, us))
    };
    script.counts.calls = vec![
        moved(None, FileKind::File, (3, 15)),
        moved(Some("/proc/kallsyms"), FileKind::File, (400, 900)),
        moved(Some("/usr/lib/libc.so.6"), FileKind::File, (2, 5)),
        moved(Some("/dev/zero"), FileKind::CharDevice, (10, 80)),
        moved(None, FileKind::Pipe, (50, 700)),
    ];
    let report = script.end(2000, 0, 10, 0, 2000).report();
    let rows: Vec<_> =
        report.files.iter().map(|row| (row.path.as_deref(), row.calls, row.cpu_s.map(us))).collect();
    let expected =
        [(Some("/proc/kallsyms"), 400, Some(900)), (Some("/dev/zero"), 10, Some(80)), (None, 5, Some(20))];
    assert_eq!(rows, expected);
    let bytes = |rows: &[TransferRow]| {
        rows.iter().filter(|row| row.file.has_path()).map(|row| row.bytes).sum::<u64>()
    };
    assert_eq!(bytes(&report.files), bytes(&report.transfers));
}

#[test]
fn a_pipe_is_priced_by_its_calls_and_bytes() {
    let mut script = Script::began(0, 10, "dd");
    script.counts.calls =
        vec![CallCell { bytes: Some(10 * 1024), ..cell("dd", false, WRITE, FileKind::Pipe, (100, 100)) }];
    script.facts.prices =
        vec![Price { of: Operation::Call, ns: 200.0 }, Price { of: Operation::PipeKib, ns: 300.0 }];
    script.switch(1000, 0, 10, 0, Left::Dead).ended(1000, 10, used(1000, 100, 0));
    let report = script.report();
    let pipe = report.work.iter().find(|row| row.kind == WorkKind::Pipe).unwrap();
    // 100 calls at 200 ns, and 10 KiB at half the price of both sides.
    assert!((pipe.priced_s.unwrap() - 21.5e-6).abs() < 1e-12, "{pipe:?}");
}
