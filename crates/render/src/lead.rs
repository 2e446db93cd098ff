//! A comparison told from the winner's side.

use whyfaster_core::analysis::Comparison;
use whyfaster_core::verdict::{Ratio, Verdict};
use whyfaster_words::units::{factor, range, times};

/// A decided comparison, told from the winner's side: the factor is above 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lead<'a> {
    /// Who was faster.
    pub(super) winner: &'a str,
    /// Who was slower.
    pub(super) loser: &'a str,
    /// How many times as long the slower one takes.
    time: Ratio,
}

impl<'a> Lead<'a> {
    /// The winner of a comparison, if there is one.
    pub(super) fn of(comparison: &'a Comparison) -> Option<Self> {
        let c = comparison;
        match c.verdict {
            Verdict::Faster => {
                Some(Self { winner: &c.alternative, loser: &c.baseline, time: c.time().inverse() })
            }
            Verdict::Slower => Some(Self { winner: &c.baseline, loser: &c.alternative, time: c.time() }),
            Verdict::Same | Verdict::Undecided => None,
        }
    }

    /// "1.60x"; where time-outs leave the upper end open, "at least 1.52x".
    pub(super) fn factor(&self) -> String {
        match (self.time.low, self.time.high) {
            (Some(low), None) => format!("at least {}", factor(low)),
            _ => times(self.time),
        }
    }

    /// " (1.52x to 1.66x)", or nothing where an end is open.
    pub(super) fn interval(&self) -> String {
        range(self.time)
    }
}
