//! Where the time of each alternative goes: medians over its traced rounds, brought to its untraced time.

use std::collections::BTreeMap;

use super::input::{ExplainInput, Untraced};
use super::medians::{median, spread, summing};
use super::own_cost::{self, Run};
use super::report::{Account, Traced};
use super::system_time;
use crate::trace::TraceReport;
use crate::trace::command::CommandName;
use crate::trace::report::{Cause, Level, PathAlternative, PathKind, PathRow, SharerKind, WorkKind, WorkRow};
use whyfaster_stats::order::largest_first;

/// One alternative: its traced runs without the cost of observing, and its untraced ones.
#[derive(Clone, Debug)]
pub(super) struct Alternative<'a> {
    pub index: usize,
    pub name: &'a str,
    /// The traced runs without losses, in the order of their rounds.
    pub runs: Vec<Run<'a>>,
    /// Reports whose counts are used: those of these runs, or where there are none, all that there are, of whatever level.
    pub counts: Vec<&'a TraceReport>,
    pub untraced: Vec<Untraced>,
    /// Medians, seconds.
    pub traced_s: f64,
    pub untraced_s: f64,
    pub cpu_s: Option<f64>,
    /// Runs with losses, left out.
    pub lossy: usize,
    /// Runs of a level that does not see why a process waits, or without a critical path, left out.
    pub unseen: usize,
}

impl<'a> Alternative<'a> {
    /// The alternative with this index.
    pub(super) fn of(given: &ExplainInput<'a>, untraced: &[Untraced], index: usize) -> Self {
        let name = given.plan.alternatives.get(index).map_or("", |it| &it.name);
        let mine: Vec<&Traced> = given.traced.iter().filter(|it| it.alternative == index).collect();
        let usable = |it: &&Traced| it.report.level == Level::Full && !it.report.critical_path.is_empty();
        let all: Vec<&TraceReport> = mine.iter().map(|it| &it.report).collect();
        let usable: Vec<&Traced> = mine.into_iter().filter(usable).collect();
        let unseen = all.len() - usable.len();
        let (lossy, kept): (Vec<&Traced>, Vec<&Traced>) =
            usable.into_iter().partition(|it| loses(&it.report));
        let untraced: Vec<Untraced> = untraced.iter().filter(|it| it.alternative == index).copied().collect();
        let of = |f: &dyn Fn(&Traced) -> f64| median(&kept.iter().map(|it| f(it)).collect::<Vec<_>>());
        let traced_s = of(&|it| path_s(it));
        let traced_cpu_s = of(&|it| it.report.work.iter().map(|row| row.seconds).sum());
        let untraced_s = median(&untraced.iter().map(|it| it.wall_s).collect::<Vec<_>>());
        let cpu: Option<Vec<f64>> = untraced.iter().map(|it| it.cpu_s).collect();
        let cpu_s = cpu.filter(|cpu| !cpu.is_empty()).map(|cpu| median(&cpu));
        let cost = (traced_s - untraced_s, cpu_s.map(|cpu_s| traced_cpu_s - cpu_s));
        let mut runs: Vec<Run<'a>> = kept.into_iter().map(|it| own_cost::run(it, cost.0, cost.1)).collect();
        runs.sort_by_key(|run| run.round);
        if let Some(user) = system_time::user_part(&untraced, cpu_s) {
            runs.iter_mut().for_each(|run| system_time::out_of_own_code(run, user));
        }
        let counts = if runs.is_empty() { all } else { runs.iter().map(|run| run.report).collect() };
        Self { index, name, runs, counts, untraced, traced_s, untraced_s, cpu_s, lossy: lossy.len(), unseen }
    }

    /// Median of a count of the reports.
    pub(super) fn counted(&self, of: impl Fn(&TraceReport) -> f64) -> f64 {
        median(&self.counts.iter().map(|report| of(report)).collect::<Vec<_>>())
    }

    /// Median of a number of each traced run.
    pub(super) fn median(&self, of: impl Fn(&Run<'a>) -> f64) -> f64 {
        median(&self.runs.iter().map(of).collect::<Vec<_>>())
    }

    /// What observing cost it.
    pub(super) fn own_cost_s(&self) -> f64 {
        if self.runs.is_empty() { 0.0 } else { self.traced_s - self.untraced_s }
    }

    /// Of that: what the calibration does not explain, a median.
    pub(super) fn unattributed_s(&self) -> f64 {
        self.median(|run| run.unattributed_s)
    }

    /// Of that: what the calibration places, a median, and what of it goes beyond the calibrated cost.
    pub(super) fn attributed_s(&self) -> f64 {
        self.median(|run| run.attributed_s)
    }

    pub(super) fn beyond_s(&self) -> f64 {
        self.median(|run| run.beyond_s)
    }

    /// Its account. The rows are medians, brought to the untraced time.
    pub(super) fn account(&self) -> Account {
        let critical_path = brought(path_medians(&self.runs), self.untraced_s, set_path);
        let work_rows = work_medians(&self.runs);
        let cpu_s = self.cpu_s.unwrap_or_else(|| work_rows.iter().map(|it| it.row.seconds).sum());
        let work = brought(work_rows, cpu_s, |row, seconds| row.seconds = seconds);
        Account {
            alternative: self.name.to_owned(),
            label: String::new(),
            rounds: u32::try_from(self.runs.len()).unwrap_or(u32::MAX),
            traced_s: self.traced_s,
            untraced_s: self.untraced_s,
            critical_path,
            critical_alternatives: alternatives(&self.runs),
            work,
            own_cost_s: self.own_cost_s(),
            samples: self.median(|run| run.own.samples as f64),
            sampling_s: self.median(|run| run.own.sampling_ns as f64 * 1e-9),
            parallelism: (self.untraced_s > 0.0).then(|| cpu_s / self.untraced_s),
        }
    }
}

/// Records, counters or tasks of this run are missing. A path that could not be read is missing in no account.
pub(super) fn loses(report: &TraceReport) -> bool {
    let lost = &report.lost;
    lost.ring + lost.map + lost.storage + lost.recursion > 0
}

/// The length of the critical path: the wall time, for its rows sum to it.
fn path_s(traced: &Traced) -> f64 {
    traced.report.critical_path.iter().map(|row| row.seconds).sum()
}

/// A row with its time, and the time in every run.
struct Timed<R> {
    row: R,
    seconds: Vec<f64>,
}

/// Rows that sum to `to`, the longest first. Medians do not sum to the median of the sum: the rest goes to the rows that
/// differ most from run to run, and what that takes below zero to all alike.
fn brought<R>(rows: Vec<Timed<R>>, to: f64, set: impl Fn(&mut R, f64)) -> Vec<R> {
    let mut seconds: Vec<f64> = rows.iter().map(|row| median(&row.seconds)).collect();
    let spreads: Vec<f64> = rows.iter().map(|row| spread(&row.seconds)).collect();
    summing(&mut seconds, &spreads, to);
    seconds.iter_mut().for_each(|it| *it = it.max(0.0));
    let sum: f64 = seconds.iter().sum();
    let factor = if sum > 0.0 { to / sum } else { 0.0 };
    let mut rows: Vec<(f64, R)> = rows.into_iter().zip(seconds).map(|(it, s)| (s * factor, it.row)).collect();
    rows.retain(|(seconds, _)| *seconds > 0.0);
    largest_first(&mut rows, |it| it.0);
    rows.iter_mut().for_each(|(seconds, row)| set(row, *seconds));
    rows.into_iter().map(|(_, row)| row).collect()
}

/// The path's row with another time.
fn set_path(row: &mut PathRow, seconds: f64) {
    let factor = if row.seconds > 0.0 { seconds / row.seconds } else { 0.0 };
    row.seconds = seconds;
    row.avoidable_s *= factor;
    row.by_pinning_s *= factor;
    row.but_for_affinity_s *= factor;
}

/// What tells rows of the path apart.
type PathKey<'a> = (&'a CommandName, PathKind, Option<&'a str>, Option<SharerKind>, Option<Cause>);

/// Times and counts of one row over the runs.
#[derive(Default)]
struct PathValues {
    seconds: Vec<f64>,
    avoidable_s: Vec<f64>,
    by_pinning_s: Vec<f64>,
    but_for_affinity_s: Vec<f64>,
    count: Vec<f64>,
    calls: Vec<String>,
}

fn path_medians(runs: &[Run<'_>]) -> Vec<Timed<PathRow>> {
    let mut values: BTreeMap<PathKey<'_>, PathValues> = BTreeMap::new();
    for row in runs.iter().flat_map(|run| &run.path) {
        let key = (&row.command, row.kind, row.what.as_deref(), row.holder, row.after);
        let of = values.entry(key).or_default();
        of.seconds.push(row.seconds);
        of.avoidable_s.push(row.avoidable_s);
        of.by_pinning_s.push(row.by_pinning_s);
        of.but_for_affinity_s.push(row.but_for_affinity_s);
        of.count.push(row.count as f64);
        if of.calls.is_empty() {
            of.calls.clone_from(&row.calls);
        }
    }
    let row = |(key, of): (PathKey<'_>, PathValues)| {
        let seconds = filled(of.seconds, runs.len());
        // Parts of the time keep their shares, also where the median of one of them is 0.
        let part = |of: Vec<f64>| {
            let (part, all): (f64, f64) = (of.iter().sum(), seconds.iter().sum());
            if all > 0.0 { median(&seconds) * part / all } else { 0.0 }
        };
        let row = PathRow {
            command: key.0.clone(),
            kind: key.1,
            what: key.2.map(str::to_owned),
            holder: key.3,
            after: key.4,
            seconds: median(&seconds),
            avoidable_s: part(of.avoidable_s),
            by_pinning_s: part(of.by_pinning_s),
            but_for_affinity_s: part(of.but_for_affinity_s),
            calls: of.calls,
            count: median(&filled(of.count, runs.len())).round() as u64,
        };
        Timed { row, seconds }
    };
    values.into_iter().map(row).collect()
}

/// By command: paths that were nearly as long in at least half of the runs. The longest of a run counts.
fn alternatives(runs: &[Run<'_>]) -> Vec<PathAlternative> {
    let mut values: BTreeMap<&CommandName, Vec<&PathAlternative>> = BTreeMap::new();
    for run in runs {
        let told = &run.report.critical_alternatives;
        for (at, it) in told.iter().enumerate() {
            if !told[..at].iter().any(|longer| longer.command == it.command) {
                values.entry(&it.command).or_default().push(it);
            }
        }
    }
    values.retain(|_, of| 2 * of.len() >= runs.len());
    let of = |rows: &[&PathAlternative], value: fn(&PathAlternative) -> f64| {
        median(&rows.iter().map(|row| value(row)).collect::<Vec<_>>())
    };
    let row = |(command, rows): (&CommandName, Vec<&PathAlternative>)| PathAlternative {
        command: command.clone(),
        slack_s: of(&rows, |row| row.slack_s),
        seconds: of(&rows, |row| row.seconds),
    };
    let mut rows: Vec<PathAlternative> = values.into_iter().map(row).collect();
    rows.sort_by(|a, b| a.slack_s.total_cmp(&b.slack_s));
    rows
}

/// A value for every run, 0 where a run lacks the row.
fn filled(mut values: Vec<f64>, runs: usize) -> Vec<f64> {
    values.resize(runs.max(values.len()), 0.0);
    values
}

fn work_medians(runs: &[Run<'_>]) -> Vec<Timed<WorkRow>> {
    let mut values: BTreeMap<(&CommandName, WorkKind), Vec<&WorkRow>> = BTreeMap::new();
    for row in runs.iter().flat_map(|run| &run.work) {
        values.entry((&row.command, row.kind)).or_default().push(row);
    }
    let row = |((command, kind), rows): ((&CommandName, WorkKind), Vec<&WorkRow>)| {
        let counts: Option<Vec<f64>> = rows.iter().map(|row| row.count.map(|n| n as f64)).collect();
        let count = counts.map(|counts| median(&filled(counts, runs.len())).round() as u64);
        let price_s = rows.iter().find_map(|row| row.price_s);
        let seconds = filled(rows.iter().map(|row| row.seconds).collect(), runs.len());
        let row = WorkRow {
            command: command.clone(),
            kind,
            seconds: median(&seconds),
            count,
            price_s,
            priced_s: price_s.zip(count).map(|(price, count)| price * count as f64),
            estimated: rows.iter().any(|row| row.estimated),
        };
        Timed { row, seconds }
    };
    values.into_iter().map(row).collect()
}
