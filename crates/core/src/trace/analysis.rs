//! The analysis of a stream: events go in one by one, the report comes out.
//!
//! Memory does not grow with the length of the trace. It holds the tasks that live, the tasks kept for the report
//! ([`super::rows::MOST_TASKS`]), and tables by command, cause and pipe with a bound each; less than 1000
//! bytes a living task. An event costs the same however long tasks wait.

use super::counts::Counts;
use super::event::{Event, Pid, Skipped, TaskKind, Tid, Totals, What};
use super::known::Other;
use super::labels::{self, Label, UNNAMED};
use super::path::Step;
use super::processes::Processes;
use super::report::TraceReport;
use super::rows::Tasks;
use super::searches::Searches;
use super::setting::{Facts, Scheduling, Setting};
use super::skipped::AllSkipped;
use super::stages::End;
use super::task::{State, Task};
use super::timeline::{Switch, Timeline};
use super::wrappers::Wrappers;

/// A child that executes a program takes less CPU time than this from its fork to its exec.
const OWN_NS: u64 = 1_000_000;

/// A task that was told to be still there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Left {
    pub(super) task: Tid,
    pub(super) totals: Totals,
    /// When it was told.
    pub(super) told: u64,
}

/// What follows from a stream of events, as far as it has come.
#[derive(Debug)]
pub struct Analysis {
    pub(super) line: Timeline,
    pub(super) processes: Processes,
    pub(super) searches: Searches,
    pub(super) wrappers: Wrappers,
    pub(super) skipped: AllSkipped,
    pub(super) tasks: Tasks,
    /// When the first program of the tree began.
    pub(super) began: Option<u64>,
    /// When the last event came.
    pub(super) now: u64,
    /// When the last task of the tree ended.
    pub(super) last_end: u64,
    pub(super) sums: super::checks::Sums,
    /// Tasks that were still there when observing ended: they end together, when the stream does.
    pub(super) left: Vec<Left>,
}

impl Analysis {
    /// An analysis of what is observed in this way.
    pub fn new(setting: Setting) -> Self {
        Self {
            line: Timeline::new(setting),
            processes: Processes::default(),
            searches: Searches::default(),
            wrappers: Wrappers::default(),
            skipped: AllSkipped::default(),
            tasks: Tasks::default(),
            began: None,
            now: 0,
            last_end: 0,
            sums: super::checks::Sums::default(),
            left: Vec::new(),
        }
    }

    /// An analysis that keeps through which tasks the critical path went. Its memory grows with the stream.
    pub(super) fn with_steps(setting: Setting) -> Self {
        let mut analysis = Self::new(setting);
        analysis.line.path.keep_turns();
        analysis
    }

    /// Takes in the next event. Events come sorted by time; one that comes late counts as if it came now, and that is
    /// reported.
    pub fn push(&mut self, event: &Event) {
        if event.at < self.now {
            self.line.flaws.disorder += 1;
        }
        let before = self.now;
        self.now = before.max(event.at);
        let now = self.now;
        if let What::Lost { .. } = event.what {
            self.line.hole(before, now);
        }
        self.line.advance(now);
        match &event.what {
            What::Switch { prev, next, left, block } => {
                let switch = Switch { prev: *prev, next: *next, left: *left, block: block.as_ref() };
                self.line.switch(event.cpu, now, &switch);
            }
            What::Wake { wakee, waker, context } => {
                self.line.wake(*wakee, *waker, context, now);
                self.line.path_handed(*wakee, *waker, context, now);
            }
            What::Queued { task, on } => self.line.queued(*task, *on, now),
            What::Migrate { task, to, .. } => self.line.migrate(*task, *to, now),
            What::Fork { parent, child, process, allowed } => {
                self.fork((*parent, *child, *process), allowed, event.cpu, now);
            }
            What::Exec { task, former, name, path, so_far } => {
                self.exec((*task, *former), (name, path.as_deref()), so_far, event.cpu, now)
            }
            What::Script { task, script, interpreter } => {
                if let Some(process) = self.line.known.tree.get(task).map(|task| task.process) {
                    self.wrappers.is_script(process, script, interpreter, now);
                }
            }
            What::LivesOn { task, so_far } => self.lives_on(*task, so_far, event.cpu, now),
            What::Waits { task, left, block } => self.line.found(*task, *left, *block),
            What::Below { task, parent } => self.below(*task, *parent),
            What::Pipes { task, input, output } => self.pipes(*task, *input, *output),
            What::ExecFailed { task, path, errno } => self.exec_failed(*task, path.as_deref(), *errno),
            What::Allowed { task, cpus } => self.allowed(*task, cpus, now),
            What::End { task, .. } if !self.line.known.tree.contains_key(task) => {
                self.line.flaws.unfinished.add(self.on(event.cpu));
            }
            What::End { task, status: None, totals, .. } if self.line.setting.whole() => {
                self.left.push(Left { task: *task, totals: *totals, told: now });
            }
            What::End { task, status, totals, .. } => self.end(*task, status.is_none(), Some(totals), now),
            What::Skipped(skipped) => self.skip(skipped, now),
            What::Name { task, name, kind, .. } => self.name(*task, name, *kind),
            What::Work { task, function } => self.work(*task, function, event.cpu, now),
            What::Spent { task, call_run_ns } => self.line.path_spent(*task, *call_run_ns, now),
            What::Started { task, run_ns, call_run_ns } => {
                self.line.path_started(*task, *run_ns, *call_run_ns, now);
            }
            What::Stop => self.stop(now),
            What::Call(_) | What::Stack(_) | What::Lost { .. } => {}
        }
    }

    /// The CPU of an event: without BPF it is where somebody told of it, and not where it happened.
    fn on(&self, cpu: u16) -> Option<u16> {
        self.line.setting.whole().then_some(cpu)
    }

    /// The stream is over: what follows from it, from the counts of the tracer and from what the program knows.
    pub fn finish(mut self, counts: &Counts, facts: &Facts) -> TraceReport {
        let facts = facts.with_throttling(counts.lives.throttled);
        self.close(&facts);
        self.wrappers.close();
        self.end_by_kernel(counts);
        self.report(counts, &facts)
    }

    /// The same, but the critical path by time. The analysis has kept its turns ([`Self::with_steps`]).
    pub(super) fn steps(mut self, counts: &Counts, facts: &Facts) -> Vec<Step> {
        self.close(facts);
        self.end_by_kernel(counts);
        self.line.path.steps()
    }

    fn fork(&mut self, (parent, child, process): (Tid, Tid, Pid), allowed: &[u64], cpu: u16, now: u64) {
        if child == 0 {
            // Number 0 is a CPU that idles.
            return;
        }
        if self.line.known.tree.contains_key(&child) {
            // Its end did not arrive, and the number is used again.
            if !self.line.setting.whole() {
                self.line.flaws.unfinished.add(None);
            }
            self.end(child, false, None, now);
        }
        // Who makes a task runs, though the switch may be among what was lost.
        self.line.runs_after_hole(parent, cpu, now);
        let above = self.line.known.tree.get(&parent).map(|task| (task.process, task.label));
        let thread = child != process;
        let label = match above {
            Some((_, label)) if thread => label,
            Some((_, label)) => self.line.labels.forked(label),
            None => self.line.known.others.get(&child).map_or(UNNAMED, |other| other.label),
        };
        self.line.known.others.remove(&child);
        let mut task = Task::new(process, label, now, cpu);
        task.counts = above.is_some() || self.line.setting.running;
        task.parent = above.map(|(process, _)| process);
        task.mask = self.line.idle.mask(allowed, now);
        let counts = task.counts;
        // From nothing it comes into its first state, so that a wait has a beginning as any other.
        task.state = State::Dead;
        self.line.known.tree.insert(child, task);
        if counts {
            self.line.path_forked(parent, child, thread, now);
        }
        let first = if above.is_some() { State::Runnable(cpu) } else { self.found(child) };
        self.line.turn(child, now, first);
        self.processes.forked(above.map(|(process, _)| process), process, label, now);
        self.processes.first += u64::from(parent == 0 && !thread);
        if counts && self.began.is_none() {
            self.began = Some(now);
        }
    }

    /// Who made a task that was there before.
    fn below(&mut self, tid: Tid, parent: Pid) {
        let Some(task) = self.line.known.tree.get_mut(&tid) else { return };
        task.parent = Some(parent);
        self.processes.found_below(task.process, parent);
    }

    /// The state of a task that was there before: it runs, or what comes next will tell.
    fn found(&self, task: Tid) -> State {
        let runs = |cpu: &u16| self.line.cpus.current(*cpu) == Some(task);
        self.line.cpus.all().find(runs).map_or(State::Lost, State::Running)
    }

    fn exec(
        &mut self,
        (tid, former): (Tid, Tid),
        (name, path): (&str, Option<&str>),
        so_far: &Totals,
        cpu: u16,
        now: u64,
    ) {
        if former != tid {
            self.take_number(tid, former, now);
        }
        let label = self.line.labels.of(name);
        let it = self.line.known.tree.get_mut(&tid);
        let Some(task) = it.filter(|task| task.state != State::Dead) else {
            self.line.flaws.unfinished.add(self.on(cpu));
            return;
        };
        self.processes.counted.execs += 1;
        let (by, search, process) = (task.label, task.search.take(), task.process);
        self.searches.worked(&mut self.line.labels, by, search, path);
        let begins = !task.counts;
        if begins {
            task.counts = true;
            (task.from, task.segment.from, task.since) = (now, now, now);
            // Without BPF this is told while the tracer holds it, and the records say that it has left its CPU for that.
            if task.state != State::Blocked || self.line.setting.whole() {
                task.state = State::Running(cpu);
            }
            task.last_cpu = Some(cpu);
            task.start = *so_far;
            task.base = task.start;
            self.began.get_or_insert(now);
            self.line.path_begins(tid, now);
            self.line.path_execs(tid, label, so_far, now);
        } else {
            self.line.must_run(tid, cpu, now);
            self.line.path_execs(tid, label, so_far, now);
            // A task that runs another program has run: a total of nothing is none.
            self.next_segment(tid, (*so_far != Totals::default()).then_some(so_far), now);
        }
        if let Some(task) = self.line.known.tree.get_mut(&tid) {
            task.label = label;
            if self.line.setting.scheduling != Scheduling::None {
                self.line.ledger.ran_on(label, task.last_cpu.unwrap_or(cpu));
            }
        }
        self.wrappers.execs(process, name, now);
        self.processes.renamed(process, label, begins.then_some(now));
    }

    /// A forked child is a program of its own from here on. What it did before was the way from fork to exec, unless that was more than
    /// such a way is: then that was its own, too.
    fn lives_on(&mut self, tid: Tid, so_far: &Totals, cpu: u16, now: u64) {
        let Some(task) = self.line.known.tree.get(&tid).filter(|task| task.state != State::Dead) else {
            self.line.flaws.unfinished.add(self.on(cpu));
            return;
        };
        let (process, label) = (task.process, self.line.labels.subshell(task.label));
        let begins = so_far.run_ns < OWN_NS;
        self.line.must_run(tid, cpu, now);
        self.line.path_lives_on(tid, label, begins, so_far, now);
        if begins {
            self.next_segment(tid, Some(so_far), now);
        }
        if let Some(task) = self.line.known.tree.get_mut(&tid) {
            task.label = label;
            self.line.ledger.ran_on(label, task.last_cpu.unwrap_or(cpu));
        }
        self.processes.renamed(process, label, None);
    }

    /// A thread that is not the first called exec: the others are gone, and it has the number of the first.
    fn take_number(&mut self, tid: Tid, former: Tid, now: u64) {
        if !self.line.known.tree.contains_key(&former) {
            return;
        }
        if self.line.known.tree.contains_key(&tid) {
            self.end(tid, false, None, now);
        }
        if let Some(task) = self.line.known.tree.remove(&former) {
            self.line.known.tree.insert(tid, task);
        }
        for cpu in self.line.cpus.all() {
            let it = self.line.cpus.get(cpu);
            if it.current == Some(former) {
                it.current = Some(tid);
            }
        }
    }

    fn exec_failed(&mut self, task: Tid, path: Option<&str>, errno: i32) {
        if let Some(task) = self.line.known.tree.get_mut(&task) {
            self.searches.failed(&mut self.line.labels, task.label, &mut task.search, path, errno);
        }
    }

    fn pipes(&mut self, task: Tid, input: u64, output: u64) {
        let Some(task) = self.line.known.tree.get(&task) else { return };
        let end =
            |writes| End { process: task.process, label: task.label, parent: task.parent, writes, group: 0 };
        for (inode, writes) in [(input, false), (output, true)] {
            if inode != 0 && self.line.setting.whole() {
                self.line.stages.holds(inode, end(writes));
            }
        }
    }

    fn allowed(&mut self, task: Tid, cpus: &[u64], now: u64) {
        let mask = self.line.idle.mask(cpus, now);
        let Some(task) = self.line.known.tree.get_mut(&task) else { return self.line.idle.release(mask) };
        let former = std::mem::replace(&mut task.mask, mask);
        if let State::Runnable(cpu) = task.state {
            self.line.idle.moved(&mut task.wait, (former, mask), cpu, now);
        }
        self.line.idle.release(former);
    }

    fn name(&mut self, tid: Tid, name: &str, kind: TaskKind) {
        let label = self.label_of(name, kind);
        if let Some(task) = self.line.known.tree.get_mut(&tid) {
            // A command has the name of its exec; a name that a thread gives itself later does not change it.
            if task.label == UNNAMED && task.queued_as.is_none() {
                task.label = label;
                self.processes.renamed(task.process, label, None);
                self.line.path_renamed(tid, label);
            }
            return;
        }
        if kind != TaskKind::Kernel {
            self.line.path_works(tid, None);
        }
        self.line.known.name(tid, Other { kind, label, work: None });
    }

    fn label_of(&mut self, name: &str, kind: TaskKind) -> Label {
        match kind {
            TaskKind::Kernel => self.line.labels.of(labels::kernel(name)),
            TaskKind::Tool => self.line.labels.of("whyfaster"),
            TaskKind::Tree | TaskKind::Other => self.line.labels.of(name),
        }
    }

    fn work(&mut self, task: Tid, function: &str, cpu: u16, now: u64) {
        self.line.cpus.flush(cpu, now, &self.line.known);
        self.line.path_works(task, Some(function));
        let Some(other) = self.line.known.others.get(&task).copied() else { return };
        let name = format!("{} {function}", self.line.labels.name(other.label));
        let work = Some(self.line.labels.of(&name));
        self.line.known.others.insert(task, Other { work, ..other });
    }

    /// A task is not to be observed from here on. What was seen of it before stays.
    fn skip(&mut self, it: &Skipped, now: u64) {
        self.skipped.add(it);
        if let Some(totals) = it.totals.as_ref().filter(|_| self.line.known.tree.contains_key(&it.task)) {
            // It goes on, but not in this tree.
            self.line.turn(it.task, now, State::Dead);
            self.end(it.task, true, Some(totals), now);
        }
    }

    /// All that was told to be still there ends now.
    pub(super) fn end_those_left(&mut self, now: u64) {
        self.line.settle_blocked(false, now);
        for Left { task, mut totals, told } in std::mem::take(&mut self.left) {
            let runs = |task: &Task| matches!(task.state, State::Running(_));
            if self.line.known.tree.get(&task).is_some_and(runs) {
                // It has run on since the kernel was asked.
                totals.run_ns += now - told;
            }
            self.end(task, true, Some(&totals), now);
        }
    }

    /// We end the tree: it is explained as it was until now. The times and counts of its tasks go on up to their ends.
    fn stop(&mut self, now: u64) {
        let lives = self.line.known.tree.values().any(|task| task.counts && task.state != State::Dead);
        if !lives || !self.line.setting.whole() || self.line.stopped {
            return;
        }
        self.line.settle_blocked(true, now);
        self.line.end_paths(now);
        self.line.stopped = true;
        self.last_end = now;
    }
}
