//! A system that says no: forbidden calls, small limits, one CPU, no `/proc`, no room. Each row is measured, or unavailable with the reason.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[allow(dead_code, unreachable_pub, reason = "shared by several test programs")]
mod common;

use std::path::Path;
use std::process::Command;

use common::{Output, Record, assert_all_ended, install};

/// The launcher's exit status where a restriction cannot be set up (no user namespaces, no right to change the user).
const CANNOT: Option<i32> = Some(77);

/// Runs the worker under these restrictions. `None`, said aloud, where this system does not let a test set them up.
fn restricted(restrictions: &[String], arguments: &[&str], plan: &str) -> Option<Output> {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path();
    let launcher = place.join("launcher");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/launcher.c");
    let built = Command::new("gcc").arg("-o").arg(&launcher).arg(source).status().unwrap();
    assert!(built.success());
    let worker = install(place);
    // Another user must find the worker, and a directory for it.
    Command::new("chmod").args(["-R", "a+rwx"]).arg(place).status().unwrap();
    let worker = worker.to_str().unwrap();
    // Who may not look at files cannot clear up after itself; the test does.
    let own = format!("temporary={}", place.display());
    let mut all = vec![own.as_str()];
    all.extend(restrictions.iter().map(String::as_str));
    all.extend(["--", worker]);
    all.extend(arguments);
    let output = common::run(&launcher, &all, plan);
    if output.status == CANNOT {
        eprintln!("not tested here: {}", output.errors.trim());
        return None;
    }
    assert_eq!(output.status, Some(0), "{output:?}");
    Some(output)
}

fn deny(call: libc::c_long, error: i32) -> String {
    format!("deny={call}:{error}")
}

fn refusal<'a>(output: &'a Output, tag: &str) -> &'a Record {
    let mut found = output.of("unavailable").filter(|r| r.get("tag") == tag);
    let record = found.next().unwrap_or_else(|| panic!("{tag} was not refused: {output:?}"));
    assert!(found.next().is_none(), "{tag} was refused twice");
    assert_eq!(output.of("sample").filter(|r| r.get("tag") == tag).count(), 0, "{tag} has samples");
    record
}

fn assert_measured(output: &Output, tag: &str) {
    assert!(output.of("verify").any(|r| r.get("tag") == tag && r.get("ok") == "1"), "{tag}: {output:?}");
}

#[test]
fn a_forbidden_call_is_a_row_that_is_not_available() {
    let forbidden: &[(&str, libc::c_long, i32, &str)] = &[
        ("mqueue asleep", libc::SYS_mq_open, libc::ENOSYS, "ENOSYS"),
        ("eventfd asleep", libc::SYS_eventfd2, libc::EPERM, "EPERM"),
        ("signalfd asleep", libc::SYS_signalfd4, libc::ENOSYS, "ENOSYS"),
        ("sigqueue asleep", libc::SYS_rt_sigqueueinfo, libc::EPERM, "EPERM"),
        ("sigqueue burst", libc::SYS_rt_sigqueueinfo, libc::EPERM, "EPERM"),
        ("uring_msg asleep", libc::SYS_io_uring_setup, libc::EPERM, "EPERM"),
        ("uring_futex flow", libc::SYS_io_uring_setup, libc::ENOSYS, "ENOSYS"),
        ("uring_eventfd burst", libc::SYS_io_uring_setup, libc::EPERM, "EPERM"),
        ("select_pipe_event asleep wait=epoll", libc::SYS_epoll_create1, libc::ENOSYS, "ENOSYS"),
        ("socketpair flow", libc::SYS_socketpair, libc::EPERM, "EPERM"),
        ("pipe_vmsplice threads", libc::SYS_vmsplice, libc::EPERM, "EPERM"),
        ("pipe_vmsplice processes", libc::SYS_vmsplice, libc::ENOSYS, "ENOSYS"),
        ("pipe_splice processes", libc::SYS_splice, libc::EPERM, "EPERM"),
        ("clone3 exit", libc::SYS_clone3, libc::ENOSYS, "ENOSYS"),
        ("vfork exit", libc::SYS_vfork, libc::EPERM, "EPERM"),
        ("getpid libc", libc::SYS_getppid, libc::EPERM, ""),
        ("getppid raw", libc::SYS_getppid, libc::EPERM, "EPERM"),
        ("getppid libc", libc::SYS_getppid, libc::ENOSYS, "ENOSYS"),
        ("umask libc", libc::SYS_umask, libc::EPERM, "EPERM"),
        ("fstat raw", libc::SYS_fstat, libc::ENOSYS, "ENOSYS"),
        ("sched_yield raw", libc::SYS_sched_yield, libc::ENOSYS, "ENOSYS"),
        ("clock_gettime raw", libc::SYS_clock_gettime, libc::EPERM, "EPERM"),
        ("lstat raw", libc::SYS_newfstatat, libc::ENOSYS, "ENOSYS"),
        ("switch pipe", libc::SYS_sched_setaffinity, libc::EPERM, "EPERM"),
    ];
    for (line, call, error, name) in forbidden {
        let plan = format!("probe {line} batches=2 limit=20 tag=it\nprobe nothing loop batches=1 tag=next\n");
        let Some(output) = restricted(&[deny(*call, *error)], &[], &plan) else { return };
        if name.is_empty() {
            assert_measured(&output, "it");
        } else {
            assert_eq!(refusal(&output, "it").get("errno"), *name, "{line}: {output:?}");
        }
        assert_measured(&output, "next");
    }
}

#[test]
fn a_call_that_kills_takes_one_row_with_it() {
    let plan = "probe mqueue asleep batches=1 tag=it\nprobe nothing loop batches=1 tag=next\n";
    let Some(output) = restricted(&[deny(libc::SYS_mq_open, 0)], &[], plan) else { return };
    assert_eq!(refusal(&output, "it").get("why"), "killed by signal 31");
    assert_measured(&output, "next");
}

#[test]
fn where_nothing_can_be_traced_the_count_says_so() {
    let plan = "probe getpid raw batches=1 tag=it\n";
    let Some(output) = restricted(&[deny(libc::SYS_ptrace, libc::EPERM)], &[], plan) else { return };
    assert_measured(&output, "it");
    let receipt = output.of("receipt").next().unwrap();
    assert_eq!((receipt.get("syscalls"), receipt.get("why")), ("-", "ptrace is not permitted here"));
}

#[test]
fn one_cpu_refuses_what_needs_two() {
    let plan = "probe cond asleep batches=1 cpu=other tag=other\nprobe wakeup pipe batches=1 tag=wakeup\n\
                probe cacheline threads batches=1 tag=line\nprobe mutex contended batches=1 tag=mutex\n\
                probe cond awake batches=1 tag=awake\nprobe spin flow batches=1 tag=spin\n\
                probe cond asleep batches=2 cpu=same tag=same\nprobe switch futex batches=2 tag=switch\n";
    let Some(output) = restricted(&["cpu=0".to_owned()], &[], plan) else { return };
    for tag in ["other", "wakeup", "line", "mutex", "awake"] {
        assert!(refusal(&output, tag).get("why").contains("CPU"), "{output:?}");
    }
    for tag in ["spin", "same", "switch"] {
        assert_measured(&output, tag);
    }
}

#[test]
fn every_probe_ends_on_one_cpu() {
    let Some(output) = restricted(&["cpu=0".to_owned()], &["--all", "1"], "") else { return };
    assert_all_ended(&output);
    let late: Vec<_> = output.of("unavailable").filter(|r| r.get("why").contains("limit")).collect();
    assert!(late.is_empty(), "{late:?}");
}

#[test]
fn small_limits_refuse_what_does_not_fit() {
    let files = format!("limit={}:40", libc::RLIMIT_NOFILE);
    let plan = "probe fork exit batches=2 fds=1000 tag=it\nprobe fork exit batches=2 tag=next\nprobe pipe asleep batches=1 tag=pipe\n";
    let output = restricted(&[files], &[], plan).unwrap();
    assert_eq!(refusal(&output, "it").get("errno"), "EMFILE");
    assert_measured(&output, "next");
    assert_measured(&output, "pipe");
    let memory = format!("limit={}:{}", libc::RLIMIT_AS, 50 << 20);
    let plan = "probe fork exit batches=2 rss=256M tag=it\nprobe getpid raw batches=2 temp=cold tag=cold\nprobe fork exit batches=2 tag=next\n";
    let output = restricted(&[memory], &[], plan).unwrap();
    assert_eq!(refusal(&output, "it").get("errno"), "ENOMEM");
    assert_eq!(refusal(&output, "cold").get("errno"), "ENOMEM", "caches that nobody walked are not cold");
    assert_measured(&output, "next");
}

#[test]
fn where_no_process_may_be_made_every_row_says_so() {
    let limits = [format!("limit={}:1", libc::RLIMIT_NPROC), "user=65533".to_owned()];
    let plan = "probe getpid raw batches=1 tag=it\nprobe cond asleep batches=1 tag=next\n";
    let Some(output) = restricted(&limits, &[], plan) else { return };
    for tag in ["it", "next"] {
        assert_eq!(refusal(&output, tag).get("errno"), "EAGAIN");
    }
    assert_eq!(output.of("done").next().unwrap().get("unavailable"), "2");
}

#[test]
fn a_full_directory_refuses_what_needs_a_file() {
    let full = tempfile::tempdir().unwrap();
    let place = full.path().to_str().unwrap().to_owned();
    let restrictions = [format!("small={place}"), format!("temporary={place}")];
    let plan = "probe execve static batches=1 tag=it\nprobe vfork+execve static batches=1 tag=too\nprobe lstat libc batches=1 tag=next\n";
    let Some(output) = restricted(&restrictions, &[], plan) else { return };
    for tag in ["it", "too"] {
        assert_eq!(refusal(&output, tag).get("errno"), "ENOSPC");
    }
    assert_measured(&output, "next");
}

#[test]
fn a_directory_that_allows_no_programs_is_no_place_for_them() {
    let place = tempfile::tempdir().unwrap();
    let place = place.path().to_str().unwrap().to_owned();
    let restrictions = [format!("noexec={place}"), format!("temporary={place}")];
    let plan = "probe execve static batches=1 tag=it\nprobe posix_spawn static batches=1 tag=too\n";
    let Some(output) = restricted(&restrictions, &[], plan) else { return };
    assert_measured(&output, "it");
    assert_measured(&output, "too");
}

#[test]
fn a_queue_that_takes_nothing_is_not_waited_for() {
    let none = format!("limit={}:0", libc::RLIMIT_SIGPENDING);
    let plan = "probe sigqueue burst batches=1 limit=20 tag=burst\nprobe sigqueue flow batches=1 limit=20 tag=flow\n";
    let Some(output) = restricted(&[none], &[], plan) else { return };
    for tag in ["burst", "flow"] {
        assert_eq!(refusal(&output, tag).get("errno"), "EAGAIN", "not the line's own limit");
    }
}

#[test]
fn without_proc_every_probe_ends_too() {
    let Some(output) = restricted(&["hide=/proc".to_owned()], &["--all", "1"], "") else { return };
    assert_all_ended(&output);
    let measured = output.of("verify").count();
    assert!(measured > output.of("unavailable").count(), "{output:?}");
    assert!(
        output.of("sample").all(|s| s.get("delay") == "-" && s.get("steal") == "-"),
        "nothing is made up"
    );
}
