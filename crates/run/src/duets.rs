//! Duets: every alternative at once with the baseline on one CPU, after the lowest level.
//!
//! How many there are is known before the first of them begins, from what a copy costs and from the time there is, so that the
//! exact interval for a fixed number holds. The end of a limit that was asked for may leave fewer: why it holds all the same stands in
//! `whyfaster_core::analysis`.

use whyfaster_core::analysis::fewest_duets;
use whyfaster_core::bounds::Alone;
use whyfaster_core::event::Event;
use whyfaster_core::missing::{NotMeasured, Obstacle, Quantity};
use whyfaster_core::plan::Plan;
use whyfaster_core::sample::{Arm, Batch, Duet};
use whyfaster_core::stats::quantile::median;
use whyfaster_words::exit::Failure;

use super::rig::{Ran, Rig};

/// Most of them: with 12 the two outermost at each side are left out.
const MOST: u32 = 12;

/// Part of the time there is that they may take, where further loads follow.
const PART: f64 = 0.2;

/// What came of them.
#[derive(Debug, Default)]
pub(super) struct Duets {
    pub(super) ran: Vec<Duet>,
    pub(super) not_measured: Vec<NotMeasured>,
}

/// Runs the duets of a plan on these CPUs. `batches` are those of the lowest level, `trials` is what a copy of each alternative cost in its trial run
/// (span and work), `left_s` is what is left of the time there is.
pub(super) fn run(
    rig: &mut Rig<'_>,
    cpus: &[u32],
    (batches, trials, left_s): (&[Batch], &[(f64, f64)], f64),
    on: &mut dyn FnMut(Event),
) -> Result<Duets, Failure> {
    let mut duets = Duets::default();
    let plan = rig.plan;
    if !plan.duets() || cpus.is_empty() {
        return Ok(duets);
    }
    let others: Vec<usize> = (0..plan.alternatives.len()).filter(|&index| index != plan.baseline).collect();
    for &index in &others {
        let lacks = |why: Obstacle| {
            NotMeasured::new(Quantity::Duets { alternative: plan.alternatives[index].name.clone() }, why)
        };
        let allowed_s =
            left_s.max(0.0) / others.len() as f64 * if plan.loads.is_one_copy() { 1.0 } else { PART };
        let rounds = match rounds(plan, (batches, trials), index, allowed_s) {
            Ok(rounds) => rounds,
            Err(why) => {
                duets.not_measured.push(lacks(why));
                continue;
            }
        };
        let (mut spent_s, mut longest_s) = (0.0, 0.0_f64);
        for round in 0..rounds {
            if rig.machine.interrupted() {
                return Ok(duets);
            }
            // A neighbour on the CPU, or a speed that changed, makes them longer than the rounds said.
            if plan.rounds.max_time_hard && spent_s + longest_s > allowed_s {
                if round < fewest_duets(plan) {
                    let needed_s = longest_s * f64::from(fewest_duets(plan));
                    duets.not_measured.push(lacks(Obstacle::NoTimeForDuets { needed_s, allowed_s }));
                }
                break;
            }
            on(Event::Duet { alternative: index, round: round + 1, rounds });
            match rig.duet(index, round, cpus)? {
                Ran::Done(duet) => {
                    (spent_s, longest_s) = (spent_s + duet.took_s, longest_s.max(duet.took_s));
                    duets.ran.push(duet);
                }
                Ran::CannotRun(text) => {
                    duets.not_measured.push(lacks(text.into()));
                    break;
                }
                Ran::Stopped => return Ok(duets),
            }
        }
    }
    Ok(duets)
}

/// Seconds that the rounds leave for them. `alone` is what a copy of each alternative cost: span and work. Where further loads follow, the rounds of
/// the lowest one leave time enough.
pub(super) fn kept_s(plan: &Plan, alone: &[(f64, f64)]) -> f64 {
    let too_short = alone.iter().any(|&(_, work_s)| work_s < Duet::LEAST_WORK_S);
    if plan.duets() && plan.loads.is_one_copy() && !too_short {
        Duet::kept_s(plan.rounds.max_time_s)
    } else {
        0.0
    }
}

/// How many duets an alternative gets in so many seconds.
fn rounds(
    plan: &Plan,
    (batches, trials): (&[Batch], &[(f64, f64)]),
    index: usize,
    allowed_s: f64,
) -> Result<u32, Obstacle> {
    let fewest = fewest_duets(plan);
    let (of_it, of_baseline) = (alone(batches, trials, index), alone(batches, trials, plan.baseline));
    let (Some(of_it), Some(of_baseline)) = (of_it, of_baseline) else { return Ok(fewest) };
    let both = [Arm::Alternative(index), Arm::Alternative(plan.baseline)];
    let outlived = |batch: &Batch| batch.orphans.reaped + batch.orphans.killed > 0;
    if batches.iter().any(|batch| both.contains(&batch.arm) && outlived(batch)) {
        return Err(Obstacle::LeavesProcesses);
    }
    let shorter = of_it.work_s.min(of_baseline.work_s);
    if shorter < Duet::LEAST_WORK_S {
        return Err(Obstacle::TooShortForDuets { work_s: shorter, least_s: Duet::LEAST_WORK_S });
    }
    let one_s = Duet::one_s(of_it.span_s.max(of_baseline.span_s), of_it.work_s.max(of_baseline.work_s));
    let needed_s = one_s * f64::from(fewest);
    if needed_s > allowed_s {
        return Err(Obstacle::NoTimeForDuets { needed_s, allowed_s });
    }
    Ok(((Duet::USUAL_S.min(allowed_s) / one_s) as u32).clamp(fewest, MOST.max(fewest)))
}

/// What one copy took and cost, median over these batches. Where many copies ran at once they waited for each other: then it is what the trial run did.
fn alone(batches: &[Batch], trials: &[(f64, f64)], index: usize) -> Option<Alone> {
    if batches.iter().any(|batch| batch.load > 1) {
        return trials.get(index).map(|&(span_s, work_s)| Alone { span_s, work_s });
    }
    let of_it = || batches.iter().filter(|batch| batch.arm == Arm::Alternative(index));
    let spans: Vec<f64> = of_it().flat_map(|batch| batch.copies.wall_s.iter().copied()).collect();
    let works: Vec<f64> = of_it().map(|batch| batch.work_s() / batch.copies.len().max(1) as f64).collect();
    Some(Alone { span_s: median(&spans)?, work_s: median(&works)? })
}
