//! What the full level counts, against `strace`, and what it streams of a tree. Needs root or `CAP_BPF` and `CAP_PERFMON`;
//! without them each test is skipped.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use common::skip::{machine, root};

use common::{able, compiled, compiled_with, needs, sh, strace, trace, whole};
use libbpf_rs::query::ProgInfoIter;
use whyfaster_core::trace::counts::CallGroup;
use whyfaster_core::trace::event::What;
use whyfaster_trace::{CallsBy, Full, Wanted};

/// Compares with `strace -f -c`, call by call, calls and errors.
fn same_as_strace(argv: &[&str]) {
    needs!(able());
    let t = whole(trace(&Wanted::default(), argv));
    assert_eq!(t.calls(), strace(argv), "{argv:?}");
}

#[test]
fn a_tree_is_seen_whole_from_its_first_exec() {
    needs!(able());
    let t = whole(sh(&Wanted::default(), "/bin/true; /bin/true & wait; exec /bin/true"));
    assert_eq!(t.execs(), ["sh", "true", "true", "true"]);
    assert_eq!((t.forks(), t.ends()), (3, 3));
    assert_eq!(t.status, 0);
    assert_eq!(t.entered(libc::SYS_execve), 4);
    let first = t.events.iter().find(|e| matches!(e.what, What::Fork { .. })).unwrap();
    assert!(matches!(first.what, What::Fork { parent: 0, .. }), "{first:?}");
}

#[test]
fn events_come_in_the_order_of_time() {
    needs!(able());
    let t = sh(&Wanted::default(), "for i in 1 2 3 4 5 6 7 8 9; do /bin/true | /bin/true; done");
    assert!(t.events.len() > 100);
    assert!(t.events.is_sorted_by_key(|e| e.at));
}

#[test]
fn calls_of_a_shell_script_equal_strace() {
    same_as_strace(&["sh", "-c", "for i in 1 2 3 4 5 6 7 8 9; do /bin/true; done; cd /; ls -d . >/dev/null"]);
}

#[test]
fn calls_of_many_small_ones_equal_strace() {
    same_as_strace(&["dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=5000"]);
}

#[test]
fn failed_execs_equal_strace_and_tell_their_paths() {
    let argv = ["sh", "-c", "PATH=/nowhere:/nor/here:/bin; export PATH; env true; env nonesuch; true"];
    same_as_strace(&argv);
    needs!(able());
    let t = trace(&Wanted::default(), &argv);
    let failed: Vec<_> = t
        .events
        .iter()
        .filter_map(|e| match &e.what {
            What::ExecFailed { path, errno, .. } => Some((path.clone().unwrap(), *errno)),
            _ => None,
        })
        .collect();
    let paths: Vec<&str> = failed.iter().map(|(p, _)| p.as_str()).collect();
    assert_eq!(
        paths,
        ["/nowhere/true", "/nor/here/true", "/nowhere/nonesuch", "/nor/here/nonesuch", "/bin/nonesuch"]
    );
    assert!(failed.iter().all(|(_, errno)| *errno == libc::ENOENT), "{failed:?}");
}

#[test]
fn vfork_and_a_killed_child_equal_strace() {
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(
        r#"
        #define _GNU_SOURCE
        #include <signal.h>
        #include <sys/wait.h>
        #include <unistd.h>
        int main(void) {
            for (int i = 0; i < 20; i++) {
                pid_t pid = vfork();
                if (!pid) { execl("/nonesuch", "x", (char *)0); execl("/bin/true", "true", (char *)0); _exit(1); }
                waitpid(pid, 0, 0);
            }
            pid_t pid = fork();
            if (!pid) for (;;) pause();
            usleep(50000);
            kill(pid, SIGKILL);
            waitpid(pid, 0, 0);
            return 0;
        }"#,
        directory.path(),
    );
    same_as_strace(&[&program]);
    needs!(able());
    let t = trace(&Wanted::default(), &[&program]);
    let killed = |w: &What| matches!(w, What::End { status: Some(s), .. } if *s == -libc::SIGKILL);
    assert_eq!(t.how_many(killed), 1);
    let ended = t.counts.calls.iter().filter(|c| c.not_returned > 0);
    let ended: Vec<_> = ended.map(|c| (i64::from(c.call.number), c.not_returned)).collect();
    assert!(ended.contains(&(libc::SYS_pause, 1)), "{ended:?}");
}

#[test]
fn thread_groups_equal_strace() {
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(
        r#"
        #define _GNU_SOURCE
        #include <sched.h>
        #include <sys/syscall.h>
        #include <unistd.h>
        static char stacks[8][65536] __attribute__((aligned(16)));
        static int body(void *argument) {
            for (int i = 0; i < 1000; i++) syscall(SYS_getppid);
            syscall(SYS_exit, 0);
            return 0;
        }
        int main(void) {
            int ends[2];
            char byte;
            if (pipe(ends)) return 1;
            for (int i = 0; i < 8; i++)
                clone(body, stacks[i] + 65536, CLONE_VM | CLONE_FS | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM, 0);
            /* Each has the pipe until its end, however slow the machine is. */
            close(ends[1]);
            if (read(ends[0], &byte, 1)) return 1;
            syscall(SYS_exit_group, 3);
        }"#,
        directory.path(),
    );
    same_as_strace(&[&program]);
    needs!(able());
    let t = trace(&Wanted::default(), &[&program]);
    assert_eq!(t.entered(libc::SYS_getppid), 8000);
    assert_eq!((t.forks(), t.ends()), (9, 9));
    assert_eq!((t.entered(libc::SYS_exit), t.entered(libc::SYS_exit_group)), (8, 1));
    let processes: std::collections::BTreeSet<u32> = t
        .events
        .iter()
        .filter_map(|e| if let What::Fork { process, .. } = e.what { Some(process) } else { None })
        .collect();
    assert_eq!(processes.len(), 1);
}

#[test]
fn an_exec_of_another_thread_takes_over_the_number() {
    needs!(able());
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(
        r#"
        #include <pthread.h>
        #include <unistd.h>
        static void *body(void *argument) { usleep(20000); execl("/bin/true", "true", (char *)0); return 0; }
        int main(void) { pthread_t t; pthread_create(&t, 0, body, 0); pthread_join(t, 0); return 1; }"#,
        directory.path(),
    );
    let t = trace(&Wanted::default(), &[&program]);
    assert_eq!((t.status, t.forks(), t.ends()), (0, 2, 2));
    let exec = t.events.iter().find_map(|e| match &e.what {
        What::Exec { task, former, name, .. } if name == "true" => Some((*task, *former)),
        _ => None,
    });
    let (task, former) = exec.unwrap();
    assert_ne!(task, former);
}

#[test]
fn a_daemon_is_followed_when_nobody_is_left_above_it() {
    needs!(able());
    let t = sh(&Wanted::default(), "(setsid sh -c 'sleep 0.2; /bin/true' &) ; exit 7");
    assert_eq!(t.status >> 8, 7);
    assert_eq!(t.forks(), t.ends());
    assert!(t.execs().contains(&"true".to_owned()), "{:?}", t.execs());
}

#[test]
fn a_storm_of_processes_is_counted_exactly() {
    needs!(able());
    let t = whole(sh(&Wanted::default(), "seq 500 | xargs -P4 -I{} /bin/true {}"));
    assert_eq!(t.execs().iter().filter(|n| *n == "true").count(), 500);
    assert_eq!(t.forks(), t.ends());
    assert_eq!(t.entered(libc::SYS_wait4), t.calls()[&common::number("wait4")].0);
}

#[test]
fn a_forked_child_counts_apart_until_its_exec() {
    needs!(able());
    let t = sh(&Wanted::default(), "PATH=/nowhere:/bin; true | nice /bin/true; /nonesuch");
    let groups: Vec<&CallGroup> = t.counts.calls.iter().map(|c| &c.by).collect();
    assert!(groups.iter().any(|g| g.name == "sh" && g.forked), "{groups:?}");
    assert!(groups.iter().any(|g| g.name == "true" && !g.forked), "{groups:?}");
    assert!(groups.iter().all(|g| g.process.is_none()));
}

#[test]
fn by_process_every_process_has_its_own_counts() {
    needs!(able());
    let wanted = Wanted { calls_by: CallsBy::Process, ..Wanted::default() };
    let t = whole(sh(&wanted, "seq 700 | xargs -n1 /bin/true"));
    let exits: Vec<_> = t
        .counts
        .calls
        .iter()
        .filter(|c| i64::from(c.call.number) == libc::SYS_exit_group && c.by.name == "true")
        .collect();
    assert_eq!(exits.len(), 700);
    assert!(exits.iter().all(|c| c.entered == 1 && c.not_returned == 1 && c.by.process.is_some()));
}

#[test]
fn only_counting_gives_counts_and_no_times() {
    needs!(able());
    let wanted = Wanted { call_times: false, scheduling: false, ..Wanted::default() };
    let t = trace(&wanted, &["dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=2000"]);
    let read = t.counts.calls.iter().filter(|c| i64::from(c.call.number) == libc::SYS_read);
    assert!(read.clone().all(|c| c.total_ns.is_none() && c.max_ns.is_none() && c.failed_ns.is_none()));
    assert!(read.map(|c| c.entered).sum::<u64>() >= 2000);
    assert_eq!(t.how_many(|w| matches!(w, What::Spent { .. } | What::Started { .. })), 0);
    assert_eq!(t.how_many(|w| matches!(w, What::Switch { .. })), 0);
    assert_eq!((t.forks(), t.ends()), (1, 1));
}

#[cfg(target_arch = "x86_64")]
#[test]
fn calls_of_the_32_bit_table_are_told_apart() {
    needs!(able());
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(
        r#"
        int main(void) {
            long r;
            for (int i = 0; i < 100; i++) __asm__ volatile("int $0x80" : "=a"(r) : "a"(20L) : "r8", "r9", "r10", "r11", "memory");
            return r <= 0;
        }"#,
        directory.path(),
    );
    let t = trace(&Wanted::default(), &[&program]);
    needs!(machine(t.status == 0, "32-bit calls"));
    let compat: Vec<_> =
        t.counts.calls.iter().filter(|c| c.call.compat).map(|c| (c.call.number, c.entered)).collect();
    assert_eq!(compat, [(20, 100)]);
}

/// Its start-up is not known: a loader's calls are known by the other table only.
#[cfg(target_arch = "x86_64")]
#[test]
fn of_a_32_bit_program_a_failed_exec_is_told_and_no_start_up() {
    needs!(able());
    let directory = tempfile::tempdir().unwrap();
    // Without a library: those of 32-bit programs are not everywhere.
    let program = compiled_with(
        &["-m32", "-nostdlib", "-static", "-fno-pie", "-no-pie", "-fno-stack-protector"],
        r#"
        static const char path[] = "/no/such/program";
        static void call(long number, long a, long b, long c) {
            __asm__ volatile("int $0x80" : "+a"(number) : "b"(a), "c"(b), "d"(c) : "memory");
        }
        void _start(void) {
            const char *names[] = {path, 0};
            call(11, (long)path, (long)names, (long)(names + 1));
            call(1, 0, 0, 0);
        }"#,
        directory.path(),
    );
    let t = trace(&Wanted::default(), &[&program]);
    needs!(machine(t.status == 0, "32-bit programs"));
    assert_eq!(t.counts.lives.failed_execs, Some(1));
    let told = t.events.iter().find_map(|e| match &e.what {
        What::ExecFailed { path, errno, .. } => Some((path.as_deref(), *errno)),
        _ => None,
    });
    assert_eq!(told, Some((Some("/no/such/program"), libc::ENOENT)));
    assert_eq!(t.how_many(|w| matches!(w, What::Started { .. })), 0);
}

/// The verifier follows so many instructions of each of these two programs at most. Linux 6.18 follows 13,077 and 10,330.
const VERIFIED: u32 = 20_000;

/// A trace of a short command is loading for the most part.
#[test]
fn the_kernel_verifies_the_largest_programs_quickly() {
    needs!(able());
    needs!(root());
    let before = ProgInfoIter::default().map(|it| it.id).max().unwrap_or(0);
    let _loaded = Full::open(&Wanted::default()).unwrap();
    let verified: Vec<_> = ProgInfoIter::default()
        .filter(|it| it.id > before && ["call_ends", "cpu_switches"].iter().any(|name| it.name == *name))
        .map(|it| (it.name, it.verified_insns))
        .collect();
    assert!(verified.len() >= 2, "{verified:?}");
    assert!(verified.iter().all(|(_, instructions)| *instructions <= VERIFIED), "{verified:?}");
}
