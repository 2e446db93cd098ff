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
use whyfaster_stats::quantile::median;
use whyfaster_words::exit::Failure;

use super::rig::{Ran, Rig};
use super::round::{Series, make};

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
    let (plan, machine) = (rig.plan, rig.machine);
    if !plan.duets() || cpus.is_empty() {
        return Ok(duets);
    }
    let others: Vec<usize> = (0..plan.alternatives.len()).filter(|&index| index != plan.baseline).collect();
    for &index in &others {
        let allowed_s =
            left_s.max(0.0) / others.len() as f64 * if plan.loads.is_one_copy() { 1.0 } else { PART };
        let mut of_one = OfOne { rig, cpus, on, index, rounds: 0, allowed_s, ran: Vec::new(), lacks: None };
        match rounds(plan, (batches, trials), index, allowed_s) {
            Ok(rounds) => of_one.rounds = rounds,
            Err(why) => of_one.lacks = Some(why),
        }
        let ended = make(machine, &mut of_one)?;
        let OfOne { ran, mut lacks, .. } = of_one;
        duets.ran.extend(ran);
        if let Ran::CannotRun(why) = &ended {
            lacks = Some(why.clone().into());
        }
        let alternative = || plan.alternatives[index].name.clone();
        let not_measured =
            lacks.map(|why| NotMeasured::new(Quantity::Duets { alternative: alternative() }, why));
        duets.not_measured.extend(not_measured);
        if let Ran::Stopped = ended {
            break;
        }
    }
    Ok(duets)
}

/// The duets of one alternative. A round is one run.
struct OfOne<'a, 'b> {
    rig: &'a mut Rig<'b>,
    cpus: &'a [u32],
    on: &'a mut dyn FnMut(Event),
    index: usize,
    /// Planned number of duets.
    rounds: u32,
    allowed_s: f64,
    ran: Vec<Duet>,
    /// The reason why there are too few.
    lacks: Option<Obstacle>,
}

impl Series for OfOne<'_, '_> {
    type Run = u32;
    type Made = Duet;

    fn next(&mut self) -> Result<Option<Vec<u32>>, Failure> {
        let plan = self.rig.plan;
        let round = u32::try_from(self.ran.len()).unwrap_or(u32::MAX);
        if round >= self.rounds {
            return Ok(None);
        }
        let spent_s: f64 = self.ran.iter().map(|duet| duet.took_s).sum();
        let longest_s = self.ran.iter().map(|duet| duet.took_s).fold(0.0, f64::max);
        // A neighbour on the CPU, or a speed that changed, makes them longer than the rounds said.
        if plan.rounds.max_time_hard && spent_s + longest_s > self.allowed_s {
            if round < fewest_duets(plan) {
                let needed_s = longest_s * f64::from(fewest_duets(plan));
                self.lacks = Some(Obstacle::NoTimeForDuets { needed_s, allowed_s: self.allowed_s });
            }
            return Ok(None);
        }
        Ok(Some(vec![round]))
    }

    fn run(&mut self, round: u32) -> Result<Ran<Duet>, Failure> {
        (self.on)(Event::Duet { alternative: self.index, round: round + 1, rounds: self.rounds });
        self.rig.duet(self.index, round, self.cpus)
    }

    fn keep(&mut self, round: Vec<Duet>) {
        self.ran.extend(round);
    }
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
