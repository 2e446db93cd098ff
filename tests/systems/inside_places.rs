//! `prices --inside` in an emulator of one process, user-mode Linux and gVisor: an ordinary list comes back, and nothing stays.

#![expect(clippy::unwrap_used, reason = "a test ends by panicking")]

use crate::support::Sandbox;
use crate::support::needs::{Missing, machine, needs, on_path, tool};
use crate::support::prices::{list_of, price};
use serde_json::Value;
use std::fs;
use std::process::Command;

/// A list measured inside of something, in a place that must be clean afterwards.
fn inside(kind: &str, words: &[&str]) -> Value {
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
