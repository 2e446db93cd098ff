//! What a decided difference in time comes from: less work, or more of the machine.
//!
//! At full load, time is work over share (ln time = ln work - ln share), so a copy ends earlier when it needs less CPU time or
//! when it gets more of the CPUs. Only intervals that exclude 1 count: one that contains 1 shows neither a difference nor that
//! there is none. Where a time-out cut the work short its upper end is open, and the share of the rest is not known.

use serde::{Deserialize, Serialize};

use crate::verdict::{Ratio, Verdict};

/// Part of a difference from which on one reason is enough.
const MOSTLY: f64 = 0.5;

/// What a verdict of faster or slower comes from, told of the one that wins.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Reason {
    /// It needs less CPU time.
    Work {
        /// Part of the difference that the work explains, where that is less than half: the rest is waiting, which differs too
        /// much between rounds to tell by the share.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        part: Option<f64>,
    },
    /// It uses more of the machine.
    Share,
    /// It needs less CPU time, and uses more of the machine.
    WorkAndShare,
    /// It uses more of the machine, and needs more CPU time.
    ShareDespiteWork,
}

impl Reason {
    /// The reason for this verdict on a ratio of times, by the ratios of work and share; `None` where the intervals do not tell.
    pub fn of(verdict: Verdict, time: f64, work: Option<Ratio>, share: Option<Ratio>) -> Option<Self> {
        // Everything as the winner against the loser, so that "less" and "more" mean the same for both verdicts.
        let of_winner = |ratio: Option<Ratio>| match verdict {
            Verdict::Faster => ratio,
            _ => ratio.map(Ratio::inverse),
        };
        if !matches!(verdict, Verdict::Faster | Verdict::Slower) {
            return None;
        }
        let (won_work, won_share) = (of_winner(work), of_winner(share));
        let less = |ratio: Option<Ratio>| ratio.is_some_and(Ratio::is_below_one);
        let more = |ratio: Option<Ratio>| ratio.is_some_and(Ratio::is_above_one);
        let known = work.is_some_and(|work| work.low.is_some() && work.high.is_some());
        match (less(won_work), more(won_share)) {
            (true, true) if known || verdict == Verdict::Faster => Some(Self::WorkAndShare),
            (true, _) => Some(Self::Work { part: partly(time, work, share) }),
            (false, true) if more(won_work) => Some(Self::ShareDespiteWork),
            (false, true) if known => Some(Self::Share),
            (false, _) => None,
        }
    }
}

/// Part of the difference in time that the work explains.
pub fn explained(time: f64, work: Ratio) -> f64 {
    work.ratio.ln() / time.ln()
}

/// Whether a part is not enough to be the reason.
pub fn is_minor(part: f64) -> bool {
    part < MOSTLY
}

fn partly(time: f64, work: Option<Ratio>, share: Option<Ratio>) -> Option<f64> {
    let part = explained(time, work?);
    let told = share.is_some_and(Ratio::excludes_one);
    (!told && part.is_finite() && is_minor(part)).then_some(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(ratio: f64, low: f64, high: f64) -> Option<Ratio> {
        Some(Ratio { ratio, low: Some(low), high: Some(high) })
    }

    fn faster(work: Option<Ratio>, share: Option<Ratio>) -> Option<Reason> {
        Reason::of(Verdict::Faster, 0.5, work, share)
    }

    #[test]
    fn only_intervals_without_one_are_a_reason() {
        let (less, alike, more) = (ratio(0.5, 0.4, 0.6), ratio(1.0, 0.9, 1.1), ratio(2.0, 1.9, 2.1));
        assert_eq!(faster(less, alike), Some(Reason::Work { part: None }));
        assert_eq!(faster(less, more), Some(Reason::WorkAndShare));
        assert_eq!(faster(alike, more), Some(Reason::Share));
        assert_eq!(faster(more, more), Some(Reason::ShareDespiteWork));
        assert_eq!(faster(alike, alike), None);
        assert_eq!(faster(None, more), None, "what is not known is no equal work");
        assert_eq!(Reason::of(Verdict::Same, 1.0, less, more), None);
    }

    #[test]
    fn the_loser_is_judged_by_the_same_rule() {
        let slower = |work, share| Reason::of(Verdict::Slower, 2.0, work, share);
        let (less, alike, more) = (ratio(0.5, 0.4, 0.6), ratio(1.0, 0.9, 1.1), ratio(2.0, 1.9, 2.1));
        assert_eq!(slower(more, alike), Some(Reason::Work { part: None }));
        assert_eq!(slower(more, less), Some(Reason::WorkAndShare));
        assert_eq!(slower(alike, less), Some(Reason::Share));
        assert_eq!(slower(less, less), Some(Reason::ShareDespiteWork));
        // A time-out leaves the work open above: it is more, and the share says nothing.
        let open = Some(Ratio { ratio: 2.0, low: Some(1.9), high: None });
        assert_eq!(slower(open, less), Some(Reason::Work { part: None }));
    }

    #[test]
    fn work_that_is_the_lesser_part_says_so() {
        let alike = ratio(1.3, 0.9, 1.5);
        let Some(Reason::Work { part: Some(part) }) = faster(ratio(0.9, 0.85, 0.95), alike) else {
            panic!("work is the reason, in part");
        };
        assert!((part - 0.9_f64.ln() / 0.5_f64.ln()).abs() < 1e-12);
        // Where the share tells the rest, it is said of the share.
        assert_eq!(faster(ratio(0.9, 0.85, 0.95), ratio(1.8, 1.7, 1.9)), Some(Reason::WorkAndShare));
    }
}
