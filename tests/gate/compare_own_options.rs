//! Every option of `compare` that is our own does what it says: load, modes, statistics, time-out, placement. Through the built
//! program. What is planted is far above any noise, and no test depends on how fast this machine is.

#![expect(clippy::unwrap_used, reason = "a test ends by panicking")]

use std::collections::BTreeSet;
use std::fs;

use crate::support::needs::{needs, root};
use crate::support::user::run_without_privileges;
use crate::support::{Sandbox, list, loads, number, numbers, order};
use serde_json::{Value, json};

/// The columns of a batch.
const COLUMNS: [&str; 9] = [
    "start_s",
    "wall_s",
    "user_s",
    "system_s",
    "max_rss_bytes",
    "voluntary_switches",
    "involuntary_switches",
    "status",
    "timed_out",
];

fn batches(record: &Value) -> &[Value] {
    list(&record["batches"])
}

/// When the copies of a batch started and ended.
fn spans(batch: &Value) -> Vec<(f64, f64)> {
    let starts = numbers(&batch["copies"]["start_s"]);
    starts
        .iter()
        .zip(numbers(&batch["copies"]["wall_s"]))
        .map(|(start, wall)| (*start, start + wall))
        .collect()
}

/// The most copies that were under way at once.
fn most_at_once(batch: &Value) -> usize {
    let spans = spans(batch);
    let at = |t: f64| spans.iter().filter(|(start, end)| *start <= t && t < *end).count();
    spans.iter().map(|(start, _)| at(*start)).max().unwrap_or(0)
}

/// The first comparison at the lowest level.
fn comparison(record: &Value) -> &Value {
    &record["levels"][0]["comparisons"][0]
}

#[test]
fn a_list_of_loads_is_measured_in_rising_order() {
    let record = Sandbox::new().compared(&["-N", "-r", "2", "--load", "5,1,3", "true", "/bin/true"]);
    assert_eq!(loads(&record), [1, 3, 5]);
    for batch in batches(&record) {
        for column in COLUMNS {
            assert_eq!(
                batch["copies"][column].as_array().map(Vec::len),
                batch["load"].as_u64().map(|n| n as usize)
            );
        }
    }
    assert_eq!(batches(&record).len(), 3 * 2 * 2, "three levels, two rounds, two alternatives");
}

#[test]
fn a_thousand_copies_run_at_once() {
    let record = Sandbox::new().compared(&["-N", "-r", "1", "--load", "1000", "true"]);
    assert_eq!(loads(&record), [1000], "{}", record["not_measured"]);
    for column in COLUMNS {
        assert_eq!(list(&batches(&record)[0]["copies"][column]).len(), 1000, "{column}");
    }
    assert!(list(&batches(&record)[0]["copies"]["status"]).iter().all(|status| status == 0));
    assert!(number(&record["levels"][0]["results"][0]["throughput_per_s"]) > 0.0);
}

#[test]
fn a_level_that_does_not_fit_is_reported_and_the_others_go_on() {
    // A million processes are more than any limit of processes leaves room for.
    let record = Sandbox::new().compared(&["-N", "-r", "1", "--load", "1,1000000,2", "true"]);
    assert_eq!(loads(&record), [1, 2]);
    let gaps = list(&record["not_measured"]);
    let gap = gaps.iter().find(|gap| gap["what"] == "load 1000000").unwrap_or_else(|| panic!("{gaps:?}"));
    assert!(gap["why"].as_str().unwrap().len() > 20, "{gap}");
}

#[test]
fn load_auto_climbs_the_ladder() {
    let record = Sandbox::new().compared(&["-N", "--load", "auto", "--max-time", "4s", "true", "/bin/true"]);
    let cpus = list(&record["host"]["before"]["cpus_allowed"]).len() as u64;
    let quota = record["host"]["before"]["cgroup_cpus"].as_f64();
    let measured: BTreeSet<u64> = loads(&record).into_iter().collect();
    let mut expected: BTreeSet<u64> = [1, 10, 100, 1000].into();
    if quota.is_none() {
        expected.extend([cpus.div_ceil(2), cpus, 2 * cpus, 4 * cpus]);
    }
    for load in &expected {
        let gap = list(&record["not_measured"]).iter().any(|gap| gap["what"] == format!("load {load}"));
        assert!(measured.contains(load) != gap, "load {load}: {measured:?}, {}", record["not_measured"]);
    }
    assert!(measured.contains(&1) && measured.contains(&cpus), "{measured:?}");
}

#[test]
fn in_the_closed_mode_workers_go_on_for_the_duration() {
    let words = ["-r", "1", "--mode", "closed", "--duration", "1s", "--load", "1,4", "-N", "sleep 0.05"];
    let record = Sandbox::new().compared(&words);
    assert_eq!(loads(&record), [1, 4]);
    let copies: Vec<usize> = batches(&record).iter().map(|batch| spans(batch).len()).collect();
    for (batch, workers) in batches(&record).iter().zip([1, 4]) {
        let spans = spans(batch);
        assert!(most_at_once(batch) <= workers, "{batch}");
        assert!(spans.len() > workers, "each worker starts a new copy when its last one ended: {copies:?}");
        assert!(spans.iter().all(|(start, _)| *start < 2.0), "nothing starts after the duration: {batch}");
        assert!(spans.iter().any(|(start, _)| *start > 0.5), "copies start throughout the duration: {batch}");
    }
    assert_eq!(most_at_once(&batches(&record)[1]), 4);
    assert!(copies[1] > 2 * copies[0], "four workers sleep more often than one: {copies:?}");
    for (level, batch) in list(&record["levels"]).iter().zip(batches(&record)) {
        let rate = number(&level["results"][0]["throughput_per_s"]);
        let counted = spans(batch).len() as f64 / number(&batch["makespan_s"]);
        assert!((rate / counted - 1.0).abs() < 0.01, "{rate} and {counted}");
    }
}

#[test]
fn in_the_open_mode_copies_arrive_whatever_became_of_the_earlier_ones() {
    let words = ["-r", "1", "--mode", "open", "--rate", "20", "--duration", "1s", "-N", "sleep 0.7"];
    let record = Sandbox::new().compared(&words);
    let batch = &batches(&record)[0];
    let starts = numbers(&batch["copies"]["start_s"]);
    assert_eq!(starts.len(), 20);
    for (n, start) in starts.iter().enumerate() {
        assert!((start - n as f64 / 20.0).abs() < 1e-3, "copy {n} counts from {start}, its intended start");
    }
    assert!(numbers(&batch["copies"]["wall_s"]).iter().all(|wall| *wall >= 0.69), "{batch}");
    assert!(most_at_once(batch) >= 10, "a copy sleeps through 14 arrivals: {}", most_at_once(batch));
}

#[test]
fn latency_counts_from_the_intended_start() {
    // The first copy stops the launcher, so that it is late for the next ones; time that they had to wait counts.
    let stop = "if [ $WHYFASTER_COPY = 0 ] && [ $HYPERFINE_ITERATION = 0 ]; then \
                kill -STOP $PPID; sleep 0.6; kill -CONT $PPID; fi";
    let words = ["-r", "1", "--mode", "open", "--rate", "20", "--duration", "2s", stop];
    let record = Sandbox::new().compared(&words);
    let copies = &batches(&record)[0]["copies"];
    let walls = numbers(&copies["wall_s"]);
    assert_eq!(walls.len(), 40);
    // 12 copies should have started meanwhile, 8 of them at least 0.2 s before the launcher went on.
    let waited = walls[1..].iter().filter(|wall| **wall >= 0.2).count();
    assert!(waited >= 6, "{waited} copies say that they waited: {copies}");
}

/// What the launcher had before the exec is no memory of the command: a trial shows what is, and without one it is said.
#[test]
fn the_memory_of_a_small_program_is_its_own() {
    let place = Sandbox::new();
    let peaks = |options: &[&str]| {
        let record = place.compared(&[options, &["--why=no", "-N", "true", "sleep 0.001"]].concat());
        let results = list(&record["levels"][0]["results"]).to_vec();
        results
            .iter()
            .map(|it| (number(&it["max_rss_bytes"]), it["max_rss_at_most"] == true))
            .collect::<Vec<_>>()
    };
    let counted = peaks(&["-r", "3"]);
    assert!(counted.iter().all(|(_, at_most)| *at_most), "{counted:?}");
    for options in [&["-M", "4"][..], &["-r", "3", "--metrics=memory_peak_resident"]] {
        for (own, most) in peaks(options).iter().zip(&counted) {
            assert!(own.0 * 1.5 < most.0 && !own.1, "{options:?}: {own:?}, {most:?}");
        }
    }
}

#[test]
fn max_time_is_kept_and_cuts_min_runs_short() {
    let words = ["-N", "--max-time", "2s", "--min-runs", "1000", "--delta", "0", "sleep 0.02", "sleep 0.020"];
    let record = Sandbox::new().compared(&words);
    assert_eq!(record["status"], "complete");
    let rounds = comparison(&record)["rounds"].as_u64().unwrap();
    assert!((1..1000).contains(&rounds), "{rounds}");
    assert_ne!(comparison(&record)["verdict"], "same");
}

/// What takes twenty times as long as in its trial is cut behind one whole round, and not behind all that were planned.
#[test]
fn max_time_is_kept_by_commands_that_are_slower_than_their_trials() {
    let place = Sandbox::new();
    place.script("slow", "#!/bin/sh\n[ \"$WHYFASTER_RUN\" = trial ] || sleep 0.8\n");
    let record = place.compared(&["--max-time", "1s", "--why=no", "./slow", "./slow x"]);
    let made = batches(&record);
    assert!((2..=4).contains(&made.len()), "{made:#?}");
    let rounds_of = |arm: usize| {
        let of_arm = made.iter().filter(|it| it["arm"]["alternative"] == arm);
        of_arm.map(|it| it["round"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert!(rounds_of(0).iter().any(|round| rounds_of(1).contains(round)), "{made:#?}");
}

#[test]
fn delta_is_what_counts_as_the_same() {
    let place = Sandbox::new();
    let mut record = place.compared(&["-N", "-m", "12", "-M", "12", "--delta", "90%", "true", "/bin/true"]);
    assert_eq!(record["plan"]["delta"], 0.9);
    // Samples by which the second one takes 10% longer.
    for batch in record["batches"].as_array_mut().unwrap() {
        let second = batch["arm"].get("alternative") == Some(&json!(1));
        let took_s = (1.0 + number(&batch["round"]) / 1000.0) * if second { 0.11 } else { 0.1 };
        (batch["makespan_s"], batch["copies"]["wall_s"]) = (took_s.into(), json!([took_s]));
    }
    for (delta, verdict) in [(0.9, "same"), (0.0, "slower")] {
        record["plan"]["delta"] = delta.into();
        place.write("r.json", record.to_string());
        let again = place.run(&["show", "--json", "r.json"]).json();
        assert_eq!(comparison(&again)["verdict"], verdict, "{}", comparison(&again));
    }
}

#[test]
fn more_confidence_gives_wider_intervals() {
    let place = Sandbox::new();
    let mut record = place.compared(&["-N", "-r", "40", "--confidence", "60%", "true", "/bin/true"]);
    assert_eq!(record["plan"]["confidence"], 0.6);
    let width = |record: &Value| number(&comparison(record)["high"]) / number(&comparison(record)["low"]);
    let low = width(&record);
    record["plan"]["confidence"] = json!(0.999);
    place.write("r.json", record.to_string());
    let high = width(&place.run(&["show", "--json", "r.json"]).json());
    assert!(high > low, "60%: {low}, 99.9%: {high}");
}

#[test]
fn the_seed_is_the_records_and_eight_rounds_run_every_alternative_eight_times() {
    let words = ["-N", "-m", "8", "-M", "8", "--seed", "7", "true", "/bin/true", "/usr/bin/true"];
    let record = Sandbox::new().compared(&words);
    assert_eq!(record["plan"]["seed"], 7);
    let order = order(&record);
    for arm in [0, 1, 2] {
        let runs = order.iter().filter(|it| **it == arm).count();
        assert_eq!(runs, 8, "{order:?}");
    }
}

/// Whether a process with this word on its command line is there.
fn is_running(word: &str) -> bool {
    let command_lines = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path().join("cmdline"));
    command_lines
        .filter_map(|path| fs::read(path).ok())
        .any(|line| line.split(|byte| *byte == 0).any(|found| found == word.as_bytes()))
}

#[test]
fn a_time_out_ends_the_whole_tree_and_counts_as_slower() {
    // Numbers that no one else sleeps for: a child, and one that has left its session.
    let (child, runaway) = (format!("300.1{}", std::process::id()), format!("300.2{}", std::process::id()));
    let hangs = format!("setsid sleep {runaway} & sleep {child}");
    let words = ["--timeout", "400ms", "--no-check-output", "sleep 0.01", &hangs];
    let record = Sandbox::new().compared(&words);
    let results = list(&record["levels"][0]["results"]);
    assert!(results[1]["rounds"].as_u64().unwrap() >= 3, "{results:?}");
    assert_eq!(results[1]["timed_out"], results[1]["rounds"], "every copy of it runs into the time-out");
    assert!(number(&results[0]["timed_out"]) < number(&results[0]["rounds"]) / 2.0, "{results:?}");
    assert!(comparison(&record)["high"].is_null(), "how much slower is not known: {}", comparison(&record));
    assert!(!is_running(&child) && !is_running(&runaway), "the time-out left processes behind");
}

#[test]
fn a_time_out_in_the_trial_is_no_other_work() {
    let ran = Sandbox::new().compare(&[
        "--json",
        "-m",
        "7",
        "-M",
        "7",
        "--timeout",
        "300ms",
        "sleep 0.01",
        "sleep 300",
    ]);
    let record = ran.json();
    assert_ne!(comparison(&record)["verdict"], "faster");
    assert!(record["trials"][1]["stdout_sha256"].is_null(), "an output that was cut short was not compared");
}

#[test]
fn copies_have_a_session_each_or_share_one() {
    let sessions = |options: &[&str]| {
        let place = Sandbox::new();
        let log = "[ $HYPERFINE_ITERATION = 0 ] && cut -d' ' -f6 /proc/$$/stat >> log; true";
        let record = place.compared(&[&["-r", "1", "--load", "5"], options, &[log]].concat());
        let lines = place.lines("log");
        assert_eq!(lines.len(), 5);
        (lines.into_iter().collect::<BTreeSet<_>>().len(), record["plan"]["placement"].clone())
    };
    assert_eq!(sessions(&[]), (5, json!("session")));
    assert_eq!(sessions(&["--placement", "session"]), (5, json!("session")));
    assert_eq!(sessions(&["--placement=shared"]), (1, json!("shared")));
}

#[test]
fn pinned_copies_may_use_those_cpus_only() {
    let place = Sandbox::new();
    let log = "grep Cpus_allowed_list /proc/self/status >> log";
    let free = place.compared(&["-r", "1", log]);
    let allowed = list(&free["host"]["before"]["cpus_allowed"]);
    let last = allowed.last().unwrap().to_string();
    fs::remove_file(place.path("log")).unwrap();
    let pinned = place.compared(&["-r", "1", "--load", "2", "--pin", &last, log]);
    let lines = place.lines("log");
    assert_eq!(lines.len(), 2);
    assert!(lines.iter().all(|line| *line == format!("Cpus_allowed_list:\t{last}")), "{lines:?}");
    assert_eq!(pinned["plan"]["cpus"], json!([allowed.last().unwrap()]));
    place.compare(&["--pin", "8190", "true"]).expect(2, &["--pin", "8190"]);
}

/// How often this machine dropped its page cache since it was started.
fn drops() -> Option<u64> {
    let counters = fs::read_to_string("/proc/vmstat").ok()?;
    counters.lines().find_map(|line| line.strip_prefix("drop_pagecache "))?.parse().ok()
}

#[test]
fn caches_are_dropped_by_root_and_by_no_one_else() {
    let place = Sandbox::open();
    let words = ["compare", "-r", "2", "--drop-caches", "true"];
    run_without_privileges(&place, &words).expect_error(6, &["--drop-caches", "root"]);
    needs!(root());
    let before = drops();
    let ran = place.run(&words);
    if fs::OpenOptions::new().write(true).open("/proc/sys/vm/drop_caches").is_ok() {
        ran.ok();
        let more = drops().zip(before).map(|(after, before)| after - before);
        assert!(more.is_none_or(|more| more >= 2), "dropped {more:?} times for two runs");
    } else {
        // A container's root may not.
        ran.expect(6, &["drop_caches", "hint:"]);
    }
}
