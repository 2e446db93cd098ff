//! Rounds of runs that are not timed for a verdict: observed runs, and experiments. Each round is compared within itself.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use whyfaster_words::exit::Failure;

use super::rig::Ran;

/// The order of a round: random, and the same for the same seed and number.
pub(crate) fn order(seed: u64, round: u32, count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    // The timed rounds have other streams: their numbers hold the load in the upper half.
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(u64::MAX - u64::from(round));
    order.shuffle(&mut rng);
    order
}

/// Makes the runs of one round, in this order. A round has all of its runs or is none.
pub(crate) fn whole_round<K, T>(
    order: impl IntoIterator<Item = K>,
    mut run: impl FnMut(K) -> Result<Ran<T>, Failure>,
) -> Result<Ran<Vec<T>>, Failure> {
    let mut round = Vec::new();
    for it in order {
        match run(it)? {
            Ran::Done(done) => round.push(done),
            Ran::CannotRun(why) => return Ok(Ran::CannotRun(why)),
            Ran::Stopped => return Ok(Ran::Stopped),
        }
    }
    Ok(Ran::Done(round))
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
