//! Why two everyday commands differ, for an ordinary user: counts and kinds, not times.

#![expect(clippy::unwrap_used, reason = "a test ends by panicking")]

use std::os::unix::process::CommandExt;

use crate::support::needs::{needs, tool};
use crate::support::trace::{SPIN, compile};
use crate::support::user::{program_for_all, without_privileges};
use crate::support::{Sandbox, seccomp, undisturbed};
use serde_json::Value;

/// The comparison as the user 65534, as JSON; `forbidden` calls fail.
fn explained(place: &Sandbox, forbidden: &[libc::c_long], slow: &str, fast: &str) -> Value {
    let words = ["compare", "--why", "--json", "--no-check-output", "--max-runs", "30", slow, fast];
    let program = program_for_all(place);
    let mut command = undisturbed(without_privileges(place, &program, &words));
    let forbidden = forbidden.to_vec();
    if !forbidden.is_empty() {
        // SAFETY: the filter is set by two calls that are allowed after a fork.
        unsafe { command.pre_exec(move || seccomp::refuse(&forbidden)) };
    }
    place.finish(command).json()
}

/// The first finding, which is of the slower one, given first.
#[track_caller]
fn first(record: &Value) -> &Value {
    let found = &record["findings"][0];
    let name = &record["plan"]["alternatives"][0]["name"];
    assert_eq!(&found["alternative"], name, "{:#} {:#}", record["findings"], record["summary"]);
    found
}

fn levels(record: &Value) -> Vec<&str> {
    let traced = record["traced"].as_array().into_iter().flatten();
    traced.map(|it| it["report"]["level"].as_str().unwrap()).collect()
}

/// What this user is told beside the answer: how to observe it, by a command on a line of its own that fits a terminal.
#[track_caller]
fn says_how_to_observe(place: &Sandbox, record: &Value) {
    assert_eq!(record["refusals"][0]["kind"], "needs", "{:#}", record["refusals"]);
    place.write("record.json", record.to_string());
    let ran = place.run(&["show", "record.json"]).ok();
    assert!(ran.out.contains("to observe it, run it"), "{}", ran.out);
    if let Some(command) = record["refusals"][0]["missing"][0]["command"].as_str() {
        assert!(ran.out.lines().any(|line| line.trim() == command), "{}", ran.out);
    }
}

const SMALL: [&str; 2] =
    ["dd if=/dev/zero of=/dev/null bs=1 count=40000", "dd if=/dev/zero of=/dev/null bs=40000 count=1"];

#[test]
fn small_pieces_are_named_by_counting_them() {
    let place = Sandbox::open();
    let record = explained(&place, &[], SMALL[0], SMALL[1]);
    let found = first(&record);
    assert_eq!((&found["cause"], &found["by_counts"]), (&"small_io".into(), &true.into()), "{found:#}");
    let sentence = found["sentence"].as_str().unwrap();
    assert!(sentence.contains("80,0") && sentence.contains("reads and writes of "), "{sentence}");
    // By ptrace, or by the kernel where a busy machine makes each of 80,000 stops too dear.
    let levels = levels(&record);
    assert!(levels == ["ptrace"; 2] || levels == ["unprivileged"; 2], "{levels:?}");
    says_how_to_observe(&place, &record);
}

#[test]
fn where_ptrace_is_forbidden_the_kernels_own_counts_name_them() {
    let place = Sandbox::open();
    let record = explained(&place, &[libc::SYS_ptrace], SMALL[0], SMALL[1]);
    let found = first(&record);
    assert_eq!((&found["cause"], &found["by_counts"]), (&"small_io".into(), &true.into()), "{found:#}");
    assert_eq!(levels(&record), [""; 0]);
    says_how_to_observe(&place, &record);
}

#[test]
fn more_calls_than_can_be_stopped_at_are_counted_by_the_kernel() {
    let place = Sandbox::open();
    place.write("lines", "1234567\n".repeat(60_000));
    let record = explained(&place, &[], "while read x; do :; done < lines", "sed -n '$=' lines");
    assert_eq!(first(&record)["cause"], "small_io", "{:#}", record["findings"]);
    assert_eq!(levels(&record), ["unprivileged"; 2]);
    let calls = &first(&record)["fact"]["number"]["here"];
    assert!(calls.as_f64().unwrap() >= 480_000.0, "{calls}");
}

#[test]
fn processes_are_named_and_an_experiment_confirms_it() {
    let place = Sandbox::open();
    let record = explained(&place, &[], "for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done", ":");
    let found = first(&record);
    assert_eq!(found["cause"], "processes", "{found:#}");
    assert_eq!(found["fact"]["processes"]["here"], 10.0, "{found:#}");
    let tried = &record["experiments"][0];
    assert_eq!(
        (&tried["cause"], tried["outcome"] == "not_testable"),
        (&"processes".into(), false),
        "{tried:#}"
    );
}

#[test]
fn a_sleep_is_named_by_its_call() {
    let place = Sandbox::open();
    let record = explained(&place, &[], "sleep 0.08", "sleep 0.01");
    assert_eq!(first(&record)["cause"], "sleep", "{:#}", record["findings"]);
    // Without counts it waits, and nobody says for what.
    let record = explained(&place, &[libc::SYS_ptrace], "sleep 0.08", "sleep 0.01");
    assert_eq!(record["answer"]["because"]["kind"], "waits", "{:#}", record["answer"]);
}

#[test]
fn computing_needs_no_privileges_at_all() {
    needs!(tool("cc"));
    let place = Sandbox::open();
    let spin = compile(&place, "spin", SPIN);
    let [slow, fast] = ["300000000", "50000000"].map(|turns| format!("{spin} {turns}"));
    let record = explained(&place, &[libc::SYS_ptrace], &slow, &fast);
    let found = first(&record);
    assert_eq!((&found["cause"], found.get("by_counts")), (&"compute".into(), None), "{found:#}");
}
