//! What a command may do to the process that starts it, and to the one above: outlive it, stop it, signal it.

use std::fs;
use std::os::unix::process::CommandExt;

use crate::support::needs::{mounts, needs, root};
use crate::support::user::{place_of_user, start_as_user};
use crate::support::{PROGRAM, Sandbox, eventually, seccomp};
use rustix::process::Signal;

/// A command of that user that leaves a process of root.
fn of_root(place: &Sandbox) -> String {
    // A shell between, so that only the process of root has the marker as a word of its own.
    format!("./rise --reuid 0 --regid 0 --clear-groups sh -c 'sleep {}'", place.marker)
}

/// A process that may not be ended is told, whatever the program is in the middle of, and no signal is lost on it.
#[test]
fn a_process_that_cannot_be_ended_is_told_and_holds_nothing_up() {
    needs!(root());
    for signal in [Signal::INT, Signal::TERM] {
        for args in [
            &["compare"][..],
            &["compare", "--no-check-output", "--output", "pipe"],
            &["compare", "--prepare"],
            &["trace", "--level", "rusage"],
        ] {
            let place = place_of_user();
            let command = of_root(&place);
            let words: Vec<&str> = match args[0] {
                "trace" => [args, &["--", "sh", "-c", &command]].concat(),
                _ if args.ends_with(&["--prepare"]) => [args, &[&command, "true"]].concat(),
                _ => [args, &[&command]].concat(),
            };
            let running = start_as_user(&place, &words);
            place.wait_for_sleepers(1);
            running.signal(signal);
            let ran = running.wait();
            let code = if args[0] == "trace" && signal == Signal::TERM { 143 } else { 130 };
            ran.expect_error(code, &["whyfaster cannot end", "(sleep)", "interrupted"]);
            place.end_sleepers();
            place.assert_clean();
        }
    }
}

#[test]
fn a_time_out_also_ends_the_wait_for_what_cannot_be_ended() {
    needs!(root());
    for args in [&["compare", "-N"][..], &["compare", "--no-check-output"], &["compare", "--load", "2"]] {
        let place = place_of_user();
        let command = of_root(&place);
        let ran = start_as_user(&place, &[args, &["--timeout", "0.3s", &command]].concat()).wait();
        ran.expect_error(5, &["whyfaster cannot end", "(sleep)", "kill -9"]);
        place.end_sleepers();
        place.assert_clean();
    }
}

#[test]
fn a_trace_of_limited_length_tells_what_it_could_not_end() {
    needs!(root());
    let place = place_of_user();
    let words = ["trace", "--level", "rusage", "--duration", "0.3s", "--record", "r.json", "--", "sh", "-c"];
    let command = of_root(&place);
    let ran = start_as_user(&place, &[&words[..], &[&command]].concat()).wait();
    ran.expect_error(5, &["whyfaster cannot end", "(sleep)"]);
    assert_eq!(place.record("r.json")["status"], "failed");
    place.end_sleepers();
    place.assert_clean();
}

/// What the launcher needs to end a tree may be forbidden, as Docker did for long.
#[test]
fn without_handles_of_processes_all_is_ended_too() {
    let refused = [libc::SYS_pidfd_open, libc::SYS_pidfd_send_signal];
    let place = Sandbox::new();
    let m = &place.marker;
    let command = format!("(setsid sleep {m} &); sleep {m}; :");
    for hook in [&[][..], &["--prepare", "true"]] {
        let mut compare = place
            .command(PROGRAM, &[&["compare", "--timeout", "0.3s", "-r", "2"], hook, &[&command]].concat());
        // SAFETY: system calls between fork and exec, in a process with one thread.
        unsafe { compare.pre_exec(move || seccomp::refuse(&refused)) };
        let ran = place.finish(compare).ok();
        assert!(ran.out.contains("time-out of 0.3 s"), "{}", ran.out);
        place.assert_clean();
    }
    let mut compare = place.whyfaster(&["compare", &command]);
    // SAFETY: as above.
    unsafe { compare.pre_exec(move || seccomp::refuse(&refused)) };
    let running = place.begin(compare);
    place.wait_for_sleepers(2);
    running.signal(Signal::INT);
    running.wait().expect(130, &["interrupted"]);
    place.assert_clean();
}

/// What else a filter forbids is not blamed on a limit.
#[test]
fn a_forbidden_signalfd_is_told_as_such() {
    let place = Sandbox::new();
    let mut compare = place.whyfaster(&["compare", "true"]);
    // SAFETY: as above.
    unsafe { compare.pre_exec(|| seccomp::refuse(&[libc::SYS_signalfd4])) };
    let ran = place.finish(compare);
    ran.expect_error(6, &["cannot wait for signals", "signalfd(2)"]);
    assert!(!ran.err.contains("ulimit"), "{}", ran.err);
}

#[test]
fn a_proc_of_another_namespace_is_refused() {
    needs!(mounts());
    let place = Sandbox::new();
    for words in [&["compare", "touch ran"][..], &["trace", "touch", "ran"]] {
        let ran = place.finish(place.command("unshare", &[&["-pf", PROGRAM], words].concat()));
        ran.expect_error(6, &["PID namespace", "--mount-proc"]);
    }
    assert!(!place.path("ran").exists());
    let words = ["-pf", "--mount-proc", PROGRAM, "compare", "-r", "1", "touch ran"];
    place.finish(place.command("unshare", &words)).ok();
    assert!(place.path("ran").exists());
}

/// A command that ends its parent, in one way or another, has failed: nothing is tried again for ever.
#[test]
fn a_command_that_signals_its_parent_is_an_error() {
    for signal in
        ["TERM", "INT", "HUP", "QUIT", "USR1", "USR2", "ALRM", "VTALRM", "PROF", "IO", "PWR", "RTMIN"]
    {
        let place = Sandbox::new();
        let ran = place.run(&[
            "compare",
            "-r",
            "3",
            "-i",
            "--no-check-output",
            &format!("sleep .02; kill -{signal} $PPID; sleep {}", place.marker),
        ]);
        let name = if signal.len() > 4 || ["IO", "PWR"].contains(&signal) { "signal" } else { signal };
        ran.expect_error(5, &[name, "process ", "$PPID"]);
        assert!(!ran.err.contains("memory"), "{}", ran.err);
        place.assert_clean();
    }
}

#[test]
fn a_command_that_signals_its_group_is_an_error_where_it_shares_one() {
    let place = Sandbox::new();
    let group = ["compare", "-r", "3", "-i", "--max-time", "2s", "--placement"];
    let ran = place.run(&[&group[..], &["shared", "sleep .02; kill 0"]].concat());
    ran.expect_error(5, &["SIGTERM", "kill 0", "--placement shared"]);
    place.assert_clean();
    place.run(&[&group[..], &["session", "sleep .02; kill 0"]].concat()).ok();
}

/// Signals that mean nothing by default end nothing.
#[test]
fn signals_without_a_meaning_do_not_end_a_batch() {
    let place = Sandbox::new();
    for signal in ["CHLD", "CONT", "URG", "WINCH", "PIPE"] {
        place.run(&["compare", "-r", "2", &format!("kill -{signal} $PPID; sleep 0.02")]).ok();
    }
    place.assert_clean();
}

#[test]
fn a_traced_command_that_signals_its_parent_leaves_a_record() {
    let place = Sandbox::new();
    let line = format!("kill -USR1 $PPID; sleep {}", place.marker);
    let ran = place.run(&["trace", "--level", "rusage", "--record", "r.json", "--", "sh", "-c", &line]);
    ran.expect_error(5, &["SIGUSR1", "(sh)"]);
    assert_eq!(place.record("r.json")["status"], "failed");
    place.assert_clean();
}

/// A command that stops its parent stops neither the way out nor the time-out.
#[test]
fn a_stopped_launcher_can_be_interrupted_and_times_out() {
    for signal in [Signal::INT, Signal::TERM] {
        let place = Sandbox::new();
        let m = &place.marker;
        let running =
            place.start(&["compare", &format!("kill -STOP $PPID; (setsid sleep {m} &); sleep {m}; :")]);
        place.wait_for_sleepers(2);
        running.signal(signal);
        running.wait().expect(130, &["interrupted"]);
        place.assert_clean();
    }
    let place = Sandbox::new();
    let stop = format!("kill -STOP $PPID; sleep {}", place.marker);
    let ran = place.run(&["compare", "--timeout", "0.2s", "-r", "1", "--no-check-output", &stop]).ok();
    assert!(ran.out.contains("time-out of 0.2 s"), "{}", ran.out);
    place.assert_clean();
}

#[test]
fn a_stopped_launcher_ends_all_when_the_program_is_killed() {
    for verb in [&["compare"][..], &["trace", "--level", "rusage", "--", "sh", "-c"]] {
        let place = Sandbox::new();
        let m = &place.marker;
        let line = format!("(setsid sleep {m} &); kill -STOP $PPID; sleep {m}; :");
        let running = place.start(&[verb, &[&line]].concat());
        let launcher = running.launcher();
        place.wait_for_sleepers(2);
        eventually("the stop", || {
            fs::read_to_string(format!("/proc/{launcher}/stat")).unwrap().contains(") T ")
        });
        running.signal(Signal::KILL);
        assert_eq!(running.wait().code(), 137);
        place.assert_clean();
    }
}
