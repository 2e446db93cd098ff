//! What was not measured, and why.

use whyfaster_core::fit::{bytes, grouped};
use whyfaster_core::missing::{
    Counted, Crowd, Lack, NoTime, Noise, NotMeasured, Obstacle, Quantity, Resource, Shortage, Variants,
};

use super::phrases::{Naming, Pair, at, count, metric as metric_name, whole};
use super::units::duration;

/// The quantity and the reason; the texts as they are stored where an earlier version wrote them.
pub fn of(missing: &NotMeasured, name: Naming<'_>) -> Pair {
    let what = missing.quantity.as_ref().map_or_else(|| missing.what.clone(), |it| quantity(it, name));
    let why = missing.reason.as_ref().map_or_else(|| missing.why.clone(), reason);
    (what, why)
}

/// Both in one line.
pub fn line(missing: &NotMeasured) -> String {
    let (what, why) = of(missing, &whole);
    format!("{what}: {why}")
}

/// The name of a quantity.
pub fn quantity(quantity: &Quantity, name: Naming<'_>) -> String {
    let pair = |a: &str, b: &str| format!("'{}' against '{}'", name(a), name(b));
    let text = match quantity {
        Quantity::Level { load } => return format!("load {load}"),
        Quantity::Alternative { alternative, at: place } => {
            return format!("'{}' {}", name(alternative), at(place));
        }
        Quantity::SpanAndWork { alternative } => return format!("span and work of '{}'", name(alternative)),
        Quantity::Interval { alternative, baseline, at: place } => {
            return format!("interval of {} {}", pair(alternative, baseline), at(place));
        }
        Quantity::Batches { count: n } => return count(*n, "batch", "batches"),
        Quantity::Rounds { count: n } => return format!("comparison in {}", count(*n, "round", "rounds")),
        Quantity::WorkAndShare { alternative, baseline, at: place } => {
            return format!("work and share of {} {}", pair(alternative, baseline), at(place));
        }
        Quantity::Duets { alternative } => {
            return format!("CPU time of '{alternative}' beside the baseline, at once on one CPU");
        }
        Quantity::RunQueueDelay { at: place } => return format!("run-queue delay {}", at(place)),
        Quantity::FullLevel { part, refused: true } => return format!("the full level: {part}"),
        Quantity::FullLevel { part: name, .. }
        | Quantity::Probe { name }
        | Quantity::Operation { operation: name } => name,
        Quantity::Report { field } => field.as_ref(),
        Quantity::Metric { metric } => metric_name(*metric),
        Quantity::Floor => "floor",
        Quantity::Outputs => "whether the commands print the same",
        Quantity::WarmUp => "warm-up",
        Quantity::Cpus => "CPUs",
        Quantity::OtherPrograms => "CPU use of other programs",
        Quantity::Steal => "CPU time stolen by the hypervisor",
        Quantity::CalibratedOverhead => "the calibrated cost of observing",
        Quantity::MeasuredOverhead => "how much longer an observed run takes",
        Quantity::Schedule => "schedule",
        Quantity::ProcessTree => "process tree",
        Quantity::SystemCalls => "system calls",
        Quantity::FailedExecs => "failed execs",
        Quantity::UserAndKernelTime { of_some: false } => "time in user code and in the kernel",
        Quantity::UserAndKernelTime { of_some: true } => {
            "time in user code and in the kernel, of some commands"
        }
        Quantity::KernelTimeOutsideCalls => "kernel time outside of system calls",
        Quantity::DataOf32Bit => "data moved by 32-bit programs",
        Quantity::TimeInCalls => "time in system calls",
        Quantity::WorkOfPageFaults => "work of page faults",
        Quantity::WorkInKernel => "work in the kernel by group of calls",
        Quantity::PtraceLevel => "a level with ptrace",
        Quantity::SwitchRecords => "switch records",
        Quantity::KernelStacks => "stacks of the kernel, and of where tasks block",
        Quantity::CallsPerOperation => "system calls per operation",
        Quantity::Machine => "CPU, hypervisor, mitigations, load of the machine",
    };
    text.to_owned()
}

/// Why the kernel gave no hardware counter, and what would help.
fn counter_refused(errno: i32) -> String {
    match errno {
        libc::ENOENT | libc::EOPNOTSUPP | libc::ENODEV | libc::ENOSYS => {
            "this machine has no such hardware counter: virtual machines often have none, and older kernels none for cores of \
             several kinds together"
                .to_owned()
        }
        libc::EACCES | libc::EPERM => {
            "this user may not count: lower kernel.perf_event_paranoid to 2 or below, or run as root"
                .to_owned()
        }
        libc::EMFILE | libc::ENFILE => {
            "each counter of each copy is an open file: raise ulimit -n, or lower --load".to_owned()
        }
        libc::EBUSY => "the counters of this CPU were taken by others the whole time".to_owned(),
        errno => format!("the kernel refused it ({})", std::io::Error::from_raw_os_error(errno)),
    }
}

/// The reason, and what would help.
#[allow(clippy::too_many_lines, reason = "one arm a kind")]
pub fn reason(reason: &Obstacle) -> String {
    let text = match reason {
        Obstacle::Said { text } => text,
        Obstacle::NoTime(why) => return no_time(why),
        Obstacle::DoesNotFit(why) => return does_not_fit(why),
        Obstacle::Level { lacks, full_listed } => return of_level(*lacks, *full_listed),
        Obstacle::TooFewRounds { rounds, needed } => {
            return format!(
                "at most {} ran; an interval at this confidence over all comparisons needs {needed}: more time (--max-time), \
                 more rounds (--runs or --min-runs), or fewer levels",
                count(u64::from(*rounds), "round", "rounds")
            );
        }
        Obstacle::TooShortForDuets { work_s, least_s } => {
            return format!(
                "a copy needs {:.0} ms of CPU time; from {:.0} ms on the scheduler gives both enough turns",
                work_s * 1e3,
                least_s * 1e3
            );
        }
        Obstacle::NoTimeForDuets { needed_s, allowed_s } => {
            return format!(
                "it needs about {}, and {} of --max-time are kept for it; allow more time",
                duration(*needed_s),
                duration(*allowed_s)
            );
        }
        Obstacle::LeavesProcesses => "a command left processes behind, and whose they were cannot be told",
        Obstacle::WarmUpCut { done, wanted } => {
            return format!(
                "{done} of {wanted} runs took half of --max-time; allow more time, or fewer --warmup"
            );
        }
        Obstacle::EndedBefore => "the measurement ended before it began",
        Obstacle::NoBatch => "the measurement ended before its first batch there, or no copy of it ended",
        Obstacle::NeverRan => "it never ran; without them there are no bounds",
        Obstacle::CopiesTimedOut => {
            "the time-out ended half or more of its copies at the lowest level; without them there are no bounds"
        }
        Obstacle::NoCpuTime => "the kernel counted no time for it; without them there are no bounds",
        Obstacle::Unusable => "no copy ended in them, or they hold a time that cannot be; they count nowhere",
        Obstacle::RoundCut => {
            "the measurement ended before every alternative had run; their batches count in the results only"
        }
        Obstacle::NoHiddenCopy => "no round had both the baseline and its hidden copy",
        Obstacle::OnlyFixedRuns { or_warm_up: false } => {
            "--runs fixes the number of runs, and nothing runs besides; leave it out"
        }
        Obstacle::OnlyFixedRuns { or_warm_up: true } => {
            "--runs fixes the number of runs, and nothing runs besides; leave it out, or add --warmup 1"
        }
        Obstacle::FewFixedRuns => {
            "--runs fixes the number of runs, and nothing runs besides: differences are not held against noise; leave it out, or ask for 12 or more"
        }
        Obstacle::CounterRefused { errno } => return counter_refused(*errno),
        Obstacle::NotCounted => "it was not counted for some copy",
        Obstacle::TooShort => {
            "the kernel counted no CPU time for some batch: it is too short for its accounting"
        }
        Obstacle::NoTracedBatch => "no traced batch of every alternative was run there",
        Obstacle::CpusUnknown => {
            "the machine did not tell how many CPUs we may use; 1 was taken for share and bounds"
        }
        Obstacle::NoProcStat => "/proc/stat could not be read",
        Obstacle::NoTimeForTrace => "no time was left of --max-time for its traced batch",
        Obstacle::OnlySums => "what the kernel adds up for a parent does not say how many there were",
        Obstacle::LostAtExec => {
            "the tracer did not say what a task had used before it ran another program, or lost its end"
        }
        Obstacle::NoEndOfFaults => {
            "page faults, interrupts and the kernel's work for a task outside of its system calls count as user code: \
             the kernel shows where they begin but not where they end"
        }
        Obstacle::CalibrationMoved => {
            "while it was calibrated, the machine's speed moved by more than a call, a switch or a process became dearer: trace \
             again when it is calmer"
        }
        Obstacle::NotCalibrated => "the cost of one event was not calibrated",
        Obstacle::NoUntracedRun => "no run without tracing was made",
        Obstacle::CompatCalls => {
            "a 32-bit program ran: its calls are counted and timed, and its waits have their causes, but their arguments \
             are not decoded, what they move is not counted, and when it had started up is not known"
        }
        Obstacle::OnlyCounted => "calls were only counted, as asked",
        Obstacle::NoFaultPrice => {
            "the price of a page fault is not known here: their time is in that of user code"
        }
        Obstacle::NoCalls => {
            "no system call was entered while it was observed: all time in the kernel is \"rest\""
        }
        Obstacle::CallsNotTimed => "system calls were not timed: all time in the kernel is \"rest\"",
        Obstacle::QuotaUsedUp => {
            "the cgroup's CPU quota was used up, which looks the same for a task that may run on one CPU"
        }
        Obstacle::OpenCpusUnknown => {
            "which CPUs were open to the command when it began is not known: a wait that only a pin made counts \
             under avoidable.but_for_affinity_s"
        }
        Obstacle::CoresUnknown => "which CPUs are hardware threads of one core is not known",
        Obstacle::OnlyUserStacks => {
            "without privileges only the stacks of user code that runs are given; the full level takes all"
        }
        Obstacle::WorkerAlone => "a worker alone tells its system and its clock only",
        Obstacle::UnknownProbe => "this whyfaster does not know the probe",
        Obstacle::NoSample => "no sample was taken",
        Obstacle::NotInList => "not in this list",
        Obstacle::NoSpread => "neither list tells its spread",
        Obstacle::AllDisturbed { involuntary, migration, delay, steal } => {
            return format!(
                "all {} samples were disturbed ({involuntary} by an involuntary switch, {migration} by a migration, {delay} by \
                 waiting for a CPU, {steal} by steal): other work keeps these CPUs busy",
                [involuntary, migration, delay, steal]
                    .into_iter()
                    .fold(0, |all: u64, n| all.saturating_add(*n))
            );
        }
        Obstacle::NotResolvable { fixed, low, high, batch, instructions } => {
            let (thousand, noisy) = match instructions {
                true => ("thousand instructions", "the counts vary too much"),
                false => ("us", "the machine is too noisy"),
            };
            let [fixed, low, high, batch] =
                [fixed, low, high, batch].map(|n| format!("{:.1} {thousand}", n / 1000.0));
            return format!(
                "not resolvable: the fixed cost of a batch comes out as {fixed} ({low} to {high}), and a whole batch takes \
                 {batch}: {noisy} for N against 2N"
            );
        }
        Obstacle::ShortBatch { ticks, needed } => {
            return format!(
                "refused: a batch lasted only {ticks:.0} steps of the clock, {needed:.0} are needed to tell its time"
            );
        }
        Obstacle::NothingHappened { ns, operation } => {
            return format!("refused: {ns:.5} ns is no time for {operation}: nothing happened");
        }
        Obstacle::Contradicted { counted, seen, promised } => {
            return contradicted(*counted, *seen, *promised);
        }
        Obstacle::WithinNoise { floor, noise } => {
            let what = if *floor { "its floor differs" } else { "it differs" };
            let noise = match noise {
                Noise::Delta => "matters",
                Noise::Drift => "a list drifts by itself",
                Noise::ClockSteps => "steps of the clock may explain",
                Noise::Pace => "the CPU itself may explain (compute)",
            };
            return format!("no verdict: {what} by no more than {noise}");
        }
        Obstacle::Crowded(who) => {
            return format!("no verdict: {} while the dearer list was measured", crowd(*who));
        }
        Obstacle::NoCommonVariant { lists } => return no_common_variant(lists),
        Obstacle::OtherUnit { unit } => return format!("this list is in {unit}, not in nanoseconds"),
    };
    text.to_owned()
}

fn no_time(why: &NoTime) -> String {
    format!(
        "one round needs about {}, {} of the {} of --max-time are left; allow more time",
        duration(why.round_s),
        duration(why.left_s),
        duration(why.max_time_s)
    )
}

fn does_not_fit(short: &Shortage) -> String {
    let limit = |unknown: &'static str| short.limit.as_deref().unwrap_or(unknown);
    let (limit, remedy) = match short.resource {
        Resource::Processes => (format!("{} leaves", limit("the limit of processes")), "raise it"),
        Resource::Memory => (format!("{}, less a tenth, leaves", limit("the machine")), "free or add memory"),
        Resource::Files => ("ulimit -Hn allows".to_owned(), "raise it, choose --output null"),
    };
    let amount = |n: u64| match short.resource {
        Resource::Processes => format!("{} processes", grouped(n)),
        Resource::Memory => format!("{} of memory", bytes(n)),
        Resource::Files => format!("{} open files", grouped(n)),
    };
    let remedy = match short.most_copies {
        0 => format!("not even one copy fits, {remedy}"),
        most => format!("{remedy} or use --load up to {most}"),
    };
    let copies = if short.copies == 1 { "copy needs" } else { "copies need" };
    let (needed, there_is) = (amount(short.needed), amount(short.there_is));
    format!("{} {copies} about {needed}; {limit} {there_is}: {remedy}", short.copies)
}

/// What a price did that its probe does not promise.
fn contradicted(counted: Counted, seen: f64, promised: f64) -> String {
    let (what, lie) = match counted {
        Counted::VoluntarySwitches => ("voluntary context switches", "a task that did not go to sleep"),
        Counted::Switches => ("context switches", "a switch that did not happen"),
        Counted::SystemCalls => ("system calls", "a call that never entered the kernel"),
    };
    let (lie, bound) = match seen < promised {
        true => (lie, "at least"),
        false => ("it did more than it claims", "at most"),
    };
    format!("refused: {lie} ({seen:.2} {what} an operation, {bound} {promised} belong to one)")
}

/// Who had the CPUs of a machine.
pub fn crowd(who: Crowd) -> String {
    let percent = 100.0 * who.share;
    match who.stolen {
        false => format!("other processes used {percent:.0}% of its CPUs"),
        true => format!("its hypervisor gave {percent:.0}% of its CPU time to others"),
    }
}

fn no_common_variant(lists: &[Variants]) -> String {
    let some = |variants: &[String]| {
        let shown = variants.iter().take(MOST_NAMED).map(|variant| match variant.as_str() {
            "" => "the one without a variant",
            variant => variant,
        });
        let shown: Vec<&str> = shown.collect();
        match variants.len().saturating_sub(MOST_NAMED) {
            0 => shown.join(" "),
            more => format!("{} and {more} more", shown.join(" ")),
        }
    };
    let each: Vec<String> =
        lists.iter().map(|list| format!("{} has {}", list.list, some(&list.variants))).collect();
    format!("no variant that all lists price: {}", each.join("; "))
}

/// Variants that a reason names.
const MOST_NAMED: usize = 4;

/// What a level of a trace lacks, and where to read what the full level needs.
fn of_level(lacks: Lack, full_listed: bool) -> String {
    let why = match lacks {
        Lack::Tree => "this level sees one child and what it adds up for it",
        Lack::Calls => "this level stops at no system call: --level ptrace counts them, at a cost",
        Lack::FailedExecs => "this level sees only execs that work",
        Lack::KernelEntries => "this level does not see when a task enters the kernel",
        Lack::WakeUps => {
            "this level sees when tasks leave and get a CPU, but not when they are woken nor who else runs: after a \
             voluntary switch, being blocked cannot be told from waiting for a CPU"
        }
        Lack::Scheduling => "this level sees no scheduling records",
        Lack::Schedstat => {
            "the kernel's account of waiting (/proc/PID/schedstat) was not read: this level cannot, or the task was gone"
        }
    };
    let full = match full_listed {
        true => "what it needs here stands under \"the full level\"",
        false => "'whyfaster doctor' says what that needs here",
    };
    format!("{why}; the full level sees it; {full}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shortage_names_limit_need_and_remedy() {
        let processes = Shortage {
            resource: Resource::Processes,
            limit: Some("ulimit -u".to_owned()),
            copies: 1000,
            needed: 5000,
            there_is: 812,
            most_copies: 162,
        };
        assert_eq!(
            does_not_fit(&processes),
            "1000 copies need about 5,000 processes; ulimit -u leaves 812 processes: raise it or use --load up to 162"
        );
        let memory = Shortage {
            resource: Resource::Memory,
            limit: Some("MemAvailable".to_owned()),
            copies: 1,
            needed: 1 << 40,
            there_is: 9 << 30,
            most_copies: 0,
        };
        assert_eq!(
            does_not_fit(&memory),
            "1 copy needs about 1.0 TiB of memory; MemAvailable, less a tenth, leaves 9.0 GiB of memory: \
             not even one copy fits, free or add memory"
        );
    }
}
