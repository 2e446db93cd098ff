//! `whyfaster show`: a record or a price list once more, with everything that follows from its samples made anew.

use whyfaster_core::analysis::{Measured, analyse};
use whyfaster_core::price::PriceList;
use whyfaster_core::record::Record;
use whyfaster_core::trace::record::TraceRecord;

use super::{prices, results};
use crate::cli::args::ShowArgs;
use crate::cli::trace::TraceOutputs;
use crate::cli::{Format, Outputs};
use crate::exit::{Exit, Failure};
use crate::render::trace::TOP;
use crate::store::{self, Recorded};

/// Reads the record, analyses its samples again and writes what was asked for.
pub fn run(args: &ShowArgs) -> anyhow::Result<Exit> {
    let outputs = Outputs::of_show(args)?;
    results::check(&outputs)?;
    match store::read_recorded(&args.record)? {
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
    let (by, top) = (args.rows.by.unwrap_or_default(), args.rows.top.unwrap_or(TOP));
    let outputs = TraceOutputs { common, by, top, ..TraceOutputs::default() };
    let bytes = match outputs.common.json {
        true => store::trace_bytes(&trace)?,
        false => super::trace::report(&trace, &outputs, &results::look(&outputs.common)).into_bytes(),
    };
    store::to_stdout(&bytes)
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
    record
}
