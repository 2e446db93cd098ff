//! What this trace could not see and why, and what to know before believing its numbers.

use super::analysis::Analysis;
use super::counts::Counts;
use super::report::{Level, SharerKind, TraceReport};
use super::setting::{Facts, Operation, Scheduling};
use crate::missing::{Lack, NotMeasured, Obstacle, Quantity};
use crate::warning::{Caution, Warning};

/// The CPU time that the hypervisor took is worth a warning from this share of the wall time on.
const STEAL: f64 = 0.01;
/// Waiting for a CPU of which the stream does not show who held it is worth one from this share on.
const UNKNOWN: f64 = 0.01;

/// What to know before believing a number.
pub(super) fn warnings(it: &Analysis, counts: &Counts, facts: &Facts, report: &TraceReport) -> Vec<Warning> {
    let mut all = Vec::new();
    if report.lost.any() {
        all.push(Caution::Lost { records: report.lost.records() });
    }
    let (paths, stacks) = (report.lost.string, report.lost.stack);
    if paths + stacks > 0 {
        all.push(Caution::NamesUnread { paths, stacks });
    }
    let failed = report.checks.iter().filter(|check| !check.holds);
    all.extend(
        failed
            .filter_map(|it| Some(Caution::CheckFailed { check: it.kind?, left: it.left, right: it.right })),
    );
    if it.line.flaws.disorder > 0 {
        all.push(Caution::Late { events: it.line.flaws.disorder });
    }
    if it.began.is_none() {
        all.push(Caution::NothingBegan);
    }
    if it.tasks.timeless > 0 {
        all.push(Caution::TasksUntold { tasks: it.tasks.timeless });
    }
    if it.line.idle.unwatched > 0 {
        all.push(Caution::AffinitiesUntold { tasks: it.line.idle.unwatched });
    }
    scheduling(it, facts, report, &mut all);
    let ring = |call| it.line.setting.abi.known(call).is_some_and(|name| name.starts_with("io_uring_"));
    if counts.calls.iter().any(|cell| ring(cell.call)) {
        all.push(Caution::IoUring);
    }
    facts.warnings.iter().cloned().chain(all.into_iter().map(Warning::from)).collect()
}

fn scheduling(it: &Analysis, facts: &Facts, report: &TraceReport, all: &mut Vec<Caution>) {
    if let Some(seconds) =
        facts.steal_ns.map(super::ledger::seconds).filter(|steal| *steal > STEAL * report.wall_s)
    {
        all.push(Caution::StealDuringTrace { seconds });
    }
    if facts.quota_used_up() && it.line.setting.whole() {
        let times = facts.throttled.map_or(0, |throttled| throttled.times);
        all.push(Caution::QuotaUsedUp { times });
    }
    let unknown = report.cpu_sharers.iter().filter(|row| row.kind == SharerKind::Unknown);
    let seconds: f64 = unknown.map(|row| row.seconds).sum();
    let of_s: f64 = report.cpu_sharers.iter().map(|row| row.seconds).sum();
    if seconds > UNKNOWN * of_s {
        all.push(Caution::HolderUnknown { seconds, of_s });
    }
}

/// What is missing so far; a quantity has one entry.
struct Gaps {
    all: Vec<NotMeasured>,
    /// The full level was tried, and what it lacks here has an entry of its own.
    full_listed: bool,
}

impl Gaps {
    fn add(&mut self, quantity: Quantity, reason: Obstacle) {
        if !self.all.iter().any(|entry| entry.quantity.as_ref() == Some(&quantity)) {
            self.all.push(NotMeasured::new(quantity, reason));
        }
    }

    /// A field of the report.
    fn field(&mut self, field: &'static str, reason: Obstacle) {
        self.add(Quantity::Report { field: field.into() }, reason);
    }

    /// What the full level would see.
    fn level(&self, lacks: Lack) -> Obstacle {
        Obstacle::Level { lacks, full_listed: self.full_listed }
    }
}

/// What this level could not see, and why.
pub(super) fn not_measured(
    it: &Analysis,
    counts: &Counts,
    facts: &Facts,
    report: &TraceReport,
) -> Vec<NotMeasured> {
    let refused =
        |entry: &NotMeasured| matches!(entry.quantity, Some(Quantity::FullLevel { refused: true, .. }));
    let full_listed = facts.not_measured.iter().any(refused);
    let mut gaps = Gaps { all: facts.not_measured.clone(), full_listed };
    let level = it.line.setting.level;
    if level == Level::Rusage {
        gaps.add(Quantity::ProcessTree, gaps.level(Lack::Tree));
        gaps.field("processes.{forks, threads, execs, exits, alive}", Obstacle::OnlySums);
    }
    by_scheduling(it, report, &mut gaps);
    if matches!(level, Level::Rusage | Level::Unprivileged) {
        gaps.add(Quantity::SystemCalls, gaps.level(Lack::Calls));
        gaps.add(Quantity::FailedExecs, gaps.level(Lack::FailedExecs));
        gaps.add(Quantity::UserAndKernelTime { of_some: false }, gaps.level(Lack::KernelEntries));
    } else if report.commands.iter().any(|row| row.running_kernel_s.is_none()) {
        gaps.add(Quantity::UserAndKernelTime { of_some: true }, Obstacle::LostAtExec);
    }
    if report.commands.iter().any(|row| row.running_kernel_s.is_some()) {
        gaps.add(Quantity::KernelTimeOutsideCalls, Obstacle::NoEndOfFaults);
    }
    if report.overhead.calibrated_share.is_none() {
        let why = if level == Level::Full { Obstacle::CalibrationMoved } else { Obstacle::NotCalibrated };
        gaps.add(Quantity::CalibratedOverhead, why);
    }
    if report.overhead.traced_over_untraced.is_none() {
        gaps.add(Quantity::MeasuredOverhead, Obstacle::NoUntracedRun);
    }
    if level == Level::Full && counts.calls.iter().any(|cell| cell.call.compat) {
        gaps.add(Quantity::DataOf32Bit, Obstacle::CompatCalls);
    }
    if counts.calls.iter().any(|cell| cell.total_ns.is_none()) {
        gaps.add(Quantity::TimeInCalls, Obstacle::OnlyCounted);
    }
    if it.line.setting.whole() {
        work(counts, facts, &mut gaps);
    }
    gaps.all
}

/// What of the work could not be told apart.
fn work(counts: &Counts, facts: &Facts, gaps: &mut Gaps) {
    if !facts.prices.iter().any(|price| price.of == Operation::PageFault) {
        gaps.add(Quantity::WorkOfPageFaults, Obstacle::NoFaultPrice);
    }
    if !counts.calls.iter().any(|cell| cell.total_ns.is_some()) {
        let why = if counts.calls.is_empty() { Obstacle::NoCalls } else { Obstacle::CallsNotTimed };
        gaps.add(Quantity::WorkInKernel, why.clone());
        gaps.field("files", why);
    }
}

/// What depends on which scheduling records there are.
fn by_scheduling(it: &Analysis, report: &TraceReport, gaps: &mut Gaps) {
    let setting = &it.line.setting;
    let lacks = match setting.scheduling {
        Scheduling::Whole => {
            if report.avoidable.is_some_and(|avoidable| avoidable.but_for_affinity_s.is_none()) {
                gaps.field("avoidable.but_for_affinity_s", Obstacle::QuotaUsedUp);
            }
            if setting.open.is_empty() {
                gaps.field("avoidable.by_pinning_s", Obstacle::OpenCpusUnknown);
            }
            if setting.cores.is_empty() {
                gaps.field("avoidable.sibling_only_s", Obstacle::CoresUnknown);
            }
            return;
        }
        Scheduling::SwitchesOnly => Lack::WakeUps,
        Scheduling::None => Lack::Scheduling,
    };
    let untold = report.commands.iter().any(|row| row.runnable_s.is_none());
    if untold || report.commands.is_empty() {
        gaps.field("runnable_s, blocked_s", gaps.level(Lack::Schedstat));
    }
    for field in ["waits", "cpu_sharers", "avoidable_wait_s", "stages", "critical_path", "work", "files"] {
        gaps.field(field, gaps.level(lacks));
    }
    if setting.level != Level::Ptrace {
        gaps.field("transfers", gaps.level(lacks));
    }
}
