//! The parts of the critical path and of the work sum up, and are counted.

use crate::support::Sandbox;
use crate::support::needs::{full, needs};
use crate::support::trace::{nobody_traces, path_of, rows, traced};

#[test]
fn the_parts_of_every_kind_of_command_sum_up() {
    needs!(full());
    let place = Sandbox::open();
    for command in [
        "true",
        "seq 200 | xargs -n1 -P3 true",
        "head -c 20000000 /dev/zero | gzip -1 | wc -c",
        "(sleep 0.1 &) ; exec ls /",
        "dd if=/dev/zero of=/dev/null bs=1 count=20000 2>/dev/null",
        "find /usr/share/doc | sort | uniq | wc -l",
        "sh -c 'kill -9 $$'; true",
    ] {
        path_of(&place, command);
    }
}

#[test]
fn processes_programs_and_start_ups_are_counted() {
    needs!(full());
    let place = Sandbox::open();
    let trace = path_of(&place, "for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done");
    let count = |command: &str, kind: &str| {
        let row = rows(&trace, "work").iter().find(|row| row["command"] == command && row["kind"] == kind);
        row.unwrap_or_else(|| panic!("no {kind} of {command}: {:#}", trace["work"]))["count"].as_u64()
    };
    assert_eq!(count("sh", "process"), Some(10), "{:#}", trace["work"]);
    assert_eq!(count("true", "exec"), Some(10), "{:#}", trace["work"]);
    assert_eq!(count("true", "startup"), Some(10), "{:#}", trace["work"]);
}

#[test]
fn a_kept_schedule_gives_the_same_path_again() {
    needs!(full());
    let place = Sandbox::open();
    let file = place.file("kept.json");
    let words = ["--level", "full", "--record", &file, "--keep-schedule", "seq 50 | xargs -n5 true"];
    let first = traced(&place, &words);
    let again = place.run(&["show", "--json", &file]).json();
    assert_eq!(first["critical_path"], again["critical_path"]);
    assert_eq!((&first["work"], &first["transfers"]), (&again["work"], &again["transfers"]));
}

#[test]
fn without_privileges_there_is_no_path_and_the_reason_stands_there() {
    let place = Sandbox::open();
    let trace = nobody_traces(&place, &["--json", "--untraced-runs", "0", "true"]).json();
    for what in ["critical_path", "work", "transfers"] {
        assert_eq!(rows(&trace, what).len(), 0, "{what}");
        let why = rows(&trace, "not_measured").iter().find(|row| row["what"] == what);
        assert!(why.unwrap()["why"].as_str().unwrap().contains("full level"), "{:#}", trace["not_measured"]);
    }
}
