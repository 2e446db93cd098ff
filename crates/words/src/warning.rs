//! Warnings and their remedies.

use whyfaster_core::fit::bytes;
use whyfaster_core::sample::Io;
use whyfaster_core::warning::{Caution, Place, Setting, Warning};

use super::check;
use super::phrases::{Naming, Pair, at, count, list, percent};
use super::units::{digits, factor, time};

const OTHER_LOAD: &str =
    "stop other work on this machine, or leave it CPUs of its own with --pin, and measure again";
const REPEAT: &str = "measure again without changing it meanwhile";

/// The warning and its remedy; the text as it is stored where an earlier version wrote it.
pub fn of(warning: &Warning, name: Naming<'_>) -> Pair {
    let Some(caution) = &warning.caution else { return (warning.what.clone(), warning.remedy.clone()) };
    let (what, remedy) = said(caution, name);
    (what, remedy.to_owned())
}

#[allow(clippy::too_many_lines, reason = "one arm a kind")]
fn said(caution: &Caution, name: Naming<'_>) -> (String, &'static str) {
    let pair =
        |alternative: &str, baseline: &str| format!("'{}' against '{}'", name(alternative), name(baseline));
    let copies = |copies: u64| count(copies, "copy", "copies");
    let quota = |quota: &Option<f64>| quota.map_or("none".to_owned(), |cpus| format!("{cpus:.2} CPUs"));
    let named = |alternative: &str, place: &Place| (name(alternative), at(place));
    match caution {
        Caution::DoesLessUnread { alternative, others, unread, read } => (
            match others.as_slice() {
                [] => format!(
                    "'{}' does less when its output goes to /dev/null (it {}), so all wrote into a pipe",
                    name(alternative),
                    less(unread, read)
                ),
                others => format!(
                    "{} do less when their output goes to /dev/null (each {}), so all wrote into a pipe",
                    list(
                        &([alternative].into_iter().chain(others))
                            .map(|it| format!("'{}'", name(it)))
                            .collect::<Vec<_>>()
                    ),
                    less(unread, read)
                ),
            },
            "--output null times what they do unread",
        ),
        Caution::OutputsDiffer { alternative, before, place, first, other, vary } => {
            let (alternative, before) = (name(alternative), name(before));
            let seen = match place {
                Some((byte, line)) => {
                    format!("first at byte {byte}, line {line}: '{before}' prints \"{first}\" and '{alternative}' \"{other}\"")
                }
                None => "beyond the part that is kept".to_owned(),
            };
            let names: Vec<String> = vary.iter().map(|it| format!("'{}'", name(it))).collect();
            let vary = match names.as_slice() {
                [] => String::new(),
                names => format!("; the output of {} differs from run to run", list(names)),
            };
            (
                format!("'{alternative}' prints something else than '{before}', {seen}{vary}"),
                "make both print the same, or accept that they do different work; with --check-output=strict it is an error",
            )
        }
        Caution::ReadsFarLess { winner, loser, winner_bytes, loser_bytes, unread } => (
            format!(
                "'{}' reads {}, '{}' {}: it may leave out work",
                name(winner),
                bytes(*winner_bytes),
                name(loser),
                bytes(*loser_bytes)
            ),
            if *unread {
                "some programs stop early when their output goes to /dev/null: --output pipe reads it"
            } else {
                "an early end, a size or an index in the place of the data: is that what is to be compared? What is mapped \
                 into memory is not counted"
            },
        ),
        Caution::HiddenCopyDiffers { at: place } => {
            let place = place.as_ref().map_or_else(|| "over all levels together".to_owned(), at);
            (
                format!(
                    "the baseline differs from its own hidden copy {place}: something other than the commands decides part of the time"
                ),
                "look for state that one run leaves to the next (caches, files, a clock that falls): use --prepare, or measure again on a quieter machine",
            )
        }
        Caution::ParameterUnused { parameter } => (
            format!("the parameter '{}' changes no command: the same one was compared with itself", name(parameter)),
            "write its name in braces where its value belongs: in a command or in one of its hooks",
        ),
        Caution::SpanByTheClock => (
            "span and work were taken from copies that arrived by the clock, perhaps beside others".to_owned(),
            "measure once in batch mode at --load 1 for the span of one copy alone",
        ),
        Caution::RateNotKept { alternative, rate_per_s, ended_per_s } => (
            format!(
                "'{}' ends {} copies a second, and {} start: they queue up, and the longer it is measured, the longer its latency",
                name(alternative),
                digits(*ended_per_s),
                digits(*rate_per_s)
            ),
            "use a lower --rate: latencies of a rate that is not kept say nothing but that",
        ),
        Caution::SpanUnderLoad { load } => (
            format!(
                "the span was taken at load {load}, not from one copy alone: it holds waiting for the CPU, so the bounds may be too high"
            ),
            "add 1 to --load",
        ),
        Caution::SingleRound { at: place } => (
            format!("only one round ran {}: its numbers carry no uncertainty at all", at(place)),
            "run more rounds: --runs, or --min-runs with a --max-time that allows them",
        ),
        Caution::OtherRounds { alternative, rounds, of, baseline, change, at: place } => (
            format!(
                "'{}' ran in {rounds} of {of} rounds {}, because it was decided then, and over all rounds '{}' takes {} what it took in \
                 those: the times in the table are not of the same rounds",
                name(alternative),
                at(place),
                name(baseline),
                factor(*change)
            ),
            "compare the two by their ratio, which is that of their common rounds",
        ),
        Caution::TailsOppose { alternative, baseline, at: place } => (
            format!(
                "{}: the typical round and the total say opposite things {}: a few slow rounds outweigh the rest",
                pair(alternative, baseline),
                at(place)
            ),
            "decide which one matters: the verdict follows the median, ratio_of_totals the sum; the latency quantiles show the tail",
        ),
        Caution::MoreShareNotLessWork { winner, loser, at: place, time, work, share } => (
            format!(
                "'{}' took {time:.2}x the time of '{}' {} with {work:.2}x the CPU time: it got {share:.2}x as much of the CPUs, \
                 rather than doing less",
                name(winner),
                name(loser),
                at(place)
            ),
            "where other programs want the CPUs too, expect the ratio of CPU time, not of time; compare --placement session with --placement shared",
        ),
        Caution::BelowFloor { alternative, baseline, at: place } => (
            format!(
                "{}: the difference {} is not above the floor: from one run to the next, the baseline differs by as much",
                pair(alternative, baseline),
                at(place)
            ),
            "measure on a quieter machine, or ask for more runs (--runs): the floor narrows with them",
        ),
        Caution::MaybeLayout { alternative, baseline, at: place, below } => (
            format!(
                "{}: the difference {} is below {}: it may be layout, not code",
                pair(alternative, baseline),
                at(place),
                percent(*below)
            ),
            "rebuild with another link order, or change the size of the environment, and see whether the difference stays",
        ),
        Caution::FlipsBack { alternative, flips } => (
            format!(
                "'{}': the winner changes {flips} times with the load; the crossover is the first of them",
                name(alternative)
            ),
            "read the ranges of verdicts, and measure the loads in doubt again with more rounds (--load, --min-runs)",
        ),
        Caution::FirstRunSlower { alternative, first_s, later_s } => (
            format!(
                "the first run of '{}' took {}, and later runs take {}",
                name(alternative),
                time(*first_s, None),
                time(*later_s, None)
            ),
            "later runs may find a file or a cache that the first one left; to measure first runs, remove it before each run with --prepare",
        ),
        Caution::RunsInGroups { alternative, slow, of, slow_s, others_s } => (
            format!(
                "{slow} of {of} runs of '{}' take {}, and the others {}",
                name(alternative),
                time(*slow_s, None),
                time(*others_s, None)
            ),
            "verdicts compare typical runs: give each run the same work, or use --show-output to see what the slow ones do",
        ),
        Caution::HooksDiffer { alternative, baseline } => (
            format!(
                "'{}' and '{}' run the same command line, and only their hooks differ",
                name(alternative),
                name(baseline)
            ),
            "give both the same --setup, --prepare, --conclude and --cleanup, unless the difference that hooks make is the question",
        ),
        Caution::TimedOut { alternative, hidden, copies: n, at: place } => {
            let (name, place) = named(alternative, place);
            let of = if *hidden { " of its hidden copy" } else { "" };
            (
                format!("'{name}': the time-out ended {}{of} {place}: times and ratios there are bounds", copies(*n)),
                "raise --timeout, or accept that it is at least that slow",
            )
        }
        Caution::Failed { alternative, copies: n, at: place } => {
            let (name, place) = named(alternative, place);
            (
                format!("'{name}': {} ended with a status other than 0 {place}", copies(*n)),
                "see why with --show-output: a command that fails early is not faster",
            )
        }
        Caution::Outlived { alternative, processes, ended, at: place } => {
            let (name, place) = named(alternative, place);
            let processes = count(*processes, "process", "processes");
            let ended = if *ended > 0 { format!("; {ended} had to be ended") } else { String::new() };
            (
                format!(
                    "'{name}': {processes} outlived the copy they came from {place}{ended}: their CPU time is in the work, not in the wall time"
                ),
                "let the command wait for its children (in a shell: `wait`)",
            )
        }
        Caution::LeftRunning { alternative, processes, at: place } => {
            let (name, place) = named(alternative, place);
            let processes = count(*processes, "process", "processes");
            (
                format!("'{name}': {processes} ran on after the copy they came from {place}: their CPU time is not in the work"),
                "leave out --keep-daemons to have them ended and counted",
            )
        }
        Caution::LittlesLaw { alternative, beyond, at: place } => {
            let (name, place) = named(alternative, place);
            (
                format!(
                    "'{name}': mean latency times throughput differs from the number of workers by more than {:.0}% {place}: starting and running dry are a large part",
                    100.0 * beyond
                ),
                "raise --duration until many copies run per worker",
            )
        }
        Caution::StealDuringBatches { share } => (
            format!(
                "the hypervisor gave {} of the machine's CPU time to others while batches ran",
                percent(*share)
            ),
            "measure at another hour or on a machine of your own; the order of the rounds spreads it over all alternatives",
        ),
        Caution::OthersDuringBatches { share } => (
            format!(
                "other programs, the kernel and whyfaster itself used {} of the machine's CPU time while batches ran",
                percent(*share)
            ),
            "stop what else runs (`whyfaster doctor` shows the load); intervals are wider, and full load comes earlier",
        ),
        Caution::SettingChanged { setting, before, after } => {
            let (name, remedy) = setting_and_remedy(*setting);
            (format!("the {name} changed from {before} to {after} during the measurement"), remedy)
        }
        Caution::ClockMoved { before_khz, after_khz } => (
            format!(
                "the fastest CPU clock moved from {:.2} GHz before to {:.2} GHz after",
                *before_khz as f64 / 1e6,
                *after_khz as f64 / 1e6
            ),
            "fix the clock for the measurement (governor performance, no turbo), or let the machine cool between runs",
        ),
        Caution::CpusChanged { before, after } => (
            format!(
                "the allowed CPUs changed from {} to {} during the measurement",
                ranges(before),
                ranges(after)
            ),
            "find who changes the CPU set (cgroup cpuset, taskset, CPUs taken offline) and measure again",
        ),
        Caution::QuotaChanged { before, after } => (
            format!(
                "the cgroup's CPU quota changed from {} to {} during the measurement",
                quota(before),
                quota(after)
            ),
            REPEAT,
        ),
        Caution::AutogroupSwitched { on } => {
            let (from, to) = if *on { ("off", "on") } else { ("on", "off") };
            (
                format!("autogroup, which makes a session a scheduling group, went from {from} to {to} during the measurement"),
                "leave kernel.sched_autogroup_enabled and the CPU shares of the cgroup alone while measuring: they decide who shares with whom",
            )
        }
        Caution::Throttled { times, quota_cpus } => {
            let quota = quota_cpus.map_or(String::new(), |cpus| format!(" (quota {cpus:.2} CPUs)"));
            (
                format!("the cgroup was throttled {} during the measurement{quota}", count(*times, "time", "times")),
                "raise or remove the CPU quota (cpu.max, docker --cpus), or stay at loads below it",
            )
        }
        Caution::LoadRose { before, after } => (
            format!(
                "the load by others rose: {before} of their processes were runnable before, {after} after"
            ),
            OTHER_LOAD,
        ),
        Caution::Pressure { percent } => (
            format!(
                "before the first run, tasks of others waited for a CPU {percent:.0}% of the time (CPU pressure)"
            ),
            OTHER_LOAD,
        ),
        Caution::Lost { records } => (
            format!("{records} records or counters were lost, or came too late for their own time"),
            "counts may be too small and times wrong, and causes are missing: enlarge the buffer, or ask for less",
        ),
        Caution::NamesUnread { paths, stacks } => {
            let parts = [(*paths, "path", "paths"), (*stacks, "stack", "stacks")];
            let parts: Vec<String> =
                parts.iter().filter(|it| it.0 > 0).map(|(n, one, many)| count(*n, one, many)).collect();
            (
                format!("{} could not be read", list(&parts)),
                "counts and times are whole; only the names of these are missing (their memory was not there, or they were too long)",
            )
        }
        Caution::CheckFailed { check, left, right } => (
            format!("does not fit together: {}: {left} and {right}", check::text(*check)),
            "something was lost or double: look at `lost` before believing a number",
        ),
        Caution::Late { events } => (
            format!("{} came late and count as on time", count(*events, "event", "events")),
            "times are wrong by as much as they were late; a report of this is welcome",
        ),
        Caution::NothingBegan => (
            "no program of the tree was seen to begin".to_owned(),
            "the command may not have been started, or its exec was lost",
        ),
        Caution::TasksUntold { tasks } => (
            format!("{} still there, and what they had used was not told", count(*tasks, "task was", "tasks were")),
            "they are not in the times; observe until they end",
        ),
        Caution::AffinitiesUntold { tasks } => (
            format!("{} sets of allowed CPUs beyond those that can be told apart", count(*tasks, "task had", "tasks had")),
            "their avoidable wait is not counted",
        ),
        Caution::IoUring => (
            "io_uring is used: what the kernel does on its own for a ring is no system call".to_owned(),
            "reads and writes through rings are missing from the table of calls, and the CPU time of the rings' own threads \
             (iou-wrk, iou-sqp) from the tree: the kernel does not tell that they were made",
        ),
        Caution::StealDuringTrace { seconds } => (
            format!("the hypervisor gave {seconds:.3} s of CPU time to others"),
            "that time hides in running and in waiting behind others: repeat on a quieter host",
        ),
        Caution::QuotaUsedUp { times } => (
            format!("a cgroup's CPU quota was used up ({})", count(*times, "time", "times")),
            "waits on an idle CPU, and waits while nothing of the tree ran, count as throttled and not as avoidable",
        ),
        Caution::HolderUnknown { seconds, of_s } => (
            format!("for {seconds:.3} s of {of_s:.3} s of waiting the kernel did not show who held the CPU"),
            "some switches have no record on this kernel (see `lost.gaps`)",
        ),
        Caution::WithoutRights { program } => (
            format!(
                "'{program}' ran without its set-user-ID rights or capabilities: the kernel takes them from who is traced by ptrace"
            ),
            "what it did then is not what it does untraced; trace as root, or at --level full, which needs no ptrace",
        ),
        Caution::InterruptSeenLate => (
            "the command died of Ctrl-C, but what came from the key on had been explained before that showed".to_owned(),
            "waits that the key ended have it as their cause: the command and what it started took more than a second to \
             end, or made too many records meanwhile",
        ),
        Caution::PartialList => (
            "the worker's output ends in the middle: the list is partial".to_owned(),
            "run the worker again, to its end",
        ),
        Caution::PinNotKept => (
            "gVisor takes a wish for a CPU and does not keep it: rows of the same and of another CPU do not differ in placement"
                .to_owned(),
            "compare rows that need one CPU only",
        ),
        Caution::OnlyTheTranslator => (
            "the kernel is this machine's own: these prices show what the translator adds, not another kernel".to_owned(),
            "use qemu:KERNEL for another kernel",
        ),
        Caution::OnlyInstructions => (
            "instructions say nothing about what one costs: caches, page tables and mitigations that only slow down are not in them"
                .to_owned(),
            "compare them with instructions of other kernels only",
        ),
        Caution::TimesOfAnEmulator => (
            "these are times of an emulator: its translation is in every one of them".to_owned(),
            "compare ratios within this list",
        ),
    }
}

fn setting_and_remedy(setting: Setting) -> (&'static str, &'static str) {
    match setting {
        Setting::Governor => (
            "frequency governor",
            "fix it for the measurement (cpupower frequency-set -g performance) and measure again",
        ),
        Setting::ClockSource => (
            "clock source",
            "the kernel found its clock unreliable (see dmesg): measure again after it has settled",
        ),
        Setting::HugePages => ("huge pages setting", REPEAT),
    }
}

/// What a run moved and another one of the same command, told by the direction in which it moved less.
fn less(unread: &Io, read: &Io) -> String {
    let times = |little: u64, much: u64| much as f64 / little.max(1) as f64;
    let by_reads = times(unread.read_bytes, read.read_bytes) >= times(unread.write_bytes, read.write_bytes);
    let (verb, little, much) = match by_reads {
        true => ("reads", unread.read_bytes, read.read_bytes),
        false => ("writes", unread.write_bytes, read.write_bytes),
    };
    format!("{verb} {}, and {} into a pipe", bytes(little), bytes(much))
}

/// CPUs as the kernel lists them: `0-3,8`.
fn ranges(cpus: &[u32]) -> String {
    let mut parts: Vec<(u32, u32)> = Vec::new();
    for &cpu in cpus {
        match parts.last_mut() {
            Some((_, end)) if end.checked_add(1) == Some(cpu) => *end = cpu,
            _ => parts.push((cpu, cpu)),
        }
    }
    let words = parts.iter().map(|&(a, b)| if a == b { a.to_string() } else { format!("{a}-{b}") });
    words.collect::<Vec<_>>().join(",")
}
