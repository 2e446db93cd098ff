//! Who is followed: the state of a process is written under its pidfd, so that no number is taken for another one.

use std::collections::BTreeSet;
use std::fs;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::Path;

use libbpf_rs::{MapCore, MapFlags};

use super::TraceError;
use super::found::parent;
use super::load::Loaded;
use super::programs::types::{self, task_state};
use super::programs::{Plain, read_iterator};

fn cannot(pid: i32, why: impl ToString) -> TraceError {
    TraceError::Follow { pid, why: why.to_string() }
}

fn pidfd(process: i32) -> std::io::Result<OwnedFd> {
    // SAFETY: takes two integers and returns a descriptor or an error.
    let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, process, 0) };
    let fd = i32::try_from(fd).unwrap_or(-1);
    if fd < 0 {
        return Err(std::io::Error::last_os_error());
    }
    // SAFETY: the kernel just gave us this descriptor.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Writes the state of the first task of a process.
fn set(loaded: &Loaded, process: i32, state: &task_state) -> Result<(), TraceError> {
    let fd = pidfd(process).map_err(|e| cannot(process, e))?;
    store(loaded, &fd, state, MapFlags::ANY).map_err(|e| cannot(process, e))
}

/// The kernel keeps one storage per task for the maps of all observers. The writer that loses a race for making or
/// freeing this storage gets `EAGAIN` (`bpf_local_storage_update`). Each lost race is another writer's success, so the
/// repetition ends.
fn store(loaded: &Loaded, task: &OwnedFd, state: &task_state, flags: MapFlags) -> libbpf_rs::Result<()> {
    let key = task.as_raw_fd().to_ne_bytes();
    loop {
        match loaded.skel.maps.tasks.update(&key, state.bytes(), flags) {
            Err(e) if e.kind() == libbpf_rs::ErrorKind::WouldBlock => std::thread::yield_now(),
            stored => return stored,
        }
    }
}

/// Gives the threads of processes the label of their first task. The numbers of those that are followed from here on.
fn threads_join(loaded: &Loaded) -> Result<Vec<u32>, TraceError> {
    let told = read_iterator(&loaded.skel.progs.threads_join)?;
    Ok(told.chunks_exact(4).map(|it| u32::from_ne_bytes(it.try_into().expect("four bytes"))).collect())
}

fn state(mode: types::mode) -> task_state {
    task_state { mode: mode.0, ..task_state::default() }
}

/// A process that is held at a gate.
pub(crate) fn held(loaded: &Loaded, pid: i32) -> Result<(), TraceError> {
    set(loaded, pid, &state(types::mode::MODE_HELD))
}

/// A process that makes what is calibrated. It is not one of the tree: neither told nor counted as alive.
pub(crate) fn calibrating(loaded: &Loaded, pid: i32) -> Result<(), TraceError> {
    set(loaded, pid, &task_state { announced: 1, own_code: 1, ..state(types::mode::MODE_ACTIVE) })
}

/// All threads of a process of whyfaster itself; those that it makes inherit the label.
pub(crate) fn tool(loaded: &Loaded, pid: i32) -> Result<(), TraceError> {
    set(loaded, pid, &state(types::mode::MODE_TOOL))?;
    threads_join(loaded).map(drop)
}

/// Running processes and all below them. Repeated until no new one is found: what is made by a task that is followed
/// already is followed by the kernel. Returns how many tasks that are.
pub(crate) fn running(
    loaded: &Loaded,
    now: u64,
    find: &dyn Fn() -> BTreeSet<i32>,
) -> Result<usize, TraceError> {
    // Whether other tasks have the same descriptors is not known.
    let taken_up = task_state { since: now, shares: 1, ..state(types::mode::MODE_ACTIVE) };
    let (mut known, mut followed) = (BTreeSet::new(), 0);
    loop {
        let mut new = false;
        for pid in find() {
            if !known.insert(pid) {
                continue;
            }
            new = true;
            match add(loaded, pid, &taken_up) {
                Ok(ours) => followed += usize::from(ours),
                Err(e) if fs::exists(format!("/proc/{pid}")).unwrap_or(false) => return Err(e),
                Err(_) => {}
            }
        }
        let threads = threads_join(loaded)?.len();
        followed += threads;
        if !new && threads == 0 {
            return Ok(followed);
        }
    }
}

/// Follows one, unless it is followed already: it was made by one that is. False for one of ours: what observes is no part
/// of what is observed.
fn add(loaded: &Loaded, pid: i32, state: &task_state) -> Result<bool, TraceError> {
    let fd = pidfd(pid).map_err(|e| cannot(pid, e))?;
    let key = fd.as_raw_fd().to_ne_bytes();
    let known =
        loaded.skel.maps.tasks.lookup(&key, MapFlags::ANY).ok().flatten().and_then(|v| task_state::read(&v));
    match known.as_ref().map(|state| state.mode) {
        Some(mode) if mode == types::mode::MODE_ACTIVE.0 => return Ok(true),
        Some(mode) if mode == types::mode::MODE_TOOL.0 => return Ok(false),
        _ => {}
    }
    // A task without a state may get one meanwhile, from a parent that is followed.
    let flags = if known.is_some() { MapFlags::ANY } else { MapFlags::NO_EXIST };
    match store(loaded, &fd, state, flags) {
        Err(e) if e.kind() == libbpf_rs::ErrorKind::AlreadyExists => Ok(true),
        updated => updated.map(|()| true).map_err(|e| cannot(pid, e)),
    }
}

/// The tasks of a process; empty: it is gone.
pub(crate) fn threads(pid: i32) -> BTreeSet<i32> {
    numbers(&format!("/proc/{pid}/task"))
}

/// Names of a directory that are numbers.
fn numbers(directory: &str) -> BTreeSet<i32> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|e| e.file_name().to_str()?.parse().ok()).collect()
}

/// A process and all its descendants.
pub(crate) fn below(root: i32) -> BTreeSet<i32> {
    let parents: Vec<(i32, i32)> =
        numbers("/proc").into_iter().filter_map(|pid| Some((pid, parent_of(pid)?))).collect();
    let mut tree = BTreeSet::from([root]);
    loop {
        let before = tree.len();
        for (pid, parent) in &parents {
            if tree.contains(parent) {
                tree.insert(*pid);
            }
        }
        if tree.len() == before {
            return tree;
        }
    }
}

fn parent_of(pid: i32) -> Option<i32> {
    i32::try_from(parent(u32::try_from(pid).ok()?)?).ok()
}

/// The processes of a cgroup and of those below it.
pub(crate) fn of_cgroup(directory: &Path) -> std::io::Result<BTreeSet<i32>> {
    let text = fs::read_to_string(directory.join("cgroup.procs"))?;
    let mut all: BTreeSet<i32> = text.lines().filter_map(|l| l.parse().ok()).collect();
    for entry in fs::read_dir(directory)?.flatten() {
        if entry.file_type().is_ok_and(|t| t.is_dir()) {
            // One that was removed meanwhile has no processes any more.
            all.extend(of_cgroup(&entry.path()).unwrap_or_default());
        }
    }
    Ok(all)
}
