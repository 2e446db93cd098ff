//! What a script reads from `compare`: the exit status (same work, gates), the record and its schema. Through the
//! built program.

use crate::support::{Sandbox, list, texts};
use serde_json::{Value, json};

#[test]
fn a_difference_in_what_is_printed_is_shown() {
    let place = Sandbox::new();
    let different =
        ["-w", "1", "-r", "1", "printf 'one\\ntwo\\nthree\\n'", "printf 'one\\ntwice\\nthree\\n'"];
    let said = ["standard output differs", "byte 7", "line 2", ": two", ": twice", "--no-check-output"];
    let strict = |words: &[&str]| place.compare(&[&["--check-output=strict"], words].concat());
    let ran = strict(&different);
    ran.expect(5, &said);
    assert_eq!(ran.out, "", "there is no result to report");
    // A gate judges equal work only.
    place.compare(&[&["--fail-if-slower"], &different[..]].concat()).expect(5, &said);
    let record = place.compared(&[&["--no-check-output"], &different[..]].concat());
    assert!(
        list(&record["trials"]).iter().all(|trial| trial["stdout_sha256"].is_null()),
        "{}",
        record["trials"]
    );
    assert_eq!(record["plan"]["check_output"], false);
    // One that prints less, and one that prints nothing at all.
    strict(&["-w", "1", "-r", "1", "printf 'ab'", "printf 'a'"]).expect(5, &["byte 2", "(end of output)"]);
    strict(&["-m", "1", "-M", "1", "true", "echo x"]).expect(5, &["byte 1", "(no output)"]);
    // The third one is held against the first as well, and alike ones pass.
    strict(&["-m", "1", "-M", "1", "echo x", "printf 'x\\n'", "echo y"]).expect(5, &["'echo y'", "'echo x'"]);
    strict(&["-m", "1", "-M", "1", "echo x", "printf 'x\\n'"]).ok();
    // Standard error is no output.
    strict(&["-m", "1", "-M", "1", "echo 1 >&2", "echo 2 >&2"]).ok();
}

#[test]
fn commands_that_print_something_else_are_measured_and_doubted() {
    let place = Sandbox::new();
    let ran = place.compare(&["-m", "4", "-M", "4", "printf 'one\\ntwo\\n'", "printf 'one\\ntwice\\n'"]).ok();
    let screen = ran.flowing();
    for said in [", but B prints something else than A", "(first at byte 7)", "line 2", "twice"] {
        assert!(screen.contains(said), "no '{said}': {screen}");
    }
    assert!(!screen.contains("from run to run"), "{screen}");
    let record = place.compared(&["-m", "4", "-M", "4", "echo a", "echo a", "echo $$"]);
    let trials = list(&record["trials"]);
    assert!(trials[1]["differs"].is_null() && trials[2]["differs"]["place"] == json!([1, 1]), "{trials:#?}");
    let varies: Vec<bool> = trials.iter().map(|trial| trial["varies"] == true).collect();
    assert_eq!(varies, [false, false, true]);
    let varying = place.compare(&["-m", "2", "-M", "2", "echo a", "echo $$"]).ok().flowing();
    assert!(varying.contains(", but the output of 'echo $$' differs from run to run."), "{varying}");
}

#[test]
fn outputs_longer_than_any_buffer_are_compared_to_the_end() {
    let place = Sandbox::new();
    let long = |end: &str| format!("head -c 5000000 /dev/zero | tr '\\0' '\\n'; echo {end}");
    place.compare(&["-w", "1", "-r", "1", &long("a"), &long("a")]).ok();
    place
        .compare(&["--check-output=strict", "-w", "1", "-r", "1", &long("a"), &long("b")])
        .expect(5, &["byte 5000001", "line 5000001", ": b"]);
}

/// Peak memory is a count: whatever else runs, `dd` needs 64 MiB for its block, and `true` less than half of it.
#[test]
fn a_gate_fails_what_is_above_its_limit() {
    let place = Sandbox::new();
    let block = "dd if=/dev/zero of=/dev/null bs=64M count=1 status=none";
    let gated = |limit: &str, words: [&str; 2]| {
        let limit = format!("memory_peak_resident>{limit}");
        place.compare(
            &[&["-N", "--runs", "8", "--fail-on-inconclusive", "--fail-if", &limit], &words[..]].concat(),
        )
    };
    gated("100%", ["true", block])
        .expect(3, &["gate", "peak memory of 'dd", "more than 100% above the baseline's"]);
    gated("100%", [block, "true"]).ok();
    gated("1000000%", ["true", block]).ok();
    gated("60MiB", ["true", block]).expect(3, &["is above 60.0 MiB"]);
    gated("1TiB", ["true", block]).ok();
    place.compare(&["-N", "--runs", "8", "true", block]).ok();
}

#[test]
fn a_gate_that_cannot_decide_says_so() {
    // One round is too few for any interval.
    let place = Sandbox::new();
    let words = ["-N", "-r", "1", "--fail-if-slower", "sleep 0.02", "sleep 0.3"];
    let passed = place.compare(&words).ok();
    assert!(passed.err.contains("inconclusive"), "{}", passed.err);
    place.compare(&[&["--fail-on-inconclusive"], &words[..]].concat()).expect(4, &["inconclusive", "--runs"]);
}

/// A value at a path such as `levels.0.load`.
#[track_caller]
fn at<'a>(record: &'a Value, path: &str) -> &'a Value {
    path.split('.').fold(record, |value, step| {
        let found = match step.parse::<usize>() {
            Ok(index) => value.get(index),
            Err(_) => value.get(step),
        };
        found.unwrap_or_else(|| panic!("there is no {path}"))
    })
}

#[test]
fn the_record_has_what_other_tools_read() {
    let place = Sandbox::new();
    let words = ["-N", "-m", "20", "-M", "20", "--load", "1,3", "--record", "r.json", "true", "sleep 0.01"];
    let printed = place.compare(&[&["--json"], &words[..]].concat()).json();
    let record = place.json("r.json");
    assert_eq!(record, printed, "--record and --json are the same document");
    assert_eq!(record["schema"], "whyfaster/1");
    for path in ["alternatives.1.name", "alternatives.1.command", "levels.0.results.1.alternative"] {
        assert_eq!(at(&record, path), "sleep 0.01", "{path}");
    }
    for path in ["levels.1.comparisons.0.baseline", "crossovers.0.baseline"] {
        assert_eq!(at(&record, path), "true", "{path}");
    }
    assert_eq!(at(&record, "crossovers.0.alternative"), "sleep 0.01");
    for path in [
        "alternatives.1.span_s",
        "alternatives.1.work_s",
        "levels.0.load",
        "levels.0.results.1.makespan_s.median",
        "levels.1.results.1.work_per_copy_s",
        "levels.1.results.1.throughput_per_s",
        "levels.1.results.1.share",
        "levels.1.comparisons.0.ratio",
        "levels.1.comparisons.0.low",
        "levels.1.comparisons.0.high",
        "levels.1.comparisons.0.rounds",
        "floor.ratio",
        "floor.low",
        "floor.high",
    ] {
        assert!(at(&record, path).is_number(), "{path}: {}", at(&record, path));
    }
    for path in [
        "levels.0.results.0.makespan_s.low",
        "crossovers.0.predicted_load",
        "crossovers.0.measured_from",
        "crossovers.0.measured_to",
    ] {
        assert!(at(&record, path).is_number() || at(&record, path).is_null(), "{path}");
    }
    assert!(at(&record, "levels.1.comparisons.0.verdict").is_string());
    for (key, fields) in [("warnings", ["what", "remedy"]), ("not_measured", ["what", "why"])] {
        for entry in list(&record[key]) {
            assert!(fields.iter().all(|field| entry[field].is_string()), "{entry}");
        }
    }
    for fact in ["kernel", "cpus_online", "memory_total"] {
        assert!(
            !record["host"]["before"][fact].is_null() && !record["host"]["after"][fact].is_null(),
            "{fact}"
        );
    }
    assert!(
        list(&record["batches"]).len() > 2 * 20 * 2,
        "two levels, twenty rounds, two arms, and hidden copies"
    );
}

#[test]
fn records_follow_their_schema() {
    let schema: Value = serde_json::from_str(include_str!("../../schema/whyfaster-1.json")).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let place = Sandbox::new();
    let open = ["--mode", "open", "--rate", "20", "--duration", "200ms", "-N", "-r", "1", "true"];
    let cpu = rustix::thread::sched_getcpu().to_string();
    let hooks = ["-r", "1", "-p", "true", "-L", "x", "1,2", "--env", "A=1", "--timeout", "1m", ": {x}"];
    for words in [
        &["-N", "-r", "2", "--load", "1,2", "true", "/bin/true"][..],
        &["-i=3", "-r", "1", "--pin", &cpu, "--input", "/dev/null", "--output", "./out", "exit 3"],
        &["--mode", "closed", "--duration", "100ms", "-N", "-r", "1", "true"],
        &open,
        &hooks,
    ] {
        let record = place.compared(words);
        let wrong: Vec<String> =
            validator.iter_errors(&record).map(|e| format!("{}: {e}", e.instance_path())).collect();
        assert!(wrong.is_empty(), "{words:?}: {wrong:?}");
    }
    let mut damaged = place.compared(&["-N", "-r", "1", "true"]);
    damaged["batches"][0]["makespan_s"] = Value::from("fast");
    assert!(!validator.is_valid(&damaged), "the schema accepts anything");
}

#[test]
fn one_command_is_measured_and_not_compared() {
    let place = Sandbox::new();
    let ran = place.compare(&["-N", "-r", "8", "--record", "r.json", "sleep 0.01"]).ok();
    let record = place.json("r.json");
    assert_eq!(texts(list(&record["alternatives"]), "name"), ["sleep 0.01"]);
    assert!(list(&record["levels"][0]["comparisons"]).is_empty() && list(&record["crossovers"]).is_empty());
    assert!(record["floor"].is_null(), "there is nothing to hold against noise");
    assert_eq!(list(&record["batches"]).len(), 8);
    let makespan = &record["levels"][0]["results"][0]["makespan_s"];
    assert!(makespan["median"].as_f64().unwrap() >= 0.01, "{makespan}");
    assert!(ran.out.contains("sleep 0.01"), "{}", ran.out);
    for word in ["faster", "slower", "undecided"] {
        let sentence = ran.out.lines().next().unwrap();
        assert!(!sentence.contains(word), "{sentence}");
    }
}

#[test]
fn progress_without_a_terminal_is_plain_lines() {
    let ran = Sandbox::new().compare(&["-N", "--runs", "2", "true", "sleep 0.01"]).ok();
    assert!(ran.err.contains("whyfaster: "), "{}", ran.err);
    assert!(!ran.err.contains(['\r', '\u{1b}']), "{}", ran.err);
}
