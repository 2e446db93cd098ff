//! `whyfaster show`: a record once more, with the analysis redone.

use whyfaster_core::analysis::{Measured, analyse};
use whyfaster_core::record::Record;

use super::results;
use crate::cli::Outputs;
use crate::cli::args::ShowArgs;
use crate::exit::Exit;
use crate::store;

/// Reads the record, analyses its samples again and writes what was asked for.
pub fn run(args: &ShowArgs) -> anyhow::Result<Exit> {
    let outputs = Outputs::of_show(args)?;
    results::check(&outputs)?;
    let record = reanalysed(store::read_record(&args.record)?);
    results::write(&record, &outputs)?;
    Ok(Exit::Ok)
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
