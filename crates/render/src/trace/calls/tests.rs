//! Lines of calls as a person would read them beside strace's.

use whyfaster_core::trace::event::{CallNumber, TaskKind, Totals};

use super::*;
use crate::fixture::look;

fn call(task: Tid, number: u32, began: u64, args: [u64; 6], result: Option<i64>, path: Option<&str>) -> What {
    What::Call(Call {
        task,
        call: CallNumber { number, compat: false },
        began,
        args,
        result,
        path: path.map(str::to_owned),
        run_ns: 0,
        runnable_ns: 0,
    })
}

fn at(at: u64, what: What) -> Event {
    Event { at, cpu: 0, what }
}

fn name(task: Tid, name: &str) -> Event {
    at(1_000_000_000, What::Name { task, process: task, name: name.to_owned(), kind: TaskKind::Tree })
}

fn lines(filter: CallFilter, events: &[Event]) -> Vec<String> {
    let mut calls = Calls::new(filter, &look(80, false));
    let mut out = Vec::new();
    for event in events {
        calls.push(event, &mut out).unwrap();
    }
    calls.finish(&mut out).unwrap();
    String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
}

/// Numbers of x86-64, where the tests of names run.
#[cfg(target_arch = "x86_64")]
fn story() -> Vec<Event> {
    const S: u64 = 1_000_000_000;
    let cwd = (-100_i32) as u32;
    let exec =
        What::Exec { task: 7, former: 7, name: "sh".to_owned(), path: None, so_far: Totals::default() };
    vec![
        at(S, exec),
        name(7, "sh"),
        name(8, "cat"),
        at(
            S + 2_000,
            call(
                7,
                257,
                S + 1_000,
                [u64::from(cwd), 0x7f00, 0o2_000_000, 9, 9, 9],
                Some(3),
                Some("/etc/pass\nwd"),
            ),
        ),
        at(S + 52_000, call(8, 0, S + 3_000, [0, 0x7f10, 65536, 1, 2, 3], Some(512), None)),
        at(
            S + 60_000,
            call(7, 59, S + 55_000, [0x1, 0x2, 0x3, 0, 0, 0], Some(-2), Some("/usr/local/bin/sh")),
        ),
        // It began before the two above, and ends last.
        at(S + 70_000, call(7, 61, S + 2_500, [u64::MAX, 0x7ffe, 0, 0, 0, 0], Some(8), None)),
        at(
            S + 71_000,
            call(7, 9, S + 70_500, [0, 4096, 3, 0x22, u64::from(u32::MAX), 0], Some(0x7f12_3456_7000), None),
        ),
        at(S + 72_000, call(7, 0, S + 71_500, [0, 0x7f10, 1, 0, 0, 0], Some(-512), None)),
        at(S + 73_000, call(8, 999, S + 72_500, [1, 0xff, 0, 0, 0, 0], Some(0), None)),
        at(S + 80_000, What::End { task: 8, process: 8, status: Some(0), totals: Totals::default() }),
        at(S + 80_000, call(8, 231, S + 79_000, [0; 6], None, None)),
    ]
}

#[test]
#[cfg(target_arch = "x86_64")]
fn calls_read_like_straces() {
    assert_eq!(
        lines(CallFilter::default(), &story()),
        [
            r#"0.000001 7 sh openat(AT_FDCWD, "/etc/pass\nwd", O_RDONLY|O_CLOEXEC) = 3 <0.000001>"#,
            "0.000002 7 sh wait4(-1, 0x7ffe, 0, 0) = 8 <0.000067>",
            "0.000003 8 cat read(0, 0x7f10, 65536) = 512 <0.000049>",
            r#"0.000055 7 sh execve("/usr/local/bin/sh", 0x2, 0x3) = -1 ENOENT <0.000005>"#,
            "0.000070 7 sh mmap(0, 4096, 0x3, 0x22, -1, 0) = 0x7f1234567000 <0.000000>",
            "0.000071 7 sh read(0, 0x7f10, 1) = ? ERESTARTSYS <0.000000>",
            &format!(
                "0.000072 8 cat {}(0x1, 0xff) = 0 <0.000000>",
                call_name(CallNumber { number: 999, compat: false })
            ),
            "0.000079 8 cat exit_group(0) = ?",
        ]
    );
}

#[test]
#[cfg(target_arch = "x86_64")]
fn filters_keep_and_leave_out() {
    let printed = |filter: &str| lines(CallFilter::parse(filter), &story()).len();
    assert_eq!((printed("sh:read,sh:wait4"), printed("!read,!cat:")), (2, 4));
}

#[test]
#[cfg(target_arch = "x86_64")]
fn a_call_that_lasted_longer_than_the_window_is_marked() {
    const S: u64 = 1_000_000_000;
    let events = [
        name(7, "sh"),
        at(S + 20, call(7, 39, S + 10, [0; 6], Some(7), None)),
        at(3 * S, call(7, 39, 3 * S - 10, [0; 6], Some(7), None)),
        at(5 * S, call(8, 61, S + 5, [0; 6], Some(7), None)),
    ];
    let lines = lines(CallFilter::default(), &events);
    assert_eq!(lines.len(), 3);
    assert!(
        lines.iter().any(|line| line.contains("wait4") && line.ends_with("(began before the lines above)")),
        "{lines:?}"
    );
}

#[test]
#[cfg(target_arch = "x86_64")]
fn memory_is_bounded() {
    let mut calls = Calls::new(CallFilter::default(), &look(80, false));
    let mut out = Vec::new();
    for began in 0..u64::try_from(HELD).unwrap() + 10 {
        calls.push(&at(began + 1, call(7, 39, began, [0; 6], Some(7), None)), &mut out).unwrap();
    }
    assert_eq!(calls.waiting.len(), HELD);
    assert_eq!(out.iter().filter(|byte| **byte == b'\n').count(), 10);
}
