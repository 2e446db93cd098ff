//! Alternatives at once with the baseline on one CPU: how often they run, what is said of them, and where there are none.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::support::trace::{SPIN, compile};
use crate::support::{Sandbox, list, number};
use serde_json::Value;

/// Three times the CPU time from which on there are duets, on whichever CPU this is.
const LOOP: Duration = Duration::from_millis(150);

/// Two loops, of which the second has this many times the turns of the first.
fn loops(place: &Sandbox, times: f64) -> [String; 2] {
    let spin = compile(place, "spin", SPIN);
    let probed = 100_000_000;
    let took = |_| {
        let start = Instant::now();
        place.finish(place.command(&spin, &[&probed.to_string()])).ok();
        start.elapsed()
    };
    // The shortest one was disturbed least.
    let shortest = (0..5).map(took).fold(Duration::MAX, Duration::min);
    let turns = f64::from(probed) * LOOP.div_duration_f64(shortest);
    [1.0, times].map(|times| format!("{spin} {}", (turns * times) as u64))
}

fn compared(place: &Sandbox, options: &[&str], commands: &[String; 2]) -> Value {
    let commands: Vec<&str> = commands.iter().map(String::as_str).collect();
    place.run(&[&["compare", "-N", "--why=no", "--json"], options, &commands].concat()).json()
}

#[test]
fn more_work_is_found_with_a_load_that_nobody_had_time_for() {
    let place = Sandbox::new();
    let commands = loops(&place, 1.3);
    let record = compared(&place, &["--load", "1,1000", "--max-time", "60"], &commands);
    assert!(!record["duets"].is_null(), "{:#}", record["not_measured"]);
    let found = &record["duets"][0];
    assert_eq!(found["change"], "more", "{found:#}");
    assert!((6..=12).contains(&found["rounds"].as_u64().unwrap_or(0)), "{found:#}");
    let (low, high) = (number(&found["low"]), number(&found["high"]));
    assert!(number(&found["bias"]) >= 0.02 - 1e-9, "{found:#}");
    assert!(1.0 < low && low <= 1.3 * 1.05 && high >= 1.3 / 1.05, "{found:#}");
    let runs = list(&record["duet_runs"]);
    assert_eq!(Some(runs.len() as u64), found["rounds"].as_u64());
    let screen = place.run(&["show"]).ok().flowing();
    assert!(screen.contains("at 1000 copies, if each needs as much CPU time as one alone"), "{screen}");
}

#[test]
fn a_duet_runs_both_at_once_and_goes_on_with_whoever_ended_first() {
    let place = Sandbox::new();
    // Each notes what it is told, and computes; the second one for longer.
    let of = |name: &str, turns: u32| {
        place.script(
            name,
            &format!("#!/bin/sh\necho $WHYFASTER_RUN >> {}.runs\ni=0; while [ $i -lt {turns} ]; do i=$((i+1)); done\n", place.file(name)),
        )
    };
    let commands = [of("short", 100_000), of("long", 300_000)];
    // Time enough for duets on the slowest machine: this difference is decided long before.
    let record = compared(&place, &["--load", "1,2", "--max-time", "300"], &commands);
    assert!(!record["duet_runs"].is_null(), "{:#}", record["not_measured"]);
    let duets = list(&record["duet_runs"]).len();
    let told = |name: &str| {
        let mut told: BTreeMap<String, usize> = BTreeMap::new();
        for line in place.lines(&format!("{name}.runs")) {
            *told.entry(line).or_default() += 1;
        }
        told
    };
    let (short, long) = (told("short"), told("long"));
    assert!(duets >= 6 && long["duet"] == duets, "{duets} {long:?}");
    // With a CPU each it would be gone after a third of the time.
    assert!(short["duet"] >= 2 * duets, "{duets} {short:?}");
    place.assert_clean();
}

#[test]
fn there_are_none_where_two_at_once_would_disturb_or_say_nothing() {
    let place = Sandbox::new();
    let commands = loops(&place, 1.0);
    let none = |options: &[&str], commands: &[String; 2]| {
        let record = compared(&place, options, commands);
        assert!(record["duets"].is_null() && record["duet_runs"].is_null(), "{options:?}");
        record
    };
    none(&["--max-time", "3"], &commands);
    none(&["--max-time", "3", "--load", "1,2", "--pace", "off"], &commands);
    none(&["--runs", "2", "--load", "1,2"], &commands);
    none(&["--max-time", "3", "--load", "1,2", "--prepare", "true"], &commands);
    let short = none(&["--max-time", "3", "--load", "1,2"], &["true".into(), "/bin/true".into()]);
    let why = |record: &Value, kind: &str| {
        let missing = list(&record["not_measured"]).iter().find(|it| it["quantity"]["kind"] == "duets");
        assert_eq!(
            missing.map(|it| &it["reason"]["kind"]),
            Some(&kind.into()),
            "{:#}",
            record["not_measured"]
        );
    };
    why(&short, "too_short_for_duets");
    let refused = ["compare", "-N", "--pace", "on", "--runs", "3", "true", "false"];
    place.run(&refused).expect_error(2, &["--pace on runs two alternatives at once", "--runs"]);
}

#[test]
fn one_copy_alone_has_them_if_asked_for() {
    let place = Sandbox::new();
    let commands = loops(&place, 1.3);
    let record = compared(&place, &["--pace", "on", "--max-time", "60"], &commands);
    assert_eq!(record["duets"][0]["change"], "more", "{:#}", record["duets"]);
}
