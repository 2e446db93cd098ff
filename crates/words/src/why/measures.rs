//! What was counted or timed.

use whyfaster_core::trace::report::{PathKind, WorkKind};
use whyfaster_core::why::statement::Measure;

/// As a part of a sentence, or as a row of a table.
pub(super) fn measure(it: &Measure) -> String {
    let text = match it {
        Measure::Processes => "processes made",
        Measure::Programs => "programs begun",
        Measure::FailedExecs => "execs that failed",
        Measure::FailedLooks => "looks at PATH that found nothing",
        Measure::PipeReads => "reads from pipes",
        Measure::BytesPerPipeRead => "bytes per read from a pipe",
        Measure::PipeWrites => "writes to pipes",
        Measure::BytesPerPipeWrite => "bytes per write to a pipe",
        Measure::FileCalls => "reads and writes of files and devices",
        Measure::BytesPerFileCall => "bytes per read or write",
        Measure::NameCalls => "calls for names and attributes of files",
        Measure::PipeData => "data through pipes",
        Measure::FileData => "data of files and devices",
        Measure::SocketCalls => "calls on sockets",
        Measure::SocketData => "data through sockets",
        Measure::Stages => "stages",
        Measure::CpusBusy => "CPUs kept busy",
        Measure::CpusOthersBusy => "CPUs that others kept busy",
        Measure::CpusOfBusiest => "CPUs of the busiest command",
        Measure::CpuTime => "CPU time",
        Measure::PageFaults => "page faults",
        Measure::LockCalls => "calls for locks",
        Measure::SleepCalls => "calls that sleep or poll",
        Measure::PriorityCalls => "changes of priority",
        Measure::AffinityCalls => "calls that choose CPUs",
        Measure::Queued => "critical path: waiting for CPUs that comes with it",
        Measure::UserTime => "user CPU time",
        Measure::SystemTime => "system CPU time",
        Measure::CpuWait => "waiting for a CPU",
        Measure::VoluntarySwitches => "voluntary context switches",
        Measure::InvoluntarySwitches => "involuntary context switches",
        Measure::CopyWork { on: WorkKind::Startup } => WorkKind::Startup.words(),
        Measure::CopyWork { on } => return format!("kernel: {}", on.words()),
        Measure::Path { command, part, what } => {
            return format!("critical path: {}", path(command, *part, what.as_deref()));
        }
        Measure::Work { command, on } => return format!("CPU time: {command}, {}", on.words()),
    };
    text.to_owned()
}

/// A part of the critical path.
fn path(command: &str, part: PathKind, what: Option<&str>) -> String {
    let words = part.words();
    match (part, what) {
        (PathKind::Unobserved, _) => words.to_owned(),
        (PathKind::Kernel, Some(what)) => {
            let kind = WorkKind::from_name(what).map_or(what, |kind| kind.words());
            format!("{command} {words}, {kind}")
        }
        (PathKind::CpuWait | PathKind::Lock, Some(what)) => format!("{command} {words} that {what} held"),
        (_, Some(what)) => format!("{command} {words}, {what}"),
        (_, None) => format!("{command} {words}"),
    }
}
