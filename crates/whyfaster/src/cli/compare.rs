//! All options of `compare` together: to a plan and to outputs. Second step of the command line.

use whyfaster_core::cpu_list;
use whyfaster_core::metric::{Limit, Metric, Most};
use whyfaster_core::plan::{
    Alternative, Because, Loads, Mode, Output, Pace, Placement, Plan, Rounds, Shell, User, defaults,
};
use whyfaster_words::display::Hyperfine;
use whyfaster_words::exit::Failure;
use whyfaster_words::metric::Chosen;

use super::args::{
    Allowance, CheckWord, CompareArgs, HyperfineArgs, LoadArgs, ModeWord, PaceWord, PlacementArgs,
    PlacementWord,
};
use super::outputs::Outputs;
use super::seed::HostSeed;
use super::{alternatives, output_policy, shell};

/// What to run, and what to do with the result.
pub fn resolve(raw: &CompareArgs, host: &HostSeed) -> Result<(Plan, Outputs), Failure> {
    let words = &raw.hyperfine;
    let statistics = &raw.statistics;
    let mut outputs = outputs(raw)?;
    let mut plan =
        Plan::new(alternatives::resolve(&raw.commands, words)?, statistics.seed.unwrap_or(host.seed));

    plan.baseline_named = words.reference.is_some();
    plan.shell = shell::shell(&words.start, raw.called)?;
    plan.input = output_policy::input(words.start.input.as_deref())?;
    plan.failures = output_policy::failures(words.ignore_failure.as_deref())?;
    plan.warmup = words.warmup;
    plan.mode = mode(&raw.load)?;
    plan.loads = loads(&raw.load, plan.mode)?;
    plan.rounds = rounds(words, statistics.max_time, &plan, raw.called)?;
    if let Some(delta) = statistics.delta {
        (plan.delta, plan.delta_at_end) = (delta, None);
    }
    plan.confidence = statistics.confidence.unwrap_or(plan.confidence);
    plan.timeout_s = statistics.timeout;
    plan.check_output = !statistics.no_check_output;
    plan.strict_output = statistics.check_output == Some(CheckWord::Strict);
    place(&mut plan, &raw.placement, host)?;
    let user = host.user(raw.user.as_root)?;
    plan.fail_if_slower = raw.output.fail_if_slower.map(|allowance| match allowance {
        Allowance::Delta => plan.delta,
        Allowance::Fraction(fraction) => fraction,
    });
    plan.limits.clone_from(&raw.output.fail_if);
    check_gate(&plan)?;
    outputs.fail_if_slower = plan.fail_if_slower;
    plan.metrics = metrics(&outputs.metrics, &plan.limits);
    outputs.notes = notes(raw);
    outputs.notes.extend(user_note(&user));
    plan.user = Some(user);
    plan.explain =
        raw.why.plan()?.filter(|wanted| wanted.asked || wanted.rounds.is_some() || plan.extra_runs());
    plan.keep_daemons = raw.placement.keep_daemons;
    plan.rounds_per_setup = rounds_per_setup(&plan);
    plan.pace = pace(statistics.pace);
    check_pace(&plan)?;
    check_daemons(&plan)?;
    check_words(&plan, raw)?;
    check_streams(&plan, &outputs)?;
    Ok((plan, outputs))
}

/// What to do with the result, but for the gates, which the plan says.
pub fn outputs(raw: &CompareArgs) -> Result<Outputs, Failure> {
    let outputs = Outputs::of_compare(&raw.output, &raw.display, &raw.export, raw.export_format)?;
    Ok(Outputs {
        called: raw.called,
        dry_run: raw.statistics.dry_run,
        metrics: raw.metrics.metrics.as_ref().map(|list| list.0.clone()).unwrap_or_default(),
        ..outputs
    })
}

/// A gate over nothing could only ever be inconclusive.
fn check_gate(plan: &Plan) -> Result<(), Failure> {
    let over_baseline = |limit: &Limit| matches!(limit.most, Most::OverBaseline(_));
    let option = match plan.fail_if_slower {
        _ if plan.alternatives.len() > 1 => return Ok(()),
        Some(_) => "--fail-if-slower",
        None if plan.limits.iter().any(over_baseline) => "--fail-if with a percentage",
        None => return Ok(()),
    };
    Err(Failure::usage(
        format!("{option} needs something to compare with, and there is one command only"),
        "Add a second command, or name what it is held against with --reference.",
    ))
}

/// The metrics that are shown, and those that a gate needs.
fn metrics(shown: &[Chosen], limits: &[Limit]) -> Vec<Metric> {
    let mut metrics: Vec<Metric> = Vec::new();
    for metric in shown.iter().map(|chosen| chosen.metric).chain(limits.iter().map(|limit| limit.metric)) {
        if !metrics.contains(&metric) {
            metrics.push(metric);
        }
    }
    metrics
}

fn rounds(
    words: &HyperfineArgs,
    max_time: Option<f64>,
    plan: &Plan,
    called: Option<Hyperfine>,
) -> Result<Rounds, Failure> {
    // Under hyperfine's name every command runs as often as there.
    let usual = if plan.alternatives.len() > 1 && called.is_none() { 1 } else { defaults::MIN_ROUNDS };
    let usual_s = match plan.loads.is_one_copy() {
        true => defaults::MAX_TIME_ALONE_S,
        false => defaults::MAX_TIME_S,
    };
    let (min, max) = match (words.runs, words.min_runs, words.max_runs) {
        (Some(runs), _, _) => (runs, runs),
        (None, Some(min), Some(max)) if min > max => {
            return Err(Failure::usage(
                format!("--min-runs {min} is above --max-runs {max}"),
                format!("Give at most {max} for --min-runs, or at least {min} for --max-runs."),
            ));
        }
        (None, Some(min), max) => (min, max.unwrap_or(defaults::MAX_ROUNDS)),
        // A maximum below the usual minimum is meant: the minimum gives way.
        (None, None, Some(max)) => (usual.min(max), max),
        (None, None, None) => (usual, defaults::MAX_ROUNDS),
    };
    Ok(Rounds {
        min,
        max,
        fixed: words.runs.is_some(),
        max_time_s: max_time.unwrap_or(usual_s),
        max_time_hard: max_time.is_some(),
    })
}

fn mode(load: &LoadArgs) -> Result<Mode, Failure> {
    let duration_s = load.duration.unwrap_or(defaults::DURATION_S);
    match (load.mode.unwrap_or(ModeWord::Batch), load.rate) {
        (ModeWord::Open, Some(rate_per_s)) => Ok(Mode::Open { rate_per_s, duration_s }),
        (ModeWord::Open, None) => Err(Failure::usage(
            "--mode open needs to know how many copies start a second",
            "Add --rate, such as: --mode open --rate 50",
        )),
        (_, Some(rate)) => Err(Failure::usage(
            format!("--rate {rate} is only for --mode open"),
            "Add --mode open, or leave --rate out.",
        )),
        (ModeWord::Closed, None) => Ok(Mode::Closed { duration_s }),
        (ModeWord::Batch, None) if load.duration.is_some() => Err(Failure::usage(
            "--duration is only for --mode closed and --mode open",
            "Add --mode closed, or leave --duration out; --max-time limits the whole measurement.",
        )),
        (ModeWord::Batch, None) => Ok(Mode::Batch),
    }
}

fn loads(load: &LoadArgs, mode: Mode) -> Result<Loads, Failure> {
    match (&load.load, mode) {
        (Some(_), Mode::Open { .. }) => Err(Failure::usage(
            "--load and --mode open exclude each other: the number of copies follows from --rate",
            "Leave --load out, or take --mode closed.",
        )),
        (Some(loads), _) => Ok(loads.clone()),
        (None, _) => Ok(Loads::one_copy()),
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
        return Err(Failure::unfit(
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
    Err(Failure::usage(
        format!("--pin {}: CPU {} may not be used here", cpu_list::show(cpus), cpu_list::show(&missing)),
        format!("Choose from the CPUs that this process may use: {}", cpu_list::show(allowed)),
    ))
}

fn notes(raw: &CompareArgs) -> Vec<String> {
    let no_effect = raw.hyperfine.min_benchmarking_time.is_some().then(|| {
        "--min-benchmarking-time has no effect here: the statistics decide how long to measure; see --max-time"
            .to_owned()
    });
    shell::note(&raw.hyperfine.start).into_iter().chain(no_effect).collect()
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
fn check_words(plan: &Plan, raw: &CompareArgs) -> Result<(), Failure> {
    if plan.shell != Shell::None {
        return Ok(());
    }
    let start = &raw.hyperfine.start;
    let commands = || plan.alternatives.iter().map(|alternative| alternative.command.as_str());
    match raw.called {
        None => commands().try_for_each(shell::check_line),
        // Who asks hyperfine for no shell means the operators as words.
        Some(_) if start.no_shell || start.shell.is_some() => commands().try_for_each(shell::check_split),
        Some(_) => commands().try_for_each(|command| {
            shell::check_unasked(command)?;
            shell::check_split(command)
        }),
    }
}

/// Blocks that a fixed number of rounds is cut into where setups differ: enough for an interval that assumes nothing, also with some
/// comparisons, and not many more, as every block costs a setup and the warm-up runs.
const BLOCKS: u32 = 12;

/// How many runs of an alternative follow a setup, where alternatives make different states.
fn rounds_per_setup(plan: &Plan) -> Option<u32> {
    let first = &plan.alternatives[0];
    let makes_state = |it: &Alternative| it.setup.is_some() || it.cleanup.is_some();
    let differ = plan.alternatives.iter().any(|it| makes_state(it) && !it.same_state(first));
    let block = match plan.rounds.fixed {
        true => plan.rounds.max / BLOCKS,
        // At least half of the runs are then timed ones.
        false => plan.warmup,
    };
    differ.then(|| block.max(1))
}

fn pace(word: Option<PaceWord>) -> Pace {
    match word {
        Some(PaceWord::Auto) | None => Pace::Auto,
        Some(PaceWord::On) => Pace::On,
        Some(PaceWord::Off) => Pace::Off,
    }
}

/// What was asked for by name is done or refused.
fn check_pace(plan: &Plan) -> Result<(), Failure> {
    if plan.pace != Pace::On || plan.duets() {
        return Ok(());
    }
    Err(Failure::usage(
        "--pace on runs two alternatives at once, which these options do not allow",
        "It needs two commands or more and --mode batch, and goes with none of: --runs, --setup, --prepare, --conclude, --cleanup, \
         --timeout, --drop-caches, --keep-daemons, --output FILE or inherit.",
    ))
}

/// What has to end before a run is over cannot be left running.
fn check_daemons(plan: &Plan) -> Result<(), Failure> {
    let piped = plan.alternatives.iter().any(|it| it.output == Output::Pipe);
    let (what, instead) = match plan.mode {
        _ if !plan.keep_daemons => return Ok(()),
        Mode::Batch if piped => ("--output pipe, whose end comes when nobody holds the pipe", "--output"),
        Mode::Batch => return Ok(()),
        // Copies that are started ahead of need could not be told from daemons.
        Mode::Closed { .. } | Mode::Open { .. } => ("--mode closed and open", "--mode"),
    };
    Err(Failure::usage(
        format!("--keep-daemons does not go with {what}"),
        format!("Leave {instead} out, or let what the command starts end with it."),
    ))
}

/// The record on standard output must stay readable.
fn check_streams(plan: &Plan, outputs: &Outputs) -> Result<(), Failure> {
    if outputs.json && plan.alternatives.iter().any(|alternative| alternative.output == Output::Inherit) {
        return Err(Failure::usage(
            "--json and the output of the commands would both go to standard output",
            "Leave out --show-output (or --output=inherit), or write the record to a file with --record.",
        ));
    }
    Ok(())
}
