//! `whyfaster compare`: measures, writes what was measured, prints the report, decides the gate.

use std::io::{IsTerminal, stderr};

use whyfaster_core::gate::{self, Gate, gate};
use whyfaster_core::metric::{Limit, Most};
use whyfaster_core::plan::{Output, Plan};
use whyfaster_core::record::Record;
use whyfaster_core::status::Status;
use whyfaster_render::progress::Progress;
use whyfaster_run::elsewhere::Place;
use whyfaster_run::interrupts::Interrupts;
use whyfaster_run::session::{Finished, measure, rehearse};
use whyfaster_store as store;
use whyfaster_store::Recorded;
use whyfaster_store::again::reanalysed;
use whyfaster_words as words;
use whyfaster_words::Tell;
use whyfaster_words::display::{Detail, Style};
use whyfaster_words::exit;
use whyfaster_words::exit::{Exit, Failure, say};
use whyfaster_words::metric::Unit;
use whyfaster_words::phrases::percentage;
use whyfaster_words::units::digits;

use super::{elsewhere, gates, results, rights};
use crate::cli::args::CompareArgs;
use crate::cli::{self, HostSeed, Outputs, resolve};

/// Runs the verb.
pub fn run(args: &CompareArgs) -> anyhow::Result<Exit> {
    if let Some(place) = &args.elsewhere.on {
        return on(place, args);
    }
    elsewhere::check_alone(&args.elsewhere)?;
    let (plan, outputs) = prepared(args)?;
    if outputs.dry_run {
        return listed([&plan]);
    }
    let interrupts = Interrupts::take_over()?;
    if outputs.style != Style::None && outputs.detail > Detail::Sentence {
        announce(&plan, &outputs);
    }
    let finished = measured(&plan, &outputs, &interrupts, (0, 1))?;
    rights::after_observing(args.user.as_root);
    finish(&finished.record, finished.failure, &outputs)
}

/// Says what is about to run: in lines that fit on a terminal, and in one elsewhere.
fn announce(plan: &Plan, outputs: &Outputs) {
    let text = words::plan::announcement(plan);
    if stderr().is_terminal() {
        let look = results::look_of(outputs, true);
        say(&words::text::wrap(&text, look.width, 2).join("\n"));
    } else {
        say(&text);
    }
}

/// Measures on another machine; all else is as if it had been here.
fn on(place: &Place, args: &CompareArgs) -> anyhow::Result<Exit> {
    let mut outputs = cli::compare::outputs(args)?;
    if outputs.dry_run {
        let hint = "leave --on out, or run it there";
        return Err(Failure::usage("--dry-run says what would run on this machine", hint).into());
    }
    results::check(&outputs)?;
    let machine = elsewhere::machine("compare", place)?;
    let interrupts = Interrupts::take_over()?;
    let recorded = elsewhere::on("compare", machine, &args.elsewhere.along, &interrupts)?;
    let Some(Recorded::Comparison(record)) = recorded else {
        say("interrupted: nothing came home");
        return Ok(Exit::Interrupted);
    };
    outputs.fail_if_slower = record.plan.fail_if_slower;
    finish(&reanalysed(*record), None, &outputs)
}

/// Resolves the options, and tells what the reader should know of them. The outputs can be written.
pub(super) fn prepared(args: &CompareArgs) -> anyhow::Result<(Plan, Outputs)> {
    let (plan, outputs) = resolve(args, &HostSeed::here())?;
    results::check(&outputs)?;
    for note in &outputs.notes {
        say(&format!("note: {note}"));
    }
    Ok((plan, outputs))
}

/// Prints what these plans would run, and runs nothing.
pub(super) fn listed<'a>(plans: impl IntoIterator<Item = &'a Plan>) -> anyhow::Result<Exit> {
    let mut text = String::new();
    for plan in plans {
        let (planned, left_out) = rehearse(plan)?;
        text += &words::plan::rehearsal(plan, &planned, &left_out);
    }
    store::to_stdout(text.as_bytes())?;
    Ok(Exit::Ok)
}

/// Measures, showing on standard error how far it is.
/// It may be one part of as many.
pub(super) fn measured(
    plan: &Plan,
    outputs: &Outputs,
    interrupts: &Interrupts,
    (part, of): (usize, usize),
) -> Result<Finished, Failure> {
    let look = results::look_of(outputs, stderr().is_terminal());
    // Output of the commands on the terminal and a moving line would write over each other.
    let inherits = plan.alternatives.iter().any(|it| it.output == Output::Inherit);
    let terminal = stderr().is_terminal() && !inherits;
    let mut progress = Progress::new(&look, Some(plan), terminal, !look.quiet).part(part, of);
    let finished = measure(plan, interrupts, &mut |event| progress.on(&event));
    progress.finish();
    finished.map(|finished| Finished { record: finished.record.told(), ..finished })
}

/// Writes all outputs, then says how it ended.
pub(super) fn finish(record: &Record, failure: Option<Failure>, outputs: &Outputs) -> anyhow::Result<Exit> {
    // A complete record without a batch says why no level fits; an early end without one says nothing.
    let worth_it = record.status == Status::Complete || !record.batches.is_empty();
    let written = if worth_it { results::write(record, outputs) } else { Ok(()) };
    let written = written.map_or_else(|error| exit::report(Err(error)), |()| Exit::Ok);
    let failed = failure.map(|failure| exit::report(Err(failure.into())));
    match (failed, record.status) {
        // An interrupt goes before all other ends: what could not be written to may be the terminal that went away.
        (_, Status::Interrupted) if written == Exit::Ok => {
            say(&format!("interrupted: {}", saved(record, outputs)));
            Ok(Exit::Interrupted)
        }
        (_, Status::Interrupted) => {
            say("interrupted");
            Ok(Exit::Interrupted)
        }
        (Some(failed), _) => Ok(if written == Exit::Ok { failed } else { written }),
        (None, _) if written != Exit::Ok => Ok(written),
        (None, _) if record.batches.is_empty() => Err(nothing_measured(record).into()),
        (None, _) => Ok(gated(record, outputs)),
    }
}

/// No level could be run. The reasons are on the screen too, but there may be none (`--json`, `--style none`).
fn nothing_measured(record: &Record) -> Failure {
    let reasons: Vec<String> =
        record.analysis.not_measured.iter().map(|it| format!("\n  {}", words::missing::line(it))).collect();
    Failure::unfit(
        format!("no level could be measured on this machine{}", reasons.concat()),
        "do what the reasons say; `whyfaster doctor` shows the limits",
    )
}

/// What an interrupt left.
fn saved(record: &Record, outputs: &Outputs) -> String {
    let rounds = record
        .analysis
        .levels
        .iter()
        .flat_map(|level| &level.results)
        .map(|result| result.rounds)
        .sum::<u32>();
    match (&outputs.record, record.batches.is_empty()) {
        (_, true) => "nothing had been measured".to_owned(),
        (None, _) if outputs.json => {
            format!("{rounds} batches had been measured; they are in the record on standard output")
        }
        (Some(path), _) => format!("{rounds} batches had been measured; they are in '{}'", path.display()),
        (None, _) => format!("{rounds} batches had been measured; {}", results::where_kept(outputs)),
    }
}

/// The exit status that the gates ask for: what failed goes before what is not decided.
fn gated(record: &Record, outputs: &Outputs) -> Exit {
    let plan = &record.plan;
    let slower = outputs.fail_if_slower.map(|allowed| {
        let percent = percentage(allowed);
        match gate(&record.analysis, allowed, plan.delta) {
            Gate::Passed => Gate::Passed,
            Gate::Failed(found) => Gate::Failed(format!(
                "'{}' is slower than '{}' by more than {percent}: it takes {:.2} times as long",
                found.alternative, found.baseline, found.ratio
            )),
            Gate::Inconclusive => {
                say_undecided(plan, &format!("an alternative is slower by more than {percent}"));
                Gate::Inconclusive
            }
        }
    });
    let limits = plan.limits.iter().map(|it| held(record, it));
    gates::exit(slower.into_iter().chain(limits), outputs.fail_on_inconclusive)
}

/// What the limit of a metric says; a failure in words.
fn held(record: &Record, limit: &Limit) -> Gate<String> {
    let (plan, name) = (&record.plan, words::phrases::metric(limit.metric));
    let dimension = limit.metric.dimension();
    let amount = |value: f64| {
        let unit = Unit::fitting(dimension, value);
        format!("{} {}", digits(value / unit.scale), unit.suffix()).trim_end().to_owned()
    };
    let (above, found): (String, &dyn Fn(f64) -> String) = match limit.most {
        Most::OverBaseline(allowed) => {
            (format!("more than {} above the baseline's", percentage(allowed)), &|ratio| {
                format!("{ratio:.2} times the baseline's")
            })
        }
        Most::Amount(most) => (format!("above {}", amount(most)), &amount),
    };
    match gate::limit(&record.analysis, limit, plan.delta) {
        Gate::Passed => Gate::Passed,
        Gate::Failed(excess) => Gate::Failed(format!(
            "{name} of '{}' is {above}: it is {}",
            excess.alternative,
            found(excess.value)
        )),
        Gate::Inconclusive => {
            say_undecided(plan, &format!("{name} of an alternative is {above}"));
            Gate::Inconclusive
        }
    }
}

fn say_undecided(plan: &Plan, what: &str) {
    let more = if plan.rounds.fixed { "ask for more with --runs" } else { "allow more time with --max-time" };
    gates::say_undecided(what, more);
}
