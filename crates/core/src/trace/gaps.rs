//! What this trace could not see and why, and what to know before believing its numbers.

use super::analysis::Analysis;
use super::counts::Counts;
use super::report::{Level, SharerKind, TraceReport};
use super::setting::{Facts, Operation, Scheduling};
use crate::host::{NotMeasured, Warning};

/// The CPU time that the hypervisor took is worth a warning from this share of the wall time on.
const STEAL: f64 = 0.01;
/// Waiting for a CPU of which the stream does not show who held it is worth one from this share on.
const UNKNOWN: f64 = 0.01;

/// What would show what this level does not see. Where the full level was tried, what it lacks here has an entry of its own.
fn full(facts: &Facts) -> &'static str {
    if facts.not_measured.iter().any(|entry| entry.what.starts_with("the full level")) {
        "the full level sees it; what it needs here stands under \"the full level\""
    } else {
        "the full level sees it; 'whyfaster doctor' says what that needs here"
    }
}

/// What to know before believing a number.
pub(super) fn warnings(it: &Analysis, counts: &Counts, facts: &Facts, report: &TraceReport) -> Vec<Warning> {
    let mut all = facts.warnings.clone();
    let mut warn = |what: String, remedy: &str| all.push(Warning { what, remedy: remedy.to_owned() });
    if report.lost.any() {
        let lost = &report.lost;
        let sum = lost.ring + lost.map + lost.storage + lost.string + lost.stack + lost.recursion + lost.late;
        warn(
            format!("{sum} records or counters were lost, or came too late for their own time"),
            "counts may be too small and times wrong, and causes are missing: enlarge the buffer, or ask for less",
        );
    }
    for check in report.checks.iter().filter(|check| !check.holds) {
        let remedy = "something was lost or double: look at `lost` before believing a number";
        warn(format!("does not fit together: {}: {} and {}", check.what, check.left, check.right), remedy);
    }
    if it.line.flaws.disorder > 0 {
        let what = format!("{} events came late and count as if they came on time", it.line.flaws.disorder);
        warn(what, "times are wrong by as much as they were late; a report of this is welcome");
    }
    if it.began.is_none() {
        warn(
            "no program of the tree was seen to begin".to_owned(),
            "the command may not have been started, or its exec was lost",
        );
    }
    if it.tasks.timeless > 0 {
        let what = format!("{} tasks were still there and nobody said what they had used", it.tasks.timeless);
        warn(what, "they are not in the times; observe until they end");
    }
    if it.line.idle.unwatched > 0 {
        let what = format!(
            "{} tasks had sets of allowed CPUs beyond those that can be told apart",
            it.line.idle.unwatched
        );
        warn(what, "their avoidable wait is not counted");
    }
    scheduling(it, facts, report, &mut warn);
    let ring = |call| it.line.setting.abi.known(call).is_some_and(|name| name.starts_with("io_uring_"));
    if counts.calls.iter().any(|cell| ring(cell.call)) {
        let what =
            "io_uring is used: what the kernel does on its own for a ring is no system call".to_owned();
        warn(
            what,
            "reads and writes through rings are missing from the table of calls, and the CPU time of the rings' own threads \
             (iou-wrk, iou-sqp) from the tree: the kernel does not tell that they were made",
        );
    }
    all
}

fn scheduling(it: &Analysis, facts: &Facts, report: &TraceReport, warn: &mut impl FnMut(String, &str)) {
    if let Some(steal) =
        facts.steal_ns.map(super::ledger::seconds).filter(|steal| *steal > STEAL * report.wall_s)
    {
        let what = format!("the hypervisor gave {steal:.3} s of CPU time to others");
        warn(what, "that time hides in running and in waiting behind others: repeat on a quieter host");
    }
    if facts.quota_used_up() && it.line.setting.whole() {
        let times = facts.throttled.map_or(0, |throttled| throttled.times);
        let what = format!("a cgroup's CPU quota was used up ({times} times)");
        warn(
            what,
            "waits on an idle CPU, and waits while nothing of the tree ran, count as throttled and not as avoidable",
        );
    }
    let unknown = report.cpu_sharers.iter().filter(|row| row.kind == SharerKind::Unknown);
    let unknown: f64 = unknown.map(|row| row.seconds).sum();
    let waited: f64 = report.cpu_sharers.iter().map(|row| row.seconds).sum();
    if unknown > UNKNOWN * waited {
        let what = format!(
            "for {unknown:.3} s of {waited:.3} s of waiting the kernel did not show who held the CPU"
        );
        warn(what, "some switches have no record on this kernel (see `lost.gaps`)");
    }
}

/// What this level could not see, and why.
pub(super) fn not_measured(
    it: &Analysis,
    counts: &Counts,
    facts: &Facts,
    report: &TraceReport,
) -> Vec<NotMeasured> {
    let mut all = facts.not_measured.clone();
    let mut add = |what: &str, why: String| {
        if !all.iter().any(|entry| entry.what == what) {
            all.push(NotMeasured { what: what.to_owned(), why });
        }
    };
    let (level, full) = (it.line.setting.level, full(facts));
    if level == Level::Rusage {
        add("process tree", format!("this level sees one child and what it adds up for it; {full}"));
        add(
            "processes.{forks, threads, execs, exits, alive}",
            "what the kernel adds up for a parent does not say how many there were".to_owned(),
        );
    }
    by_scheduling(it, report, full, &mut add);
    if matches!(level, Level::Rusage | Level::Unprivileged) {
        add(
            "system calls",
            format!("this level stops at no system call: --level ptrace counts them, at a cost; {full}"),
        );
        add("failed execs", format!("this level sees only execs that work; {full}"));
        add(
            "running_user_s, running_kernel_s",
            format!("this level does not see when a task enters the kernel; {full}"),
        );
    } else if report.commands.iter().any(|row| row.running_kernel_s.is_none()) {
        let why =
            "the tracer did not say what a task had used before it ran another program, or lost its end";
        add("running_user_s, running_kernel_s of some commands", why.to_owned());
    }
    if report.commands.iter().any(|row| row.running_kernel_s.is_some()) {
        let why = "page faults, interrupts and the kernel's work for a task outside of its system calls are in running_user_s: \
                   the kernel shows where they begin but not where they end";
        add("kernel time outside of system calls", why.to_owned());
    }
    if report.overhead.calibrated_share.is_none() {
        let why = match level {
            Level::Full => {
                "while it was calibrated, the machine's speed moved by more than a call, a switch or a process became dearer: trace \
                 again when it is calmer"
            }
            _ => "the cost of one event was not calibrated",
        };
        add("overhead.calibrated_share", why.to_owned());
    }
    if report.overhead.traced_over_untraced.is_none() {
        add("overhead.traced_over_untraced", "no run without tracing was made".to_owned());
    }
    if level == Level::Full && counts.calls.iter().any(|cell| cell.call.compat) {
        let why = "a 32-bit program ran: its calls are counted and timed, and its waits have their causes, but their arguments \
                   are not decoded, and what they move is not counted";
        add("data moved by 32-bit programs", why.to_owned());
    }
    if counts.calls.iter().any(|cell| cell.total_ns.is_none()) {
        add("time in system calls", "calls were only counted, as asked".to_owned());
    }
    if it.line.setting.whole() {
        work(counts, facts, &mut add);
    }
    all
}

/// What of the work could not be told apart.
fn work(counts: &Counts, facts: &Facts, add: &mut impl FnMut(&str, String)) {
    if !facts.prices.iter().any(|price| price.of == Operation::PageFault) {
        let why = "the price of a page fault is not known here: their time is in that of user code";
        add("work of page faults", why.to_owned());
    }
    if !counts.calls.iter().any(|cell| cell.total_ns.is_some()) {
        let why = match counts.calls.is_empty() {
            true => "no system call was entered while it was observed: all time in the kernel is \"rest\"",
            false => "system calls were not timed: all time in the kernel is \"rest\"",
        };
        add("work in the kernel by group of calls", why.to_owned());
    }
}

/// What depends on which scheduling records there are.
fn by_scheduling(it: &Analysis, report: &TraceReport, full: &str, add: &mut impl FnMut(&str, String)) {
    let setting = &it.line.setting;
    let why = match setting.scheduling {
        Scheduling::Whole => {
            if report.avoidable.is_some_and(|avoidable| avoidable.but_for_affinity_s.is_none()) {
                let why = "the cgroup's CPU quota was used up, which looks the same for a task that may run on one CPU";
                add("avoidable.but_for_affinity_s", why.to_owned());
            }
            if setting.open.is_empty() {
                let why = "which CPUs were open to the command when it began is not known: a wait that only a pin made counts \
                           under avoidable.but_for_affinity_s";
                add("avoidable.by_pinning_s", why.to_owned());
            }
            if setting.cores.is_empty() {
                let why = "which CPUs are hardware threads of one core is not known";
                add("avoidable.sibling_only_s", why.to_owned());
            }
            return;
        }
        Scheduling::SwitchesOnly => {
            "this level sees when tasks leave and get a CPU, but not when they are woken nor who else runs: after a \
             voluntary switch, being blocked cannot be told from waiting for a CPU"
        }
        Scheduling::None => "this level sees no scheduling records",
    };
    let untold = report.commands.iter().any(|row| row.runnable_s.is_none());
    if untold || report.commands.is_empty() {
        let why = "the kernel's account of waiting (/proc/PID/schedstat) was not read: this level cannot, or the task was gone";
        add("runnable_s, blocked_s", format!("{why}; {full}"));
    }
    for what in ["waits", "cpu_sharers", "avoidable_wait_s", "stages", "critical_path", "work", "transfers"] {
        add(what, format!("{why}; {full}"));
    }
}
