//! What the timed runs and counts say where no run that saw what a process waits for can be used: without privileges, or where observing
//! would say something else than what is to be explained.
//!
//! Seconds are those of the timed runs alone: CPU time in user mode, CPU time in the kernel, and what is left of the wall time. ptrace makes
//! every call many times as long, so that of a run under it nothing is used but counts. They say which kind of work seconds may be:
//! the rules then are those of the full level, and what they find is known as told by counts.

use std::collections::BTreeMap;

use super::account::Alternative;
use super::categories::{Categories, Category};
use super::causes::calls;
use super::delta_rows;
use super::difference::Deltas;
use super::facts::{Side, foreign};
use super::input::{ExplainInput, Untraced};
use super::medians::median;
use super::rules::Pair;
use super::system_time::TOLD_APART_S;
use crate::trace::TraceReport;
use crate::trace::report::SyscallRow;
use whyfaster_stats::Estimate;

/// Operations that take at least this part of the kernel's time by what they usually cost are what it may be for.
const LIKELY: f64 = 0.1;

/// The same where user code and the kernel's are not told apart: on a busy machine an operation takes two or three times as long.
const TOGETHER: f64 = 0.35;

/// From this part on, waiting was for what is seen to wait.
const MOSTLY: f64 = 0.5;

/// What it usually costs to make a process, and to start a program in it, seconds.
const FORK_S: f64 = 250e-6;
const EXEC_S: f64 = 550e-6;

/// Stops of ptrace make a call longer by less than so many times what the typical call takes that does not wait, and by less than this, even on
/// a busy machine.
const STOPS: f64 = 3.0;
const STOPS_S: f64 = 1e-3;

/// Calls in which nothing but this is waited for.
const WAITS: [(&str, Category); 14] = [
    ("nanosleep", Category::Sleep),
    ("clock_nanosleep", Category::Sleep),
    ("fsync", Category::Disk),
    ("fdatasync", Category::Disk),
    ("sync", Category::Disk),
    ("syncfs", Category::Disk),
    ("msync", Category::Disk),
    ("flock", Category::Lock),
    ("semop", Category::Lock),
    ("connect", Category::Network),
    ("accept", Category::Network),
    ("accept4", Category::Network),
    ("recvfrom", Category::Network),
    ("recvmsg", Category::Network),
];

/// What each part of the time is taken for.
#[derive(Clone, Copy, Debug)]
struct Kinds {
    user: Category,
    kernel: Category,
    wait: Category,
    /// User code and the kernel's are told apart.
    apart: bool,
}

/// The difference of the CPU time in user mode, over the timed rounds. `None`: the runs are too short to tell it.
pub(super) fn user_s(
    alternative: &Alternative<'_>,
    baseline: &Alternative<'_>,
    alpha: f64,
) -> Option<Estimate> {
    let apart = alternative.cpu_s?.max(baseline.cpu_s?) >= TOLD_APART_S;
    let user = |it: &Untraced| it.cpu_s.map(|_| it.user_s);
    delta_rows::untraced(&alternative.untraced, &baseline.untraced, alpha, user).filter(|_| apart)
}

/// The timed runs of the two by category, paired by round.
pub(super) fn deltas(
    given: &ExplainInput<'_>,
    alternative: &Alternative<'_>,
    baseline: &Alternative<'_>,
    pair: Pair<'_>,
) -> Deltas {
    let kinds = kinds(given, alternative, baseline, pair);
    let by_round = |side: &Alternative<'_>| -> BTreeMap<u32, Categories> {
        side.untraced.iter().map(|run| (run.round, categories(run, kinds))).collect()
    };
    let (here, there) = (by_round(alternative), by_round(baseline));
    let pairs: Vec<(&Categories, &Categories)> =
        here.iter().filter_map(|(round, categories)| Some((categories, there.get(round)?))).collect();
    Deltas::paired(&pairs)
}

/// The parts of one run. Those on the path sum to its wall time: of work that runs on several CPUs at once, each kind is there in proportion.
fn categories(run: &Untraced, kinds: Kinds) -> Categories {
    let cpu_s = run.cpu_s.unwrap_or(0.0);
    let (user_s, kernel_s) = if kinds.apart { (run.user_s, cpu_s - run.user_s) } else { (0.0, cpu_s) };
    let on_path = if cpu_s > run.wall_s { run.wall_s / cpu_s } else { 1.0 };
    let mut categories = Categories::new();
    for (category, work) in [(kinds.user, user_s), (kinds.kernel, kernel_s)] {
        let amount = categories.entry(category).or_default();
        amount.path += work * on_path;
        amount.work += work;
    }
    categories.entry(kinds.wait).or_default().wait += (run.wall_s - cpu_s).max(0.0);
    categories
}

/// What the parts of the difference are taken for, by the counts of the side that has more of each.
fn kinds(
    given: &ExplainInput<'_>,
    alternative: &Alternative<'_>,
    baseline: &Alternative<'_>,
    pair: Pair<'_>,
) -> Kinds {
    let of = |side: &Alternative<'_>, part: &dyn Fn(&Untraced) -> f64| {
        median(&side.untraced.iter().map(part).collect::<Vec<_>>())
    };
    let more = |part: &dyn Fn(&Untraced) -> f64| of(alternative, part) - of(baseline, part);
    let cpu = |it: &Untraced| it.cpu_s.unwrap_or(0.0);
    let apart = of(alternative, &cpu).max(of(baseline, &cpu)) >= TOLD_APART_S;
    let user_s = if apart { more(&|it| it.user_s) } else { 0.0 };
    let kernel_s = more(&cpu) - user_s;
    let (likely, usual_s) = likely(pair.by(kernel_s));
    let enough = kernel_s.abs() * if apart { LIKELY } else { TOGETHER };
    let kernel = match usual_s >= enough {
        true => likely,
        // The kernel's account has it as system time.
        false if apart => Category::Kernel,
        false => Category::Rest,
    };
    // What a process computes beside being made is not told from that: as far as its making usually costs.
    let of_processes = kernel == Category::Process && user_s * kernel_s > 0.0 && usual_s >= user_s.abs();
    let user = match of_processes {
        true => Category::Process,
        false if not_told(alternative, baseline, user_s, more(&|it| it.switches)) => Category::Rest,
        false => Category::User,
    };
    let wait_s = more(&|it| (it.wall_s - cpu(it)).max(0.0));
    // Who starts a program waits for its end, and no longer than making it usually costs.
    let for_them = kernel == Category::Process && wait_s * kernel_s > 0.0 && wait_s.abs() <= usual_s;
    let wait = waited(alternative, baseline, wait_s)
        .or_else(|| queued(given, alternative, baseline, wait_s))
        .or(for_them.then_some(kernel));
    Kinds { user, kernel, wait: wait.unwrap_or(Category::Rest), apart }
}

/// Whether user code may as well be that of programs that start, of which nobody counted any: who starts one waits for its end.
fn not_told(alternative: &Alternative<'_>, baseline: &Alternative<'_>, user_s: f64, switches: f64) -> bool {
    let counted = !alternative.counts.is_empty() && !baseline.counts.is_empty();
    !counted && switches * user_s.signum() * (FORK_S + EXEC_S) >= TOGETHER * user_s.abs()
}

/// The operations of which the one side has more, that usually cost the most, and these seconds. What they cost here is not known: the
/// prices, of machines of these years, only tell counts that may matter from those that cannot.
fn likely((slow, fast): (&Side, &Side)) -> (Category, f64) {
    const NS: f64 = 1e-9;
    let more = |of: fn(&Side) -> f64| (of(slow) - of(fast)).max(0.0);
    let all = [
        (Category::Process, (more(|it| it.forks) * FORK_S + more(|it| it.execs) * EXEC_S) / NS),
        (Category::Search, more(|it| it.misses()) * 1_500.0),
        (Category::FileData, more(|it| it.file.calls) * 500.0 + more(|it| it.file.bytes) * 0.1),
        (Category::Pipe, more(|it| it.pipe.calls) * 500.0 + more(|it| it.pipe.bytes) * 0.1),
        (Category::FileMetadata, more(|it| it.names) * 1_500.0),
        (Category::Descriptor, more(|it| it.descriptors) * 100.0),
        (Category::Calls, calls::more_calls((slow, fast)) * 100.0),
        (Category::Faults, more(|it| it.faults) * 500.0),
        (Category::Network, more(|it| it.sockets.calls) * 3_000.0),
    ];
    let largest = all.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
    largest.map_or((Category::Rest, 0.0), |(category, ns)| (category, ns * NS))
}

/// What at least half of the waiting was for, where calls that wait for nothing else show it: longer than their stops under ptrace.
fn waited(alternative: &Alternative<'_>, baseline: &Alternative<'_>, wait_s: f64) -> Option<Category> {
    let of = |side: &Alternative<'_>, wanted: Category| {
        side.counted(|report| {
            let rows = report.syscalls.iter().filter(|row| WAITS.contains(&(row.name.as_str(), wanted)));
            let stops_s = stops_s(report);
            rows.map(|row| (row.total_s.unwrap_or(0.0) - row.calls as f64 * stops_s).max(0.0)).sum()
        })
    };
    let more = |wanted| (wanted, (of(alternative, wanted) - of(baseline, wanted)) * wait_s.signum());
    let kinds = [Category::Sleep, Category::Disk, Category::Lock, Category::Network].map(more);
    let most = kinds.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
    most.filter(|(_, seconds)| *seconds > 0.0 && *seconds >= MOSTLY * wait_s.abs()).map(|it| it.0)
}

/// What stops may add to a call, seconds: a few calls that wait are as likely as any to be interrupted, and the typical one is not.
fn stops_s(report: &TraceReport) -> f64 {
    let waits = |row: &SyscallRow| WAITS.iter().any(|(name, _)| *name == row.name);
    let others = report.syscalls.iter().filter(|row| row.calls > 0 && !waits(row));
    let typical: Vec<f64> = others.filter_map(|row| Some(row.total_s? / row.calls as f64)).collect();
    if typical.is_empty() { STOPS_S } else { (STOPS * median(&typical)).min(STOPS_S) }
}

/// Whether at least half of the waiting was for a CPU that others had, by the scheduler's account of one run of each. The account holds what the command's
/// own processes kept each other waiting, too, and the time for which a cgroup had used up its share: so others must have had as much.
fn queued(
    given: &ExplainInput<'_>,
    alternative: &Alternative<'_>,
    baseline: &Alternative<'_>,
    wait_s: f64,
) -> Option<Category> {
    let level = given.analysis.levels.iter().find(|level| level.load == 1)?;
    let of = |name: &str| level.results.iter().find(|it| it.alternative == name)?.run_delay_s;
    let more_s = (of(alternative.name)? - of(baseline.name)?) * wait_s.signum();
    let longer = if wait_s > 0.0 { alternative } else { baseline };
    let others_s = foreign(longer)? * longer.untraced_s;
    (more_s > 0.0 && more_s.min(others_s) >= MOSTLY * wait_s.abs()).then_some(Category::Others)
}
