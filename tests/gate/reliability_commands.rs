//! Commands that misbehave: each gets a clear message and the documented exit status, and leaves nothing behind.

#![expect(clippy::unwrap_used, reason = "a test ends by panicking")]

use std::fs;
use std::io::Write;

use crate::support::needs::{given, mounts};
use crate::support::{PROGRAM, Sandbox, terminal};
use serde_json::Value;

fn batches(record: &Value) -> &Vec<Value> {
    record["batches"].as_array().unwrap()
}

/// Values of a column over all copies of all batches.
fn column<'a>(record: &'a Value, name: &str) -> Vec<&'a Value> {
    batches(record).iter().flat_map(|batch| batch["copies"][name].as_array().unwrap()).collect()
}

#[test]
fn a_command_that_is_not_found() {
    let place = Sandbox::new();
    place
        .compare(&["-N", "no-such-program-here -x"])
        .expect_error(5, &["'no-such-program-here'", "PATH", "spelling"]);
    place
        .compare(&["-N", "./nowhere/x"])
        .expect_error(5, &["'./nowhere/x' does not exist", "check the path"]);
    place
        .compare(&["no-such-program-here -x"])
        .expect_error(5, &["no-such-program-here", "127", "spelling and PATH"]);
    place
        .compare(&["--no-check-output", "no-such-program-here -x"])
        .expect_error(5, &["no-such-program-here", "127", "spelling and PATH"]);
    place.compare(&["--shell", "no-such-shell", "true"]).expect_error(5, &["'no-such-shell'", "PATH"]);
    place
        .compare(&["--prepare", "no-such-hook", "true"])
        .expect_error(5, &["--prepare", "no-such-hook", "127"]);
    place.assert_clean();
}

#[test]
fn a_file_that_cannot_be_executed() {
    let place = Sandbox::new();
    place.write("data", "no program");
    place.compare(&["-N", "./data"]).expect_error(5, &["'./data' is not executable", "permissions"]);
    place.script("no-line", "echo hello\n");
    place.compare(&["-N", "./no-line"]).expect_error(5, &["'./no-line'", "Exec format error", "'#!' line"]);
    place.script("bad-line", "#!/no/such/interpreter\n");
    place.compare(&["-N", "./bad-line"]).expect_error(5, &["'./bad-line'", "interpreter", "does not exist"]);
    // A shell reads a script without its line.
    place.compare(&["--runs", "2", "./no-line"]).ok();
    place.assert_clean();
}

#[test]
fn a_command_that_is_killed_or_crashes() {
    let place = Sandbox::new();
    place.compare(&["kill -9 $$"]).expect_error(5, &["kill -9 $$", "signal 9", "memory"]);
    place.compare(&["kill -SEGV $$"]).expect_error(5, &["kill -SEGV $$", "signal 11"]);
    place.compare(&["--runs", "2", "kill -SEGV $$"]).expect_error(5, &["signal 11", "run 0"]);
    place.compare(&["-i", "--runs", "3", "--record", &place.file("r.json"), "kill -9 $$"]).ok();
    assert!(column(&place.record("r.json"), "status").iter().all(|status| **status == -9));
    place.assert_clean();
}

#[test]
fn a_flood_of_output() {
    let place = Sandbox::new();
    let flood = "head -c 200000000 /dev/zero";
    for output in ["null", "pipe"] {
        let record = place.file(output);
        place.compare(&["--runs", "1", "--warmup", "1", "--output", output, "--record", &record, flood]).ok();
        let record = place.record(output);
        assert_eq!(record["trials"][0]["stdout_bytes"], 200_000_000_u64, "all of it was taken in");
    }
    // The comparison keeps the first one's output: it must be gone afterwards.
    place
        .compare(&[
            "--check-output=strict",
            "--runs",
            "1",
            "--warmup",
            "1",
            flood,
            "head -c 199999999 /dev/zero; echo",
        ])
        .expect_error(5, &["standard output differs", "--no-check-output"]);
    place.assert_clean();
}

#[test]
fn thousands_of_copies_flood_their_pipes() {
    let place = Sandbox::new();
    let record = place.file("r.json");
    let args = ["-N", "--load", "2000", "--runs", "1", "--output", "pipe", "--record", &record];
    place.compare(&[&args[..], &["head -c 100000 /dev/zero"]].concat()).ok();
    let record = place.record("r.json");
    let status = column(&record, "status");
    assert!(status.len() == 2000 && status.iter().all(|status| **status == 0), "{record}");
    place.assert_clean();
}

#[test]
fn output_to_a_file_that_has_no_room() {
    let place = Sandbox::new();
    if given(mounts()) {
        // Mounts of a private namespace: they are gone with the process.
        let line = "mount -t tmpfs -o size=1m none /mnt && exec \"$whyfaster\" compare --runs 2 --output /mnt/out 'head -c 5000000 /dev/zero'";
        place
            .shell(&format!("exec unshare -m sh -c '{}'", line.replace('\'', "'\\''")))
            .expect_error(5, &["head -c 5000000 /dev/zero", "exit code 1", "run 0"]);
    }
    place.compare(&["--runs", "2", "--output", "/dev/full", "echo x"]).expect_error(5, &["echo x", "run 0"]);
    place.compare(&["--output", "./none/out", "echo x"]).expect_error(1, &["./none/out", "--output"]);
    place.assert_clean();
}

#[test]
fn a_pipe_as_output_or_input_does_not_hang() {
    let place = Sandbox::new();
    let pipe = place.file("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    place.compare(&["--runs", "2", "--output", &pipe, "echo x"]).expect_error(1, &[&pipe, "--output"]);
    place.compare(&["--runs", "2", "--input", &pipe, "cat"]).expect_error(2, &["named pipe", &pipe]);
    place.assert_clean();
}

#[test]
fn commands_that_close_their_output_or_never_read_their_input() {
    let place = Sandbox::new();
    fs::write(place.path("big"), vec![b'x'; 20_000_000]).unwrap();
    for command in ["exec >&-; sleep 0.05", "exec >&- 2>&-; true"] {
        for output in ["null", "pipe", "inherit"] {
            place.compare(&["--runs", "2", "--output", output, command]).ok();
        }
    }
    place.compare(&["-N", "--runs", "3", "--input", "./big", "--load", "5", "true"]).ok();
    // Neither does a pipeline whose reader goes early hang or fail.
    place.compare(&["--runs", "2", "yes | head -n 1"]).ok();
    // What the program itself reads from is not theirs.
    place.shell("echo secret | \"$whyfaster\" compare --runs 2 'cat' 'true'").ok();
    place.assert_clean();
}

#[test]
fn a_command_that_ignores_sigterm_ends_at_its_timeout() {
    let place = Sandbox::new();
    let m = &place.marker;
    let command = format!("trap '' TERM INT HUP; setsid sleep {m} & (sleep {m} &); sleep {m}; :");
    let record = place.file("r.json");
    let ran = place
        .compare(&["--timeout", "0.3s", "--runs", "2", "--load", "3", "--record", &record, &command])
        .ok();
    place.assert_clean();
    let record = place.record("r.json");
    assert_eq!(column(&record, "timed_out").len(), 6);
    assert!(column(&record, "timed_out").iter().all(|late| **late == true));
    assert!(ran.out.contains("time-out of 0.3 s; raise --timeout"), "{}", ran.out);
}

#[test]
fn a_command_that_leaves_processes_behind() {
    let place = Sandbox::new();
    let m = &place.marker;
    let command = format!("(setsid sleep {m} > /dev/null 2>&1 &); (sleep {m} > /dev/null 2>&1 &); true");
    place.compare(&["--runs", "3", "--load", "2", "--record", &place.file("r.json"), &command]).ok();
    place.assert_clean();
    let record = place.record("r.json");
    for batch in batches(&record) {
        assert_eq!(batch["orphans"]["killed"], 4, "{batch}");
    }
    assert!(record["warnings"].to_string().contains("outlived"), "{}", record["warnings"]);
    // What ends while its copy still runs costs no time that is not in the wall time.
    let command = "(true > /dev/null 2>&1 &); sleep 0.3";
    place.compare(&["--runs", "3", "--record", &place.file("r.json"), command]).ok();
    let record = place.record("r.json");
    assert!(
        batches(&record).iter().all(|it| it["orphans"]["reaped"] == it["orphans"]["beside"]),
        "{record:#}"
    );
    assert!(!record["warnings"].to_string().contains("outlived"), "{}", record["warnings"]);
}

/// A pipe that a daemon holds open must not keep the trial waiting for its end.
#[test]
fn a_daemon_that_holds_the_output_does_not_hang_the_trial() {
    let place = Sandbox::new();
    let m = &place.marker;
    for output in ["null", "pipe"] {
        let words = ["--max-runs", "2", "--output", output, &format!("(setsid sleep {m} &); echo x")];
        place.compare(&words).ok();
        place.assert_clean();
    }
}

#[test]
fn a_status_that_varies_is_found() {
    let place = Sandbox::new();
    let varies = "test \"$HYPERFINE_ITERATION\" != 2";
    place
        .compare(&["--runs", "5", varies])
        .expect_error(5, &["HYPERFINE_ITERATION", "exit code 1", "run 2", "-i"]);
    let allowed = place.compare(&["-i", "--runs", "5", varies]).ok();
    assert!(allowed.flowing().contains("1 copy ended with a status other than 0"), "{}", allowed.out);
    // What had been measured before is kept.
    place.compare(&["--runs", "5", "--record", &place.file("r.json"), varies]).expect(5, &[]);
    let record = place.record("r.json");
    assert_eq!((&record["status"], batches(&record).len()), (&Value::from("failed"), 2));
    place.assert_clean();
}

#[test]
fn words_and_environment_of_any_kind() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let place = Sandbox::new();
    let long = format!("true {}", "x".repeat(140_000 - 10_000));
    place.compare(&["-N", "--runs", "2", &long]).ok();
    place
        .compare(&["--max-runs", "2", "/bin/true $(seq 1000000)"])
        .expect_error(5, &["/bin/true $(seq 1000000)", "rgument list too long"]);
    let mut command = place.whyfaster(&["compare", "--runs", "2", "--no-check-output"]);
    command.arg("test \"$ODD\" = \"$(printf 'a\\377b')\"").env("ODD", OsStr::from_bytes(b"a\xffb"));
    place.finish(command).ok();
    // No room in the environment for what is added: the kernel's limit on one string is 128 KiB, on all a quarter of the stack.
    let mut command =
        place.command("prlimit", &["--stack=1048576", PROGRAM, "compare", "-N", "--runs", "400", "true"]);
    // What cargo and whoever runs the test have put there counts too: each text, the byte behind it and its pointer.
    let given = |name: &OsStr, value: &OsStr| name.len() + value.len() + 10;
    let ours: usize = std::env::vars_os().map(|(name, value)| given(&name, &value)).sum();
    let places: usize = command.get_envs().filter_map(|(name, value)| Some(given(name, value?))).sum();
    let room = (1 << 20) / 4 - 1000 - ours - places;
    for number in 0..2 {
        command.env(format!("BIG_{number}"), "x".repeat(room / 2 - 20));
    }
    let ran = place.finish(command);
    if ran.code() != 0 {
        ran.expect_error(5, &["true", "rgument list too long", "environment"]);
    }
    let mut command = place.whyfaster(&["compare", "--runs", "2"]);
    command.arg(OsStr::from_bytes(b"echo \xff"));
    place.finish(command).expect(2, &["error: "]);
    place.assert_clean();
}

#[test]
fn a_command_that_writes_to_its_terminal() {
    let place = Sandbox::new();
    // In a session of its own it has none, which is an ordinary error of the command.
    place.compare(&["echo x > /dev/tty"]).expect_error(5, &["echo x > /dev/tty", "/dev/tty"]);
    let ran = place.compare(&["--runs", "2", "--show-output", "echo seen; echo also >&2"]);
    ran.expect(0, &["also"]);
    assert!(ran.out.contains("seen"), "{}", ran.out);
    place.assert_clean();
}

/// The server becomes a child of whyfaster, and its end is seen by whoever waits for it.
#[test]
fn a_hook_may_wait_for_the_end_of_what_another_one_started() {
    let place = Sandbox::new();
    let starts = format!("sleep {} & echo $! > pid", place.marker);
    let ends = "kill $(cat pid); while kill -0 $(cat pid) 2>/dev/null; do sleep 0.02; done";
    let hooks = ["--runs=2", "--why=no", "--prepare", &starts, "--conclude", ends];
    place.compare(&[&hooks[..], &["true", "true"]].concat()).ok();
    place.assert_clean();
}

/// Whatever `line` does with whyfaster whose hook asks on the terminal; each of `keys` is typed once the words before it are shown.
fn at_a_terminal(place: &Sandbox, line: &str, keys: &[(&str, &str)]) -> (Option<i32>, String) {
    // By the second question it has got the terminal.
    let ask = r#"exec < /dev/tty 2> /dev/tty; printf 'name? ' >&2; read name; printf 'sure? ' >&2; read sure; test "$name$sure" = meyes"#;
    let mut command = place.command("sh", &["-c", line]);
    command.env("TERM", "dumb").env("whyfaster", PROGRAM).env("ask", ask);
    let (mut terminal, child) = terminal::start(command);
    let (mut shown, mut at) = (String::new(), 0);
    for (words, typed) in keys {
        at = terminal::show_until(&mut terminal, &mut shown, at, words);
        terminal.write_all(typed.as_bytes()).unwrap();
    }
    let (code, rest) = terminal::end(terminal, child);
    (code, shown + &rest)
}

const ASKING: &str = r#""$whyfaster" compare --runs=2 --why=no --setup "$ask" true true"#;

#[test]
fn a_hook_may_ask_on_the_terminal() {
    let place = Sandbox::new();
    let (code, shown) = at_a_terminal(
        &place,
        &format!("{ASKING}; read last; echo got $last"),
        &[("name? ", "me\n"), ("sure? ", "yes\n"), ("show -v", "more\n")],
    );
    assert!(code == Some(0) && shown.contains("got more"), "{code:?} {shown}");
    place.assert_clean();
}

#[test]
fn ctrl_c_at_the_question_of_a_hook_is_an_interrupt() {
    let place = Sandbox::new();
    let (code, shown) =
        at_a_terminal(&place, &format!("exec {ASKING}"), &[("name? ", "me\n"), ("sure? ", "\u{3}")]);
    assert_eq!(code, Some(130), "{shown}");
    place.assert_clean();
}

#[test]
fn ctrl_z_at_the_question_of_a_hook_stops_whyfaster_too() {
    let place = Sandbox::new();
    let line = format!("set -m; {ASKING}; echo stands still; fg");
    let (code, shown) = at_a_terminal(
        &place,
        &line,
        &[("name? ", "me\n"), ("sure? ", "\u{1a}"), ("stands still", ""), ("compare", "yes\n")],
    );
    assert_eq!(code, Some(0), "{shown}");
    place.assert_clean();
}

#[test]
fn a_hook_that_asks_on_the_terminal_of_somebody_else_is_ended_and_told() {
    let place = Sandbox::new();
    let (code, shown) = at_a_terminal(&place, &format!("set -m; {ASKING} & wait $!"), &[]);
    assert!(
        code == Some(5) && shown.contains("asks on the terminal, and whyfaster runs in the background"),
        "{code:?} {shown}"
    );
    place.assert_clean();
}

#[test]
fn a_command_that_fails_where_it_is_traced_has_no_account_and_a_verdict() {
    let place = Sandbox::new();
    let command = "grep -q '^TracerPid:.0$' /proc/self/status";
    // Decided early on any machine, so that time is left for the traced run.
    let ran =
        place.compare(&["--why=no", "--delta=90%", "--max-time=60s", "--record=r.json", command, command]);
    ran.expect(0, &[]);
    let missing = place.record("r.json")["not_measured"].to_string();
    assert!(missing.contains("run_queue_delay") && missing.contains("fails where it is traced"), "{missing}");
}

#[test]
fn the_status_of_a_signal_is_the_number_that_a_shell_says() {
    let place = Sandbox::new();
    let words = |codes: &str| place.compare(&["--runs=2", "--why=no", codes, "kill -9 $$", "kill -9 $$"]);
    words("--ignore-failure=3,137").ok();
    words("--ignore-failure=9").expect(5, &[]);
}

#[test]
fn the_input_of_whyfaster_may_be_that_of_its_commands() {
    let place = Sandbox::new();
    place.write("in", "yes\n");
    let line = "\"$whyfaster\" compare --runs=2 --why=no --input /dev/stdin 'grep -q yes' 'grep -q yes' < in";
    place.shell(line).ok();
}

#[test]
fn without_a_shell_a_program_is_searched_for_in_the_path_that_it_is_given() {
    let place = Sandbox::new();
    fs::create_dir(place.path("bin")).unwrap();
    place.script("bin/only-here", "#!/bin/sh\n");
    let path = format!("PATH={}", place.file("bin"));
    let words =
        |env: &str| place.compare(&["-N", "--runs=2", "--why=no", "--env", env, "only-here", "only-here"]);
    words(&path).ok();
    words("PATH=/nowhere").expect_error(5, &["'only-here' was not found in PATH (/nowhere)"]);
}

/// The kernel cuts its name within a letter.
#[test]
fn a_program_with_a_name_of_any_script_is_ended() {
    let place = Sandbox::new();
    let program = place
        .script("run-\u{8a08}\u{6e2c}\u{30b9}\u{30af}.sh", &format!("#!/bin/sh\nsleep {}\n", place.marker));
    let ran = place.compare(&["-N", "--runs=2", "--why=no", "--timeout=300ms", &program, &program]);
    assert!(ran.ok().out.contains("time-out of 0.3 s"));
    place.assert_clean();
}
