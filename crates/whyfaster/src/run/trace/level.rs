//! Which level is to be had: the best one, or the one that was asked for.

use whyfaster_core::host::NotMeasured;
use whyfaster_core::trace::plan::{LevelChoice, Target, TracePlan};
use whyfaster_core::trace::report::Level;
use whyfaster_trace::unprivileged::{Seized, Tracing, possible};
use whyfaster_trace::{CallsBy, Full, Missing, Unsupported, Wanted};

use super::observer::Observer;
use crate::exit::{Exit, Failure, files_or};

/// The observer and what it cannot see.
#[derive(Debug)]
pub(super) struct Chosen {
    pub(super) level: Level,
    pub(super) observer: Observer,
    /// Whether switches of the tree are recorded, where that is not all of the scheduling.
    pub(super) switches: bool,
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
            Err(missing) => {
                let mut chosen = match refused(plan) {
                    None => seized(plan, Tracing::Events)?,
                    Some(refused) => Chosen { not_measured: vec![refused], ..bare() },
                };
                chosen.not_measured.extend(why(&missing));
                chosen
            }
        },
        LevelChoice::Unprivileged | LevelChoice::Ptrace if let Some(refused) = refused(plan) => {
            return Err(Failure::new(
                Exit::Unfit,
                format!("{} is not to be had here: {}", refused.what, refused.why),
                "without --level it takes what there is: the times of the command as a whole",
            ));
        }
        LevelChoice::Unprivileged => seized(plan, Tracing::Events)?,
        LevelChoice::Ptrace => seized(plan, Tracing::Calls)?,
        LevelChoice::Rusage => bare(),
    };
    check(plan, chosen)
}

/// The level that sees only the end.
fn bare() -> Chosen {
    Chosen { level: Level::Rusage, observer: Observer::Nothing, switches: false, not_measured: Vec::new() }
}

/// Why no command of ours can be traced by ptrace. Of a tree that runs already only the attempt on it tells.
fn refused(plan: &TracePlan) -> Option<NotMeasured> {
    if !matches!(plan.target, Target::Command(_)) {
        return None;
    }
    let why = possible().err()?;
    let remedy = "sudo sysctl kernel.yama.ptrace_scope=1 allows it, in a container --cap-add SYS_PTRACE";
    Some(NotMeasured { what: "a level with ptrace".to_owned(), why: format!("{why}; {remedy}") })
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
            "--level ptrace sees them without privileges, at a cost: see 'whyfaster help trace'",
        );
    }
    if !plan.call_times && chosen.level != Level::Full {
        return unfit(
            "--count-only counts system calls in the kernel, and only the full level does that",
            "--level ptrace sees them without privileges, at a cost; or leave --count-only out",
        );
    }
    let stacks = chosen.level == Level::Full || chosen.switches;
    if !stacks && (plan.samples_per_s.is_some() || plan.blocking_stacks) {
        return unfit(
            "--flamegraph and --folded need stacks, and nothing here takes them",
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
    let full = Full::open(&wanted(plan))?;
    let not_measured = full.left_out().iter().map(left_out).collect();
    Ok(Chosen { level: Level::Full, observer: Observer::Full(Box::new(full)), switches: false, not_measured })
}

fn left_out(missing: &Missing) -> NotMeasured {
    NotMeasured { what: missing.what.clone(), why: format!("{}; {}", missing.why, missing.remedy) }
}

fn seized(plan: &TracePlan, tracing: Tracing) -> Result<Chosen, Failure> {
    let seized = Seized::open(tracing, &wanted(plan)).map_err(|error| {
        Failure::new(
            Exit::Error,
            format!("cannot watch for the ends of processes: {error}"),
            files_or(&error, "signalfd(2) must be allowed: a filter of system calls may forbid it"),
        )
    })?;
    let level = match tracing {
        Tracing::Events => Level::Unprivileged,
        Tracing::Calls => Level::Ptrace,
    };
    // Those who run already would need an event for each thread on each CPU.
    let own = matches!(plan.target, Target::Command(_));
    let switches = own && seized.switches().is_ok();
    let mut not_measured = Vec::new();
    if let (Level::Unprivileged, true, Err(why)) = (level, own, seized.switches()) {
        not_measured.push(NotMeasured { what: "switch records".to_owned(), why: why.to_owned() });
    }
    if switches && plan.blocking_stacks {
        not_measured.push(NotMeasured {
            what: "stacks of the kernel, and of where tasks block".to_owned(),
            why: "without privileges only the stacks of user code that runs are given; the full level takes all".to_owned(),
        });
    }
    Ok(Chosen { level, observer: Observer::Seized(Box::new(seized)), switches, not_measured })
}

fn why(missing: &Unsupported) -> Vec<NotMeasured> {
    let entry = |missing: &Missing| NotMeasured {
        what: format!("the full level: {}", missing.what),
        why: format!("{}; {}", missing.why, missing.remedy),
    };
    missing.missing.iter().map(entry).collect()
}

/// What of the plan the observer must know.
fn wanted(plan: &TracePlan) -> Wanted {
    let calls_by = match plan.by_process {
        true => CallsBy::Process,
        false => CallsBy::Command,
    };
    Wanted {
        calls_by,
        call_times: plan.call_times,
        each_call: plan.each_call,
        samples_per_s: plan.samples_per_s,
        blocking_stacks: plan.blocking_stacks,
        ring_bytes: plan.ring_bytes,
        ..Wanted::default()
    }
}
