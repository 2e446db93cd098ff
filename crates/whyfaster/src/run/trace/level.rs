//! Which level is to be had: the best one, or the one that was asked for.

use whyfaster_core::host::NotMeasured;
use whyfaster_core::trace::plan::{LevelChoice, Target, TracePlan};
use whyfaster_core::trace::report::Level;
use whyfaster_trace::unprivileged::{Seized, Tracing};
use whyfaster_trace::{Full, Unsupported};

use super::observer::Observer;
use super::wanted;
use crate::exit::{Exit, Failure};

/// The observer and what it cannot see.
#[derive(Debug)]
pub(super) struct Chosen {
    pub(super) level: Level,
    pub(super) observer: Observer,
    /// Why it is not a better one, and what would give that.
    pub(super) not_measured: Vec<NotMeasured>,
}

/// Opens the observer of the level that the plan asks for.
pub(super) fn choose(plan: &TracePlan) -> Result<Chosen, Failure> {
    let chosen = match plan.level {
        LevelChoice::Full => full(plan).map_err(|missing| {
            Failure::new(
                Exit::Unfit,
                format!("the full level is not to be had here: {missing}"),
                "do what it says, or leave --level out to take what there is; 'whyfaster doctor' lists the levels",
            )
        })?,
        LevelChoice::Auto => match full(plan) {
            Ok(chosen) => chosen,
            Err(missing) => Chosen { not_measured: why(&missing), ..seized(plan, Tracing::Events)? },
        },
        LevelChoice::Unprivileged => seized(plan, Tracing::Events)?,
        LevelChoice::Ptrace => seized(plan, Tracing::Calls)?,
        LevelChoice::Rusage => {
            Chosen { level: Level::Rusage, observer: Observer::Nothing, not_measured: Vec::new() }
        }
    };
    check(plan, chosen)
}

/// What was asked for and the level cannot give.
fn check(plan: &TracePlan, chosen: Chosen) -> Result<Chosen, Failure> {
    let unfit = |what: &str, hint: &str| {
        let why: Vec<String> =
            chosen.not_measured.iter().map(|it| format!("\n  {}: {}", it.what, it.why)).collect();
        Err(Failure::new(Exit::Unfit, format!("{what}{}", why.concat()), hint))
    };
    let calls = matches!(chosen.level, Level::Full | Level::Ptrace);
    if plan.each_call && !calls {
        return unfit(
            "--calls needs to see system calls, and this level does not",
            "--ptrace sees them without privileges, at a cost: see 'whyfaster help trace'",
        );
    }
    if chosen.level != Level::Full && (plan.samples_per_s.is_some() || plan.blocking_stacks) {
        return unfit(
            "--flamegraph and --folded need stacks, which only the full level takes",
            "run with sudo, or see 'whyfaster doctor' for what the full level needs",
        );
    }
    if chosen.level == Level::Rusage && !matches!(plan.target, Target::Command(_)) {
        return unfit(
            "--follow needs a level that sees a running tree, and 'rusage' sees only a command of its own",
            "leave --level out",
        );
    }
    Ok(chosen)
}

fn full(plan: &TracePlan) -> Result<Chosen, Unsupported> {
    let observer = Observer::Full(Box::new(Full::open(&wanted(plan))?));
    Ok(Chosen { level: Level::Full, observer, not_measured: Vec::new() })
}

fn seized(plan: &TracePlan, tracing: Tracing) -> Result<Chosen, Failure> {
    let seized = Seized::open(tracing, &wanted(plan)).map_err(|error| {
        Failure::new(
            Exit::Error,
            format!("cannot watch for the ends of processes: {error}"),
            "too many open files? see ulimit -n",
        )
    })?;
    let level = match tracing {
        Tracing::Events => Level::Unprivileged,
        Tracing::Calls => Level::Ptrace,
    };
    Ok(Chosen { level, observer: Observer::Seized(Box::new(seized)), not_measured: Vec::new() })
}

fn why(missing: &Unsupported) -> Vec<NotMeasured> {
    let entry = |missing: &whyfaster_trace::Missing| NotMeasured {
        what: format!("the full level: {}", missing.what),
        why: format!("{}; {}", missing.why, missing.remedy),
    };
    missing.missing.iter().map(entry).collect()
}
