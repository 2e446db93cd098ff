//! Causes and findings: titles, remedies, sentences. For people who have never heard of work and span.

use whyfaster_core::trace::report::Direction;
use whyfaster_core::why::Cause;
use whyfaster_core::why::report::Finding;
use whyfaster_core::why::statement::{Fact, Measure, OneFile, Pair};

use super::called::Called;
use super::functions::located;
use super::measures::measure;
use super::numbers::{amount, count, often, percent, plural, quoted, time, upper};

/// A cause in a table.
pub fn title(cause: Cause) -> &'static str {
    match cause {
        Cause::Processes => "more processes",
        Cause::PathSearch => "searching PATH",
        Cause::Startup => "start-up of programs",
        Cause::SmallIo => "small reads and writes",
        Cause::PipeCopy => "copying through pipes",
        Cause::Overlap => "less at the same time",
        Cause::Compute => "computing",
        Cause::PageFaults => "memory, page faults",
        Cause::Files => "work with files",
        Cause::Calls => "system calls",
        Cause::Kernel => "time in the kernel",
        Cause::Disk => "waiting for a disk",
        Cause::Lock => "waiting for a lock",
        Cause::Sleep => "sleeping or polling",
        Cause::CpuContention => "CPUs taken by others",
        Cause::Misplacement => "misplaced on a busy CPU",
        Cause::Share => "less share of the machine",
        Cause::Network => "network and local sockets",
        Cause::Unexplained => "unexplained",
    }
}

/// By what an alternative loses time: "it loses 3 ms by ...".
pub(super) fn noun(cause: Cause) -> &'static str {
    match cause {
        Cause::Processes => "making processes",
        Cause::PathSearch => "searching for programs",
        Cause::Startup => "starting programs up",
        Cause::SmallIo => "reading and writing in small pieces",
        Cause::PipeCopy => "copying through pipes",
        Cause::Overlap => "doing one thing after the other",
        Cause::Compute => "computing",
        Cause::PageFaults => "using more memory",
        Cause::Files => "working with files",
        Cause::Calls => "making system calls",
        Cause::Kernel => "work in the kernel (system time)",
        Cause::Disk => "waiting for the disk",
        Cause::Lock => "waiting for locks",
        Cause::Sleep => "sleeping or polling",
        Cause::CpuContention | Cause::Misplacement | Cause::Share => "waiting for a CPU",
        Cause::Network => "using sockets",
        Cause::Unexplained => "something that is not known",
    }
}

/// What is this part of something is called all of it.
const MOSTLY: f64 = 0.9;

/// From this part of a cause on, the waiting behind what runs is told apart from it.
const WORTH_A_WORD: f64 = 0.1;

/// The waiting for CPUs that counts to a cause, seconds.
fn queued_s(finding: &Finding) -> f64 {
    let queued = finding.evidence.iter().find(|it| it.measure == Some(Measure::Queued));
    queued.map_or(0.0, |it| it.here.clamp(0.0, finding.seconds))
}

/// What could be done: in a few words, and what is added where there is room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remedy {
    /// A sentence without its full stop.
    pub short: &'static str,
    /// The rest of it.
    pub more: &'static str,
}

impl Remedy {
    /// All of it.
    pub fn whole(self) -> String {
        format!("{}{}", self.short, self.more)
    }
}

/// What could be done where others disturb.
pub(super) const QUIET: Remedy = Remedy {
    short: "Measure on a quiet machine",
    more: ", or give the command CPUs of its own (--pin, or a cpuset).",
};

/// At this ratio or more, one side moves more data of files.
const MORE_DATA: f64 = 1.2;

/// Data of files take it longer, although it moves about as much of them as the other one.
fn is_as_much_data(finding: &Finding) -> bool {
    let data = finding.evidence.iter().find(|it| it.measure == Some(Measure::FileData));
    matches!(finding.fact, Some(Fact::Files { names: None, .. }))
        && data.is_some_and(|it| it.there > 0.0 && it.here <= MORE_DATA * it.there)
}

/// So many times as many calls on sockets are more.
const MORE_CALLS: f64 = 1.1;

/// The one that waits longer for the network makes more calls on sockets. `None`: nobody counted them.
fn more_calls(finding: &Finding) -> Option<bool> {
    let calls = finding.evidence.iter().find(|it| it.measure == Some(Measure::SocketCalls))?;
    (calls.here + calls.there > 0.0).then_some(calls.here > MORE_CALLS * calls.there)
}

/// What could be done.
#[expect(clippy::too_many_lines, reason = "one arm a cause")]
pub(super) fn remedy(finding: &Finding) -> Remedy {
    let of = |short, more| Remedy { short, more };
    match finding.cause {
        Cause::Processes => of(
            "Do more in one process",
            ": a builtin instead of a program, xargs with many arguments, one awk for several tools.",
        ),
        Cause::PathSearch => {
            of("Call programs by their full path", ", or put the directory that has them first in PATH.")
        }
        Cause::Compute if matches!(finding.fact, Some(Fact::Compute { starts: Some(_), .. })) => of(
            "Start the program once and give it all there is to do",
            ": most programs take many files or lines.",
        ),
        Cause::Startup => of(
            "Start the program less often and give it more to do each time",
            ", or take one that loads less.",
        ),
        Cause::SmallIo if matches!(&finding.fact, Some(Fact::SmallIo { bytes, .. }) if bytes.here >= bytes.there) => {
            of("Read and write less often", ": less data, one transaction for many changes, larger pieces.")
        }
        Cause::SmallIo => of(
            "Read and write in larger pieces",
            ": a larger block size, full instead of line buffering, a program that reads lines in blocks.",
        ),
        Cause::PipeCopy => of(
            "Leave out stages that only pass data on (cat FILE | X is X < FILE)",
            ", or cut the data down in the first stage.",
        ),
        Cause::Overlap if matches!(finding.fact, Some(Fact::WaitsInTurn { .. })) => of(
            "Wait for independent things at the same time",
            ": & and wait, xargs -P. Waiting takes no CPU.",
        ),
        Cause::Overlap => of(
            "Run independent parts at the same time",
            ": a pipeline instead of a file in between, & and wait, xargs -P. It pays only while CPUs are free.",
        ),
        Cause::Compute => {
            of("The program itself computes more: take another algorithm, pattern or tool", ".")
        }
        Cause::PageFaults => of(
            "Use less memory or use it again",
            ": smaller buffers, streaming instead of reading everything, huge pages.",
        ),
        Cause::Files if is_as_much_data(finding) => match &finding.fact {
            Some(Fact::Files { file: Some(OneFile { direction: Direction::Read, .. }), .. }) => of(
                "Read that file less often, or another one with the same data",
                ": the kernel makes files below /proc and /sys each time they are read, and some file systems decompress or decrypt.",
            ),
            Some(Fact::Files { file: Some(OneFile { direction: Direction::Write, .. }), .. }) => of(
                "Compare a file on another file system",
                ": the kernel takes longer to store the same data there.",
            ),
            _ => of(
                "See which files it reads: the kernel takes longer to make or to find what is in them",
                " (files below /proc and /sys are made when they are read).",
            ),
        },
        Cause::Files if matches!(finding.fact, Some(Fact::Files { names: None, .. })) => of(
            "Move less data of files, and each byte once",
            ": fewer copies of it, copy_file_range (cp, cat) instead of reads and writes, pieces that fit into the CPU's caches.",
        ),
        Cause::Files => of(
            "Look at fewer names and attributes, and read each file once",
            ": ls without -l, find -printf instead of stat, pieces that fit into the CPU's caches.",
        ),
        Cause::Calls => {
            of("Make fewer of these calls", ": ask for what is needed once, or for all of it in one call.")
        }
        Cause::Kernel => of(
            "See what it asks of the kernel",
            ": `whyfaster trace` counts its system calls and page faults.",
        ),
        Cause::Disk => of(
            "Read less from the disk, or force data to it less often",
            ": one transaction or sync for many writes, data that is kept in memory.",
        ),
        Cause::Lock => of(
            "Hold the lock for a shorter time or give every worker a lock of its own",
            ", or start fewer workers.",
        ),
        Cause::Sleep => of(
            "Wait for the event itself instead of sleeping",
            ": wait, inotifywait, a pipe, or a shorter interval.",
        ),
        Cause::CpuContention => QUIET,
        Cause::Misplacement => of(
            "Let it run on more CPUs (taskset, cpuset)",
            ", or keep its stages and what shares their CPU apart.",
        ),
        Cause::Share => {
            of("Remove nice, or raise the quota of its cgroup", "; compare both with the same priority.")
        }
        Cause::Network => match more_calls(finding) {
            Some(true) => {
                of("Ask less often", ": fewer and larger requests, several at the same time, a cache.")
            }
            Some(false) => of(
                "See who lets it wait for each answer: it asks no more often",
                " (a server farther away or slower, small packets that wait for an acknowledgement: TCP_NODELAY), or ask several at the same time.",
            ),
            None => of(
                "See how often it asks, and who lets it wait",
                ": strace -f -c -e network counts its calls.",
            ),
        },
        Cause::Unexplained => {
            of("See the accounts of both alternatives", ": whyfaster show --json has every row.")
        }
    }
}

/// A finding without the time that it costs, where that stands behind the fact.
pub(super) struct Said {
    pub what: String,
    /// "costs" or "saves"; `None`: the fact has the time.
    pub costs: Option<&'static str>,
    /// What is said last.
    pub more: String,
}

/// In one sentence.
pub(super) fn sentence(finding: &Finding, called: &Called) -> Option<String> {
    Some(format!("{}.", upper(&clause(finding, called)?)))
}

/// The same as a part of a longer sentence.
pub(super) fn clause(finding: &Finding, called: &Called) -> Option<String> {
    let Said { what, costs, more } = said(finding, &called.of(&finding.alternative), called)?;
    Some(match costs {
        _ if finding.by_counts && finding.confirmed != Some(true) => {
            format!("{what}{more}; that goes {}", unobserved(finding))
        }
        Some(costs) => format!("{what}; that {costs} it {}{more}", time(finding.seconds)),
        None => format!("{what}{more}"),
    })
}

/// By what a cause is told that no run observed, and what that leaves open.
pub(super) fn unobserved(finding: &Finding) -> String {
    let seconds = time(finding.seconds);
    match finding.cause {
        Cause::Sleep | Cause::Disk | Cause::Lock | Cause::Network => {
            "by its calls, and by how much longer it is on no CPU in the timed runs; it was not observed"
                .to_owned()
        }
        Cause::CpuContention => "by the scheduler's account of one run; it was not observed".to_owned(),
        _ => format!("by counts; how much of the {seconds} it takes was not observed"),
    }
}

/// What a finding states. `subject` stands at the beginning for the alternative that it makes slower.
#[expect(
    clippy::too_many_lines,
    reason = "one arm for each fact, so that the compiler asks for the words of a new one"
)]
pub(super) fn said(finding: &Finding, subject: &str, called: &Called) -> Option<Said> {
    let (slow, fast) = (called.of(&finding.alternative), called.of(&finding.against));
    let cost = time(finding.seconds);
    let costs = |what: String| Said { what, costs: Some("costs"), more: String::new() };
    let timed = |what: String| Said { what, costs: None, more: String::new() };
    let longer = |what: &str, more: String| timed(format!("{subject} {what}{more}"));
    Some(match finding.fact.as_ref()? {
        Fact::MoreProcesses { processes } => {
            costs(starts(subject, &fast, *processes, ("process", "processes")))
        }
        Fact::MorePrograms { programs } => costs(starts(subject, &fast, *programs, ("program", "programs"))),
        Fact::DearerProcesses { equal, command } => {
            let many = if *equal { "as many" } else { "about as many" };
            longer(&format!("takes {cost} longer to make and end {many} processes"), mostly(command))
        }
        Fact::PathSearch { misses } => costs(format!(
            "{subject} looks {} into directories of PATH that do not have the program, and {fast} {}",
            often(misses.here),
            fewer(*misses, often, "never"),
        )),
        Fact::Startup { command } => Said {
            more: located(finding),
            ..longer(&format!("takes {cost} longer to load and start its programs"), mostly(command))
        },
        Fact::SmallIo { calls, number, bytes } => costs(format!(
            "{subject} moves its data in {} {} of {} each, and {}",
            count(number.here),
            // In full it would read "of files and devices of 64 B".
            if *calls == Measure::FileCalls { "reads and writes".to_owned() } else { measure(calls) },
            amount(bytes.here),
            if number.there > 0.0 {
                format!("{fast} in {} of {}", fewer(*number, count, "none"), amount(bytes.there))
            } else {
                format!("{fast} none")
            },
        )),
        Fact::MorePipeData { bytes } => costs(format!(
            "{subject} copies {} through pipes from one program to the next, and {fast} {}",
            amount(bytes.here),
            fewer(*bytes, amount, "none"),
        )),
        Fact::DearerPipes => {
            longer(&format!("takes {cost} longer to copy its data through pipes"), String::new())
        }
        Fact::Overlap { cpus, bottleneck } => overlap(&slow, &fast, *cpus, bottleneck.as_deref()),
        Fact::WaitsInTurn { command } => Said {
            what: format!(
                "{slow} waits{} before it goes on, and {fast} does several things at the same time",
                by(command, &slow)
            ),
            costs: Some("saves"),
            more: String::new(),
        },
        Fact::Compute { command, starts } => {
            let often = starts.map(|it| {
                format!(", which it starts {}, and {fast} {}", often(it.here), fewer(it, often, "never"))
            });
            let by = mostly(command) + &often.unwrap_or_default();
            let queued_s = queued_s(finding);
            let what = match queued_s >= finding.seconds * WORTH_A_WORD {
                true => format!(
                    "computes {} longer in its programs' own code and waits {} for the CPUs that this keeps busy",
                    time(finding.seconds - queued_s),
                    time(queued_s)
                ),
                false => format!("computes {cost} longer in its programs' own code"),
            };
            let said = longer(&what, by);
            Said { more: located(finding), ..said }
        }
        Fact::PageFaults { pages } if pages.here > pages.there => costs(format!(
            "{subject} touches {} new pages of memory, and {fast} {}{}",
            count(pages.here),
            fewer(*pages, count, "none"),
            located(finding),
        )),
        Fact::PageFaults { .. } => {
            longer(&format!("spends {cost} more in the kernel on memory"), located(finding))
        }
        Fact::Files { names: Some(calls), .. } if calls.here > calls.there => costs(format!(
            "{subject} looks up names and attributes of files {}, and {fast} {}",
            often(calls.here),
            fewer(*calls, often, "never"),
        )),
        Fact::Files { names, command, file } => {
            let on = if names.is_some() { "names and attributes" } else { "data" };
            let most = file.as_ref().map_or_else(|| mostly(command), of_file);
            longer(&format!("spends {cost} more in the kernel on the {on} of files"), most)
        }
        Fact::Calls { call: Some(call), error, number } => {
            let error = error.as_ref().map(|it| format!(" ({it})")).unwrap_or_default();
            let more = count(number.here - number.there);
            Said {
                more: located(finding),
                ..costs(format!("{subject} makes {more} more calls of {call}{error}"))
            }
        }
        Fact::Calls { call: None, .. } => {
            longer(&format!("spends {cost} more in system calls that do little each"), located(finding))
        }
        Fact::Kernel => longer(&format!("spends {cost} more in the kernel (system time)"), String::new()),
        Fact::Disk { waits_s, command } => {
            let (verb, of_it) = waiting(*waits_s, finding);
            longer(&format!("{verb} {cost} longer for the disk"), mostly(command) + &of_it)
        }
        Fact::Lock { waits_s, holder } => {
            let (verb, of_it) = waiting(*waits_s, finding);
            let held = holder.as_ref().map(|it| format!(" that {} held", quoted(it)));
            longer(
                &format!("{verb} {cost} longer for locks"),
                held.unwrap_or_default() + &of_it + &located(finding),
            )
        }
        Fact::Sleep { waits_s, command } => match waiting(*waits_s, finding) {
            (WAITS, _) => longer(&format!("sleeps {cost} longer, with nothing to do"), by(command, &slow)),
            (_, of_it) => longer(
                &format!("spends {cost} longer in calls that sleep, poll or yield"),
                mostly(command) + &of_it,
            ),
        },
        Fact::Stolen => {
            longer(&format!("waits {cost} longer for CPUs that the hypervisor gave to others"), String::new())
        }
        Fact::CpuContention { holders, both: true } => {
            let names: Vec<String> = holders.iter().map(|it| quoted(it)).collect();
            let named = if names.is_empty() { String::new() } else { format!(" ({})", names.join(" and ")) };
            longer(&format!("waits {cost} longer for CPUs that other programs had{named}"), String::new())
        }
        Fact::CpuContention { holders, both: false } => {
            let names: Vec<String> = holders.iter().map(|it| quoted(it)).collect();
            let taken = match &names[..] {
                [] => String::new(),
                names => format!(" that others had taken: {}", names.join(" and ")),
            };
            longer(&format!("waits {cost} longer for a CPU"), taken)
        }
        Fact::Confined { cpus } => costs(format!(
            "{subject} keeps itself to {}, where its parts take turns, while {fast} uses {}",
            plural(cpus.here, "CPU", "CPUs"),
            plural(cpus.there, "CPU", "CPUs"),
        )),
        Fact::Misplacement { holder, forbidden } => {
            let held = holder.as_ref().map(|it| format!(" that {} had", quoted(it))).unwrap_or_default();
            let forbidden = if *forbidden { " on which it is not allowed to run" } else { "" };
            let idle = format!("{held}, while another one stood idle{forbidden}");
            longer(&format!("waits {cost} longer for a CPU"), idle)
        }
        Fact::Throttled => costs(format!(
            "{subject} is given less of the CPUs, because the CPU time that its group may use was used up"
        )),
        Fact::LowPriority => costs(format!(
            "{subject} is given less of the CPUs, because it runs with a lower priority beside others"
        )),
        Fact::Network { waits_s, local, command } => match waiting(*waits_s, finding) {
            // Counts do not tell a wait from the kernel's code.
            (WAITS, _) if !finding.by_counts => {
                let for_what = if *local { "other processes, through local sockets" } else { "the network" };
                longer(&format!("waits {cost} longer for {for_what}"), by(command, &slow))
            }
            (_, of_it) => {
                let on = if *local { "local sockets to other processes" } else { "the network" };
                longer(&format!("spends {cost} longer on {on}"), mostly(command) + &of_it)
            }
        },
        Fact::Unexplained { most, seconds } => {
            let row = most
                .as_ref()
                .map(|it| format!("; the row that differs most is {} ({})", measure(it), time(*seconds)));
            timed(format!("{}{}", unexplained(&cost, &slow), row.unwrap_or_default()))
        }
        Fact::Refuted { cause } => {
            timed(format!("{}; a test refuted {}", unexplained(&cost, &slow), title(*cause)))
        }
    })
}

fn unexplained(cost: &str, slow: &str) -> String {
    format!("{cost} that {slow} takes longer are not explained by any cause that is known")
}

fn starts(subject: &str, fast: &str, number: Pair, (one, many): (&str, &str)) -> String {
    format!(
        "{subject} starts {}, and {fast} {}",
        plural(number.here, one, many),
        fewer(number, count, "none")
    )
}

fn overlap(slow: &str, fast: &str, cpus: Pair, bottleneck: Option<&str>) -> Said {
    let [here, there] = [cpus.here, cpus.there].map(|cpus| (cpus * 10.0).round() / 10.0);
    // The slower one may have had something else to do beside.
    let busy = match here < there {
        true => format!(" and keeps {there:.1} CPUs busy on average, {slow} only {here:.1}"),
        false => String::new(),
    };
    let pace = bottleneck.map(|stage| format!("; of its stages {} sets the pace", quoted(stage)));
    Said {
        what: format!("{fast} does several things at the same time{busy}"),
        costs: Some("saves"),
        more: pace.unwrap_or_default(),
    }
}

/// ", most of it in 'awk'".
fn mostly(command: &Option<String>) -> String {
    command.as_ref().map(|it| format!(", most of it in {}", quoted(it))).unwrap_or_default()
}

/// ", 97% of that in reads of '/proc/kallsyms'".
fn of_file(file: &OneFile) -> String {
    let calls = match file.direction {
        Direction::Read => "reads of",
        Direction::Write => "writes to",
    };
    format!(", {} of that in {calls} {}", percent(file.share), quoted(&file.path))
}

/// The verb of who only waits.
const WAITS: &str = "waits";

/// Whether a cost is waiting; and if not, how much of it is.
fn waiting(waits_s: Option<f64>, finding: &Finding) -> (&'static str, String) {
    match waits_s {
        Some(waits_s) if waits_s < (1.0 - MOSTLY) * finding.seconds => {
            ("takes", " (nearly all of it in the kernel's code)".to_owned())
        }
        Some(waits_s) if waits_s < MOSTLY * finding.seconds => {
            ("takes", format!(" ({} of waiting, the rest in the kernel's code)", time(waits_s)))
        }
        _ => (WAITS, String::new()),
    }
}

/// " (in 'sleep')", where the alternative's name does not say it.
fn by(command: &Option<String>, slow: &str) -> String {
    let command = command.as_ref().filter(|it| !slow.contains(it.as_str()));
    command.map(|it| format!(" (in {})", quoted(it))).unwrap_or_default()
}

/// The smaller number beside the larger one: "only 3", "none".
fn fewer(of: Pair, words: fn(f64) -> String, none: &str) -> String {
    match (of.there > 0.0, of.there < of.here) {
        (false, _) => none.to_owned(),
        (true, true) => format!("only {}", words(of.there)),
        (true, false) => words(of.there),
    }
}
