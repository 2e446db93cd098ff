//! Where the time of each alternative goes: medians over its traced rounds, brought to its untraced time.

use std::collections::BTreeMap;

use super::input::{Given, Untraced};
use super::own_cost::{self, Run};
use super::report::{Account, Traced};
use super::words::median;
use crate::trace::report::{Cause, Level, PathKind, PathRow, SharerKind, WorkKind, WorkRow};

/// One alternative: its traced runs without the cost of observing, and its untraced ones.
#[derive(Clone, Debug)]
pub(super) struct Alternative<'a> {
    pub index: usize,
    pub name: &'a str,
    /// The traced runs without losses, in the order of their rounds.
    pub runs: Vec<Run<'a>>,
    pub untraced: Vec<Untraced>,
    /// Medians, seconds.
    pub traced_s: f64,
    pub untraced_s: f64,
    pub cpu_s: Option<f64>,
    /// Runs with losses, left out.
    pub lossy: usize,
}

impl<'a> Alternative<'a> {
    /// The alternative with this index.
    pub(super) fn of(given: &Given<'a>, untraced: &[Untraced], index: usize) -> Self {
        let name = given.plan.alternatives.get(index).map_or("", |it| &it.name);
        let mine: Vec<&Traced> = given.traced.iter().filter(|it| it.alternative == index).collect();
        let usable = |it: &&Traced| it.report.level == Level::Full && !it.report.critical_path.is_empty();
        let (lossy, kept): (Vec<&Traced>, Vec<&Traced>) =
            mine.into_iter().filter(usable).partition(|it| loses(it));
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
        Self { index, name, runs, untraced, traced_s, untraced_s, cpu_s, lossy: lossy.len() }
    }

    /// Median of a number of each traced run.
    pub(super) fn median(&self, of: impl Fn(&Run<'a>) -> f64) -> f64 {
        median(&self.runs.iter().map(of).collect::<Vec<_>>())
    }

    /// What observing cost it.
    pub(super) fn own_cost_s(&self) -> f64 {
        self.traced_s - self.untraced_s
    }

    /// Of that: what the calibration does not explain, a median.
    pub(super) fn unattributed_s(&self) -> f64 {
        self.median(|run| run.unattributed_s)
    }

    /// Its account. The rows are medians, brought to the untraced time by one factor, since medians do not sum to the median
    /// of the sum.
    pub(super) fn account(&self) -> Account {
        let critical_path = brought(path_medians(&self.runs), self.untraced_s);
        let work_rows = work_medians(&self.runs);
        let cpu_s = self.cpu_s.unwrap_or_else(|| work_rows.iter().map(|row| row.seconds).sum());
        let work = brought(work_rows, cpu_s);
        Account {
            alternative: self.name.to_owned(),
            rounds: u32::try_from(self.runs.len()).unwrap_or(u32::MAX),
            traced_s: self.traced_s,
            untraced_s: self.untraced_s,
            critical_path,
            work,
            own_cost_s: self.own_cost_s(),
            parallelism: (self.untraced_s > 0.0).then(|| cpu_s / self.untraced_s),
        }
    }
}

/// Records, counters or tasks of this run are missing. A path that could not be read is missing in no account.
fn loses(traced: &Traced) -> bool {
    let lost = &traced.report.lost;
    lost.ring + lost.map + lost.storage + lost.recursion > 0
}

/// The length of the critical path: the wall time, for its rows sum to it.
fn path_s(traced: &Traced) -> f64 {
    traced.report.critical_path.iter().map(|row| row.seconds).sum()
}

/// A row whose times can be scaled.
trait Scale {
    fn seconds(&self) -> f64;
    fn scale(&mut self, factor: f64);
}

impl Scale for PathRow {
    fn seconds(&self) -> f64 {
        self.seconds
    }

    fn scale(&mut self, factor: f64) {
        self.seconds *= factor;
        self.avoidable_s *= factor;
        self.but_for_affinity_s *= factor;
    }
}

impl Scale for WorkRow {
    fn seconds(&self) -> f64 {
        self.seconds
    }

    fn scale(&mut self, factor: f64) {
        self.seconds *= factor;
    }
}

/// Rows that sum to `to`, the longest first.
fn brought<R: Scale>(mut rows: Vec<R>, to: f64) -> Vec<R> {
    let sum: f64 = rows.iter().map(Scale::seconds).sum();
    if sum > 0.0 {
        rows.iter_mut().for_each(|row| row.scale(to / sum));
    }
    rows.retain(|row| row.seconds() > 0.0);
    rows.sort_by(|a, b| b.seconds().total_cmp(&a.seconds()));
    rows
}

/// What tells rows of the path apart.
type PathKey<'a> = (&'a str, PathKind, Option<&'a str>, Option<SharerKind>, Option<Cause>);

/// Times and counts of one row over the runs.
#[derive(Default)]
struct PathValues {
    seconds: Vec<f64>,
    avoidable_s: Vec<f64>,
    but_for_affinity_s: Vec<f64>,
    count: Vec<f64>,
}

fn path_medians(runs: &[Run<'_>]) -> Vec<PathRow> {
    let mut values: BTreeMap<PathKey<'_>, PathValues> = BTreeMap::new();
    for row in runs.iter().flat_map(|run| &run.path) {
        let key = (row.command.as_str(), row.kind, row.what.as_deref(), row.holder, row.after);
        let of = values.entry(key).or_default();
        of.seconds.push(row.seconds);
        of.avoidable_s.push(row.avoidable_s);
        of.but_for_affinity_s.push(row.but_for_affinity_s);
        of.count.push(row.count as f64);
    }
    let row = |(key, of): (PathKey<'_>, PathValues)| PathRow {
        command: key.0.to_owned(),
        kind: key.1,
        what: key.2.map(str::to_owned),
        holder: key.3,
        after: key.4,
        seconds: over(of.seconds, runs.len()),
        avoidable_s: over(of.avoidable_s, runs.len()),
        but_for_affinity_s: over(of.but_for_affinity_s, runs.len()),
        count: over(of.count, runs.len()).round() as u64,
    };
    values.into_iter().map(row).collect()
}

/// The median over all runs, 0 where a run lacks the row.
fn over(mut values: Vec<f64>, runs: usize) -> f64 {
    values.resize(runs.max(values.len()), 0.0);
    median(&values)
}

fn work_medians(runs: &[Run<'_>]) -> Vec<WorkRow> {
    let mut values: BTreeMap<(&str, WorkKind), Vec<&WorkRow>> = BTreeMap::new();
    for row in runs.iter().flat_map(|run| &run.work) {
        values.entry((row.command.as_str(), row.kind)).or_default().push(row);
    }
    let row = |((command, kind), rows): ((&str, WorkKind), Vec<&WorkRow>)| {
        let counts: Option<Vec<f64>> = rows.iter().map(|row| row.count.map(|n| n as f64)).collect();
        let count = counts.map(|counts| over(counts, runs.len()).round() as u64);
        let price_s = rows.iter().find_map(|row| row.price_s);
        WorkRow {
            command: command.to_owned(),
            kind,
            seconds: over(rows.iter().map(|row| row.seconds).collect(), runs.len()),
            count,
            price_s,
            priced_s: price_s.zip(count).map(|(price, count)| price * count as f64),
            estimated: rows.iter().any(|row| row.estimated),
        }
    };
    values.into_iter().map(row).collect()
}
