//! What `trace` prints and writes beside its report: calls one by one, timelines, flame graphs; and its study.

#![expect(clippy::unwrap_used, reason = "a test ends by panicking")]

#[path = "support/process.rs"]
mod process;
#[path = "support/trace.rs"]
mod trace;

use process::{root_or_skip, skipped};
use trace::{open_place, rows, traced};

#[test]
fn calls_are_printed_in_order_with_paths_results_and_durations() {
    if !root_or_skip("the full level") {
        return;
    }
    let place = open_place();
    let words = [
        "trace",
        "--untraced-runs",
        "0",
        "--calls=cat:openat,cat:execve,cat:write",
        "echo hi >f; cat f nothere",
    ];
    let ran = place.run(&words);
    let lines: Vec<&str> = ran.err.lines().filter(|line| line.contains(" cat ")).collect();
    let at = |part: &str| {
        let found = lines.iter().position(|line| line.contains(part));
        found.unwrap_or_else(|| panic!("no {part} in {}", ran.err))
    };
    assert!(at("execve(\"") < at("openat(AT_FDCWD, \"f\", O_RDONLY) = "));
    let missing = at("openat(AT_FDCWD, \"nothere\", O_RDONLY) = -1 ENOENT <");
    assert!(at("\"f\"") < missing && missing < at("write(2,"));
    // Only the calls and the command that were asked for.
    assert!(!ran.err.contains("mmap(") && !ran.err.contains(" sh execve"), "{}", ran.err);
    let times: Vec<f64> = lines.iter().map(|line| line.split(' ').next().unwrap().parse().unwrap()).collect();
    assert!(times.is_sorted(), "{times:?}");
    place.run(&["trace", "--calls=opnat", "true"]).expect_error(2, &["'opnat'", "'openat'"]);
}

#[test]
fn timelines_and_flame_graphs_hold_what_ran() {
    if !root_or_skip("the full level") {
        return;
    }
    let place = open_place();
    let burn = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; sleep 0.1";
    let files = ["--perfetto", "p", "--flamegraph", "f.svg", "--folded", "f.txt", "--record", "r.json"];
    place.run(&[&["trace", "--untraced-runs", "0"], &files[..], &[burn]].concat()).expect(0, &[]);
    // The first field of every packet of a Perfetto trace is field 1 of the file, length-delimited.
    let timeline = std::fs::read(place.path("p")).unwrap();
    assert!(timeline.len() > 1000 && timeline[0] == 0x0a, "{} bytes", timeline.len());
    assert!(timeline.windows(5).any(|bytes| bytes == b"sleep"), "the timeline does not know sleep");
    let svg = std::fs::read_to_string(place.path("f.svg")).unwrap();
    assert!(svg.contains("<svg") && svg.trim_end().ends_with("</svg>") && svg.contains("off-CPU"), "{svg}");
    let folded = std::fs::read_to_string(place.path("f.txt")).unwrap();
    let weight = |start: &str| -> f64 {
        let lines = folded.lines().filter(|line| line.starts_with(start));
        lines.map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()).sum()
    };
    assert!(weight("on-CPU;sh") > 0.0, "{folded}");
    // Weights are microseconds off the CPU.
    let slept = folded.lines().find(|line| line.contains(";sleep") && line.contains("nanosleep"));
    let slept: f64 = slept.unwrap_or_else(|| panic!("{folded}")).rsplit(' ').next().unwrap().parse().unwrap();
    assert!((0.1..0.2).contains(&(slept / 1e6)), "{slept}");
    // A kept record says the same again.
    let shown = place.run(&["show", "r.json"]);
    shown.expect(0, &[]);
    assert!(shown.out.contains("level: full") && shown.out.contains("sleep"), "{}", shown.out);
}

#[test]
fn an_exit_status_is_told_and_the_stages_of_a_pipeline_are_its_programs() {
    if !root_or_skip("the full level") {
        return;
    }
    let place = open_place();
    let ran = place.run(&["trace", "--untraced-runs", "0", "exit 3"]);
    ran.expect(0, &[]);
    assert!(ran.out.replace('\n', " ").contains("exit status 3"), "{}", ran.out);
    let trace = traced(&place, &["seq 300000 | xargs -n 3000 -P2 true"]);
    let stages = rows(&trace, "stages");
    let names: Vec<&str> = stages.iter().filter_map(|stage| stage["command"].as_str()).collect();
    if names.is_empty() {
        return skipped("the stages (no standard descriptor was told)");
    }
    assert_eq!(names, ["seq", "xargs"]);
}

#[test]
fn who_never_reads_its_pipe_is_no_reader() {
    if !root_or_skip("the full level") {
        return;
    }
    let place = open_place();
    let trace = traced(&place, &["head -c 1000000 /dev/zero | (sleep 0.3; cat >/dev/null)"]);
    let stages = rows(&trace, "stages");
    if stages.is_empty() {
        return skipped("the stages (no standard descriptor was told)");
    }
    let reads = |command: &str| {
        let of = stages.iter().filter(|stage| stage["command"] == command);
        of.map(|stage| rows(stage, "reads_from").len()).sum::<usize>()
    };
    assert_eq!((reads("cat"), reads("sleep"), reads("head")), (1, 0, 0), "{stages:#?}");
}

#[test]
fn a_kept_schedule_gives_a_timeline_and_what_a_record_lacks_is_said() {
    if !root_or_skip("the full level") {
        return;
    }
    let place = open_place();
    let words = ["trace", "--untraced-runs", "0", "--keep-schedule", "--record", "r.json", "sleep 0.1"];
    place.run(&words).expect(0, &[]);
    place.run(&["show", "r.json", "--perfetto", "p"]).expect(0, &[]);
    let timeline = std::fs::read(place.path("p")).unwrap();
    assert!(timeline.windows(5).any(|bytes| bytes == b"sleep"), "the timeline does not know sleep");
    let ran = place.run(&["show", "r.json", "--sort-calls", "calls", "--top", "1"]);
    ran.expect(0, &[]);
    assert!(ran.out.contains("more rows"), "{}", ran.out);
    place
        .run(&["show", "r.json", "--flamegraph", "f.svg"])
        .expect_error(2, &["no stacks", "--flamegraph FILE"]);
    place.run(&["trace", "--untraced-runs", "0", "--record", "r.json", "true"]).expect(0, &[]);
    place
        .run(&["show", "r.json", "--perfetto", "q"])
        .expect_error(2, &["no scheduling records", "--keep-schedule"]);
    assert!(!place.path("q").exists() && !place.path("f.svg").exists());
    place.run(&["compare", "-N", "--runs", "2", "--record", "c.json", "true", "true"]).expect(0, &[]);
    place.run(&["show", "c.json", "--perfetto", "q"]).expect_error(2, &["is no trace"]);
}

#[test]
fn a_command_too_short_for_a_stack_is_no_failure() {
    if !root_or_skip("the full level") {
        return;
    }
    let place = open_place();
    // One sample a second meets nothing of it, and it never blocks: no stack, or by chance one.
    let words = ["--untraced-runs", "0", "--sample-rate", "1", "--flamegraph", "f.svg", "-N", "true"];
    let ran = place.run(&[&["trace"], &words[..]].concat());
    ran.expect(0, &[]);
    let svg = std::fs::read_to_string(place.path("f.svg")).unwrap();
    assert!(svg.contains("<svg"), "{svg}");
    assert_eq!(svg.contains("no stack was taken"), ran.err.contains("no stack was taken"), "{}", ran.err);
}
