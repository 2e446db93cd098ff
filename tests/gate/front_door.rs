//! What a new user meets first: `whyfaster` alone, `demo`, `man`, `completions`.

#![expect(clippy::unwrap_used, reason = "a test ends by panicking")]

use std::fs;
use std::path::Path;

use crate::support::user::{program_for_all, without_privileges};
use crate::support::{Sandbox, eventually, terminal};
use rustix::process::Signal;
use serde_json::Value;

#[test]
fn alone_it_says_what_it_does_and_what_to_try() {
    let place = Sandbox::new();
    let ran = place.run(&[]).ok();
    assert!(ran.out.lines().count() <= 20 && ran.out.lines().all(|line| line.chars().count() <= 80));
    for command in ["  whyfaster demo\n", "  whyfaster compare ", "  whyfaster trace "] {
        assert!(ran.out.contains(command), "{}", ran.out);
    }
    assert_eq!(ran.err, "");
    // A reader that goes away is no error, and neither is a full disk silent.
    place.shell("\"$whyfaster\" | true").ok();
    place.shell("\"$whyfaster\" > /dev/full").expect(1, &["standard output"]);
}

/// The verdict of a record at one of its levels: 0 is one copy alone.
fn verdict(record: &Value, level: usize) -> Option<&str> {
    record["levels"][level]["comparisons"][0]["verdict"].as_str()
}

#[test]
fn the_demo_says_of_the_flip_what_its_record_shows_and_leaves_nothing() {
    let place = Sandbox::open();
    let words = ["demo", "--max-time", "6s", "--record", "demo.json"];
    let mut command = without_privileges(&place, &program_for_all(&place), &words);
    command.env_remove("HOME");
    let ran = place.finish(command).ok();
    let record: Value = place.json("demo.json");
    let names: Vec<&Value> =
        record["plan"]["alternatives"].as_array().unwrap().iter().map(|a| &a["name"]).collect();
    assert_eq!(names, ["one", "piped"]);
    assert_eq!(record["plan"]["loads"]["fixed"][0], 1);
    // Both did the same work.
    let digests: Vec<&Value> =
        record["trials"].as_array().unwrap().iter().map(|t| &t["stdout_sha256"]).collect();
    assert!(digests.len() == 2 && digests[0].is_string() && digests[0] == digests[1], "{digests:?}");
    let flipped = (verdict(&record, 0), verdict(&record, 1)) == (Some("faster"), Some("slower"));
    let (said, other) = ("The order flipped:", "The order was not seen to flip");
    let (said, other) = if flipped { (said, other) } else { (other, said) };
    assert!(ran.out.contains(said) && !ran.out.contains(other), "{}", ran.out);
    // A screen has room for one next step: the commands, or what would show the flip.
    let next = if flipped { &["00000 > numbers.txt'", "study pipes"][..] } else { &["not seen"] };
    let flowing = ran.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(next.iter().all(|part| flowing.contains(part)), "{}", ran.out);
    place.assert_clean();
}

#[test]
fn the_input_of_the_demo_is_what_seq_makes() {
    let place = Sandbox::new();
    // The reader of a pipe waits for the record, and sees no end before.
    let demo = "\"$whyfaster\" demo -v --max-time 1ms --record pipe";
    let ran = place.shell(&format!("mkfifo pipe && {{ cat pipe > r.json & {demo} && wait; }}")).ok();
    let record: Value = place.record("r.json");
    let made = ran.out.lines().find(|line| line.starts_with("  seq ")).unwrap();
    for at in [0, 1] {
        let command = record["plan"]["alternatives"][at]["command"].as_str().unwrap();
        let by_hand = place.shell(&format!("{made}; {command} | sha256sum"));
        let digest = record["trials"][at]["stdout_sha256"].as_str().unwrap();
        assert_eq!(by_hand.out.split_whitespace().next(), Some(digest), "{made}; {command}");
    }
}

#[test]
fn a_demo_that_cannot_run_or_is_interrupted_says_so_and_leaves_nothing() {
    let place = Sandbox::new();
    let mut command = place.whyfaster(&["demo"]);
    command.env("PATH", place.path("tmp"));
    place.finish(command).expect_error(6, &["the demo needs sed"]);
    let mut command = place.whyfaster(&["demo"]);
    command.env("TMPDIR", place.path("none"));
    place.finish(command).expect_error(1, &["none", "TMPDIR"]);
    let running = place.start(&["demo", "--max-time", "100s"]);
    eventually("the demo measures", || {
        fs::read_dir(place.path("tmp")).is_ok_and(|mut entries| entries.next().is_some())
    });
    running.signal(Signal::INT);
    running.wait().expect(130, &["interrupted"]);
    place.assert_clean();
}

/// A committed file.
fn committed(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)).unwrap()
}

#[test]
fn the_manual_and_the_completions_are_in_the_program() {
    let place = Sandbox::new();
    for (words, file) in [
        (&["man"][..], "man/whyfaster.1"),
        (&["man", "compare"], "man/whyfaster-compare.1"),
        (&["man", "man"], "man/whyfaster-man.1"),
        (&["completions", "bash"], "completions/whyfaster.bash"),
        (&["completions", "zsh"], "completions/_whyfaster"),
        (&["completions", "fish"], "completions/whyfaster.fish"),
        (&["completions", "elvish"], "completions/whyfaster.elv"),
        (&["completions", "powershell"], "completions/_whyfaster.ps1"),
    ] {
        let ran = place.run(words).ok();
        assert!(
            ran.out == committed(file),
            "{file} is not what the program prints: run 'cargo run -p xtask'"
        );
    }
    place.shell("\"$whyfaster\" man trace | head -1").ok();
}

#[test]
fn on_a_terminal_the_manual_opens_in_man_and_without_man_it_is_printed() {
    let place = Sandbox::new();
    fs::create_dir(place.path("bin")).unwrap();
    place.script("bin/man", "#!/bin/sh\necho \"man got $*\"\ngrep -c '^[.]TH whyfaster-show'\nexit 7\n");
    let run = |path: &str| {
        let mut command = place.whyfaster(&["man", "show"]);
        command.env("PATH", path);
        let (terminal, child) = terminal::start(command);
        terminal::end(terminal, child)
    };
    let (status, shown) = run(&format!("{}:/usr/bin:/bin", place.file("bin")));
    assert_eq!((status, shown.as_str()), (Some(7), "man got -l -\r\n1\r\n"));
    let (status, shown) = run(&place.file("tmp"));
    assert_eq!(status, Some(0), "{shown}");
    assert!(shown.contains("Usage: whyfaster show") && !shown.contains(".TH"), "{shown}");
}
