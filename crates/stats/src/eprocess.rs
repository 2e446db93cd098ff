//! The rank e-process: an interval for a ratio that stays valid however often one looks and whenever one stops.
//!
//! A block is a number of runs in one random order. If the alternative takes m times as long as the baseline (on a log
//! scale: is shifted by m) and else behaves like it, its runs less m and those of the baseline are exchangeable within the
//! block: whatever the machine did meanwhile, every way to give the places to the two is equally likely. So the number U of
//! pairs of a run of either in which the alternative is the slower one has the distribution that Mann and Whitney
//! counted, and for any tilt t
//!
//!   exp(t (U - n m / 2)) / M(t),   M(t) = E exp(t (U - n m / 2)),
//!
//! is 1 on average. The product over the blocks is the capital of a gambler who bets on "slower than m says" (t > 0) or
//! "faster" (t < 0) and starts with 1. A fair game makes nobody rich: it ever reaches 2/alpha with probability at most
//! alpha/2 (Ville 1939). The m at which neither of the two gamblers got there form the interval. A gambler spreads the stake over the
//! six tilts, and half of it is on a complete separation (t without bound), which pays one over the probability of
//! the most extreme order: three runs against six, all slower, pay 84 to 1.
//!
//! Sources: Waudby-Smith and Ramdas, "Estimating means of bounded random variables by betting", 2024; Mann and Whitney 1947.

pub mod step;

use std::collections::HashMap;
use std::rc::Rc;

use super::{Observation, quantile, ranks};

/// What ran in one random order: logarithms of what was read of the alternative and of the baseline.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// Runs of the alternative.
    pub arm: Vec<Observation>,
    /// Runs of the baseline.
    pub base: Vec<Observation>,
}

/// Most runs of the alternative in a block: above it the counts of the orders would not be exact in floating point.
pub const MOST: usize = 12;

/// Tilts in standard deviations of U: each serves effects of about half its size to twice its size, seen from the noise.
const TILTS: [f64; 6] = [0.05, 0.1, 0.2, 0.4, 0.8, 1.6];

/// The part of the stake that is on a complete separation; the tilts share the rest equally.
const ON_SEPARATION: f64 = 0.5;

/// What a block of some size pays.
#[derive(Debug)]
struct Odds {
    /// U of a complete separation.
    most: usize,
    /// ln of one over its probability.
    separation: f64,
    /// By tilt: the tilt for one pair, and ln M.
    tilts: [(f64, f64); TILTS.len()],
}

impl Odds {
    fn of(n: usize, m: usize) -> Self {
        let counts = ranks::counts(n, m);
        let (most, total) = (n * m, counts.iter().sum::<f64>());
        let centre = most as f64 / 2.0;
        let spread = (most as f64 * (n + m + 1) as f64 / 12.0).sqrt();
        let ln_m = |tilt: f64| {
            let weighed = |(u, ways): (usize, &f64)| ways / total * (tilt * (u as f64 - centre)).exp();
            counts.iter().enumerate().map(weighed).sum::<f64>().ln()
        };
        Self { most, separation: total.ln(), tilts: TILTS.map(|tilt| (tilt / spread, ln_m(tilt / spread))) }
    }
}

/// The bets that one side lost or won so far: ln capital of each tilt, and of the separation.
#[derive(Clone, Copy, Debug)]
struct Bets {
    tilts: [f64; TILTS.len()],
    separation: f64,
}

impl Bets {
    /// ln of the whole capital, were all that was seen seen so many times.
    fn ln_capital(&self, times: f64) -> f64 {
        let part = ((1.0 - ON_SEPARATION) / TILTS.len() as f64).ln();
        let all = self.tilts.map(|tilt| part + times * tilt);
        let separation = ON_SEPARATION.ln() + times * self.separation;
        let most = all.into_iter().fold(separation, f64::max);
        let sum: f64 = all.into_iter().chain([separation]).map(|one| (one - most).exp()).sum();
        most + sum.ln()
    }
}

/// The gambler who bets that the alternative is slower than a candidate says.
#[derive(Debug)]
struct Gambler {
    /// Of each block: what it pays, and the differences of all pairs in rising order, each at least so large.
    blocks: Vec<(Rc<Odds>, Vec<f64>)>,
    /// The differences of all blocks in rising order.
    all: Vec<f64>,
}

impl Gambler {
    fn of(blocks: &[Block], difference: impl Fn(&Observation, &Observation) -> f64) -> Self {
        let mut known: HashMap<(usize, usize), Rc<Odds>> = HashMap::new();
        let of = |block: &Block| {
            let (n, m) = (block.arm.len(), block.base.len());
            let pairs = block.arm.iter().flat_map(|arm| block.base.iter().map(|base| difference(arm, base)));
            let odds = known.entry((n, m)).or_insert_with(|| Rc::new(Odds::of(n, m)));
            (Rc::clone(odds), quantile::sorted(pairs))
        };
        let blocks: Vec<_> =
            blocks.iter().filter(|block| !block.arm.is_empty() && !block.base.is_empty()).map(of).collect();
        let all = quantile::sorted(blocks.iter().flat_map(|(_, pairs)| pairs).copied());
        Self { blocks, all }
    }

    /// How the bets against a candidate stand. A difference that is the candidate itself speaks for slower only with `ties`.
    fn bets(&self, candidate: f64, ties: bool) -> Bets {
        let mut bets = Bets { tilts: [0.0; TILTS.len()], separation: 0.0 };
        for (odds, pairs) in &self.blocks {
            let below = pairs.partition_point(|pair| *pair < candidate || !ties && *pair == candidate);
            let slower = pairs.len() - below;
            let from_centre = slower as f64 - odds.most as f64 / 2.0;
            for (capital, (tilt, ln_m)) in bets.tilts.iter_mut().zip(&odds.tilts) {
                *capital += tilt * from_centre - ln_m;
            }
            bets.separation += if slower == odds.most { odds.separation } else { f64::NEG_INFINITY };
        }
        bets
    }

    /// The end of the interval: the largest difference such that every candidate below it is refused.
    fn end(&self, alpha: f64) -> Option<f64> {
        // Refused below the k-th difference: the fewer pairs are above a candidate, the less that side has won.
        let refuses = |k: usize| self.bets(self.all[k], true).ln_capital(1.0) >= needed(alpha);
        super::largest_fitting(self.all.len().checked_sub(1)?, refuses)
            .map(|k| self.all[k])
            .filter(|end| end.is_finite())
    }
}

/// ln of the capital at which a candidate is refused, one gambler of the two.
fn needed(alpha: f64) -> f64 {
    (2.0 / alpha).ln() - 1e-9
}

/// What the blocks so far say.
#[derive(Debug)]
pub struct Evidence {
    slower: Gambler,
    /// The same with the signs turned round.
    faster: Gambler,
}

impl Evidence {
    /// Of these blocks.
    pub fn of(blocks: &[Block]) -> Self {
        Self {
            slower: Gambler::of(blocks, |arm, base| arm.low - base.high),
            faster: Gambler::of(blocks, |arm, base| base.low - arm.high),
        }
    }

    /// The interval at error probability `alpha`, valid at any stopping time. An end that the blocks do not give is infinite; `None`
    /// without either.
    pub fn interval(&self, alpha: f64) -> Option<(f64, f64)> {
        let (low, high) = (self.slower.end(alpha), self.faster.end(alpha).map(|end| -end));
        low.or(high)?;
        Some((low.unwrap_or(f64::NEG_INFINITY), high.unwrap_or(f64::INFINITY)))
    }

    /// The least error probability at which there is an interval with both ends.
    pub fn least_alpha(&self) -> f64 {
        let most = |gambler: &Gambler| {
            let first = gambler.all.iter().find(|pair| pair.is_finite());
            first.map_or(0.0, |&first| gambler.bets(first, true).ln_capital(1.0))
        };
        2.0 * (-most(&self.slower).min(most(&self.faster))).exp()
    }

    /// Whether a candidate would be refused as too small (`slower`) or as too large, had all been seen so many times.
    pub fn refuses(&self, candidate: f64, slower: bool, times: f64, alpha: f64) -> bool {
        let bets = match slower {
            true => self.slower.bets(candidate, false),
            false => self.faster.bets(-candidate, false),
        };
        bets.ln_capital(times) >= needed(alpha)
    }
}

/// The ratio that fits best: the median difference over all pairs of the blocks (Hodges and Lehmann 1963).
pub fn estimate(blocks: &[Block]) -> Option<f64> {
    let pairs = blocks.iter().flat_map(|block| {
        block.arm.iter().flat_map(move |arm| block.base.iter().map(move |base| arm.value - base.value))
    });
    quantile::median(&pairs.collect::<Vec<_>>())
}

/// The least number of rounds in one block that gives an interval, where a round has one run of the alternative and `base` of the
/// baseline: 3 at 5% with two of them, and one more for about every tenth of `alpha`. More than [`MOST`] rounds take more
/// blocks.
pub fn min_rounds(alpha: f64, base: usize) -> usize {
    let fits = |rounds: usize| {
        let (blocks, rest) = (rounds / MOST, rounds % MOST);
        let ln_orders = |m: usize| ranks::ln_orders(m, m * base);
        blocks as f64 * ln_orders(MOST) + ln_orders(rest) + ON_SEPARATION.ln() >= needed(alpha)
    };
    (1..=40 * MOST).find(|&rounds| fits(rounds)).unwrap_or(40 * MOST)
}

/// The same where every block has one number of each.
pub fn min_blocks(alpha: f64, base: usize) -> usize {
    ((needed(alpha) - ON_SEPARATION.ln()) / ranks::ln_orders(1, base)).ceil() as usize
}

#[cfg(test)]
mod tests;
