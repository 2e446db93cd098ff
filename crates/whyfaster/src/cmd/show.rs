//! `whyfaster show`: a record once more, with the analysis redone.

use whyfaster_core::analysis::{Measured, analyse};
use whyfaster_core::host::NotMeasured;
use whyfaster_core::record::{Analysis, Record};

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
    let stored = std::mem::take(&mut record.analysis.not_measured);
    // The stored list holds what the runner could not measure and what the analysis added. The runner's part is known to
    // the record alone, the other is made again: what an analysis adds by itself is taken out.
    let added = analysed(&record, &[]).not_measured;
    let of_runner: Vec<NotMeasured> = stored.into_iter().filter(|entry| !added.contains(entry)).collect();
    record.analysis = analysed(&record, &of_runner);
    record
}

fn analysed(record: &Record, not_measured: &[NotMeasured]) -> Analysis {
    analyse(Measured {
        plan: &record.plan,
        host: &record.host,
        trials: &record.trials,
        batches: &record.batches,
        accounts: &record.accounts,
        not_measured,
    })
}
