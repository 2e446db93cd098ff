//! The process tree below this process: finding it, measuring it, ending it.
//!
//! The launcher is a child subreaper (`prctl(2)`, `PR_SET_CHILD_SUBREAPER`): whoever outlives its parent becomes a child
//! of the launcher, whatever sessions or process groups it made. So "below this process" is the whole truth.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::time::{Duration, Instant};

use rustix::io::{Errno, Result};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, pidfd_send_signal};

use super::super::protocol::{Identity, Needs, Who};

/// How long a process that was killed may take to end: giving back its memory, or a call that waits for a device, takes time.
const KILLED: Duration = Duration::from_secs(10);

/// How long a process that we may not signal may take to end by itself, now that those around it have ended.
const REFUSED: Duration = Duration::from_secs(1);

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

impl Entry {
    /// Returns true if it is the same process, below the same parent.
    fn of(&self, before: &Self) -> bool {
        (self.start, self.parent) == (before.start, before.parent)
    }
}

/// Who has this process id now.
pub(crate) fn identity(pid: i32) -> Option<Identity> {
    Some((pid, stat(pid)?.start))
}

/// The creator of a process, and the session that it is in.
pub(crate) fn parent_and_session(pid: i32) -> Option<(i32, i32)> {
    stat(pid).map(|it| (it.parent, it.session))
}

/// Whether `/proc` belongs to another PID namespace than this process: all numbers in it then mean other processes here.
pub(crate) fn proc_is_foreign() -> bool {
    // "NSpid" lists our ids from the namespace of this /proc down to our own: proc_pid_status(5).
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ids = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
    ids.is_some_and(|ids| ids.split_whitespace().count() > 1)
}

/// All living processes below this one.
pub(crate) fn below_this() -> Vec<Identity> {
    below(&[this()], &[], |_, _| false)
}

/// All living processes below this one.
pub(crate) fn below_process(pid: i32) -> Vec<Identity> {
    below(&[pid], &[], |_, _| false)
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

/// A file of a process. The kernel cuts its name at a byte, also within a letter.
fn read(pid: i32, file: &str) -> Option<String> {
    let bytes = fs::read(format!("/proc/{pid}/{file}")).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

fn stat(pid: i32) -> Option<Entry> {
    let text = read(pid, "stat")?;
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
    among(&processes(), stat, roots, spared, also)
}

/// The same among processes that were read one after the other. Meanwhile a parent may have ended, and an unrelated process may
/// have its number. The next pass handles a process that `now` no longer finds below the same parent.
fn among(
    all: &HashMap<i32, Entry>,
    now: impl Fn(i32) -> Option<Entry>,
    roots: &[i32],
    spared: &[Identity],
    also: impl Fn(i32, &Entry) -> bool,
) -> Vec<Identity> {
    let mut children: HashMap<i32, Vec<(i32, &Entry)>> = HashMap::new();
    for (&pid, entry) in all {
        // A process is older than whatever is below it.
        if all.get(&entry.parent).is_some_and(|parent| parent.start <= entry.start) {
            children.entry(entry.parent).or_default().push((pid, entry));
        }
    }
    let mut found: HashSet<i32> =
        all.iter().filter(|(pid, entry)| also(**pid, entry)).map(|(pid, _)| *pid).collect();
    let mut open: Vec<i32> = roots.iter().copied().chain(found.iter().copied()).collect();
    while let Some(pid) = open.pop() {
        let mut below = children.remove(&pid).unwrap_or_default();
        below.retain(|(child, entry)| !spared.contains(&(*child, entry.start)));
        below.retain(|(child, entry)| now(*child).is_some_and(|it| it.of(entry)));
        // The parent last: what had this parent was seen while it was the same one.
        if !below.is_empty() && now(pid).map(|it| it.start) == all.get(&pid).map(|it| it.start) {
            open.extend(below.iter().map(|(child, _)| *child).filter(|child| found.insert(*child)));
        }
    }
    found
        .into_iter()
        .filter_map(|pid| all.get(&pid).filter(|entry| !entry.zombie).map(|entry| (pid, entry.start)))
        .collect()
}

/// Sends a signal to exactly this process, never to a later one with the same id.
pub(super) fn signal((pid, start): Identity, signal: Signal) -> Result<()> {
    let named = Pid::from_raw(pid).ok_or(Errno::SRCH)?;
    let same = || match stat(pid) {
        Some(entry) if entry.start == start => Ok(()),
        _ => Err(Errno::SRCH),
    };
    let by_handle = || {
        let handle = pidfd_open(named, PidfdFlags::empty())?;
        // The handle now holds whoever has the id; the start time tells whether it is still the one we meant.
        same()?;
        pidfd_send_signal(&handle, signal)
    };
    match by_handle() {
        Ok(()) => Ok(()),
        Err(Errno::SRCH) => Err(Errno::SRCH),
        // A filter of system calls may forbid both, with whatever error it likes. Between the look and the kill the id can go
        // to another process only if all other ids are used meanwhile.
        Err(_) => same().and_then(|()| kill_process(named, signal)),
    }
}

/// Ends everything below this process but those that are spared, calling `reap` in between. Returns how many were ended
/// and who is left: processes that we may not signal, or that do not end although they were killed. `reap` says whether we
/// have no child at all any more.
pub(crate) fn end_all(spared: &[Identity], gentle: bool, reap: impl FnMut() -> bool) -> (u32, Vec<Identity>) {
    let me = this();
    end(|| below(&[me], spared, |_, _| false), gentle, reap)
}

/// Ends a process that leads a group, its group, and what is below it. Who had left the tree before is not found. Returns who is left, as
/// [`end_all`] does.
pub(crate) fn end_tree(root: Identity) -> Vec<Identity> {
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
    end(find, true, || false).1
}

/// Ends all that `find` finds.
fn end(
    mut find: impl FnMut() -> Vec<Identity>,
    gentle: bool,
    mut reap: impl FnMut() -> bool,
) -> (u32, Vec<Identity>) {
    let mut ended: HashSet<Identity> = HashSet::new();
    if gentle {
        ended.extend(find().into_iter().filter(|&process| signal(process, Signal::TERM).is_ok()));
        let patience = Instant::now() + Duration::from_millis(300);
        while Instant::now() < patience && !find().is_empty() {
            std::thread::sleep(Duration::from_millis(10));
            reap();
        }
    }
    let began = Instant::now();
    let mut looked = false;
    loop {
        let victims = freeze(&mut find);
        // One look at all processes can miss one whose parent ended while we looked: it stands below the dead parent
        // still, or below its new one already. Without any child there is nobody; otherwise a second look decides.
        let done = victims.is_empty() && (looked || reap());
        if done {
            return (ended.len() as u32, victims);
        }
        looked = victims.is_empty();
        let refused = |process: &Identity| signal(*process, Signal::KILL) == Err(Errno::PERM);
        let (refused, killed): (Vec<_>, Vec<_>) = victims.into_iter().partition(refused);
        let patience = if killed.is_empty() { REFUSED } else { KILLED };
        ended.extend(&killed);
        if began.elapsed() > patience {
            return (ended.len() as u32, [refused, killed].concat());
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
            // A stopped process that left the tree will not be killed, so it continues.
            for other in stopped.difference(&found.iter().copied().collect()) {
                let _ = signal(*other, Signal::CONT);
            }
            return found;
        }
        for process in new {
            // Who is gone, or may not be stopped, is found by the next look or killed by nobody.
            let _ = signal(process, Signal::STOP);
            stopped.insert(process);
        }
    }
    find()
}

/// Kills the trees of these copies: their roots, what is below them, and what is in the sessions that they lead. Returns how long each root
/// may take to end.
pub(super) fn kill_copies(roots: &[i32], lead_sessions: bool) -> Vec<Duration> {
    // Children of ours that were not waited for: their ids cannot be another's yet.
    let identities: Vec<Option<Identity>> = roots.iter().map(|&root| identity(root)).collect();
    let living: HashSet<i32> = identities.iter().flatten().map(|&(root, _)| root).collect();
    let roots: Vec<i32> = living.iter().copied().collect();
    for process in below(&roots, &[], |_, entry| lead_sessions && living.contains(&entry.session)) {
        // Who could not be killed is told at the end of the batch.
        let _ = signal(process, Signal::KILL);
    }
    let patience = |root: &Option<Identity>| match root.map(|root| signal(root, Signal::KILL)) {
        Some(Err(Errno::PERM)) => REFUSED,
        _ => KILLED,
    };
    identities.iter().map(patience).collect()
}

/// Whether a child of ours is known to have ended. It may wait for its tracer to take that in before we can.
pub(super) fn has_ended(child: i32) -> bool {
    stat(child).is_some_and(|entry| entry.zombie)
}

/// What to say of a process.
pub(crate) fn who(pid: i32) -> Who {
    let name = read(pid, "comm");
    Who { pid, name: name.map(|name| name.trim_end().to_owned()) }
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
    let text = read(pid, "status")?;
    let field = |name: &str| -> Option<u64> {
        let line = text.lines().find(|line| line.starts_with(name))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib * 1024)
    };
    Some((field("RssAnon:")? + field("RssShmem:")?, field("RssFile:")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(parent: i32, start: u64) -> Entry {
        Entry { parent, group: 0, session: 0, start, zombie: false }
    }

    fn found(all: &HashMap<i32, Entry>, now: &HashMap<i32, Entry>) -> Vec<i32> {
        let found = among(all, |pid| now.get(&pid).copied(), &[2], &[(6, 30)], |_, _| false);
        let mut found: Vec<i32> = found.into_iter().map(|(pid, _)| pid).collect();
        found.sort_unstable();
        found
    }

    #[test]
    fn a_strangers_process_is_not_below_who_has_its_parents_number_now() {
        let all = HashMap::from([
            (2, entry(1, 10)),
            (3, entry(2, 20)),
            (4, entry(3, 20)),
            // Its parent had that number before.
            (5, entry(3, 15)),
            (6, entry(2, 30)),
            (7, entry(6, 40)),
        ]);
        assert_eq!(found(&all, &all), [3, 4]);
        let with = |pid, entry| {
            let mut now = all.clone();
            now.insert(pid, entry);
            now
        };
        // It has another parent, or another process has its number, or its parent's.
        assert_eq!(found(&all, &with(4, entry(1, 20))), [3]);
        assert_eq!(found(&all, &with(4, entry(3, 50))), [3]);
        assert_eq!(found(&all, &with(3, entry(2, 50))), [0; 0]);
        let mut now = all.clone();
        now.remove(&3);
        assert_eq!(found(&all, &now), [0; 0]);
    }

    #[test]
    fn who_left_the_tree_after_it_was_stopped_goes_on() {
        let mut sleeper = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let process = identity(sleeper.id().cast_signed()).unwrap();
        let is_stopped = || read(process.0, "stat").unwrap().contains(") T ");
        let mut looks = 0;
        let found = freeze(&mut || {
            looks += 1;
            if looks == 1 {
                return vec![process];
            }
            while !is_stopped() {
                std::thread::yield_now();
            }
            Vec::new()
        });
        let stopped = is_stopped();
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
        assert_eq!((found, looks, stopped), (Vec::new(), 2, false));
    }
}
