//! Intervals for a median that hold however often one looks: for rounds that end when their interval is narrow enough.
//!
//! One looks at set numbers of rounds, and each look has a part of the error probability that was fixed before anything was measured. So the chance that
//! any of the intervals misses is at most the sum of these parts, whatever one does after a look; and as all of them hold at once, what holds is
//! where they overlap. Looks at fewer than six rounds use Student's t, which assumes a normal distribution, the later ones
//! order statistics, which assume nothing. Each kind has half of the error, and the later looks leave out what the first ones said: where the assumption
//! fails, they err with no more than half of what is promised.

use super::{Observation, sign, student};

/// The first look.
pub const FIRST: usize = 3;

/// Looks with Student's t, and the part of the half of the error that each has. The first has half: most rounds end there.
const FEW: [(usize, f64); 3] = [(3, 0.5), (4, 0.25), (5, 0.25)];

/// The first looks with order statistics; then each has half as many rounds more as the one before: 15, 22, 33, and so on.
const MANY: [usize; 2] = [7, 11];

/// The first of these has two thirds of their half: 7 rounds need 31% of the whole error. Each of the others has two thirds of what is left.
const EACH: f64 = 2.0 / 3.0;

/// The looks up to so many rounds, in their order.
pub fn looks(rounds: usize) -> Vec<usize> {
    let mut looks: Vec<usize> = FEW.iter().map(|(at, _)| *at).chain(MANY).collect();
    while let [.., before, last] = looks[..]
        && last < rounds
    {
        looks.push(if before == MANY[0] { last + (last - before) } else { last + last / 2 });
    }
    looks.retain(|at| *at <= rounds);
    looks
}

/// The least number of rounds above this one at which one looks.
pub fn next(rounds: usize) -> usize {
    looks(2 * rounds + MANY[1]).into_iter().find(|at| *at > rounds).unwrap_or(rounds + 1)
}

/// How the interval of few or many rounds is made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Precision {
    /// Its error probability.
    pub alpha: f64,
    /// The number of rounds was fixed beforehand, and not by what they showed.
    pub fixed: bool,
}

impl Precision {
    /// Interval for the median of what these are rounds of, in their order; below six rounds for their mean. `None`: too few.
    pub fn interval(self, rounds: &[Observation]) -> Option<(f64, f64)> {
        match self.fixed {
            true if rounds.len() < sign::min_rounds(self.alpha) => student::mean_interval(rounds, self.alpha),
            true => sign::median_interval(rounds, self.alpha),
            false => interval(rounds, self.alpha),
        }
    }
}

/// Interval for the median of what these are rounds of, in their order, at error probability `alpha` over all looks. `None` before the
/// first look, or where `alpha` is too small for any look so far.
fn interval(rounds: &[Observation], alpha: f64) -> Option<(f64, f64)> {
    let half = alpha / 2.0;
    let (mut allowed, mut spent) = (0.0, 0.0);
    let (mut of_few, mut of_many) = (None, None);
    for at in looks(rounds.len()) {
        let seen = &rounds[..at];
        if let Some((_, part)) = FEW.iter().find(|few| few.0 == at) {
            of_few = both(of_few, student::mean_interval(seen, half * part));
            continue;
        }
        allowed += (half - allowed) * EACH;
        let skip = sign::skip(at, allowed - spent);
        spent += skip.map_or(0.0, |skip| sign::error(at, skip));
        of_many = both(of_many, skip.and_then(|skip| super::order_interval(seen, skip)));
    }
    of_many.or(of_few)
}

/// What holds where both do.
fn both(old: Option<(f64, f64)>, new: Option<(f64, f64)>) -> Option<(f64, f64)> {
    match (old, new) {
        (Some(old), Some(new)) => Some(common(old, new)),
        (old, new) => new.or(old),
    }
}

/// Where both hold. Of two that do not meet one is wrong: the one of more rounds stands.
fn common(old: (f64, f64), new: (f64, f64)) -> (f64, f64) {
    let (low, high) = (old.0.max(new.0), old.1.min(new.1));
    if low <= high { (low, high) } else { new }
}

#[cfg(test)]
mod tests {
    use crate::random::Random;
    use proptest::prelude::*;
    use rand::{RngExt, SeedableRng};

    use super::super::quantile;
    use super::*;

    fn interval(values: &[f64], alpha: f64) -> Option<(f64, f64)> {
        let rounds: Vec<Observation> = values.iter().map(|&value| value.into()).collect();
        Precision { alpha, fixed: false }.interval(&rounds)
    }

    #[test]
    fn looks_become_rarer() {
        assert!(looks(2).is_empty());
        assert_eq!(looks(35), [3, 4, 5, 7, 11, 15, 22, 33]);
        assert_eq!([0, 2, 3, 5, 7, 14, 15, 40].map(next), [3, 3, 4, 7, 11, 15, 22, 49]);
    }

    #[test]
    fn the_parts_of_the_error_are_no_more_than_the_whole() {
        for alpha in [0.05, 0.01, 0.2] {
            let few: f64 = FEW.iter().map(|(_, part)| part * alpha / 2.0).sum();
            let (mut allowed, mut spent) = (0.0, 0.0);
            for at in looks(2000).into_iter().filter(|at| *at > 5) {
                allowed += (alpha / 2.0 - allowed) * EACH;
                spent += sign::skip(at, allowed - spent).map_or(0.0, |skip| sign::error(at, skip));
            }
            assert!(few + spent <= alpha * (1.0 + 1e-12), "{alpha}: {few} + {spent}");
        }
    }

    #[test]
    fn steady_rounds_are_narrow_after_three_and_seven_need_no_assumption() {
        let (low, high) = interval(&[1.0, 1.01, 0.99], 0.05).unwrap();
        assert!((0.9..1.0).contains(&low) && (1.0..1.1).contains(&high), "{low} {high}");
        assert_eq!(interval(&[1.0, 1.01], 0.05), None);
        // One of the first three is far out: the later looks bring it back in.
        let far = [1.0, 50.0, 0.9, 1.1, 0.95, 1.05, 1.02];
        assert_eq!(interval(&far, 0.05), Some((0.9, 50.0)));
        let later = [&far[..], &[1.0, 1.01, 0.99, 1.03, 0.97, 1.0, 1.02, 0.98]].concat();
        let (low, high) = interval(&later, 0.05).unwrap();
        assert!(low >= 0.9 && high <= 1.1, "{low} {high}");
    }

    #[test]
    fn a_number_of_rounds_that_was_fixed_needs_no_looks() {
        let of = |fixed, values: &[f64]| {
            let rounds: Vec<Observation> = values.iter().map(|&value| value.into()).collect();
            Precision { alpha: 0.05, fixed }.interval(&rounds).map(|(low, high)| high - low)
        };
        let three = [1.0, 1.1, 0.9];
        let (fixed, open) = (of(true, &three).unwrap(), of(false, &three).unwrap());
        assert!(fixed < open, "three rounds that were to be three: {fixed} and {open}");
        assert_eq!((of(true, &three[..1]), of(false, &three[..2])), (None, None));
        assert_eq!(of(true, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), Some(5.0));
    }

    /// How often somebody who looks at every number of rounds and stops as soon as the interval is narrow has one that misses. The
    /// difference is 1, and the noise that of this machine.
    fn missed(noise: impl Fn(&mut Random) -> f64, narrow: f64) -> f64 {
        const TRIES: u32 = 1000;
        let mut rng = Random::seed_from_u64(7);
        let mut wrong = 0;
        for _ in 0..TRIES {
            let mut values = Vec::new();
            let found = loop {
                let more = next(values.len()) - values.len();
                values.extend((0..more).map(|_| 1.0 + noise(&mut rng)));
                if let Some((low, high)) = interval(&values, 0.05)
                    && ((high - low) / 2.0 <= narrow || values.len() >= 22)
                {
                    break (low, high);
                }
            };
            wrong += u32::from(!(found.0..=found.1).contains(&1.0));
        }
        f64::from(wrong) / f64::from(TRIES)
    }

    fn normal(rng: &mut Random) -> f64 {
        let (u, v) = (1.0 - rng.random::<f64>(), rng.random::<f64>());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }

    #[test]
    fn who_stops_when_it_is_narrow_is_wrong_no_more_often_than_promised() {
        for narrow in [0.05, 0.25, 1.0] {
            for width in [0.03, 0.1, 0.3] {
                let of_normal = missed(|rng| width * normal(rng), narrow);
                // Both sides are log-normal with heavy tails, and the differences of the two are symmetric.
                let tail = |rng: &mut Random| (normal(rng) * 1.5).exp();
                let of_tails = missed(|rng| width * (tail(rng) - tail(rng)), narrow);
                assert!(of_normal <= 0.05 && of_tails <= 0.05, "{narrow} {width}: {of_normal} {of_tails}");
            }
        }
    }

    /// The worst that is known: every run has one of two speeds, and nothing else differs. Three rounds may all meet the same ones.
    #[test]
    fn on_a_machine_with_two_speeds_three_rounds_may_mislead_and_seven_do_not() {
        let speeds = |rng: &mut Random| {
            let one = |rng: &mut Random| if rng.random::<bool>() { 0.3 } else { 0.0 };
            let jitter = 0.01 * normal(rng);
            one(rng) - one(rng) + jitter
        };
        let early = missed(speeds, 0.25);
        assert!((0.02..0.10).contains(&early), "{early}");
        let late = missed(speeds, 0.0);
        assert!(late <= 0.025, "{late}");
    }

    proptest! {
        #[test]
        fn more_rounds_never_widen_it_unless_they_refute_it(values in prop::collection::vec(-5.0..5.0f64, 3..40)) {
            let mut before = f64::INFINITY;
            for at in looks(values.len()).into_iter().filter(|at| *at > 5) {
                let Some((low, high)) = interval(&values[..at], 0.05) else { continue };
                prop_assert!(low <= high);
                let all = quantile::sorted(values[..at].iter().copied());
                if high - low > before {
                    prop_assert!(low >= all[0] && high <= all[at - 1]);
                }
                before = high - low;
            }
        }
    }
}
