//! `whyfaster show`: a record or a price list once more, with everything that follows from its samples made anew.

use std::path::{Path, PathBuf};

use whyfaster_core::price::PriceList;
use whyfaster_core::trace::record::TraceRecord;
use whyfaster_render::screen::screen;
use whyfaster_render::trace::outputs::Clock;
use whyfaster_store as store;
use whyfaster_store::Recorded;
use whyfaster_store::again::reanalysed;
use whyfaster_words::Tell;
use whyfaster_words::display::{Detail, Registered, TOP};
use whyfaster_words::exit::{Exit, Failure};
use whyfaster_words::look::Look;
use whyfaster_words::text::{beginning, for_look};

use super::study::kept::Kept;
use super::trace::Files;
use super::{prices, results};
use crate::cli::Outputs;
use crate::cli::args::ShowArgs;
use crate::cli::trace::TraceOutputs;

/// Reads the record, analyses its samples again and writes what was asked for.
pub fn run(args: &ShowArgs) -> anyhow::Result<Exit> {
    let outputs = Outputs::of_show(args)?;
    results::check(&outputs)?;
    if args.list {
        store::to_stdout(listed(&results::look(&outputs)).as_bytes())?;
        return Ok(Exit::Ok);
    }
    let path = &wanted(args.record.as_deref())?;
    let recorded = store::read_recorded(path)?;
    let of_traces = args.files.0.first().map(|(output, _)| output.option().name);
    let of_traces = of_traces.or(args.sort_calls.map(|_| "sort-calls"));
    if let Some(option) = of_traces
        && !matches!(recorded, Recorded::Trace(_))
    {
        return Err(Failure::usage(
            format!("'{}' is no trace: --{option} is for traces", path.display()),
            "leave them out, or name a record that 'whyfaster trace --record FILE' wrote",
        )
        .into());
    }
    match recorded {
        Recorded::Comparison(record) => {
            let record = reanalysed(*record);
            match Kept::of_record(&record)? {
                Some(study) => results::write_with(&record, &outputs, &mut |look| study.text(look))?,
                None => results::write(&record, &outputs)?,
            }
        }
        Recorded::Prices(list) => show_prices(&list, &outputs)?,
        Recorded::Trace(trace) => show_trace(*trace, path, args, outputs)?,
    }
    Ok(Exit::Ok)
}

/// The record that is meant: a file, one that was kept, or the last that was.
pub(super) fn wanted(named: Option<&Path>) -> Result<PathBuf, Failure> {
    let none = || match store::recent::forbidden() {
        Some(place) => Failure::new(
            Exit::Error,
            format!("the records that were kept cannot be read: '{}': permission denied", place.display()),
            "name a file that --record wrote, or a state directory of your own: XDG_STATE_HOME=DIRECTORY",
        ),
        None => Failure::usage(
            "no record was kept yet",
            "measure something, such as: whyfaster compare 'sleep 0.1' 'sleep 0.2'; or name a file that --record wrote",
        ),
    };
    match named {
        Some(path) if path.exists() => Ok(path.to_owned()),
        Some(path) => Ok(store::recent::named(path).unwrap_or_else(|| path.to_owned())),
        None => store::recent::all().into_iter().next().ok_or_else(none),
    }
}

/// The records that were kept, each with its answer on a line.
fn listed(look: &Look) -> String {
    let whole = &Look { detail: Detail::Sentence, width: usize::MAX, ..look.clone() };
    let line = |path: PathBuf| {
        let answer = match store::read_recorded(&path) {
            Ok(Recorded::Comparison(record)) => {
                let record = record.told();
                said(Kept::of_record(&record), whole).unwrap_or_else(|| screen(&record, whole))
            }
            Ok(Recorded::Prices(list)) => {
                said(Kept::of_list(&list), whole).unwrap_or_else(|| prices::screen(&list, None, whole))
            }
            Ok(Recorded::Trace(trace)) => {
                let said = super::trace::said(&trace, &TraceOutputs::default(), whole);
                format!("{}: {said}", for_look(&trace.plan.target.words(), look))
            }
            Err(failure) => failure.message,
        };
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        beginning(&format!("{name}  {}", answer.trim_end()), look.width, look.unicode) + "\n"
    };
    store::recent::all().into_iter().map(line).collect()
}

/// What a study says, if it is one that can be told.
fn said(study: anyhow::Result<Option<Kept<'_>>>, look: &Look) -> Option<String> {
    study.ok()??.text(look).ok()
}

/// A trace once more: analysed again where its scheduling records were kept.
fn show_trace(mut trace: TraceRecord, path: &Path, args: &ShowArgs, common: Outputs) -> anyhow::Result<()> {
    if !common.exports.is_empty() {
        return Err(Failure::usage(
            format!("'{}' is a trace: hyperfine's formats hold times of commands", path.display()),
            "leave the exports out, or take --json",
        )
        .into());
    }
    trace = retraced(trace, path)?;
    files(&trace, path, args, &common)?;
    let (by, top) = (args.rows.by.unwrap_or_default(), args.rows.top.unwrap_or(TOP));
    let sort = args.sort_calls.unwrap_or_default();
    let outputs = TraceOutputs { common, by, sort, top, ..TraceOutputs::default() };
    let bytes = match outputs.common.json {
        true => store::trace_bytes(&trace)?,
        false => super::trace::said(&trace, &outputs, &results::look(&outputs.common)).into_bytes(),
    };
    store::to_stdout(&bytes)
}

/// A trace with everything that follows from its scheduling records made anew, where they were kept.
pub fn retraced(mut trace: TraceRecord, path: &Path) -> Result<TraceRecord, Failure> {
    if let Some(schedule) = &trace.schedule {
        trace.report = schedule.analyse().map_err(|error| {
            Failure::new(
                Exit::Error,
                format!("the scheduling records in '{}' cannot be used: {error}", path.display()),
                "it was changed or damaged: take an undamaged copy, or trace again",
            )
        })?;
        trace.tell();
    }
    Ok(trace)
}

/// The files that are made of the stream. It holds neither stacks nor calls: those are written while a command runs.
fn files(trace: &TraceRecord, path: &Path, args: &ShowArgs, common: &Outputs) -> anyhow::Result<()> {
    let name = path.display();
    let refuse = |what: String, remedy: String| Err(Failure::usage(what, remedy).into());
    if let Some((output, _)) = args.files.0.iter().find(|(output, _)| output.of_stacks()) {
        return refuse(
            format!("'{name}' holds no stacks, and no record does"),
            format!("trace the command again with --{} FILE", output.option().name),
        );
    }
    let Some((output, _)) = args.files.0.first() else { return Ok(()) };
    let option = output.option().name;
    let Some(schedule) = &trace.schedule else {
        return refuse(
            format!("'{name}' holds no scheduling records, of which --{option} is made"),
            format!("trace the command again with --{option} FILE, or with --keep-schedule --record FILE"),
        );
    };
    // The clocks of that time: the stream's own began with the boot of then.
    let started = trace.started.parse::<jiff::Timestamp>().map_or(0, |at| at.as_nanosecond());
    let mut first = None;
    schedule.each(&mut |event| first = first.or(Some(event.at)))?;
    let began = first.unwrap_or(0);
    let realtime_ns = u64::try_from(started).unwrap_or(0);
    let clock = Clock { monotonic_ns: began, boottime_ns: began, realtime_ns };
    let wanted: Vec<_> = args.files.0.iter().map(|(output, _)| *output).zip(common.others.clone()).collect();
    let mut files = Files::open(&wanted, clock, None)?;
    schedule.each(&mut |event| files.push(event))?;
    files.finish(trace)
}

fn show_prices(list: &PriceList, outputs: &Outputs) -> anyhow::Result<()> {
    if outputs.exports.iter().any(|(exporter, _)| exporter.prices.is_none()) {
        return Err(Failure::usage(
            "a price list is exported as comma-separated values only",
            "use --export-csv FILE, or --json",
        )
        .into());
    }
    let look = results::look(outputs);
    match Kept::of_list(list)? {
        Some(study) => prices::write(list, &study.text(&look)?, outputs, &look),
        None => prices::write(list, &prices::screen(list, None, &look), outputs, &look),
    }
}
