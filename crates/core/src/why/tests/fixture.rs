//! Hand-made reports, records and measurements.

use std::collections::BTreeMap;

use crate::analysis::{self, Analysis, Latency, LevelResult, Measured};
use crate::host::{Host, HostFacts};
use crate::plan::{Alternative, Plan};
use crate::sample::{Arm, Batch, Copies, Orphans};
use crate::trace::TraceReport;
use crate::trace::command::CommandName;
use crate::trace::counts::OwnCost;
use crate::trace::event::FileKind;
use crate::trace::report::{
    Avoidable, Cause as Wait, CommandRow, Direction, Level, PathKind, PathRow, SharerKind, SyscallRow,
    TransferRow, TreeRow, WaitRow, WorkKind, WorkRow,
};
use crate::why::report::{Traced, TracedBatch};
use crate::why::{ExplainInput, Why, explain};
use whyfaster_stats::Estimate;

/// A row of the path.
pub(in crate::why) fn path(command: &str, kind: PathKind, what: Option<&str>, seconds: f64) -> PathRow {
    PathRow { what: what.map(str::to_owned), ..PathRow::of(CommandName::read(command), kind, seconds) }
}

/// A row of the work.
pub(in crate::why) fn work(command: &str, kind: WorkKind, seconds: f64) -> WorkRow {
    WorkRow {
        command: CommandName::read(command),
        kind,
        seconds,
        count: None,
        price_s: None,
        priced_s: None,
        estimated: false,
    }
}

/// A command that ran on these CPUs.
pub(in crate::why) fn command(name: &str, cpus: Vec<u16>) -> CommandRow {
    CommandRow {
        command: name.into(),
        tasks: 1,
        running_user_s: None,
        running_kernel_s: None,
        running_s: 1.0,
        stolen_s: None,
        runnable_s: None,
        avoidable_s: None,
        blocked_s: None,
        unknown_s: 0.0,
        faults: None,
        voluntary: None,
        involuntary: None,
        migrations: None,
        cpus,
    }
}

/// The same while the hypervisor took this part of the CPU time of all commands, as the scheduler's account and `/proc/stat` say.
pub(in crate::why) fn stolen(report: &TraceReport, part: f64) -> TraceReport {
    let mut report = report.clone();
    let longer = 1.0 / (1.0 - part);
    report.critical_path.iter_mut().filter(|row| row.kind.runs()).for_each(|row| row.seconds *= longer);
    report.work.iter_mut().for_each(|row| row.seconds *= longer);
    let mut ran: BTreeMap<CommandName, f64> = BTreeMap::new();
    for row in &report.work {
        *ran.entry(row.command.clone()).or_default() += row.seconds;
    }
    let steal_s = Some(part * ran.values().sum::<f64>());
    report.avoidable = Some(Avoidable { steal_s, ..Avoidable::default() });
    let of = |(name, running_s): (CommandName, f64)| CommandRow {
        running_s,
        stolen_s: Some(part * running_s),
        ..command(name.as_str(), vec![0])
    };
    report.commands = ran.into_iter().map(of).collect();
    report
}

/// A full trace with these rows on its path.
pub(in crate::why) fn report(wall_s: f64, rows: &[PathRow]) -> TraceReport {
    TraceReport { wall_s, level: Level::Full, critical_path: rows.to_vec(), ..TraceReport::default() }
}

/// One alternative at one level.
pub(in crate::why) fn result(name: &str, makespan_s: f64, work_s: f64) -> LevelResult {
    LevelResult {
        alternative: name.to_owned(),
        rounds: 10,
        makespan_s: Estimate { median: makespan_s, low: None, high: None },
        work_per_copy_s: work_s,
        user_per_copy_s: work_s,
        system_per_copy_s: 0.0,
        throughput_per_s: 1.0 / makespan_s,
        share: 1.0,
        latency_s: Latency {
            min: makespan_s,
            p50: makespan_s,
            p95: makespan_s,
            p99: makespan_s,
            max: makespan_s,
        },
        slowdown: None,
        fairness: None,
        max_rss_bytes: 0,
        max_rss_at_most: false,
        voluntary_switches: 0.0,
        involuntary_switches: 0.0,
        run_delay_s: None,
        bound: None,
        timed_out: 0,
        metrics: Vec::new(),
    }
}

/// A measurement of two alternatives: 'a' is the baseline.
pub(in crate::why) struct Scene {
    pub plan: Plan,
    pub host: Host,
    pub batches: Vec<Batch>,
    pub traced: Vec<Traced>,
    pub traced_batches: Vec<TracedBatch>,
    pub analysis: Analysis,
}

/// Untraced rounds of a scene.
const ROUNDS: u32 = 12;
/// Traced rounds.
const TRACED: u32 = 7;

/// Deterministic noise of up to half a percent, different for every run.
fn noise(round: u32, arm: u32) -> f64 {
    1.0 + 0.01 * (f64::from((round * 7 + arm * 13 + 3) % 11) / 11.0 - 0.5)
}

impl Scene {
    /// Two alternatives that take as long untraced as their reports say.
    pub(in crate::why) fn of(a: &TraceReport, b: &TraceReport) -> Self {
        let time = |report: &TraceReport| (report.wall_s, report.work.iter().map(|row| row.seconds).sum());
        Self::untraced(a, b, time(a), time(b))
    }

    /// Two alternatives with their untraced wall and CPU times.
    pub(in crate::why) fn untraced(
        a: &TraceReport,
        b: &TraceReport,
        of_a: (f64, f64),
        of_b: (f64, f64),
    ) -> Self {
        let mut plan = Plan::new(vec![Alternative::new("a"), Alternative::new("b")], 1);
        plan.alternatives[0].command = "run a".to_owned();
        plan.alternatives[1].command = "run b".to_owned();
        let host = Host {
            before: HostFacts { cpus_online: Some(2), ..HostFacts::default() },
            after: HostFacts::default(),
        };
        let mut batches = Vec::new();
        for round in 0..ROUNDS {
            batches.push(batch(Arm::Alternative(0), round, of_a));
            batches.push(batch(Arm::Alternative(1), round, of_b));
            batches.push(batch(Arm::HiddenCopy, round, of_a));
        }
        let mut traced = Vec::new();
        for round in 0..TRACED {
            traced.push(run(0, round, a));
            traced.push(run(1, round, b));
        }
        let traced_batches = Vec::new();
        let mut scene = Self { plan, host, batches, traced, traced_batches, analysis: Analysis::default() };
        scene.analyse();
        scene
    }

    /// A third alternative, with its untraced wall and CPU time, that was never observed.
    pub(in crate::why) fn with(mut self, name: &str, of: (f64, f64)) -> Self {
        let index = self.plan.alternatives.len();
        self.plan.alternatives.push(Alternative::new(name));
        self.batches.extend((0..ROUNDS).map(|round| batch(Arm::Alternative(index), round, of)));
        self.analyse();
        self
    }

    /// Analyses the batches again.
    pub(in crate::why) fn analyse(&mut self) {
        self.analysis = analysis::analyse(Measured {
            plan: &self.plan,
            host: &self.host,
            trials: &[],
            batches: &self.batches,
            accounts: &[],
            duets: &[],
            not_measured: &[],
        });
    }

    pub(in crate::why) fn given(&self) -> ExplainInput<'_> {
        ExplainInput {
            plan: &self.plan,
            host: &self.host,
            batches: &self.batches,
            analysis: &self.analysis,
            traced: &self.traced,
            traced_batches: &self.traced_batches,
        }
    }

    pub(in crate::why) fn explain(&self) -> Why {
        explain(&self.given())
    }
}

fn batch(arm: Arm, round: u32, (wall_s, cpu_s): (f64, f64)) -> Batch {
    let number = match arm {
        Arm::Alternative(index) => u32::try_from(index).unwrap_or(0),
        Arm::HiddenCopy => 7,
    };
    let factor = noise(round, number);
    Batch {
        load: 1,
        arm,
        round,
        position: number,
        released_s: 0.0,
        makespan_s: wall_s * factor,
        copies: Copies {
            start_s: vec![0.0],
            wall_s: vec![wall_s * factor],
            user_s: vec![cpu_s * factor],
            system_s: vec![0.0],
            max_rss_bytes: vec![1],
            voluntary_switches: vec![1],
            involuntary_switches: vec![1],
            status: vec![0],
            timed_out: vec![false],
            counters: None,
        },
        orphans: Orphans::default(),
        machine_busy_s: Some(cpu_s * factor),
        steal_s: None,
        io: None,
    }
}

fn run(alternative: usize, round: u32, report: &TraceReport) -> Traced {
    let factor = noise(round, u32::try_from(alternative).unwrap_or(0) + 3);
    let mut report = report.clone();
    report.wall_s *= factor;
    for row in &mut report.critical_path {
        row.seconds *= factor;
        row.avoidable_s *= factor;
        row.by_pinning_s *= factor;
        row.but_for_affinity_s *= factor;
    }
    report.work.iter_mut().for_each(|row| row.seconds *= factor);
    report.waits.iter_mut().for_each(|row| row.seconds *= factor);
    Traced { alternative, round, report, own: OwnCost::default() }
}

/// A report in the making: rows that run are on the path and in the work.
pub(in crate::why) struct Trace(pub TraceReport);

impl Trace {
    pub(in crate::why) fn new() -> Self {
        Self(TraceReport { level: Level::Full, ..TraceReport::default() })
    }

    /// Runs on the path.
    pub(in crate::why) fn runs(mut self, command: &str, kind: WorkKind, seconds: f64, count: u64) -> Self {
        let (path_kind, what) = match kind {
            WorkKind::User => (PathKind::User, None),
            WorkKind::Startup => (PathKind::Startup, None),
            _ if CommandName::read(command).is_forked() => (PathKind::Forked, None),
            _ => (PathKind::Kernel, Some(kind.name())),
        };
        self.0.wall_s += seconds;
        self.0.critical_path.push(path(command, path_kind, what, seconds));
        self.beside(command, kind, seconds, count)
    }

    /// Runs, but not on the path.
    pub(in crate::why) fn beside(mut self, command: &str, kind: WorkKind, seconds: f64, count: u64) -> Self {
        let mut row = work(command, kind, seconds);
        row.count = (count > 0).then_some(count);
        self.0.work.push(row);
        self
    }

    /// Waits on the path.
    pub(in crate::why) fn waits(
        mut self,
        command: &str,
        kind: PathKind,
        what: Option<&str>,
        seconds: f64,
    ) -> Self {
        self.0.wall_s += seconds;
        self.0.critical_path.push(path(command, kind, what, seconds));
        self
    }

    /// How long all of a command wait, on the path and beside it.
    pub(in crate::why) fn blocks(mut self, command: &str, cause: Wait, seconds: f64) -> Self {
        let command = CommandName::read(command);
        self.0.waits.push(WaitRow { command, cause, peer: None, seconds, count: 1, unfinished: 0 });
        self
    }

    /// Waits for a CPU.
    pub(in crate::why) fn queues(
        mut self,
        command: &str,
        (holder, what): (SharerKind, &str),
        after: Option<Wait>,
        (seconds, avoidable_s, but_for_affinity_s): (f64, f64, f64),
    ) -> Self {
        self.0.wall_s += seconds;
        let row = path(command, PathKind::CpuWait, Some(what), seconds);
        self.0.critical_path.push(PathRow {
            holder: Some(holder),
            after,
            avoidable_s,
            but_for_affinity_s,
            ..row
        });
        self
    }

    /// Processes made and programs begun by a shell.
    pub(in crate::why) fn makes(mut self, forks: u64, execs: u64) -> Self {
        self.0.processes.forks = Some(forks);
        self.0.processes.execs = Some(execs);
        let row = |parent, command: &str| TreeRow {
            parent,
            command: command.into(),
            processes: 1,
            cpu_s: 0.0,
            life_s: 0.0,
        };
        self.0.tree = vec![row(None, "sh"), row(Some(0), "true")];
        self
    }

    /// Calls that failed.
    pub(in crate::why) fn fails(mut self, command: &str, name: &str, calls: u64, failed_s: f64) -> Self {
        self.0.syscalls.push(SyscallRow {
            command: Some(CommandName::read(command)),
            pid: None,
            name: name.to_owned(),
            calls,
            not_returned: 0,
            begun_before: 0,
            going_on: 0,
            errors: calls,
            errnos: vec![("ENOENT".to_owned(), calls)],
            total_s: Some(failed_s),
            max_s: None,
            cpu_s: Some(failed_s),
            runnable_s: None,
            blocked_s: None,
            failed_s: Some(failed_s),
            histogram_log2_ns: Vec::new(),
        });
        self
    }

    /// Calls that worked.
    pub(in crate::why) fn calls(mut self, command: &str, name: &str, calls: u64) -> Self {
        self = self.fails(command, name, calls, 0.0);
        if let Some(row) = self.0.syscalls.last_mut() {
            (row.errors, row.errnos) = (0, Vec::new());
        }
        self
    }

    /// Data moved.
    pub(in crate::why) fn moves(
        mut self,
        file: FileKind,
        direction: Direction,
        calls: u64,
        bytes: u64,
    ) -> Self {
        let command = "x".into();
        let row = TransferRow { command, direction, file, path: None, calls, bytes, cpu_s: None };
        self.0.transfers.push(row);
        self
    }

    /// Reads of a file take CPU time, or those of all other files.
    pub(in crate::why) fn takes(mut self, path: Option<&str>, cpu_s: f64) -> Self {
        self.0.files.push(TransferRow {
            command: "x".into(),
            direction: Direction::Read,
            file: FileKind::File,
            path: path.map(str::to_owned),
            calls: 1,
            bytes: 1,
            cpu_s: Some(cpu_s),
        });
        self
    }
}
