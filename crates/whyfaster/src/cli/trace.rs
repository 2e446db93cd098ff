//! All options of `trace` together: to a plan and to outputs.

use std::path::{Path, PathBuf};

use clap::Args as _;
use whyfaster_core::plan::{Input, Output, Shell};
use whyfaster_core::trace::filter::CallFilter;
use whyfaster_core::trace::names;
use whyfaster_core::trace::plan::{LevelChoice, Target, TracePlan};
use whyfaster_render::trace::outputs::TraceFile;
use whyfaster_store::OutputFile;
use whyfaster_words::display::{By, CallSort, Registered, TOP};
use whyfaster_words::exit::{Failure, nearest};

use super::args::{LevelWord, TraceArgs};
use super::compare::{check_pin, user_note};
use super::outputs::Outputs;
use super::seed::HostSeed;
use super::{output_policy, shell};

/// Stacks a second when flame graphs are asked for and nothing is said: not a divisor of the kernel's own ticks, so that
/// samples do not march in step with them.
pub(crate) const SAMPLES_PER_S: u32 = 499;

/// What to do with a trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TraceOutputs {
    /// Record, JSON, colour, unit.
    pub common: Outputs,
    /// Whose calls make one row.
    pub by: By,
    /// Order of the table of calls.
    pub sort: CallSort,
    /// Rows of every table; 0 is all.
    pub top: usize,
    /// Calls are printed as they happen: which, and of whom.
    pub calls: Option<CallFilter>,
    /// Files that are made of the events.
    pub files: Vec<(&'static TraceFile, OutputFile)>,
}

/// What to observe, and what to do with it.
pub fn resolve(raw: &TraceArgs, host: &HostSeed) -> Result<(TracePlan, TraceOutputs), Failure> {
    let mut outputs = outputs(raw)?;
    let mut plan = TracePlan::new(target(raw)?);
    let words = raw.command.len() > 1;
    if words && (raw.start.shell.is_some() || raw.start.default_shell) {
        return Err(Failure::usage(
            "a shell and a command of several words exclude each other: no shell reads several words",
            "Quote the command as one word, or leave --shell (or -S) out.",
        ));
    }
    plan.shell = if words { Shell::None } else { shell::shell(&raw.start, None)? };
    outputs.common.notes.extend(shell::note(&raw.start));
    plan.input = match &raw.start.input {
        None => Input::Inherit,
        path => output_policy::input(path.as_deref())?,
    };
    (plan.output, plan.show_errors) = output(raw)?;
    plan.env = output_policy::environment(&raw.start.env.join(" "))?;
    plan.cpus = raw.streams.pin.as_ref().map(|list| list.0.clone());
    check_pin(plan.cpus.as_deref(), host)?;
    let user = host.user(raw.user.as_root)?;
    if matches!(plan.target, Target::Command(_)) {
        outputs.common.notes.extend(user_note(&user));
        plan.user = Some(user);
    }
    observe(raw, &mut plan);
    if plan.level == LevelChoice::Ptrace {
        outputs.common.notes.push(
            "--level ptrace stops the command twice at every system call: it takes many times as long where it calls much"
                .to_owned(),
        );
    }
    check(raw, &plan)?;
    Ok((plan, outputs))
}

/// Whether this is the directory of a cgroup: any directory may hold a file of that name, and the kernel's alone are
/// kept up to date.
fn is_cgroup(directory: &Path) -> bool {
    /// `CGROUP_SUPER_MAGIC` and `CGROUP2_SUPER_MAGIC` (linux/magic.h): a tree of one controller, and the one of all.
    const KINDS: [u64; 2] = [0x0027_e0eb, 0x6367_7270];
    let kind = rustix::fs::statfs(directory).map(|it| it.f_type as u64);
    kind.is_ok_and(|kind| KINDS.contains(&kind)) && directory.join("cgroup.procs").exists()
}

/// What to say of a command that cannot be started because it was meant as the filter of `--calls`.
pub fn meant_as_filter(raw: &TraceArgs) -> Option<String> {
    let [first, _, ..] = raw.command.as_slice() else { return None };
    let bare = raw.show.calls.as_deref().is_some_and(str::is_empty);
    let filter = CallFilter::parse(first);
    (bare && filter.unknown_call().is_none() && filter != CallFilter::default())
        .then(|| format!("'{first}' is taken as the command; a filter is joined on by '=': --calls={first}"))
}

fn target(raw: &TraceArgs) -> Result<Target, Failure> {
    if let Some(what) = &raw.observe.follow {
        return match what.parse::<u32>() {
            Ok(pid) if pid > 0 && i32::try_from(pid).is_ok() => Ok(Target::Process(pid)),
            _ if what.contains('/') && is_cgroup(Path::new(what)) => Ok(Target::Cgroup(PathBuf::from(what))),
            _ => Err(Failure::usage(
                format!("--follow: '{what}' is no process id, and no directory of a cgroup"),
                "Give a number, such as --follow 1234, or a directory such as /sys/fs/cgroup/system.slice/x.service",
            )),
        };
    }
    let line = match raw.command.as_slice() {
        [line] => line.clone(),
        [line, word, ..] if word.starts_with('-') && line.contains(' ') && !Path::new(line).exists() => {
            return Err(Failure::usage(
                format!(
                    "'{word}' stands behind the command line, and a line for a shell has no words behind it"
                ),
                format!("Options of whyfaster go before the command: whyfaster trace {word} '{line}'"),
            ));
        }
        words => shell_words::join(words),
    };
    if line.trim().is_empty() {
        return Err(Failure::usage("the command is empty", "Give a command line to observe."));
    }
    Ok(Target::Command(line))
}

/// Where standard output goes, and whether standard error is shown whatever that is.
fn output(raw: &TraceArgs) -> Result<(Output, bool), Failure> {
    let json = raw.output.json || raw.output.record.as_deref() == Some(Path::new("-"));
    let output = match &raw.streams.output {
        None if json => Output::Null,
        None => Output::Inherit,
        Some(word) => output_policy::output(word)?,
    };
    match output {
        Output::Auto | Output::Pipe => Err(Failure::usage(
            "--output: 'auto' and 'pipe' are only for compare",
            "Let it go to null, a file, or where whyfaster's own output goes: inherit",
        )),
        Output::Inherit if json => Err(Failure::usage(
            "--json and the output of the command would both go to standard output",
            "Leave out --output=inherit, or write the record to a file with --record.",
        )),
        // Only who asks for null wants nothing: a failing command must not fail without a word.
        output => {
            let all = output == Output::Null && raw.streams.output.is_some();
            Ok((output, !all))
        }
    }
}

/// A word of the command that has the name of an option of ours: it was meant for the command, or stands too late.
pub fn taken_by_command(command: &[String]) -> Option<&str> {
    let ours = TraceArgs::augment_args(clap::Command::new("trace"));
    let is_ours = |word: &str| {
        let name = word.strip_prefix("--").map(|word| word.split('=').next().unwrap_or(word));
        name.is_some_and(|name| ours.get_arguments().any(|option| option.get_long() == Some(name)))
    };
    command.iter().skip(1).map(String::as_str).find(|word| is_ours(word))
}

fn observe(raw: &TraceArgs, plan: &mut TracePlan) {
    let args = &raw.observe;
    plan.level = match args.level.unwrap_or_default() {
        LevelWord::Auto => LevelChoice::Auto,
        LevelWord::Full => LevelChoice::Full,
        LevelWord::Ptrace => LevelChoice::Ptrace,
        LevelWord::Unprivileged => LevelChoice::Unprivileged,
        LevelWord::Rusage => LevelChoice::Rusage,
    };
    plan.strict = args.strict;
    plan.duration_s = args.duration;
    plan.untraced_runs = args.untraced_runs.unwrap_or(plan.untraced_runs);
    plan.ring_bytes = args.ring_size.unwrap_or(plan.ring_bytes);
    plan.call_times = !args.count_only;
    plan.by_process = raw.show.rows.by == Some(By::Process);
    plan.each_call = raw.show.calls.is_some();
    let stacks = raw.output.files.0.iter().any(|(output, _)| output.of_stacks());
    plan.samples_per_s = args.sample_rate.or(stacks.then_some(SAMPLES_PER_S));
    plan.blocking_stacks = stacks;
    // A page draws the timeline of them.
    let paged = raw.output.page.html.is_some() || raw.output.page.pictures.open;
    plan.keep_schedule = raw.output.keep_schedule || paged && plan.level != LevelChoice::Rusage;
}

fn check(raw: &TraceArgs, plan: &TracePlan) -> Result<(), Failure> {
    if let (Shell::None, Target::Command(line)) = (&plan.shell, &plan.target) {
        shell::check_line(line)?;
    }
    if plan.level == LevelChoice::Rusage {
        let of_events = raw.output.files.0.iter().filter(|(output, _)| !output.of_stacks());
        let useless = [
            (raw.output.keep_schedule, "keep-schedule"),
            (raw.show.rows.by.is_some(), "by"),
            (raw.show.sort.is_some(), "sort"),
            (raw.observe.ring_size.is_some(), "ring-size"),
        ];
        let mut useless = of_events.map(|(output, _)| (true, output.option().name)).chain(useless);
        if let Some((_, option)) = useless.find(|(given, _)| *given) {
            return Err(Failure::usage(
                format!(
                    "--{option} and --level rusage exclude each other: that level sees neither switches nor calls"
                ),
                format!("Leave --level out, or leave --{option} out."),
            ));
        }
    }
    if raw.output.keep_schedule && raw.output.record.is_none() && !raw.output.json {
        return Err(Failure::usage(
            "--keep-schedule keeps the records in the record, and none is written",
            "Add --record FILE.",
        ));
    }
    Ok(())
}

fn outputs(raw: &TraceArgs) -> Result<TraceOutputs, Failure> {
    let common = Outputs::of_trace(&raw.output, &raw.show)?;
    let files = raw.output.files.0.iter().map(|(output, _)| *output).zip(common.others.clone()).collect();
    Ok(TraceOutputs {
        common,
        by: raw.show.rows.by.unwrap_or_default(),
        sort: raw.show.sort.unwrap_or_default(),
        top: raw.show.rows.top.unwrap_or(TOP),
        calls: raw.show.calls.as_deref().map(CallFilter::parse).map(known).transpose()?,
        files,
    })
}

/// The filter, if its calls are calls: a wrong name would print nothing, or everything.
fn known(filter: CallFilter) -> Result<CallFilter, Failure> {
    let Some(wrong) = filter.unknown_call() else { return Ok(filter) };
    let hint = match nearest(wrong, names::calls()) {
        Some(like) => format!("Did you mean '{like}'? A command is named with a colon: '{wrong}:'."),
        None => format!("Name calls as in the table of calls; a command is named with a colon: '{wrong}:'."),
    };
    Err(Failure::usage(format!("--calls: '{wrong}' is no system call of this machine"), hint))
}

#[cfg(test)]
mod tests {
    use whyfaster_host::Caller;

    use super::*;
    use crate::cli::Verb;

    fn read(words: &[&str]) -> Result<(TracePlan, TraceOutputs), Failure> {
        let host =
            HostSeed { euid: 1000, cpus_allowed: Some(vec![0, 1]), seed: 7, caller: Caller::default() };
        let args = crate::cli::parse([&["whyfaster", "trace"], words].concat())
            .map_err(|error| Failure::usage(error.to_string(), ""))?;
        match args.verb {
            Some(Verb::Trace(args)) => resolve(&args, &host),
            _ => unreachable!("the verb is trace"),
        }
    }

    #[test]
    fn one_word_is_for_a_shell_and_several_are_not() {
        let (plan, _) = read(&["seq 9 | wc"]).unwrap();
        assert_eq!(plan.target, Target::Command("seq 9 | wc".into()));
        assert!(matches!(plan.shell, Shell::Command(_)));
        let (plan, _) = read(&["--", "ls", "-l", "a b"]).unwrap();
        assert_eq!((plan.target, plan.shell), (Target::Command("ls -l 'a b'".into()), Shell::None));
        assert_eq!((plan.input, plan.output), (Input::Inherit, Output::Inherit));
        // What stands behind the first word is the command's, also what looks like an option of ours.
        let (plan, outputs) = read(&["--top", "3", "ls", "-l", "--json"]).unwrap();
        assert_eq!((plan.target, plan.shell), (Target::Command("ls -l --json".into()), Shell::None));
        assert!((outputs.top, outputs.common.json) == (3, false));
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        assert_eq!(taken_by_command(&words(&["ls", "-l", "--json=1"])), Some("--json=1"));
        assert_eq!(taken_by_command(&words(&["ls", "-l", "--jsonx"])), None);
        let error = read(&["seq 9 | wc", "--json"]).unwrap_err();
        assert!(error.hint.unwrap().contains("trace --json 'seq 9 | wc'"));
        assert!(read(&["--shell", "bash", "--", "ls", "-l"]).is_err());
        assert!(read(&["-S", "--", "ls", "-l"]).is_err());
        let (plan, outputs) = read(&["-S", "bash", "seq 9 | wc"]).unwrap();
        assert_eq!((plan.shell, outputs.common.notes.len()), (Shell::Command(vec!["bash".into()]), 1));
        assert!(read(&["-N", "ls '"]).is_err());
        assert!(read(&[" "]).is_err() && read(&[]).is_err());
    }

    #[test]
    fn json_and_the_commands_output_do_not_mix() {
        let streams = |words: &[&str]| read(words).map(|(plan, _)| (plan.output, plan.show_errors)).unwrap();
        assert_eq!(streams(&["--json", "true"]), (Output::Null, true));
        assert_eq!(streams(&["--record", "-", "true"]), (Output::Null, true));
        assert_eq!(streams(&["--json", "--output", "null", "true"]), (Output::Null, false));
        assert_eq!(streams(&["--output", "./f", "true"]), (Output::File("./f".into()), true));
        assert!(read(&["--json", "--output", "inherit", "true"]).is_err());
        assert!(read(&["--output", "pipe", "true"]).is_err());
        assert!(read(&["--keep-schedule", "true"]).is_err());
        assert!(read(&["--record", "a", "--perfetto", "a", "true"]).is_err());
    }

    #[test]
    fn what_is_followed_is_a_process_or_a_cgroup() {
        assert_eq!(read(&["--follow", "12"]).unwrap().0.target, Target::Process(12));
        for what in ["0", "-1", "4294967296", "x", "/no/such", "/tmp"] {
            assert!(read(&[&format!("--follow={what}")]).is_err(), "{what}");
        }
        assert!(read(&["--follow", "12", "true"]).is_err());
    }

    #[test]
    fn calls_are_filtered_by_name_and_command() {
        let calls = |words: &[&str]| read(words).unwrap().1.calls;
        assert_eq!(calls(&["true"]), None);
        assert_eq!(calls(&["--calls", "true"]), Some(CallFilter::default()));
        assert_eq!(
            calls(&["--calls=sort:read,!close,tr:", "true"]),
            Some(CallFilter::parse("sort:read,!close,tr:"))
        );
        assert!(read(&["--calls=no_call", "true"]).is_err());
    }

    #[test]
    fn levels_and_their_opposites() {
        assert_eq!(read(&["--level", "ptrace", "true"]).unwrap().0.level, LevelChoice::Ptrace);
        assert_eq!(read(&["--level", "rusage", "true"]).unwrap().0.level, LevelChoice::Rusage);
        for words in ["--level rusage --perfetto p", "--level rusage --sort calls", "--sample-rate 99"] {
            let words: Vec<&str> = words.split(' ').chain(["true"]).collect();
            assert!(read(&words).is_err(), "{words:?}");
        }
        assert!(read(&["--sample-rate", "99", "--folded", "f", "true"]).is_ok());
        let (plan, _) = read(&["--flamegraph", "f.svg", "true"]).unwrap();
        assert_eq!((plan.samples_per_s, plan.blocking_stacks), (Some(SAMPLES_PER_S), true));
        assert!(!read(&["--count-only", "true"]).unwrap().0.call_times);
        assert!(read(&["--pin", "7", "true"]).is_err());
    }
}
