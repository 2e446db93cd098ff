//! What has been measured when it is to be explained.

use std::time::Instant;

use whyfaster_core::analysis::Analysis;
use whyfaster_core::host::Host;
use whyfaster_core::plan::Plan;
use whyfaster_core::sample::Batch;
use whyfaster_core::why::{ExplainInput, Why};

use super::super::interrupts::Interrupts;

/// Seconds for an explanation where the time is not limited: about as many as the verdicts took, and so many at the least and at the most. Who asks for an
/// explanation gets the most.
pub(super) const SECONDS: (f64, f64) = (5.0, 30.0);

/// When an explanation ends, seconds after the beginning of the measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ends {
    /// What only makes it surer begins no later.
    pub(super) usual_s: f64,
    /// That without which there is none begins no later.
    pub(super) last_s: f64,
}

impl Ends {
    /// Of an explanation that begins now.
    fn of(plan: &Plan, now_s: f64) -> Self {
        let rounds = &plan.rounds;
        if rounds.max_time_hard {
            return Self { usual_s: rounds.max_time_s, last_s: rounds.max_time_s };
        }
        let (least, most) = SECONDS;
        let asked = plan.explain.as_ref().is_some_and(|wanted| wanted.asked);
        let usual = if asked { most } else { now_s.clamp(least, most) };
        Self { usual_s: rounds.max_time_s.max(now_s + usual), last_s: rounds.max_time_s.max(now_s + most) }
    }
}

/// What has been measured when it is to be explained.
#[derive(Clone, Copy)]
pub(crate) struct SoFar<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) host: &'a Host,
    pub(crate) batches: &'a [Batch],
    pub(crate) analysis: &'a Analysis,
    pub(crate) interrupts: &'a Interrupts,
    /// When the measurement began.
    pub(crate) clock: Instant,
    ends: Ends,
}

impl<'a> SoFar<'a> {
    /// What has been measured by now.
    pub(crate) fn by_now(
        (plan, host): (&'a Plan, &'a Host),
        (batches, analysis): (&'a [Batch], &'a Analysis),
        interrupts: &'a Interrupts,
        clock: Instant,
    ) -> Self {
        let ends = Ends::of(plan, clock.elapsed().as_secs_f64());
        Self { plan, host, batches, analysis, interrupts, clock, ends }
    }

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

    /// When the explanation is to be over.
    pub(super) fn ends(&self) -> Ends {
        self.ends
    }
}

#[cfg(test)]
mod tests {
    use whyfaster_core::plan::{Alternative, Explain};

    use super::*;

    #[test]
    fn an_explanation_takes_about_as_long_as_the_verdicts_did() {
        let mut plan = Plan::new(vec![Alternative::new("a"), Alternative::new("b")], 1);
        plan.rounds.max_time_s = 10.0;
        let ends = |plan: &Plan, now_s| {
            let Ends { usual_s, last_s } = Ends::of(plan, now_s);
            (usual_s, last_s)
        };
        assert_eq!(ends(&plan, 1.0), (10.0, 31.0));
        assert_eq!(ends(&plan, 5.5), (11.0, 35.5));
        assert_eq!(ends(&plan, 20.0), (40.0, 50.0));
        assert_eq!(ends(&plan, 90.0), (120.0, 120.0));
        plan.explain = Some(Explain { asked: true, ..Explain::default() });
        assert_eq!(ends(&plan, 1.0), (31.0, 31.0));
        plan.rounds.max_time_hard = true;
        assert_eq!(ends(&plan, 1.0), (10.0, 10.0));
    }
}
