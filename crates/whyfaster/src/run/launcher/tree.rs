//! The process tree below this process: finding it, measuring it, ending it.
//!
//! The launcher is a child subreaper (`prctl(2)`, `PR_SET_CHILD_SUBREAPER`): whoever outlives its parent becomes a child
//! of the launcher, whatever sessions or process groups it made. So "below this process" is the whole truth.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::super::protocol::Needs;

/// What `/proc/PID/stat` says of a process, as far as we need it.
#[derive(Clone, Copy, Debug)]
struct Entry {
    parent: i32,
    group: i32,
    session: i32,
    /// Start time in ticks: with the process id it names a process for good.
    start: u64,
    zombie: bool,
}

/// A process that cannot be mistaken for another one with the same id.
pub(crate) type Identity = (i32, u64);

/// Who has this process id now.
pub(crate) fn identity(pid: i32) -> Option<Identity> {
    Some((pid, stat(pid)?.start))
}

/// All living processes below this one.
pub(crate) fn below_this() -> Vec<Identity> {
    below(&[this()], &[], |_, _| false)
}

fn this() -> i32 {
    rustix::process::getpid().as_raw_nonzero().get()
}

/// All processes, by id.
fn processes() -> HashMap<i32, Entry> {
    let Ok(entries) = fs::read_dir("/proc") else { return HashMap::new() };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok())
        .filter_map(|pid| Some((pid, stat(pid)?)))
        .collect()
}

fn stat(pid: i32) -> Option<Entry> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name stands in parentheses and may hold anything, parentheses too: proc_pid_stat(5).
    let fields: Vec<&str> = text.get(text.rfind(')')? + 2..)?.split(' ').collect();
    Some(Entry {
        zombie: matches!(*fields.first()?, "Z" | "X"),
        parent: fields.get(1)?.parse().ok()?,
        group: fields.get(2)?.parse().ok()?,
        session: fields.get(3)?.parse().ok()?,
        start: fields.get(19)?.parse().ok()?,
    })
}

/// The living processes below these roots (the roots themselves left out), and what belongs to them by `also`, without
/// those that are spared and what is below them.
fn below(roots: &[i32], spared: &[Identity], also: impl Fn(i32, &Entry) -> bool) -> Vec<Identity> {
    let all = processes();
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    for (&pid, entry) in &all {
        children.entry(entry.parent).or_default().push(pid);
    }
    let mut found: HashSet<i32> =
        all.iter().filter(|(pid, entry)| also(**pid, entry)).map(|(pid, _)| *pid).collect();
    let mut open: Vec<i32> = roots.iter().copied().chain(found.iter().copied()).collect();
    while let Some(pid) = open.pop() {
        for &child in children.get(&pid).into_iter().flatten() {
            let spare = all.get(&child).is_some_and(|entry| spared.contains(&(child, entry.start)));
            if !spare && found.insert(child) {
                open.push(child);
            }
        }
    }
    found
        .into_iter()
        .filter_map(|pid| all.get(&pid).filter(|entry| !entry.zombie).map(|entry| (pid, entry.start)))
        .collect()
}

/// Sends a signal to exactly this process, never to a later one with the same id.
fn signal((pid, start): Identity, signal: Signal) -> bool {
    let Some(pid_handle) = Pid::from_raw(pid) else { return false };
    let Ok(handle) = pidfd_open(pid_handle, PidfdFlags::empty()) else { return false };
    // The handle now holds whoever has the id; the start time tells whether it is still the one we meant.
    stat(pid).is_some_and(|entry| entry.start == start) && pidfd_send_signal(&handle, signal).is_ok()
}

/// Ends everything below this process but those that are spared, calling `reap` in between. Returns how many were ended
/// and how many are left (processes that we may not signal). `reap` says whether we have no child at all any more.
pub(crate) fn end_all(spared: &[Identity], gentle: bool, reap: impl FnMut() -> bool) -> (u32, u32) {
    let me = this();
    end(|| below(&[me], spared, |_, _| false), gentle, reap)
}

/// Ends a process that leads a group, its group, and what is below it. Who had left the tree before is not found.
pub(crate) fn end_tree(root: Identity) {
    let mut known = HashSet::from([root]);
    let find = || {
        // Who was seen once stays one of them, also when its parent has ended and it is no longer below the root.
        let roots: Vec<i32> = known
            .iter()
            .filter(|&&(pid, start)| identity(pid) == Some((pid, start)))
            .map(|it| it.0)
            .collect();
        let found = below(&roots, &[], |pid, entry| {
            roots.contains(&pid) || entry.group == root.0 && entry.start >= root.1
        });
        known.extend(&found);
        found
    };
    end(find, true, || false);
}

/// Ends all that `find` finds.
fn end(mut find: impl FnMut() -> Vec<Identity>, gentle: bool, mut reap: impl FnMut() -> bool) -> (u32, u32) {
    let mut ended: HashSet<Identity> = HashSet::new();
    if gentle {
        for process in find() {
            signal(process, Signal::TERM);
            ended.insert(process);
        }
        let patience = Instant::now() + Duration::from_millis(300);
        while Instant::now() < patience && !find().is_empty() {
            std::thread::sleep(Duration::from_millis(10));
            reap();
        }
    }
    let deadline = Instant::now() + Duration::from_secs(10);
    let mut looked = false;
    loop {
        let victims = freeze(&mut find);
        // One look at all processes can miss one whose parent ended while we looked: it stands below the dead parent
        // still, or below its new one already. Without any child there is nobody; otherwise a second look decides.
        let done = victims.is_empty() && (looked || reap());
        if done || Instant::now() > deadline {
            return (ended.len() as u32, victims.len() as u32);
        }
        looked = victims.is_empty();
        for process in victims {
            signal(process, Signal::KILL);
            ended.insert(process);
        }
        reap();
        std::thread::sleep(Duration::from_millis(2));
        reap();
    }
}

/// Stops all that `find` finds, again and again until nothing new appears: who is stopped cannot fork any more, so a
/// tree that forks faster than one can kill comes to rest.
fn freeze(find: &mut impl FnMut() -> Vec<Identity>) -> Vec<Identity> {
    let mut stopped: HashSet<Identity> = HashSet::new();
    for _ in 0..100 {
        let found = find();
        let new: Vec<Identity> = found.iter().copied().filter(|process| !stopped.contains(process)).collect();
        if new.is_empty() {
            return found;
        }
        for process in new {
            signal(process, Signal::STOP);
            stopped.insert(process);
        }
    }
    find()
}

/// Kills one copy's tree: its root, what is below it, and what is in the session that it leads.
pub(super) fn kill_copy(root: i32, leads_session: bool) {
    let Some(start) = stat(root).map(|entry| entry.start) else { return };
    for process in below(&[root], &[], |_, entry| leads_session && entry.session == root) {
        signal(process, Signal::KILL);
    }
    signal((root, start), Signal::KILL);
}

/// How many processes live below this one, and how much memory they hold.
pub(super) fn needs(spared: &[Identity]) -> Needs {
    let found: Vec<i32> = below(&[this()], spared, |_, _| false).into_iter().map(|(pid, _)| pid).collect();
    let (mut own, mut file) = (0, 0);
    for pid in &found {
        if let Some((anonymous, mapped)) = resident(*pid) {
            own += anonymous;
            file = mapped.max(file);
        }
    }
    // File-backed pages are mostly the same libraries in every process: the largest set counts once.
    Needs { processes: found.len() as u32, memory_bytes: own + file, private_bytes: own }
}

/// Resident bytes of a process: (anonymous and shared memory, file-backed).
fn resident(pid: i32) -> Option<(u64, u64)> {
    let text = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let field = |name: &str| -> Option<u64> {
        let line = text.lines().find(|line| line.starts_with(name))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib * 1024)
    };
    Some((field("RssAnon:")? + field("RssShmem:")?, field("RssFile:")?))
}
