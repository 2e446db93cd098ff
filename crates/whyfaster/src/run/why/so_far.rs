//! What has been measured when it is to be explained.

use std::time::Instant;

use whyfaster_core::analysis::Analysis;
use whyfaster_core::host::Host;
use whyfaster_core::plan::Plan;
use whyfaster_core::sample::Batch;
use whyfaster_core::why::{ExplainInput, Why};

use super::super::interrupts::Interrupts;

/// Least seconds for an explanation where the time is not limited.
const LEAST_S: f64 = 30.0;

/// What has been measured when it is to be explained.
#[derive(Clone, Copy)]
pub(in crate::run) struct SoFar<'a> {
    pub(in crate::run) plan: &'a Plan,
    pub(in crate::run) host: &'a Host,
    pub(in crate::run) batches: &'a [Batch],
    pub(in crate::run) analysis: &'a Analysis,
    pub(in crate::run) interrupts: &'a Interrupts,
    /// When the measurement began.
    pub(in crate::run) clock: Instant,
}

impl<'a> SoFar<'a> {
    pub(super) fn given<'b>(&self, why: &'b Why) -> ExplainInput<'b>
    where
        'a: 'b,
    {
        ExplainInput {
            plan: self.plan,
            host: self.host,
            batches: self.batches,
            analysis: self.analysis,
            traced: &why.traced,
            traced_batches: &why.traced_batches,
        }
    }

    pub(super) fn now_s(&self) -> f64 {
        self.clock.elapsed().as_secs_f64()
    }

    /// When the explanation must be over, seconds after the beginning.
    pub(super) fn until_s(&self) -> f64 {
        let rounds = &self.plan.rounds;
        if rounds.max_time_hard { rounds.max_time_s } else { rounds.max_time_s.max(self.now_s() + LEAST_S) }
    }
}
