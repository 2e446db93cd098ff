//! `whyfaster study`: lists the studies, or runs one and sets its article beside this machine.

use std::env;
use std::io::Write;
use std::path::Path;

use anyhow::Context;
use serde::Serialize;
use whyfaster_core::event::Status;
use whyfaster_core::plan::Plan;
use whyfaster_core::record::Record;

use super::compare::measured;
use super::results;
use crate::cli::args::StudyArgs;
use crate::cli::compare::user_note;
use crate::cli::{HostSeed, Outputs};
use crate::exit::{self, Exit, Failure, say};
use crate::render::screen::screen;
use crate::run::interrupts::Interrupts;
use crate::store;
use crate::study::{self, Findings, Generated, Options, Study, WorkDir, check_needs};

/// What a measurement gives. One that failed half way has both: what was measured until then, and why it ended.
pub type Outcome = anyhow::Result<(Record, Option<Failure>)>;

/// What a study needs from the rest of the program.
pub struct Tools<'a> {
    /// Measures a plan; copies run in the working directory.
    pub measure: &'a mut dyn FnMut(&Plan) -> Outcome,
    /// Keeps a record: in the file of `--record` if one was given, and where else records are kept.
    pub save: &'a mut dyn FnMut(&Record, Option<&Path>) -> anyhow::Result<()>,
    /// The ordinary screen of a record.
    pub screen: &'a dyn Fn(&Record) -> String,
    /// Standard output.
    pub out: &'a mut dyn Write,
    /// Seed of the random order unless the options hold one.
    pub order_seed: u64,
}

impl std::fmt::Debug for Tools<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tools").field("order_seed", &self.order_seed).finish_non_exhaustive()
    }
}

/// A record with what the study found in it. A reader of records skips the addition.
#[derive(Serialize)]
struct Document<'a> {
    #[serde(flatten)]
    record: &'a Record,
    study_findings: &'a Findings,
}

/// Options that only other studies have.
fn bears_on_runs(args: &StudyArgs, name: &str) -> Result<(), Failure> {
    if args.quick {
        let message = format!("--quick: study {name} has no smaller size");
        return Err(Failure::new(Exit::Usage, message, "leave --quick away, or limit it with --max-time"));
    }
    Ok(())
}

/// Only studies of prices compare lists.
fn no_prices(args: &StudyArgs, name: &str) -> Result<(), Failure> {
    if args.with.is_empty() {
        return Ok(());
    }
    let message = format!("--with: study {name} has no table of prices");
    Err(Failure::new(Exit::Usage, message, "leave --with away, or run 'whyfaster study syscalls'"))
}

/// Only one study draws them.
fn no_flamegraphs(args: &StudyArgs, name: &str) -> Result<(), Failure> {
    if args.flamegraphs.is_none() {
        return Ok(());
    }
    let message = format!("--flamegraphs: study {name} draws none");
    Err(Failure::new(Exit::Usage, message, "leave --flamegraphs away, or run 'whyfaster study placement'"))
}

fn list_all() -> anyhow::Result<Exit> {
    let mut out = Vec::new();
    let listed = list(&mut out)?;
    store::to_stdout(&out)?;
    Ok(listed)
}

/// Runs the verb.
pub fn run_args(args: &StudyArgs) -> anyhow::Result<Exit> {
    let outputs = Outputs::of_study(args)?;
    let _kept = results::check(&outputs)?;
    let Some(name) = &args.name else { return list_all() };
    let mut out = Vec::new();
    if let Some(study) = study::find_of_prices(name)? {
        return super::study_prices::run(&study, args, &outputs);
    }
    no_prices(args, name)?;
    if *name == study::placement()?.name {
        return super::study_placement::run(args, &outputs);
    }
    no_flamegraphs(args, name)?;
    if *name == study::dispatch()?.name {
        return super::study_dispatch::run(args, &outputs);
    }
    bears_on_runs(args, name)?;
    let here = HostSeed::here();
    let options = Options {
        full: args.full,
        seed: args.seed,
        loads: args.load.clone(),
        max_time_s: args.max_time,
        record: args.record.clone(),
        json: args.json,
        user: Some(here.user(args.user.as_root)?),
        explain: args.why.plan()?,
    };
    options.user.as_ref().and_then(user_note).iter().for_each(|note| say(&format!("note: {note}")));
    let interrupts = Interrupts::take_over()?;
    let look = results::look(&outputs);
    let ended = run(
        name,
        &options,
        Tools {
            measure: &mut |plan| {
                let finished = measured(plan, &outputs, &interrupts)?;
                Ok((finished.record, finished.failure))
            },
            save: &mut |record, file| match file {
                Some(file) => Ok(store::write_atomic(file, &store::record_bytes(record)?)?),
                None => Ok(()),
            },
            screen: &|record| if look.quiet { String::new() } else { screen(record, &look) },
            out: &mut out,
            order_seed: here.seed,
        },
    );
    let printed = store::to_stdout(&out);
    match ended {
        Ok(Exit::Interrupted) if printed.is_ok() && !out.is_empty() => {
            say("interrupted: what had been measured is above");
        }
        Ok(Exit::Interrupted) => say("interrupted"),
        Err(error) => return Err(error),
        Ok(_) => printed?,
    }
    ended
}

/// Lists the studies.
pub fn list(out: &mut dyn Write) -> anyhow::Result<Exit> {
    let pipes = study::all()?.into_iter().map(|s| [s.name, s.title, s.question, s.article.source]);
    let prices = study::all_of_prices()?.into_iter().map(|s| [s.name, s.title, s.question, s.source]);
    let d = study::dispatch()?;
    let dispatch = [d.name, d.title, d.question, d.article.source];
    let p = study::placement()?;
    let placement = [p.name, p.title, p.question, p.article.source];
    for [name, title, question, source] in pipes.chain(prices).chain([dispatch, placement]) {
        writeln!(out, "{name}  {title}")?;
        writeln!(out, "  {question}")?;
        writeln!(out, "  Source: {source}. Run it with `whyfaster study {name}`.")?;
    }
    Ok(Exit::Ok)
}

/// Runs the study of this name.
pub fn run(name: &str, options: &Options, tools: Tools<'_>) -> anyhow::Result<Exit> {
    let Tools { measure, save, screen, out, order_seed } = tools;
    let study = study::find(name)?;
    check_needs(&format!("study {name}"), &study.needs, &env::var_os("PATH").unwrap_or_default())?;
    // The study works in another directory: a relative name means the one that whyfaster was started in.
    let file = options.record.as_deref().map(results::absolute).transpose()?;
    let input = study.generate(options);
    let plan = study.plan(options, order_seed);
    let (mut record, failure) =
        WorkDir::with(&study.name, study.all_files(&input), plan.user.as_ref(), || measure(&plan))?;
    record.study = Some(study.name.clone());
    // Should the file fail, the report is still printed.
    let saved = save(&record, file.as_deref());
    if failure.is_none() {
        check_work(&study, &record, &input)?;
    }
    let found = study::findings(&study, &record);
    if options.json {
        let document = Document { record: &record, study_findings: &found };
        serde_json::to_writer_pretty(&mut *out, &document).context("cannot write the record")?;
        writeln!(out)?;
    } else if !record.batches.is_empty() {
        writeln!(out, "{}", study::text(&study, &found))?;
        writeln!(out, "{}", screen(&record))?;
    }
    let saved = saved.map_or_else(|error| exit::report(Err(error)), |()| Exit::Ok);
    match failure {
        // An interrupt goes before all other ends.
        _ if record.status == Status::Interrupted => Ok(Exit::Interrupted),
        Some(failure) => Err(failure.into()),
        None => Ok(saved),
    }
}

/// The receipt: the input says what the output must be, so that all alternatives doing the same wrong thing is found.
fn check_work(study: &Study, record: &Record, input: &Generated) -> Result<(), Failure> {
    for trial in &record.trials {
        let Some(digest) = &trial.stdout_sha256 else { continue };
        if *digest != input.expected_sha256 {
            let name =
                study.alternatives.get(trial.alternative).map_or("an alternative", |a| a.name.as_str());
            let install: Vec<&str> = study.needs.iter().map(|need| need.install.as_str()).collect();
            return Err(Failure::new(
                Exit::CommandFailed,
                format!(
                    "{name} of study {} did not do its work: SHA-256 of its output is {digest}, {} was expected",
                    study.name, input.expected_sha256
                ),
                install.join("; "),
            ));
        }
    }
    Ok(())
}
