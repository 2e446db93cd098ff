//! The stored document of a trace, and whether one that was read can be believed to be one.

use serde::{Deserialize, Serialize};

use super::plan::TracePlan;
use super::report::TraceReport;
use super::stored::Stored;
use crate::host::Host;
use crate::status::Status;
use crate::validate::{Invalid, MAX_COUNT, amount, ensure};

/// Version of the document. Changes are additive; a reader refuses another major number.
pub const SCHEMA: &str = "whyfaster-trace/1";

/// One trace, whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TraceRecord {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// Version of whyfaster that wrote it.
    pub tool_version: String,
    /// When it began, RFC 3339 in UTC.
    pub started: String,
    /// Seconds that all of it took, untraced runs included.
    pub took_s: f64,
    /// How the run came to its end. Whether what was seen is whole stands in `complete`: a run to its end may have lost records.
    pub status: Status,
    /// What of ours ended the command, or the observing of a tree that ran already; null: it ended by itself.
    #[serde(default)]
    pub ended_by: Option<EndedBy>,
    /// What was to be observed.
    pub plan: TracePlan,
    /// The machine.
    pub host: Host,
    /// Exit code of the command, or minus the signal that ended it; null where none was started.
    pub exit_status: Option<i32>,
    /// Wall times: of the traced command itself, and of it run again untraced.
    pub runs: Runs,
    /// What follows from the trace.
    #[serde(flatten)]
    pub report: TraceReport,
    /// The scheduling records, if they were kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schedule: Option<Stored>,
}

/// What ended a trace before the command had ended by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum EndedBy {
    /// The time of `--duration` was over.
    Duration,
    /// A signal to whyfaster, such as Ctrl-C.
    Signal,
}

/// Wall times of the same command.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Runs {
    /// Traced, from its exec to its end.
    pub traced_s: Option<f64>,
    /// Untraced, in the order in which they ran.
    pub untraced_s: Vec<f64>,
}

impl TraceRecord {
    /// Checks everything that the renderers rely on.
    pub fn validate(&self) -> Result<(), Invalid> {
        if self.schema != SCHEMA {
            return Err(Invalid::schema(&self.schema, SCHEMA));
        }
        amount(self.took_s, || "took_s".to_owned())?;
        for value in self.runs.traced_s.iter().chain(&self.runs.untraced_s) {
            amount(*value, || "runs".to_owned())?;
        }
        report(&self.report, "")
    }
}

/// Checks a report; `of` stands before every place that is named.
pub(crate) fn report(report: &TraceReport, of: &str) -> Result<(), Invalid> {
    amount(report.wall_s, || format!("{of}wall_s"))?;
    for (i, row) in report.tree.iter().enumerate() {
        let place = || format!("{of}tree[{i}]");
        let above = row.parent.is_none_or(|parent| parent < i);
        ensure(above, place, "its parent does not stand above it")?;
        counts([row.processes], place)?;
        amounts([Some(row.cpu_s), Some(row.life_s)], place)?;
    }
    for (i, row) in report.stages.iter().enumerate() {
        let place = || format!("{of}stages[{i}]");
        let there = row.reads_from.iter().all(|stage| *stage < report.stages.len());
        ensure(there, place, "it reads from a stage that is not there")?;
        counts([row.processes], place)?;
        amounts([Some(row.life_s), Some(row.running_s)], place)?;
    }
    for (i, row) in report.tasks.iter().enumerate() {
        let place = || format!("{of}tasks[{i}]");
        amounts([Some(row.from_s.abs()), Some(row.to_s.abs()), Some(row.running_s)], place)?;
        amounts([row.running_user_s, row.running_kernel_s], place)?;
    }
    for (i, row) in report.syscalls.iter().enumerate() {
        let place = || format!("{of}syscalls[{i}]");
        counts([row.calls, row.errors, row.not_returned, row.begun_before, row.going_on], place)?;
        counts(
            row.errnos.iter().map(|(_, count)| *count).chain(row.histogram_log2_ns.iter().copied()),
            place,
        )?;
        amounts([row.total_s, row.max_s, row.cpu_s, row.runnable_s, row.blocked_s], place)?;
    }
    for (i, row) in report.waits.iter().enumerate() {
        let place = || format!("{of}waits[{i}]");
        counts([row.count, row.unfinished], place)?;
        amounts([Some(row.seconds)], place)?;
    }
    for (i, row) in report.wrappers.iter().enumerate() {
        let place = || format!("{of}wrappers[{i}]");
        counts([row.times], place)?;
        amounts([Some(row.seconds)], place)?;
    }
    for (i, row) in report.sampled.iter().flat_map(|it| &it.functions).enumerate() {
        counts([row.samples], || format!("{of}sampled.functions[{i}]"))?;
    }
    for (i, row) in report.cpu_sharers.iter().enumerate() {
        amounts([Some(row.seconds)], || format!("{of}cpu_sharers[{i}]"))?;
    }
    tasks(report, of)?;
    accounts(report, of)?;
    let overhead = &report.overhead;
    let [low, high] = [overhead.untraced.map(|it| it.low), overhead.untraced.map(|it| it.high)];
    amounts([overhead.traced_over_untraced, low, high, overhead.calibrated_share], || format!("{of}overhead"))
}

/// How many tasks there were, what they did, and what was lost of it.
fn tasks(report: &TraceReport, of: &str) -> Result<(), Invalid> {
    let it = &report.processes;
    let processes = [it.forks, it.threads, it.execs, it.failed_execs, it.exits, it.alive];
    counts(processes.into_iter().flatten().chain([report.tasks_total]), || format!("{of}processes"))?;
    for (i, row) in report.skipped.iter().enumerate() {
        counts([row.processes], || format!("{of}skipped[{i}]"))?;
    }
    for (i, row) in report.commands.iter().enumerate() {
        let happened = [row.faults, row.voluntary, row.involuntary, row.migrations];
        counts(happened.into_iter().flatten().chain([row.tasks]), || format!("{of}commands[{i}]"))?;
    }
    for (i, row) in report.searches.iter().enumerate() {
        let tries = [row.searches, row.misses, row.found];
        counts(tries.into_iter().chain(row.errnos.iter().map(|(_, count)| *count)), || {
            format!("{of}searches[{i}]")
        })?;
    }
    let others = report.avoidable.iter().map(|it| it.waits);
    counts(others.chain(report.overhead.untraced.iter().map(|it| it.runs)), || format!("{of}avoidable"))?;
    let it = &report.lost;
    let lost =
        [it.ring, it.map, it.storage, it.string, it.stack, it.recursion, it.unfinished, it.gaps, it.late];
    let by_cpu = it
        .by_cpu
        .iter()
        .flat_map(|it| [it.ring, it.map, it.storage, it.string, it.stack, it.unfinished, it.gaps, it.late]);
    counts(lost.into_iter().chain(by_cpu), || format!("{of}lost"))
}

/// The critical path, the work and what was moved.
fn accounts(report: &TraceReport, of: &str) -> Result<(), Invalid> {
    for (i, row) in report.critical_path.iter().enumerate() {
        let place = || format!("{of}critical_path[{i}]");
        counts([row.count], place)?;
        amounts(
            [Some(row.seconds), Some(row.avoidable_s), Some(row.by_pinning_s), Some(row.but_for_affinity_s)],
            place,
        )?;
    }
    for (i, row) in report.critical_alternatives.iter().enumerate() {
        amounts([Some(row.slack_s), Some(row.seconds)], || format!("{of}critical_alternatives[{i}]"))?;
    }
    for (i, row) in report.work.iter().enumerate() {
        let place = || format!("{of}work[{i}]");
        counts(row.count, place)?;
        amounts([Some(row.seconds), row.price_s, row.priced_s], place)?;
    }
    for (table, rows) in [("transfers", &report.transfers), ("files", &report.files)] {
        for (i, row) in rows.iter().enumerate() {
            let place = || format!("{of}{table}[{i}]");
            counts([row.calls, row.bytes], place)?;
            amounts([row.cpu_s], place)?;
        }
    }
    Ok(())
}

/// No count is so large that a sum of some overflows.
fn counts(counts: impl IntoIterator<Item = u64>, place: impl Fn() -> String) -> Result<(), Invalid> {
    ensure(counts.into_iter().all(|count| count <= MAX_COUNT), place, "a count is absurd")
}

fn amounts<const N: usize>(values: [Option<f64>; N], place: impl Fn() -> String) -> Result<(), Invalid> {
    values.into_iter().flatten().try_for_each(|value| amount(value, &place))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::command::CommandName;
    use crate::trace::event::FileKind;
    use crate::trace::plan::Target;
    use crate::trace::report::{
        Direction, PathKind, PathRow, SyscallRow, TransferRow, TreeRow, WorkKind, WorkRow,
    };

    fn sound() -> TraceRecord {
        let mut record = TraceRecord {
            schema: SCHEMA.to_owned(),
            tool_version: "0.0.0".to_owned(),
            started: "2026-01-01T00:00:00Z".to_owned(),
            took_s: 1.0,
            status: Status::Complete,
            ended_by: None,
            plan: TracePlan::new(Target::Command("true".to_owned())),
            host: Host::default(),
            exit_status: Some(0),
            runs: Runs { traced_s: Some(1.0), untraced_s: vec![0.9] },
            report: TraceReport { wall_s: 1.0, ..TraceReport::default() },
            schedule: None,
        };
        let row = |parent| TreeRow { parent, command: "x".into(), processes: 1, cpu_s: 0.1, life_s: 0.2 };
        record.report.tree = vec![row(None), row(Some(0))];
        record
    }

    #[test]
    fn a_sound_record_is_accepted_and_comes_back() {
        let record = sound();
        assert_eq!(record.validate(), Ok(()));
        let text = serde_json::to_string(&record).expect("it is JSON");
        assert_eq!(serde_json::from_str::<TraceRecord>(&text).expect("it is one"), record);
    }

    #[test]
    fn every_broken_value_is_named_by_its_place() {
        type Break = fn(&mut TraceRecord);
        let cases: &[(&str, Break)] = &[
            ("took_s", |r| r.took_s = f64::NAN),
            ("runs", |r| r.runs.untraced_s = vec![-1.0]),
            ("wall_s", |r| r.report.wall_s = f64::INFINITY),
            ("tree[1]", |r| r.report.tree[1].parent = Some(1)),
            ("tree[0]", |r| r.report.tree[0].cpu_s = -1.0),
            ("tree[0]", |r| r.report.tree[0].processes = u64::MAX),
            ("syscalls[0]", |r| {
                r.report.syscalls.push(SyscallRow {
                    command: None,
                    pid: None,
                    name: "read".to_owned(),
                    calls: u64::MAX,
                    not_returned: 0,
                    begun_before: 0,
                    going_on: 0,
                    errors: 0,
                    errnos: vec![],
                    total_s: None,
                    max_s: None,
                    cpu_s: None,
                    runnable_s: None,
                    blocked_s: None,
                    failed_s: None,
                    histogram_log2_ns: vec![],
                });
            }),
            ("overhead", |r| r.report.overhead.traced_over_untraced = Some(-1.0)),
        ];
        for (place, breaks) in cases {
            let mut record = sound();
            breaks(&mut record);
            let message = record.validate().expect_err(place).to_string();
            assert!(message.starts_with(place), "{place}: {message}");
        }
        let mut record = sound();
        record.schema = "whyfaster-trace/2".to_owned();
        assert!(record.validate().expect_err("a newer one").is_newer());
    }

    #[test]
    fn broken_accounts_are_named_by_their_place() {
        type Break = fn(&mut TraceRecord);
        let cases: &[(&str, Break)] = &[
            ("critical_path[0]", |r| {
                let row = PathRow::of(CommandName::default(), PathKind::User, f64::NAN);
                r.report.critical_path.push(row);
            }),
            ("work[0]", |r| {
                r.report.work.push(WorkRow {
                    command: CommandName::default(),
                    kind: WorkKind::User,
                    seconds: 1.0,
                    count: None,
                    price_s: Some(-1.0),
                    priced_s: None,
                    estimated: false,
                });
            }),
            ("transfers[0]", |r| {
                r.report.transfers.push(TransferRow {
                    command: CommandName::default(),
                    direction: Direction::Read,
                    file: FileKind::Pipe,
                    path: None,
                    calls: u64::MAX,
                    bytes: 0,
                    cpu_s: None,
                });
            }),
            ("files[0]", |r| {
                r.report.files.push(TransferRow {
                    command: CommandName::default(),
                    direction: Direction::Read,
                    file: FileKind::File,
                    path: Some("/f".to_owned()),
                    calls: 1,
                    bytes: 0,
                    cpu_s: Some(-1.0),
                });
            }),
        ];
        for (place, breaks) in cases {
            let mut record = sound();
            breaks(&mut record);
            let message = record.validate().expect_err(place).to_string();
            assert!(message.starts_with(place), "{place}: {message}");
        }
    }
}
