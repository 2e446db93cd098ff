//! A worker that is told to end leaves nothing behind.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[allow(dead_code, unreachable_pub, reason = "shared by several test programs")]
mod common;

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, Stdio};
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

#[test]
#[cfg(target_os = "linux")]
fn sigterm_ends_the_probe_too() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().to_str().unwrap().to_owned();
    let worker = common::install(directory.path());
    let mut child = Command::new(worker)
        .env("TMPDIR", &place)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
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
