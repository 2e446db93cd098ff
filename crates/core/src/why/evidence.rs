//! The numbers behind a finding: what was counted, and the rows of path and work that differ most.

use std::collections::BTreeMap;

use super::cause::Cause;
use super::facts::Side;
use super::kinds::{self, is_forked, work_kind};
use super::missing_time::UNOBSERVED;
use super::report::{Account, Evidence};
use crate::trace::report::{PathKind, PathRow, WorkKind, WorkRow};

/// Rows of path and work that stand behind a finding, each.
const ROWS: usize = 3;

/// What was counted on both sides of a cause, then the rows that differ most. `accounts` are those of the same sides,
/// `queued_s` the waiting for CPUs that counts as a part of the cause.
pub(super) fn evidence(
    cause: Cause,
    here: &Side,
    there: &Side,
    accounts: (&Account, &Account),
    queued_s: f64,
) -> Vec<Evidence> {
    let mut all: Vec<Evidence> = counted(cause)
        .iter()
        .map(|(what, unit, of)| entry((*what).to_owned(), of(here), of(there), unit))
        .filter(|it| it.here != 0.0 || it.there != 0.0)
        .collect();
    let children = children_compute(here, there);
    let (here, there) = accounts;
    all.extend(rows(path(cause, here, children), path(cause, there, children), "critical path"));
    all.extend(rows(work(cause, here, children), work(cause, there, children), "CPU time"));
    // What comes with the cause, so that the rows on the path sum to what it is worth.
    if queued_s > 0.0 {
        all.push(entry("critical path: waiting for CPUs that comes with it".to_owned(), queued_s, 0.0, "s"));
    }
    all
}

fn entry(what: String, here: f64, there: f64, unit: &str) -> Evidence {
    // A sum of nothing is -0, which would be shown.
    Evidence { what, here: here + 0.0, there: there + 0.0, unit: unit.to_owned() }
}

/// A count: what it is called, its unit, where it is.
type Count = (&'static str, &'static str, fn(&Side) -> f64);

fn counted(cause: Cause) -> &'static [Count] {
    match cause {
        Cause::Processes | Cause::Startup => {
            &[("processes made", "", |it| it.forks), ("programs begun", "", |it| it.execs)]
        }
        Cause::PathSearch => &[
            ("execs that failed", "", |it| it.failed_execs),
            ("looks at PATH that found nothing", "", |it| it.failed_looks),
        ],
        Cause::SmallIo => &[
            ("reads from pipes", "", |it| it.pipe.calls),
            ("bytes per read from a pipe", "B", |it| it.pipe.piece()),
            ("writes to pipes", "", |it| it.pipe_writes.calls),
            ("bytes per write to a pipe", "B", |it| it.pipe_writes.piece()),
            ("reads and writes of files and devices", "", |it| it.file.calls),
            ("bytes per read or write", "B", |it| it.file.piece()),
        ],
        Cause::PipeCopy => &[
            ("data through pipes", "B", |it| it.pipe.bytes),
            ("reads from pipes", "", |it| it.pipe.calls),
            ("stages", "", |it| it.stages),
        ],
        Cause::Overlap => &[
            ("CPUs kept busy", "", Side::parallelism),
            ("stages", "", |it| it.stages),
            ("CPU time", "s", |it| it.cpu_s),
        ],
        Cause::PageFaults => &[("page faults", "", |it| it.faults)],
        Cause::Lock => &[("calls for locks", "", |it| it.locks)],
        Cause::Sleep => &[("calls that sleep or poll", "", |it| it.sleeps)],
        Cause::Share => &[("changes of priority", "", |it| it.priorities)],
        Cause::Network => &[
            ("calls on sockets", "", |it| it.sockets.calls),
            ("data through sockets", "B", |it| it.sockets.bytes),
        ],
        Cause::Compute => &[("CPU time", "s", |it| it.cpu_s)],
        Cause::Disk => &[
            ("data of files and devices", "B", |it| it.file.bytes),
            ("reads and writes of files and devices", "", |it| it.file.calls),
        ],
        Cause::CpuContention => &[("CPUs that others kept busy", "", |it| it.foreign.unwrap_or(0.0))],
        Cause::Misplacement => &[
            ("CPUs of the busiest command", "", |it| it.cpus),
            ("calls that choose CPUs", "", |it| it.affinities),
        ],
        Cause::Unexplained => &[],
    }
}

/// Seconds by what a row is called.
type Rows = BTreeMap<String, f64>;

/// The rows that differ most.
fn rows(here: Rows, there: Rows, of: &str) -> Vec<Evidence> {
    let names = here.keys().chain(there.keys()).collect::<std::collections::BTreeSet<_>>();
    let get = |rows: &Rows, name: &str| rows.get(name).copied().unwrap_or(0.0);
    let mut all: Vec<Evidence> = names
        .into_iter()
        .map(|name| entry(format!("{of}: {name}"), get(&here, name), get(&there, name), "s"))
        .collect();
    all.sort_by(|a, b| (b.here - b.there).abs().total_cmp(&(a.here - a.there).abs()));
    all.truncate(ROWS);
    all
}

/// Rows of the path that belong to no cause, those that differ most.
pub(super) fn of_no_cause((here, there): (&Account, &Account)) -> Vec<Evidence> {
    let of = |account: &Account| {
        let mut rows = Rows::new();
        for row in account.critical_path.iter().filter(|row| has_no_cause(row)) {
            *rows.entry(name(row)).or_default() += row.seconds;
        }
        rows
    };
    rows(of(here), of(there), "critical path")
}

/// Whether the rules give a row of the path to no cause, as a rule (a search of PATH has its names of files): these, other calls, and
/// what nobody saw.
fn has_no_cause(row: &PathRow) -> bool {
    match row.kind {
        PathKind::Unknown | PathKind::Lost => true,
        PathKind::Kernel => {
            let kind = row.what.as_deref().and_then(work_kind);
            kind.is_none_or(|kind| matches!(kind, WorkKind::FileMetadata | WorkKind::Rest))
        }
        _ => false,
    }
}

fn path(cause: Cause, account: &Account, children: bool) -> Rows {
    let mut rows = Rows::new();
    for row in account.critical_path.iter().filter(|row| of_path(cause, row, children)) {
        *rows.entry(name(row)).or_default() += row.seconds;
    }
    rows
}

fn work(cause: Cause, account: &Account, children: bool) -> Rows {
    let mut rows = Rows::new();
    for row in account.work.iter().filter(|row| of_work(cause, row, children)) {
        *rows.entry(format!("{}, {}", row.command, kinds::words(row.kind))).or_default() += row.seconds;
    }
    rows
}

/// What a row of the path is called.
pub(super) fn name(row: &PathRow) -> String {
    let words = row.kind.words();
    match (row.kind, &row.what) {
        (PathKind::Unknown, Some(what)) if what == UNOBSERVED => what.clone(),
        (PathKind::Kernel, Some(what)) => match work_kind(what) {
            Some(kind) => format!("{} {words}, {}", row.command, kinds::words(kind)),
            None => format!("{} {words}, {what}", row.command),
        },
        (PathKind::CpuWait, Some(what)) => format!("{} {words} that {what} held", row.command),
        (PathKind::Lock, Some(what)) => format!("{} {words} that {what} held", row.command),
        (_, Some(what)) => format!("{} {words}, {what}", row.command),
        (_, None) => format!("{} {words}", row.command),
    }
}

/// Whether a row of the path may belong to the cause.
pub(super) fn on_path(cause: Cause, row: &PathRow) -> bool {
    let kernel = |kinds: &[WorkKind]| {
        row.kind == PathKind::Kernel
            && row.what.as_deref().and_then(work_kind).is_some_and(|it| kinds.contains(&it))
    };
    match cause {
        Cause::Processes => row.kind == PathKind::Forked || kernel(&[WorkKind::Process, WorkKind::Exec]),
        Cause::PathSearch => {
            row.kind == PathKind::Forked || kernel(&[WorkKind::Exec, WorkKind::FileMetadata])
        }
        Cause::Startup => row.kind == PathKind::Startup,
        Cause::SmallIo => row.kind == PathKind::User || kernel(&[WorkKind::Pipe, WorkKind::FileData]),
        Cause::PipeCopy => kernel(&[WorkKind::Pipe]),
        Cause::Overlap => matches!(row.kind, PathKind::User | PathKind::Kernel | PathKind::Forked),
        Cause::Compute => matches!(row.kind, PathKind::User | PathKind::Forked),
        Cause::PageFaults => kernel(&[WorkKind::PageFaults, WorkKind::Memory]),
        Cause::Disk => matches!(row.kind, PathKind::Disk | PathKind::WriteBack),
        Cause::Lock => row.kind == PathKind::Lock || kernel(&[WorkKind::Lock]),
        Cause::Sleep => row.kind == PathKind::Sleep || kernel(&[WorkKind::Scheduling]),
        Cause::CpuContention | Cause::Share => row.kind == PathKind::CpuWait,
        Cause::Misplacement => row.avoidable_s + row.but_for_affinity_s > 0.0,
        Cause::Network => {
            matches!(row.kind, PathKind::Network | PathKind::Outside) || kernel(&[WorkKind::Socket])
        }
        Cause::Unexplained => true,
    }
}

/// Whether a row of the work may belong to the cause.
fn in_work(cause: Cause, row: &WorkRow) -> bool {
    let kinds: &[WorkKind] = match cause {
        Cause::Processes => &[WorkKind::Process, WorkKind::Exec],
        Cause::PathSearch => &[WorkKind::Exec, WorkKind::FileMetadata],
        Cause::Startup => &[WorkKind::Startup],
        Cause::SmallIo => &[WorkKind::Pipe, WorkKind::FileData],
        Cause::PipeCopy => &[WorkKind::Pipe],
        Cause::Compute => &[WorkKind::User],
        Cause::PageFaults => &[WorkKind::PageFaults, WorkKind::Memory],
        Cause::Lock => &[WorkKind::Lock],
        Cause::Sleep => &[WorkKind::Scheduling],
        Cause::Network => &[WorkKind::Socket],
        Cause::Disk => &[WorkKind::FileData],
        Cause::Overlap | Cause::CpuContention | Cause::Misplacement | Cause::Share => &[],
        Cause::Unexplained => &[WorkKind::FileMetadata, WorkKind::FileData, WorkKind::Rest],
    };
    kinds.contains(&row.kind)
}

/// Gives seconds by command of the rows of an account that belong to a cause.
type Seconds = fn(Cause, &Account, bool) -> Vec<(String, f64)>;

/// The command whose rows make most of the cause: what the slower side has more of. Who runs is told by the CPU time, for on
/// the path some of it stands as waiting for it; who waits by the path.
pub(super) fn command(cause: Cause, sides: (&Side, &Side), accounts: (&Account, &Account)) -> Option<String> {
    let computes = children_compute(sides.0, sides.1);
    let sums = |of: Seconds| {
        let mut sums: BTreeMap<String, f64> = BTreeMap::new();
        for (account, sign) in [(accounts.0, 1.0), (accounts.1, -1.0)] {
            for (command, seconds) in of(cause, account, computes) {
                *sums.entry(kinds::base(&command).to_owned()).or_default() += sign * seconds;
            }
        }
        let most = sums.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
        most.filter(|(_, seconds)| *seconds > 0.0).map(|(command, _)| command)
    };
    let runs = matches!(cause, Cause::Compute | Cause::Startup);
    let by_work = runs.then(|| sums(work_rows)).flatten();
    by_work.or_else(|| sums(path_rows))
}

/// Children that run no program of their own compute where both sides make as many of them; else they are what processes cost.
fn children_compute(here: &Side, there: &Side) -> bool {
    (here.forks - there.forks).abs() <= 0.5 && (here.execs - there.execs).abs() <= 0.5
}

fn of_path(cause: Cause, row: &PathRow, children: bool) -> bool {
    on_path(cause, row) && (cause != Cause::Compute || children || row.kind != PathKind::Forked)
}

fn of_work(cause: Cause, row: &WorkRow, children: bool) -> bool {
    if cause == Cause::Compute && is_forked(&row.command) { children } else { in_work(cause, row) }
}

fn path_rows(cause: Cause, account: &Account, children: bool) -> Vec<(String, f64)> {
    let rows = account.critical_path.iter().filter(|row| of_path(cause, row, children));
    rows.map(|row| (row.command.clone(), row.seconds)).collect()
}

fn work_rows(cause: Cause, account: &Account, children: bool) -> Vec<(String, f64)> {
    let rows = account.work.iter().filter(|row| of_work(cause, row, children));
    rows.map(|row| (row.command.clone(), row.seconds)).collect()
}
