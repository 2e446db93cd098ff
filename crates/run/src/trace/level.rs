//! Which level is to be had: the best one, or the one that was asked for.

use whyfaster_core::missing::{NotMeasured, Obstacle, Quantity};
use whyfaster_core::trace::plan::{LevelChoice, Target, TracePlan};
use whyfaster_core::trace::report::Level;
use whyfaster_trace::unprivileged::{Seized, Tracing, possible};
use whyfaster_trace::{CallsBy, Full, Missing, Unsupported, Wanted};
use whyfaster_words::exit::{Exit, Failure, files_or};

use super::observer::Observer;

/// The observer and what it cannot see.
#[derive(Debug)]
pub(super) struct Chosen {
    pub(super) level: Level,
    pub(super) observer: Observer,
    /// Whether switches of the tree are recorded, where that is not all of the scheduling.
    pub(super) switches: bool,
    /// Why it is not a better one, and what would give that.
    pub(super) not_measured: Vec<NotMeasured>,
    /// The same for an error, a line each.
    because: Vec<String>,
}

/// Opens the observer of the level that the plan asks for.
pub(super) fn choose(plan: &TracePlan) -> Result<Chosen, Failure> {
    let chosen = match plan.level {
        LevelChoice::Full => full(plan).map_err(|missing| {
            Failure::unfit(format!("the full level is not to be had here: {missing}"),
                "do what it says, or leave --level out to take what there is; 'whyfaster doctor' lists the levels",
            )
        })?,
        LevelChoice::Auto => match full(plan) {
            Ok(chosen) => chosen,
            Err(missing) => {
                let mut chosen = match refused(plan) {
                    None => seized(plan, Tracing::Events)?,
                    Some(why) => Chosen {
                        because: vec![format!("a level with ptrace: {why}")],
                        not_measured: vec![NotMeasured::new(Quantity::PtraceLevel, why)],
                        ..bare()
                    },
                };
                chosen.because.extend(missing.missing.iter().map(Missing::to_string));
                chosen.not_measured.extend(missing.missing.iter().map(|it| of_full_level(it, true)));
                chosen
            }
        },
        LevelChoice::Unprivileged | LevelChoice::Ptrace if let Some(why) = refused(plan) => {
            return Err(Failure::unfit(format!("a level with ptrace is not to be had here: {why}"),
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
    Chosen {
        level: Level::Rusage,
        observer: Observer::Nothing(None),
        switches: false,
        not_measured: Vec::new(),
        because: Vec::new(),
    }
}

/// Why no command of ours can be traced by ptrace. Of a tree that runs already only the attempt on it tells.
fn refused(plan: &TracePlan) -> Option<String> {
    if !matches!(plan.target, Target::Command(_)) {
        return None;
    }
    possible().err().map(|missing| format!("{}; {}", missing.why, missing.advice()))
}

/// What was asked for and the level cannot give.
fn check(plan: &TracePlan, chosen: Chosen) -> Result<Chosen, Failure> {
    let unfit = |what: &str, hint: &str| {
        let why: Vec<String> = chosen.because.iter().map(|line| format!("\n  {line}")).collect();
        Err(Failure::unfit(format!("{what}{}", why.concat()), hint))
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
    let not_measured = full.left_out().iter().map(|it| of_full_level(it, false)).collect();
    let because = full.left_out().iter().map(Missing::to_string).collect();
    let observer = Observer::Full(Box::new(full));
    Ok(Chosen { level: Level::Full, observer, switches: false, not_measured, because })
}

/// What the full level goes without, or what it was refused for.
fn of_full_level(missing: &Missing, refused: bool) -> NotMeasured {
    let quantity = Quantity::FullLevel { part: missing.what.clone(), refused };
    NotMeasured::new(quantity, format!("{}; {}", missing.why, missing.advice()))
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
    let (mut not_measured, mut because) = (Vec::new(), Vec::new());
    if let (Level::Unprivileged, true, Err(why)) = (level, own, seized.switches()) {
        because.push(format!("switch records: {why}"));
        not_measured.push(NotMeasured::new(Quantity::SwitchRecords, why.to_owned()));
    }
    if switches && plan.blocking_stacks {
        not_measured.push(NotMeasured::new(Quantity::KernelStacks, Obstacle::OnlyUserStacks));
    }
    Ok(Chosen { level, observer: Observer::Seized(Box::new(seized)), switches, not_measured, because })
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
