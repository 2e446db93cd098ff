//! Ctrl-C typed at the terminal of a traced command: it ends a trace where it ends the command, and is no cause of a wait.

#![expect(clippy::unwrap_used, reason = "a test ends by panicking")]

use std::fs::File;
use std::io::Write;
use std::process::Child;
use std::time::Duration;

use crate::support::needs::{full, needs};
use crate::support::{Sandbox, kill, terminal};
use rustix::process::Signal;
use serde_json::Value;

/// Traces a line at a terminal until its sleeper has slept for 300 ms.
fn traced_at_terminal(place: &Sandbox, line: &str) -> (File, Child) {
    let line = line.replace('M', &place.marker);
    let args = ["trace", "-v", "--level", "full", "--record", "r.json", &line];
    let started = terminal::start(place.whyfaster(&args));
    place.wait_for_sleepers(1);
    std::thread::sleep(Duration::from_millis(300));
    started
}

/// How a trace says that it ended: its status, what of whyfaster's ended it, and how the command did.
fn ended(trace: &Value) -> (Option<&str>, Option<&str>, Option<i64>) {
    (trace["status"].as_str(), trace["ended_by"].as_str(), trace["exit_status"].as_i64())
}

/// Whether a warning of the trace speaks of the key.
fn warns_of_key(trace: &Value) -> bool {
    let speaks = |it: &Value| it["what"].as_str().unwrap().contains("Ctrl-C");
    trace["warnings"].as_array().unwrap().iter().any(speaks)
}

/// Of Ctrl-C.
const DIED: (Option<&str>, Option<&str>, Option<i64>) = (Some("interrupted"), Some("signal"), Some(-2));

/// The key's signal goes to the command as well and ends its waits. It is no cause of them: they are explained as they were, also
/// where the program gets no CPU around the key.
#[test]
fn ctrl_c_typed_at_the_terminal_is_not_what_a_traced_command_waited_for() {
    needs!(full());
    let lines = [
        ("sleep M", false),
        ("sleep M | cat", false),
        ("sh -c 'sleep M; :' | cat; :", false),
        ("sleep M | cat; :", true),
    ];
    for (line, starved) in lines {
        let place = Sandbox::new();
        let (mut master, child) = traced_at_terminal(&place, line);
        let (code, shown) = if starved {
            let pid = child.id() as i32;
            kill(pid, Signal::STOP);
            master.write_all(b"\x03").unwrap();
            std::thread::sleep(Duration::from_millis(150));
            kill(pid, Signal::CONT);
            terminal::end(master, child)
        } else {
            terminal::press_ctrl_c(master, child)
        };
        assert_eq!(code, Some(130), "{shown}");
        let trace = place.record("r.json");
        assert_eq!(ended(&trace), DIED);
        let rows = |list: &str| trace[list].as_array().unwrap().clone();
        let long = |row: &&Value| row["command"] == "sleep" && row["seconds"].as_f64() > Some(0.2);
        let waits = rows("waits");
        let causes: Vec<&str> = waits.iter().filter(long).map(|row| row["cause"].as_str().unwrap()).collect();
        assert_eq!(causes, ["timer"], "{line}: {waits:#?}");
        let path = rows("critical_path");
        let seconds = |kind: &str| {
            let of_kind = path.iter().filter(|row| row["kind"] == kind);
            of_kind.map(|row| row["seconds"].as_f64().unwrap()).sum::<f64>()
        };
        assert_eq!(seconds("outside"), 0.0, "{line}: {path:#?}");
        assert!(seconds("sleep") > trace["wall_s"].as_f64().unwrap() * 0.5, "{line}: {path:#?}");
        place.assert_clean();
    }
}

/// A Ctrl-C that the command survived is one of the events of its life, whatever ends it later.
#[test]
fn ctrl_c_that_a_traced_command_survived_does_not_end_its_trace() {
    needs!(full());
    // It dies of another signal.
    let place = Sandbox::new();
    let (master, child) = traced_at_terminal(&place, "trap : INT; sleep M; sleep 0.7; kill -15 $$");
    let (code, shown) = terminal::press_ctrl_c(master, child);
    assert_eq!(code, Some(0), "{shown}");
    assert!(shown.contains("Ctrl-C was pressed while"), "{shown}");
    let trace = place.record("r.json");
    assert_eq!(ended(&trace), (Some("complete"), None, Some(-15)));
    assert!(trace["wall_s"].as_f64() > Some(1.0), "{}", trace["wall_s"]);
    place.assert_clean();
    // It dies of the second one: that is where its trace ends.
    let place = Sandbox::new();
    let (mut master, child) = traced_at_terminal(&place, "trap 'trap - INT' INT; sleep M; sleep M; :");
    master.write_all(b"\x03").unwrap();
    std::thread::sleep(Duration::from_millis(700));
    let (code, shown) = terminal::press_ctrl_c(master, child);
    assert_eq!(code, Some(130), "{shown}");
    let trace = place.record("r.json");
    assert_eq!(ended(&trace), DIED);
    assert!(trace["wall_s"].as_f64() > Some(1.0), "{}", trace["wall_s"]);
    // The hypervisor may have taken of the CPUs meanwhile; the key has nothing to tell.
    assert!(!warns_of_key(&trace), "{:#}", trace["warnings"]);
    place.assert_clean();
}

/// Nothing is held back for so long: what the key ended is told as ended by it, and that stands there.
#[test]
fn a_traced_command_that_takes_long_to_die_of_ctrl_c_is_told_of() {
    needs!(full());
    let place = Sandbox::new();
    let (master, child) =
        traced_at_terminal(&place, "trap 'sleep 1.5; trap - INT; kill -INT $$' INT; sleep M; :");
    let (code, shown) = terminal::press_ctrl_c(master, child);
    assert_eq!(code, Some(130), "{shown}");
    let trace = place.record("r.json");
    assert_eq!(ended(&trace), DIED);
    assert!(warns_of_key(&trace), "{:#}", trace["warnings"]);
    place.assert_clean();
}
