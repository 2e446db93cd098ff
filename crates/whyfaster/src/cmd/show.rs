//! `whyfaster show`: a record or a price list once more, with everything that follows from its samples made anew.

use whyfaster_core::analysis::{Measured, analyse};
use whyfaster_core::price::PriceList;
use whyfaster_core::record::Record;

use super::{prices, results};
use crate::cli::args::ShowArgs;
use crate::cli::{Format, Outputs};
use crate::exit::{Exit, Failure};
use crate::store::{self, Recorded};

/// Reads the record, analyses its samples again and writes what was asked for.
pub fn run(args: &ShowArgs) -> anyhow::Result<Exit> {
    let outputs = Outputs::of_show(args)?;
    results::check(&outputs)?;
    match store::read_recorded(&args.record)? {
        Recorded::Comparison(record) => results::write(&reanalysed(*record), &outputs)?,
        Recorded::Prices(list) => show_prices(&list, &outputs)?,
    }
    Ok(Exit::Ok)
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
        accounts: &record.accounts,
        not_measured: &record.skipped,
    });
    record
}
