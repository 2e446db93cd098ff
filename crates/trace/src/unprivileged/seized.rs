//! A tree followed by ptrace: who was made by whom, what each began and how it ended, and what the scheduler did to it.
//!
//! Each end is looked at before it is taken (`waitid(2)` with `WNOWAIT`), because the task's files in `/proc` then still
//! are there and hold everything, the taking down of its memory included. A stop at the end (`PTRACE_EVENT_EXIT`) comes
//! before that.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use whyfaster_core::trace::counts::{CallGroup, Counts, Lives, Lost};
use whyfaster_core::trace::event::{Event, NotOurs, Pid, Skipped, TaskKind, Tid, Totals, What};

use super::calls::{Calls, Seen, errno, is_exec};
use super::switches::Switches;
use super::waiting::{child_signals, drain, next, release, take};
use super::{proc, rights, stop};
use crate::clock::{now_ns, own_cpu_ns};
use crate::full::TraceError;
use crate::full::found::{parent, parents_first};
use crate::wanted::{CallsBy, Wanted};

/// The wait status of a stop at a system call, told from a signal by this bit (`PTRACE_O_TRACESYSGOOD`).
const AT_CALL: i32 = libc::SIGTRAP | 0x80;

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

/// A tree that is traced by ptrace. Dropping it lets all go on untraced, unless they were to die with us.
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
    early: HashSet<Tid>,
    /// Tasks that their parent's event has told of and that have not stopped yet.
    awaited: HashSet<Tid>,
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
            early: HashSet::new(),
            awaited: HashSet::new(),
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
        self.follow_all(&proc::with_descendants(pid), pid)
    }

    /// Follows the processes of a cgroup, and what comes from them.
    pub fn follow_cgroup(&mut self, directory: &Path) -> Result<usize, TraceError> {
        let mut processes = proc::of_cgroup(directory);
        parents_first(&mut processes, |process| *process as Pid);
        match processes.first() {
            Some(&first) => self.follow_all(&processes, first),
            None => Ok(0),
        }
    }

    /// Tasks of the tree that are alive.
    pub fn alive(&self) -> u64 {
        self.tasks.len() as u64
    }

    /// Takes in all that happened, lets every stopped task go on, and hands on the events.
    pub fn poll(&mut self, sink: &mut dyn FnMut(Event)) -> Result<(), TraceError> {
        drain(&self.children);
        while let Some((task, ended)) = next() {
            if !self.tasks.contains_key(&task) && ended {
                // A child of this process that is not traced: whoever started it waits for it.
                break;
            }
            if ended {
                // Everything is read before the end is taken.
                let known = self.tasks.get(&task).cloned();
                let totals = known.as_ref().and_then(|known| self.totals(known, task));
                let Some(status) = take(task) else { break };
                self.on_end(task, status, known, totals);
            } else {
                let Some(status) = take(task) else { break };
                self.on_stop(task, status);
            }
        }
        self.hand_on(sink);
        Ok(())
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
        for (tid, task) in alive {
            let totals = self.totals(&task, tid).unwrap_or_default();
            let totals = self.with_calls(tid, totals);
            self.say(What::End { task: tid, process: task.process, status: None, totals });
            release(tid as i32);
        }
        if let Some(mut switches) = self.switches.take() {
            switches.take(&mut self.events);
            switches.lost.by_cpu.iter().for_each(|more| self.lost.count(more));
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

    fn follow_all(&mut self, processes: &[i32], first: i32) -> Result<usize, TraceError> {
        let mut found = 0;
        for &process in processes {
            for thread in proc::threads(process) {
                match self.seize(thread, 0) {
                    // One that has ended meanwhile is no loss; that the first may not be followed is an error.
                    Err(error) if process == first && found == 0 => return Err(refused(thread, &error)),
                    Err(error) if error.raw_os_error() == Some(libc::EPERM) => {
                        self.skip(process as Pid, thread);
                        continue;
                    }
                    Err(_) => continue,
                    Ok(()) => found += 1,
                }
                self.found_running(process as Pid, thread);
            }
            self.note_ended(process);
        }
        if found == 0 {
            return Err(TraceError::Follow { pid: first, why: "there is no such process".to_owned() });
        }
        Ok(found)
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
    fn note_ended(&mut self, process: i32) {
        let threads = self.tasks.values().filter(|task| task.process == process as Pid);
        let there: u64 = threads.map(|task| task.base.run_ns).sum();
        if let Some(all) = proc::process_ns(process) {
            self.ended_ns.insert(process as Pid, all.saturating_sub(there));
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
            0 if signal == AT_CALL => self.on_call(task),
            _ if !self.tasks.contains_key(&task) && !self.awaited.remove(&task) => {
                // It waits until its parent's event says who it is.
                self.early.insert(task);
                return;
            }
            _ => {
                self.awaited.remove(&task);
                return stop::pass_on(self.how(), pid, status);
            }
        }
        stop::go_on(self.how(), pid, 0);
    }

    fn on_fork(&mut self, parent: Tid, child: Tid) {
        let Some(mother) = self.tasks.get(&parent).cloned() else { return };
        let process = proc::process(child as i32).map_or(child, |process| process as Pid);
        let by =
            if process == mother.process { mother.by } else { self.group(&mother.by.name, true, process) };
        self.say_of(parent, What::Fork { parent, child, process, allowed: proc::allowed(child as i32) });
        self.tasks.insert(child, Task { process, by, base: Totals::default(), began: mother.began });
        if self.early.remove(&child) {
            stop::go_on(self.how(), child as i32, 0);
        } else {
            self.awaited.insert(child);
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
        self.tasks.remove(&task);
        self.early.remove(&task);
        self.awaited.remove(&task);
        let Some(known) = known else { return };
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
