//! `whyfaster study`: lists the studies, or runs one and sets its article beside this machine.
//!
//! The way of a datum: the study's file ([`Study`]) → what is measured (`commands`, `prices`) → [`findings`], in which every claim
//! is judged → the report, or JSON.

pub mod commands;
pub mod findings;
pub mod kept;
mod ladder;
pub mod ladder_findings;
mod ladder_report;
mod page;
mod prices;
mod report;
mod sheet;
#[cfg(test)]
mod tests;

use whyfaster_run::interrupts::Interrupts;
use whyfaster_run::trace::{Said, observe};
use whyfaster_store as store;
use whyfaster_words::display::Detail;
use whyfaster_words::exit::{Exit, Failure, say};
use whyfaster_words::look::Look;
use whyfaster_words::text::{for_look, wrap, wrap_indented};

use self::commands::Machine;
use super::compare::measured;
use super::results;
use crate::cli::args::StudyArgs;
use crate::cli::{HostSeed, Outputs};
use crate::study::{self, Measures, Study};

/// What observing tells. A study has a line of its own for where it is.
fn study_says(said: Said<'_>) {
    if let Said::Note(note) = said {
        say(note);
    }
}

/// Runs the verb.
pub fn run(args: &StudyArgs) -> anyhow::Result<Exit> {
    let outputs = Outputs::of_study(args)?;
    results::check(&outputs)?;
    let Some(name) = &args.name else {
        store::to_stdout(list(&results::look(&outputs))?.as_bytes())?;
        return Ok(Exit::Ok);
    };
    let study = study::find(name)?;
    bears_on(&study, args)?;
    if !matches!(study.measures, Measures::Commands(_)) {
        super::rights::give_up(args.user.as_root)?;
    }
    let here = HostSeed::here();
    let mut out = Vec::new();
    let ended = match &study.measures {
        Measures::Commands(commands) => {
            let interrupts = Interrupts::take_over()?;
            let mut machine = Machine {
                time: &mut |plan| Ok(measured(plan, &outputs, &interrupts, (0, 1))?),
                trace: &mut |plan, sink| observe(plan, &interrupts, &mut |said| study_says(said), sink),
                done: &mut || super::rights::after_observing(args.user.as_root),
                here: &here,
            };
            commands::run(&study, commands, args, &outputs, &mut machine, &mut out)
        }
        Measures::Prices(prices) => prices::run(&study, prices, args, &outputs, &here, &mut out),
        Measures::Ladder(ladder) => ladder::run(&study, ladder, args, &outputs, &here, &mut out),
    };
    let printed = store::to_stdout(&out);
    match ended? {
        Exit::Interrupted if printed.is_ok() && !out.is_empty() => {
            say("interrupted: what had been measured is above");
            Ok(Exit::Interrupted)
        }
        Exit::Interrupted => {
            say("interrupted");
            Ok(Exit::Interrupted)
        }
        exit => printed.map(|()| exit),
    }
}

/// Every study and its question; with -v where it comes from.
pub fn list(look: &Look) -> anyhow::Result<String> {
    let mut lines = Vec::new();
    for Study { name, title, question, article, .. } in study::all()? {
        lines.extend(wrap(&format!("{name}  {}", for_look(&title, look)), look.width, 2));
        if look.detail >= Detail::Screen {
            lines.extend(wrap_indented(&for_look(&question, look), look.width, 2));
        }
        if look.detail >= Detail::Tables {
            lines.extend(wrap_indented(&format!("Run it with `whyfaster study {name}`."), look.width, 2));
            lines.extend(wrap_indented(
                &for_look(&format!("Source: {}.", article.source), look),
                look.width,
                2,
            ));
        }
    }
    lines.extend(wrap("'whyfaster study NAME' runs one of them; -v: where they come from", look.width, 2));
    Ok(lines.join("\n") + "\n")
}

/// Refuses options that this study has no use for.
fn bears_on(study: &Study, args: &StudyArgs) -> Result<(), Failure> {
    let (loads, prices) = match &study.measures {
        Measures::Commands(commands) => (commands.sizes.default.loads.len() > 1, false),
        Measures::Prices(_) => (false, true),
        Measures::Ladder(_) => (true, true),
    };
    let engines = matches!(study.measures, Measures::Ladder(_));
    let one_copy =
        if prices { "prices single operations, so there is no load" } else { "runs one copy at a time" };
    let why = &args.why;
    let asked = [
        ("--load", args.load.is_some() && !loads, one_copy, "pipes"),
        ("--flamegraphs", args.flamegraphs.is_some() && prices, "runs no commands", "placement"),
        ("--why", (why.why.is_some() || why.why_rounds.is_some()) && prices, "compares no commands", "pipes"),
        ("--engines", !args.engines.is_empty() && !engines, "has no engines", "ladder"),
        ("--install", args.install && !engines, "has no engines", "ladder"),
    ];
    let Some((option, _, why, other)) = asked.into_iter().find(|(_, refused, ..)| *refused) else {
        return Ok(());
    };
    Err(Failure::usage(
        format!("{option}: study {} {why}", study.name),
        format!("leave {option} away, or run 'whyfaster study {other}'"),
    ))
}
