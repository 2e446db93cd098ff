//! Counts of a trace are those of `strace -f -c`, at the full level and by ptrace; the tree is complete.

#![expect(clippy::unwrap_used, reason = "a test ends by panicking")]

use crate::support::Sandbox;
use crate::support::needs::{full, given, needs, perf_events, tool};
use crate::support::trace::{compile, nobody_traces, returned_calls, rows, strace, traced};

/// Programs that do the same every time: vfork, clone, execs that fail, thread groups, children that are killed, exit_group.
const FORKS: &str = r#"
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static void *thread(void *x) { for (int i = 0; i < 50; i++) getppid(); return x; }
int main(void) {
    char *none[] = {"none", NULL};
    for (int i = 0; i < 20; i++) {
        pid_t child = i % 2 ? vfork() : fork();
        if (!child) { execv("/no/such/program", none); execv("/no/such/other", none); _exit(1); }
        waitpid(child, NULL, 0);
    }
    for (int i = 0; i < 5; i++) {
        int gate[2]; char byte;
        if (pipe(gate)) return 1;
        pid_t child = fork();
        if (!child) { write(gate[1], "x", 1); for (;;) pause(); }
        read(gate[0], &byte, 1);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        close(gate[0]); close(gate[1]);
    }
    pthread_t t[4];
    for (int i = 0; i < 4; i++) { pthread_create(&t[i], NULL, thread, NULL); pthread_join(t[i], NULL); }
    for (int i = 0; i < 1000; i++) getppid();
    exit(3);
}
"#;

/// A call that a signal always interrupts. The return from the handler gives the call's error back, and strace counts that
/// as one of `rt_sigreturn`.
const SIGNALS: &str = r#"
#include <signal.h>
#include <unistd.h>
static void nothing(int signal) { (void)signal; }
int main(void) {
    sigset_t alarms, none;
    signal(SIGALRM, nothing);
    sigemptyset(&none);
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    sigprocmask(SIG_BLOCK, &alarms, NULL);
    for (int i = 0; i < 7; i++) { ualarm(1000, 0); sigsuspend(&none); }
    return 0;
}
"#;

/// Executes itself so many times, each time from a thread that is not the first one, which has had 20 ms of CPU time by then.
const EXECS: &str = r#"
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static char *words[3], left[16];
static void *thread(void *x) {
    for (int i = 0; i < 30; i++) getppid();
    execv(words[0], words);
    return x;
}
int main(int argc, char **argv) {
    int more = argc > 1 ? atoi(argv[1]) : 0;
    struct timespec ran;
    if (!more) return 4;
    do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ran); while (ran.tv_nsec < 20000000);
    snprintf(left, sizeof left, "%d", more - 1);
    words[0] = argv[0];
    words[1] = left;
    pthread_t t;
    pthread_create(&t, NULL, thread, NULL);
    for (;;) pause();
}
"#;

fn same_as_strace(place: &Sandbox, level: &[&str], command: &[&str]) {
    same_as_strace_but(place, level, command, &[]);
}

/// But for calls that it makes as often as chance will have it.
fn same_as_strace_but(place: &Sandbox, level: &[&str], command: &[&str], chance: &[&str]) {
    let wanted = strace(place, command);
    assert!(wanted.len() > 5, "strace saw nothing");
    let trace = traced(place, &[level, &["-N", "--strict", "--"], command].concat());
    // A woken thread may find its join done or not: whether futex is called depends on who was first. So does whether a
    // child's end interrupts a call of the shell.
    let shell = command[0] == "sh";
    let fixed = |rows: &[(String, u64, u64)]| -> Vec<(String, u64, u64)> {
        rows.iter()
            .filter(|(name, ..)| name != "futex" && !(shell && name == "rt_sigreturn"))
            .filter(|(name, ..)| !chance.contains(&name.as_str()))
            .cloned()
            .collect()
    };
    assert_eq!(fixed(&returned_calls(&trace)), fixed(&wanted), "{command:?} {level:?}");
}

fn programs(place: &Sandbox) -> Vec<Vec<String>> {
    let forks = compile(place, "forks", FORKS);
    let shell = "i=0; while [ $i -lt 20 ]; do /bin/true; i=$((i+1)); done; env nosuch; exit 3";
    vec![
        vec![forks],
        vec![compile(place, "signals", SIGNALS)],
        vec!["sh".into(), "-c".into(), shell.into()],
        vec!["dd".into(), "if=/dev/zero".into(), "of=/dev/null".into(), "bs=1".into(), "count=2000".into()],
    ]
}

#[test]
fn the_full_level_counts_as_strace_does() {
    needs!(full().and(tool("strace")));
    let place = Sandbox::new();
    for program in programs(&place) {
        let words: Vec<&str> = program.iter().map(String::as_str).collect();
        same_as_strace(&place, &["--level", "full"], &words);
    }
}

#[test]
fn ptrace_counts_as_strace_does() {
    needs!(tool("strace"));
    let place = Sandbox::new();
    for program in programs(&place) {
        let words: Vec<&str> = program.iter().map(String::as_str).collect();
        same_as_strace(&place, &["--level", "ptrace"], &words);
    }
}

/// Forks, threads, execs, exits of a program that is known.
fn tree(trace: &serde_json::Value) -> [u64; 5] {
    ["forks", "threads", "execs", "exits", "alive"].map(|key| trace["processes"][key].as_u64().unwrap())
}

#[test]
fn every_level_sees_the_same_tree() {
    let place = Sandbox::open();
    let forks = compile(&place, "forks", FORKS);
    let levels: &[&[&str]] = &[&["--level", "unprivileged"], &["--level", "ptrace"], &["--level", "full"]];
    for level in levels {
        if level.contains(&"full") && !given(full()) {
            continue;
        }
        let trace = traced(&place, &[level, &["-N", &forks][..]].concat());
        assert_eq!(tree(&trace), [25, 4, 1, 26, 0], "{level:?}");
        assert_eq!(trace["exit_status"], 3, "{level:?}");
        if !level.contains(&"unprivileged") {
            assert_eq!(trace["processes"]["failed_execs"], 40, "{level:?}");
            let search = &rows(&trace, "searches");
            assert!(!search.is_empty(), "{level:?}");
        } else {
            assert!(trace["processes"]["failed_execs"].is_null());
        }
    }
}

#[test]
fn a_program_that_a_thread_begins_is_counted_and_the_first_thread_as_well() {
    needs!(tool("strace"));
    let place = Sandbox::open();
    let execs = compile(&place, "execs", EXECS);
    let levels: &[&[&str]] = &[&["--level", "unprivileged"], &["--level", "ptrace"], &["--level", "full"]];
    for level in levels {
        if level.contains(&"full") && !given(full()) {
            continue;
        }
        if !level.contains(&"unprivileged") {
            // The first thread asks for its clock as often as the CPU is fast. The exec of the other thread ends it: within
            // clone3, or behind that, where it restores its signal mask, or later.
            same_as_strace_but(&place, level, &[&execs, "3"], &["clock_gettime", "clone3", "rt_sigprocmask"]);
        }
        let trace = traced(&place, &[level, &["-N", "--", &execs, "3"][..]].concat());
        assert_eq!(tree(&trace), [0, 3, 4, 1, 0], "{level:?}");
        if !level.contains(&"unprivileged") {
            let entered = |name: &str| -> u64 {
                let named = rows(&trace, "syscalls").iter().filter(|row| row["name"] == name);
                named.map(|row| row["calls"].as_u64().unwrap()).sum()
            };
            assert_eq!(entered("clone3"), 3, "{level:?}");
        }
        assert_eq!(trace["exit_status"], 4, "{level:?}");
        assert_eq!(
            (&trace["complete"], &trace["lost"]["unfinished"]),
            (&true.into(), &0.into()),
            "{level:?}: {} {}",
            trace["lost"],
            trace["checks"]
        );
        let ran: f64 = rows(&trace, "tasks").iter().map(|task| task["running_s"].as_f64().unwrap()).sum();
        // What a hypervisor takes is no running time. Without one of the three first threads at most 0.05 s would be left.
        assert!(ran > 0.05, "{level:?}: {ran} s, and the first threads had 0.06 s");
    }
}

#[test]
fn without_privileges_the_tree_is_whole_too() {
    let place = Sandbox::open();
    let forks = compile(&place, "forks", FORKS);
    let args = ["--json", "--untraced-runs", "0", "--level", "unprivileged", "-N", &forks];
    let trace = nobody_traces(&place, &args).json();
    assert_eq!(trace["level"], "unprivileged");
    assert_eq!(tree(&trace), [25, 4, 1, 26, 0]);
    assert!(rows(&trace, "not_measured").iter().any(|row| row["what"] == "system calls"));
    assert_eq!(rows(&trace, "syscalls").len(), 0);
    // Where perf events are allowed, it is known who ran where, and no switch is missing.
    if given(perf_events()) {
        assert!(
            rows(&trace, "commands").iter().all(|row| !rows(row, "cpus").is_empty()),
            "{:#}",
            trace["commands"]
        );
        assert_eq!((trace["lost"]["ring"].as_u64(), trace["lost"]["gaps"].as_u64()), (Some(0), Some(0)));
    }
    // The kernel's own account of what ran and waited.
    for task in rows(&trace, "tasks") {
        assert!(task["running_s"].as_f64().unwrap() > 0.0, "{task}");
        assert!(task["runnable_s"].as_f64().unwrap() >= 0.0, "{task}");
    }
}

#[test]
fn who_forks_twice_and_leaves_the_session_is_followed_to_the_end() {
    let place = Sandbox::open();
    let line = "(setsid sh -c '(sleep 0.4; /bin/true) &' &) ; exit 0";
    let mut levels = vec!["unprivileged"];
    if given(full()) {
        levels.push("full");
    }
    for level in levels {
        let trace = traced(&place, &["--level", level, line]);
        let [forks, _, execs, exits, alive] = tree(&trace);
        assert_eq!((exits, alive), (forks + 1, 0), "{level}");
        assert!(execs >= 5, "{level}: {execs}");
        assert!(trace["wall_s"].as_f64().unwrap() >= 0.4, "{level}: it did not wait");
        assert!(rows(&trace, "tree").iter().any(|row| row["command"] == "sleep"), "{level}");
    }
}

#[test]
fn without_privileges_the_stacks_of_user_code_are_seen() {
    let place = Sandbox::open();
    let burn = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
    needs!(perf_events());
    nobody_traces(&place, &["--level", "unprivileged", "--untraced-runs", "0", "--folded", "f", burn]).ok();
    let folded = place.read("f");
    assert!(folded.lines().any(|line| line.starts_with("on-CPU;sh;")), "{folded}");
}

#[test]
fn rusage_says_what_it_does_not_see() {
    let place = Sandbox::open();
    let trace = nobody_traces(&place, &["--json", "--level", "rusage", "seq 100000 | tail -n 1"]).json();
    assert_eq!(trace["level"], "rusage");
    assert!(trace["wall_s"].as_f64().unwrap() > 0.0);
    assert_eq!(rows(&trace, "syscalls").len() + rows(&trace, "waits").len(), 0);
    assert!(rows(&trace, "not_measured").len() >= 3);
    assert!(trace["overhead"]["traced_over_untraced"].as_f64().unwrap() > 0.0);
}
