//! What the full level tells beside times and counts: calls' share of the CPU time on the way, the start-up of programs,
//! kinds of files, bytes, time of failed calls, and what a futex is waited for.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::collections::BTreeMap;

use common::skip::machine;
use common::{Traced, able, compiled, needs, sh, trace, whole};
use whyfaster_core::trace::counts::CallCell;
use whyfaster_core::trace::event::{Event, FileKind, Tid, What};
use whyfaster_trace::Wanted;

/// Builds and traces a C program.
fn program(source: &str) -> Traced {
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(source, directory.path());
    let t = whole(trace(&Wanted::default(), &[&program]));
    assert_eq!(t.status, 0);
    t
}

/// Entered, bytes and total time of a call by kind of file.
fn by_file(t: &Traced, call: libc::c_long, command: &str) -> BTreeMap<FileKind, (u64, u64)> {
    let mut sums: BTreeMap<FileKind, (u64, u64)> = BTreeMap::new();
    for c in t.counts.calls.iter().filter(|c| i64::from(c.call.number) == call && c.by.name == command) {
        let sum = sums.entry(c.file).or_default();
        *sum = (sum.0 + c.entered, sum.1 + c.bytes.unwrap());
    }
    sums
}

/// Tasks and figures of the starts.
fn started(events: &[Event]) -> Vec<(usize, Tid, u64, u64)> {
    let of = |(i, e): (usize, &Event)| match e.what {
        What::Started { task, run_ns, call_run_ns } => Some((i, task, run_ns, call_run_ns)),
        _ => None,
    };
    events.iter().enumerate().filter_map(of).collect()
}

#[test]
fn time_in_calls_is_told_at_switches_wake_ups_and_forks() {
    needs!(able());
    let t = sh(&Wanted::default(), "for i in 1 2 3; do echo $i | cat | cat; /bin/true; done; sleep 0.01");
    let mut last: BTreeMap<Tid, u64> = BTreeMap::new();
    let (mut switches, mut wakes, mut forks) = (0, 0, 0);
    for (i, e) in t.events.iter().enumerate() {
        match &e.what {
            What::Spent { task, call_run_ns } => {
                let before = last.insert(*task, *call_run_ns).unwrap_or(0);
                assert!(before <= *call_run_ns, "{before} ns, then {call_run_ns} ns");
                let next = t.events[i + 1..].iter().find(|n| n.cpu == e.cpu).unwrap();
                assert_eq!(next.at, e.at);
                match &next.what {
                    What::Switch { prev, .. } if prev == task => switches += 1,
                    What::Wake { waker, .. } if waker == task => wakes += 1,
                    What::Fork { parent, .. } if parent == task => forks += 1,
                    other => panic!("time in calls of {task} before {other:?}"),
                }
            }
            What::End { task, totals, .. } => {
                let all = totals.call_run_ns.unwrap();
                assert!(last[task] <= all, "{} ns of {all} ns", last[task]);
                assert!(all <= totals.on_cpu_ns() + 2_000_000);
            }
            _ => {}
        }
    }
    assert!(switches > 10 && wakes > 5, "{switches} switches, {wakes} wake-ups");
    assert_eq!(forks, t.forks() - 1);
}

#[test]
fn a_call_in_progress_is_part_of_the_time_in_calls() {
    needs!(able());
    // One call that runs for long and is left now and then by a preemption: its time shows before it ends.
    let t = program(
        r#"
        #include <fcntl.h>
        #include <stdlib.h>
        #include <unistd.h>
        #include <sys/wait.h>
        int main(void) {
            static char buffer[1 << 24];
            int zero = open("/dev/zero", O_RDONLY);
            pid_t rival = fork();
            if (!rival) for (volatile int i = 0; i < 300000000; i++) ;
            for (int i = 0; i < 8; i++) if (read(zero, buffer, sizeof buffer) < 0) return 1;
            return waitpid(rival, 0, 0) < 0;
        }"#,
    );
    let end = |e: &Event| match &e.what {
        What::End { task, totals, .. } => Some((*task, totals.call_run_ns.unwrap())),
        _ => None,
    };
    let spent = |e: &Event| match &e.what {
        What::Spent { task, call_run_ns } => Some((*task, *call_run_ns)),
        _ => None,
    };
    let ends: BTreeMap<Tid, u64> = t.events.iter().filter_map(end).collect();
    let last: BTreeMap<Tid, u64> = t.events.iter().filter_map(spent).collect();
    // The parent waits for its rival at the end, so nearly all of its calls' time was told at that switch.
    let (first, all) = ends.iter().max_by_key(|(_, ns)| **ns).unwrap();
    assert!(last[first] * 10 > all * 9, "{} ns of {all} ns", last[first]);
}

#[test]
fn the_start_up_of_a_program_ends_before_it_does_anything() {
    needs!(able());
    let t = sh(&Wanted::default(), "/bin/true; /bin/true & wait; cat /etc/hostname; awk 'BEGIN { print 1 }'");
    let starts = started(&t.events);
    assert_eq!(starts.len(), t.execs().len());
    for (i, task, run, calls) in &starts {
        assert!(*run > 0 && calls <= run, "{run} ns, {calls} ns in calls");
        // Behind the exec, before its first fork and before its end.
        let of = |e: &Event| match &e.what {
            What::Exec { task: it, .. } => it == task,
            What::Fork { parent, .. } => parent == task,
            What::End { task: it, .. } => it == task,
            _ => false,
        };
        let before = t.events[..*i].iter().rev().find(|e| of(e)).unwrap();
        assert!(matches!(before.what, What::Exec { .. }), "{before:?}");
        let whole = t.events.iter().find_map(|e| match &e.what {
            What::End { task: it, totals, .. } if it == task => Some(totals.on_cpu_ns()),
            _ => None,
        });
        assert!(*run <= whole.unwrap(), "{run} ns of {whole:?}");
    }
}

#[test]
fn what_a_program_computes_is_no_start_up() {
    needs!(able());
    // Computes for long; then looks at the system's files, which would otherwise look like a part of the start-up.
    let t = program(
        r#"
        #include <fcntl.h>
        #include <unistd.h>
        int main(void) {
            for (volatile long i = 0; i < 200000000; i++) ;
            close(open("/etc/hostname", O_RDONLY));
            return 0;
        }"#,
    );
    let starts = started(&t.events);
    assert_eq!(starts.len(), 1);
    let run = t.events.iter().find_map(|e| match &e.what {
        What::End { totals, .. } => Some(totals.on_cpu_ns()),
        _ => None,
    });
    assert!(starts[0].2 * 4 < run.unwrap(), "{} ns of {run:?}", starts[0].2);
}

#[test]
fn a_programs_own_input_ends_its_start_up() {
    needs!(able());
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("input");
    std::fs::write(&file, vec![b'x'; 50_000_000]).unwrap();
    let t = trace(&Wanted::default(), &["wc", "-l", file.to_str().unwrap()]);
    let run = t.events.iter().find_map(|e| match &e.what {
        What::End { totals, .. } => Some(totals.on_cpu_ns()),
        _ => None,
    });
    let starts = started(&t.events);
    assert_eq!(starts.len(), 1);
    assert!(starts[0].2 * 2 < run.unwrap(), "{} ns of {run:?}", starts[0].2);
}

#[test]
fn transfers_are_counted_by_kind_of_file_with_their_bytes() {
    needs!(able());
    let t = sh(&Wanted::default(), "dd if=/dev/zero bs=1 count=1000 2>/dev/null | cat > /dev/null");
    let zero = by_file(&t, libc::SYS_read, "dd")[&FileKind::CharDevice];
    assert_eq!(zero, (1000, 1000));
    assert_eq!(by_file(&t, libc::SYS_write, "dd")[&FileKind::Pipe], (1000, 1000));
    assert_eq!(by_file(&t, libc::SYS_read, "cat")[&FileKind::Pipe].1, 1000);
    assert_eq!(by_file(&t, libc::SYS_write, "cat")[&FileKind::CharDevice].1, 1000);
    // The loader of both reads the C library.
    assert!(by_file(&t, libc::SYS_read, "cat")[&FileKind::File].1 > 0);
    let other = t.counts.calls.iter().find(|c| i64::from(c.call.number) == libc::SYS_close).unwrap();
    assert_eq!((other.file, other.bytes), (FileKind::None, None));
}

#[test]
fn a_descriptor_that_is_used_again_is_looked_up_again() {
    needs!(able());
    let t = program(
        r#"
        #define _GNU_SOURCE
        #include <fcntl.h>
        #include <pthread.h>
        #include <unistd.h>
        static int ends[2], file;
        static void *renumber(void *x) { dup2(file, ends[1]); return x; }
        int main(void) {
            if (pipe(ends)) return 1;
            file = open("/dev/null", O_WRONLY);
            write(ends[1], "abc", 3);
            write(ends[1], "abc", 3);
            dup2(file, ends[0]);
            write(ends[0], "x", 1);
            close(ends[0]);
            ends[0] = open("/dev/zero", O_WRONLY);
            write(ends[0], "x", 1);
            pthread_t thread;
            pthread_create(&thread, 0, renumber, 0);
            pthread_join(thread, 0);
            write(ends[1], "y", 1);
            return 0;
        }"#,
    );
    let written = by_file(&t, libc::SYS_write, "program");
    let expected = [(FileKind::Pipe, (2, 6)), (FileKind::CharDevice, (3, 3))];
    assert_eq!(written, expected.into());
}

/// Bytes that were read, by path.
fn read_from(t: &Traced) -> BTreeMap<&str, u64> {
    let mut sums = BTreeMap::new();
    let reads = |c: &&CallCell| i64::from(c.call.number) == libc::SYS_read && c.file.has_path();
    for c in t.counts.calls.iter().filter(reads) {
        *sums.entry(c.path.as_deref().unwrap_or("")).or_default() += c.bytes.unwrap();
    }
    sums
}

/// Bytes of the file whose path ends so.
fn of_file(read: &BTreeMap<&str, u64>, end: &str) -> u64 {
    read.iter().filter(|(path, _)| path.ends_with(end)).map(|it| it.1).sum()
}

#[test]
fn a_file_is_told_by_its_path_from_the_call_on_that_takes_long() {
    needs!(able());
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().display();
    let t = program(&format!(
        r#"
        #include <fcntl.h>
        #include <pthread.h>
        #include <unistd.h>
        enum {{ ALL = 64 << 20, PIECE = 1 << 20 }};
        static char data[ALL];
        static int one, three;
        static int make(const char *path) {{
            int file = open(path, O_RDWR | O_CREAT, 0600);
            return ftruncate(file, ALL) ? -1 : file;
        }}
        static int pieces(void) {{
            for (int at = 0; at < ALL; at += PIECE) if (read(one, data, PIECE) != PIECE) return 1;
            return 0;
        }}
        static void *renumber(void *x) {{ dup2(three, one); return x; }}
        int main(void) {{
            one = make("{place}/one");
            if (read(one, data, ALL) != ALL) return 1;
            dup2(make("{place}/two \x1b[2J"), one);
            if (pieces()) return 2;
            three = make("{place}/three");
            pthread_t thread;
            pthread_create(&thread, 0, renumber, 0);
            pthread_join(thread, 0);
            return pieces();
        }}"#
    ));
    const ALL: u64 = 64 << 20;
    let read = read_from(&t);
    assert_eq!(of_file(&read, "/one"), ALL, "{read:?}");
    for end in ["/two \u{1b}[2J", "/three"] {
        assert!((ALL * 9 / 10..=ALL).contains(&of_file(&read, end)), "{end:?}: {read:?}");
    }
    let all: u64 = read.values().sum();
    assert!((3 * ALL..3 * ALL + (1 << 16)).contains(&all), "{all}: {read:?}");
}

#[test]
fn thousands_of_small_files_do_not_hide_a_large_one() {
    needs!(able());
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    for number in 0..3000 {
        std::fs::write(place.join(format!("small{number}")), "x").unwrap();
    }
    std::fs::write(place.join("large"), vec![b'x'; 32 << 20]).unwrap();
    let script =
        format!("cd {}; cat small* > copy; dd status=none if=large of=/dev/null bs=512", place.display());
    let t = whole(sh(&Wanted::default(), &script));
    let read = read_from(&t);
    let large = of_file(&read, "/large");
    assert!(large > (32 << 20) * 8 / 10, "{large}: {read:?}");
    assert!(read.len() < 256, "{}", read.len());
    assert_eq!(by_file(&t, libc::SYS_read, "dd")[&FileKind::File].1 >> 20, 32);
    assert_eq!(by_file(&t, libc::SYS_write, "dd")[&FileKind::CharDevice], (65_536, 32 << 20));
}

#[test]
fn calls_that_fail_have_their_time() {
    needs!(able());
    let t = program(
        r#"
        #include <unistd.h>
        int main(void) {
            for (int i = 0; i < 1000; i++) if (!chdir("/nonesuch")) return 1;
            return chdir("/");
        }"#,
    );
    let cell = t.counts.calls.iter().find(|c| i64::from(c.call.number) == libc::SYS_chdir).unwrap();
    let (all, failed) = (cell.total_ns.unwrap(), cell.failed_ns.unwrap());
    assert_eq!((cell.entered, cell.errors.as_slice()), (1001, [(libc::ENOENT, 1000)].as_slice()));
    assert!(failed < all && failed * 2 > all, "{failed} ns of {all} ns");
}

#[test]
fn a_wait_for_a_lock_is_told_from_one_for_a_thread() {
    needs!(able());
    let t = program(
        r#"
        #include <pthread.h>
        #include <unistd.h>
        static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
        static void *wait_for_lock(void *x) { pthread_mutex_lock(&lock); pthread_mutex_unlock(&lock); return x; }
        int main(void) {
            pthread_t thread;
            pthread_mutex_lock(&lock);
            pthread_create(&thread, 0, wait_for_lock, 0);
            usleep(200000);
            pthread_mutex_unlock(&lock);
            pthread_join(thread, 0);
            pthread_create(&thread, 0, (void *(*)(void *))usleep, (void *)200000);
            pthread_join(thread, 0);
            return 0;
        }"#,
    );
    let first = t.events.iter().find_map(|e| match &e.what {
        What::Exec { task, .. } => Some(*task),
        _ => None,
    });
    let waits = t.events.iter().filter_map(|e| match &e.what {
        What::Switch { prev, block: Some(b), .. } => {
            let futex = b.call.is_some_and(|c| i64::from(c.number) == libc::SYS_futex);
            futex.then_some((Some(*prev) == first, b.bitset))
        }
        _ => None,
    });
    let waits: Vec<_> = waits.collect();
    assert!(waits.contains(&(true, true)), "{waits:?}");
    assert!(waits.contains(&(false, false)), "{waits:?}");
    assert!(!waits.contains(&(false, true)), "{waits:?}");
}

#[test]
fn libraries_of_a_program_are_start_up_wherever_they_lie() {
    needs!(able());
    // An installation of its own: home/bin/program, which reads home/lib and a library beside it, and then its input.
    let directory = tempfile::tempdir().unwrap();
    let home = directory.path().join("home");
    let (bin, lib) = (home.join("bin"), home.join("lib"));
    std::fs::create_dir_all(&bin).unwrap();
    std::fs::create_dir_all(&lib).unwrap();
    for file in [lib.join("module"), home.join("libx.so.1"), home.join("input")] {
        std::fs::write(file, "xx").unwrap();
    }
    let built = compiled(
        r#"
        #include <fcntl.h>
        #include <string.h>
        #include <sys/mman.h>
        #include <unistd.h>
        int main(int count, char **files) {
            for (int i = 1; i < count; i++) {
                int file = open(files[i], O_RDONLY);
                char byte;
                if (file < 0 || read(file, &byte, 1) != 1) return 1;
                if (strstr(files[i], ".so") && mmap(0, 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0) == MAP_FAILED) return 2;
                close(file);
            }
            return 0;
        }"#,
        directory.path(),
    );
    let program = bin.join("program");
    std::fs::copy(built, &program).unwrap();
    let is_start_up = |file: &str| {
        let path = home.join(file).display().to_string();
        in_start_up(&[program.to_str().unwrap(), &path], &path) == (1, 1)
    };
    assert!(is_start_up("libx.so.1"));
    assert!(is_start_up("lib/module"));
    assert!(!is_start_up("input"));
}

#[test]
fn what_is_only_looked_at_is_no_start_up() {
    needs!(able());
    let script = "i=0; while [ $i -lt 500 ]; do [ -e /etc/passwd ]; i=$((i+1)); done";
    assert_eq!(in_start_up(&["sh", "-c", script], "/etc/passwd"), (0, 500));
    // Only the first time that it is opened it may be loaded; and a number below /proc is another process.
    let directory = tempfile::tempdir().unwrap();
    let program = compiled(
        r#"
        #include <fcntl.h>
        #include <unistd.h>
        int main(int count, char **files) {
            for (int i = 0; i < 500; i++) {
                int file = open(files[1], O_RDONLY);
                char byte;
                if (file < 0 || read(file, &byte, 1) != 1) return 1;
                close(file);
            }
            return 0;
        }"#,
        directory.path(),
    );
    assert_eq!(in_start_up(&[&program, "/proc/1/stat"], "/proc/1/stat"), (0, 500));
    let (started, all) = in_start_up(&[&program, "/etc/passwd"], "/etc/passwd");
    assert!((1..100).contains(&started) && all == 500, "{started} of {all}");
}

#[test]
fn modules_of_an_interpreter_are_its_start_up() {
    // Not the first one in PATH, which may be a script that looks for another one.
    needs!(able().and(machine(std::path::Path::new("/usr/bin/python3").exists(), "/usr/bin/python3")));
    let directory = tempfile::tempdir().unwrap();
    let script = directory.path().join("script.py");
    std::fs::write(&script, "import json.decoder").unwrap();
    for words in [["-S", "-c", "import json.decoder"], ["-S", "-I", script.to_str().unwrap()]] {
        modules_are_start_up(&[&["/usr/bin/python3"], &words[..]].concat());
    }
}

/// All modules of json that the interpreter loads are within its start-up.
#[track_caller]
fn modules_are_start_up(command: &[&str]) {
    let found = trace(&Wanted { each_call: true, ..Wanted::default() }, command);
    let loaded = found.events.iter().filter_map(|e| match &e.what {
        What::Call(call) if call.result >= Some(0) => {
            call.path.clone().filter(|it| it.contains("/json/decoder."))
        }
        _ => None,
    });
    let loaded: std::collections::BTreeSet<_> = loaded.collect();
    assert!(!loaded.is_empty(), "{command:?} loads nothing");
    for path in loaded {
        let (started, all) = in_start_up(command, &path);
        assert_eq!(started, all, "{path}");
    }
}

/// Of the calls of a single process that name a path and worked: how many end within its start-up, and all. Both times go by the same clock.
fn in_start_up(argv: &[&str], path: &str) -> (usize, usize) {
    let wanted = Wanted { each_call: true, ..Wanted::default() };
    let t = whole(trace(&wanted, argv));
    assert_eq!(t.status, 0);
    let run_ns = started(&t.events)[0].2;
    let ends: Vec<u64> = t
        .events
        .iter()
        .filter_map(|e| match &e.what {
            What::Call(call) if call.path.as_deref() == Some(path) && call.result >= Some(0) => Some(e.at),
            _ => None,
        })
        .collect();
    let within = ends.iter().filter(|at| on_cpu_from_exec(&t.events, **at) <= run_ns);
    (within.count(), ends.len())
}

/// Time on CPUs of the only task, from its exec to a moment.
fn on_cpu_from_exec(events: &[Event], until: u64) -> u64 {
    let exec = events.iter().position(|e| matches!(e.what, What::Exec { .. })).unwrap();
    let What::Exec { task, .. } = events[exec].what else { unreachable!() };
    let (mut since, mut sum) = (Some(events[exec].at), 0);
    for e in events[exec..].iter().take_while(|e| e.at < until) {
        match e.what {
            What::Switch { prev, next, .. } if prev == next => {}
            What::Switch { prev, .. } if prev == task => sum += e.at - since.take().unwrap(),
            What::Switch { next, .. } if next == task => since = Some(e.at),
            _ => {}
        }
    }
    sum + until - since.unwrap()
}
