//! Trees under ptrace whose tasks end where nobody waits for it, and children that are none of the tree.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod common;

use std::fs;
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use common::skip::provided;
use common::{Held, Need, needs};
use whyfaster_core::trace::event::{Event, What};
use whyfaster_trace::Wanted;
use whyfaster_trace::unprivileged::{Seized, Tracing, possible};

/// Whoever asks for any task gets those of the whole process: one test at a time.
static ALONE: Mutex<()> = Mutex::new(());

fn able() -> Need {
    provided(possible().is_ok(), "ptrace")
}

fn until<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(began.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The letter of a task's state.
fn is(pid: i32, state: char) -> Option<()> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat[stat.rfind(')')? + 2..].starts_with(state).then_some(())
}

/// Polls until all of the tree have ended. Who traces them is who made them, so that nobody else may wait for them.
fn to_the_end(mut seized: Seized, events: &mut Vec<Event>) {
    until("the tree has ended", || {
        seized.poll(&mut |event| events.push(event)).unwrap();
        (seized.alive() == 0).then_some(())
    });
    seized.finish(&mut |event| events.push(event)).unwrap();
}

/// How a task ended, if that was told.
fn end_of(pid: i32, events: &[Event]) -> Option<i32> {
    events.iter().find_map(|event| match event.what {
        What::End { task, status, .. } if task as i32 == pid => status,
        _ => None,
    })
}

#[test]
fn a_child_that_is_not_traced_stands_before_no_traced_one() {
    needs!(able());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    // Of an ended child that nobody waits for.
    let mut other = Command::new("true").spawn().unwrap();
    let other_pid = i32::try_from(other.id()).unwrap();
    until("the other one has ended", || is(other_pid, 'Z'));
    let mut seized = Seized::open(Tracing::Events, &Wanted::default()).unwrap();
    let held = Held::new(&["sh", "-c", "/bin/true; /bin/true"]);
    let pid = held.pid;
    seized.follow(pid).unwrap();
    held.release();
    let mut events = Vec::new();
    to_the_end(seized, &mut events);
    assert_eq!(end_of(pid, &events), Some(0));
    let execs = events.iter().filter(|event| matches!(event.what, What::Exec { .. })).count();
    assert_eq!(execs, 3);
    // It is still there for who started it.
    assert!(other.wait().unwrap().success());
}

/// A shell that waits in its fork for us to let it go, and the child, which waits too.
fn in_a_fork(seized: &mut Seized, events: &mut Vec<Event>) -> (i32, i32) {
    let directory = tempfile::tempdir().unwrap();
    let go = directory.path().join("go");
    let script = format!("while [ ! -e '{}' ]; do :; done; /bin/true; exit 3", go.display());
    let held = Held::new(&["sh", "-c", &script]);
    let pid = held.pid;
    seized.follow(pid).unwrap();
    held.release();
    until("the shell has begun", || {
        seized.poll(&mut |event| events.push(event)).unwrap();
        events.iter().any(|event| matches!(event.what, What::Exec { .. })).then_some(())
    });
    fs::write(&go, "").unwrap();
    until("the shell is stopped", || is(pid, 't'));
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
    let child = children.trim().parse().unwrap();
    until("its child is stopped", || is(child, 't'));
    (pid, child)
}

#[test]
fn who_is_killed_in_a_fork_leaves_nobody_behind() {
    needs!(able());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    for (parent_too, child_too) in [(true, false), (false, true), (true, true)] {
        let mut seized = Seized::open(Tracing::Events, &Wanted::default()).unwrap();
        let mut events = Vec::new();
        let (pid, child) = in_a_fork(&mut seized, &mut events);
        for victim in [(parent_too, pid), (child_too, child)].into_iter().filter(|it| it.0).map(|it| it.1) {
            // SAFETY: a process that is ours and was not waited for.
            unsafe { libc::kill(victim, libc::SIGKILL) };
            until("it was killed", || is(victim, 'Z'));
        }
        to_the_end(seized, &mut events);
        let killed = Some(-libc::SIGKILL);
        assert_eq!(end_of(pid, &events), if parent_too { killed } else { Some(3) });
        let forked = |event: &&Event| matches!(event.what, What::Fork { child: it, parent, .. } if it as i32 == child && parent as i32 == pid);
        let told = (events.iter().filter(forked).count(), end_of(child, &events));
        match (parent_too, child_too) {
            (true, false) => assert_eq!(told, (1, Some(0))),
            (false, _) => assert_eq!(told, (1, killed)),
            // It was made and killed, and no event ever said so.
            (true, true) => assert_eq!(told, (0, None)),
        }
    }
}
