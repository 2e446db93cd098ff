//! Observed batches: all copies of the highest load at once, after the observed rounds of one copy. They say which kinds of
//! work grow with load, and explain no difference.

use whyfaster_core::event::Event;
use whyfaster_core::plan::Mode;
use whyfaster_core::why::Why;
use whyfaster_core::why::report::{Traced, TracedBatch};
use whyfaster_core::why::statement::{BatchLeftOut, LeftOut};
use whyfaster_stats::quantile::median;

use super::super::rig::{Ran, Rig};
use super::super::round::order;
use super::confirm;
use super::so_far::SoFar;
use super::tracer::{Observing, Wanted};

/// Batches of each alternative, as time allows: the second shows what the first had by chance.
const TURNS: u32 = 2;

/// Of the time for observed runs, the part that is kept for one batch of each.
const KEPT: f64 = 0.35;

/// Beside what observing cost one copy, a batch takes this much longer than the median: noise.
const LONGER: f64 = 1.5;

/// Seconds that an observed batch takes beside its copies: following each, reading the rest of the records, the analysis.
const PER_BATCH_S: f64 = 0.3;

/// Processes that are followed in one batch at most: each is a row in tables of the kernel, and takes memory there.
const MOST_PROCESSES: f64 = 100_000.0;

/// A batch that is to be observed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Planned {
    alternative: usize,
    load: u32,
    /// What it takes untraced.
    makespan_s: f64,
}

/// The highest load of each alternative at which no copy ran out of time; none where that is one copy.
pub(super) fn planned(so_far: &SoFar<'_>, alternatives: &[usize], explained: &mut Why) -> Vec<Planned> {
    let levels = &so_far.analysis.levels;
    let of = |&alternative: &usize| {
        let name = &so_far.plan.alternatives[alternative].name;
        let mine = levels.iter().filter_map(|level| {
            let result = level.results.iter().find(|it| it.alternative == *name)?;
            (result.timed_out == 0).then_some((level.load, result.makespan_s.median))
        });
        let (load, makespan_s) = mine.max_by_key(|(load, _)| *load)?;
        (load > 1).then_some(Planned { alternative, load, makespan_s })
    };
    let planned: Vec<Planned> = alternatives.iter().filter_map(of).collect();
    if so_far.plan.mode != Mode::Batch {
        if let Some(load) = planned.iter().map(|it| it.load).max() {
            explained.left_out.push(LeftOut::BatchMode { load });
        }
        return Vec::new();
    }
    planned
}

/// Seconds to keep for one batch of each, where the observed rounds can spare them.
pub(super) fn kept_s(planned: &[Planned], there_s: f64) -> f64 {
    let needed_s: f64 = planned.iter().map(|it| it.makespan_s * LONGER + PER_BATCH_S).sum();
    if needed_s <= KEPT * there_s { needed_s } else { 0.0 }
}

/// Observes them; what was seen is in `explained.why.traced_batches`.
pub(super) fn run(
    rig: &mut Rig<'_>,
    so_far: &SoFar<'_>,
    observing: &mut Observing,
    (planned, until_s): (&[Planned], f64),
    explained: &mut Why,
    on: &mut dyn FnMut(Event),
) {
    for turn in 0..TURNS {
        // Another order than that of any observed round.
        for place in order(so_far.plan.seed, u32::MAX - turn, planned.len()) {
            let one = planned[place];
            let of_alternative = |it: &&Traced| it.alternative == one.alternative;
            let alone: Vec<&Traced> = explained.traced.iter().filter(of_alternative).collect();
            // Without a copy alone there is nothing to hold the batch against, and that was told.
            if so_far.machine.interrupted() || alone.is_empty() {
                return;
            }
            let takes_s = match takes_s(&one, &alone, until_s - so_far.now_s()) {
                Ok(takes_s) => takes_s,
                Err(why) => {
                    tell(explained, so_far, &one, why);
                    continue;
                }
            };
            let experiments_s =
                confirm::expected_s(planned.iter().map(|it| it.makespan_s / f64::from(it.load)));
            let left_s = takes_s * f64::from(TURNS - turn) * planned.len() as f64 + experiments_s;
            on(Event::TracedBatch { load: one.load, alternative: one.alternative, left_s });
            let at = observing.alternatives.iter().position(|it| *it == one.alternative);
            let wanted = Wanted {
                alternative: one.alternative,
                copies: one.load,
                number: turn,
                facts: at.map(|at| observing.facts[at].clone()).unwrap_or_default(),
                untraced_s: one.makespan_s,
            };
            // The rounds stand, whatever becomes of a batch.
            let ran = observing.tracer.run(rig, wanted);
            match ran.unwrap_or_else(|failure| Ran::CannotRun(failure.message)) {
                Ran::Done(seen) => explained.traced_batches.push(TracedBatch {
                    alternative: one.alternative,
                    load: one.load,
                    round: turn,
                    report: seen.report,
                    own: seen.own,
                }),
                Ran::Stopped => return,
                Ran::CannotRun(why) => tell(explained, so_far, &one, BatchLeftOut::CannotRun { why }),
            }
        }
    }
}

/// How many times as long a copy alone took when it was observed; at least once.
fn slower(alone: &[&Traced]) -> f64 {
    let ratios: Vec<f64> = alone.iter().filter_map(|it| it.report.overhead.traced_over_untraced).collect();
    median(&ratios).unwrap_or(1.0).max(1.0)
}

/// What the batch takes, about. The error says why it is not to be begun.
fn takes_s(one: &Planned, alone: &[&Traced], left_s: f64) -> Result<f64, BatchLeftOut> {
    let made = |it: &&Traced| it.report.processes.forks.unwrap_or(0) as f64 + 1.0;
    let of_copy = median(&alone.iter().map(made).collect::<Vec<_>>()).unwrap_or(1.0);
    let processes = of_copy * f64::from(one.load);
    if processes > MOST_PROCESSES {
        return Err(BatchLeftOut::Processes { processes, most: MOST_PROCESSES });
    }
    let takes_s = one.makespan_s * slower(alone) * LONGER + PER_BATCH_S;
    if takes_s > left_s {
        return Err(BatchLeftOut::NoTime { takes_s, left_s: left_s.max(0.0) });
    }
    Ok(takes_s)
}

/// Why there is no batch of this alternative, unless there is one.
fn tell(explained: &mut Why, so_far: &SoFar<'_>, one: &Planned, why: BatchLeftOut) {
    let name = &so_far.plan.alternatives[one.alternative].name;
    let there_is = explained.traced_batches.iter().any(|it| it.alternative == one.alternative);
    let told = |it: &LeftOut| matches!(it, LeftOut::Batch { of, .. } if of == name);
    if !there_is && !explained.left_out.iter().any(told) {
        explained.left_out.push(LeftOut::Batch { of: name.clone(), load: one.load, why });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whyfaster_core::trace::TraceReport;
    use whyfaster_core::trace::counts::OwnCost;

    #[test]
    fn time_is_kept_where_rounds_can_spare_it() {
        let planned = [Planned { alternative: 0, load: 10, makespan_s: 0.4 }; 2];
        assert!((kept_s(&planned, 10.0) - 1.8).abs() < 1e-9);
        assert_eq!((kept_s(&planned, 2.0), kept_s(&[], 10.0)), (0.0, 0.0));
    }

    #[test]
    fn a_batch_must_fit_into_the_time_and_the_tables() {
        let mut one =
            Traced { alternative: 0, round: 0, report: TraceReport::default(), own: OwnCost::default() };
        one.report.processes.forks = Some(999);
        let planned = |load| Planned { alternative: 0, load, makespan_s: 1.0 };
        assert!(takes_s(&planned(100), &[&one], 2.0).is_ok_and(|takes_s| takes_s > 1.5));
        let why = takes_s(&planned(101), &[&one], 2.0).unwrap_err();
        assert!(matches!(why, BatchLeftOut::Processes { processes: 101_000.0, .. }), "{why:?}");
        // Observing made one copy alone three times as long, and does so with ten.
        one.report.overhead.traced_over_untraced = Some(3.0);
        let why = takes_s(&planned(10), &[&one], 2.0).unwrap_err();
        let BatchLeftOut::NoTime { takes_s, left_s } = why else { panic!("{why:?}") };
        assert!((takes_s - 4.8).abs() < 1e-9 && (left_s - 2.0).abs() < 1e-9, "{takes_s} {left_s}");
    }
}
