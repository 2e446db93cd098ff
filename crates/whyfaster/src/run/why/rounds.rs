//! The observed rounds: every alternative once in each, in random order.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use whyfaster_core::event::Event;
use whyfaster_core::plan::Explain;
use whyfaster_core::sample::{Arm, Batch};
use whyfaster_core::stats::quantile::median;
use whyfaster_core::why::Why;
use whyfaster_core::why::report::Traced;
use whyfaster_core::why::statement::{LeftOut, Refusal, RoundsLeftOut};

use super::super::rig::{Ran, Rig};
use super::so_far::SoFar;
use super::tracer::{Observing, Wanted};
use crate::exit::Failure;

/// Rounds at which a 95% interval by the sign test is not just the whole range.
const USUAL: u32 = 7;
/// Rounds at most unless asked for more.
const MOST: u32 = 15;
/// Rounds below which there is no 95% interval at all: 2 * 0.5^6 is 3%, 2 * 0.5^5 is 6%.
const WITH_INTERVAL: u32 = 6;

/// Seconds that an observed run takes beside the command.
const PER_RUN_S: f64 = 0.05;

/// When the observed rounds are over, seconds after the beginning.
#[derive(Clone, Copy, Debug)]
pub(super) struct Until {
    /// So that time is left for experiments.
    pub(super) usual_s: f64,
    /// The end of all.
    pub(super) last_s: f64,
}

impl Until {
    /// For who asked for an explanation the rounds without which there is none go before experiments.
    fn of(self, round: u32, asked: bool) -> f64 {
        if asked && round < WITH_INTERVAL { self.last_s } else { self.usual_s }
    }
}

/// Runs them; what was seen is in `explained.why.traced`, also when it ends early.
pub(super) fn run(
    rig: &mut Rig<'_>,
    so_far: &SoFar<'_>,
    observing: &mut Observing,
    (wanted, until): (&Explain, Until),
    explained: &mut Why,
    on: &mut dyn FnMut(Event),
) -> Result<(), Failure> {
    let alternatives = observing.alternatives.clone();
    let alone: Vec<f64> = alternatives.iter().map(|index| alone_s(so_far.batches, *index)).collect();
    let round_s = alone.iter().map(|seconds| seconds + PER_RUN_S).sum::<f64>();
    let rounds = how_many(wanted, round_s, until.usual_s - so_far.now_s());
    let mut longest_s: f64 = 0.0;
    let mut done = 0;
    'rounds: for round in 0..rounds {
        let began_s = so_far.now_s();
        // The first one is made whatever it takes, unless a limit was asked for.
        let limited = so_far.plan.rounds.max_time_hard || round > 0 && wanted.rounds.is_none();
        if limited && began_s + longest_s.max(round_s) > until.of(round, wanted.asked) {
            break;
        }
        let mut seen = Vec::new();
        for place in order(so_far.plan.seed, round, alternatives.len()) {
            let alternative = alternatives[place];
            if so_far.interrupts.interrupted() {
                break 'rounds;
            }
            let left_s = f64::from(rounds - round) * longest_s.max(round_s);
            on(Event::Traced { round: round + 1, rounds, alternative, left_s });
            let facts = observing.facts[place].clone();
            let wanted = Wanted { alternative, copies: 1, number: round, facts, untraced_s: alone[place] };
            match observing.tracer.run(rig, so_far.interrupts, wanted)? {
                Ran::Done(run) => {
                    seen.push(Traced { alternative, round, report: run.report, own: run.own });
                }
                Ran::Stopped => break 'rounds,
                Ran::CannotRun(why) => {
                    explained.left_out.push(LeftOut::Rounds { why: RoundsLeftOut::CannotRun { why } });
                    break 'rounds;
                }
            }
        }
        // Rounds are compared within themselves: one that was cut short is none.
        explained.traced.append(&mut seen);
        longest_s = longest_s.max(so_far.now_s() - began_s);
        done = round + 1;
    }
    left_out(done, wanted, so_far, explained);
    Ok(())
}

/// How many rounds are aimed at.
fn how_many(wanted: &Explain, round_s: f64, left_s: f64) -> u32 {
    let affordable = (left_s / round_s.max(1e-3)) as u32;
    wanted.rounds.unwrap_or_else(|| affordable.clamp(USUAL, MOST))
}

/// The order of a round; the same seed and round give the same.
pub(super) fn order(seed: u64, round: u32, count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    // Another stream than those of the untraced rounds, whose numbers hold the load in their upper half.
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(u64::MAX - u64::from(round));
    order.shuffle(&mut rng);
    order
}

/// Median wall time of one untraced copy alone.
pub(super) fn alone_s(batches: &[Batch], alternative: usize) -> f64 {
    let alone = |batch: &&Batch| batch.load == 1 && batch.arm == Arm::Alternative(alternative);
    let walls: Vec<f64> =
        batches.iter().filter(alone).flat_map(|batch| batch.copies.wall_s.iter().copied()).collect();
    median(&walls).unwrap_or(0.0)
}

fn left_out(made: u32, wanted: &Explain, so_far: &SoFar<'_>, explained: &mut Why) {
    if !so_far.interrupts.interrupted() && made < wanted.rounds.unwrap_or(WITH_INTERVAL) {
        let hard = so_far.plan.rounds.max_time_hard;
        let why = RoundsLeftOut::NoTime { made, asked: wanted.rounds, hard };
        explained.left_out.push(LeftOut::Rounds { why });
    }
}

/// Why there is no explanation where no round could be made. It is to stand where the explanation would.
pub(super) fn none_made(explained: &Why) -> Option<Refusal> {
    let rounds = |it: &LeftOut| match it {
        LeftOut::Rounds { why } => Some(Refusal::NotObserved { why: why.clone() }),
        _ => None,
    };
    explained.left_out.iter().rev().find_map(rounds).filter(|_| explained.traced.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_rounds_as_time_allows_and_an_interval_needs() {
        let wanted = Explain::default();
        assert_eq!(how_many(&wanted, 0.1, 30.0), MOST);
        assert_eq!(how_many(&wanted, 3.0, 30.0), 10);
        assert_eq!(how_many(&wanted, 20.0, 30.0), USUAL);
        assert_eq!(how_many(&Explain { rounds: Some(3), ..wanted }, 0.1, 30.0), 3);
    }

    #[test]
    fn rounds_that_were_asked_for_go_before_experiments() {
        let until = Until { usual_s: 4.0, last_s: 5.0 };
        assert_eq!((until.of(0, true), until.of(WITH_INTERVAL, true), until.of(0, false)), (5.0, 4.0, 4.0));
    }

    #[test]
    fn no_round_is_no_explanation() {
        let mut explained = Why::default();
        assert_eq!(none_made(&explained), None);
        let why = RoundsLeftOut::NoTime { made: 0, asked: None, hard: false };
        explained.left_out.push(LeftOut::Rounds { why: why.clone() });
        assert_eq!(none_made(&explained), Some(Refusal::NotObserved { why }));
    }

    #[test]
    fn orders_are_permutations_that_change_and_repeat() {
        let all: Vec<Vec<usize>> = (0..40).map(|round| order(7, round, 3)).collect();
        for order in &all {
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, [0, 1, 2]);
        }
        assert!(all.iter().any(|order| *order != all[0]));
        assert_eq!(all[5], order(7, 5, 3));
    }
}
