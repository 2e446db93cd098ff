//! Rows of path and work put into categories: what they are, before it is known which cause they belong to. The same category stands
//! on the path, where it costs time, and in the work, where it costs CPU time.

use std::collections::{BTreeMap, BTreeSet};

use super::kinds::work_kind;
use super::own_cost::{Run, is_exec};
use crate::trace::TraceReport;
use crate::trace::command::{CommandName, names};
use crate::trace::report::{Cause as Wait, PathKind, PathRow, SharerKind, SyscallRow, WorkKind};

/// What a part of the time was spent on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Category {
    /// Making, loading and ending processes, and waking up who waited for one.
    Process,
    /// Children that were forked and run no program of their own, or have not begun it yet.
    Forked,
    /// Execs and looks at directories of PATH that found nothing.
    Search,
    /// Programs that start up.
    Startup,
    /// User code of programs that make no processes.
    User,
    /// User code of programs that make processes.
    ParentUser,
    /// First use of memory by programs that make no processes.
    Faults,
    /// The same by programs that do: a fork makes them pay for every page that they then write.
    ParentFaults,
    /// Reading from and writing to pipes, and waking up who waited for one.
    Pipe,
    /// Reading and writing files.
    FileData,
    /// Names and attributes of files.
    FileMetadata,
    /// Calls on descriptors.
    Descriptor,
    /// Sockets, and waiting for the network.
    Network,
    /// Locks.
    Lock,
    /// Sleeping and polling.
    Sleep,
    /// Disks.
    Disk,
    /// Waiting for a CPU that other programs had.
    Others,
    /// Waiting for a CPU that a thread of the kernel or the hypervisor had.
    Contention,
    /// Waiting for a CPU while another one could have been had.
    Misplaced,
    /// Waiting because the quota was used up.
    Throttled,
    /// Waiting for a CPU that another process of the same tree had.
    Own,
    /// The same while another CPU could have been had.
    OwnMisplaced,
    /// The same while another CPU stood idle on which the task may not run.
    OwnForbidden,
    /// Other calls.
    Calls,
    /// System time of the timed runs, of which no count tells what it was for.
    Kernel,
    /// Anything else.
    Rest,
}

/// How much of a category there is, seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Amount {
    /// Running, on the critical path.
    pub path: f64,
    /// Waiting, on the critical path. It has no counterpart in the work.
    pub wait: f64,
    /// Waiting of the same kind beside the path, where many can wait at the same time: see [`SIDE_BY_SIDE`].
    pub wait_beside: f64,
    /// CPU time.
    pub work: f64,
}

/// The categories of a run.
pub(super) type Categories = BTreeMap<Category, Amount>;

/// Waits that many processes can have at the same time, and then wait no longer than one of them: by category, the causes of such waits.
const SIDE_BY_SIDE: [(Category, &[Wait]); 3] = [
    (Category::Sleep, &[Wait::Timer]),
    (Category::Network, &[Wait::Network]),
    (Category::Disk, &[Wait::Disk, Wait::WriteBack]),
];

/// Programs that wait on a critical path, by category.
pub(super) type Waiting<'a> = BTreeSet<(Category, &'a str)>;

/// Those of one run. Timers of others, such as a runtime's housekeeping, say nothing about what the path waits for.
pub(super) fn waiting<'a>(run: &'a Run<'_>) -> Waiting<'a> {
    let known = Known::of(run);
    let waits = run.path.iter().filter(|row| known.running(row).is_none());
    waits
        .flat_map(|row| known.wait(row).into_iter().map(|(category, _)| (category, row.command.program())))
        .collect()
}

/// Puts the rows of a run into categories. All that is on the path is in some category. `waiting`: of both sides of the comparison.
pub(super) fn categories(run: &Run<'_>, waiting: &Waiting<'_>) -> Categories {
    let known = Known::of(run);
    let mut categories = Categories::new();
    let mut beside = Beside::new();
    for row in &run.path {
        for (category, part) in known.running(row).unwrap_or_default() {
            categories.entry(category).or_default().path += part * row.seconds;
            *beside.entry((row.command.program(), category)).or_default() -= part * row.seconds;
        }
    }
    for row in &run.work {
        for (category, part) in known.work_row(&row.command, row.kind) {
            categories.entry(category).or_default().work += part * row.seconds;
            *beside.entry((row.command.program(), category)).or_default() += part * row.seconds;
        }
    }
    no_more_than_work(&mut categories);
    for row in run.path.iter().filter(|row| known.running(row).is_none()) {
        for (category, part) in known.wait(row) {
            match category {
                Category::Own if row.after == Some(Wait::Child) => {
                    behind_child(&mut categories, &beside, row, part)
                }
                _ => categories.entry(category).or_default().wait += part,
            }
        }
    }
    for (category, causes) in SIDE_BY_SIDE {
        let rows = run.report.waits.iter().filter(|row| {
            causes.contains(&row.cause) && waiting.contains(&(category, row.command.program()))
        });
        let all: f64 = rows.map(|row| row.seconds).sum();
        let amount = categories.entry(category).or_default();
        amount.wait_beside = (all - amount.wait).max(0.0);
    }
    categories
}

/// Path and work come from different counts: up to so much more on the path is the same thing.
const ALIKE: f64 = 1.05;

/// Nothing runs longer on the path than in all. What the path has beyond that, nobody overlapped: it was measured wrong, or the CPU
/// was taken away unseen, and is put where nothing is explained.
fn no_more_than_work(categories: &mut Categories) {
    let mut beyond = 0.0;
    for amount in categories.values_mut() {
        let surplus = (amount.path - amount.work).max(0.0);
        let alike = surplus.min(amount.work * (ALIKE - 1.0));
        amount.path -= surplus;
        amount.wait += alike;
        beyond += surplus - alike;
    }
    if beyond > 0.0 {
        categories.entry(Category::Rest).or_default().wait += beyond;
    }
}

/// By command and category: CPU time that is not on the path.
type Beside<'a> = BTreeMap<(&'a str, Category), f64>;

/// Who waits behind a child that it waited for before (after a vfork, or for its end) waits for what that child does: this
/// runs in place of the path, and costs what the same work on the path would.
fn behind_child(categories: &mut Categories, beside: &Beside<'_>, row: &PathRow, seconds: f64) {
    // The holder goes by the last name that it had; it may have been several programs, one after the other.
    let waits = row.command.program();
    let of_child = beside.iter().filter(|((command, _), part)| *command != waits && **part > 0.0);
    let parts: Vec<(Category, f64)> = of_child.map(|((_, category), part)| (*category, *part)).collect();
    let all: f64 = parts.iter().map(|(_, part)| part).sum();
    if all <= 0.0 {
        categories.entry(Category::Own).or_default().wait += seconds;
        return;
    }
    for (category, part) in parts {
        categories.entry(category).or_default().path += seconds * part / all;
    }
}

/// What must be known of a run to put a row into its category.
struct Known<'a> {
    /// Commands that make processes.
    parents: BTreeSet<&'a str>,
    /// Commands with work on sockets.
    sockets: BTreeSet<&'a str>,
    /// By label: part of the time of execs, and of what lies between fork and exec, that went into execs that failed.
    failed_execs: BTreeMap<&'a CommandName, f64>,
    /// By command: part of its time with names of files that went into looks at PATH that found nothing.
    failed_looks: BTreeMap<&'a str, f64>,
}

impl<'a> Known<'a> {
    fn of(run: &Run<'a>) -> Self {
        let report = run.report;
        let sockets = report.work.iter().filter(|row| row.kind == WorkKind::Socket);
        Self {
            sockets: sockets.map(|row| row.command.program()).collect(),
            failed_execs: failed_execs(run),
            failed_looks: failed_looks(run),
            parents: parents(report),
        }
    }

    /// The categories of a row of the work.
    fn work_row(&self, label: &CommandName, kind: WorkKind) -> Vec<(Category, f64)> {
        if label.is_forked() { self.exec(label, Category::Forked) } else { self.work(label, kind) }
    }

    /// Execs of this label: the ones that failed are a search.
    fn exec(&self, label: &CommandName, others: Category) -> Vec<(Category, f64)> {
        let failed = self.failed_execs.get(label).copied().unwrap_or(0.0);
        vec![(Category::Search, failed), (others, 1.0 - failed)]
    }

    /// The categories of user code, page faults or calls of one kind of one command, with the part that goes into each.
    fn work(&self, command: &CommandName, kind: WorkKind) -> Vec<(Category, f64)> {
        let program = command.program();
        let parent = self.parents.contains(program);
        let one = |category| vec![(category, 1.0)];
        match kind {
            WorkKind::User => one(if parent { Category::ParentUser } else { Category::User }),
            WorkKind::PageFaults | WorkKind::Memory => {
                one(if parent { Category::ParentFaults } else { Category::Faults })
            }
            WorkKind::Startup => one(Category::Startup),
            WorkKind::Process => one(Category::Process),
            WorkKind::Exec => self.exec(command, Category::Process),
            WorkKind::Pipe => one(Category::Pipe),
            WorkKind::FileMetadata => {
                let failed = self.failed_looks.get(program).copied().unwrap_or(0.0);
                vec![(Category::Search, failed), (Category::FileMetadata, 1.0 - failed)]
            }
            WorkKind::Descriptor => one(Category::Descriptor),
            WorkKind::FileData => one(Category::FileData),
            WorkKind::Socket => one(Category::Network),
            WorkKind::Lock => one(Category::Lock),
            WorkKind::Scheduling => one(Category::Sleep),
            WorkKind::Rest => one(Category::Calls),
        }
    }

    /// The categories of a row in which something runs, with the part that goes into each. `None`: it waits.
    fn running(&self, row: &PathRow) -> Option<Vec<(Category, f64)>> {
        let command = &row.command;
        Some(match row.kind {
            PathKind::User => self.work(command, WorkKind::User),
            PathKind::Kernel => match work_kind(row) {
                Some(kind) => self.work_row(command, kind),
                None => vec![(Category::Rest, 1.0)],
            },
            PathKind::Startup => self.work(command, WorkKind::Startup),
            PathKind::Forked => self.exec(command, Category::Forked),
            _ => return None,
        })
    }

    /// The categories of a wait, with the seconds that go into each.
    fn wait(&self, row: &PathRow) -> Vec<(Category, f64)> {
        let category = match row.kind {
            PathKind::Lock => Category::Lock,
            PathKind::Disk | PathKind::WriteBack => Category::Disk,
            PathKind::Sleep => Category::Sleep,
            PathKind::Network => Category::Network,
            PathKind::Outside if self.sockets.contains(row.command.program()) => Category::Network,
            PathKind::CpuWait => return cpu_wait(row),
            _ => Category::Rest,
        };
        vec![(category, row.seconds)]
    }
}

/// A wait for a CPU: first what could have been avoided, then by who had the CPU.
fn cpu_wait(row: &PathRow) -> Vec<(Category, f64)> {
    let misplaced = (row.avoidable_s + row.but_for_affinity_s).clamp(0.0, row.seconds);
    let (category, otherwise) = match row.holder {
        Some(SharerKind::Throttled) => return vec![(Category::Throttled, row.seconds)],
        Some(SharerKind::Tool) => return vec![(Category::Rest, row.seconds)],
        Some(SharerKind::Other) => (Category::Others, Category::Misplaced),
        Some(SharerKind::Kernel | SharerKind::Steal) => (Category::Contention, Category::Misplaced),
        // A child that waits for its parent to leave the CPU is part of what a process costs.
        Some(SharerKind::Tree)
            if row.command.is_forked()
                && row.what.as_deref().is_some_and(|it| names(it, row.command.program())) =>
        {
            (Category::Process, Category::OwnMisplaced)
        }
        Some(SharerKind::Tree) => {
            let forbidden = row.but_for_affinity_s.clamp(0.0, misplaced);
            return vec![
                (Category::OwnMisplaced, misplaced - forbidden),
                (Category::OwnForbidden, forbidden),
                (Category::Own, row.seconds - misplaced),
            ];
        }
        Some(SharerKind::Idle) => (waking_up(row), Category::Misplaced),
        Some(SharerKind::Unknown) | None => (Category::Rest, Category::Misplaced),
    };
    vec![(otherwise, misplaced), (category, row.seconds - misplaced)]
}

/// Nobody had the CPU: the time that waking up takes belongs to what was waited for.
fn waking_up(row: &PathRow) -> Category {
    match row.after {
        Some(Wait::Child) => Category::Process,
        _ if row.command.is_forked() => Category::Process,
        Some(Wait::PipeEmpty | Wait::PipeFull) => Category::Pipe,
        Some(Wait::Disk | Wait::WriteBack | Wait::PageFault) => Category::Disk,
        Some(Wait::Lock) => Category::Lock,
        Some(Wait::Timer) => Category::Sleep,
        Some(Wait::Network) => Category::Network,
        _ => Category::Rest,
    }
}

/// Commands that have children in the tree.
pub(super) fn parents(report: &TraceReport) -> BTreeSet<&str> {
    let above = report.tree.iter().filter_map(|row| report.tree.get(row.parent?));
    above.map(|row| row.command.program()).collect()
}

/// Calls that look at the attributes of a path, as shells do for every directory of PATH.
const LOOKS: [&str; 5] = ["stat", "lstat", "newfstatat", "fstatat64", "statx"];

/// Directories of PATH that are searched for one program, at most.
const LONGEST_PATH: u64 = 1_000;

/// Rows that count looks at PATH, by commands that make processes. There are none where more looks failed than the search for the programs that were
/// started can explain: then the command looks for other files.
pub(super) fn looks(report: &TraceReport) -> Vec<&SyscallRow> {
    let parents = parents(report);
    let of_a_parent =
        |row: &SyscallRow| row.command.as_ref().is_some_and(|it| parents.contains(it.program()));
    let looks = |row: &&SyscallRow| LOOKS.contains(&row.name.as_str()) && of_a_parent(row);
    let rows: Vec<&SyscallRow> = report.syscalls.iter().filter(looks).collect();
    let missed: u64 = rows.iter().map(|row| misses(row)).sum();
    let most = report.processes.execs.map_or(u64::MAX, |execs| execs.saturating_mul(LONGEST_PATH));
    if missed <= most { rows } else { Vec::new() }
}

/// How often something was not there, or was no program.
pub(super) fn misses(row: &SyscallRow) -> u64 {
    let missing = ["ENOENT", "ENOTDIR", "EACCES"];
    row.errnos.iter().filter(|(name, _)| missing.contains(&name.as_str())).map(|(_, times)| times).sum()
}

/// Seconds within calls that failed, less what observing made each of them dearer.
fn failed_s(row: &SyscallRow, dearer_s: f64) -> f64 {
    let failed = row.failed_s.unwrap_or(0.0);
    (failed - dearer_s * row.errors as f64).max(0.0)
}

fn failed_execs<'a>(run: &Run<'a>) -> BTreeMap<&'a CommandName, f64> {
    let mut failed: BTreeMap<&'a CommandName, f64> = BTreeMap::new();
    for row in run.report.syscalls.iter().filter(|row| is_exec(row) && row.errors > 0) {
        let Some(command) = &row.command else { continue };
        // What is told of each is told behind its end.
        *failed.entry(command).or_default() += failed_s(row, run.call_s / 2.0);
    }
    for (label, seconds) in &mut failed {
        // Of a child between fork and exec all rows are one category, as they are on the path.
        let group = |kind| label.is_forked() || kind == WorkKind::Exec;
        let rows = run.work.iter().filter(|row| row.command == **label && group(row.kind));
        let all: f64 = rows.map(|row| row.seconds).sum();
        *seconds = if all > 0.0 { (*seconds / all).min(1.0) } else { 0.0 };
    }
    failed
}

fn failed_looks<'a>(run: &Run<'a>) -> BTreeMap<&'a str, f64> {
    let mut failed: BTreeMap<&'a str, f64> = BTreeMap::new();
    for row in looks(run.report) {
        let Some(command) = &row.command else { continue };
        *failed.entry(command.program()).or_default() += failed_s(row, run.call_s / 2.0);
    }
    for (command, seconds) in &mut failed {
        let rows = run
            .work
            .iter()
            .filter(|row| row.command.program() == *command && row.kind == WorkKind::FileMetadata);
        let all: f64 = rows.map(|row| row.seconds).sum();
        *seconds = if all > 0.0 { (*seconds / all).min(1.0) } else { 0.0 };
    }
    failed
}
