//! All options of `compare` together: to a plan and to outputs. Second step of the command line.

use whyfaster_core::cpu_list;
use whyfaster_core::plan::{Because, Loads, Mode, Output, Placement, Plan, Rounds, Shell, User, defaults};

use super::args::{Allowance, CompareArgs, HyperfineArgs, LoadArgs, ModeWord, PlacementArgs, PlacementWord};
use super::outputs::Outputs;
use super::seed::HostSeed;
use super::{alternatives, output_policy};
use crate::exit::{Exit, Failure};

fn usage(message: impl Into<String>, hint: impl Into<String>) -> Failure {
    Failure::new(Exit::Usage, message, hint)
}

/// What to run, and what to do with the result.
pub fn resolve(raw: &CompareArgs, host: &HostSeed) -> Result<(Plan, Outputs), Failure> {
    let words = &raw.hyperfine;
    let statistics = &raw.statistics;
    let mut outputs = Outputs::of_compare(&raw.output, &raw.display, &raw.export)?;
    let mut plan =
        Plan::new(alternatives::resolve(&raw.commands, words)?, statistics.seed.unwrap_or(host.seed));

    plan.baseline_named = words.reference.is_some();
    plan.shell = output_policy::shell(words.start.shell.as_deref(), words.start.no_shell)?;
    plan.input = output_policy::input(words.start.input.as_deref())?;
    plan.failures = output_policy::failures(words.ignore_failure.as_deref())?;
    plan.warmup = words.warmup;
    plan.rounds = rounds(words, statistics.max_time)?;
    plan.mode = mode(&raw.load)?;
    plan.loads = loads(&raw.load, plan.mode)?;
    plan.delta = statistics.delta.unwrap_or(plan.delta);
    plan.confidence = statistics.confidence.unwrap_or(plan.confidence);
    plan.timeout_s = statistics.timeout;
    plan.check_output = !statistics.no_check_output;
    place(&mut plan, &raw.placement, host)?;
    let user = host.user(raw.user.as_root)?;
    plan.fail_if_slower = raw.output.fail_if_slower.map(|allowance| match allowance {
        Allowance::Delta => plan.delta,
        Allowance::Fraction(fraction) => fraction,
    });
    check_gate(&plan)?;
    outputs.fail_if_slower = plan.fail_if_slower;
    outputs.notes = notes(raw);
    outputs.notes.extend(user_note(&user));
    plan.user = Some(user);
    plan.explain = raw.why.plan()?;
    check_words(&plan)?;
    check_streams(&plan, &outputs)?;
    Ok((plan, outputs))
}

/// A gate over nothing could only ever be inconclusive.
fn check_gate(plan: &Plan) -> Result<(), Failure> {
    if plan.fail_if_slower.is_none() || plan.alternatives.len() > 1 {
        return Ok(());
    }
    Err(usage(
        "--fail-if-slower needs something to compare with, and there is one command only",
        "Add a second command, or name what it is held against with --reference.",
    ))
}

fn rounds(words: &HyperfineArgs, max_time: Option<f64>) -> Result<Rounds, Failure> {
    let (min, max) = match (words.runs, words.min_runs, words.max_runs) {
        (Some(runs), _, _) => (runs, runs),
        (None, Some(min), Some(max)) if min > max => {
            return Err(usage(
                format!("--min-runs {min} is above --max-runs {max}"),
                format!("Give at most {max} for --min-runs, or at least {min} for --max-runs."),
            ));
        }
        (None, Some(min), max) => (min, max.unwrap_or(defaults::MAX_ROUNDS)),
        // A maximum below the usual minimum is meant: the minimum gives way.
        (None, None, Some(max)) => (defaults::MIN_ROUNDS.min(max), max),
        (None, None, None) => (defaults::MIN_ROUNDS, defaults::MAX_ROUNDS),
    };
    Ok(Rounds {
        min,
        max,
        fixed: words.runs.is_some(),
        max_time_s: max_time.unwrap_or(defaults::MAX_TIME_S),
        max_time_hard: max_time.is_some(),
    })
}

fn mode(load: &LoadArgs) -> Result<Mode, Failure> {
    let duration_s = load.duration.unwrap_or(defaults::DURATION_S);
    match (load.mode.unwrap_or(ModeWord::Batch), load.rate) {
        (ModeWord::Open, Some(rate_per_s)) => Ok(Mode::Open { rate_per_s, duration_s }),
        (ModeWord::Open, None) => Err(usage(
            "--mode open needs to know how many copies start a second",
            "Add --rate, such as: --mode open --rate 50",
        )),
        (_, Some(rate)) => Err(usage(
            format!("--rate {rate} is only for --mode open"),
            "Add --mode open, or leave --rate out.",
        )),
        (ModeWord::Closed, None) => Ok(Mode::Closed { duration_s }),
        (ModeWord::Batch, None) if load.duration.is_some() => Err(usage(
            "--duration is only for --mode closed and --mode open",
            "Add --mode closed, or leave --duration out; --max-time limits the whole measurement.",
        )),
        (ModeWord::Batch, None) => Ok(Mode::Batch),
    }
}

fn loads(load: &LoadArgs, mode: Mode) -> Result<Loads, Failure> {
    match (&load.load, mode) {
        (Some(_), Mode::Open { .. }) => Err(usage(
            "--load and --mode open exclude each other: the number of copies follows from --rate",
            "Leave --load out, or take --mode closed.",
        )),
        (Some(loads), _) => Ok(loads.clone()),
        (None, _) => Ok(Loads::Fixed(vec![1])),
    }
}

fn place(plan: &mut Plan, args: &PlacementArgs, host: &HostSeed) -> Result<(), Failure> {
    plan.placement = match args.placement {
        Some(PlacementWord::Shared) => Placement::Shared,
        Some(PlacementWord::Session) | None => Placement::Session,
    };
    plan.cpus = args.pin.as_ref().map(|list| list.0.clone());
    check_pin(plan.cpus.as_deref(), host)?;
    plan.drop_caches = args.drop_caches;
    if args.drop_caches && host.euid != 0 {
        return Err(Failure::new(
            Exit::Unfit,
            "--drop-caches needs root: /proc/sys/vm/drop_caches can be written by no one else",
            "Run it with sudo, or leave the option out and measure with a warm page cache (--warmup 1).",
        ));
    }
    Ok(())
}

/// CPUs that may not be used cannot be pinned to.
pub(super) fn check_pin(cpus: Option<&[u32]>, host: &HostSeed) -> Result<(), Failure> {
    let (Some(cpus), Some(allowed)) = (cpus, &host.cpus_allowed) else { return Ok(()) };
    let missing: Vec<u32> = cpus.iter().copied().filter(|cpu| !allowed.contains(cpu)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(usage(
        format!("--pin {}: CPU {} may not be used here", cpu_list::show(cpus), cpu_list::show(&missing)),
        format!("Choose from the CPUs that this process may use: {}", cpu_list::show(allowed)),
    ))
}

fn notes(raw: &CompareArgs) -> Vec<String> {
    let no_effect = raw.hyperfine.min_benchmarking_time.is_some();
    no_effect
        .then(|| {
            "--min-benchmarking-time has no effect here: the statistics decide how long to measure; see --max-time"
                .to_owned()
        })
        .into_iter()
        .collect()
}

/// Under sudo: as whom the commands run, which nobody sees otherwise.
pub(crate) fn user_note(user: &User) -> Option<String> {
    let name = user.name.as_deref().unwrap_or("no name");
    let who = format!("{name} (uid {})", user.uid);
    (user.because == Because::Sudo)
        .then(|| format!("the commands run as {who}, who called sudo; --as-root runs them as root"))
}

/// Without a shell every command line must be words. Better to know before the first run than in the middle. (Hooks always
/// have a shell.)
fn check_words(plan: &Plan) -> Result<(), Failure> {
    if plan.shell != Shell::None {
        return Ok(());
    }
    plan.alternatives.iter().try_for_each(|alternative| check_line(&alternative.command))
}

/// A command line that is started without a shell must be words.
pub(super) fn check_line(command: &str) -> Result<(), Failure> {
    let why = match shell_words::split(command) {
        Ok(words) if words.first().is_some_and(|word| !word.is_empty()) => return Ok(()),
        Ok(_) => "it names no program".to_owned(),
        Err(error) => error.to_string(),
    };
    Err(usage(
        format!("'{command}' cannot be started without a shell: {why}"),
        "Correct the quotes, or leave out -N so that a shell runs it.",
    ))
}

/// The record on standard output must stay readable.
fn check_streams(plan: &Plan, outputs: &Outputs) -> Result<(), Failure> {
    if outputs.json && plan.alternatives.iter().any(|alternative| alternative.output == Output::Inherit) {
        return Err(usage(
            "--json and the output of the commands would both go to standard output",
            "Leave out --show-output (or --output=inherit), or write the record to a file with --record.",
        ));
    }
    Ok(())
}
