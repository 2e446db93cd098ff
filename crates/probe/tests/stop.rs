//! A worker that is told to end leaves nothing behind.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[allow(dead_code, unreachable_pub, reason = "shared by several test programs")]
mod common;

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const PLAN: &str = "probe burn loop cycles=900000000000 limit=60 tag=left-behind\nend\n";

/// Processes, other than the worker, whose command line names this directory.
fn left_behind(directory: &str, worker: u32) -> Vec<u32> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let ids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    ids.filter(|id| *id != worker)
        .filter(|id| {
            std::fs::read_link(format!("/proc/{id}/exe")).is_ok_and(|exe| exe.starts_with(directory))
        })
        .collect()
}

/// What of a worker is left in the places that systems keep things in for programs that end.
fn leftovers(place: &str) -> Vec<String> {
    let own = std::fs::read_dir(place).unwrap().flatten().filter(|e| e.file_name() != "worker");
    let named = |directory: &'static str| {
        let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
        entries.filter(|e| e.file_name().to_string_lossy().starts_with("whyfaster-"))
    };
    own.chain(named("/dev/shm")).chain(named("/dev/mqueue")).map(|e| e.path().display().to_string()).collect()
}

/// A worker that reads its plan from here and keeps its files in this place.
fn started(worker: &Path, place: &str) -> Child {
    let mut command = Command::new(worker);
    common::start(command.env("TMPDIR", place).stdin(Stdio::piped()).stdout(Stdio::piped()))
}

/// Starts a line, signals the worker while it runs, and sees that everything goes.
fn interrupted(line: &str, signal: &str) {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().to_str().unwrap().to_owned();
    let before = leftovers(&place);
    let worker = common::install(directory.path());
    let mut child = started(&worker, &place);
    let plan = format!("probe {line} batches=1000000 budget_ms=50000 count=0\nend\n");
    child.stdin.take().unwrap().write_all(plan.as_bytes()).unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.next().unwrap().unwrap().starts_with("hello\t"));
    let patience = Instant::now() + Duration::from_secs(20);
    // The guard, and the line's own process at least.
    while left_behind(&place, child.id()).len() < 2 && Instant::now() < patience {
        std::thread::sleep(Duration::from_millis(2));
    }
    assert!(left_behind(&place, child.id()).len() >= 2, "{line}: the probe never started");
    std::thread::sleep(Duration::from_millis(60));
    let told = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(told.success());
    child.wait().unwrap();
    // Other tests' workers may come and go meanwhile.
    let left =
        || (left_behind(&place, 0), leftovers(&place).into_iter().filter(|f| !before.contains(f)).collect());
    while left() != (Vec::new(), Vec::<String>::new()) && Instant::now() < patience {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(left(), (Vec::new(), Vec::new()), "{line} after {signal}");
}

#[test]
#[cfg(target_os = "linux")]
fn nothing_stays_of_a_line_that_was_interrupted() {
    let groups = [
        "lstat libc depth=8 temp=cold",
        "fork exit rss=64M",
        "fork+execve static",
        "execve dynamic chain=1000",
        "cow parent",
        "mqueue asleep",
        "fd_thread burst",
        "uring_msg flow",
        "pipe_latency processes",
        "pipe_bandwidth processes",
        "pipe_splice processes",
        "switch futex",
    ];
    for line in groups {
        for signal in ["-TERM", "-KILL"] {
            interrupted(line, signal);
        }
    }
}

#[test]
#[cfg(target_os = "linux")]
fn sigterm_ends_the_probe_too() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().to_str().unwrap().to_owned();
    let worker = common::install(directory.path());
    let mut child = started(&worker, &place);
    child.stdin.take().unwrap().write_all(PLAN.as_bytes()).unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.next().unwrap().unwrap().starts_with("hello\t"));
    let patience = Instant::now() + Duration::from_secs(20);
    while left_behind(&place, child.id()).is_empty() && Instant::now() < patience {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(!left_behind(&place, child.id()).is_empty(), "the probe never started");
    let told = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(told.success());
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(128 + 15), "{:?}", status.signal());
    while !left_behind(&place, 0).is_empty() && Instant::now() < patience {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(left_behind(&place, 0), Vec::<u32>::new());
    let files: Vec<_> = std::fs::read_dir(&place).unwrap().flatten().map(|e| e.file_name()).collect();
    assert_eq!(files, ["worker"], "its directory is gone");
}
