//! What stands first on the screen after a comparison of everyday commands: nothing of it contradicts the rest.

#![expect(clippy::unwrap_used, reason = "a test ends by panicking")]

use crate::support::needs::{full, needs, tool};
use crate::support::trace::traced;
use crate::support::{Sandbox, list, number};
use serde_json::Value;

/// The word before these words, which stand somewhere in the text.
#[track_caller]
fn before<'a>(text: &'a str, words: &str) -> &'a str {
    let at = text.find(words).unwrap_or_else(|| panic!("no '{words}': {text}"));
    text[..at].split_whitespace().last().unwrap()
}

#[test]
fn one_fact_has_one_ratio() {
    needs!(full());
    let place = Sandbox::new();
    place.write("lines", "a line of words\n".repeat(200_000));
    let record = place.file("record");
    let words = [
        "--why=observe",
        "--record",
        &record,
        "grep -c words lines",
        // Several times the work, so that a busy machine decides it too.
        "awk '{for (i = 1; i <= NF; i++) if ($i == \"words\") n++} END {print n}' lines",
    ];
    let screen = place.compare(&words).ok().flowing();
    let ratio = before(&screen, " faster than").trim_end_matches('x');
    assert_eq!(before(&screen, " times as long as"), ratio, "{screen}");
    assert_eq!(screen.matches(" times as long").count(), 1, "{screen}");
    let answer = &place.record("record")["answer"];
    // It is shown with two digits or three, by its interval.
    assert!((number(&answer["ratio"]) / ratio.parse::<f64>().unwrap() - 1.0).abs() < 0.05, "{answer:#}");
}

#[test]
fn a_path_that_cannot_be_read_is_a_name_that_is_missing() {
    needs!(full());
    needs!(tool("perl"));
    let place = Sandbox::new();
    let exec_of_nothing = format!("syscall({}, 1, 0, 0) for 1..3", libc::SYS_execve);
    let trace = traced(&place, &["perl", "-e", &exec_of_nothing]);
    assert!(number(&trace["lost"]["string"]) >= 3.0, "{:#}", trace["lost"]);
    let kinds: Vec<&str> = list(&trace["warnings"]).iter().filter_map(|it| it["kind"].as_str()).collect();
    assert!(kinds.contains(&"names_unread") && !kinds.contains(&"lost"), "{:#}", trace["warnings"]);
    assert_eq!(trace["complete"], true, "{:#}", trace["checks"]);
}

/// That an experiment refutes a cause which is none needs a wrong cause, and no known pair of programs makes one: a real record, whose
/// experiment won nothing, is told again.
#[test]
fn a_cause_that_was_refuted_is_in_no_word_of_the_screen() {
    needs!(full());
    let place = Sandbox::new();
    let file = place.file("record");
    let words =
        ["compare", "--why", "--why-rounds", "7", "--json", "--record", &file, "sleep 0.2; true", "true"];
    let mut record = place.undisturbed(&words).json();
    let said = |record: &Value| {
        place.write("told", record.to_string());
        place.run(&["show", "told"]).ok().flowing()
    };
    assert!(said(&record).contains("sleeps"), "{}", said(&record));
    let experiment = &mut record["experiments"][0];
    assert_eq!(experiment["cause"], "sleep", "{experiment:#}");
    (experiment["outcome"], experiment["shown"]["kind"]) = ("refuted".into(), "refuted".into());
    for derived in ["answer", "summary", "findings", "accounts", "differences"] {
        record.as_object_mut().unwrap().remove(derived);
    }
    let screen = said(&record);
    assert!(!screen.contains("sleeps"), "{screen}");
}

#[test]
fn a_wait_for_a_disk_is_told_from_the_kernels_code_for_it() {
    needs!(full());
    let findings = findings_about_the_disk();
    let found =
        list(&findings).iter().find(|it| it["cause"] == "disk").unwrap_or_else(|| panic!("{findings:#}"));
    let waits = number(&found["fact"]["waits_s"]);
    let all = number(&found["seconds"]);
    let sentence = found["sentence"].as_str().unwrap();
    assert_eq!(sentence.contains(" waits "), waits >= 0.9 * all, "{waits} s of {all}: {sentence}");
}

/// What is found of writes that wait for the disk, each, against writes that do not.
fn findings_about_the_disk() -> Value {
    let place = Sandbox::new();
    let record = place.file("record");
    let words = ["compare", "--why=observe", "--record", &record, "--no-check-output", "-m", "9", "-M", "9"];
    let dd = "dd if=/dev/zero of=out bs=4k count=300";
    place.undisturbed(&[&words[..], &[&format!("{dd} oflag=dsync"), dd]].concat()).ok();
    place.record("record")["findings"].clone()
}
