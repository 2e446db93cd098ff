//! How many more processes may be created, and which limit says so.

use std::fs;

use super::cgroup::Room;
use super::privilege::Privilege;
use super::root::{Process, Root, Unreadable};

/// The kernel gives no number below this once they have wrapped around (`RESERVED_PIDS` in kernel/pid.c).
const RESERVED_PIDS: u64 = 300;

/// What the limits of the whole machine leave, beside `tasks` existing ones. Both limits count threads as well.
pub(super) fn machine(root: &Root, tasks: u64) -> Vec<Result<Room, Unreadable>> {
    let room = |name: &str, reserved: u64| {
        let max = root.number(format!("/proc/sys/kernel/{name}"))?;
        Ok(Room { left: max.saturating_sub(reserved).saturating_sub(tasks), limit: format!("kernel.{name}") })
    };
    vec![room("pid_max", RESERVED_PIDS), room("threads-max", 0)]
}

/// Descriptors that a process may open: the hard limit, or where that is unlimited the kernel's own.
pub(super) fn files(root: &Root, process: &Process) -> Result<u64, Unreadable> {
    process.max_files.map_or_else(|| root.number("/proc/sys/fs/nr_open"), Ok)
}

/// What `ulimit -u` leaves; `None` where it is unlimited or does not bind this process.
pub(super) fn user(root: &Root, process: &Process, privilege: Privilege) -> Result<Option<Room>, Unreadable> {
    match process.max_processes {
        Some(max) if !privilege.ignores_process_limit(process.uid) => {
            let left = max.saturating_sub(tasks_of(root, process.uid)?);
            Ok(Some(Room { left, limit: "ulimit -u".to_owned() }))
        }
        _ => Ok(None),
    }
}

/// Tasks (threads) whose real user this is: that is what the limit counts. Processes that end meanwhile are left out.
fn tasks_of(root: &Root, uid: u32) -> Result<u64, Unreadable> {
    let proc = |source| Unreadable::Io { path: "/proc".into(), source };
    let mut tasks = 0;
    for entry in fs::read_dir(root.path("/proc")).map_err(proc)? {
        let entry = entry.map_err(proc)?;
        if entry.file_name().to_str().is_some_and(|name| name.bytes().all(|b| b.is_ascii_digit())) {
            let status = fs::read_to_string(entry.path().join("status")).ok();
            tasks += status.and_then(|status| threads_if_of(&status, uid)).unwrap_or(0);
        }
    }
    Ok(tasks)
}

/// The number of threads in a `/proc/PID/status`, if the process is of this user. The owner of the directory would not do:
/// it is root's where the process may not be dumped.
fn threads_if_of(status: &str, uid: u32) -> Option<u64> {
    let value = |key: &str| status.lines().find_map(|line| line.strip_prefix(key));
    let real = value("Uid:")?.split_ascii_whitespace().next()?.parse::<u32>().ok()?;
    (real == uid).then(|| value("Threads:")?.trim().parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_of_the_real_user_count() {
        let status = "Name:\tx\nUid:\t1000\t0\t0\t0\nThreads:\t12\n";
        assert_eq!(threads_if_of(status, 1000), Some(12));
        assert_eq!(threads_if_of(status, 0), None);
        assert_eq!(threads_if_of("Name:\tx\n", 0), None);
    }
}
