//! `whyfaster show`: a record or a price list once more, with everything that follows from its samples made anew.

use whyfaster_core::analysis::{Measured, analyse};
use whyfaster_core::price::PriceList;
use whyfaster_core::record::Record;
use whyfaster_core::trace::record::TraceRecord;
use whyfaster_core::why::{ExplainInput, again};

use super::{prices, results};
use crate::cli::Outputs;
use crate::cli::args::ShowArgs;
use crate::cli::trace::TraceOutputs;
use crate::display::{Format, TOP};
use crate::exit::{Exit, Failure};
use crate::render::trace::perfetto::Clock;
use crate::store::{self, Recorded};
use crate::words;

/// Reads the record, analyses its samples again and writes what was asked for.
pub fn run(args: &ShowArgs) -> anyhow::Result<Exit> {
    let outputs = Outputs::of_show(args)?;
    let _kept = results::check(&outputs)?;
    let recorded = store::read_recorded(&args.record)?;
    let of_traces = args.files.each().into_iter().flatten().next().is_some() || args.sort_calls.is_some();
    if of_traces && !matches!(recorded, Recorded::Trace(_)) {
        return Err(Failure::new(
            Exit::Usage,
            format!(
                "'{}' is no trace: --perfetto, --flamegraph, --folded and --sort-calls are for traces",
                args.record.display()
            ),
            "leave them out, or name a record that 'whyfaster trace --record FILE' wrote",
        )
        .into());
    }
    match recorded {
        Recorded::Comparison(record) => results::write(&reanalysed(*record), &outputs)?,
        Recorded::Prices(list) => show_prices(&list, &outputs)?,
        Recorded::Trace(trace) => show_trace(*trace, args, outputs)?,
    }
    Ok(Exit::Ok)
}

/// A trace once more: analysed again where its scheduling records were kept.
fn show_trace(mut trace: TraceRecord, args: &ShowArgs, common: Outputs) -> anyhow::Result<()> {
    if !common.exports.is_empty() {
        return Err(Failure::new(
            Exit::Usage,
            format!("'{}' is a trace: hyperfine's formats hold times of commands", args.record.display()),
            "leave the exports out, or take --json",
        )
        .into());
    }
    if let Some(schedule) = &trace.schedule {
        trace.report = schedule.analyse().map_err(|error| {
            Failure::new(
                Exit::Error,
                format!("the scheduling records in '{}' cannot be used: {error}", args.record.display()),
                "it was changed or damaged: take an undamaged copy, or trace again",
            )
        })?;
    }
    files(&trace, args)?;
    let (by, top) = (args.rows.by.unwrap_or_default(), args.rows.top.unwrap_or(TOP));
    let sort = args.sort_calls.unwrap_or_default();
    let outputs = TraceOutputs { common, by, sort, top, ..TraceOutputs::default() };
    let bytes = match outputs.common.json {
        true => store::trace_bytes(&trace)?,
        false => super::trace::report(&trace, &outputs, &results::look(&outputs.common)).into_bytes(),
    };
    store::to_stdout(&bytes)
}

/// The files that are made of the stream. It holds neither stacks nor calls: those are written while a command runs.
fn files(trace: &TraceRecord, args: &ShowArgs) -> anyhow::Result<()> {
    let name = args.record.display();
    let refuse = |what: String, remedy: &str| Err(Failure::new(Exit::Usage, what, remedy).into());
    if args.files.flamegraph.is_some() || args.files.folded.is_some() {
        return refuse(
            format!("'{name}' holds no stacks, and no record does"),
            "trace the command again with --flamegraph FILE or --folded FILE",
        );
    }
    let Some(path) = &args.files.perfetto else { return Ok(()) };
    let Some(schedule) = &trace.schedule else {
        return refuse(
            format!("'{name}' holds no scheduling records, of which a timeline is made"),
            "trace the command again with --perfetto FILE, or with --keep-schedule --record FILE",
        );
    };
    // The clocks of that time: the stream's own began with the boot of then.
    let started = trace.started.parse::<jiff::Timestamp>().map_or(0, |at| at.as_nanosecond());
    let mut first = None;
    schedule.each(&mut |event| first = first.or(Some(event.at)))?;
    let began = first.unwrap_or(0);
    let realtime_ns = u64::try_from(started).unwrap_or(0);
    let clock = Clock { monotonic_ns: began, boottime_ns: began, realtime_ns };
    let mut timeline = results::timeline(path, clock)?;
    let mut failed = None;
    schedule.each(&mut |event| {
        if failed.is_none() {
            failed = timeline.push(event).err();
        }
    })?;
    if let Some(error) = failed {
        return Err(store::cannot_write(path, &error).into());
    }
    Ok(results::end_timeline(timeline, path, &trace.report.lost)?)
}

/// A price list has one table to export, and that has commas.
fn show_prices(list: &PriceList, outputs: &Outputs) -> anyhow::Result<()> {
    if outputs.exports.iter().any(|(format, _)| *format != Format::Csv) {
        return Err(Failure::new(
            Exit::Usage,
            "a price list is exported as comma-separated values only",
            "use --export-csv FILE, or --json",
        )
        .into());
    }
    prices::write(list, None, outputs, &results::look(outputs))
}

/// The record with everything that follows from its samples made anew by this version.
pub fn reanalysed(mut record: Record) -> Record {
    record.analysis = analyse(Measured {
        plan: &record.plan,
        host: &record.host,
        trials: &record.trials,
        batches: &record.batches,
        accounts: &record.sched_accounts,
        not_measured: &record.skipped,
    });
    let given = ExplainInput {
        plan: &record.plan,
        host: &record.host,
        batches: &record.batches,
        analysis: &record.analysis,
        traced: &[],
        traced_batches: &[],
    };
    if record.plan.explain.is_some() {
        record.why = again(&given, record.why);
        words::why::write(&record.plan, &mut record.why);
    }
    record
}
