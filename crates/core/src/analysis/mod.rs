//! From raw samples to results: everything in a record that is not a plan, a fact or a sample.

use crate::host::{Host, NotMeasured};
use crate::plan::Plan;
use crate::record::Analysis;
use crate::sample::{Batch, SchedAccount, Trial};

/// What there is to analyse.
#[derive(Clone, Copy, Debug)]
pub struct Measured<'a> {
    /// What was to be run.
    pub plan: &'a Plan,
    /// The machine.
    pub host: &'a Host,
    /// The untimed runs.
    pub trials: &'a [Trial],
    /// The timed batches.
    pub batches: &'a [Batch],
    /// Scheduling accounts.
    pub accounts: &'a [SchedAccount],
    /// What the runner could not measure.
    pub not_measured: &'a [NotMeasured],
}

/// Analyses what was measured; calling it again on a stored record gives the same.
pub fn analyse(_measured: Measured<'_>) -> Analysis {
    Analysis::default()
}
