//! What `trace` prints and writes beside its report: calls one by one, timelines, flame graphs; and its study.

use crate::support::Sandbox;
use crate::support::needs::{full, needs};
use crate::support::trace::{rows, traced};

#[test]
fn calls_are_printed_in_order_with_paths_results_and_durations() {
    needs!(full());
    let place = Sandbox::open();
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
}

#[test]
fn timelines_and_flame_graphs_hold_what_ran() {
    needs!(full());
    let place = Sandbox::open();
    let burn = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; sleep 0.1";
    let files = ["--perfetto", "p", "--flamegraph", "f.svg", "--folded", "f.txt", "--record", "r.json"];
    place.run(&[&["trace", "--untraced-runs", "0"], &files[..], &[burn]].concat()).ok();
    // The first field of every packet of a Perfetto trace is field 1 of the file, length-delimited.
    let timeline = std::fs::read(place.path("p")).unwrap();
    assert!(timeline.len() > 1000 && timeline[0] == 0x0a, "{} bytes", timeline.len());
    assert!(timeline.windows(5).any(|bytes| bytes == b"sleep"), "the timeline does not know sleep");
    let svg = place.read("f.svg");
    assert!(svg.contains("<svg") && svg.trim_end().ends_with("</svg>") && svg.contains("off-CPU"), "{svg}");
    let folded = place.read("f.txt");
    let weight = |start: &str| -> f64 {
        let lines = folded.lines().filter(|line| line.starts_with(start));
        lines.map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()).sum()
    };
    assert!(weight("on-CPU;sh") > 0.0, "{folded}");
    // Weights are microseconds off the CPU. That is not 0.1 s: the timer starts before the task leaves its CPU.
    let slept = folded.lines().find(|line| line.contains(";sleep") && line.contains("nanosleep"));
    let slept: f64 = slept.unwrap_or_else(|| panic!("{folded}")).rsplit(' ').next().unwrap().parse().unwrap();
    let record = place.record("r.json");
    let call = rows(&record, "syscalls").iter().find(|call| call["name"] == "clock_nanosleep").unwrap();
    let counted = call["blocked_s"].as_f64().unwrap() * 1e6;
    assert!(counted > 0.0 && (slept - counted).abs() <= 1.0, "{slept} {counted}");
    // A kept record says the same again.
    let shown = place.run(&["show", "-v", "r.json"]).ok();
    assert!(shown.out.contains("level: full") && shown.out.contains("sleep"), "{}", shown.out);
}

#[test]
fn an_exit_status_is_told_and_the_stages_of_a_pipeline_are_its_programs() {
    needs!(full());
    let place = Sandbox::open();
    let ran = place.run(&["trace", "--untraced-runs", "0", "exit 3"]).ok();
    assert!(ran.out.replace('\n', " ").contains("exit status 3"), "{}", ran.out);
    let trace = traced(&place, &["seq 300000 | xargs -n 3000 -P2 true"]);
    let stages = rows(&trace, "stages");
    let names: Vec<&str> = stages.iter().filter_map(|stage| stage["command"].as_str()).collect();
    assert_eq!(names, ["seq", "xargs"]);
}

#[test]
fn who_never_reads_its_pipe_is_no_reader() {
    needs!(full());
    let place = Sandbox::open();
    let trace = traced(&place, &["head -c 1000000 /dev/zero | (sleep 0.3; cat >/dev/null)"]);
    let stages = rows(&trace, "stages");
    let reads = |command: &str| {
        let of = stages.iter().filter(|stage| stage["command"] == command);
        of.map(|stage| rows(stage, "reads_from").len()).sum::<usize>()
    };
    assert_eq!((reads("cat"), reads("sleep"), reads("head")), (1, 0, 0), "{stages:#?}");
}

#[test]
fn a_kept_schedule_gives_a_timeline_and_what_a_record_lacks_is_said() {
    needs!(full());
    let place = Sandbox::open();
    let words = ["trace", "--untraced-runs", "0", "--keep-schedule", "--record", "r.json", "sleep 0.1"];
    place.run(&words).ok();
    place.run(&["show", "r.json", "--perfetto", "p"]).ok();
    let timeline = std::fs::read(place.path("p")).unwrap();
    assert!(timeline.windows(5).any(|bytes| bytes == b"sleep"), "the timeline does not know sleep");
    let ran = place.run(&["show", "-v", "r.json", "--sort-calls", "calls", "--top", "1"]).ok();
    assert!(ran.out.contains("more rows"), "{}", ran.out);
    place
        .run(&["show", "r.json", "--flamegraph", "f.svg"])
        .expect_error(2, &["no stacks", "--flamegraph FILE"]);
    place.run(&["trace", "--untraced-runs", "0", "--record", "r.json", "true"]).ok();
    place
        .run(&["show", "r.json", "--perfetto", "q"])
        .expect_error(2, &["no scheduling records", "--keep-schedule"]);
    assert!(!place.path("q").exists() && !place.path("f.svg").exists());
    place.run(&["compare", "-N", "--runs", "2", "--record", "c.json", "true", "true"]).ok();
    place.run(&["show", "c.json", "--perfetto", "q"]).expect_error(2, &["is no trace"]);
}

#[test]
fn a_command_too_short_for_a_stack_is_no_failure() {
    needs!(full());
    let place = Sandbox::open();
    let words = ["--untraced-runs", "0", "--sample-rate", "1", "--flamegraph", "f.svg", "-N", "true"];
    let drawn = |_| {
        let ran = place.run(&[&["trace"], &words[..]].concat()).ok();
        let svg = place.read("f.svg");
        assert!(svg.contains("<svg"), "{svg}");
        (svg, ran.err)
    };
    // It never blocks, and one sample a second meets it by chance only.
    let empty = (0..20).map(drawn).find(|(svg, _)| svg.contains("no stack was taken"));
    let (_, said) = empty.expect("each of 20 short runs met a sample, or an empty graph does not say so");
    assert!(said.contains("no stack was taken"), "{said}");
}
