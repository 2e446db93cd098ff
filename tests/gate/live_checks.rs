//! The only tests of the gate that judge real time: launching, one verdict, one trace, one price list, and a signal. Each planted effect is so large
//! that a correct program fails here less than once in a million runs; the bound is beside each constant.

use crate::support::needs::{full, needs};
use crate::support::prices::{price, run};
use crate::support::trace::{rows, traced, waited};
use crate::support::{Sandbox, list, number, numbers};
use rustix::process::Signal;
use serde_json::Value;

/// nanosleep(2) never returns early, so that every copy takes at least this long: no chance is involved.
const SLEPT_S: f64 = 0.2;

#[test]
fn launching_times_what_a_copy_takes() {
    let place = Sandbox::new();
    let record = place.compared(&["-N", "--runs", "3", "--load", "1,4", "sleep 0.2"]);
    let batches = list(&record["batches"]);
    assert_eq!(batches.len(), 6);
    for batch in batches {
        let walls = numbers(&batch["copies"]["wall_s"]);
        assert_eq!(walls.len() as f64, number(&batch["load"]));
        assert!(walls.iter().all(|wall| *wall >= SLEPT_S), "{batch:#}");
        // Copies that start together sleep together: the batch ends before they could have slept one after the other.
        assert!(number(&batch["makespan_s"]) >= SLEPT_S, "{batch:#}");
    }
}

/// A round goes to the wrong one only if `true` takes half a second longer than usual. On a machine with a busy loop on each CPU, fewer than 1 of 100
/// runs did. All of the first 6 rounds must go to `true`, or later ones must decide. The comparison ends undecided only if at least 8 of 40 rounds go to the wrong
/// one: P(X >= 8), X binomial(40, 0.01), is 6e-9.
const SLOWER: &str = "sleep 0.5";

#[test]
fn a_verdict_names_the_slower_one_and_a_gate_fails_it() {
    let place = Sandbox::new();
    let ran = place.compare(&[
        "-N",
        "--max-runs",
        "40",
        "--fail-if-slower=7",
        "--record",
        "r.json",
        "true",
        SLOWER,
    ]);
    ran.expect(3, &["gate", "more than 7%:", SLOWER, "true"]);
    let sentence = ran.out.split("\n\n").next().unwrap().replace('\n', " ");
    assert!(sentence.starts_with("true is ") && sentence.contains(" faster than 'sleep 0.5'"), "{sentence}");
    let record = place.record("r.json");
    let comparison = &record["levels"][0]["comparisons"][0];
    assert_eq!((&comparison["alternative"], &comparison["verdict"]), (&SLOWER.into(), &"slower".into()));
    assert!(number(&comparison["low"]) > 1.0, "{comparison:#}");
}

/// The kernel starts the timer a few instructions before the task leaves its CPU, so that the wait is a little shorter than the call. A hypervisor
/// would have to take the CPU for 0.1 s within these.
const ASLEEP_S: f64 = 0.1;

#[test]
fn a_trace_sees_all_of_a_sleep() {
    needs!(full());
    let trace = traced(&Sandbox::new(), &["--level", "full", "-N", "sleep 0.2"]);
    let within = rows(&trace, "syscalls").iter().filter(|row| row["name"] == "clock_nanosleep");
    assert!(within.map(|row| number(&row["total_s"])).sum::<f64>() >= SLEPT_S, "{:#}", trace["syscalls"]);
    assert!(number(&trace["wall_s"]) >= SLEPT_S, "{}", trace["wall_s"]);
    assert!(waited(&trace, "sleep", "timer") >= ASLEEP_S, "{:#}", trace["waits"]);
}

/// A fork makes a process with its tables of pages, and getpid only enters the kernel: on every machine of `reference/` the ratio is at least 40. Other
/// work may leave either row without a price, which the list then shows; it moves the floor of neither by a factor of 40.
#[test]
fn a_price_list_prices_a_fork_above_a_call() {
    let ran = run(&["prices", "--json", "--quick", "getpid", "fork"]);
    let list: Value = serde_json::from_str(&ran.out).unwrap();
    let floor = |name: &str, variant: &str| price(&list, name, variant)["floor_ns"].as_f64();
    let (call, fork) = (floor("getpid", "raw"), floor("fork", "reaped"));
    assert!(call.is_none_or(|ns| ns > 1.0), "{call:?}");
    assert!(call.zip(fork).is_none_or(|(call, fork)| call < fork), "{call:?} {fork:?}");
    assert_eq!(ran.code() == 0, list["prices"].as_array().unwrap().iter().any(|it| it["median_ns"].is_f64()));
}

/// The command would sleep for years: whenever whyfaster ends, the signal has ended it.
#[test]
fn a_signal_ends_a_measurement() {
    let place = Sandbox::new();
    let running = place.start(&["compare", "-N", &format!("sleep {}", place.marker)]);
    place.wait_for_sleepers(1);
    running.signal(Signal::INT);
    running.wait().expect(130, &["interrupted: "]);
    place.assert_clean();
}
