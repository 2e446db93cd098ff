//! What has been measured when it is to be explained.

use whyfaster_core::analysis::Analysis;
use whyfaster_core::host::Host;
use whyfaster_core::plan::{Plan, defaults};
use whyfaster_core::sample::{Arm, Batch};
use whyfaster_core::stats::quantile::median;
use whyfaster_core::why::{ExplainInput, Why};

use super::super::machine::Machine;

/// Seconds for an explanation where the time is not limited: about as many as the verdicts took, and so many at the least and at the most. Who asks for an
/// explanation gets the most. One of quick commands that nobody asked for ends with the time of the verdicts.
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
    /// Of an explanation that begins now; `soon` says whether all [is to end soon](is_to_end_soon).
    fn of(plan: &Plan, soon: bool, now_s: f64) -> Self {
        let rounds = &plan.rounds;
        if rounds.max_time_hard || soon {
            return Self { usual_s: rounds.max_time_s, last_s: rounds.max_time_s };
        }
        let (least, most) = SECONDS;
        let asked = plan.explain.as_ref().is_some_and(|wanted| wanted.asked);
        let usual = if asked { most } else { now_s.clamp(least, most) };
        Self { usual_s: rounds.max_time_s.max(now_s + usual), last_s: rounds.max_time_s.max(now_s + most) }
    }
}

/// Whether all is to be over when the usual time is: nobody asked for more, be it an explanation, loads or rounds, and the commands, which
/// alone take `alone_s` one after the other, are not so slow that they get more.
pub(super) fn is_to_end_soon(plan: &Plan, alone_s: f64) -> bool {
    let rounds = &plan.rounds;
    let asked = plan.explain.as_ref().is_some_and(|wanted| wanted.asked) || !plan.loads.is_one_copy();
    let usual = !rounds.max_time_hard && !rounds.fixed && rounds.min < defaults::MIN_ROUNDS;
    !asked && usual && rounds.comparing_s(alone_s) <= rounds.max_time_s
}

/// What has been measured when it is to be explained.
#[derive(Clone, Copy)]
pub(crate) struct SoFar<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) host: &'a Host,
    pub(crate) batches: &'a [Batch],
    pub(crate) analysis: &'a Analysis,
    pub(crate) machine: &'a dyn Machine,
    ends: Ends,
    /// See [`is_to_end_soon`].
    pub(super) soon: bool,
}

impl<'a> SoFar<'a> {
    /// What has been measured by now.
    pub(crate) fn by_now(
        (plan, host): (&'a Plan, &'a Host),
        (batches, analysis): (&'a [Batch], &'a Analysis),
        machine: &'a dyn Machine,
    ) -> Self {
        let alone_s = (0..plan.alternatives.len()).map(|index| alone_s(batches, index)).sum();
        let soon = is_to_end_soon(plan, alone_s);
        let ends = Ends::of(plan, soon, machine.now_s());
        Self { plan, host, batches, analysis, machine, ends, soon }
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
        self.machine.now_s()
    }

    /// When the explanation is to be over.
    pub(super) fn ends(&self) -> Ends {
        self.ends
    }
}

/// Median wall time of one untraced copy alone.
pub(super) fn alone_s(batches: &[Batch], alternative: usize) -> f64 {
    let alone = |batch: &&Batch| batch.load == 1 && batch.arm == Arm::Alternative(alternative);
    let walls: Vec<f64> =
        batches.iter().filter(alone).flat_map(|batch| batch.copies.wall_s.iter().copied()).collect();
    median(&walls).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use whyfaster_core::plan::{Alternative, Explain, Loads, Rounds};

    use super::*;

    #[test]
    fn an_explanation_takes_about_as_long_as_the_verdicts_did() {
        let mut plan = Plan::new(vec![Alternative::new("a"), Alternative::new("b")], 1);
        plan.rounds.max_time_s = 10.0;
        let ends = |plan: &Plan, now_s| {
            let Ends { usual_s, last_s } = Ends::of(plan, is_to_end_soon(plan, 3.0), now_s);
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

    #[test]
    fn one_of_quick_commands_that_nobody_asked_for_ends_with_their_time() {
        let mut plan = Plan::new(vec![Alternative::new("a"), Alternative::new("b")], 1);
        plan.rounds = Rounds { min: 1, max_time_s: 10.0, ..plan.rounds };
        plan.explain = Some(Explain::default());
        assert!(is_to_end_soon(&plan, 1.0) && !is_to_end_soon(&plan, 1.1));
        assert_eq!(Ends::of(&plan, true, 9.0), Ends { usual_s: 10.0, last_s: 10.0 });
        let more = Plan { rounds: Rounds { min: 20, ..plan.rounds }, ..plan.clone() };
        let loads = Plan { loads: Loads::Fixed(vec![1, 8]), ..plan.clone() };
        plan.explain = Some(Explain { asked: true, ..Explain::default() });
        assert!([more, loads, plan].iter().all(|asked| !is_to_end_soon(asked, 1.0)));
    }
}
