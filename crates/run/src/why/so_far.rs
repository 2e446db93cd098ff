//! What has been measured when it is to be explained.

use whyfaster_core::analysis::Analysis;
use whyfaster_core::host::Host;
use whyfaster_core::plan::{Plan, defaults};
use whyfaster_core::sample::{Arm, Batch};
use whyfaster_core::why::{ExplainInput, Why};
use whyfaster_stats::quantile::median;

use super::super::machine::Machine;

/// Seconds that an explanation gets where somebody asked for more than a usual comparison: at least, and at most.
const SECONDS: (f64, f64) = (5.0, 30.0);
/// Seconds and runs of each command that a usual explanation gets after the verdict.
const USUAL: (f64, f64) = (1.0, 8.0);
/// The same for the first observed rounds and the first experiment, without which there is no explanation.
const LAST: (f64, f64) = (2.0, 12.0);
/// Runs of each command for which there is always time: the first observed rounds.
const FIRST: f64 = 4.0;

/// When an explanation ends, seconds after the beginning of the measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ends {
    /// What only makes it surer begins no later.
    pub(super) usual_s: f64,
    /// That without which there is none begins no later.
    pub(super) last_s: f64,
}

impl Ends {
    /// The ends of an explanation that begins now, of commands which alone take `alone_s` one after the other.
    fn of(plan: &Plan, alone_s: f64, now_s: f64) -> Self {
        let rounds = &plan.rounds;
        if rounds.max_time_hard {
            return Self { usual_s: rounds.max_time_s, last_s: rounds.max_time_s };
        }
        let (usual_s, last_s) = shares_s(plan, alone_s, now_s);
        Self {
            usual_s: rounds.max_time_s.max(now_s + usual_s),
            last_s: rounds.max_time_s.max(now_s + last_s),
        }
    }
}

/// Seconds for the explanation, after verdicts that came at `now_s`. By default these are a few runs of each command: the whole comparison then takes
/// about as long as ten runs of each. With loads or many rounds the explanation gets as long as the verdicts took. With `--why` it gets the most.
pub(super) fn shares_s(plan: &Plan, alone_s: f64, now_s: f64) -> (f64, f64) {
    let (rounds, (least_s, most_s)) = (&plan.rounds, SECONDS);
    let of = |(seconds, runs): (f64, f64), most_s| f64::min(seconds + runs * alone_s, most_s);
    if plan.explain.as_ref().is_some_and(|wanted| wanted.asked) {
        (most_s, most_s)
    } else if !plan.loads.is_one_copy() || rounds.fixed || rounds.min >= defaults::MIN_ROUNDS {
        (now_s.clamp(least_s, most_s), most_s)
    } else {
        (of(USUAL, most_s), of(LAST, most_s.max(FIRST * alone_s)))
    }
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
}

impl<'a> SoFar<'a> {
    /// What has been measured by now.
    pub(crate) fn by_now(
        (plan, host): (&'a Plan, &'a Host),
        (batches, analysis): (&'a [Batch], &'a Analysis),
        machine: &'a dyn Machine,
    ) -> Self {
        let alone_s = (0..plan.alternatives.len()).map(|index| alone_s(batches, index)).sum();
        let ends = Ends::of(plan, alone_s, machine.now_s());
        Self { plan, host, batches, analysis, machine, ends }
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
    fn an_explanation_gets_a_few_runs_of_each_command() {
        let mut plan = Plan::new(vec![Alternative::new("a"), Alternative::new("b")], 1);
        plan.rounds = Rounds { min: 1, max_time_s: 10.0, ..plan.rounds };
        let ends = |plan: &Plan, alone_s, now_s| {
            let Ends { usual_s, last_s } = Ends::of(plan, alone_s, now_s);
            (usual_s, last_s)
        };
        assert_eq!(ends(&plan, 0.0, 1.0), (10.0, 10.0));
        assert_eq!(ends(&plan, 0.0, 10.0), (11.0, 12.0));
        assert_eq!(ends(&plan, 1.0, 7.0), (16.0, 21.0));
        assert_eq!(ends(&plan, 9.0, 60.0), (90.0, 96.0));
        let many = Plan { rounds: Rounds { min: 20, ..plan.rounds }, ..plan.clone() };
        let loads = Plan { loads: Loads::Fixed(vec![1, 8]), ..plan.clone() };
        for plan in [many, loads] {
            assert_eq!((ends(&plan, 0.1, 1.0), ends(&plan, 0.1, 20.0)), ((10.0, 31.0), (40.0, 50.0)));
        }
        plan.explain = Some(Explain { asked: true, ..Explain::default() });
        assert_eq!(ends(&plan, 0.1, 1.0), (31.0, 31.0));
        plan.rounds.max_time_hard = true;
        assert_eq!(ends(&plan, 0.1, 1.0), (10.0, 10.0));
    }
}
