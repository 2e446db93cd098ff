//! Bad input, losses, interrupts and violent deaths of `trace`.

#![expect(clippy::unwrap_used, reason = "a test ends by panicking")]

use std::fs;
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;

use crate::support::needs::{capabilities, full, needs, root};
use crate::support::trace::{levels, nobody_traces, rows, traced};
use crate::support::user::{NOBODY, program_for_all};
use crate::support::{Sandbox, eventually, number};
use rustix::process::Signal;
use serde_json::Value;

#[test]
fn what_cannot_be_run_is_named() {
    let place = Sandbox::open();
    for level in levels() {
        let run = |words: &[&str]| place.run(&[&["trace", "--level", level], words].concat());
        run(&["-N", "/no/such/program"]).expect_error(5, &["/no/such/program"]);
        run(&["-N", "nosuchprogram"]).expect_error(5, &["PATH"]);
        place.write("text", "no program");
        run(&["-N", "./text"]).expect_error(5, &["text"]);
        let script = place.script("script", "no program either");
        run(&["-N", &script]).expect_error(5, &["cannot execute"]);
        run(&["--record", "/no/such/r.json", "true"]).expect_error(1, &["/no/such/r.json"]);
        run(&["--follow", "999999999"]).expect_error(6, &["--follow"]);
        place.assert_clean();
    }
    // A directory that only looks like one of a cgroup is never kept up to date.
    place.write("cgroup.procs", format!("{}\n", std::process::id()));
    place
        .run(&["trace", "--follow", "./"])
        .expect_error(2, &["--follow", "'./'", "no directory of a cgroup"]);
    place.run(&["trace", "--calls", "openat", "true"]).expect_error(5, &["'openat'", "--calls=openat"]);
}

#[test]
fn the_commands_own_end_is_told_and_is_no_failure() {
    let place = Sandbox::open();
    for level in levels() {
        for (line, status) in [("exit 3", 3), ("kill -9 $$", -9), ("true", 0)] {
            assert_eq!(traced(&place, &["--level", level, line])["exit_status"], status, "{level}");
        }
    }
}

#[test]
fn what_a_level_cannot_give_is_refused_with_the_way_to_it() {
    let place = Sandbox::open();
    nobody_traces(&place, &["--level", "full", "true"]).expect_error(6, &["CAP_BPF", "run it with sudo"]);
    nobody_traces(&place, &["--calls", "true"]).expect_error(6, &["--level ptrace"]);
    nobody_traces(&place, &["--level", "ptrace", "--folded", "f.txt", "true"]).expect_error(6, &["stacks"]);
    nobody_traces(&place, &["--follow", "1"]).expect_error(6, &["process 1"]);
    assert!(!place.path("f.txt").exists());
    let trace = nobody_traces(&place, &["--json", "true"]).json();
    assert_eq!(trace["level"], "unprivileged");
    let said =
        rows(&trace, "not_measured").iter().any(|row| row["what"].as_str().unwrap().contains("full level"));
    assert!(said, "{}", trace["not_measured"]);
}

#[test]
fn who_has_only_the_program_is_told_what_works_here() {
    needs!(root());
    let place = Sandbox::open();
    let program = program_for_all(&place);
    let asks = |prefix: &str, program: &str, privileges: &str| {
        let nobody = format!("--reuid {NOBODY} --regid {NOBODY} --clear-groups {privileges}");
        let line = format!("{prefix} exec setpriv {nobody} {program} trace -v --level full true");
        place.finish(place.command("unshare", &["-m", "sh", "-c", &line]))
    };
    asks("", &program, "--no-new-privs")
        .expect_error(6, &["CAP_BPF", "no_new_privs", "neither sudo nor setcap"]);
    asks("", &program, "--bounding-set -all").expect_error(6, &["--cap-add BPF --cap-add PERFMON"]);
    let mount =
        format!("mount -t tmpfs -o nosuid,mode=755 none {0} && cp {program} {0} &&", place.file("tmp"));
    let ran = asks(&mount, &format!("{}/whyfaster", place.file("tmp")), "");
    ran.expect_error(6, &["CAP_BPF", "run it with sudo", "nosuid"]);
    assert!(!ran.err.contains("setcap"), "{}", ran.err);
    // What is advised is a command as it stands.
    let other = place.file("other");
    fs::copy(&program, &other).unwrap();
    needs!(capabilities("cap_bpf+ep", &other));
    let ran = asks("PATH=$PATH:/usr/sbin;", &program, "");
    let (_, advised) = ran.err.split_once("once: sudo ").unwrap_or_else(|| panic!("{}", ran.err));
    let command = advised.lines().next().unwrap();
    place.shell(&format!("PATH=$PATH:/usr/sbin; {command}")).ok();
    let asked = asks("", &program, "").ok();
    assert!(asked.out.contains("level: full"), "{}", asked.out);
}

/// Each class is told by CPU, and what the CPUs lost is what was lost in all.
#[track_caller]
fn told_by_cpu(trace: &Value) {
    for class in ["ring", "map", "storage", "string", "stack", "gaps", "late", "unfinished"] {
        let sum: u64 = rows(&trace["lost"], "by_cpu").iter().map(|cpu| cpu[class].as_u64().unwrap()).sum();
        assert_eq!(Some(sum), trace["lost"][class].as_u64(), "{class}: {}", trace["lost"]);
    }
}

#[test]
fn a_ring_that_is_too_small_is_a_loss_and_never_a_clean_run() {
    needs!(full());
    let place = Sandbox::open();
    let line = "dd if=/dev/zero of=/dev/null bs=1 count=1000000";
    let words = ["--level", "full", "--ring-size", "4K", "--calls=mount", line];
    let trace = traced(&place, &words);
    assert!(trace["lost"]["ring"].as_u64().unwrap() > 0, "{}", trace["lost"]);
    told_by_cpu(&trace);
    // Here whole lives are missing.
    let many = "for i in $(seq 60); do /bin/true; done";
    told_by_cpu(&traced(&place, &["--level", "full", "--ring-size", "4K", many]));
    // The run came to its end, and what was seen of it is not whole.
    assert_eq!((trace["status"].as_str(), trace["complete"].as_bool()), (Some("complete"), Some(false)));
    let ran = place
        .run(&[&["trace", "--strict", "--untraced-runs", "0", "--record", "r.json"], &words[..]].concat());
    ran.expect_error(6, &["--strict", "lost", "--ring-size"]);
    assert!(place.record("r.json")["lost"]["ring"].as_u64().unwrap() > 0);
    place.run(&["trace", "--strict", "--untraced-runs", "0", "true"]).ok();
}

#[test]
fn ctrl_c_ends_the_tree_and_prints_what_was_seen() {
    let place = Sandbox::open();
    for level in levels() {
        for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
            let m = &place.marker;
            let line = format!("trap '' TERM INT; (setsid sleep {m} &) ; sleep {m} & sleep {m}; :");
            let running = place.start(&["trace", "-v", "--level", level, "--record", "r.json", &line]);
            place.wait_for_sleepers(3);
            running.signal(signal);
            let ran = running.wait();
            ran.expect(if signal == Signal::TERM { 143 } else { 130 }, &["interrupted"]);
            assert!(ran.out.contains("level:"), "no report: {}", ran.out);
            assert_eq!(place.record("r.json")["status"], "interrupted");
            place.assert_clean();
        }
    }
}

#[test]
fn a_killed_program_leaves_no_command() {
    let place = Sandbox::open();
    for level in levels() {
        let m = &place.marker;
        let running =
            place.start(&["trace", "--level", level, &format!("(setsid sleep {m} &) ; sleep {m}; :")]);
        place.wait_for_sleepers(2);
        running.signal(Signal::KILL);
        running.wait();
        place.assert_clean();
    }
}

/// The numbers of the BPF programs that a process has open: proc_pid_fdinfo(5).
fn programs_of(pid: i32) -> Vec<u32> {
    let files = fs::read_dir(format!("/proc/{pid}/fdinfo")).unwrap().flatten();
    let texts = files.filter_map(|file| fs::read_to_string(file.path()).ok());
    let number =
        |text: String| text.lines().find_map(|line| line.strip_prefix("prog_id:")?.trim().parse().ok());
    texts.filter_map(number).collect()
}

/// Returns true if the kernel still has the BPF program of this number: bpf(2), BPF_PROG_GET_FD_BY_ID.
fn is_loaded(program: u32) -> bool {
    const GET_FD_BY_ID: libc::c_long = 13;
    let words = [program, 0, 0];
    // SAFETY: the call reads the words, which outlive it.
    let found = unsafe { libc::syscall(libc::SYS_bpf, GET_FD_BY_ID, words.as_ptr(), size_of_val(&words)) };
    // SAFETY: the call made the descriptor, and nobody else has it.
    let found = (found >= 0).then(|| unsafe { OwnedFd::from_raw_fd(found as i32) });
    found.is_some()
}

#[test]
fn a_killed_program_leaves_no_probe() {
    needs!(full());
    // Others may not ask for a program by its number.
    needs!(root());
    let place = Sandbox::open();
    let running = place.start(&["trace", "--level", "full", &format!("sleep {}", place.marker)]);
    place.wait_for_sleepers(1);
    let programs = programs_of(running.pid());
    assert!(!programs.is_empty() && programs.iter().all(|it| is_loaded(*it)), "{programs:?}");
    running.signal(Signal::KILL);
    running.wait();
    place.assert_clean();
    eventually("the programs are gone", || !programs.iter().any(|it| is_loaded(*it)));
}

#[test]
fn a_duration_ends_the_command() {
    let place = Sandbox::open();
    for level in levels() {
        let m = &place.marker;
        let ran =
            place.run(&["trace", "--json", "--level", level, "--duration", "300ms", &format!("sleep {m}")]);
        let trace = ran.json();
        assert_eq!(trace["status"], "complete", "{level}");
        assert!(trace["overhead"]["traced_over_untraced"].is_null());
        assert_ne!(trace["exit_status"].as_i64().unwrap(), 0, "{level}: {}", trace["exit_status"]);
        // The command has a part of this time: it may have to wait for a CPU first.
        assert!(number(&trace["took_s"]) >= 0.3, "{level}: {}", trace["took_s"]);
        assert!(number(&trace["wall_s"]) <= number(&trace["took_s"]), "{level}: {}", trace["wall_s"]);
        place.assert_clean();
    }
}

#[test]
fn streams_are_the_commands_own() {
    let place = Sandbox::open();
    place.write("in", "from the file\n");
    let ran = place.shell("echo from the pipe | $whyfaster trace --level unprivileged --style none cat").ok();
    assert_eq!(ran.out, "from the pipe\n");
    place
        .run(&[
            "trace",
            "--style",
            "none",
            "--untraced-runs",
            "2",
            "--input",
            "in",
            "--output",
            "./out",
            "cat",
        ])
        .ok();
    assert_eq!(place.read("out"), "from the file\n");
    let ran = place.run(&[
        "trace",
        "--style",
        "none",
        "--level",
        "rusage",
        "--",
        "sh",
        "-c",
        "echo \"$0 $1\"",
        "a  b",
        "c",
    ]);
    assert_eq!(ran.out, "a  b c\n");
}

#[test]
fn a_record_is_shown_again_and_a_damaged_one_refused() {
    let place = Sandbox::open();
    place.run(&["trace", "--record", "r.json", "--untraced-runs", "1", "true"]).ok();
    let shown = place.run(&["show", "-v", "r.json"]).ok();
    assert!(shown.out.contains("level:"), "{}", shown.out);
    let record = place.record("r.json");
    assert_eq!(record["schema"], "whyfaster-trace/1");
    assert_eq!(record["plan"]["user"]["because"], "own");
    let again = place.run(&["show", "--json", "r.json"]).json();
    assert_eq!(again, record);
    let text = place.read("r.json");
    for (what, damaged) in [
        ("ends in the middle", text[..text.len() / 2].to_owned()),
        ("newer whyfaster", text.replacen("whyfaster-trace/1", "whyfaster-trace/2", 1)),
        ("wrong form", text.replacen("\"took_s\": ", "\"took_s\": \"x\", \"y\": ", 1)),
        ("took_s", text.replacen("\"took_s\": ", "\"took_s\": -1, \"y\": ", 1)),
    ] {
        place.write("d.json", damaged);
        place.run(&["show", "d.json"]).expect_error(1, &["d.json", what]);
    }
    place.run(&["show", "--export-csv", "x.csv", "r.json"]).expect_error(2, &["is a trace"]);
}

#[test]
fn a_kept_schedule_is_analysed_again() {
    let place = Sandbox::open();
    for level in levels().into_iter().filter(|level| *level != "rusage") {
        let words =
            ["--level", level, "--keep-schedule", "--record", "r.json", "seq 20 | xargs -n1 -P2 /bin/true"];
        place.run(&[&["trace", "--untraced-runs", "0"], &words[..]].concat()).ok();
        let record: serde_json::Value = place.json("r.json");
        assert_eq!(place.run(&["show", "--json", "r.json"]).json(), record, "{level}");
        let stream = record["schedule"]["stream"].as_str().unwrap();
        let mut damaged = record.clone();
        damaged["schedule"]["stream"] = stream[..stream.len() / 8 * 4].into();
        place.write("d.json", damaged.to_string());
        place.run(&["show", "d.json"]).expect_error(1, &["d.json", "scheduling records"]);
    }
}

#[test]
fn under_sudo_the_command_is_its_callers() {
    needs!(root());
    let place = Sandbox::open();
    for level in ["full", "unprivileged"] {
        let mut command = place.whyfaster(&["trace", "--json", "--level", level]);
        command.env("SUDO_UID", "65534").env("SUDO_GID", "65534").env("SUDO_USER", "nobody");
        command.args(["--record", "r.json", "id -u > uid; id -G > groups"]);
        let trace = place.finish(command).json();
        assert_eq!(place.read("uid"), "65534\n");
        // What is written is for who called.
        assert_eq!(fs::metadata(place.path("r.json")).unwrap().uid(), 65534);
        assert_eq!(trace["plan"]["user"]["because"], "sudo");
        assert_eq!(trace["level"], level);
    }
}

#[test]
fn two_traces_at_once_do_not_disturb_each_other() {
    needs!(full());
    let place = Sandbox::open();
    let line = "i=0; while [ $i -lt 50 ]; do /bin/true; i=$((i+1)); done";
    let args = ["trace", "--json", "--untraced-runs", "0", line];
    let both = [place.start(&args), place.start(&args)];
    for running in both {
        let trace = running.wait().json();
        assert_eq!(trace["processes"]["forks"], 50);
        for class in ["ring", "map", "storage", "recursion"] {
            assert_eq!(trace["lost"][class], 0, "{}", trace["lost"]);
        }
    }
}
