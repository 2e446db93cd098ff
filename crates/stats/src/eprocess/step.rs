//! How far one ratio is from another that was measured before it, say of the same two commands at a higher load.
//!
//! If the first ratio is m and the second one m + d (logarithms), a gambler who bets against "m" on the blocks of the first, and then
//! with all that is left against "m + d" on those of the second, plays a fair game throughout. So does one who keeps half of the money
//! out of the first game, and one who stops at 2/alpha. Nobody knows m: d is refused if this game refuses it together with
//! every m. Two intervals that do not touch refuse every m by one of the two games alone; here both together may, so that noise of the
//! two adds as of independent numbers.

use super::{Evidence, Gambler, needed};

/// The interval of `to` less `from` at error probability `alpha`, where `from` was over before `to` began. An end that the
/// blocks do not give is infinite; `None` without either.
pub fn interval(from: &Evidence, to: &Evidence, alpha: f64) -> Option<(f64, f64)> {
    let low = low_end(&from.faster, &to.slower, alpha);
    let high = low_end(&from.slower, &to.faster, alpha).map(|end| -end);
    low.or(high)?;
    Some((low.unwrap_or(f64::NEG_INFINITY), high.unwrap_or(f64::INFINITY)))
}

/// What a gambler has by candidate: a step after each difference.
struct Capital<'a> {
    /// The differences in rising order.
    at: &'a [f64],
    /// ln of the capital against candidates below each of them, and above all. It only falls.
    ln: Vec<f64>,
}

impl<'a> Capital<'a> {
    fn of(gambler: &'a Gambler) -> Self {
        let below = gambler.all.iter().map(|&difference| gambler.bets(difference, true).ln_capital(1.0));
        let above = gambler.bets(f64::INFINITY, false).ln_capital(1.0);
        Self { at: &gambler.all, ln: below.chain([above]).collect() }
    }

    /// Against a candidate. A difference that is the candidate itself does not speak against it.
    fn against(&self, candidate: f64) -> f64 {
        self.ln[self.at.partition_point(|&difference| difference <= candidate)]
    }
}

/// The largest d such that every smaller one is refused. `from` bets that the first number is less than a candidate, so its
/// differences have their signs turned round; `to` bets that the second one is more.
fn low_end(from: &Gambler, to: &Gambler, alpha: f64) -> Option<f64> {
    let (first, second) = (Capital::of(from), Capital::of(to));
    let enough = needed(alpha);
    // First numbers between two neighbouring differences of `from` fare alike there, and worst at the upper one with `to`.
    let refuses = |d: f64| {
        first.ln.iter().enumerate().all(|(k, &ln)| {
            let half = halved(ln);
            let worst = if k == 0 { f64::INFINITY } else { d - first.at[k - 1] };
            half >= enough || half + second.against(worst) >= enough
        })
    };
    let finite = |it: &Capital<'_>| {
        let of = |mut all: Box<dyn Iterator<Item = &f64> + '_>| all.find(|it| it.is_finite()).copied();
        Some((of(Box::new(it.at.iter()))?, of(Box::new(it.at.iter().rev()))?))
    };
    let ((a, b), (c, d)) = (finite(&first)?, finite(&second)?);
    let (mut refused, mut open) = (a + c - 1.0, b + d + 1.0);
    if !refuses(refused) {
        return None;
    }
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(refused, open);
        if refuses(middle) { refused = middle } else { open = middle }
    }
    Some(refused)
}

/// Enough for twelve digits.
const HALVINGS: u32 = 44;

/// ln of the capital of who bets half of the money.
fn halved(ln_capital: f64) -> f64 {
    ((1.0 + ln_capital.exp()) / 2.0).ln().max(ln_capital - std::f64::consts::LN_2)
}

#[cfg(test)]
mod tests {
    use crate::random::Random;
    use proptest::prelude::*;
    use rand::seq::SliceRandom;
    use rand::{RngExt, SeedableRng};

    use super::super::{Block, Observation, estimate};
    use super::*;
    use crate::sign;

    const ALPHA: f64 = 0.05;

    fn block(arm: &[f64], base: &[f64]) -> Block {
        let side = |values: &[f64]| values.iter().map(|&x| x.into()).collect();
        Block { arm: side(arm), base: side(base) }
    }

    /// Blocks of a command that takes `shift` (a logarithm) longer, on a machine of two speeds with runs that are late at times.
    fn blocks(number: usize, shift: f64, noise: f64, rng: &mut Random) -> Vec<Block> {
        let mut slow = false;
        let of = |number: usize| {
            let mut order = [true, false, false].repeat(if number == 0 { 4 } else { 2 });
            order.shuffle(rng);
            let mut block = Block::default();
            for arm in order {
                slow ^= rng.random_bool(0.3);
                let late = -(1.0 - rng.random_range(0.0..1.0f64)).ln();
                let time = noise * (late + if slow { 2.0 } else { 0.0 });
                if arm { block.arm.push((time + shift).into()) } else { block.base.push(time.into()) }
            }
            block
        };
        (0..number).map(of).collect()
    }

    fn found(from: &[Block], to: &[Block], alpha: f64) -> Option<(f64, f64)> {
        interval(&Evidence::of(from), &Evidence::of(to), alpha)
    }

    #[test]
    fn a_clear_step_is_found_by_as_many_rounds_as_two_intervals_take() {
        let base = [0.0, 0.01, 0.02, 0.03, 0.0, 0.01, 0.02, 0.03];
        let at = |shift: f64| block(&[0.0, 0.01, 0.02, 0.03].map(|x| x + shift), &base);
        let (low, high) = found(&[at(0.2)], &[at(0.5)], ALPHA).unwrap();
        assert!(0.2 < low && low < 0.3 && 0.3 < high && high < 0.4, "{low} to {high}");
        // One round less has no interval here, and at 5% none of its own either.
        assert_eq!(found(&[block(&[0.2; 3], &[0.0; 6])], &[block(&[0.5; 3], &[0.0; 6])], ALPHA), None);
        assert_eq!(found(&[], &[at(0.5)], ALPHA), None);
    }

    #[test]
    fn time_outs_leave_an_end_open() {
        let late = Block { arm: vec![Observation::at_least(2.0); 6], base: vec![0.0.into(); 12] };
        let (low, high) = found(&[block(&[0.5; 6], &[0.0; 12])], &[late], ALPHA).unwrap();
        assert!((low - 1.5).abs() < 1e-9 && high == f64::INFINITY, "{low} to {high}");
    }

    /// Who looks after every block of the second and stops at an interval without the truth is right as rarely as promised.
    #[test]
    fn the_truth_is_missed_as_rarely_as_promised_whenever_one_looks() {
        let mut rng = Random::seed_from_u64(3);
        let trials = 400;
        let missed = (0..trials).filter(|_| {
            let number = rng.random_range(1..5);
            let from = Evidence::of(&blocks(number, 0.2, 0.05, &mut rng));
            let to = blocks(8, 0.3, 0.05, &mut rng);
            (1..=to.len()).any(|seen| {
                let found = interval(&from, &Evidence::of(&to[..seen]), ALPHA);
                found.is_some_and(|(low, high)| low > 0.1 || high < 0.1)
            })
        });
        let missed = missed.count();
        assert!(missed as f64 / f64::from(trials) <= ALPHA, "{missed} of {trials}");
    }

    /// The same step, with intervals that overlap as often as not.
    #[test]
    fn it_decides_more_than_two_intervals_that_must_not_touch() {
        let mut rng = Random::seed_from_u64(5);
        let (mut together, mut apart) = (0, 0);
        for _ in 0..100 {
            let (from, to) = (blocks(4, 0.0, 0.05, &mut rng), blocks(4, 0.2, 0.05, &mut rng));
            together += u32::from(found(&from, &to, ALPHA).is_some_and(|(low, _)| low > 0.0));
            let of = |blocks: &[Block]| Evidence::of(blocks).interval(ALPHA / 2.0);
            apart += u32::from(of(&from).zip(of(&to)).is_some_and(|(from, to)| from.1 < to.0));
        }
        assert!(together >= apart + 15, "{together} against {apart} of 100");
    }

    /// Both loads in one round would pair their ratios: one difference a round, and only its sign is sure.
    #[test]
    fn it_decides_as_much_as_pairs_of_both_loads_in_one_round_and_sooner() {
        let mut rng = Random::seed_from_u64(11);
        let by_pairs = |from: &[Block], to: &[Block]| {
            let of = |block: &Block| estimate(std::slice::from_ref(block)).unwrap();
            let above = from.iter().zip(to).filter(|(from, to)| of(to) > of(from)).count();
            // The number of rounds is fixed beforehand, which takes fewer than looking after each.
            above > from.len() / 2 && sign::p_value(from.len() - above, above) <= ALPHA
        };
        for (number, least) in [(4, 30), (8, 0)] {
            let (mut together, mut pairs) = (0, 0);
            for _ in 0..100 {
                let (from, to) = (blocks(number, 0.0, 0.05, &mut rng), blocks(number, 0.2, 0.05, &mut rng));
                together += u32::from(found(&from, &to, ALPHA).is_some_and(|(low, _)| low > 0.0));
                pairs += u32::from(by_pairs(&from, &to));
            }
            assert!(together >= pairs + least, "{number} blocks: {together} against {pairs} of 100");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn both_ends_move_with_the_data_and_mirror(seed: u64, by in -1.0..1.0f64) {
            let mut rng = Random::seed_from_u64(seed);
            let (from, to) = (blocks(3, 0.0, 0.1, &mut rng), blocks(3, 0.3, 0.1, &mut rng));
            let moved = |blocks: &[Block], by: f64, sign: f64| -> Vec<Block> {
                let each = |side: &[Observation], by: f64| side.iter().map(|it| (sign * it.value + by).into()).collect();
                blocks.iter().map(|it| Block { arm: each(&it.arm, by), base: each(&it.base, 0.0) }).collect()
            };
            let (low, high) = found(&from, &to, ALPHA).unwrap();
            prop_assert!(low <= high);
            let (low_moved, high_moved) = found(&from, &moved(&to, by, 1.0), ALPHA).unwrap();
            prop_assert!((low_moved - low - by).abs() < 1e-9 && (high_moved - high - by).abs() < 1e-9);
            let (low_back, high_back) = found(&moved(&from, 0.0, -1.0), &moved(&to, 0.0, -1.0), ALPHA).unwrap();
            prop_assert!((low_back + high).abs() < 1e-9 && (high_back + low).abs() < 1e-9);
            // A larger error narrows it.
            let (low_narrow, high_narrow) = found(&from, &to, 0.2).unwrap();
            prop_assert!(low <= low_narrow && high_narrow <= high);
        }
    }
}
