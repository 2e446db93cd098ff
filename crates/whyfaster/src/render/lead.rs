//! A comparison told from the winner's side.

use whyfaster_core::analysis::Comparison;
use whyfaster_core::verdict::Verdict;

use super::units::factor;

/// A decided comparison, told from the winner's side: the factor is above 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lead<'a> {
    /// Who was faster.
    pub(super) winner: &'a str,
    /// Who was slower.
    pub(super) loser: &'a str,
    factor: f64,
    low: Option<f64>,
    high: Option<f64>,
}

impl<'a> Lead<'a> {
    /// The winner of a comparison, if there is one.
    pub(super) fn of(comparison: &'a Comparison) -> Option<Self> {
        let c = comparison;
        match c.verdict {
            Verdict::Faster => Some(Self {
                winner: &c.alternative,
                loser: &c.baseline,
                factor: c.ratio.recip(),
                low: c.high.map(f64::recip),
                high: c.low.map(f64::recip),
            }),
            Verdict::Slower => Some(Self {
                winner: &c.baseline,
                loser: &c.alternative,
                factor: c.ratio,
                low: c.low,
                high: c.high,
            }),
            Verdict::Same | Verdict::Undecided => None,
        }
    }

    /// "1.60x"; where time-outs leave the upper end open, "at least 1.52x".
    pub(super) fn factor(&self) -> String {
        match (self.low, self.high) {
            (Some(low), None) => format!("at least {}", factor(low)),
            _ => factor(self.factor),
        }
    }

    /// " (1.52x to 1.66x)", or nothing where an end is open.
    pub(super) fn interval(&self) -> String {
        match (self.low, self.high) {
            (Some(low), Some(high)) => format!(" ({} to {})", factor(low), factor(high)),
            _ => String::new(),
        }
    }
}
