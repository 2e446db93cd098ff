//! The ladder of loads, bisection, and where the answer flips. The step from verdicts per load to one statement about load.

use serde::{Deserialize, Serialize};

use crate::plan::{Loads, Mode, Plan};
use crate::verdict::{Ratio, Verdict};

/// Levels that bisection may add to the ladder in one measurement. It is fixed beforehand because the levels share the
/// error probability: five halvings narrow a gap of 100 to 1000 to about 7%, and between small loads, which are whole
/// numbers, it may take a sixth.
pub const MAX_BISECTIONS: usize = 6;

/// A gap between neighbours of at most this factor is narrow enough.
const NARROW: f64 = 1.1;

/// Where the answer flips between an alternative and the baseline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Crossover {
    /// The alternative.
    pub alternative: String,
    /// The baseline.
    pub baseline: String,
    /// Load at which the bounds of the two meet, if they do and their works can be told apart at the lowest level.
    pub predicted_load: Option<f64>,
    /// Lower end of its interval. It is made of two intervals at the confidence of the record each: of the ratio of the works, and of span over work. Null
    /// where one of them is missing.
    #[serde(default)]
    pub predicted_low: Option<f64>,
    /// Upper end.
    #[serde(default)]
    pub predicted_high: Option<f64>,
    /// Why there is no such load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_predicted: Option<NotPredicted>,
    /// Highest load at which the low-load winner was seen to win before the other did; null if no flip was seen.
    pub measured_from: Option<u32>,
    /// Lowest load at which the other was seen to win; null if no flip was seen.
    pub measured_to: Option<u32>,
    /// The verdicts by load, neighbours with the same verdict taken together.
    pub ranges: Vec<VerdictRange>,
}

impl Crossover {
    /// The load that is predicted, with its interval.
    pub fn predicted(&self) -> Option<Ratio> {
        let of = |load| Ratio { ratio: load, low: self.predicted_low, high: self.predicted_high };
        self.predicted_load.map(of)
    }

    /// Whether the winner of low loads still won at a measured load at which, by the prediction, the other one should have.
    pub fn is_refuted(&self) -> bool {
        let decided = |it: &&VerdictRange| matches!(it.verdict, Verdict::Faster | Verdict::Slower);
        let (first, last) = (self.ranges.iter().find(decided), self.ranges.iter().rfind(decided));
        let still = |load: f64| last.is_some_and(|it| f64::from(it.to) >= load);
        let flipped = self.measured_from.is_some() || self.measured_to.is_some();
        !flipped
            && first.map(|it| it.verdict) == last.map(|it| it.verdict)
            && self.predicted().is_some_and(|load| still(load.high.unwrap_or(load.ratio)))
    }
}

/// Why no crossover is predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum NotPredicted {
    /// One alternative has the lower bound at every load.
    BoundsDoNotCross,
    /// The works differ by less than their interval: a number made of noise is no prediction.
    WorksAlike,
    /// The ratio of the works has no interval.
    WorksUnknown,
    /// One of the two was not measured alone, so its span is not known.
    NoneAlone,
}

/// Loads over which one verdict held.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VerdictRange {
    /// Lowest load of the range.
    pub from: u32,
    /// Highest load of the range.
    pub to: u32,
    /// What held there, for the alternative against the baseline.
    pub verdict: Verdict,
}

/// The loads between which one winner gives way to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flip {
    /// Highest load at which the winner of low loads was seen to win before the other did.
    pub from: u32,
    /// Lowest load at which the other was seen to win.
    pub to: u32,
}

/// The loads of [`Loads::Auto`]: 1, C/2, C, 2C, 4C, 10, 100, 1000, each once, in rising order.
pub fn ladder(capacity: f64) -> Vec<u32> {
    let of = |factor: f64| ((capacity * factor).round() as u32).max(1);
    let mut loads = vec![1, of(0.5), of(1.0), of(2.0), of(4.0), 10, 100, 1000];
    loads.sort_unstable();
    loads.dedup();
    loads
}

/// Levels of [`Loads::Auto`] that get a sixth of the error each, counted from either end: one copy alone, which answers at once, and the two
/// highest, which take nearly all of the time.
const LOWEST: usize = 1;
const HIGHEST: usize = 2;

/// The part of a record's error probability that a level gets: the same for all that were asked for by name. Of `auto`, half of it goes in
/// equal parts to the lowest level and the two highest ones, the other half to all others that the plan may come to, also the levels of
/// later bisections.
///
/// The parts are fixed beforehand and sum to at most 1, so that the chance of any interval that misses is bounded (Bonferroni). Which parts take
/// the least time is simulated in `analysis/tests/shares.rs`.
pub fn error_share(plan: &Plan, capacity: f64, load: u32) -> f64 {
    match (plan.mode, &plan.loads) {
        (Mode::Open { .. }, _) => 1.0,
        (_, Loads::Fixed(loads)) => 1.0 / loads.len().max(1) as f64,
        (_, Loads::Auto) => {
            let ladder = ladder(capacity);
            let ends = LOWEST + HIGHEST;
            let is_end = ladder[..LOWEST].contains(&load) || ladder[ladder.len() - HIGHEST..].contains(&load);
            let sharing = if is_end { ends } else { ladder.len() + MAX_BISECTIONS - ends };
            0.5 / sharing as f64
        }
    }
}

/// The load to measure next in order to narrow down a flip, if there is a flip and it is not narrow yet.
///
/// `levels` are the measured loads with their verdicts, in any order. Where faster and slower face each other, possibly with
/// "same" or undecided loads between, the widest gap (in log N) between neighbours with different verdicts is halved at its
/// geometric middle. A gap is narrow when no whole load lies in it, or its ends are within 10% of each other.
pub fn bisect(levels: &[(u32, Verdict)]) -> Option<u32> {
    let levels = in_order(levels);
    let mut widest: Option<(f64, u32)> = None;
    for flip in flips(&levels) {
        let inside = levels.iter().filter(|l| flip.from <= l.0 && l.0 <= flip.to).collect::<Vec<_>>();
        for pair in inside.windows(2).filter(|pair| pair[0].1 != pair[1].1) {
            let (low, high) = (pair[0].0, pair[1].0);
            let factor = f64::from(high) / f64::from(low.max(1));
            if high - low <= 1 || factor <= NARROW || widest.is_some_and(|(most, _)| factor <= most) {
                continue;
            }
            let middle = (f64::from(low.max(1)) * f64::from(high)).sqrt().round() as u32;
            widest = Some((factor, middle.clamp(low + 1, high - 1)));
        }
    }
    widest.map(|(_, load)| load)
}

/// The first flip from low load to high, if any was seen. "Same" and undecided loads are no side of a flip.
pub fn flip(levels: &[(u32, Verdict)]) -> Option<Flip> {
    flips(&in_order(levels)).next()
}

/// How often the winner changes from low load to high.
pub fn flip_count(levels: &[(u32, Verdict)]) -> usize {
    flips(&in_order(levels)).count()
}

/// The verdicts by load, neighbours with the same verdict taken together. Only measured loads are joined: what lies between
/// two of them was not measured.
pub fn ranges(levels: &[(u32, Verdict)]) -> Vec<VerdictRange> {
    let mut ranges: Vec<VerdictRange> = Vec::new();
    for (load, verdict) in in_order(levels) {
        match ranges.last_mut() {
            Some(last) if last.verdict == verdict => last.to = load,
            _ => ranges.push(VerdictRange { from: load, to: load, verdict }),
        }
    }
    ranges
}

fn in_order(levels: &[(u32, Verdict)]) -> Vec<(u32, Verdict)> {
    let mut levels = levels.to_vec();
    levels.sort_by_key(|level| level.0);
    levels
}

/// Neighbouring wins of opposite sides, of levels in rising order.
fn flips(levels: &[(u32, Verdict)]) -> impl Iterator<Item = Flip> {
    let won: Vec<_> =
        levels.iter().copied().filter(|l| matches!(l.1, Verdict::Faster | Verdict::Slower)).collect();
    let opposite = won.windows(2).filter(|pair| pair[0].1 != pair[1].1);
    opposite.map(|pair| Flip { from: pair[0].0, to: pair[1].0 }).collect::<Vec<_>>().into_iter()
}

#[cfg(test)]
mod tests {

    use super::Verdict::{Faster, Same, Slower, Undecided};
    use super::*;

    #[test]
    fn a_prediction_is_refuted_by_a_load_at_which_it_did_not_come_true() {
        let of = |predicted: Option<(f64, f64)>, ranges: &[(u32, u32, Verdict)]| {
            Crossover {
                alternative: "b".to_owned(),
                baseline: "a".to_owned(),
                predicted_load: predicted.map(|it| it.0),
                predicted_low: None,
                predicted_high: predicted.map(|it| it.1),
                not_predicted: None,
                measured_from: None,
                measured_to: None,
                ranges: ranges
                    .iter()
                    .map(|&(from, to, verdict)| VerdictRange { from, to, verdict })
                    .collect(),
            }
            .is_refuted()
        };
        let about_8 = Some((8.0, 12.0));
        assert!(
            of(about_8, &[(1, 100, Faster)])
                && of(about_8, &[(1, 1, Faster), (4, 4, Undecided), (16, 16, Faster)])
        );
        assert!(!of(about_8, &[(1, 10, Faster)]) && !of(None, &[(1, 100, Faster)]) && !of(about_8, &[]));
        assert!(
            !of(about_8, &[(1, 4, Faster), (100, 100, Slower)])
                && !of(about_8, &[(1, 4, Faster), (100, 100, Same)])
        );
    }

    #[test]
    fn ladders_by_hand() {
        assert_eq!(ladder(1.0), [1, 2, 4, 10, 100, 1000]);
        assert_eq!(ladder(2.0), [1, 2, 4, 8, 10, 100, 1000]);
        assert_eq!(ladder(1.5), [1, 2, 3, 6, 10, 100, 1000]);
        assert_eq!(ladder(64.0), [1, 10, 32, 64, 100, 128, 256, 1000]);
    }

    #[test]
    fn bisection_takes_the_geometric_middle() {
        assert_eq!(bisect(&[(1, Faster), (100, Slower)]), Some(10));
        assert_eq!(bisect(&[(100, Slower), (1, Faster)]), Some(10));
        assert_eq!(bisect(&[(1, Faster), (10, Faster), (1000, Slower)]), Some(100));
    }

    #[test]
    fn bisection_ends() {
        assert_eq!(bisect(&[(3, Faster), (4, Slower)]), None);
        assert_eq!(bisect(&[(100, Faster), (110, Slower)]), None);
        assert_eq!(bisect(&[(100, Faster), (112, Slower)]), Some(106));
    }

    #[test]
    fn no_flip_no_bisection() {
        assert_eq!(bisect(&[]), None);
        assert_eq!(bisect(&[(1, Faster), (10, Undecided), (100, Same)]), None);
        assert_eq!(bisect(&[(1, Slower), (10, Slower)]), None);
    }

    #[test]
    fn what_lies_between_the_winners_is_narrowed_too() {
        // The gap 8 to 1000 is wider than 1 to 4.
        assert_eq!(bisect(&[(1, Faster), (4, Same), (8, Same), (1000, Slower)]), Some(89));
        assert_eq!(bisect(&[(1, Faster), (4, Undecided), (5, Slower)]), Some(2));
    }

    #[test]
    fn ranges_and_flip_by_hand() {
        let levels = [(1, Faster), (3, Faster), (4, Same), (7, Same), (8, Slower), (1000, Slower)];
        let range = |from, to, verdict| VerdictRange { from, to, verdict };
        assert_eq!(ranges(&levels), [range(1, 3, Faster), range(4, 7, Same), range(8, 1000, Slower)]);
        assert_eq!(flip(&levels), Some(Flip { from: 3, to: 8 }));
        assert_eq!(flip(&[(1, Faster), (2, Undecided), (4, Same)]), None);
        assert_eq!(flip_count(&[(1, Faster), (2, Slower), (4, Faster)]), 2);
    }

    /// Wherever the true crossover is, bisection from the ladder ends within the promised width.
    #[test]
    fn bisection_converges() {
        for (capacity, truth) in (1..64).flat_map(|capacity| (2..=1000).map(move |truth| (capacity, truth))) {
            let verdict = |load: u32| if load < truth { Faster } else { Slower };
            let mut levels: Vec<_> =
                ladder(f64::from(capacity)).into_iter().map(|load| (load, verdict(load))).collect();
            let planned = levels.len();
            while let Some(load) = bisect(&levels) {
                assert!(levels.iter().all(|level| level.0 != load));
                levels.push((load, verdict(load)));
                assert!(levels.len() - planned <= MAX_BISECTIONS, "{levels:?}");
            }
            let flip = flip(&levels).unwrap();
            assert!(flip.from < truth && truth <= flip.to);
            assert!(flip.to - flip.from == 1 || f64::from(flip.to) <= 1.1 * f64::from(flip.from));
        }
    }
}
