//! `prices --inside` behind a launcher: what goes wrong there is shown, an interrupt ends all of it, and
//! nothing stays.

use std::fs;

use crate::support::prices::list_of;
use crate::support::{Sandbox, eventually};
use rustix::process::Signal;
use serde_json::Value;

#[test]
fn a_launcher_that_is_none_says_why() {
    let place = Sandbox::new();
    let run = |kind: &str| place.run(&["prices", "getpid", "--quick", "--inside", kind]);
    run("command:/nonexistent/launcher").expect_error(6, &["cannot start '/nonexistent/launcher'"]);
    run("command:false").expect_error(1, &["'false'", "ended with exit status: 1", "the worker never began"]);
    run("command:sh -c 'echo no room in the inn >&2; exit 3'").expect_error(1, &["no room in the inn"]);
    // Kernels take minutes: where the page cannot be written is known before.
    let page = "--html=/nonexistent/page.html";
    place
        .run(&["machines", "--kernels=debian:0,debian:1", page])
        .expect_error(1, &["/nonexistent/page.html"]);
    run("qemu:/nonexistent/vmlinuz").expect_error(2, &["'/nonexistent/vmlinuz'"]);
    place.assert_clean();
}

#[test]
fn a_missing_tool_names_the_package_that_gives_it() {
    let place = Sandbox::new();
    for (kind, package) in [
        ("uml", "user-mode-linux"),
        ("qemu-user:riscv64", "qemu-user"),
        ("qemu:debian:6.1", "qemu-system-x86 seabios"),
        ("gvisor", "gvisor.dev"),
        ("ssh:host", "openssh-client"),
    ] {
        let mut command = place.whyfaster(&["prices", "getpid", "--quick", "--inside", kind]);
        command.env("PATH", place.path("tmp"));
        place.finish(command).expect_error(6, &["there is no program", package]);
    }
    place.assert_clean();
}

#[test]
fn a_place_that_hangs_is_left_and_its_last_lines_are_shown() {
    let place = Sandbox::new();
    let kind = format!("command:sh -c 'echo working on it >&2; sleep {}'", place.marker);
    let ran = place.run(&["prices", "getpid", "--quick", "--silence", "1s", "--inside", &kind]);
    ran.expect_error(1, &["nothing came from the worker for 1 s", "working on it"]);
    place.assert_clean();
}

#[test]
fn a_place_that_talks_for_ever_is_left_too() {
    let place = Sandbox::new();
    let kind = format!("command:sh -c 'while :; do echo {}; sleep 0.1; done'", place.marker);
    let ran = place.run(&["prices", "getpid", "--quick", "--silence", "2s", "--inside", &kind]);
    ran.expect_error(1, &["nothing came from the worker for 2 s", "the worker never began", &place.marker]);
    place.assert_clean();
}

#[test]
fn a_list_without_a_price_is_no_success() {
    let place = Sandbox::new();
    let file = place.file("none.json");
    // As on a machine so busy that nothing was left alone.
    let script = place.script("busy", "#!/bin/sh\n\"$1\" | sed -u '/^sample/s/\tinv=[0-9]*/\tinv=9/'\n");
    let kind = format!("command:{script}");
    let ran = place.run(&["prices", "getpid", "--quick", "--record", &file, "--inside", &kind]);
    ran.expect_error(6, &["no row has a price"]);
    // The list with the reasons is there all the same.
    let list: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert!(!list["prices"].as_array().unwrap().is_empty(), "{list}");
    assert!(
        list["prices"].as_array().unwrap().iter().all(|price| price["not_measured"].is_string()),
        "{list}"
    );
    assert!(ran.out.contains("getpid"), "{}", ran.out);
}

/// A worker that is killed half-way leaves what it had measured.
#[test]
fn a_worker_that_dies_half_way_leaves_a_partial_list() {
    let place = Sandbox::new();
    let file = place.file("partial.json");
    // The second start (the first one only asks for the CPUs) is cut after its twentieth sample.
    let count = place.file("count");
    let script = place.script(
        "cut",
        &format!(
            "#!/bin/sh\necho x >>{count}\ntest $(wc -l <{count}) -gt 1 || exec \"$1\"\n\
             \"$1\" | awk '/^sample/ && ++n > 20 {{ exit }} {{ print; fflush() }}'\nexit 7\n"
        ),
    );
    let ran = place.run(&[
        "prices",
        "getpid",
        "getppid",
        "--quick",
        "--record",
        &file,
        "--inside",
        &format!("command:{script}"),
    ]);
    ran.expect_error(1, &["before the plan did", "the worker had begun"]);
    let list: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert_eq!(list["status"], "failed");
    assert!(
        list["samples"].as_array().unwrap().iter().map(|s| s["ops"].as_array().unwrap().len()).sum::<usize>()
            == 20
    );
    assert!(ran.flowing().contains("; partial: an error ended it"), "{}", ran.out);
    place.assert_clean();
}

#[test]
fn an_interrupt_ends_everything_that_a_place_started() {
    for signal in [Signal::INT, Signal::TERM] {
        let place = Sandbox::new();
        let kind = format!("command:sh -c 'sleep {} & wait'", place.marker);
        let running = place.start(&["prices", "getpid", "--quick", "--inside", &kind]);
        place.wait_for_sleepers(1);
        running.signal(signal);
        running.wait().expect(130, &["interrupted: "]);
        place.assert_clean();
    }
}

/// What a place starts may make a session of its own: it is ended all the same, whatever ended the place.
#[test]
fn who_leaves_the_session_is_ended_too() {
    let place = Sandbox::new();
    let marker = &place.marker;
    let lines = [
        format!("setsid sleep {marker} & exec sleep {marker}"),
        format!("(trap '' TERM; setsid sh -c 'trap \"\" TERM; sleep {marker}; :') & sleep {marker}"),
    ];
    for line in &lines {
        let kind = format!("command:sh -c {}", shell_quoted(line));
        for signal in [Signal::KILL, Signal::TERM] {
            let running = place.start(&["prices", "getpid", "--quick", "--inside", &kind]);
            place.wait_for_sleepers(2);
            running.signal(signal);
            let _ = running.wait();
            eventually("nothing is left", || place.alive().is_empty());
        }
    }
}

/// It comes to its end, and leaves a daemon behind. Most of the time it waits for that one; of the prices it asks nothing.
#[test]
fn a_daemon_that_is_left_behind_is_ended_too() {
    let place = Sandbox::new();
    let marker = &place.marker;
    let line = format!("setsid sleep {marker} > /dev/null 2>&1 & exec \"$1\"");
    let kind = format!("command:sh -c {} x", shell_quoted(&line));
    list_of(&place.run(&["prices", "getpid", "--quick", "--json", "--inside", &kind]));
    place.assert_clean();
}

fn shell_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[test]
fn a_killed_program_takes_its_place_along() {
    let place = Sandbox::new();
    let kind = format!("command:sh -c 'exec sleep {}'", place.marker);
    let running = place.start(&["prices", "getpid", "--quick", "--inside", &kind]);
    place.wait_for_sleepers(1);
    running.signal(Signal::KILL);
    let _ = running.wait();
    eventually("nothing is left", || place.alive().is_empty());
}
