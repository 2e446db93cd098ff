//! Where explanations end: without privileges, without a difference, when told to stop, and when time is short.

use std::process::Stdio;

use crate::support::Sandbox;
use crate::support::needs::{full, needs};
use rustix::process::Signal;

#[test]
fn what_is_not_wanted_is_not_done() {
    let place = Sandbox::new();
    let log = "echo run >> log";
    let words = [
        "compare",
        "-m6",
        "-M6",
        "--prepare",
        log,
        "--no-check-output",
        "--output=null",
        "--json",
        "--why=no",
    ];
    let record = place.run(&[&words[..], &["sleep 0.05", "true"]].concat()).json();
    for path in ["findings", "traced", "refused", "predictions"] {
        assert!(record.get(path).is_none(), "{path}: {}", record[path]);
    }
    // Six rounds of two, the hidden copy in some of them, and an account of each.
    let batches = record["batches"].as_array().unwrap();
    let of_commands = batches.iter().filter(|it| it["arm"] != "hidden_copy").count();
    assert!(of_commands == 6 * 2 && batches.len() <= 6 * 3, "{batches:#?}");
    assert_eq!(place.read("log").lines().count(), batches.len() + 2);
}

#[test]
fn where_there_is_nothing_to_explain_that_is_said_to_who_asked() {
    let place = Sandbox::new();
    let refused = |words: &[&str]| {
        let record = place.run(&[&["compare", "--json", "--runs", "6"], words].concat()).json();
        record["refused"].as_str().map(str::to_owned)
    };
    assert!(refused(&["--why", "true"]).unwrap().contains("one command only"));
    assert_eq!(refused(&["true"]), None);
    assert!(refused(&["--why", "--load", "2", "sleep 0.1", "true"]).unwrap().contains("add 1 to --load"));
    assert_eq!(refused(&["--load", "2", "sleep 0.1", "true"]), None);
}

/// Rounds of a comparison that is explained, which it is if it is decided. A stall of the machine that is longer than the planted sleep turns one
/// round the other way: about one run of `true` in 300 beside other tests. Twelve rounds are decided with two such rounds, so that three are
/// needed: 220 / 300^3 is below 1e-5.
const ROUNDS: usize = 12;

/// In a traced round, then in an experiment: it ends at once, keeps what was measured, and leaves nothing.
#[test]
fn an_interrupt_ends_an_explanation_and_leaves_nothing() {
    needs!(full());
    for phase in ["observed", "experiment"] {
        for signal in [Signal::INT, Signal::TERM, Signal::KILL] {
            let place = Sandbox::new();
            let record = place.file("r.json");
            let slow = format!(
                // Far above what a busy machine takes from one of three rounds: without a finding there is no experiment.
                "case $WHYFASTER_RUN in {phase}) sleep {};; *) sleep 0.2;; esac",
                place.marker
            );
            let runs = ROUNDS.to_string();
            let words = ["compare", "--why", "--why-rounds", "3", "--runs", &runs, "--record", &record];
            let running = place.start(&[&words[..], &[&slow, "true"]].concat());
            place.wait_for_sleepers(1);
            running.signal(signal);
            let ran = running.wait();
            if signal == Signal::KILL {
                assert_eq!(ran.code(), 137);
            } else {
                ran.expect(130, &["interrupted: ", "r.json"]);
                let record = place.record("r.json");
                assert_eq!(record["status"], "interrupted");
                assert_eq!(record["batches"].as_array().unwrap().len(), 2 * ROUNDS, "two of each round");
            }
            place.assert_clean();
        }
    }
}

#[test]
fn a_command_that_fails_only_when_observed_ends_the_explanation_and_not_the_comparison() {
    needs!(full());
    let place = Sandbox::new();
    let fails = "case $WHYFASTER_RUN in observed) exit 3;; *) sleep 0.3;; esac";
    let runs = ROUNDS.to_string();
    let record = place.run(&["compare", "--why", "--json", "--runs", &runs, fails, "true"]).json();
    assert_eq!(record["status"], "complete");
    let refused = record["refused"].as_str().unwrap();
    assert!(refused.contains("the explanation ended early") && refused.contains("3"), "{refused}");
    assert!(record.get("findings").is_none(), "{}", record["findings"]);
}

#[test]
fn a_stage_sets_what_it_is_told_and_becomes_its_command() {
    let place = Sandbox::new();
    let first = format!("touch {}", place.file("first"));
    let script = "grep Cpus_allowed_list /proc/self/status; exec echo $0";
    let words = ["stage", "--cpu", "0", "--first", "2", &first, "--", "sh", "-c", script, "a b"];
    let ran = place.run(&words).ok();
    assert_eq!(ran.out.split_whitespace().collect::<Vec<_>>(), ["Cpus_allowed_list:", "0", "a", "b"]);
    assert!(place.path("first").exists());
    let (read, write) = rustix::pipe::pipe().unwrap();
    let mut command = place.whyfaster(&["stage", "--pipe-size", "4096", "--", "true"]);
    let mut child = command.stdout(Stdio::from(write)).spawn().unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(rustix::pipe::fcntl_getpipe_size(&read).unwrap(), 4096);
    place.run(&["stage", "--", "/no/such/program"]).expect(126, &["/no/such/program"]);
    place.run(&["stage", "--cpu", "0"]).expect(126, &["no '--'"]);
}
