//! One difference as it is shown, and the words and columns that its sections share.

use whyfaster_core::why::Why;
use whyfaster_core::why::report::Difference;
use whyfaster_stats::Estimate;
use whyfaster_words::clean::clean;
use whyfaster_words::grid::{ABSENT, Column, Grid};
use whyfaster_words::look::Look;
use whyfaster_words::text::{for_look, shorten};
use whyfaster_words::units::{Scale, percent};

use super::super::names::Names;
use super::super::section::section;
use super::super::table::interval;

/// One difference, told from the side of the slower one.
pub(in super::super) struct Shown<'a> {
    pub(in super::super) why: &'a Why,
    pub(in super::super) difference: &'a Difference,
    pub(in super::super) names: &'a Names,
    pub(in super::super) look: &'a Look,
}

impl<'a> Shown<'a> {
    /// The slower one and the faster one.
    pub(in super::super) fn sides(&self) -> (&'a str, &'a str) {
        let (alternative, baseline) = (&self.difference.alternative, &self.difference.baseline);
        if self.turned() { (baseline, alternative) } else { (alternative, baseline) }
    }

    /// Whether the baseline is the slower one.
    pub(super) fn turned(&self) -> bool {
        self.difference.span_s.median < 0.0
    }

    /// A difference of alternative less baseline, told as slower less faster.
    pub(super) fn told(&self, estimate: Estimate) -> Estimate {
        if !self.turned() {
            return estimate;
        }
        let (low, high) = (estimate.high.map(|it| -it), estimate.low.map(|it| -it));
        Estimate { median: -estimate.median, low, high }
    }

    /// The whole difference.
    pub(in super::super) fn whole(&self) -> Estimate {
        self.told(self.difference.span_s)
    }

    /// The unit in which these times are shown.
    pub(super) fn scale(&self, times: impl IntoIterator<Item = f64>) -> Scale {
        Scale::choose([times.into_iter().map(f64::abs).fold(0.0, f64::max)], self.look.time_unit)
    }

    pub(super) fn section(&self, title: &str, grid: Grid) -> Vec<String> {
        section(title, grid, 0, self.look)
    }
}

/// A text with names in it, safe for a terminal.
pub(in super::super) fn shown(text: &str, look: &Look) -> String {
    for_look(&clean(text), look)
}

/// Columns that the first number takes beside a label.
const NUMBER: usize = 18;

/// A column of labels that leaves room for a number.
pub(super) fn labels(header: &str, labels: impl IntoIterator<Item = String>, look: &Look) -> Column {
    let room = look.width.saturating_sub(NUMBER);
    let label = |text: String| shorten(&for_look(&text, look), room, look.unicode);
    Column::new(header, labels.into_iter().map(label).collect())
}

/// A signed time: a difference says which way.
pub(super) fn signed(scale: Scale, seconds: f64) -> String {
    let text = scale.number(seconds);
    if seconds > 0.0 { format!("+{text}") } else { text }
}

pub(super) fn ends(scale: Scale, estimate: &Estimate) -> String {
    interval(estimate.low, estimate.high, |value| signed(scale, value))
}

/// A part of the whole difference.
pub(super) fn share(part: f64, whole: f64) -> String {
    if whole == 0.0 { ABSENT.to_owned() } else { percent(part / whole) }
}
