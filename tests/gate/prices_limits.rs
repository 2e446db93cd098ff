//! `prices` where things are missing or forbidden: one CPU, no /proc, calls that a filter refuses, tight limits, a full disk,
//! an interrupt, a reader that leaves. What cannot be measured is a row with the reason; nothing is left behind.

use std::fs;

use crate::support::needs::{needs, root};
use crate::support::prices::{list_of, run, why};
use crate::support::terminal;
use crate::support::user::as_user;
use crate::support::{PROGRAM, Sandbox, eventually};
use rustix::process::Signal;
use serde_json::Value;

#[test]
fn an_interrupt_ends_every_process_and_keeps_a_partial_list() {
    let place = Sandbox::new();
    let file = place.file("partial.json");
    let command = place.whyfaster(&["prices", "kernel", "process", "--record", &file]);
    let (mut terminal, child) = terminal::start(command);
    // After some repetitions there is something to keep.
    terminal::show_until(&mut terminal, &mut String::new(), 0, "repetition 4 of ");
    let (code, shown) = terminal::press_ctrl_c(terminal, child);
    assert_eq!(code, Some(130), "{shown}");
    let shown = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    for said in ["interrupted: ", "the partial list is in", "; partial: it was"] {
        assert!(shown.contains(said), "no '{said}': {shown}");
    }
    place.assert_clean();
    let list: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert_eq!(list["status"], "interrupted");
    place.run(&["machines", &file, "debian-2.6.32"]).ok();
}

#[test]
fn an_interrupt_before_the_first_price_leaves_nothing() {
    let place = Sandbox::new();
    let file = place.file("none.json");
    let running = place.start(&["prices", "--record", &file]);
    eventually("the worker", || place.alive().len() > 1);
    running.signal(Signal::TERM);
    // It may have measured some rows by now; then they are kept.
    running.wait().expect(130, &["interrupted: "]);
    place.assert_clean();
}

#[test]
fn a_killed_program_takes_its_worker_along() {
    let place = Sandbox::new();
    let running = place.start(&["prices", "process"]);
    eventually("a worker with children", || place.alive().len() > 2);
    running.signal(Signal::KILL);
    running.wait();
    eventually("all are gone", || place.alive().is_empty());
}

#[test]
fn tight_limits_are_told_and_not_a_crash() {
    for limit in ["ulimit -n 16", "ulimit -n 8", "ulimit -n 4", "ulimit -v 4000000", "ulimit -v 150000"] {
        let words = "exec \"$whyfaster\" prices getpid fork stat cond pipe_bandwidth --quick --json";
        let place = Sandbox::new();
        let ran = place.shell(&format!("{limit}; {words}"));
        match ran.code() {
            0 => drop(list_of(&ran)),
            code => {
                assert!([1, 6].contains(&code), "{limit}: {code} {}", ran.err);
                ran.expect_error(code, &[]);
                assert!(ran.out.is_empty(), "{limit}: a report without a number: {}", ran.out);
            }
        }
        place.assert_clean();
    }
}

#[test]
fn a_small_stack_is_told_before_anything_is_done() {
    let place = Sandbox::new();
    for limit in ["64", "256"] {
        for verb in ["--version", "prices getpid --quick", "compare true false", "doctor"] {
            let ran = place.shell(&format!("ulimit -s {limit}; exec \"$whyfaster\" {verb}"));
            ran.expect_error(6, &[&format!("the stack is limited to {limit} KiB"), "ulimit -s 1024"]);
            assert!(ran.out.is_empty(), "{}", ran.out);
        }
    }
    place.shell("ulimit -s 1024; exec \"$whyfaster\" prices getpid cond --quick").ok();
}

#[test]
fn a_limit_of_file_sizes_is_told() {
    let place = Sandbox::new();
    // What it says goes through pipes: files would be under the limit.
    let mut command = place.command("sh", &["-c", "ulimit -f 0; exec \"$0\" prices getpid --quick", PROGRAM]);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(6), "{said}");
    assert!(said.contains("cannot make the worker") && said.contains("hint: "), "{said}");
}

#[test]
fn a_limit_of_processes_makes_rows_without_a_price() {
    needs!(root());
    let place = Sandbox::open();
    // A user of this test's own: the limit counts all processes of a user. The program, the worker and the process of a
    // line find room; what they would start in addition does not.
    let user = format!("{}", 3_300_000 + std::process::id());
    let mut told = 0;
    for limit in ["--nproc=3", "--nproc=2", "--nproc=1"] {
        let mut command = as_user(&place, &user, "prlimit", &[limit, PROGRAM]);
        command.args(["prices", "--quick", "--json", "getpid", "fork", "cond"]);
        let ran = place.finish(command);
        match ran.code() {
            // With or without another row that has a price: the list is there.
            0 | 6 if !ran.out.is_empty() => {
                let list: Value = serde_json::from_str(&ran.out).unwrap();
                let why = why(&list, "cond", "asleep,same_cpu");
                assert!(why.contains("EAGAIN"), "{limit}: {why}");
                told += 1;
            }
            code => ran.expect_error(code, &[]),
        }
        place.assert_clean();
    }
    assert!(told > 0, "under no limit was there a list");
}

#[test]
fn a_full_device_is_told() {
    let place = Sandbox::new();
    place.shell("\"$whyfaster\" prices getpid --quick > /dev/full").expect_error(1, &["standard output"]);
    for option in ["--record", "--export-csv"] {
        let words = ["prices", "getpid", "--quick", option, "/dev/full"];
        place.run(&words).expect_error(1, &["/dev/full", "No space left"]);
    }
    place
        .run(&["prices", "getpid", "--quick", "--record", "/dev/full/x"])
        .expect_error(1, &["/dev/full/x", "Not a directory"]);
}

#[test]
fn a_reader_that_leaves_ends_it_quietly() {
    let place = Sandbox::new();
    let ran = place.shell("\"$whyfaster\" prices getpid --quick | head -n 1").ok();
    assert!(!ran.err.contains("error"), "{}", ran.err);
    assert_eq!(run(&["prices", "--source", "getpid"]).code(), 0);
}
