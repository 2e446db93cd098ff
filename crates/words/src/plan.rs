//! What a plan will run, before anything runs.

use whyfaster_core::missing::NotMeasured;
use whyfaster_core::plan::{Loads, Mode, Plan};
use whyfaster_core::run::{Rehearsed, RunKind};
use whyfaster_core::sample::Arm;

use super::missing;
use super::phrases::{count, list};
use super::units::{digits, duration};

/// What is about to run, in one sentence, with the runs that are not asked for by name.
pub fn announcement(plan: &Plan) -> String {
    let commands = plan.alternatives.len();
    let of =
        if commands > 1 { format!(" of each of {commands} commands in random order") } else { String::new() };
    let rounds = match (plan.rounds.min == plan.rounds.max, commands) {
        (true, _) => format!("{}{of}", count(plan.rounds.max.into(), "timed run", "timed runs")),
        (false, 1) => format!("{} or more", count(plan.rounds.min.into(), "timed run", "timed runs")),
        (false, _) if plan.rounds.min > 1 => {
            format!("{} or more timed runs{of}, until each verdict is clear", plan.rounds.min)
        }
        (false, _) => format!("timed runs{of}, until each verdict is clear"),
    };
    let parts = [loads(plan), arrivals(plan), setups(plan), warm_ups(plan), besides(plan)];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    format!("plan: {rounds}{}", parts.concat())
}

fn loads(plan: &Plan) -> Option<String> {
    match (&plan.loads, plan.mode) {
        (_, Mode::Open { .. }) => None,
        (Loads::Fixed(loads), _) if *loads == [1] => None,
        (Loads::Fixed(loads), _) => {
            let loads: Vec<String> = loads.iter().map(u32::to_string).collect();
            Some(format!(", with {} copies at once", list(&loads)))
        }
        (Loads::Auto, _) => Some(", with more and more copies at once".to_owned()),
    }
}

/// What a run is, where it is more than a copy.
fn arrivals(plan: &Plan) -> Option<String> {
    match plan.mode {
        Mode::Batch => None,
        Mode::Closed { duration_s } => Some(format!("; a run is a closed loop for {}", duration(duration_s))),
        Mode::Open { rate_per_s, duration_s } => {
            Some(format!("; a run is {} starts a second for {}", digits(rate_per_s), duration(duration_s)))
        }
    }
}

fn setups(plan: &Plan) -> Option<String> {
    let block = plan.rounds_per_setup?;
    let runs = if block == 1 { "run".to_owned() } else { format!("{block} runs") };
    Some(format!("; the setups differ, so each runs before every {runs} of its command"))
}

fn warm_ups(plan: &Plan) -> Option<String> {
    let each = if plan.rounds_per_setup.is_some() { "after each setup" } else { "before" };
    (plan.warmup > 0)
        .then(|| format!("; {} of each {each}", count(plan.warmup.into(), "warm-up run", "warm-up runs")))
}

/// Whether a difference would be explained: of copies that come by the clock none is.
fn explains(plan: &Plan) -> bool {
    plan.explain.is_some() && !matches!(plan.mode, Mode::Open { .. })
}

fn besides(plan: &Plan) -> Option<String> {
    let observed = explains(plan).then(|| "observed runs where they differ".to_owned());
    if !plan.extra_runs() {
        return Some(
            observed.map_or_else(|| "; nothing else runs".to_owned(), |runs| format!("; besides: {runs}")),
        );
    }
    let many = plan.alternatives.len() > 1;
    let parts = [
        plan.tries().then(|| {
            let twice = if plan.chooses_output() { " and a second one of what prints something" } else { "" };
            format!("1 trial of each{twice}")
        }),
        (plan.mode == Mode::Batch && !plan.keep_daemons)
            .then(|| "1 run of each at each load for the run-queue delay".to_owned()),
        many.then(|| "the baseline once more in some rounds for the noise floor".to_owned()),
        observed.filter(|_| many),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("; besides: {}", list(&parts)))
}

/// A rehearsed plan, a line an execution.
pub fn rehearsal(plan: &Plan, planned: &[Rehearsed], left_out: &[NotMeasured]) -> String {
    let mut lines = vec![announcement(plan), format!("seed: {0} (--seed {0} repeats the order)", plan.seed)];
    for (index, alternative) in plan.alternatives.iter().enumerate() {
        let (number, name, command) = (index + 1, &alternative.name, &alternative.command);
        let called = if name == command { String::new() } else { format!("{name}: ") };
        lines.push(format!("[{number}] {called}{command}"));
        lines.extend(alternative.env.iter().map(|(name, value)| format!("    {name}={value}")));
    }
    lines.push("every run: HYPERFINE_ITERATION is its number, WHYFASTER_RUN its kind".to_owned());
    lines.push(String::new());
    lines.extend(planned.iter().map(|one| action(plan, one)));
    lines.extend(left_out.iter().map(|it| format!("not run: {}", missing::line(it))));
    if plan.chooses_output() {
        lines.push("... and, of what prints something, a second trial".to_owned());
    }
    if plan.rounds.min < plan.rounds.max {
        let until =
            if plan.alternatives.len() > 1 { "each verdict is clear" } else { "enough time has passed" };
        lines.push(format!("... and further rounds until {until}"));
    }
    if explains(plan) && plan.alternatives.len() > 1 {
        lines.push("... and, where they differ, observed runs and experiments".to_owned());
    }
    lines.join("\n") + "\n"
}

fn action(plan: &Plan, planned: &Rehearsed) -> String {
    match planned {
        Rehearsed::Hook { name, line, alternative, .. } => format!("{name:<15} [{}] {line}", alternative + 1),
        Rehearsed::Run { arm, run, load } => {
            let (index, hidden) = match arm {
                Arm::Alternative(index) => (*index, ""),
                Arm::HiddenCopy => (plan.baseline, " (again, for the noise floor)"),
            };
            let what = format!("{} {}", run.kind.name(), run.number);
            let copies = match plan.mode {
                Mode::Open { .. } if run.kind == RunKind::Timed => " (copies by the clock)".to_owned(),
                _ if *load > 1 => format!(" ({load} copies at once)"),
                _ => String::new(),
            };
            format!("{what:<15} [{}] {}{copies}{hidden}", index + 1, plan.alternatives[index].command)
        }
    }
}
