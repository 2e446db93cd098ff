//! `prices --inside` behind a launcher, an emulator of one process, user-mode Linux and gVisor: an ordinary list comes back, and
//! nothing stays. What is not installed is skipped, and said.

#![expect(clippy::unwrap_used, reason = "a test ends by panicking")]

use std::fs;
use std::process::Command;

use crate::support::needs::{Missing, machine, needs, on_path, tool};
use crate::support::prices::{list_of, price};
use crate::support::{Sandbox, alone, eventually};
use rustix::process::Signal;
use serde_json::Value;

/// A list measured inside of something, in a place that must be clean afterwards.
fn inside(kind: &str, words: &[&str]) -> Value {
    let _alone = alone();
    let place = Sandbox::new();
    let measured = |_| {
        let ran = place.run(&[&["prices", "--quick", "--json", "--inside", kind], words].concat());
        place.assert_clean();
        list_of(&ran)
    };
    // Other work on this machine may leave a row without a price. What a place cannot do has none at any time.
    let cannot =
        |row: &Value| row["not_measured"].as_str().is_some_and(|why| why.starts_with("not available"));
    let whole = |list: &Value| {
        list["prices"].as_array().unwrap().iter().all(|row| row["median_ns"].is_f64() || cannot(row))
    };
    let whole = (0..3).map(measured).find(whole);
    whole.unwrap_or_else(|| {
        panic!("no list of {words:?} had all prices, three times: this machine is too busy")
    })
}

fn typical(list: &Value, name: &str, variant: &str) -> f64 {
    price(list, name, variant)["median_ns"]
        .as_f64()
        .unwrap_or_else(|| panic!("{}", price(list, name, variant)))
}

#[test]
fn a_launcher_starts_the_worker_and_the_list_says_so() {
    let list = inside("command:env --", &["getpid", "fork"]);
    assert_eq!(list["inside"]["kind"], "command:env --");
    assert!(list["inside"]["mechanism"].as_str().unwrap().contains("'env'"));
    assert!(typical(&list, "getpid", "raw") > 1.0 && typical(&list, "fork", "reaped") > 1000.0);
    // Whoever wants the path elsewhere says where.
    let list = inside("command:sh -c 'exec {} \"$@\"' x", &["getpid"]);
    assert!(typical(&list, "getpid", "raw") > 1.0);
}

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
        ("qemu:/dev/null", "qemu-system-x86 seabios"),
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
    let _alone = alone();
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
    let _alone = alone();
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

#[test]
fn another_instruction_set_is_translated() {
    needs!(tool("qemu-aarch64").and(tool("aarch64-linux-gnu-gcc")));
    let list = inside("qemu-user:aarch64", &["getppid", "fork", "execve"]);
    assert_eq!(list["inside"]["machine"], "aarch64");
    assert_eq!(list["clock"]["name"], "CLOCK_MONOTONIC");
    assert!(typical(&list, "getppid", "raw") > 10.0 && typical(&list, "fork", "reaped") > 1000.0);
    let here = Sandbox::new();
    let own = format!("qemu-user:{}", std::env::consts::ARCH);
    here.run(&["prices", "getpid", "--inside", &own]).expect_error(2, &["own instruction set"]);
}

/// The list that a bare worker writes on a machine without this program, here one for arm64 under its emulator.
#[test]
fn a_bare_workers_list_stands_beside_ours() {
    needs!(tool("qemu-aarch64").and(tool("aarch64-linux-gnu-gcc")));
    let _alone = alone();
    let place = Sandbox::new();
    let worker = place.file("worker");
    let sources = env!("CARGO_MANIFEST_DIR").to_owned() + "/../probe";
    let made = Command::new("sh")
        .current_dir(&sources)
        .args(["-c", &format!("aarch64-linux-gnu-gcc -std=gnu11 -O2 -pthread -static -I./include c/*.c c/linux/*.c -o {worker}")])
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let plan = place.file("plan");
    fs::write(&plan, "probe getpid * batches=12\nprobe umask * batches=12\nprobe fork exit batches=3\nend\n")
        .unwrap();
    let (whole, cut, here) = (place.file("arm64.list"), place.file("cut.list"), place.file("here.json"));
    place
        .shell(&format!("for i in 1 2 3 4 5 6 7; do qemu-aarch64 {worker} --plan {plan}; done > {whole}"))
        .ok();
    place.shell(&format!("head -n 40 {whole} > {cut}")).ok();
    place.run(&["prices", "getpid", "umask", "fork", "--quick", "--record", &here]).ok();
    let found: Value = serde_json::from_str(&compared(&place, &[&here, &whole])).unwrap();
    let row = found["rows"]
        .as_array()
        .unwrap()
        .iter()
        .find(|row| row["name"] == "getpid" && row["variant"] == "raw")
        .unwrap();
    assert!(row["others"][0]["ratio"].as_f64().unwrap() > 1.0, "translated code is not faster: {row}");
    assert!(row["others"][0]["verdict"].is_string());
    assert!(place.run(&["machines", "-v", &here, &cut]).out.contains("ends in the middle"));
    fs::write(&cut, "hello\tprotocol=9\n").unwrap();
    place.run(&["machines", &here, &cut]).expect_error(1, &["worker's own list", "version 9"]);
}

fn compared(place: &Sandbox, lists: &[&str]) -> String {
    place.run(&[&["machines", "--json"], lists].concat()).ok().out
}

#[test]
fn a_kernel_that_is_a_program() {
    needs!(tool("linux.uml"));
    let _alone = alone();
    let place = Sandbox::new();
    let ran = place.run(&["prices", "getppid", "fork", "--quick", "--json", "--inside", "uml"]);
    place.assert_clean();
    if ran.err.contains("set fp regs failed") {
        // The CPU of this machine is newer than this kernel: then the reason and the next step stand there.
        ran.expect_error(6, &["its kernel gave up", "Kernel panic", "newer user-mode-linux"]);
        return Missing::Machine("CPU that this user-mode-linux knows".into()).skip();
    }
    let list = list_of(&ran);
    assert_eq!(list["inside"]["kind"], "uml");
    assert_eq!(list["fingerprint"]["kernel"], list["inside"]["kernel"]);
    assert!(typical(&list, "fork", "reaped") > 10_000.0);
}

#[test]
fn gvisors_kernel() {
    needs!(machine(on_path("runsc"), "gVisor (runsc)"));
    for platform in ["systrap", "ptrace"] {
        let list = inside(&format!("gvisor:{platform}"), &["getppid", "fork"]);
        assert!(list["inside"]["mechanism"].as_str().unwrap().contains(platform));
        assert!(list["inside"]["version"].as_str().unwrap().contains("runsc"));
        assert!(typical(&list, "getppid", "raw") > 100.0);
    }
}
