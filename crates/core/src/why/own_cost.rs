//! What observing cost a run, taken out of its rows. The step between traced runs and accounts.
//!
//! The cost is measured: median traced less median untraced time of the same alternative. It is taken out where the
//! calibration says that it fell: calls, switches, processes and failing execs times what each became dearer, of the row in which they
//! fall. What is beyond that is taken out of all rows alike, and is known as not attributed.
//! A cost below zero is time that was not seen: see [`super::missing_time`].

use std::collections::BTreeMap;

use super::kinds::{is_calls, work_kind};
use super::missing_time;
use super::report::Traced;
use super::subtract_overhead::{BETWEEN_WORK, Place, take};
use crate::trace::TraceReport;
use crate::trace::command::names;
use crate::trace::counts::OwnCost;
use crate::trace::report::{Cause as Wait, PathKind, PathRow, SharerKind, SyscallRow, WorkKind, WorkRow};

const NS: f64 = 1e-9;

/// Part of a call's cost that falls outside of the time that is counted as within the call: the programs at entry and exit run
/// on both sides of the clock readings.
const OUTSIDE: f64 = 0.5;

/// Calls that begin a program.
const EXECS: [&str; 2] = ["execve", "execveat"];

/// Whether the row counts execs.
pub(super) fn is_exec(row: &SyscallRow) -> bool {
    EXECS.contains(&row.name.as_str())
}

/// A traced run with the cost of observing taken out of its rows.
#[derive(Clone, Debug)]
pub(super) struct Run<'a> {
    pub report: &'a TraceReport,
    pub own: &'a OwnCost,
    pub round: u32,
    /// What a traced call became dearer in this run, seconds.
    pub call_s: f64,
    pub path: Vec<PathRow>,
    pub work: Vec<WorkRow>,
    /// What the calibration says that observing cost each row of the work.
    pub calibrated: Vec<f64>,
    /// Wall time that was taken out where the calibration says that it fell, and what of it goes beyond the calibrated cost.
    pub attributed_s: f64,
    pub beyond_s: f64,
    /// Wall time that was taken out beyond what the calibration explains.
    pub unattributed_s: f64,
}

/// Takes `wall_s` out of the path and `cpu_s` out of the work of one traced run.
pub(super) fn run(traced: &Traced, wall_s: f64, cpu_s: Option<f64>) -> Run<'_> {
    let report = &traced.report;
    let work = work(report, &traced.own, cpu_s);
    let path_weights = path_weights(traced, &work.calibrated);
    let mut path = report.critical_path.clone();
    let places: Vec<Place> = path.iter().map(Place::of).collect();
    let mut seconds: Vec<&mut f64> = path.iter_mut().map(|row| &mut row.seconds).collect();
    let taken = take(&mut seconds, &path_weights, &places, wall_s.max(0.0), cpu_s);
    for (row, before) in path.iter_mut().zip(&report.critical_path) {
        let kept = if before.seconds > 0.0 { row.seconds / before.seconds } else { 1.0 };
        row.avoidable_s *= kept;
        row.by_pinning_s *= kept;
        row.but_for_affinity_s *= kept;
    }
    let worked: f64 = report.work.iter().map(|row| row.seconds).sum();
    let slower = cpu_s.filter(|_| worked > 0.0).map_or(0.0, |cost| (-cost / worked).max(0.0));
    missing_time::not_seen(&mut path, (-wall_s).max(0.0), slower);
    let call_s = traced.own.call_ns.unwrap_or(0.0).max(0.0) * NS * work.times;
    Run {
        report,
        own: &traced.own,
        round: traced.round,
        call_s,
        path,
        work: work.rows,
        calibrated: work.calibrated,
        attributed_s: taken.by_weight,
        beyond_s: (taken.by_weight - path_weights.iter().sum::<f64>()).max(0.0),
        unattributed_s: taken.rest,
    }
}

/// The work of a report with the cost of observing taken out.
pub(super) struct Work {
    pub rows: Vec<WorkRow>,
    /// What the calibration says that observing cost each of them.
    pub calibrated: Vec<f64>,
    /// As many times the calibrated cost as was taken out.
    times: f64,
}

/// Takes `cpu_s` out of the work of a report. Where the kernel counted no CPU time of the untraced runs, the calibration is
/// all there is.
pub(super) fn work(report: &TraceReport, own: &OwnCost, cpu_s: Option<f64>) -> Work {
    let calibrated = work_weights(report, own);
    let mut rows = report.work.clone();
    let sum: f64 = calibrated.iter().sum();
    let cost = cpu_s.unwrap_or(sum);
    let mut seconds: Vec<&mut f64> = rows.iter_mut().map(|row| &mut row.seconds).collect();
    take(&mut seconds, &calibrated, &[], cost, None);
    let times = if sum > 0.0 { (cost / sum).clamp(0.0, BETWEEN_WORK) } else { 1.0 };
    Work { rows, calibrated, times }
}

/// Calls of every command, by its label, and what the kinds of its work count of them.
struct Calls<'a> {
    made: BTreeMap<&'a str, f64>,
    told: BTreeMap<&'a str, f64>,
    /// Execs that failed.
    failed: BTreeMap<&'a str, f64>,
}

impl<'a> Calls<'a> {
    fn of(report: &'a TraceReport) -> Self {
        let (mut made, mut told, mut failed) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        for row in &report.syscalls {
            // Loading a program is a kind of its own, which counts the execs that worked.
            if is_exec(row) {
                *failed.entry(row.command.as_deref().unwrap_or("")).or_default() += row.errors as f64;
                continue;
            }
            *made.entry(row.command.as_deref().unwrap_or("")).or_default() += row.calls as f64;
        }
        for row in report.work.iter().filter(|row| is_calls(row.kind)) {
            *told.entry(row.command.as_str()).or_default() += row.count.unwrap_or(0) as f64;
        }
        Self { made, told, failed }
    }

    fn told(&self, command: &str) -> f64 {
        self.told.get(command).copied().unwrap_or(0.0)
    }

    fn failed(&self, command: &str) -> f64 {
        self.failed.get(command).copied().unwrap_or(0.0)
    }

    /// Calls that no kind counts: those of the start-up, or between fork and exec.
    fn untold(&self, command: &str) -> f64 {
        (self.made.get(command).copied().unwrap_or(0.0) - self.told(command)).max(0.0)
    }
}

/// What the calibration says that observing cost each row of the work, seconds.
fn work_weights(report: &TraceReport, own: &OwnCost) -> Vec<f64> {
    let calls = Calls::of(report);
    let call_s = own.call_ns.unwrap_or(0.0).max(0.0) * NS;
    let process_s = own.process_ns.unwrap_or(0.0).max(0.0) * NS;
    let failed_s = own.failed_exec_ns.unwrap_or(0.0).max(0.0) * NS;
    // An exec that failed is told of behind its end, in user code; of a child that is no program yet all is one.
    let in_user = |command: &str| {
        report.work.iter().any(|row| row.command.as_str() == command && row.kind == WorkKind::User)
    };
    let outside_s = |command: &str| (call_s * OUTSIDE + failed_s) * calls.failed(command);
    // The clock finds each row as often as that runs.
    let all_s: f64 = report.work.iter().map(|row| row.seconds).sum();
    let sampling = if all_s > 0.0 { own.sampling_ns as f64 * NS / all_s } else { 0.0 };
    let weight = |row: &WorkRow| {
        let count = row.count.unwrap_or(0) as f64;
        let command = row.command.as_str();
        let of_calls = match row.kind {
            WorkKind::User => call_s * OUTSIDE * calls.told(command) + outside_s(command),
            WorkKind::Startup => call_s * calls.untold(command),
            WorkKind::Process => process_s * count,
            WorkKind::Exec => {
                let within = call_s * (1.0 - OUTSIDE) * calls.failed(command);
                let outside = if in_user(command) { 0.0 } else { outside_s(command) };
                call_s * count + within + outside
            }
            WorkKind::PageFaults => 0.0,
            _ => call_s * (1.0 - OUTSIDE) * count,
        };
        of_calls + switches_s(report, own, row) + sampling * row.seconds
    };
    report.work.iter().map(weight).collect()
}

/// Switches of the row's command, shared out among its rows in the kernel by their time: a switch is made in a call.
fn switches_s(report: &TraceReport, own: &OwnCost, row: &WorkRow) -> f64 {
    let in_kernel = |kind| !matches!(kind, WorkKind::User | WorkKind::PageFaults | WorkKind::Startup);
    if !in_kernel(row.kind) {
        return 0.0;
    }
    let of_command = report.work.iter().filter(|it| it.command == row.command && in_kernel(it.kind));
    let kernel: f64 = of_command.map(|it| it.seconds).sum();
    let rows = report.commands.iter().filter(|it| it.command == row.command);
    let switches: u64 = rows.map(|it| it.voluntary.unwrap_or(0) + it.involuntary.unwrap_or(0)).sum();
    if kernel <= 0.0 {
        return 0.0;
    }
    own.switch_ns.unwrap_or(0.0).max(0.0) * NS * switches as f64 * row.seconds / kernel
}

/// What the calibration says that observing cost each row of the path: the cost of the work of that kind, as far as it lies
/// on the path. A wait for a CPU that whyfaster held is cost as a whole.
fn path_weights(traced: &Traced, work_weights: &[f64]) -> Vec<f64> {
    let mut by_kind: BTreeMap<(&str, WorkKind), (f64, f64)> = BTreeMap::new();
    let mut by_command: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for (row, weight) in traced.report.work.iter().zip(work_weights) {
        // Between fork and exec all is one row of the path.
        let kind = if row.command.is_forked() { WorkKind::Process } else { row.kind };
        let sums = [
            by_kind.entry((&row.command, kind)).or_default(),
            by_command.entry(row.command.program()).or_default(),
        ];
        sums.into_iter().for_each(|sum| *sum = (sum.0 + row.seconds, sum.1 + weight));
    }
    let part = |of: Option<&(f64, f64)>, row: &PathRow| {
        let work = of.filter(|it| it.0 > 0.0);
        work.map_or(0.0, |(seconds, weight)| weight * (row.seconds / seconds).min(1.0))
    };
    let switch_s = traced.own.switch_ns.unwrap_or(0.0).max(0.0) * NS;
    let weight = |row: &PathRow| {
        let kind = match row.kind {
            PathKind::CpuWait if row.holder == Some(SharerKind::Tool) => return row.seconds,
            PathKind::CpuWait => {
                // Who waits for another task of the tree also waits for what observing cost that one. A child may have been
                // several programs: it goes by its last name.
                let own = row.what.as_deref().filter(|_| row.holder == Some(SharerKind::Tree));
                let child = row.after == Some(Wait::Child);
                let is_holder = |it: &str| match child {
                    true => it != row.command.program(),
                    false => own.is_some_and(|own| names(own, it)),
                };
                let holders = by_command.iter().filter(|(command, _)| own.is_some() && is_holder(command));
                let all = holders.fold((0.0, 0.0), |sum, (_, it)| (sum.0 + it.0, sum.1 + it.1));
                let behind = part(Some(&all), row);
                return switch_s * row.count as f64 + behind;
            }
            PathKind::User => WorkKind::User,
            PathKind::Startup => WorkKind::Startup,
            PathKind::Forked => WorkKind::Process,
            PathKind::Kernel => match work_kind(row) {
                Some(kind) => kind,
                None => return 0.0,
            },
            _ => return 0.0,
        };
        part(by_kind.get(&(&*row.command, kind)), row)
    };
    traced.report.critical_path.iter().map(weight).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::subtract_overhead::MOST;
    use super::*;
    use crate::trace::counts::OwnCost;
    use crate::why::tests::fixture::{Trace, path, report, work};

    #[test]
    fn the_cost_falls_where_the_calls_are() {
        let mut report = report(
            1.0,
            &[path("a", PathKind::User, None, 0.5), path("a", PathKind::Kernel, Some("file_data"), 0.5)],
        );
        let mut data = work("a", WorkKind::FileData, 0.5);
        data.count = Some(100_000);
        report.work = vec![work("a", WorkKind::User, 0.5), data];
        let own = OwnCost { call_ns: Some(1000.0), ..Default::default() };
        let traced = Traced { alternative: 0, round: 0, report, own };
        let run = run(&traced, 0.1, Some(0.1));
        assert!((run.path[0].seconds - 0.45).abs() < 1e-9 && (run.path[1].seconds - 0.45).abs() < 1e-9);
        assert_eq!(run.unattributed_s, 0.0);
        // Three times what the calibration explains is not explained by it.
        let run = super::run(&traced, 0.3, Some(0.3));
        assert!((run.unattributed_s - 0.1).abs() < 1e-9);
    }

    #[test]
    fn what_runs_gives_no_more_than_the_cpu_time_that_observing_took() {
        // A run of 100,000 calls that took 0.3 s longer, 0.1 s of it on a CPU: the rest was others.
        let wait =
            PathRow { holder: Some(SharerKind::Other), ..path("a", PathKind::CpuWait, Some("x"), 0.4) };
        let mut report = report(0.8, &[path("a", PathKind::Kernel, Some("file_data"), 0.4), wait]);
        let mut data = work("a", WorkKind::FileData, 0.4);
        data.count = Some(100_000);
        report.work = vec![data];
        let own = OwnCost { call_ns: Some(4000.0), ..Default::default() };
        let traced = Traced { alternative: 0, round: 0, report, own };
        let run = run(&traced, 0.3, Some(0.1));
        assert!((run.path[0].seconds - 0.3).abs() < 1e-9, "{}", run.path[0].seconds);
        assert!(
            (run.path[1].seconds - 0.2).abs() < 1e-9 && run.unattributed_s < 1e-9,
            "{}",
            run.path[1].seconds
        );
    }

    #[test]
    fn a_sleep_keeps_its_length() {
        let rows = [path("sleep", PathKind::Sleep, None, 0.08), path("sh", PathKind::User, None, 0.02)];
        let traced = Traced { alternative: 0, round: 0, report: report(0.1, &rows), own: OwnCost::default() };
        let run = run(&traced, 0.003, None);
        assert!((run.path[0].seconds - 0.08).abs() < 1e-12 && (run.path[1].seconds - 0.017).abs() < 1e-12);
        assert!((run.unattributed_s - 0.003).abs() < 1e-12);
    }

    #[test]
    fn a_device_gives_what_was_no_cost_on_a_cpu() {
        let rows = [path("cat", PathKind::Disk, None, 0.08), path("cat", PathKind::Kernel, None, 0.02)];
        let traced = Traced { alternative: 0, round: 0, report: report(0.1, &rows), own: OwnCost::default() };
        let kept = |cpu_s| {
            run(&traced, 0.015, cpu_s).path.iter().map(|row| (row.seconds * 1e6).round()).collect::<Vec<_>>()
        };
        assert_eq!(kept(Some(0.003)), [68_000.0, 17_000.0]);
        assert_eq!(kept(Some(0.1)), [80_000.0, 5_000.0]);
        // Not known how much of it was on a CPU.
        assert_eq!(kept(None), [80_000.0, 5_000.0]);
    }

    #[test]
    fn an_exec_that_fails_costs_more_than_a_call() {
        let mut report = report(
            0.3,
            &[path("x (forked)", PathKind::Forked, None, 0.1), path("a", PathKind::User, None, 0.2)],
        );
        let mut exec = work("x (forked)", WorkKind::Exec, 0.1);
        exec.count = Some(1);
        report.work = vec![work("a", WorkKind::User, 0.2), exec];
        let failing = |label: &str| {
            let mut trace = Trace::new().fails(label, "execve", 100_000, 0.09);
            trace.0.syscalls.remove(0)
        };
        report.syscalls = vec![failing("x (forked)")];
        let own = OwnCost { call_ns: Some(100.0), failed_exec_ns: Some(200.0), ..OwnCost::default() };
        let traced = Traced { alternative: 0, round: 0, report, own };
        let run = run(&traced, 0.03, Some(0.03));
        for (forked, user) in
            [(run.path[0].seconds, run.path[1].seconds), (run.work[1].seconds, run.work[0].seconds)]
        {
            assert!((forked - 0.07).abs() < 1e-6 && (user - 0.2).abs() < 1e-6, "{forked} {user}");
        }
        // The same cost, met in the wait for who makes these calls.
        let mut behind = traced.clone();
        behind.report.critical_path[0] =
            PathRow { holder: Some(SharerKind::Tree), ..path("a", PathKind::CpuWait, Some("x"), 0.1) };
        assert!((super::run(&behind, 0.03, Some(0.03)).path[0].seconds - 0.07).abs() < 1e-6);
    }

    #[test]
    fn an_exec_that_fails_is_told_of_in_user_code() {
        // As measured of 'env' with 400 directories in PATH: 41,000 execs, of 620 ns in the kernel.
        let mut report = report(
            0.1,
            &[path("env", PathKind::Kernel, Some("exec"), 0.0451), path("env", PathKind::User, None, 0.0291)],
        );
        let mut exec = work("env", WorkKind::Exec, 0.0451);
        exec.count = Some(100);
        report.work = vec![exec, work("env", WorkKind::User, 0.0291)];
        let mut trace = Trace::new().fails("env", "execve", 41_000, 0.0316);
        report.syscalls = vec![trace.0.syscalls.remove(0)];
        let own = OwnCost { call_ns: Some(300.0), failed_exec_ns: Some(280.0), ..OwnCost::default() };
        let cost_s = 41_000.0 * 580e-9;
        let traced = Traced { alternative: 0, round: 0, report, own };
        let run = run(&traced, cost_s, Some(cost_s));
        let [kernel, user] = [run.path[0].seconds, run.path[1].seconds];
        assert!((kernel - 0.039).abs() < 2e-4 && (user - 0.0115).abs() < 2e-4, "{kernel} {user}");
    }

    proptest! {
        /// Whatever is taken out, the rows sum to what is left and none falls below zero.
        #[test]
        fn the_rows_sum_to_what_is_left(
            rows in prop::collection::vec((0.0..1.0f64, 0.0..0.3f64, 0usize..5), 1..12), cost in -1.0..2.0f64,
            cpu_s in prop::option::of(-0.1..1.0f64),
        ) {
            let mut seconds: Vec<f64> = rows.iter().map(|row| row.0 + 1e-6).collect();
            let weights: Vec<f64> = rows.iter().map(|row| row.1).collect();
            let sum: f64 = seconds.iter().sum();
            let kinds = [Place::Foreign, Place::Fixed, Place::Device, Place::Runs, Place::Other];
            let places: Vec<Place> = rows.iter().map(|row| kinds[row.2]).collect();
            let rest = take(&mut seconds.iter_mut().collect::<Vec<_>>(), &weights, &places, cost, cpu_s).rest;
            let left: f64 = seconds.iter().sum();
            prop_assert!((left - (sum - cost.min(sum * MOST))).abs() < 1e-9);
            prop_assert!(seconds.iter().all(|s| *s >= -1e-12) && rest >= 0.0);
        }
    }
}
