//! Every option that `compare` shares with hyperfine does what it says: hooks, numbers of runs, reference, parameters, shell,
//! failures, streams, names. Through the built program; the commands write down what happens to them.

mod support;

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};
use support::{Ran, Sandbox, list, order, texts};

/// What every run of a command writes down: its name and `$HYPERFINE_ITERATION`.
fn logs(word: &str) -> String {
    format!("echo {word} $HYPERFINE_ITERATION >> log")
}

/// How often each time was exported, by result.
fn exported_runs(place: &Sandbox, words: &[&str]) -> Vec<usize> {
    place.compare(&[&["--style", "none", "--export-json", "out.json"], words].concat()).ok();
    list(&place.json("out.json")["results"]).iter().map(|r| list(&r["times"]).len()).collect()
}

#[test]
fn hooks_run_where_they_belong() {
    let place = Sandbox::new();
    let hook = |name: &str| logs(&format!("{name} {{w}}"));
    let (setup, prepare, conclude, cleanup) =
        (hook("setup"), hook("prepare"), hook("conclude"), hook("cleanup"));
    let hooks = ["-s", &setup, "--prepare", &prepare, "--conclude", &conclude, "-c", &cleanup];
    let run = logs("run {w}");
    place.compare(&[&["-r", "2", "-w", "1", "-L", "w", "A,B"], &hooks[..], &[&run]].concat()).ok();

    let lines = place.lines("log");
    assert_eq!(lines[..2], ["setup A", "setup B"], "every setup comes first");
    assert_eq!(lines[lines.len() - 2..], ["cleanup A", "cleanup B"], "every cleanup comes last");
    let mut seen = Vec::new();
    for three in lines[2..lines.len() - 2].chunks(3) {
        let which = three[1].strip_prefix("run ").unwrap_or_else(|| panic!("{lines:?}"));
        let around = [format!("prepare {which}"), format!("run {which}"), format!("conclude {which}")];
        assert_eq!(three, around, "each run has its own hooks right around it: {lines:?}");
        seen.push(which.to_owned());
    }
    // Where tracing is not permitted there may be no traced run; it is untimed anyway.
    seen.retain(|which| !which.ends_with("account"));
    assert_eq!(seen[..4], ["A trial", "B trial", "A warmup-0", "B warmup-0"]);
    let sorted = |runs: &[String]| {
        let mut runs = runs.to_vec();
        runs.sort();
        runs
    };
    // The baseline runs twice a round: once more as its own hidden copy.
    assert_eq!(sorted(&seen[4..7]), ["A 0", "A 0", "B 0"]);
    assert_eq!(sorted(&seen[7..]), ["A 1", "A 1", "B 1"]);
}

#[test]
fn hooks_may_be_given_for_each_command() {
    let place = Sandbox::new();
    let (a, b) = (logs("a"), logs("b"));
    let words = ["-r", "3", "-p", "echo pa >> log", "-p", "echo pb >> log", "-C", "echo ca >> log"];
    place.compare(&[&words[..], &["-C", "echo cb >> log", &a, &b]].concat()).ok();
    let lines = place.lines("log");
    assert!(lines.len() >= 3 * 9, "{lines:?}");
    for three in lines.chunks(3) {
        let which = &three[1][..1];
        assert_eq!((&three[0], &three[2]), (&format!("p{which}"), &format!("c{which}")), "{lines:?}");
    }
}

#[test]
fn hooks_run_once_for_all_copies_of_a_level() {
    let place = Sandbox::new();
    let (prepare, run) = (logs("prepare"), logs("run"));
    place.compare(&["-r", "1", "--load", "4", "-p", &prepare, &run]).ok();
    let mut lines = place.lines("log");
    lines.retain(|line| line.ends_with(" 0"));
    assert_eq!(lines, ["prepare 0", "run 0", "run 0", "run 0", "run 0"]);
}

#[test]
fn a_failing_hook_ends_it_and_cleanup_still_runs() {
    for hook in ["--setup", "--prepare", "--conclude"] {
        let place = Sandbox::new();
        let ran = place.compare(&["-r", "1", "-c", "echo cleaned >> log", hook, "exit 9", "true"]);
        ran.expect(5, &[hook, "'exit 9'", "exit code 9", "hint:"]);
        assert_eq!(place.lines("log"), ["cleaned"], "{hook}");
    }
    Sandbox::new()
        .compare(&["-r", "1", "--cleanup", "exit 9", "true"])
        .expect(5, &["--cleanup", "exit code 9"]);
}

#[test]
fn hooks_hear_the_signals_that_end_things() {
    let place = Sandbox::new();
    // What a hook starts must end when a later hook asks it to, and nothing may have blocked the signal.
    let start = "grep SigBlk /proc/self/status >> log";
    place.compare(&["-r", "1", "-s", start, "-p", start, "-C", start, "-c", start, "true"]).ok();
    let lines = place.lines("log");
    assert!(lines.len() >= 4, "{lines:?}");
    assert!(lines.iter().all(|line| line == "SigBlk:\t0000000000000000"), "{lines:?}");
}

#[test]
fn a_setup_that_ends_well_when_interrupted_is_no_error() {
    let place = Sandbox::new();
    let setup = "trap 'echo trapped >> log; exit 0' TERM; touch began; while :; do sleep 0.05; done";
    let mut child =
        place.whyfaster(&["compare", "-s", setup, "true", ":"]).stderr(Stdio::piped()).spawn().unwrap();
    while !place.path("began").exists() {
        assert!(child.try_wait().unwrap().is_none(), "it ended before its setup began");
        sleep(Duration::from_millis(10));
    }
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let ran = Ran::from(child.wait_with_output().unwrap());
    ran.expect(130, &["nothing had been measured"]);
    assert_eq!(place.lines("log"), ["trapped"]);
}

/// A test runner in the background of a script (`make test &`) has SIGINT ignored.
#[test]
fn an_interrupt_is_heard_where_the_test_runner_ignores_it() {
    let line = "trap '' INT; exec \"$0\" --exact a_setup_that_ends_well_when_interrupted_is_no_error";
    let mut tests = Command::new("sh");
    tests.args(["-c", line]).arg(std::env::current_exe().unwrap()).stdout(Stdio::null()).process_group(0);
    let mut tests = tests.spawn().unwrap();
    let mut status = None;
    // Not by timeout(1), which hears SIGINT and so starts its command with none ignored.
    for _ in 0..1200 {
        status = tests.try_wait().unwrap();
        if status.is_some() {
            break;
        }
        sleep(Duration::from_millis(100));
    }
    if status.is_none() {
        let group = format!("-{}", tests.id());
        Command::new("kill").args(["-KILL", "--", &group]).status().unwrap();
        tests.wait().unwrap();
    }
    assert!(status.is_some_and(|status| status.success()), "{status:?}");
}

#[test]
fn the_signal_that_ended_a_command_is_named() {
    Sandbox::new().compare(&["-r", "1", "kill -SEGV $$"]).expect(5, &["was ended by signal 11 (SIGSEGV)"]);
}

#[test]
fn warm_up_runs_are_no_samples() {
    let place = Sandbox::new();
    assert_eq!(exported_runs(&place, &["-w", "3", "--runs", "2", &logs("x")]), [2]);
    let mut lines = place.lines("log");
    lines.retain(|line| line != "x account");
    assert_eq!(lines, ["x trial", "x warmup-0", "x warmup-1", "x warmup-2", "x 0", "x 1"]);
}

#[test]
fn the_number_of_runs_is_as_asked_for() {
    let place = Sandbox::new();
    assert_eq!(exported_runs(&place, &["-N", "--runs", "4", "true", "sleep 0.001"]), [4, 4]);
    assert_eq!(exported_runs(&place, &["-N", "--max-runs", "3", "true", "sleep 0.01"]), [3, 3]);
    // Ten times as slow would be decided after about ten rounds.
    let runs = exported_runs(&place, &["-N", "--min-runs", "25", "sleep 0.002", "sleep 0.05"]);
    assert!(runs.iter().all(|n| *n >= 25), "{runs:?}");
    assert_eq!(exported_runs(&place, &["-N", "-m", "2", "-M", "2", "true"]), [2]);
}

#[test]
fn the_reference_is_what_the_others_relate_to() {
    let place = Sandbox::new();
    let words = ["-r", "2", "--reference", "sleep 0.3", "--reference-name", "old", "--record", "r.json"];
    let exports = ["--export-json", "out.json", "--export-markdown", "out.md", "-N", "sleep 0.01"];
    place.compare(&[&words[..], &exports].concat()).ok();
    let comparison = &place.json("r.json")["levels"][0]["comparisons"][0];
    assert_eq!((&comparison["alternative"], &comparison["baseline"]), (&json!("sleep 0.01"), &json!("old")));
    assert!(comparison["ratio"].as_f64().unwrap() < 1.0, "{comparison}");
    let exported = place.json("out.json");
    assert_eq!(texts(list(&exported["results"]), "command"), ["old", "sleep 0.01"]);
    let table = place.read("out.md");
    let rows: Vec<&str> = table.lines().skip(2).collect();
    assert!(rows[0].starts_with("| `old` |") && rows[0].ends_with("1.00 (reference) |"), "{table}");
    assert!(rows[1].starts_with("| `sleep 0.01` |") && rows[1].ends_with("(faster) |"), "{table}");
    // Without it the fastest is what the table relates to.
    place.compare(&["-r", "2", "--export-markdown", "out.md", "-N", "sleep 0.3", "sleep 0.01"]).ok();
    let table = place.read("out.md");
    assert!(table.lines().last().unwrap().ends_with("| 1.00 |") && !table.contains("reference"), "{table}");
}

/// Parameters of the exported results, as JSON.
fn exported_parameters(place: &Sandbox) -> Vec<Value> {
    list(&place.json("out.json")["results"]).iter().map(|r| r["parameters"].clone()).collect()
}

/// What the trial runs wrote down, in their order.
fn tried(place: &Sandbox) -> Vec<String> {
    let lines = place.lines("log").into_iter();
    lines.filter_map(|line| line.strip_suffix(" trial").map(str::to_owned)).collect()
}

#[test]
fn a_parameter_scan_runs_every_value() {
    let place = Sandbox::new();
    let log = logs("{n}");
    let words = ["-r", "1", "-P", "n", "1", "2", "-D", "0.5", "-n", "run {n}", &log];
    let runs = exported_runs(&place, &words);
    assert_eq!(runs, [1, 1, 1]);
    assert_eq!(tried(&place), ["1", "1.5", "2.0"]);
    assert_eq!(texts(list(&place.json("out.json")["results"]), "command"), ["run 1", "run 1.5", "run 2.0"]);
    assert_eq!(exported_parameters(&place), [json!({"n": "1"}), json!({"n": "1.5"}), json!({"n": "2.0"})]);

    let place = Sandbox::new();
    let log = logs("{n}");
    let words = ["-r", "1", "--parameter-scan", "n", "1", "3", "--export-csv", "out.csv", &log];
    place.compare(&words).ok();
    assert_eq!(tried(&place), ["1", "2", "3"]);
    let csv = place.read("out.csv");
    assert!(csv.lines().next().unwrap().ends_with(",max,parameter_n"), "{csv}");
    let values: Vec<&str> = csv.lines().skip(1).map(|line| line.rsplit(',').next().unwrap()).collect();
    assert_eq!(values, ["1", "2", "3"]);
}

#[test]
fn parameter_lists_run_every_combination() {
    let place = Sandbox::new();
    let log = logs("{a}{b}");
    exported_runs(&place, &["-r", "1", "-L", "a", "1,2", "--parameter-list", "b", "x,y", &log]);
    assert_eq!(tried(&place), ["1x", "2x", "1y", "2y"]);
    let expected = [("1", "x"), ("2", "x"), ("1", "y"), ("2", "y")];
    assert_eq!(exported_parameters(&place), expected.map(|(a, b)| json!({"a": a, "b": b})));
}

#[test]
fn commands_are_run_by_the_shell_that_was_asked_for() {
    let place = Sandbox::new();
    // The words of the process that reads the command line.
    let words = "tr '\\0' ' ' < /proc/$$/cmdline > words";
    let run_by = |options: &[&str]| {
        place.compare(&[&["-r", "1"], options, &[words]].concat()).ok();
        place.read("words")
    };
    assert!(run_by(&[]).starts_with("sh -c "), "{}", place.read("words"));
    assert!(run_by(&["--shell", "default"]).starts_with("sh -c "));
    assert!(run_by(&["--shell", "bash --norc"]).starts_with("bash --norc -c "));
    assert!(run_by(&["-S", "sh", "-S", "bash"]).starts_with("bash -c "), "the last one holds");
    let hook = "echo ${BASH_VERSION:+bash} > hooked";
    place.compare(&["-r", "1", "-S", "bash", "--prepare", hook, "true"]).ok();
    assert_eq!(place.read("hooked"), "bash\n", "hooks have the same shell");
}

#[test]
fn without_a_shell_words_mean_themselves() {
    for option in [&["-N"][..], &["--shell", "none"], &["--shell=none"]] {
        let place = Sandbox::new();
        place.compare(&[&["-r", "1"], option, &["touch '$HOME' a;b 'two words'"]].concat()).ok();
        for name in ["$HOME", "a;b", "two words"] {
            assert!(place.path(name).exists(), "{option:?}: there is no file '{name}'");
        }
    }
    Sandbox::new()
        .compare(&["-N", "no-such-program-anywhere"])
        .expect(5, &["no-such-program-anywhere", "hint:"]);
}

#[test]
fn failures_end_it_unless_they_are_ignored() {
    let place = Sandbox::new();
    place.compare(&["-r", "1", "exit 3"]).expect(5, &["'exit 3'", "exit code 3", "-i"]);
    place.compare(&["-r", "1", "kill -9 $$"]).expect(5, &["signal 9"]);
    place.compare(&["-r", "1", "--ignore-failure=1,2", "exit 3"]).expect(5, &["exit code 3"]);
    let codes = |words: &[&str]| {
        exported_runs(&place, words);
        let exported = place.json("out.json");
        list(&exported["results"]).iter().map(|r| r["exit_codes"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(codes(&["-r", "2", "-i", "exit 3"]), [json!([3, 3])]);
    assert_eq!(codes(&["-r", "2", "-i=3", "exit 3", "exit 3"]), [json!([3, 3]), json!([3, 3])]);
    assert_eq!(codes(&["-r", "1", "--ignore-failure=2,3", "exit 3"]), [json!([3])]);
    assert_eq!(codes(&["-r", "1", "--ignore-failure=all-non-zero", "kill -9 $$"]), [json!([137])]);
}

#[test]
fn exit_statuses_must_agree_in_every_run() {
    let place = Sandbox::new();
    let differ = ["-r", "1", "-i", "exit 3", "exit 4"];
    place
        .compare(&differ)
        .expect(5, &["'exit 3'", "exit code 3", "'exit 4'", "exit code 4", "--no-check-output"]);
    let allowed = [&["--no-check-output"], &differ[..]].concat();
    assert_eq!(exported_runs(&place, &allowed), [1, 1]);
    // Alike in the trial, but not in the second round.
    let late = "test \"$HYPERFINE_ITERATION\" != 1";
    place.compare(&["-r", "3", "-i", "true", late]).expect(5, &["exit code 1", "run 1 "]);
    // At several copies the message says which one.
    let one = "test \"$WHYFASTER_COPY\" != 2 -o \"$HYPERFINE_ITERATION\" = trial";
    place.compare(&["-r", "1", "--load", "4", one]).expect(5, &["exit code 1", "copy 3 of 4"]);
}

#[test]
fn output_goes_where_it_was_sent() {
    let place = Sandbox::new();
    let says = "echo $HYPERFINE_ITERATION $(readlink /proc/$$/fd/1) >> log; echo said; echo told >&2";
    let stdout_of = |options: &[&str], commands: &[&str]| {
        let _ = std::fs::remove_file(place.path("log"));
        let out = std::fs::File::create(place.path("ours")).unwrap();
        let words = [&["compare", "-r", "1", "--style", "none"], options, commands].concat();
        let run = place.whyfaster(&words).stdout(out).stderr(Stdio::null()).status().unwrap();
        assert!(run.success(), "{words:?}");
        let lines = place.lines("log").into_iter();
        lines.filter_map(|line| line.strip_prefix("0 ").map(str::to_owned)).collect::<Vec<_>>()
    };
    let file = |name: &str| place.path("").canonicalize().unwrap().join(name).display().to_string();
    assert_eq!(stdout_of(&[], &[says]), ["/dev/null"]);
    assert_eq!(stdout_of(&["--output", "null"], &[says]), ["/dev/null"]);
    assert!(stdout_of(&["--output=pipe"], &[says])[0].starts_with("pipe:"));
    assert_eq!(stdout_of(&["--output", "inherit"], &[says]), [file("ours")]);
    assert!(place.read("ours").contains("said\n"));
    assert_eq!(stdout_of(&["--output", "./kept"], &[says]), [file("kept")]);
    assert_eq!(place.read("kept"), "said\n", "emptied before every batch, standard output only");

    // Once for each command; the baseline runs twice.
    let mut both = stdout_of(&["--output", "null", "--output", "./kept"], &[says, &format!("{says};")]);
    both.sort();
    assert_eq!(both, ["/dev/null".to_owned(), "/dev/null".to_owned(), file("kept")]);
    // More than a pipe holds.
    stdout_of(&["--output", "pipe", "--load", "3"], &["head -c 3000000 /dev/zero"]);
}

#[test]
fn output_is_shown_when_asked_for() {
    let place = Sandbox::new();
    let words = ["-r", "3", "echo to-$HYPERFINE_ITERATION; echo err-$HYPERFINE_ITERATION >&2"];
    let quiet = place.compare(&words).ok();
    // The report names the command, with its dollar sign.
    assert!(!quiet.out.contains("to-1") && !quiet.err.contains("err-1"), "{quiet:?}");
    let shown = place.compare(&[&["--show-output"], &words[..]].concat()).ok();
    for run in ["0", "1", "2"] {
        assert!(shown.out.contains(&format!("to-{run}\n")), "{shown:?}");
        assert!(shown.err.contains(&format!("err-{run}\n")), "{shown:?}");
    }
}

#[test]
fn every_copy_reads_the_input_for_itself() {
    let place = Sandbox::new();
    place.write("in", "four\nfour\n");
    place.compare(&["-r", "2", "--load", "5", "--input", "in", "wc -c >> log"]).ok();
    let lines = place.lines("log");
    assert!(lines.len() >= 11 && lines.iter().all(|line| line == "10"), "{lines:?}");
    place.compare(&["-r", "1", "wc -c > empty"]).ok();
    place.compare(&["-r", "1", "--input", "null", "wc -c >> empty"]).ok();
    assert!(place.lines("empty").iter().all(|line| line == "0"), "{:?}", place.lines("empty"));
}

#[test]
fn names_and_environment_are_as_given() {
    let place = Sandbox::new();
    let words = ["-r", "1", "-n", "first", "--command-name", "second", "--env", "W=1", "--env", "W='2 3'"];
    let ran =
        place.compare(&[&words[..], &["--record", "r.json", "echo a$W >> log", "echo b$W >> log"]].concat());
    let record = place.json("r.json");
    assert_eq!(texts(list(&record["alternatives"]), "name"), ["first", "second"]);
    assert_eq!(texts(list(&record["alternatives"]), "command"), ["echo a$W >> log", "echo b$W >> log"]);
    let screen = ran.ok().out;
    assert!(screen.contains("first") && screen.contains("second"), "{screen}");
    let lines = place.lines("log");
    assert!(lines.iter().all(|line| line == "a1" || line == "b2 3"), "{lines:?}");
    assert_eq!(order(&record).len(), 3);
}
