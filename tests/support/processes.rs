//! The processes of this machine, by /proc.

use std::fs;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// No run in these tests takes longer, however slow the machine: one that does hangs.
pub(super) const PATIENCE: Duration = Duration::from_secs(300);

/// The launcher below a running program.
pub(crate) fn launcher_of(program: i32) -> i32 {
    let mut found = None;
    eventually("the launcher", || {
        found = processes().find(|&pid| {
            parent(pid) == Some(program) && words(pid).get(1).is_some_and(|word| word == "__launcher")
        });
        found.is_some()
    });
    found.unwrap()
}

/// The processes that a process has started and that live.
pub(crate) fn children(of: i32) -> Vec<i32> {
    processes().filter(|&pid| parent(pid) == Some(of)).collect()
}

pub(crate) fn kill(pid: i32, signal: Signal) {
    kill_process(Pid::from_raw(pid).unwrap(), signal).unwrap();
}

/// Waits until it holds; fails the test when it does not come true.
pub(crate) fn eventually(what: &str, holds: impl FnMut() -> bool) {
    eventually_or(|| what.to_owned(), holds);
}

/// The same, where what to say is known only then. Ray, which begins a program for each job, was seen to take more than 75 s beside a build.
pub(super) fn eventually_or(what: impl Fn() -> String, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE / 2, "waited in vain: {}", what());
        std::thread::sleep(Duration::from_millis(10));
    }
}

pub(crate) fn processes() -> impl Iterator<Item = i32> {
    fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// The words of a process's command line; none for one that has ended.
pub(super) fn words(pid: i32) -> Vec<String> {
    let text = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    text.split(|&byte| byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

fn parent(pid: i32) -> Option<i32> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    text.get(text.rfind(')')? + 2..)?.split(' ').nth(1)?.parse().ok()
}
