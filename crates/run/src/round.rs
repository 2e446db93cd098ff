//! The loop over rounds. Each round is compared within itself.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use whyfaster_stats::random::Random;
use whyfaster_words::exit::Failure;

use super::machine::Machine;
use super::rig::Ran;

/// The order of an observed round, and of a round of an experiment: random, and the same for the same seed and number.
pub(crate) fn order(seed: u64, round: u32, count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    // The timed rounds have other streams: their numbers hold the load in the upper half.
    let mut rng = Random::seed_from_u64(seed);
    rng.set_stream(u64::MAX - u64::from(round));
    order.shuffle(&mut rng);
    order
}

/// Rounds of one kind: timed rounds, duets, observed rounds, or those of an experiment.
pub(crate) trait Series {
    /// A run that is to be made.
    type Run;
    /// The result of a run.
    type Made;

    /// The runs of the next round, in their order. `None`: there is no further round.
    fn next(&mut self) -> Result<Option<Vec<Self::Run>>, Failure>;

    /// Makes a run.
    fn run(&mut self, run: Self::Run) -> Result<Ran<Self::Made>, Failure>;

    /// Takes the results of a round. A round has all of its runs or is none.
    fn keep(&mut self, round: Vec<Self::Made>);
}

/// Makes the rounds of a series, until there is no further round, a run cannot be made, or an interrupt comes.
pub(crate) fn make(machine: &dyn Machine, series: &mut impl Series) -> Result<Ran<()>, Failure> {
    while !machine.interrupted() {
        let Some(runs) = series.next()? else { return Ok(Ran::Done(())) };
        let mut round = Vec::with_capacity(runs.len());
        for run in runs {
            if machine.interrupted() {
                return Ok(Ran::Stopped);
            }
            match series.run(run)? {
                Ran::Done(made) => round.push(made),
                Ran::CannotRun(why) => return Ok(Ran::CannotRun(why)),
                Ran::Stopped => return Ok(Ran::Stopped),
            }
        }
        series.keep(round);
    }
    Ok(Ran::Stopped)
}

#[cfg(test)]
mod tests {
    use super::*;

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
