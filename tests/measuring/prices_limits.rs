//! `prices` where things are missing or forbidden: one CPU, no /proc, calls that a filter refuses, tight limits, a full disk,
//! an interrupt, a reader that leaves. What cannot be measured is a row with the reason; nothing is left behind.

use std::fs;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::time::Duration;

use crate::support::needs::{mounts, needs, root};
use crate::support::prices::{assert_measurable, list, list_of, price, run, why};
use crate::support::user::as_user;
use crate::support::{PROGRAM, Sandbox, alone, eventually, together};
use rustix::process::Signal;
use serde_json::Value;

/// What may be measured of a group, with an end of the run that a machine of any speed reaches.
const QUICK: [&str; 3] = ["prices", "--quick", "--json"];

#[test]
fn an_interrupt_ends_every_process_and_keeps_a_partial_list() {
    let _together = together();
    let place = Sandbox::new();
    let file = place.file("partial.json");
    let running = place.start(&["prices", "kernel", "process", "--record", &file]);
    // The program, the worker and the process of a line; then some repetitions, so that there is something to keep.
    eventually("a worker with children", || place.alive().len() > 2);
    std::thread::sleep(Duration::from_secs(3));
    assert!(place.alive().len() > 1, "it has ended by itself");
    running.signal(Signal::INT);
    let ran = running.wait();
    ran.expect(130, &["interrupted: ", "the partial list is in"]);
    assert!(ran.flowing().contains("; partial: it was"), "{}", ran.out);
    place.assert_clean();
    let list: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    assert_eq!(list["status"], "interrupted");
    place.run(&["machines", &file, "debian-2.6.32"]).ok();
}

#[test]
fn an_interrupt_before_the_first_price_leaves_nothing() {
    let _together = together();
    let place = Sandbox::new();
    let file = place.file("none.json");
    let running = place.start(&["prices", "--record", &file]);
    eventually("the worker", || place.alive().len() > 1);
    running.signal(Signal::TERM);
    // It may have measured some rows by now; then they are kept.
    running.wait().expect(130, &["interrupted: "]);
    place.assert_clean();
}

#[test]
fn a_killed_program_takes_its_worker_along() {
    let _together = together();
    let place = Sandbox::new();
    let running = place.start(&["prices", "process"]);
    eventually("a worker with children", || place.alive().len() > 2);
    running.signal(Signal::KILL);
    running.wait();
    eventually("all are gone", || place.alive().is_empty());
}

/// A command that may use one CPU only.
fn on_one_cpu(mut command: Command, cpu: usize) -> Command {
    let mut set = rustix::thread::CpuSet::new();
    set.set(cpu);
    // SAFETY: one system call on a set that was made before the fork.
    unsafe { command.pre_exec(move || Ok(rustix::thread::sched_setaffinity(None, &set)?)) };
    command
}

#[test]
fn one_cpu_leaves_the_other_column_out() {
    let _alone = alone();
    let allowed = list(&["getpid", "--quick"])["fingerprint"]["cpus_allowed"][0].as_u64().unwrap();
    let reason = format!("needs two CPUs, and only CPU {allowed} may be used");
    let place = Sandbox::new();
    let words = [&QUICK[..], &["thread/pipe", "cacheline", "mutex", "wakeup", "pipe_latency"]].concat();
    let by_system = place.finish(on_one_cpu(place.whyfaster(&words), allowed as usize));
    let by_option = place.run(&[&words[..], &["--pin", &allowed.to_string()]].concat());
    for ran in [by_system, by_option] {
        let list = list_of(&ran);
        let across = [
            ("pipe", "asleep,other_cpu"),
            ("pipe", "awake,other_cpu"),
            ("cacheline", "other_cpu"),
            ("mutex", "contended,other_cpu"),
            ("wakeup", "other_cpu"),
            ("pipe_latency", "processes,other_cpu"),
        ];
        for (name, variant) in across {
            assert_eq!(why(&list, name, variant), reason);
        }
        assert_measurable(&list, &[("pipe", "asleep,same_cpu"), ("mutex", "uncontended")]);
    }
}

#[test]
fn without_proc_prices_are_measured_and_what_is_unknown_is_said() {
    needs!(mounts());
    let _alone = alone();
    let place = Sandbox::new();
    let start = |words: &[&str]| {
        let script = "umount -l /proc && exec \"$0\" \"$@\"";
        let all = [&["-m", "sh", "-c", script, PROGRAM], words].concat();
        place.finish(place.command("unshare", &all))
    };
    let list = list_of(&start(&[&QUICK[..], &["getpid", "fork", "stat", "cond"]].concat()));
    let rows = [("getpid", "raw"), ("fork", "reaped"), ("stat", "libc"), ("cond", "asleep,same_cpu")];
    assert_measurable(&list, &rows);
    let fingerprint = &list["fingerprint"];
    assert!(fingerprint["steal_during"].is_null() && fingerprint["seccomp"].is_null());
    assert!(!fingerprint["missing"].as_array().unwrap().is_empty());
    let ran = start(&["prices", "-v", "getpid", "--quick"]);
    for part in ["not known: ", "/proc/cpuinfo: no such file", "steal during the run: not measured"] {
        assert!(ran.out.contains(part), "{part}\n{}", ran.out);
    }
    place.assert_clean();
}

/// Makes these system calls fail with this error, for this process and all below it.
fn forbid(command: &mut Command, calls: &[libc::c_long], errno: i32) {
    let op = |code: u32, k: u32, jt: u8, jf: u8| libc::sock_filter { code: code as u16, jt, jf, k };
    let load_number = op(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0);
    let answer = |what: u32| op(libc::BPF_RET | libc::BPF_K, what, 0, 0);
    let mut filter = vec![load_number];
    for call in calls {
        filter.push(op(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, *call as u32, 0, 1));
        filter.push(answer(libc::SECCOMP_RET_ERRNO | errno as u32));
    }
    filter.push(answer(libc::SECCOMP_RET_ALLOW));
    // SAFETY: two system calls; the filter was made before the fork and outlives them.
    unsafe {
        command.pre_exec(move || {
            let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
            let done = libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
                && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &program) == 0;
            if done { Ok(()) } else { Err(std::io::Error::last_os_error()) }
        })
    };
}

#[test]
fn calls_that_a_filter_forbids_are_rows_that_are_not_available() {
    let _alone = alone();
    let place = Sandbox::new();
    let words = [&QUICK[..], &["getpid", "eventfd", "uring_eventfd", "umask"]].concat();
    for (errno, name) in [(libc::ENOSYS, "ENOSYS"), (libc::EPERM, "EPERM")] {
        let mut command = place.whyfaster(&words);
        forbid(&mut command, &[libc::SYS_eventfd2, libc::SYS_io_uring_setup], errno);
        let list = list_of(&place.finish(command));
        for probe in ["eventfd", "uring_eventfd"] {
            let why = why(&list, probe, "asleep,same_cpu");
            assert!(why.starts_with("not available: ") && why.contains(name), "{probe}: {why}");
        }
        assert_measurable(&list, &[("getpid", "raw"), ("umask", "raw")]);
        let mode = list["fingerprint"]["seccomp"].as_str().unwrap();
        assert!(mode.contains("filter"), "{mode}");
    }
}

#[test]
fn without_a_tracer_calls_are_not_counted_and_never_zero() {
    let _alone = alone();
    let place = Sandbox::new();
    let mut command = place.whyfaster(&[&QUICK[..], &["getpid", "gettimeofday"]].concat());
    forbid(&mut command, &[libc::SYS_ptrace], libc::EPERM);
    let list = list_of(&place.finish(command));
    let rows = [("getpid", "raw"), ("gettimeofday", "vdso")];
    assert_measurable(&list, &rows);
    for (name, variant) in rows {
        let price = price(&list, name, variant);
        assert!(price["receipt"]["syscalls"].is_null(), "{price}");
    }
    assert_eq!(list["not_measured"][0]["what"], "system calls per operation");
}

#[test]
fn tight_limits_are_told_and_not_a_crash() {
    let _together = together();
    for limit in ["ulimit -n 16", "ulimit -n 8", "ulimit -n 4", "ulimit -v 4000000", "ulimit -v 150000"] {
        let words = "exec \"$whyfaster\" prices getpid fork stat cond pipe_bandwidth --quick --json";
        let place = Sandbox::new();
        let ran = place.shell(&format!("{limit}; {words}"));
        match ran.code() {
            0 => drop(list_of(&ran)),
            code => {
                assert!([1, 6].contains(&code), "{limit}: {code} {}", ran.err);
                ran.expect_error(code, &[]);
                assert!(ran.out.is_empty(), "{limit}: a report without a number: {}", ran.out);
            }
        }
        place.assert_clean();
    }
}

#[test]
fn a_small_stack_is_told_before_anything_is_done() {
    let place = Sandbox::new();
    for limit in ["64", "256"] {
        for verb in ["--version", "prices getpid --quick", "compare true false", "doctor"] {
            let ran = place.shell(&format!("ulimit -s {limit}; exec \"$whyfaster\" {verb}"));
            ran.expect_error(6, &[&format!("the stack is limited to {limit} KiB"), "ulimit -s 1024"]);
            assert!(ran.out.is_empty(), "{}", ran.out);
        }
    }
    let _together = together();
    place.shell("ulimit -s 1024; exec \"$whyfaster\" prices getpid cond --quick").ok();
}

#[test]
fn a_limit_of_file_sizes_is_told() {
    let _together = together();
    let place = Sandbox::new();
    // What it says goes through pipes: files would be under the limit.
    let mut command = place.command("sh", &["-c", "ulimit -f 0; exec \"$0\" prices getpid --quick", PROGRAM]);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(6), "{said}");
    assert!(said.contains("cannot make the worker") && said.contains("hint: "), "{said}");
}

#[test]
fn a_limit_of_processes_makes_rows_without_a_price() {
    needs!(root());
    let _together = together();
    let place = Sandbox::open();
    // A user of this test's own: the limit counts all processes of a user. The program, the worker and the process of a
    // line find room; what they would start in addition does not.
    let user = format!("{}", 3_300_000 + std::process::id());
    let mut told = 0;
    for limit in ["--nproc=3", "--nproc=2", "--nproc=1"] {
        let mut command = as_user(&place, &user, "prlimit", &[limit, PROGRAM]);
        command.args(QUICK).args(["getpid", "fork", "cond"]);
        let ran = place.finish(command);
        match ran.code() {
            // With or without another row that has a price: the list is there.
            0 | 6 if !ran.out.is_empty() => {
                let list: Value = serde_json::from_str(&ran.out).unwrap();
                let why = why(&list, "cond", "asleep,same_cpu");
                assert!(why.contains("EAGAIN"), "{limit}: {why}");
                told += 1;
            }
            code => ran.expect_error(code, &[]),
        }
        place.assert_clean();
    }
    assert!(told > 0, "under no limit was there a list");
}

#[test]
fn a_full_disk_is_told_and_rows_that_need_no_file_have_a_price() {
    needs!(mounts());
    let _alone = alone();
    let place = Sandbox::new();
    let script = "mount -t tmpfs -o size=4k none \"$TMPDIR\" && exec \"$0\" \"$@\"";
    let words = ["getpid", "umask", "posix_spawn"];
    let all = [&["-m", "sh", "-c", script, PROGRAM], &QUICK[..], &words].concat();
    let list = list_of(&place.finish(place.command("unshare", &all)));
    assert_measurable(&list, &[("getpid", "raw"), ("umask", "raw")]);
    let why = why(&list, "posix_spawn", "parent");
    assert!(why.starts_with("not available: ") && why.contains("ENOSPC"), "{why}");
    // A list that does not fit: the one that stood there stays.
    let place = Sandbox::new();
    let script = "mount -t tmpfs -o size=4k none \"$TMPDIR\" && cd \"$TMPDIR\" && echo before > list.json || exit 77; \
                  \"$0\" prices getpid --quick --record list.json > out.txt; code=$?; ls; cat list.json; exit $code";
    let ran = place.finish(place.command("unshare", &["-m", "sh", "-c", script, PROGRAM]));
    ran.expect_error(1, &["list.json", "No space left"]);
    assert!(ran.out.ends_with("before\n"), "{}", ran.out);
}

#[test]
fn a_full_device_is_told() {
    let _together = together();
    let place = Sandbox::new();
    place.shell("\"$whyfaster\" prices getpid --quick > /dev/full").expect_error(1, &["standard output"]);
    for option in ["--record", "--export-csv"] {
        let words = ["prices", "getpid", "--quick", option, "/dev/full"];
        place.run(&words).expect_error(1, &["/dev/full", "No space left"]);
    }
    place
        .run(&["prices", "getpid", "--quick", "--record", "/dev/full/x"])
        .expect_error(1, &["/dev/full/x", "Not a directory"]);
}

#[test]
fn a_reader_that_leaves_ends_it_quietly() {
    let _together = together();
    let place = Sandbox::new();
    let ran = place.shell("\"$whyfaster\" prices getpid --quick | head -n 1").ok();
    assert!(!ran.err.contains("error"), "{}", ran.err);
    assert_eq!(run(&["prices", "--source", "getpid"]).code(), 0);
}
