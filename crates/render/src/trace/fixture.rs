//! Reports made by hand after real ones, for the tests of renderers.

use whyfaster_core::missing::NotMeasured;
use whyfaster_core::trace::command::CommandName;
use whyfaster_core::trace::counts::{CpuLost, Lost};
use whyfaster_core::trace::event::FileKind;
use whyfaster_core::trace::report::{
    Avoidable, Cause, Check, CommandRow, Direction, Level, Overhead, PathAlternative, PathKind, PathRow,
    Processes, SearchRow, SharerKind, SharerRow, StageRow, SyscallRow, TraceReport, TransferRow, TreeRow,
    Untraced, WaitRow, WorkKind, WorkRow,
};
use whyfaster_core::warning::Warning;

fn tree(parent: Option<usize>, command: &str, processes: u64, cpu_s: f64, life_s: f64) -> TreeRow {
    TreeRow { parent, command: CommandName::read(command), processes, cpu_s, life_s }
}

fn command(command: &str, tasks: u64, [user, kernel, wait, avoidable, blocked]: [f64; 5]) -> CommandRow {
    CommandRow {
        command: CommandName::read(command),
        tasks,
        running_user_s: Some(user),
        running_kernel_s: Some(kernel),
        running_s: user + kernel,
        stolen_s: None,
        runnable_s: Some(wait),
        avoidable_s: Some(avoidable),
        blocked_s: Some(blocked),
        unknown_s: 0.0,
        faults: Some(tasks * 120),
        voluntary: Some(tasks * 2),
        involuntary: Some(tasks / 3),
        migrations: Some(tasks / 4),
        cpus: vec![0, 1],
    }
}

pub(crate) fn call(
    command: &str,
    name: &str,
    calls: u64,
    errors: u64,
    [total, cpu, wait]: [f64; 3],
) -> SyscallRow {
    SyscallRow {
        command: Some(CommandName::read(command)),
        pid: None,
        name: name.to_owned(),
        calls,
        not_returned: if name == "exit_group" { calls } else { 0 },
        begun_before: 0,
        going_on: 0,
        errors,
        errnos: if errors > 0 { vec![("ENOENT".to_owned(), errors)] } else { Vec::new() },
        total_s: Some(total),
        max_s: Some(total / 100.0),
        cpu_s: Some(cpu),
        runnable_s: Some(wait),
        blocked_s: Some(total - cpu - wait),
        failed_s: None,
        histogram_log2_ns: Vec::new(),
    }
}

fn wait(command: &str, cause: Cause, peer: Option<&str>, seconds: f64, count: u64) -> WaitRow {
    WaitRow {
        command: CommandName::read(command),
        cause,
        peer: peer.map(str::to_owned),
        seconds,
        count,
        unfinished: 0,
    }
}

fn sharer(command: &str, sharer: &str, kind: SharerKind, seconds: f64) -> SharerRow {
    SharerRow { command: CommandName::read(command), sharer: sharer.to_owned(), kind, seconds }
}

fn part(command: &str, kind: PathKind, what: Option<&str>, seconds: f64, count: u64) -> PathRow {
    PathRow { what: what.map(str::to_owned), count, ..PathRow::of(CommandName::read(command), kind, seconds) }
}

fn behind(
    command: &str,
    holder: SharerKind,
    name: &str,
    after: Cause,
    [seconds, beside]: [f64; 2],
) -> PathRow {
    let row = part(command, PathKind::CpuWait, Some(name), seconds, 3_000);
    PathRow { holder: Some(holder), after: Some(after), avoidable_s: beside, ..row }
}

fn beside(command: &str, slack_s: f64, seconds: f64) -> PathAlternative {
    PathAlternative { command: CommandName::read(command), slack_s, seconds }
}

fn dispatch_path() -> Vec<PathRow> {
    vec![
        part("sh", PathKind::Startup, None, 2.11, 3_304),
        part("sh", PathKind::Kernel, Some("process"), 1.43, 9_902),
        part("true", PathKind::Startup, None, 1.22, 2_970),
        behind("sh", SharerKind::Tree, "true", Cause::Child, [0.93, 0.07]),
        part("xargs (forked)", PathKind::Forked, None, 0.71, 3_310),
        part("sh", PathKind::User, None, 0.44, 9_980),
        behind("true", SharerKind::Other, "cc1", Cause::Other, [0.33, 0.0]),
        part("xargs", PathKind::Kernel, Some("process"), 0.27, 9_980),
        behind("xargs", SharerKind::Idle, "(idle: waking up)", Cause::Child, [0.25, 0.0]),
        part("true", PathKind::Disk, None, 0.084, 31),
        part("seq", PathKind::Unknown, None, 0.03, 2),
        part("seq", PathKind::Kernel, Some("pipe"), 0.01, 2),
    ]
}

fn spent(command: &str, kind: WorkKind, seconds: f64, count: Option<u64>, price_s: Option<f64>) -> WorkRow {
    let priced_s = price_s.zip(count).map(|(price, count)| price * count as f64);
    let estimated = kind == WorkKind::PageFaults;
    WorkRow { command: CommandName::read(command), kind, seconds, count, price_s, priced_s, estimated }
}

fn dispatch_work() -> Vec<WorkRow> {
    vec![
        spent("sh", WorkKind::Process, 2.61, Some(10_000), Some(1.4e-4)),
        spent("true", WorkKind::Startup, 2.2, Some(10_000), None),
        spent("true", WorkKind::Exec, 2.05, Some(10_000), Some(1.8e-4)),
        spent("sh", WorkKind::User, 1.2, None, None),
        spent("sh", WorkKind::PageFaults, 0.41, Some(510_000), Some(8e-7)),
        spent("xargs (forked)", WorkKind::Process, 0.14, None, None),
        spent("seq", WorkKind::Pipe, 0.002, Some(12), Some(1e-6)),
    ]
}

pub(crate) fn moved(
    command: &str,
    direction: Direction,
    file: FileKind,
    calls: u64,
    bytes: u64,
) -> TransferRow {
    TransferRow {
        command: CommandName::read(command),
        direction,
        file,
        path: None,
        calls,
        bytes,
        cpu_s: Some(bytes as f64 * 3e-10),
    }
}

fn dispatch_tree() -> Vec<TreeRow> {
    vec![
        tree(None, "sh", 1, 0.001, 7.814),
        tree(Some(0), "seq", 1, 0.003, 0.02),
        tree(Some(0), "xargs", 1, 0.43, 7.81),
        tree(Some(2), "sh", 10_000, 5.25, 30.1),
        tree(Some(3), "true", 10_000, 4.95, 9.6),
    ]
}

fn dispatch_calls() -> Vec<SyscallRow> {
    vec![
        call("sh", "wait4", 10_000, 0, [24.1, 0.31, 4.9]),
        call("xargs", "wait4", 28_561, 0, [7.1, 0.12, 0.6]),
        call("true", "execve", 10_000, 0, [3.2, 2.1, 1.1]),
        call("xargs (forked)", "execve", 110_000, 100_000, [1.4, 0.9, 0.5]),
        call("sh", "vfork", 10_000, 0, [0.9, 0.4, 0.2]),
        call("true", "mmap", 80_000, 0, [0.31, 0.3, 0.01]),
        call("true", "exit_group", 10_000, 0, [0.0, 0.0, 0.0]),
        call("xargs", "clone", 10_000, 0, [0.26, 0.25, 0.01]),
    ]
}

fn dispatch_waits() -> Vec<WaitRow> {
    vec![
        wait("sh", Cause::Child, Some("true"), 18.7, 10_000),
        wait("xargs", Cause::Child, Some("sh"), 6.8, 9_871),
        wait("seq", Cause::PipeFull, Some("xargs"), 0.016, 11),
        wait("sh", Cause::PageFault, None, 0.05, 31),
    ]
}

fn dispatch_commands() -> Vec<CommandRow> {
    vec![
        command("sh", 10_001, [1.83, 3.42, 6.1, 0.21, 18.75]),
        command("true", 10_000, [1.02, 3.93, 4.65, 0.12, 0.0]),
        command("xargs", 1, [0.05, 0.25, 0.71, 0.0, 6.8]),
        command("xargs (forked)", 10_000, [0.01, 0.13, 0.4, 0.01, 0.0]),
        command("seq", 1, [0.001, 0.002, 0.001, 0.0, 0.016]),
    ]
}

fn dispatch_overhead() -> Overhead {
    Overhead {
        traced_over_untraced: Some(1.031),
        untraced: Some(Untraced { runs: 3, low: 1.02, high: 1.04, distinguishable: Some(true) }),
        calibrated_share: Some(0.024),
        calls_share: Some(0.004),
        switches_share: Some(0.011),
        tool_share: Some(0.0062),
        calls_s: None,
    }
}

/// The first command of the article about dispatchers, seen by the full level.
pub(crate) fn dispatch() -> TraceReport {
    TraceReport {
        wall_s: 7.814,
        level: Level::Full,
        processes: Processes {
            forks: Some(20_002),
            threads: Some(0),
            execs: Some(20_003),
            failed_execs: Some(100_000),
            exits: Some(20_003),
            alive: Some(0),
        },
        tree: dispatch_tree(),
        tasks_total: 20_003,
        commands: dispatch_commands(),
        syscalls: dispatch_calls(),
        searches: vec![SearchRow {
            command: CommandName::new("xargs", true),
            program: "sh".to_owned(),
            searches: 10_000,
            misses: 100_000,
            found: 10_000,
            errnos: vec![("ENOENT".to_owned(), 100_000)],
        }],
        waits: dispatch_waits(),
        cpu_sharers: vec![
            sharer("sh", "true", SharerKind::Tree, 4.2),
            sharer("true", "sh", SharerKind::Tree, 3.9),
            sharer("sh", "kworker (ext4_do_flush_completed_IO)", SharerKind::Kernel, 0.12),
            sharer("true", "whyfaster", SharerKind::Tool, 0.03),
            sharer("sh", "", SharerKind::Idle, 0.4),
        ],
        avoidable_wait_s: Some(0.34),
        avoidable: Some(Avoidable {
            by_pinning_s: Some(0.0),
            but_for_affinity_s: Some(0.0),
            threshold_s: 5e-5,
            waits: 412,
            sibling_only_s: Some(0.02),
            throttled_s: 0.0,
            steal_s: Some(0.11),
        }),
        avoidable_longest_s: Some(0.0038),
        effective_parallelism: Some(1.362),
        critical_path: dispatch_path(),
        critical_alternatives: vec![beside("true", 0.18, 3.4), beside("xargs", 0.31, 0.9)],
        work: dispatch_work(),
        transfers: vec![moved("seq", Direction::Write, FileKind::Pipe, 12, 48_894)],
        lost: Lost { gaps: 3, ..Lost::default() },
        checks: vec![
            check("the parts of every life sum to it", 48.6, 48.6, true),
            check("forks = exits + alive", 20_003.0, 20_003.0, true),
        ],
        overhead: dispatch_overhead(),
        ..TraceReport::default()
    }
}

fn check(what: &str, left: f64, right: f64, holds: bool) -> Check {
    Check { kind: None, what: what.to_owned(), left, right, within: 0.01, holds }
}

fn stage(
    command: &str,
    reads_from: &[usize],
    [running, wait, starved, held_up, other]: [f64; 5],
    bottleneck: bool,
) -> StageRow {
    StageRow {
        command: CommandName::read(command),
        pipeline: 0,
        processes: 1,
        reads_from: reads_from.to_vec(),
        life_s: running + wait + starved + held_up + other,
        running_s: running,
        runnable_s: wait,
        starved_s: starved,
        held_up_s: held_up,
        other_s: other,
        slack_s: Some(starved + held_up),
        bottleneck,
        near: false,
    }
}

/// A pipeline of three, one of which sets the pace, with losses and a check that fails.
pub(crate) fn pipeline() -> TraceReport {
    TraceReport {
        wall_s: 0.412,
        level: Level::Full,
        processes: Processes {
            forks: Some(3),
            threads: Some(2),
            execs: Some(4),
            failed_execs: Some(0),
            exits: Some(4),
            alive: Some(0),
        },
        commands: vec![
            command("cat", 1, [0.002, 0.031, 0.004, 0.0, 0.375]),
            command("gzip", 1, [0.36, 0.02, 0.012, 0.0, 0.02]),
            command("wc", 1, [0.001, 0.002, 0.001, 0.0, 0.408]),
        ],
        syscalls: vec![
            call("cat", "write", 800, 0, [0.37, 0.02, 0.003]),
            call("wc", "read", 90, 0, [0.407, 0.001, 0.0]),
        ],
        waits: vec![
            wait("wc", Cause::PipeEmpty, Some("gzip"), 0.408, 90),
            wait("cat", Cause::PipeFull, Some("gzip"), 0.34, 780),
            wait("cat", Cause::Disk, None, 0.035, 12),
        ],
        stages: vec![
            stage("cat", &[], [0.033, 0.004, 0.0, 0.34, 0.035], false),
            stage("gzip", &[0], [0.38, 0.012, 0.015, 0.005, 0.0], true),
            stage("wc", &[1], [0.003, 0.001, 0.408, 0.0, 0.0], false),
        ],
        avoidable_wait_s: Some(0.0),
        avoidable_longest_s: Some(0.0),
        effective_parallelism: Some(1.01),
        critical_path: vec![
            part("gzip", PathKind::User, None, 0.356, 91),
            part("cat", PathKind::Disk, None, 0.035, 12),
            behind("gzip", SharerKind::Kernel, "kcryptd", Cause::PipeEmpty, [0.012, 0.012]),
            part("gzip", PathKind::Kernel, Some("pipe"), 0.009, 91),
        ],
        transfers: vec![
            moved("cat", Direction::Read, FileKind::File, 800, 104_857_600),
            moved("cat", Direction::Write, FileKind::Pipe, 800, 104_857_600),
            moved("wc", Direction::Read, FileKind::Pipe, 90, 2_949_120),
        ],
        lost: Lost {
            ring: 412,
            by_cpu: vec![CpuLost { cpu: 1, ring: 412, ..CpuLost::default() }],
            ..Lost::default()
        },
        checks: vec![check("running time against the scheduler's own sum", 0.416, 0.431, false)],
        overhead: Overhead { calibrated_share: Some(0.0004), ..Overhead::default() },
        warnings: vec![Warning {
            caution: None,
            what: "412 records were lost, so times may be too small".to_owned(),
            remedy: "take a larger ring".to_owned(),
        }],
        ..TraceReport::default()
    }
}

/// The same command as [`dispatch`] without any privilege.
pub(crate) fn unprivileged() -> TraceReport {
    let full = dispatch();
    let bare = |row: &CommandRow| CommandRow {
        running_user_s: None,
        running_kernel_s: None,
        avoidable_s: None,
        faults: None,
        migrations: None,
        cpus: Vec::new(),
        ..row.clone()
    };
    let missing = |what: &str| NotMeasured::told(what, "needs CAP_BPF and CAP_PERFMON: run it with sudo");
    TraceReport {
        wall_s: full.wall_s,
        level: Level::Unprivileged,
        processes: Processes { failed_execs: None, ..full.processes },
        tree: full.tree,
        tasks_total: full.tasks_total,
        commands: full.commands.iter().map(bare).collect(),
        effective_parallelism: full.effective_parallelism,
        overhead: Overhead {
            traced_over_untraced: Some(1.12),
            untraced: Some(Untraced { runs: 3, low: 0.81, high: 1.3, distinguishable: Some(false) }),
            ..Overhead::default()
        },
        not_measured: ["system calls", "why tasks were blocked", "who held the CPU"].map(missing).to_vec(),
        ..TraceReport::default()
    }
}
