//! Records that were read, with everything that follows from their samples made anew.

use whyfaster_core::analysis::{Measured, analyse};
use whyfaster_core::record::Record;
use whyfaster_core::why::{ExplainInput, again as explained_again};
use whyfaster_words::Tell;

use crate::Recorded;

/// The record with everything that follows from its samples made anew by this version.
pub fn reanalysed(mut record: Record) -> Record {
    record.analysis = analyse(Measured {
        plan: &record.plan,
        host: &record.host,
        trials: &record.trials,
        batches: &record.batches,
        accounts: &record.sched_accounts,
        duets: &record.duets,
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
        record.why = explained_again(&given, record.why);
    }
    record.told()
}

/// What follows from the samples is made anew, as in every report: what a record says of itself may be wrong.
pub fn again(recorded: Recorded) -> Recorded {
    match recorded {
        Recorded::Comparison(record) => Recorded::Comparison(Box::new(reanalysed(*record))),
        // Its prices were made anew when it was read; of a trace nothing but its name goes into the tables.
        other => other,
    }
}
