//! A tree followed by ptrace: who was made by whom, what each began and how it ended, and what the scheduler did to it.
//!
//! Each end is looked at before it is taken (`waitid(2)` with `WNOWAIT`), because the task's files in `/proc` then still
//! are there and hold everything, the taking down of its memory included. A stop at the end (`PTRACE_EVENT_EXIT`) comes
//! before that.

use std::collections::{BTreeSet, HashMap};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use whyfaster_core::trace::counts::{CallGroup, Counts, Lives, Lost};
use whyfaster_core::trace::event::{Event, NotOurs, Pid, Skipped, TaskKind, Tid, Totals, What};

use super::calls::{Calls, Seen, errno, is_exec};
use super::proc::{self, Status};
use super::switches::Switches;
use super::waiting::{News, child_signals, drain, is_traced, next, release, take};
use super::{rights, stop};
use crate::clock::{now_ns, own_cpu_ns};
use crate::full::follow::{below, of_cgroup, threads};
use crate::full::found::{parent, parents_first};
use crate::full::{POLL_NS, TraceError};
use crate::wanted::{CallsBy, Wanted};

/// A new task is held for so long until its parent's event says who it is. The event follows at once, unless the parent was
/// killed on the way to it.
const HELD_NS: u64 = 100_000_000;

/// What to trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tracing {
    /// Forks, execs and ends.
    Events,
    /// Every system call as well.
    Calls,
}

/// A task of the tree.
#[derive(Clone, Debug)]
struct Task {
    process: Pid,
    /// Whose calls its calls are.
    by: CallGroup,
    /// What it had counted before it was followed.
    base: Totals,
    /// Whether its program began under our eyes, or it was followed while it ran.
    began: bool,
}

/// A new task that is held at its first stop.
#[derive(Clone, Copy, Debug)]
struct Held {
    /// The wait status of the stop.
    status: i32,
    since: u64,
}

/// A tree that is traced by ptrace. [`Seized::finish`] lets all go on untraced; without it a task that is stopped stays so until
/// this process ends.
#[derive(Debug)]
pub struct Seized {
    tracing: Tracing,
    by: CallsBy,
    calls: Option<Calls>,
    children: OwnedFd,
    tasks: HashMap<Tid, Task>,
    /// CPU time of the threads of each process that have ended.
    ended_ns: HashMap<Pid, u64>,
    /// New tasks that stopped before their parent's event said who they are.
    early: HashMap<Tid, Held>,
    /// What has not been handed on yet.
    events: Vec<Event>,
    /// Whether switches can be recorded, or why not.
    allowed: Result<(), String>,
    switches: Option<Switches>,
    samples_per_s: Option<u32>,
    lost: Lost,
    lives: Lives,
    each_call: bool,
    /// Programs that ran without the rights of their file, because they were traced.
    without_rights: BTreeSet<PathBuf>,
    /// CPU time of this process when the tracing began.
    own_cpu_ns: u64,
}

impl Seized {
    /// Makes ready to trace; nothing is followed yet.
    pub fn open(tracing: Tracing, wanted: &Wanted) -> io::Result<Self> {
        Ok(Self {
            tracing,
            by: wanted.calls_by,
            calls: (tracing == Tracing::Calls).then(|| Calls::new(wanted)),
            children: child_signals()?,
            tasks: HashMap::new(),
            ended_ns: HashMap::new(),
            early: HashMap::new(),
            events: Vec::new(),
            allowed: match tracing {
                Tracing::Events => {
                    Switches::allowed(wanted.samples_per_s).map_err(|error| unrecorded(&error))
                }
                Tracing::Calls => {
                    Err("calls are stopped at, so that switches are mostly the tracer's own".to_owned())
                }
            },
            switches: None,
            samples_per_s: wanted.samples_per_s,
            lost: Lost::default(),
            lives: Lives::default(),
            each_call: wanted.each_call,
            without_rights: BTreeSet::new(),
            own_cpu_ns: own_cpu_ns(),
        })
    }

    /// Follows a process that is held at a gate, and all that come from it. They die with this process.
    pub fn follow(&mut self, pid: i32) -> Result<(), TraceError> {
        self.seize(pid, libc::PTRACE_O_EXITKILL).map_err(|error| refused(pid, &error))?;
        let task = Task {
            process: pid as Pid,
            by: self.group(&proc::name(pid), false, pid as Pid),
            base: proc::totals(pid, pid).unwrap_or_default(),
            began: false,
        };
        self.say(What::Fork {
            parent: 0,
            child: pid as Tid,
            process: pid as Pid,
            allowed: proc::allowed(pid),
        });
        self.tasks.insert(pid as Tid, task);
        if self.allowed.is_ok() {
            let switches = Switches::of(pid, self.samples_per_s);
            self.switches = Some(switches.map_err(|error| refused(pid, &error))?);
        }
        if self.calls.is_some() {
            // Only a task that stopped can be told to stop at its calls.
            stop::interrupt(pid).map_err(|error| refused(pid, &error))?;
        }
        Ok(())
    }

    /// Follows a process that runs already, with its threads and all below it. Returns how many tasks that are.
    pub fn follow_running(&mut self, pid: i32) -> Result<usize, TraceError> {
        match self.follow_all(&|| below(pid))? {
            0 => Err(TraceError::Follow { pid, why: "there is no such process".to_owned() }),
            found => Ok(found),
        }
    }

    /// Follows the processes of a cgroup, and what comes from them.
    pub fn follow_cgroup(&mut self, directory: &Path) -> Result<usize, TraceError> {
        of_cgroup(directory).map_err(|error| TraceError::cgroup(directory, &error))?;
        self.follow_all(&|| of_cgroup(directory).unwrap_or_default())
    }

    /// Tasks of the tree that are alive.
    pub fn alive(&self) -> u64 {
        self.tasks.len() as u64
    }

    /// Takes in what happened, for a bounded time, lets every stopped task go on, and hands on the events.
    pub fn poll(&mut self, sink: &mut dyn FnMut(Event)) -> Result<(), TraceError> {
        let until = now_ns() + POLL_NS;
        // The signals are taken once nothing is left to serve, and then it is looked again. Out of time they stay, so that whoever
        // waits for them is back at once.
        let mut whole = self.serve_all(until);
        while whole && drain(&self.children) {
            whole = self.serve_all(until);
        }
        // Out of time, what a living parent has to tell of them may not be taken in yet.
        if whole {
            self.adopt_orphans();
        }
        self.hand_on(sink);
        Ok(())
    }

    /// Serves tasks until none is stopped, or it is late: false.
    fn serve_all(&mut self, until: u64) -> bool {
        let mut served = 0;
        while let Ok(Some(news)) = next(None) {
            self.serve(news);
            served += 1;
            // One that stops again and again hides the older ones.
            if served % (8 + self.tasks.len()) == 0 {
                self.serve_each(until);
            }
            if now_ns() >= until {
                return false;
            }
        }
        true
    }

    /// Serves every task that is stopped once, until it is late.
    fn serve_each(&mut self, until: u64) {
        for task in self.tasks.keys().copied().collect::<Vec<_>>() {
            if let Ok(Some(news)) = next(Some(task)) {
                self.serve(news);
                if now_ns() >= until {
                    return;
                }
            }
        }
    }

    fn serve(&mut self, news: News) {
        match news {
            News::Stopped(task) => {
                if let Some(status) = take(task) {
                    self.on_stop(task, status);
                }
            }
            News::Ended(task) => {
                // Everything is read before the end is taken.
                let known = self.tasks.get(&task).cloned();
                let totals = known.as_ref().and_then(|known| self.totals(known, task));
                if let Some(status) = take(task) {
                    self.on_end(task, status, known, totals);
                }
            }
        }
    }

    /// Whether switches of the tree are recorded, and if not, why.
    pub fn switches(&self) -> Result<(), &str> {
        self.allowed.as_ref().copied().map_err(String::as_str)
    }

    /// Hands on what is older than anything that can still come.
    fn hand_on(&mut self, sink: &mut dyn FnMut(Event)) {
        let Some(switches) = &mut self.switches else {
            return self.events.drain(..).for_each(sink);
        };
        // Records of other CPUs that are as old as this are there before the first of them is read.
        let until = now_ns();
        switches.take(&mut self.events);
        self.events.sort_by_key(|event| event.at);
        let ready = self.events.partition_point(|event| event.at < until);
        self.events.drain(..ready).for_each(sink);
    }

    /// Ends the tracing: who is still alive is told as such and goes on untraced.
    pub fn finish(mut self, sink: &mut dyn FnMut(Event)) -> Result<Counts, TraceError> {
        self.poll(sink)?;
        let alive: Vec<(Tid, Task)> = self.tasks.drain().collect();
        for (tid, task) in &alive {
            let (tid, process) = (*tid, task.process);
            let totals = self.totals(task, tid).unwrap_or_default();
            let totals = self.with_calls(tid, totals);
            self.say(What::End { task: tid, process, status: None, totals });
        }
        for (task, held) in self.early.drain() {
            stop::detach(task as i32, held.status);
        }
        release(alive.iter().map(|(tid, _)| *tid));
        if let Some(mut switches) = self.switches.take() {
            switches.take(&mut self.events);
            switches.lost.by_cpu.iter().for_each(|more| self.lost.count(more));
            self.lost.ring += switches.untold();
        }
        self.events.sort_by_key(|event| event.at);
        self.events.drain(..).for_each(sink);
        let mut counts = Counts { lost: self.lost, lives: self.lives, ..Counts::default() };
        counts.own.tool_ns = own_cpu_ns().saturating_sub(self.own_cpu_ns);
        if let Some(calls) = self.calls.take() {
            counts.lost.string += calls.unread;
            counts.calls = calls.cells();
        }
        Ok(counts)
    }

    /// Programs that ran without the rights of their file (set-user-ID, capabilities), because they were traced.
    pub fn without_rights(&self) -> &BTreeSet<PathBuf> {
        &self.without_rights
    }

    /// Takes up what runs. Repeated until no new one is found, as at the full level: what is made by a task that is traced already
    /// is traced by the kernel.
    fn follow_all(&mut self, find: &dyn Fn() -> BTreeSet<i32>) -> Result<usize, TraceError> {
        let (mut known, mut found) = (BTreeSet::new(), 0);
        loop {
            let before = known.len();
            // What observes is no part of what is observed.
            let other = |process: &i32| *process as u32 != std::process::id();
            let mut processes: Vec<i32> = find().into_iter().filter(other).collect();
            parents_first(&mut processes, |process| *process as Pid);
            for process in processes {
                for thread in threads(process) {
                    if known.insert(thread) && self.take_up(process, thread, found == 0)? {
                        found += 1;
                    }
                }
            }
            if known.len() == before {
                break;
            }
        }
        let processes: BTreeSet<Pid> = self.tasks.values().map(|task| task.process).collect();
        processes.into_iter().for_each(|process| self.note_ended(process));
        Ok(found)
    }

    /// Whether it is followed from now on. One that has ended meanwhile is no loss; that the first may not be followed is an
    /// error.
    fn take_up(&mut self, process: i32, thread: i32, first: bool) -> Result<bool, TraceError> {
        match self.seize(thread, 0) {
            Ok(()) => {
                self.found_running(process as Pid, thread);
                return Ok(true);
            }
            // Who is traced was made by one that is followed, whose event is still to come.
            Err(_) if is_traced(thread as Tid) || Status::of(thread).has_ended() => {}
            Err(error) if first => return Err(refused(thread, &error)),
            Err(_) => self.skip(process as Pid, thread),
        }
        Ok(false)
    }

    fn found_running(&mut self, process: Pid, thread: i32) {
        let name = proc::name(thread);
        let by = self.group(&name, false, process);
        let base = proc::totals(process as i32, thread).unwrap_or_default();
        let task = thread as Tid;
        self.say(What::Fork { parent: 0, child: task, process, allowed: proc::allowed(thread) });
        self.say(What::Name { task, process, name, kind: TaskKind::Tree });
        if let Some(parent) = parent(process) {
            self.say(What::Below { task, parent });
        }
        self.tasks.insert(task, Task { process, by, base, began: true });
        if self.calls.is_some() && stop::interrupt(thread).is_err() {
            self.lost.storage += 1;
        }
    }

    /// Threads of a process that had ended before it was followed.
    fn note_ended(&mut self, process: Pid) {
        let threads = self.tasks.values().filter(|task| task.process == process);
        let there: u64 = threads.map(|task| task.base.run_ns).sum();
        if let Some(all) = proc::process_ns(process as i32) {
            self.ended_ns.insert(process, all.saturating_sub(there));
        }
    }

    fn skip(&mut self, process: Pid, thread: i32) {
        let (task, name, why) = (thread as Tid, proc::name(thread), NotOurs::Refused);
        self.say(What::Skipped(Skipped { task, process, name, why, totals: None }));
    }

    fn seize(&self, pid: i32, more: i32) -> io::Result<()> {
        let good = if self.calls.is_some() { libc::PTRACE_O_TRACESYSGOOD } else { 0 };
        let options = stop::EVENTS | libc::PTRACE_O_TRACEEXEC | good | more;
        stop::seize(pid, options)
    }

    /// How a stopped task goes on.
    fn how(&self) -> libc::c_uint {
        if self.calls.is_some() { libc::PTRACE_SYSCALL } else { libc::PTRACE_CONT }
    }

    fn on_stop(&mut self, task: Tid, status: i32) {
        let (event, signal, pid) = (status >> 16, libc::WSTOPSIG(status), task as i32);
        match event {
            libc::PTRACE_EVENT_FORK | libc::PTRACE_EVENT_VFORK | libc::PTRACE_EVENT_CLONE => {
                if let Ok(child) = stop::message(pid) {
                    self.on_fork(task, child as Tid);
                }
            }
            libc::PTRACE_EVENT_EXEC => self.on_exec(task),
            0 if signal == stop::AT_CALL => self.on_call(task),
            _ if !self.tasks.contains_key(&task) => {
                // It waits until its parent's event says who it is.
                self.early.insert(task, Held { status, since: now_ns() });
                return;
            }
            _ => return stop::pass_on(self.how(), pid, status),
        }
        stop::go_on(self.how(), pid, 0);
    }

    fn on_fork(&mut self, parent: Tid, child: Tid) {
        let Some(mother) = self.tasks.get(&parent).cloned() else { return };
        if self.tasks.contains_key(&child) {
            // The event came so late that the child was taken for an orphan.
            return;
        }
        let process = Status::of(child as i32).process().unwrap_or(child);
        let by =
            if process == mother.process { mother.by } else { self.group(&mother.by.name, true, process) };
        self.say_of(parent, What::Fork { parent, child, process, allowed: proc::allowed(child as i32) });
        if !is_traced(child) {
            // Its end was taken before this. Until its first stop only this signal ends a task.
            return self.ended(child, process, Some(-libc::SIGKILL), None);
        }
        self.tasks.insert(child, Task { process, by, base: Totals::default(), began: mother.began });
        self.let_go(child);
    }

    /// A task that was held goes on.
    fn let_go(&mut self, task: Tid) {
        if let Some(held) = self.early.remove(&task) {
            stop::pass_on(self.how(), task as i32, held.status);
        }
    }

    /// A task is about to be forgotten. If it was killed on the way to the event that says whom it made, that never comes; who is
    /// held and was made by it, or by nobody who is left, is let go in its place.
    fn adopt_of(&mut self, ended: Tid, process: Pid, killed: bool) {
        let has = |it: Pid| self.tasks.iter().any(|(task, known)| known.process == it && *task != ended);
        // Of a thread that went by itself no event is missing.
        if !killed && has(process) {
            return;
        }
        let made_by_it = |child: &Tid| {
            let status = Status::of(*child as i32);
            match status.process() {
                Some(of) if of != *child => of == process,
                _ => status.parent().is_some_and(|parent| parent == process || !has(parent)),
            }
        };
        let orphans: Vec<Tid> = self.early.keys().copied().filter(made_by_it).collect();
        orphans.into_iter().for_each(|child| self.on_fork(ended, child));
    }

    /// Lets go who is still held though the parent's event must long be there: the parent had ended before this one came. Who that
    /// was is not known.
    fn adopt_orphans(&mut self) {
        let now = now_ns();
        let late = |held: &Held| now.saturating_sub(held.since) > HELD_NS;
        let orphans: Vec<Tid> =
            self.early.iter().filter(|(_, held)| late(held)).map(|(task, _)| *task).collect();
        for task in orphans {
            let process = Status::of(task as i32).process().unwrap_or(task);
            let by = self.group(&proc::name(task as i32), true, process);
            self.say(What::Fork { parent: 0, child: task, process, allowed: proc::allowed(task as i32) });
            self.tasks.insert(task, Task { process, by, base: Totals::default(), began: true });
            self.let_go(task);
        }
    }

    fn on_exec(&mut self, task: Tid) {
        let former = stop::message(task as i32).map_or(task, |former| former as Tid);
        if former != task {
            self.take_number(task, former);
        }
        let Some(known) = self.tasks.get(&task).cloned() else { return };
        self.without_rights.extend(rights::without_rights(task as i32));
        let name = proc::name(task as i32);
        let by = self.group(&name, false, known.process);
        let so_far = self.totals(&known, task).unwrap_or_default();
        self.say_of(task, What::Exec { task, former, name, path: proc::program(task as i32), so_far });
        // The call that began the program counts for that, as at the full level: it ends in it.
        self.tasks.insert(task, Task { by, began: true, ..known });
    }

    /// A thread that was not the first one has the number of the first one now, which has ended without a word: ptrace(2),
    /// execve under ptrace. What that one ran is what the process ran and no other thread did.
    fn take_number(&mut self, task: Tid, former: Tid) {
        // The thread has left its CPU, for it answered: all records up to here are there (wait_task_inactive()).
        if let Some(switches) = &mut self.switches {
            switches.take(&mut self.events);
            switches.told_of_exec(task);
        }
        if let Some(first) = self.tasks.remove(&task) {
            let others = self.ended_ns.get(&first.process).copied().unwrap_or(0);
            let here = proc::schedstat(task as i32).map(|(run_ns, _)| run_ns);
            let ran =
                proc::process_ns(task as i32).zip(here).map(|(all, here)| all.saturating_sub(here + others));
            if let Some(ran) = ran {
                *self.ended_ns.entry(first.process).or_default() += ran;
            }
            let totals = ran.map(|run_ns| proc::since(Totals { run_ns, ..Totals::default() }, &first.base));
            self.ended(task, first.process, Some(0), totals);
        }
        if let Some(known) = self.tasks.remove(&former) {
            self.tasks.insert(task, known);
        }
        if let Some(calls) = &mut self.calls {
            calls.renumbered(former, task);
        }
    }

    fn on_call(&mut self, task: Tid) {
        let (Some(calls), Some(known)) = (&mut self.calls, self.tasks.get_mut(&task)) else { return };
        let Ok(Some(stop)) = stop::call_stop(task as i32) else { return };
        let seen = calls.stop(task, &known.by, stop, now_ns(), &mut known.began);
        let Seen::Ended(call) = seen else { return };
        let failed = call.result.and_then(errno).filter(|_| is_exec(call.call));
        if let Some(errno) = failed {
            self.say(What::ExecFailed { task, path: call.path.clone(), errno });
        }
        if self.each_call {
            self.say(What::Call(call));
        }
    }

    fn on_end(&mut self, task: Tid, status: i32, known: Option<Task>, totals: Option<Totals>) {
        self.early.remove(&task);
        let Some(known) = known else { return };
        let killed = libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGKILL;
        self.adopt_of(task, known.process, killed);
        self.tasks.remove(&task);
        if let Some(totals) = &totals {
            *self.ended_ns.entry(known.process).or_default() += totals.run_ns + known.base.run_ns;
        }
        if task == known.process {
            self.ended_ns.remove(&task);
        }
        let status =
            if libc::WIFSIGNALED(status) { -libc::WTERMSIG(status) } else { libc::WEXITSTATUS(status) };
        self.ended(task, known.process, Some(status), totals);
    }

    fn ended(&mut self, task: Tid, process: Pid, status: Option<i32>, totals: Option<Totals>) {
        // Whose account cannot be read is not taken for one that did nothing.
        self.lost.storage += u64::from(totals.is_none());
        let totals = self.with_calls(task, totals.unwrap_or_default());
        self.say(What::End { task, process, status, totals });
    }

    fn totals(&self, known: &Task, task: Tid) -> Option<Totals> {
        Some(proc::since(proc::totals(known.process as i32, task as i32)?, &known.base))
    }

    fn with_calls(&mut self, task: Tid, mut totals: Totals) -> Totals {
        let Some(calls) = &mut self.calls else { return totals };
        let ((entered, returned), last) = calls.gone(task);
        (totals.calls_entered, totals.calls_returned) = (Some(entered), Some(returned));
        self.lives.calls_entered = Some(self.lives.calls_entered.unwrap_or(0) + entered);
        self.lives.calls_returned = Some(self.lives.calls_returned.unwrap_or(0) + returned);
        if let Some(call) = last.filter(|_| self.each_call) {
            self.say(What::Call(call));
        }
        totals
    }

    fn group(&self, name: &str, forked: bool, process: Pid) -> CallGroup {
        let process = (self.by == CallsBy::Process).then_some(process);
        CallGroup { name: name.to_owned(), forked, subshell: false, process }
    }

    fn say(&mut self, what: What) {
        self.events.push(Event { at: now_ns(), cpu: 0, what });
    }

    /// Says something of a task that is stopped, with the CPU that it was on where that matters.
    fn say_of(&mut self, task: Tid, what: What) {
        let cpu = self.switches.as_ref().and_then(|_| proc::cpu(task as i32)).unwrap_or(0);
        self.events.push(Event { at: now_ns(), cpu, what });
    }

    /// What is traced.
    pub fn tracing(&self) -> Tracing {
        self.tracing
    }
}

impl AsFd for Seized {
    /// Readable when a task has stopped or ended: [`Seized::poll`] should come at once, for it waits.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.children.as_fd()
    }
}

/// Why no switches are recorded.
fn unrecorded(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => format!(
            "perf_event_open is refused ({error}): kernel.perf_event_paranoid above 2, or the filter of a container"
        ),
        Some(libc::EMFILE) => format!("each CPU takes a descriptor ({error}): ulimit -n allows too few"),
        _ => format!("perf events cannot be recorded ({error})"),
    }
}

fn refused(pid: i32, error: &io::Error) -> TraceError {
    let why = match error.raw_os_error() {
        Some(libc::EPERM) => {
            "tracing is not permitted: it belongs to another user, is traced already, or /proc/sys/kernel/yama/ptrace_scope forbids it".to_owned()
        }
        Some(libc::ESRCH) => "there is no such process".to_owned(),
        _ => error.to_string(),
    };
    TraceError::Follow { pid, why }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::process::Command;

    use super::super::possible;
    use super::super::waiting::alone;
    use super::*;

    #[test]
    fn who_was_made_while_others_were_taken_up_is_looked_for_again() {
        let _alone = alone();
        if possible().is_err() {
            return;
        }
        let mut sleeping = [(); 2].map(|()| Command::new("sleep").arg("60").spawn().unwrap());
        let pids = sleeping.each_ref().map(|it| it.id() as i32);
        let mut seized = Seized::open(Tracing::Events, &Wanted::default()).unwrap();
        let looks = Cell::new(0);
        let found = seized.follow_all(&|| {
            looks.set(looks.get() + 1);
            pids.into_iter().take(looks.get()).collect()
        });
        assert_eq!((found.unwrap(), looks.get(), seized.alive()), (2, 3, 2));
        seized.finish(&mut drop).unwrap();
        for it in &mut sleeping {
            it.kill().unwrap();
            it.wait().unwrap();
        }
    }
}
