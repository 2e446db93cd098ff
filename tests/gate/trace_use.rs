//! How `trace` is called, what it says of what it cannot do here, and what it cannot see of a program.

use std::process::Command;

use crate::support::needs::{full, given, machine, mounts, needs, root};
use crate::support::trace::{assert_whole, compile, nobody_traces, rows, traced, waited};
use crate::support::{PROGRAM, Sandbox};
use serde_json::Value;

#[test]
fn what_the_full_level_lacks_is_named() {
    let place = Sandbox::open();
    if given(mounts()) {
        let hidden = |mount: &str, level: &str| {
            place.shell(&format!(
                "unshare -m sh -c '{mount} && exec $0 trace -v --untraced-runs 0 --level {level} true' $whyfaster"
            ))
        };
        let without_btf = "mount -t tmpfs none /sys/kernel/btf";
        hidden(without_btf, "full").expect_error(6, &["BTF", "CONFIG_DEBUG_INFO_BTF"]);
        let ran = hidden(without_btf, "auto").ok();
        assert!(
            ran.out.contains("level: unprivileged") && ran.out.contains("the full level: BTF"),
            "{}",
            ran.out
        );
        // More privileges would not help, so none are asked for.
        assert!(!ran.out.contains("run as root"), "{}", ran.out);
        let locked = "mount -t tmpfs none /sys/kernel/security && \
                      echo \"none integrity [confidentiality]\" > /sys/kernel/security/lockdown";
        hidden(locked, "full").expect_error(6, &["locked down", "lockdown=integrity"]);
    }
    if given(root()) {
        let words =
            ["--bounding-set", "-all", "--inh-caps", "-all", PROGRAM, "trace", "--level", "full", "true"];
        place
            .finish(place.command("setpriv", &words))
            .expect_error(6, &["CAP_BPF", "--cap-add BPF --cap-add PERFMON"]);
        let namespaces = place.finish(place.command("unshare", &["-Ur", "true"])).code() == 0;
        needs!(machine(namespaces, "user namespaces"));
        let words = ["-Ur", PROGRAM, "trace", "--level", "full", "true"];
        let ran = place.finish(place.command("unshare", &words));
        ran.expect_error(6, &["user namespace", "outside of that namespace"]);
    }
}

#[test]
fn without_sys_each_level_does_what_it_can() {
    let place = Sandbox::open();
    needs!(mounts());
    for mount in ["/sys", "/sys/devices"] {
        let hidden = |args: &str| {
            place.shell(&format!(
                "unshare -m sh -c 'mount -t tmpfs none {mount} && exec $0 trace --untraced-runs 0 {args} true' $whyfaster"
            ))
        };
        for (args, level) in [
            ("", "unprivileged"),
            ("--level unprivileged", "unprivileged"),
            ("--level ptrace", "ptrace"),
            ("--level rusage", "rusage"),
        ] {
            let ran = hidden(&format!("{args} --json"));
            let trace = ran.json();
            assert_eq!(trace["level"], level, "{mount} {args}");
            assert!(!ran.err.contains("libbpf"), "{}", ran.err);
            let lacks = |row: &&Value| row["what"] == "the full level: the number of CPUs";
            assert_eq!(
                rows(&trace, "not_measured").iter().filter(lacks).count(),
                usize::from(args.is_empty())
            );
            if level == "unprivileged" {
                // Who ran where is seen nevertheless.
                assert!(
                    rows(&trace, "commands").iter().all(|row| !rows(row, "cpus").is_empty()),
                    "{trace:#}"
                );
            }
        }
        // Before the command runs, not after it.
        hidden("--level full touch ran")
            .expect_error(6, &["/sys/devices/system/cpu/possible", "a mounted /sys"]);
        assert!(!place.path("ran").exists());
    }
}

#[test]
fn options_that_a_level_ignores_are_refused() {
    let place = Sandbox::open();
    nobody_traces(&place, &["--count-only", "true"]).expect_error(6, &["--count-only", "full level"]);
    for level in ["unprivileged", "rusage"] {
        place.run(&["trace", "--level", level, "--count-only", "true"]).expect_error(6, &["--count-only"]);
    }
}

#[test]
fn words_behind_the_command_are_its_own() {
    let place = Sandbox::open();
    place.write("file", "x");
    let ran = place
        .run(&[
            "trace",
            "--level",
            "unprivileged",
            "--untraced-runs",
            "0",
            "--style",
            "none",
            "ls",
            "-l",
            "file",
        ])
        .ok();
    assert!(ran.out.starts_with("-rw") && ran.out.contains("file"), "{}", ran.out);
    let ran = place.run(&["trace", "--level", "rusage", "--untraced-runs", "0", "printf", "%s", "--json"]);
    ran.expect(0, &["'--json' stands behind the command"]);
}

#[test]
fn a_failing_command_says_why_beside_json() {
    let place = Sandbox::open();
    let ran = place.run(&[
        "trace",
        "--json",
        "--level",
        "rusage",
        "--untraced-runs",
        "1",
        "echo said; echo why >&2; exit 3",
    ]);
    assert_eq!(ran.json()["exit_status"], 3);
    // Of the traced run only: what runs again is silent, and announced before.
    ran.expect(0, &["why", "runs once more", "--untraced-runs 0"]);
    assert_eq!(ran.err.matches("why").count(), 1, "{}", ran.err);
    let ran = place.run(&[
        "trace",
        "--json",
        "--output",
        "null",
        "--level",
        "rusage",
        "--untraced-runs",
        "0",
        "echo why >&2",
    ]);
    assert_eq!(ran.err, "");
}

#[test]
fn a_command_of_which_only_the_end_is_seen_has_its_own_number() {
    let place = Sandbox::open();
    let trace = traced(&place, &["--level", "rusage", "echo $$ >pid"]);
    let pid: u64 = place.read("pid").trim().parse().unwrap();
    let task = &rows(&trace, "tasks")[0];
    assert_eq!((&task["pid"], &task["tid"]), (&pid.into(), &pid.into()), "{task}");
}

/// The documented paths of the JSON that other tools read: every row has every field, of the kind that is documented.
#[test]
fn the_documented_paths_of_the_json_are_there() {
    needs!(full());
    let place = Sandbox::open();
    let burn = "i=0; while [ $i -lt 30000 ]; do i=$((i+1)); done";
    let line = format!("env nosuch; (sleep 0.05; {burn}) & {burn} & wait; seq 2000 | sort | tail -n 1");
    let trace = traced(&place, &["--pin", "0", &line]);
    let lists: [(&str, &[&str], &[&str]); 4] = [
        (
            "syscalls",
            &["command", "name"],
            &["calls", "errors", "total_s", "cpu_s", "runnable_s", "blocked_s"],
        ),
        ("tasks", &["command"], &["pid", "running_user_s", "running_kernel_s", "runnable_s", "blocked_s"]),
        ("waits", &["command", "cause"], &["seconds", "count"]),
        ("cpu_sharers", &["command", "sharer", "kind"], &["seconds"]),
    ];
    for (list, words, numbers) in lists {
        assert!(!rows(&trace, list).is_empty(), "{list}");
        for row in rows(&trace, list) {
            assert!(words.iter().all(|key| row[*key].is_string()), "{list}: {row}");
            // Whoever did not return has no time.
            let gone = row["not_returned"].as_u64().is_some_and(|n| n > 0);
            assert!(gone || numbers.iter().all(|key| row[*key].is_number()), "{list}: {row}");
        }
    }
    assert!(rows(&trace, "waits").iter().any(|row| row["peer"].is_string()), "{:#}", trace["waits"]);
    let number = |path: &str| trace.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("{path}"));
    for key in ["forks", "execs", "failed_execs", "exits"] {
        assert!(number(&format!("/processes/{key}")) > 0.0, "{key}");
    }
    assert!(number("/wall_s") > 0.05 && number("/avoidable_wait_s") >= 0.0);
    // On a machine whose speed moves too much it is not known, and that is said.
    let share = &trace["overhead"]["calibrated_share"];
    let said =
        rows(&trace, "not_measured").iter().any(|row| row["quantity"]["kind"] == "calibrated_overhead");
    assert!(share.as_f64().map_or(said, |share| share > 0.0 && !said), "{:#}", trace["overhead"]);
    for class in ["ring", "map", "storage", "string", "stack", "recursion", "unfinished"] {
        number(&format!("/lost/{class}"));
    }
    assert_eq!(trace["level"], "full");
    assert_whole(&trace);
    let twice = place.run(&["trace", "--json", "--untraced-runs", "2", "true"]).json();
    let of = |key: &str| twice["overhead"]["untraced"][key].as_f64().unwrap();
    let ratio = twice["overhead"]["traced_over_untraced"].as_f64().unwrap();
    assert!(of("runs") > 1.5 && of("low") <= ratio && ratio <= of("high"), "{}", twice["overhead"]);
    for row in rows(&trace, "critical_path") {
        assert!(row["command"].is_string() && row["kind"].is_string() && row["seconds"].is_number(), "{row}");
    }
}

/// A 32-bit program without any library: calls with the old table, of which some fail and one waits.
const OLD: &str = r#"
static int call(int n, int a, int b, int c) {
    int r;
    __asm__ volatile("int $0x80" : "=a"(r) : "a"(n), "b"(a), "c"(b), "d"(c) : "memory");
    return r;
}
void _start(void) {
    struct { int s, ns; } t = {0, 100000000};
    for (int i = 0; i < 100; i++) call(64, 0, 0, 0);     /* getppid */
    call(5, (int)"/no/such", 0, 0);                      /* open */
    int child = call(2, 0, 0, 0);                        /* fork */
    if (!child) { call(162, (int)&t, 0, 0); call(1, 3, 0, 0); } /* nanosleep, exit */
    call(7, child, 0, 0);                                /* waitpid */
    call(1, 0, 0, 0);
}
"#;

#[test]
fn a_32_bit_program_is_counted_by_its_own_table() {
    let place = Sandbox::open();
    place.write("old.c", OLD);
    let program = place.file("old");
    let source = place.file("old.c");
    let words = ["-m32", "-O1", "-nostdlib", "-static", "-fno-pic", "-no-pie", "-o", &program, &source];
    let made = place.finish(place.command("gcc", &words)).code() == 0;
    let runs = made && Command::new(&program).status().is_ok_and(|status| status.success());
    needs!(machine(runs, "32-bit programs"));
    let mut levels = vec!["--level=ptrace"];
    if given(full()) {
        levels.push("--level=full");
    }
    for level in levels {
        let trace = traced(&place, &[level, "-N", &program]);
        let count = |name: &str| -> (u64, u64) {
            let of = rows(&trace, "syscalls").iter().filter(|row| row["name"] == name);
            of.fold((0, 0), |(calls, errors), row| {
                (calls + row["calls"].as_u64().unwrap(), errors + row["errors"].as_u64().unwrap())
            })
        };
        let wanted = [
            ("getppid", (100, 0)),
            ("open", (1, 1)),
            ("fork", (1, 0)),
            ("waitpid", (1, 0)),
            ("exit", (2, 0)),
        ];
        for (name, calls) in wanted {
            assert_eq!(count(name), calls, "{level} {name}");
        }
        if level.contains("full") {
            let slept = waited(&trace, "old (forked)", "timer");
            let child = waited(&trace, "old", "child");
            assert!(slept >= 0.09 && child >= 0.09, "{:#}", trace["waits"]);
            let said = |row: &Value| row["what"].as_str().unwrap().contains("32-bit");
            assert!(rows(&trace, "not_measured").iter().any(said), "{:#}", trace["not_measured"]);
        }
    }
}

/// Reads a file twenty times through a ring, by the bare calls.
const RING: &str = r#"
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/io_uring.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#define AT(base, offset) ((unsigned *)((char *)(base) + (offset)))
int main(void) {
    struct io_uring_params p;
    memset(&p, 0, sizeof p);
    int ring = syscall(SYS_io_uring_setup, 8, &p);
    if (ring < 0) return 77;
    int prot = PROT_READ | PROT_WRITE, flags = MAP_SHARED | MAP_POPULATE;
    void *sq = mmap(0, p.sq_off.array + p.sq_entries * 4, prot, flags, ring, IORING_OFF_SQ_RING);
    void *cq = mmap(0, p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe), prot, flags, ring, IORING_OFF_CQ_RING);
    struct io_uring_sqe *entries = mmap(0, p.sq_entries * sizeof *entries, prot, flags, ring, IORING_OFF_SQES);
    static char buffer[4096];
    int file = open("/proc/self/exe", O_RDONLY);
    for (int i = 0; i < 20; i++) {
        unsigned at = *AT(sq, p.sq_off.tail) & *AT(sq, p.sq_off.ring_mask);
        memset(&entries[at], 0, sizeof entries[at]);
        entries[at].opcode = IORING_OP_READ;
        entries[at].fd = file;
        entries[at].len = sizeof buffer;
        entries[at].addr = (unsigned long)buffer;
        AT(sq, p.sq_off.array)[at] = at;
        __atomic_add_fetch(AT(sq, p.sq_off.tail), 1, __ATOMIC_RELEASE);
        if (syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, 0, 0) < 0) return 78;
        __atomic_add_fetch(AT(cq, p.cq_off.head), 1, __ATOMIC_RELEASE);
    }
    return 0;
}
"#;

#[test]
fn what_goes_through_io_uring_is_said_to_be_unseen() {
    needs!(full());
    let place = Sandbox::open();
    let program = compile(&place, "ring", RING);
    needs!(machine(place.finish(place.command(&program, &[])).code() != 77, "io_uring"));
    let trace = traced(&place, &["-N", &program]);
    assert_eq!(trace["exit_status"], 0);
    let calls = rows(&trace, "syscalls").iter().find(|row| row["name"] == "io_uring_enter").unwrap();
    assert_eq!(calls["calls"], 20);
    let said = |row: &Value| row["what"].as_str().unwrap().contains("io_uring");
    assert!(rows(&trace, "warnings").iter().any(said), "{:#}", trace["warnings"]);
}

/// Runs a command in a filter as containers have it: no bpf, no ptrace, no perf events.
const DENY: &str = r#"
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv) {
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 3, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_bpf, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
    };
    struct sock_fprog filter = {sizeof rules / sizeof *rules, rules};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)) return 77;
    execv(argv[1], argv + 1);
    return 78;
}
"#;

#[test]
fn where_everything_is_forbidden_the_times_of_the_command_remain() {
    let place = Sandbox::open();
    let deny = compile(&place, "deny", DENY);
    needs!(machine(
        place.finish(place.command(&deny, &["/bin/true"])).code() == 0,
        "filters of system calls"
    ));
    let run = |words: &[&str]| {
        place.finish(place.command(&deny, &[&[PROGRAM, "trace", "--untraced-runs", "0"], words].concat()))
    };
    let ran = run(&["--json", "sleep 0.1"]);
    let trace = ran.json();
    assert_eq!((trace["level"].as_str(), trace["exit_status"].as_i64()), (Some("rusage"), Some(0)));
    assert!(trace["wall_s"].as_f64().unwrap() >= 0.1, "{}", trace["wall_s"]);
    let why: Vec<&str> = rows(&trace, "not_measured").iter().filter_map(|row| row["why"].as_str()).collect();
    assert!(why.iter().any(|why| why.contains("SYS_PTRACE")), "{why:#?}");
    run(&["--level", "ptrace", "true"]).expect_error(6, &["ptrace", "SYS_PTRACE"]);
    run(&["--level", "unprivileged", "true"]).expect_error(6, &["ptrace", "SYS_PTRACE"]);
    run(&["--calls", "true"]).expect_error(6, &["--calls"]);
}
