//! What two alternatives did, counted: medians over their traced rounds. Rules look at these to tell causes apart, and
//! findings show them as evidence.

use std::collections::{BTreeMap, BTreeSet};

use super::account::Alternative;
use super::categories::{looks, misses};
use super::input::Untraced;
use super::medians::median;
use crate::trace::TraceReport;
use crate::trace::event::FileKind;
use crate::trace::report::{Direction, SharerKind, WorkKind};
use whyfaster_stats::order::largest_first;

/// One side.
#[derive(Clone, Debug, Default)]
pub(super) struct Side {
    pub name: String,
    pub wall_s: f64,
    pub cpu_s: f64,
    /// CPUs that others kept busy during the untraced runs, where that is known.
    pub foreign: Option<f64>,
    /// Processes made, and programs begun.
    pub forks: f64,
    pub execs: f64,
    /// Execs that failed, and looks at PATH that found nothing.
    pub failed_execs: f64,
    pub failed_looks: f64,
    pub faults: f64,
    pub stages: f64,
    /// Data through pipes, counted where it is read.
    pub pipe: Moved,
    /// The same, counted where it is written.
    pub pipe_writes: Moved,
    /// Data of files and devices, read and written.
    pub file: Moved,
    pub sockets: Moved,
    /// Of these: through local ones.
    pub local_sockets: Moved,
    /// The price of a call that does nothing, seconds, where it was measured.
    pub plain_call_s: Option<f64>,
    /// Calls for names and attributes of files.
    pub names: f64,
    /// Calls on descriptors.
    pub descriptors: f64,
    /// All calls, by name.
    pub calls: BTreeMap<String, Made>,
    /// Calls that change priorities.
    pub priorities: f64,
    /// Calls that choose CPUs, and the CPUs that the busiest command ran on.
    pub affinities: f64,
    pub cpus: f64,
    pub locks: f64,
    pub sleeps: f64,
    /// Programs begun and seconds of their start-ups, by command.
    pub starts: BTreeMap<String, (f64, f64)>,
    /// Who had the CPU that tasks waited for, the longest first.
    pub sharers: Vec<(String, f64)>,
    /// The stage that sets the pace.
    pub bottleneck: Option<String>,
    /// CPU seconds in calls on the data of files, by direction and path. A path of `None` stands for all other files.
    pub files: BTreeMap<(Direction, Option<String>), f64>,
}

/// Data moved, and in how many calls.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Moved {
    pub bytes: f64,
    pub calls: f64,
}

/// The number of calls of one name.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Made {
    pub calls: f64,
    /// The most frequent error, and how often.
    pub error: Option<(String, f64)>,
}

/// So many times as many processes are more of them.
const MORE_PROCESSES: f64 = 1.1;

/// Others may keep this much more of the CPUs busy for one side, as a part and in CPUs, and both count as disturbed alike.
const DISTURBED_ALIKE: (f64, f64) = (1.25, 0.1);

impl Moved {
    /// Bytes per call.
    pub(super) fn piece(self) -> f64 {
        if self.calls > 0.0 { self.bytes / self.calls } else { 0.0 }
    }
}

impl Side {
    pub(super) fn of(alternative: &Alternative<'_>) -> Self {
        let of = |number: &dyn Fn(&TraceReport) -> f64| alternative.counted(number);
        let moved = |wanted: &dyn Fn(FileKind, Direction) -> bool| Moved {
            bytes: of(&|report| transferred(report, wanted).bytes),
            calls: of(&|report| transferred(report, wanted).calls),
        };
        let account = alternative.account();
        let work_s = account.work.iter().map(|row| row.seconds).sum();
        let file =
            moved(&|file, _| !matches!(file, FileKind::Pipe | FileKind::Socket | FileKind::UnixSocket));
        let seen = alternative.counts.iter().any(|report| !report.transfers.is_empty());
        Self {
            name: alternative.name.to_owned(),
            wall_s: alternative.untraced_s,
            cpu_s: alternative.cpu_s.unwrap_or(work_s),
            foreign: foreign(alternative),
            forks: of(&|report| number(report.processes.forks)),
            execs: of(&|report| number(report.processes.execs)),
            failed_execs: of(&|report| number(report.processes.failed_execs)),
            failed_looks: of(&failed_looks),
            faults: of(&|report| report.commands.iter().map(|row| number(row.faults)).sum()),
            stages: of(&|report| report.stages.len() as f64),
            pipe: moved(&|file, direction| file == FileKind::Pipe && direction == Direction::Read),
            pipe_writes: moved(&|file, direction| file == FileKind::Pipe && direction == Direction::Write),
            // The kernel's own count does not tell files from pipes.
            file: if seen { file } else { io(&alternative.untraced) },
            sockets: moved(&|file, _| matches!(file, FileKind::Socket | FileKind::UnixSocket)),
            local_sockets: moved(&|file, _| file == FileKind::UnixSocket),
            plain_call_s: plain_call_s(alternative),
            names: of(&|report| counted(report, WorkKind::FileMetadata)),
            descriptors: of(&|report| counted(report, WorkKind::Descriptor)),
            calls: made(alternative),
            priorities: of(&|report| calls(report, &PRIORITIES)),
            affinities: of(&|report| calls(report, &["sched_setaffinity"])),
            cpus: of(&busiest_cpus),
            locks: of(&|report| counted(report, WorkKind::Lock)),
            sleeps: of(&|report| counted(report, WorkKind::Scheduling)),
            starts: starts(&account.work),
            sharers: sharers(alternative),
            bottleneck: bottleneck(alternative),
            files: files(alternative),
        }
    }

    /// Whether it makes so many more processes that they may cost it time. A few more of many do not: then each costs more.
    pub(super) fn forks_more_than(&self, other: &Self) -> bool {
        self.forks > other.forks * MORE_PROCESSES + 0.5
    }

    /// The same of programs begun.
    pub(super) fn begins_more_than(&self, other: &Self) -> bool {
        self.execs > other.execs * MORE_PROCESSES + 0.5
    }

    /// Whether others kept about as many CPUs busy during the runs of both, where that is known: whoever runs longer then waits longer
    /// for them, and nobody slowed down one of the two.
    pub(super) fn disturbed_like(&self, other: &Self) -> bool {
        let (part, cpus) = DISTURBED_ALIKE;
        self.foreign.zip(other.foreign).is_some_and(|(more, less)| more <= less * part + cpus)
    }

    /// CPUs kept busy.
    pub(super) fn parallelism(&self) -> f64 {
        if self.wall_s > 0.0 { self.cpu_s / self.wall_s } else { 0.0 }
    }

    /// Searches that found nothing.
    pub(super) fn misses(&self) -> f64 {
        self.failed_execs + self.failed_looks
    }
}

fn plain_call_s(alternative: &Alternative<'_>) -> Option<f64> {
    let measured: Vec<f64> = alternative.runs.iter().filter_map(|run| run.own.plain_call_ns).collect();
    (!measured.is_empty()).then(|| median(&measured) / 1e9)
}

/// What the untraced runs read and wrote, by the kernel's count.
fn io(untraced: &[Untraced]) -> Moved {
    let of = |number: fn(&crate::sample::Io) -> u64| {
        median(&untraced.iter().filter_map(|it| Some(number(&it.io?) as f64)).collect::<Vec<_>>())
    };
    Moved { bytes: of(|io| io.read_bytes + io.write_bytes), calls: of(|io| io.reads + io.writes) }
}

/// How many CPUs others kept busy meanwhile, a median.
pub(super) fn foreign(alternative: &Alternative<'_>) -> Option<f64> {
    let values: Option<Vec<f64>> = alternative.untraced.iter().map(|it| it.foreign).collect();
    values.filter(|values| !values.is_empty()).map(|values| median(&values))
}

/// Calls that give a process less or more of the CPUs.
pub(super) const PRIORITIES: [&str; 4] =
    ["setpriority", "sched_setscheduler", "sched_setattr", "sched_setparam"];

fn number(count: Option<u64>) -> f64 {
    count.unwrap_or(0) as f64
}

fn calls(report: &TraceReport, names: &[&str]) -> f64 {
    let rows = report.syscalls.iter().filter(|row| names.contains(&row.name.as_str()));
    rows.map(|row| row.calls.saturating_sub(row.errors) as f64).sum()
}

fn made(alternative: &Alternative<'_>) -> BTreeMap<String, Made> {
    let reports: Vec<BTreeMap<&str, Report<'_>>> = alternative.counts.iter().map(|it| by_name(it)).collect();
    let names: BTreeSet<&str> = reports.iter().flat_map(BTreeMap::keys).copied().collect();
    names.into_iter().map(|name| (name.to_owned(), typical(&reports, name))).collect()
}

/// Calls of one name in one report: how many, and how many ended with each error.
type Report<'a> = (f64, BTreeMap<&'a str, f64>);

fn by_name(report: &TraceReport) -> BTreeMap<&str, Report<'_>> {
    let mut calls: BTreeMap<&str, Report<'_>> = BTreeMap::new();
    for row in &report.syscalls {
        let (number, errors) = calls.entry(&row.name).or_default();
        *number += row.calls as f64;
        row.errnos.iter().for_each(|(error, times)| *errors.entry(error).or_default() += *times as f64);
    }
    calls
}

/// Medians over the reports.
fn typical(reports: &[BTreeMap<&str, Report<'_>>], name: &str) -> Made {
    let over = |of: &dyn Fn(&Report<'_>) -> f64| {
        median(&reports.iter().map(|calls| calls.get(name).map_or(0.0, of)).collect::<Vec<_>>())
    };
    let errors: BTreeSet<&str> =
        reports.iter().filter_map(|calls| calls.get(name)).flat_map(|it| it.1.keys()).copied().collect();
    let times = |error: &str| over(&|it| it.1.get(error).copied().unwrap_or(0.0));
    let most = errors.into_iter().map(|error| (error.to_owned(), times(error)));
    Made { calls: over(&|it| it.0), error: most.max_by(|a, b| a.1.total_cmp(&b.1)) }
}

/// CPUs that the command with the most CPU time ran on.
fn busiest_cpus(report: &TraceReport) -> f64 {
    let busiest = report.commands.iter().max_by(|a, b| a.running_s.total_cmp(&b.running_s));
    busiest.map_or(0.0, |row| row.cpus.len() as f64)
}

/// Calls of a kind. Where CPU time was not told apart, their names tell.
fn counted(report: &TraceReport, kind: WorkKind) -> f64 {
    if report.work.is_empty() {
        let rows = report.syscalls.iter().filter(|row| WorkKind::of_call(&row.name) == kind);
        return rows.map(|row| row.calls as f64).sum();
    }
    report.work.iter().filter(|row| row.kind == kind).map(|row| number(row.count)).sum()
}

fn failed_looks(report: &TraceReport) -> f64 {
    looks(report).into_iter().map(|row| misses(row) as f64).sum()
}

fn transferred(report: &TraceReport, wanted: &dyn Fn(FileKind, Direction) -> bool) -> Moved {
    let rows = report.transfers.iter().filter(|row| wanted(row.file, row.direction));
    rows.fold(Moved::default(), |sum, row| Moved {
        bytes: sum.bytes + row.bytes as f64,
        calls: sum.calls + row.calls as f64,
    })
}

fn starts(work: &[crate::trace::report::WorkRow]) -> BTreeMap<String, (f64, f64)> {
    let rows = work.iter().filter(|row| row.kind == WorkKind::Startup && row.count.is_some_and(|n| n > 0));
    rows.map(|row| (row.command.to_string(), (number(row.count), row.seconds))).collect()
}

fn sharers(alternative: &Alternative<'_>) -> Vec<(String, f64)> {
    let foreign = |kind| matches!(kind, SharerKind::Kernel | SharerKind::Other | SharerKind::Steal);
    let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
    for row in alternative.runs.iter().flat_map(|run| &run.path) {
        if let Some(what) = row.what.as_deref().filter(|_| row.holder.is_some_and(foreign)) {
            *sums.entry(what).or_default() += row.seconds;
        }
    }
    let runs = alternative.runs.len().max(1) as f64;
    let mut sums: Vec<(String, f64)> =
        sums.into_iter().map(|(name, s)| (name.to_owned(), s / runs)).collect();
    largest_first(&mut sums, |it| it.1);
    sums
}

fn files(alternative: &Alternative<'_>) -> BTreeMap<(Direction, Option<String>), f64> {
    let rows = alternative.counts.iter().flat_map(|report| &report.files);
    let places: BTreeSet<_> = rows.map(|row| (row.direction, &row.path)).collect();
    let seconds = |place: (Direction, &Option<String>)| {
        alternative.counted(|report| {
            let rows = report.files.iter().filter(|row| (row.direction, &row.path) == place);
            rows.filter_map(|row| row.cpu_s).sum()
        })
    };
    places.into_iter().map(|place| ((place.0, place.1.clone()), seconds(place))).collect()
}

/// The stage that sets the pace in most of the runs.
fn bottleneck(alternative: &Alternative<'_>) -> Option<String> {
    let mut times: BTreeMap<&str, usize> = BTreeMap::new();
    for run in &alternative.runs {
        let stages = &run.report.stages;
        if let Some(stage) = stages.iter().find(|stage| stage.bottleneck).filter(|_| stages.len() > 1) {
            *times.entry(&stage.command).or_default() += 1;
        }
    }
    times.into_iter().max_by_key(|(_, n)| *n).map(|(command, _)| command.to_owned())
}
