//! A stream, written line by line. Times are microseconds.

use crate::trace::counts::Counts;
use crate::trace::event::{Block, CallNumber, Context, Event, FileKind, Left, TaskKind, Tid, Totals, What};
use crate::trace::names::Abi;
use crate::trace::report::{Cause, CommandRow, PathKind, PathRow, SharerKind, TaskRow, TraceReport, WaitRow};
use crate::trace::{Analysis, Facts, Setting};

pub(super) const READ: u32 = 0;
pub(super) const WRITE: u32 = 1;
pub(super) const NANOSLEEP: u32 = 35;
pub(super) const VFORK: u32 = 58;
pub(super) const WAIT4: u32 = 61;
pub(super) const RT_SIGSUSPEND: u32 = 130;
pub(super) const FUTEX: u32 = 202;

/// CPUs 0 and 1.
pub(super) const BOTH: u64 = 0b11;

pub(super) struct Script {
    pub(super) setting: Setting,
    pub(super) facts: Facts,
    pub(super) counts: Counts,
    pub(super) events: Vec<Event>,
}

pub(super) fn totals(run_us: u64) -> Totals {
    Totals { run_ns: run_us * 1000, ..Totals::default() }
}

pub(super) fn block(number: u32, file: FileKind, inode: u64) -> Block {
    Block {
        call: Some(CallNumber { number, compat: false }),
        fault: false,
        io: false,
        file,
        inode,
        bitset: false,
    }
}

impl Script {
    pub(super) fn new() -> Self {
        let setting = Setting { abi: Abi::X86_64, ..Setting::default() };
        Self { setting, facts: Facts::default(), counts: Counts::default(), events: Vec::new() }
    }

    /// The first task, on CPU 0 from `at` on, with this program.
    pub(super) fn began(at: u64, tid: Tid, name: &str) -> Self {
        let mut script = Self::new();
        script.fork(0, 0, 0, tid, BOTH).switch(0, 0, 0, tid, Left::Runnable).exec(at, 0, tid, name);
        script
    }

    pub(super) fn add(&mut self, us: u64, cpu: u16, what: What) -> &mut Self {
        self.events.push(Event { at: us * 1000, cpu, what });
        self
    }

    pub(super) fn switch(&mut self, us: u64, cpu: u16, prev: Tid, next: Tid, left: Left) -> &mut Self {
        self.add(us, cpu, What::Switch { prev, next, left, block: None })
    }

    pub(super) fn sleep(&mut self, us: u64, cpu: u16, prev: Tid, next: Tid, block: Block) -> &mut Self {
        let left = if block.io { Left::Uninterruptible } else { Left::Sleeping };
        self.add(us, cpu, What::Switch { prev, next, left, block: Some(block) })
    }

    pub(super) fn wake(&mut self, us: u64, cpu: u16, wakee: Tid, waker: Tid, on: u16) -> &mut Self {
        self.wake_by(us, cpu, wakee, waker, on, Context::Task)
    }

    pub(super) fn wake_by(
        &mut self,
        us: u64,
        cpu: u16,
        wakee: Tid,
        waker: Tid,
        on: u16,
        context: Context,
    ) -> &mut Self {
        self.add(us, cpu, What::Wake { wakee, waker, context }).add(us, cpu, What::Queued { task: wakee, on })
    }

    pub(super) fn fork(&mut self, us: u64, cpu: u16, parent: Tid, child: Tid, allowed: u64) -> &mut Self {
        self.add(us, cpu, What::Fork { parent, child, process: child, allowed: vec![allowed] })
    }

    pub(super) fn exec(&mut self, us: u64, cpu: u16, task: Tid, name: &str) -> &mut Self {
        self.exec_after(us, cpu, task, name, Totals::default())
    }

    pub(super) fn exec_after(
        &mut self,
        us: u64,
        cpu: u16,
        task: Tid,
        name: &str,
        so_far: Totals,
    ) -> &mut Self {
        let path = Some(format!("/bin/{name}"));
        self.add(us, cpu, What::Exec { task, former: task, name: name.to_owned(), path, so_far })
    }

    pub(super) fn name(&mut self, task: Tid, name: &str, kind: TaskKind) -> &mut Self {
        self.add(self.now(), 0, What::Name { task, process: task, name: name.to_owned(), kind })
    }

    /// The task ends on this CPU, having run for so long.
    pub(super) fn end(&mut self, us: u64, cpu: u16, task: Tid, next: Tid, run_us: u64) -> &mut Self {
        self.switch(us, cpu, task, next, Left::Dead);
        self.ended(us, task, totals(run_us))
    }

    pub(super) fn ended(&mut self, us: u64, task: Tid, totals: Totals) -> &mut Self {
        self.add(us, 0, What::End { task, process: task, status: Some(0), totals })
    }

    /// So much of the task's CPU time so far went into system calls.
    pub(super) fn spent(&mut self, us: u64, task: Tid, call_us: u64) -> &mut Self {
        self.add(us, 0, What::Spent { task, call_run_ns: call_us * 1000 })
    }

    /// Its program has started up.
    pub(super) fn started(&mut self, us: u64, task: Tid, run_us: u64, call_us: u64) -> &mut Self {
        self.add(us, 0, What::Started { task, run_ns: run_us * 1000, call_run_ns: call_us * 1000 })
    }

    fn now(&self) -> u64 {
        self.events.last().map_or(0, |event| event.at / 1000)
    }

    pub(super) fn report(&self) -> TraceReport {
        let mut analysis = Analysis::new(self.setting.clone());
        self.events.iter().for_each(|event| analysis.push(event));
        analysis.finish(&self.counts, &self.facts)
    }
}

/// Seconds as whole nanoseconds: what is compared in tests.
pub(super) fn ns(seconds: f64) -> u64 {
    (seconds * 1e9).round() as u64
}

pub(super) fn us(seconds: f64) -> u64 {
    ns(seconds) / 1000
}

/// Running, waiting and being blocked, microseconds.
pub(super) fn task(report: &TraceReport, tid: Tid) -> (u64, u64, u64) {
    let row: &TaskRow = report.tasks.iter().find(|row| row.tid == tid).unwrap();
    (us(row.running_s), us(row.runnable_s.unwrap()), us(row.blocked_s.unwrap()))
}

pub(super) fn command<'a>(report: &'a TraceReport, name: &str) -> &'a CommandRow {
    report.commands.iter().find(|row| row.command == name).unwrap()
}

/// Waits as (command, cause, peer, microseconds, times).
pub(super) fn waits(report: &TraceReport) -> Vec<(&str, Cause, Option<&str>, u64, u64)> {
    fn row(row: &WaitRow) -> (&str, Cause, Option<&str>, u64, u64) {
        (&row.command, row.cause, row.peer.as_deref(), us(row.seconds), row.count)
    }
    report.waits.iter().map(row).collect()
}

/// The critical path as (command, kind, beside the kind, microseconds), the longest first.
pub(super) fn path(report: &TraceReport) -> Vec<(&str, PathKind, Option<&str>, u64)> {
    fn row(row: &PathRow) -> (&str, PathKind, Option<&str>, u64) {
        (&row.command, row.kind, row.what.as_deref(), us(row.seconds))
    }
    report.critical_path.iter().map(row).collect()
}

/// Holders as (command, holder, kind, microseconds).
pub(super) fn sharers(report: &TraceReport) -> Vec<(&str, &str, SharerKind, u64)> {
    let rows = report.cpu_sharers.iter();
    rows.map(|row| (row.command.as_str(), row.sharer.as_str(), row.kind, us(row.seconds))).collect()
}

/// All checks hold, and nothing is amiss.
pub(super) fn sound(report: &TraceReport) {
    assert!(report.checks.iter().all(|check| check.holds), "{:?}", report.checks);
    assert_eq!((report.lost.gaps, report.lost.unfinished), (0, 0), "{:?}", report.lost);
}

/// The second thread of a process begins another program, and takes the number of the first.
pub(super) fn exec_by_a_thread() -> Script {
    let mut script = Script::began(0, 10, "job");
    script.add(100, 0, What::Fork { parent: 10, child: 12, process: 10, allowed: vec![BOTH] });
    script.switch(100, 1, 0, 12, Left::Runnable).end(200, 0, 10, 0, 200);
    let name = "next".to_owned();
    script.add(300, 1, What::Exec { task: 10, former: 12, name, path: None, so_far: totals(200) });
    script.end(400, 1, 10, 0, 300);
    script
}
