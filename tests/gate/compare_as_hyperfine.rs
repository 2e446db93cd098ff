//! Every option that `compare` shares with hyperfine does what it says: hooks, numbers of runs, reference, parameters, shell,
//! failures, streams, names. Through the built program; the commands write down what happens to them.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::support::needs::{needs, tool};
use crate::support::{Ran, Sandbox, list, number, order, texts};
use serde_json::{Value, json};

/// What every run of a command writes down: its name, what it is for, and its number.
fn logs(word: &str) -> String {
    format!("echo {word} $WHYFASTER_RUN $HYPERFINE_ITERATION >> log")
}

/// Runs of each command with all that belongs to them.
const TWO_ROUNDS: [&str; 5] = ["-m", "2", "-M", "2", "--why=no"];

/// How often each time was exported, by result.
fn exported_runs(place: &Sandbox, words: &[&str]) -> Vec<usize> {
    place.compare(&[&["--style", "none", "--export-json", "out.json"], words].concat()).ok();
    list(&place.json("out.json")["results"]).iter().map(|r| list(&r["times"]).len()).collect()
}

#[test]
fn hooks_run_where_they_belong() {
    let place = Sandbox::new();
    let hook = |name: &str| logs(&format!("{name} {{w}}"));
    let (prepare, conclude) = (hook("prepare"), hook("conclude"));
    let hooks = [
        "-s",
        "echo setup >> log",
        "--prepare",
        &prepare,
        "--conclude",
        &conclude,
        "-c",
        "echo cleanup >> log",
    ];
    let run = logs("run {w}");
    place.compare(&[&TWO_ROUNDS[..], &["-w", "1", "-L", "w", "A,B"], &hooks[..], &[&run]].concat()).ok();

    let lines = place.lines("log");
    assert_eq!((lines[0].as_str(), lines[lines.len() - 1].as_str()), ("setup", "cleanup"), "{lines:?}");
    let mut seen = Vec::new();
    for three in lines[1..lines.len() - 1].chunks(3) {
        let which = three[1].strip_prefix("run ").unwrap_or_else(|| panic!("{lines:?}"));
        let around = [format!("prepare {which}"), format!("run {which}"), format!("conclude {which}")];
        assert_eq!(three, around, "each run has its own hooks right around it: {lines:?}");
        seen.push(which.to_owned());
    }
    // Where tracing is not permitted there may be no traced run; it is untimed anyway.
    seen.retain(|which| !which.contains(" account "));
    assert_eq!(seen[..4], ["A trial 0", "B trial 0", "A warmup 0", "B warmup 0"]);
    // Both rounds may stand in one random order. The baseline runs twice a round: once more as its own hidden copy.
    let timed = &mut seen[4..];
    timed.sort();
    let wanted = ["A timed 0", "A timed 0", "A timed 1", "A timed 1", "B timed 0", "B timed 1"];
    assert_eq!(timed, wanted);
}

/// What runs with a fixed number of runs, each command's by itself.
fn counted(place: &Sandbox) -> Vec<String> {
    let mut lines = place.lines("log");
    place.write("log", "");
    lines.sort();
    lines
}

#[test]
fn the_number_of_runs_is_a_promise() {
    let place = Sandbox::new();
    // What can run only once.
    place.compare(&["-r", "1", "mkdir once"]).ok();
    place.compare(&["-r", "1", "mkdir twice", "rmdir once"]).ok();
    assert!(place.path("twice").exists() && !place.path("once").exists());
    let (a, b) = (logs("A"), logs("B"));
    place.compare(&["-r", "3", &a, &b]).ok();
    let timed = |word: &str, count: u32| (0..count).map(|n| format!("{word} timed {n}")).collect::<Vec<_>>();
    assert_eq!(counted(&place), [timed("A", 3), timed("B", 3)].concat());
    place.compare(&["-w", "2", "-r", "2", &a, &b]).ok();
    let with_warm_up =
        |word: &str| [timed(word, 2), vec![format!("{word} warmup 0"), format!("{word} warmup 1")]].concat();
    assert_eq!(counted(&place), [with_warm_up("A"), with_warm_up("B")].concat());
    // Also at several copies, where something failed, and where the time-out ended it.
    place.compare(&["-r", "2", "--load", "1,3", &a]).ok();
    assert_eq!(counted(&place).len(), 2 + 2 * 3);
    place.compare(&["-i", "-r", "2", &format!("{a}; false"), &b]).ok();
    assert_eq!(counted(&place), [timed("A", 2), timed("B", 2)].concat());
    // What was not run is not known, and said.
    let record = place.compared(&["-r", "2", &a, &b]);
    let gaps: Vec<&str> =
        list(&record["not_measured"]).iter().filter_map(|it| it["quantity"]["kind"].as_str()).collect();
    for gap in ["floor", "outputs", "run_queue_delay"] {
        assert!(gaps.contains(&gap), "{gaps:?}");
    }
    // Asked for by name, observed runs come on top.
    let explained = place.compare(&["-r", "2", "--why=observe", &a, &b]).ok();
    assert!(explained.err.contains("observed runs"), "{}", explained.err);
}

#[test]
fn the_first_warm_up_run_tells_what_is_printed() {
    let place = Sandbox::new();
    place
        .compare(&["--check-output=strict", "-w", "1", "-r", "1", "echo x", "echo y"])
        .expect(5, &["standard output differs"]);
    let record = place.compared(&["-w", "2", "-r", "1", "echo x", "printf 'x\\n'"]);
    assert_eq!(list(&record["trials"]).len(), 2);
    place.compare(&["-r", "1", "echo x", "echo y"]).ok();
}

#[test]
fn a_few_runs_have_an_interval_and_a_verdict() {
    let place = Sandbox::new();
    for runs in ["2", "3", "5"] {
        let record = place.compared(&["-N", "-r", runs, "sleep 0.02", "sleep 0.4"]);
        let comparison = &record["levels"][0]["comparisons"][0];
        assert_eq!(
            (&comparison["method"], &comparison["low"].is_f64()),
            (&json!("student_t"), &true),
            "{comparison}"
        );
    }
    let ran = place.compare(&["-N", "-r", "5", "--record", "r.json", "sleep 0.02", "sleep 0.4"]).ok();
    assert_eq!(place.json("r.json")["levels"][0]["comparisons"][0]["method"], "student_t");
    assert!(ran.flowing().contains("assumes normally distributed"), "{}", ran.out);
}

#[test]
fn what_would_run_is_listed_and_then_runs_so() {
    let place = Sandbox::new();
    let (a, b, hook) = (logs("A"), logs("B"), logs("hook"));
    for options in [&["-w", "1", "-r", "3"][..], &["-r", "2", "--load", "1,2"], &TWO_ROUNDS] {
        let words = [options, &["--seed", "5", "-p", &hook, "-n", "A", "-n", "B", &a, &b]].concat();
        let listed = place.compare(&[&words[..], &["--dry-run"]].concat()).ok();
        assert!(!place.path("log").exists(), "something ran");
        let number = |line: &str| usize::from(line.contains("[2] "));
        let mut planned = Vec::new();
        for line in listed.out.lines().filter(|line| line.starts_with(|c: char| c.is_lowercase())) {
            let mut columns = line.split_whitespace();
            let (kind, iteration) = (columns.next().unwrap(), columns.next().unwrap());
            let copies = if line.contains("(2 copies at once)") { 2 } else { 1 };
            if kind == "prepare" {
                planned.push("hook".to_owned());
            } else if !["plan:", "seed:", "every"].contains(&kind) {
                let word = ["A", "B"][number(line)];
                planned.extend(vec![format!("{word} {kind} {iteration}"); copies]);
            }
        }
        place.compare(&words).ok();
        let mut ran = place.lines("log");
        ran.iter_mut().filter(|line| line.starts_with("hook")).for_each(|line| line.truncate(4));
        assert_eq!(planned, ran, "{}", listed.out);
        std::fs::remove_file(place.path("log")).unwrap();
    }
}

/// Commands whose setup makes the state that they run in, as when a branch is checked out.
#[test]
fn setups_that_differ_run_before_their_own_commands() {
    needs!(tool("git"));
    let place = Sandbox::new();
    let git = "git -c user.name=n -c user.email=e -c init.defaultBranch=main";
    let commit = |seconds: &str| {
        format!("echo 'sleep {seconds}; cat name >> seen' >main.sh; {git} add .; {git} commit -qm x")
    };
    let line = format!(
        "{git} init -q; echo main >name; {}; {git} switch -qc fast; echo fast >name; {}",
        commit("0.15"),
        commit("0.02")
    );
    assert!(Command::new("sh").args(["-c", &line]).current_dir(place.path("")).status().unwrap().success());
    let words = ["-L", "branch", "main,fast", "-s", "git switch -q {branch}", "sh main.sh"];
    for options in [&["-r", "8", "-w", "1"][..], &["-m", "8", "-M", "8"]] {
        let record = place.compared(&[options, &words].concat());
        let results = list(&record["levels"][0]["results"]);
        let median = |index: usize| results[index]["makespan_s"]["median"].as_f64().unwrap();
        assert!(median(0) >= 0.15 && median(1) >= 0.02, "{results:?}");
        assert_ne!(record["levels"][0]["comparisons"][0]["verdict"], "slower");
    }
    // Every branch ran its own file, and with a fixed number exactly so often: 10, and a warm-up run behind each setup.
    std::fs::remove_file(place.path("seen")).unwrap();
    place.compare(&[&["-r", "10", "-w", "1"], &words[..]].concat()).ok();
    let mut seen = place.lines("seen");
    seen.sort();
    assert_eq!(seen, [vec!["fast"; 20], vec!["main"; 20]].concat());
}

#[test]
fn a_state_is_cleaned_up_before_another_is_made() {
    let place = Sandbox::new();
    let words = ["-L", "s", "A,B", "-r", "3", "-s", "mkdir state.{s}", "-c", "rmdir state.{s}"];
    // Each would fail beside the other's state.
    place.compare(&[&words[..], &["test $(ls -d state.* | wc -l) = 1 && test -d state.{s}"]].concat()).ok();
    assert!(!place.path("state.A").exists() && !place.path("state.B").exists());
    // One that is the same for all is made once.
    let same = ["-L", "n", "a,b", "-r", "2", "-s", "mkdir one", "-c", "rmdir one", "test -d one # {n}"];
    place.compare(&same).ok();
    let failing =
        ["-L", "s", "A,B", "-r", "3", "-s", "mkdir state.{s}", "-c", "rmdir state.{s}", "test {s} = A"];
    place.compare(&failing).expect(5, &["exit code 1"]);
    assert!(!place.path("state.A").exists() && !place.path("state.B").exists());
}

/// A cleanup that a signal cuts short is run again, and no other state is made.
#[test]
fn an_interrupt_between_two_states_leaves_none() {
    let place = Sandbox::new();
    let setup = "echo setup {s} >> log";
    // The first one lasts until the signal comes, however long a busy machine takes to send it, and has no shell that could go on
    // where its command has the signal and it has not.
    let cleanup = "echo cleanup {s} >> log; test -e cleaning || { touch cleaning; exec sleep 60; }; echo cleaned {s} >> log";
    let words = ["compare", "-L", "s", "A,B", "-r", "50", "-s", setup, "-c", cleanup, "true # {s}"];
    let mut child = place.whyfaster(&words).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    while !place.path("cleaning").exists() {
        assert!(child.try_wait().unwrap().is_none(), "it ended before its first cleanup");
        sleep(Duration::from_millis(10));
    }
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    Ran::from(child.wait_with_output().unwrap()).expect(130, &["interrupted"]);
    let lines = place.lines("log");
    let first = lines[0].strip_prefix("setup ").unwrap().to_owned();
    let wanted = [
        format!("setup {first}"),
        format!("cleanup {first}"),
        format!("cleanup {first}"),
        format!("cleaned {first}"),
    ];
    assert_eq!(lines, wanted);
}

#[test]
fn every_run_has_a_number() {
    let place = Sandbox::new();
    let counts = "test $((HYPERFINE_ITERATION * 0)) = 0 && case $WHYFASTER_RUN in trial|warmup|timed|account) ;; *) false;; esac";
    place
        .compare(
            &[&TWO_ROUNDS[..], &["-w", "1", "-p", counts, "-C", counts, counts, &format!("{counts};")]]
                .concat(),
        )
        .ok();
}

#[test]
fn daemons_are_left_running_where_that_is_asked_for() {
    let place = Sandbox::new();
    let seconds = format!("301.{}", std::process::id());
    let starts = format!("(setsid sleep {seconds} & echo $! >> pids)");
    let lives = |pid: &String| std::path::Path::new("/proc").join(pid).exists();
    place.compare(&["-r", "2", &starts]).ok();
    assert!(!place.lines("pids").iter().any(lives), "they are ended");
    std::fs::remove_file(place.path("pids")).unwrap();
    let record = place.compared(&["-r", "2", "-w", "1", "--keep-daemons", &starts]);
    let pids = place.lines("pids");
    assert_eq!(pids.iter().filter(|pid| lives(pid)).count(), 3, "one of every run is left");
    for pid in &pids {
        Command::new("kill").arg(pid).status().unwrap();
    }
    let kinds: Vec<&str> = list(&record["warnings"]).iter().filter_map(|it| it["kind"].as_str()).collect();
    assert!(kinds.contains(&"left_running"), "{kinds:?}");
    place.compare(&["--keep-daemons", "--mode", "closed", "true"]).expect(2, &["--keep-daemons", "--mode"]);
    place.compare(&["--keep-daemons", "--output=pipe", "true"]).expect(2, &["--keep-daemons", "--output"]);
}

#[test]
fn hooks_may_be_given_for_each_command() {
    let place = Sandbox::new();
    let (a, b) = (logs("a"), logs("b"));
    let words =
        ["-m", "3", "-M", "3", "-p", "echo pa >> log", "-p", "echo pb >> log", "-C", "echo ca >> log"];
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
    assert_eq!(lines.remove(0), "prepare timed 0");
    assert_eq!(lines, ["run timed 0"; 4]);
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
    let module = module_path!().split_once("::").unwrap().1;
    let line = format!(
        "trap '' INT; exec \"$0\" --exact {module}::a_setup_that_ends_well_when_interrupted_is_no_error"
    );
    let mut tests = Command::new("sh");
    tests.args(["-c", &line]).arg(std::env::current_exe().unwrap()).stdout(Stdio::null()).process_group(0);
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
    let wanted = ["x warmup 0", "x warmup 1", "x warmup 2", "x timed 0", "x timed 1"];
    assert_eq!(place.lines("log"), wanted);
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
    let exported = place.json("out.json");
    assert_eq!(texts(list(&exported["results"]), "command"), ["old", "sleep 0.01"]);
    let table = place.read("out.md");
    let rows: Vec<&str> = table.lines().skip(2).collect();
    assert!(rows[0].starts_with("| `old` |") && rows[0].ends_with("1.00 (reference) |"), "{table}");
    let mean = |at: usize| number(&exported["results"][at]["mean"]);
    let word = if mean(1) < mean(0) { "(faster) |" } else { "(slower) |" };
    assert!(rows[1].starts_with("| `sleep 0.01` |") && rows[1].ends_with(word), "{table}");
    // Without it the fastest is what the table relates to.
    place.compare(&["-r", "2", "--export-markdown", "out.md", "-N", "sleep 0.3", "sleep 0.01"]).ok();
    let table = place.read("out.md");
    assert!(
        table.lines().skip(2).any(|row| row.ends_with("| 1.00 |")) && !table.contains("reference"),
        "{table}"
    );
}

/// Parameters of the exported results, as JSON.
fn exported_parameters(place: &Sandbox) -> Vec<Value> {
    list(&place.json("out.json")["results"]).iter().map(|r| r["parameters"].clone()).collect()
}

/// What the first warm-up runs wrote down, in their order.
fn tried(place: &Sandbox) -> Vec<String> {
    let lines = place.lines("log").into_iter();
    lines.filter_map(|line| line.strip_suffix(" warmup 0").map(str::to_owned)).collect()
}

#[test]
fn a_parameter_scan_runs_every_value() {
    let place = Sandbox::new();
    let log = logs("{n}");
    let words = ["-r", "1", "-w", "1", "-P", "n", "1", "2", "-D", "0.5", "-n", "run {n}", &log];
    let runs = exported_runs(&place, &words);
    assert_eq!(runs, [1, 1, 1]);
    assert_eq!(tried(&place), ["1", "1.5", "2.0"]);
    assert_eq!(texts(list(&place.json("out.json")["results"]), "command"), ["run 1", "run 1.5", "run 2.0"]);
    assert_eq!(exported_parameters(&place), [json!({"n": "1"}), json!({"n": "1.5"}), json!({"n": "2.0"})]);

    let place = Sandbox::new();
    let log = logs("{n}");
    let words = ["-r", "1", "-w", "1", "--parameter-scan", "n", "1", "3", "--export-csv", "out.csv", &log];
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
    exported_runs(&place, &["-r", "1", "-w", "1", "-L", "a", "1,2", "--parameter-list", "b", "x,y", &log]);
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
    assert!(run_by(&["--shell", "sh", "--shell", "bash"]).starts_with("bash -c "), "the last one holds");
    assert!(run_by(&["-S"]).starts_with("sh -c "));
    assert!(run_by(&["-S", "bash"]).starts_with("bash -c "), "as in hyperfine 1");
    let hook = "echo ${BASH_VERSION:+bash} > hooked";
    let ran = place.compare(&["-r", "1", "-S", "bash", "--prepare", hook, "true"]).ok();
    assert_eq!(place.read("hooked"), "bash\n", "hooks have the same shell");
    assert!(ran.err.contains("note: -S bash names the shell"), "{}", ran.err);
}

/// hyperfine 2 takes no value behind -S: the first of two commands must not be lost.
#[test]
fn a_command_behind_s_runs() {
    let place = Sandbox::new();
    exported_runs(&place, &["-r", "1", "-S", "echo a | cat > first", "--no-check-output", "echo b > second"]);
    assert_eq!((place.read("first").as_str(), place.read("second").as_str()), ("a\n", "b\n"));
    assert_eq!(list(&place.json("out.json")["results"]).len(), 2);
}

/// Scripts call hyperfine by its name, look for its lines and count on its order.
#[test]
fn called_hyperfine_it_does_what_hyperfine_does() {
    let place = Sandbox::new();
    place.shell("ln -s \"$whyfaster\" hyperfine && ln -s \"$whyfaster\" hyperfine2").ok();
    let ran = place.shell("./hyperfine -r 2 -w 1 -s 'echo s >> log' 'echo a >> log' 'echo b >> log'").ok();
    assert_eq!(place.read("log").split_whitespace().collect::<String>(), "saaasbbb");
    for line in
        ["Benchmark 1: echo a >> log", "  Time (mean ± σ): ", "  Range (min … max): ", "2 runs", "Summary"]
    {
        assert!(ran.out.contains(line), "{line}: {}", ran.out);
    }
    assert!(ran.out.contains("ran one after the other"), "our answer stands below: {}", ran.out);
    let ran = place.shell("./hyperfine2 -i -r 2 true false").ok();
    for line in ["Benchmark 2: false (2 runs)", "  Wall Time ", "  Memory "] {
        assert!(ran.out.contains(line), "{line}: {}", ran.out);
    }
    let listed = place.shell("./hyperfine --dry-run -r 2 'touch ran' true").ok();
    assert!(listed.out.contains("touch ran") && !place.path("ran").exists(), "{}", listed.out);
    place.shell("HYPERFINE_COMPAT=2 ./hyperfine 'true && true'").expect(1, &["unquoted shell syntax ('&&')"]);
    place.shell("./hyperfine -r 1 'exit 3'").expect(1, &["Command terminated with non-zero exit code 3"]);
    place.shell("./hyperfine --no-such-option x").expect(2, &[]);
    for option in ["--on ssh:no.such.invalid", "--send file", "--binary x86_64=file", "--pace on"] {
        let line = format!("./hyperfine {option} 'touch ran'");
        place.shell(&line).expect(1, &["on this machine and by itself"]);
        assert!(!place.path("ran").exists(), "{option}");
    }
    assert!(place.shell("./hyperfine --version").ok().out.starts_with("hyperfine 1.20.0 (whyfaster"));
    // Ten runs at the least, and nothing but the output of those below a given name.
    let ran = place.shell("./hyperfine --export-json out.json -n one 'sleep 0.31' -n two 'sleep 0.32'").ok();
    let runs = |index: usize| list(&place.json("out.json")["results"][index]["times"]).len();
    assert_eq!((runs(0), runs(1)), (10, 10));
    assert!(!ran.out.contains("sleep 0.31"), "{}", ran.out);
    // What had been measured when a command failed is exported.
    place.shell("./hyperfine -r 1 --export-json out.json true false").expect(1, &["exit code 1"]);
    assert_eq!(place.json("out.json")["results"][0]["command"], "true");
}

/// A shell that holds 40 MB beside one that holds nothing.
const LARGE: &str = "x=$(head -c 20000000 /dev/zero | tr '\\0' x)";

#[test]
fn metrics_stand_against_the_first_command() {
    let place = Sandbox::new();
    let words =
        ["-r", "8", "--metrics", "all", "--no-check-output", "--why=no", "--record", "r.json", "x=1", LARGE];
    let ran = place.compare(&words).ok();
    assert!(ran.out.contains("metrics of one copy against A"), "{}", ran.out);
    let record = place.json("r.json");
    let level = &record["levels"][0];
    let of = |list_: &Value, name: &str| list(list_).iter().find(|it| it["metric"] == name).cloned();
    let memory = of(&level["comparisons"][0]["metrics"], "memory_peak_resident").unwrap();
    assert_eq!(memory["change"], "more", "{memory}");
    assert!(memory["low"].as_f64().unwrap() > 2.0, "{memory}");
    let held = of(&level["results"][1]["metrics"], "memory_peak_resident").unwrap();
    assert!(held["low"].as_f64().unwrap() > 20e6, "{held}");
    // Not every machine has the counters; then there is no number, and the reason is told.
    for name in ["cpu_cycles", "instructions", "cache_references", "cache_misses", "branch_misses"] {
        let counted =
            list(&record["batches"]).iter().all(|it| it["copies"]["counters"]["columns"].get(name).is_some());
        let missing = list(&record["not_measured"]).iter().find(|it| it["quantity"]["metric"] == name);
        match missing {
            None => assert!(counted && of(&level["results"][0]["metrics"], name).is_some(), "{name}"),
            Some(missing) => {
                assert!(!counted && of(&level["results"][0]["metrics"], name).is_none(), "{name}");
                assert_eq!(missing["reason"]["kind"], "counter_refused", "{missing}");
            }
        }
    }
}

#[test]
fn a_metric_above_its_limit_fails() {
    let place = Sandbox::new();
    let ran = |options: &[&str]| {
        place.compare(&[&["-r", "8", "--no-check-output", "--why=no"], options, &["x=1", LARGE]].concat())
    };
    ran(&["--fail-if", "memory_peak_resident>50%"])
        .expect(3, &["gate: peak memory of 'x=", "50% above", "times the baseline"]);
    ran(&["--fail-if", "memory_peak_resident>10MiB"]).expect(3, &["above 10.0 MiB"]);
    let two = ["-r", "2", "--no-check-output", "--why=no", "--fail-if", "memory_peak_resident>10MiB"];
    place.compare(&[&two[..], &["x=1", LARGE]].concat()).expect(3, &["above 10.0 MiB"]);
    ran(&["--fail-if", "memory_peak_resident>100000%", "--fail-if", "memory_peak_resident>1GB"]).ok();
    let few = ["-r", "1", "--fail-if", "memory_peak_resident>1%", "x=1", "x=2"];
    place
        .compare(&[&few[..], &["--fail-on-inconclusive"]].concat())
        .expect(4, &["not decided whether peak memory"]);
    place.compare(&few).ok();
    place
        .compare(&["--fail-if", "time_user>5%", "x=1"])
        .expect(2, &["--fail-if with a percentage needs something"]);
}

#[test]
fn files_are_those_of_the_version_that_is_asked_for() {
    let place = Sandbox::new();
    let exports = ["--export-json", "out.json", "--export-csv", "out.csv", "--export-markdown", "out.md"];
    let two =
        ["-r", "2", "--export-format", "hyperfine2", "--metrics", "time_wall_clock:ms,memory_peak_resident"];
    place.compare(&[&two[..], &exports, &["-L", "n", "1,2", "echo {n}"]].concat()).ok();
    let json = place.json("out.json");
    assert_eq!(json["schema_version"], 2);
    assert_eq!(list(&json["results"][1]["measurements"]).len(), 2);
    assert!(json["results"][1]["measurements"][0]["time_wall_clock"]["value"].as_f64().unwrap() > 0.0);
    assert_eq!(json["results"][1]["parameters"]["n"]["value"], "2");
    assert!(place.read("out.csv").starts_with("command,time_wall_clock_unit,time_wall_clock_mean,"));
    assert!(place.read("out.md").starts_with("| Command | Mean Wall Time [ms] | Change | Factor |"));
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
fn failures_that_are_ignored_may_differ() {
    let place = Sandbox::new();
    let two_rounds = |words: &[&str]| exported_runs(&place, &[&TWO_ROUNDS[..], words].concat());
    assert_eq!(two_rounds(&["-i", "exit 3", "exit 4"]), [2, 2]);
    // What fails is not held to what it prints; what succeeds is.
    assert_eq!(two_rounds(&["-i", "echo x", "echo y; false", "echo x"]), [2, 2, 2]);
    assert_eq!(two_rounds(&["-i", "echo y; false", "echo x", "echo x"]), [2, 2, 2]);
    let differ =
        [&["--check-output=strict"], &TWO_ROUNDS[..], &["-i", "echo y; false", "echo x", "echo y"]].concat();
    place.compare(&differ).expect(5, &["standard output differs", "'echo x'", "'echo y'"]);
    // Nor does one that fails now and then end it.
    let flaky = "test \"$HYPERFINE_ITERATION\" != 1";
    assert_eq!(two_rounds(&["-i", "true", flaky]), [2, 2]);
    place.compare(&["-r", "3", "true", flaky]).expect(5, &["exit code 1", "run 1 "]);
    // At several copies the message says which one.
    place
        .compare(&["-r", "1", "--load", "4", "test \"$WHYFASTER_COPY\" != 2"])
        .expect(5, &["exit code 1", "copy 3 of 4"]);
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

    // Once for each command.
    let mut both = stdout_of(&["--output", "null", "--output", "./kept"], &[says, &format!("{says};")]);
    both.sort();
    assert_eq!(both, ["/dev/null".to_owned(), file("kept")]);
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
    assert!(lines.len() == 10 && lines.iter().all(|line| line == "10"), "{lines:?}");
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
    assert_eq!(order(&record).len(), 2);
}
