//! Commands that leave out work: real programs that do less when nobody reads what they write, or that read far less than the
//! other one. What is counted is bytes and runs, never times.

#![expect(clippy::unwrap_used, reason = "a test ends by panicking")]

use crate::support::needs::{needs, tool};
use crate::support::{Sandbox, list};
use serde_json::Value;

/// Untimed runs are allowed, and no more timed ones than a verdict needs.
const FEW: [&str; 6] = ["-m", "7", "-M", "7", "--why=no", "--json"];

/// A directory with a file of lines, far larger than what a program holds in memory.
fn with_input() -> (Sandbox, u64) {
    let place = Sandbox::new();
    let line = "a line of words, as a log has them\n";
    let text = line.repeat((32 << 20) / line.len());
    std::fs::write(place.path("big"), &text).unwrap();
    (place, text.len() as u64)
}

fn compared(place: &Sandbox, words: &[&str]) -> Value {
    place.compare(&[&FEW[..], words].concat()).json()
}

/// The warnings of this kind.
fn warned<'a>(record: &'a Value, kind: &str) -> Vec<&'a Value> {
    list(&record["warnings"]).iter().filter(|it| it["kind"] == kind).collect()
}

/// Bytes that the timed runs of an alternative read.
fn read(record: &Value, alternative: u64) -> Vec<u64> {
    let batches = list(&record["batches"]).iter().filter(|it| it["arm"]["alternative"] == alternative);
    batches.map(|it| it["io"]["read_bytes"].as_u64().unwrap()).collect()
}

#[test]
fn what_does_less_unread_is_timed_with_a_reader_and_said() {
    let (place, size) = with_input();
    let record = compared(&place, &["grep -c words big", "awk '/words/{n++} END{print n}' big"]);
    let unread = &record["trials"][0]["destinations"]["null"]["read_bytes"];
    assert!(unread.as_u64().unwrap() < size / 4, "GNU grep stops at its first match: {unread}");
    let warnings = warned(&record, "does_less_unread");
    assert_eq!(warnings.len(), 1, "awk does not: {warnings:?}");
    assert_eq!(warnings[0]["alternative"], "grep -c words big");
    assert!((0..2).all(|it| read(&record, it).iter().all(|&bytes| bytes >= size)), "all of it, timed too");
    assert!(warned(&record, "reads_far_less").is_empty());
    // Beside the answer, before anything else.
    std::fs::write(place.path("record"), record.to_string()).unwrap();
    let screen = place.run(&["show", "record"]).out;
    let first: String = screen.lines().take(6).collect::<Vec<_>>().join(" ");
    assert!(first.contains("does less when its output goes to /dev/null"), "{screen}");
    assert_eq!(screen.matches("/dev/null").count(), 1, "{screen}");
}

#[test]
fn many_small_files_count_by_their_calls() {
    needs!(tool("tar"));
    let place = Sandbox::new();
    std::fs::create_dir(place.path("many")).unwrap();
    for number in 0..200 {
        std::fs::write(place.path(&format!("many/{number}")), "a few bytes".repeat(30)).unwrap();
    }
    let record = compared(&place, &["--no-check-output", "tar -cf - many", "cat many/*"]);
    let warnings = warned(&record, "does_less_unread");
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert_eq!(warnings[0]["alternative"], "tar -cf - many");
}

#[test]
fn the_number_of_runs_stays_a_promise_and_what_reads_less_is_said() {
    let (place, size) = with_input();
    let (grep, awk) = ("grep -c words big", "echo >> log; awk '/words/{n++} END{print n}' big");
    for options in [&["-r", "5"][..], &["--output", "null", "-m", "7", "-M", "7"]] {
        let record = place.compare(&[options, &["--why=no", "--json", grep, awk]].concat()).json();
        let warnings = warned(&record, "reads_far_less");
        assert_eq!(warnings.len(), 1, "{:#}", record["warnings"]);
        assert_eq!((&warnings[0]["winner"], &warnings[0]["loser"]), (&grep.into(), &awk.into()));
        assert_eq!(warnings[0]["unread"], true);
        assert!(warnings[0]["winner_bytes"].as_u64().unwrap() < size / 4);
        assert!(warnings[0]["remedy"].as_str().unwrap().contains("--output pipe"));
        if options[0] == "-r" {
            assert_eq!(place.lines("log").len(), 5, "nothing else runs");
            std::fs::remove_file(place.path("log")).unwrap();
        }
    }
    let record = place.compare(&["-r", "5", "--why=no", "--json", "--output=pipe", grep, awk]).json();
    assert!(warned(&record, "reads_far_less").is_empty(), "{:#}", record["warnings"]);
    // Who prints nothing is not asked to print it elsewhere.
    let record = compared(&place, &["test -s big", "cat big > copy"]);
    let warnings = warned(&record, "reads_far_less");
    assert_eq!((warnings.len(), &warnings[0]["unread"]), (1, &false.into()), "{warnings:#?}");
}

#[test]
fn nobody_is_accused_without_cause() {
    let (place, _) = with_input();
    let unaccused = |words: &[&str]| {
        let record = compared(&place, words);
        assert!(warned(&record, "does_less_unread").is_empty(), "{:#}", record["warnings"]);
        record
    };
    // Stages of a pipeline read the same data again.
    let record = unaccused(&["wc -l < big", "cat big | cat | cat | cat | wc -l"]);
    assert!(warned(&record, "reads_far_less").is_empty(), "{:#}", record["warnings"]);
    // A shell goes back behind each line, so it reads the same block for every one.
    needs!(tool("bash"));
    std::fs::write(place.path("lines"), "a line of words, as a log has them\n".repeat(4_000)).unwrap();
    let record = unaccused(&[
        "sed -n '$=' lines",
        "bash -c 'n=0; while read -r x; do n=$((n + 1)); done < lines; echo $n'",
    ]);
    assert!(read(&record, 1)[0] > 10 * read(&record, 0)[0], "{:#}", record["batches"]);
    assert!(warned(&record, "reads_far_less").is_empty(), "{:#}", record["warnings"]);
    // A program that starts for every file reads its libraries' headers as often.
    std::fs::create_dir(place.path("many")).unwrap();
    for number in 0..100 {
        std::fs::write(place.path(&format!("many/{number}")), "a line\n").unwrap();
    }
    let record = unaccused(&["cat many/*", "find many -type f -exec cat {} ';'"]);
    assert!(read(&record, 1)[0] > 20 * read(&record, 0)[0], "{:#}", record["batches"]);
    assert!(warned(&record, "reads_far_less").is_empty(), "{:#}", record["warnings"]);
    // Only the first run of a command has the work to do, wherever it writes.
    let record = unaccused(&["--no-check-output", "test -e done || cat big | tee done", "cat big"]);
    let destinations = &record["trials"][0]["destinations"];
    assert!(destinations["pipe"].is_object(), "it was looked at twice: {destinations}");
}
