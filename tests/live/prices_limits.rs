//! `prices` where something is missing or forbidden: the row has the reason, and the other rows have a price.

use crate::support::needs::{mounts, needs};
use crate::support::prices::{assert_measurable, list, list_of, price, why};
use crate::support::{PROGRAM, Sandbox};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// What may be measured of a group, with an end of the run that a machine of any speed reaches.
const QUICK: [&str; 3] = ["prices", "--quick", "--json"];

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
fn a_full_disk_is_told_and_rows_that_need_no_file_have_a_price() {
    needs!(mounts());
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
