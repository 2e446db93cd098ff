//! Whether what arrived fits together: sums that must agree, each from two sources.

use super::check::{A_SWITCH_NS, CheckKind};
use super::counts::Counts;
use super::event::Totals;
use super::ledger::seconds;
use super::names::Abi;
use super::processes::Counted;
use super::report::Check;
use super::task::Times;

/// How far the running time may be from the scheduler's own account.
const WITHIN: f64 = 0.01;
/// How far the sum of what CPU time was spent on may be from it.
const WORK_WITHIN: f64 = 0.02;
/// How far the critical path may be from the wall time.
const PATH_WITHIN: f64 = 0.005;

/// Sums over all tasks that are gone.
#[derive(Debug, Default)]
pub(super) struct Sums {
    lives: u64,
    times: u64,
    /// Running time by the stream and by the kernel, of tasks for which both are known.
    run: u64,
    kernel_run: u64,
    entered: u64,
}

impl Sums {
    pub(super) fn task(&mut self, life: u64, times: &Times, totals: Option<(&Totals, &Totals)>) {
        self.lives += life;
        self.times += times.life();
        let Some((totals, start)) = totals else {
            return;
        };
        self.run += times.run;
        self.kernel_run += totals.on_cpu_ns().saturating_sub(start.on_cpu_ns());
        self.entered += totals.calls_entered.unwrap_or(0);
    }
}

/// What else the checks compare.
#[derive(Debug)]
pub(super) struct Compared<'a> {
    pub(super) sums: &'a Sums,
    pub(super) counts: &'a Counts,
    pub(super) whole: bool,
    pub(super) switches: u64,
    /// How many came and went by the stream.
    pub(super) processes: Counted,
    /// Processes that are left, by the kernel.
    pub(super) alive: Option<u64>,
    /// Records that came too late for their own time.
    pub(super) late: u64,
    /// Execs that failed, by the stream.
    pub(super) failed_execs: u64,
    pub(super) abi: Abi,
    /// Taken up while it ran: a call may have begun before.
    pub(super) running: bool,
    /// Blocked time of the tasks and over all causes.
    pub(super) blocked: (u64, u64),
    /// Waiting of the tasks and over all holders.
    pub(super) waited: (u64, u64),
    /// The rows of the critical path, and the wall time, seconds.
    pub(super) path: (f64, f64),
    /// The rows of what CPU time was spent on, seconds.
    pub(super) work: f64,
    /// Running time of all tasks by the stream.
    pub(super) run: u64,
}

/// All checks that this level allows.
pub(super) fn checks(it: &Compared<'_>) -> Vec<Check> {
    let mut checks = vec![exact(CheckKind::States, seconds(it.sums.times), seconds(it.sums.lives))];
    lives(it, &mut checks);
    if it.whole {
        checks.push(exact(CheckKind::Late, count(it.late), 0.0));
        let (blocked, causes) = it.blocked;
        checks.push(exact(CheckKind::Blocked, seconds(blocked), seconds(causes)));
        let (waited, holders) = it.waited;
        checks.push(exact(CheckKind::Waiting, seconds(waited), seconds(holders)));
        checks.push(running(it));
        checks.push(work(it));
        checks.push(path(it));
    }
    calls(it, &mut checks);
    checks
}

/// What the stream tells of processes, and what the kernel counted beside it: they differ when records are lost.
fn lives(it: &Compared<'_>, checks: &mut Vec<Check>) {
    let (kernel, seen) = (&it.counts.lives, &it.processes);
    for (kind, kernel, seen) in [
        (CheckKind::Forks, kernel.forks, seen.forks),
        (CheckKind::Threads, kernel.threads, seen.threads),
        (CheckKind::Execs, kernel.execs, seen.execs),
        (CheckKind::FailedExecs, kernel.failed_execs, it.failed_execs),
        (CheckKind::Exits, kernel.exits, seen.exits),
    ] {
        checks.extend(kernel.map(|kernel| exact(kind, count(kernel), count(seen))));
    }
    if let Some(alive) = it.alive {
        checks.push(exact(CheckKind::Alive, count(alive), count(seen.alive)));
    }
    if let Some(made) = kernel.forks.zip(kernel.threads).map(|(forks, threads)| forks + threads)
        && !it.running
        && !it.counts.calls.is_empty()
    {
        checks.push(made_by_calls(it, made));
    }
}

/// Tasks are made by calls that return to the parent; one that was killed while it waited in vfork has made its child, too.
fn made_by_calls(it: &Compared<'_>, made: u64) -> Check {
    let makes = |name: &str| matches!(name, "fork" | "vfork" | "clone" | "clone3");
    let (mut returned, mut left) = (0, 0);
    for cell in it.counts.calls.iter().filter(|cell| it.abi.known(cell.call).is_some_and(makes)) {
        let failed = cell.errors.iter().map(|(_, times)| times).sum::<u64>();
        returned += cell.entered.saturating_sub(cell.not_returned + failed);
        left += cell.not_returned;
    }
    Check {
        kind: Some(CheckKind::MadeByCalls),
        what: String::new(),
        left: count(made),
        right: count(returned),
        within: 0.0,
        holds: (returned..=returned + left).contains(&made),
    }
}

/// Calls counted where they begin, where they end, and in the table.
fn calls(it: &Compared<'_>, checks: &mut Vec<Check>) {
    let lives = &it.counts.lives;
    let Some((entered, returned)) = lives.calls_entered.zip(lives.calls_returned) else { return };
    let left = it.counts.calls.iter().map(|cell| cell.not_returned).sum::<u64>();
    let table = it.counts.calls.iter().map(|cell| cell.entered).sum::<u64>();
    checks.push(exact(CheckKind::CallsReturned, count(entered), count(returned + left)));
    checks.push(exact(CheckKind::CallsOfTable, count(entered), count(table)));
    if lives.exits.is_some() {
        let streamed = count(it.sums.entered);
        checks.push(exact(CheckKind::CallsOfEnded, count(entered), streamed));
    }
}

fn running(it: &Compared<'_>) -> Check {
    let (run, kernel) = (it.sums.run, it.sums.kernel_run);
    let slack = seconds(it.switches * A_SWITCH_NS);
    let (left, right) = (seconds(run), seconds(kernel));
    Check {
        kind: Some(CheckKind::Running),
        what: String::new(),
        left,
        right,
        within: WITHIN,
        holds: (left - right).abs() <= WITHIN * left.max(right) + slack,
    }
}

/// What CPU time was spent on is put together from what tasks told and from the table of calls; the other side is the
/// scheduler's account, and the stream's where a task's was not told.
fn work(it: &Compared<'_>) -> Check {
    let (left, right) = (it.work, seconds(it.sums.kernel_run + it.run.saturating_sub(it.sums.run)));
    let slack = seconds(it.switches * A_SWITCH_NS);
    Check {
        kind: Some(CheckKind::Work),
        what: String::new(),
        left,
        right,
        within: WORK_WITHIN,
        holds: (left - right).abs() <= WORK_WITHIN * left.max(right) + slack,
    }
}

/// The rows of the path are sums over what its tasks did, the other side is from the first exec to the last end.
fn path(it: &Compared<'_>) -> Check {
    let (left, right) = it.path;
    Check {
        kind: Some(CheckKind::Path),
        what: String::new(),
        left,
        right,
        within: PATH_WITHIN,
        holds: (left - right).abs() <= PATH_WITHIN * left.max(right),
    }
}

fn exact(kind: CheckKind, left: f64, right: f64) -> Check {
    // Both sides are sums of whole numbers that were turned into the unit once, so equal sums are equal here.
    let holds = left.total_cmp(&right).is_eq();
    Check { kind: Some(kind), what: String::new(), left, right, within: 0.0, holds }
}

#[allow(clippy::cast_precision_loss, reason = "counts far below 2^53")]
fn count(count: u64) -> f64 {
    count as f64
}
