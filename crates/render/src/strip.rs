//! One row of a picture beside its numbers: where values lie on a scale that all rows share.

use whyfaster_words::look::Look;

/// The groups of columns that draw what numbers beside them say: nothing is missing without them.
pub(super) const DRAWN: [&str; 2] = ["time, drawn", "time, log scale"];

/// Columns of a strip.
const COLUMNS: usize = 16;
/// Values outside of this come from no clock; a record from elsewhere may hold anything.
const PLAUSIBLE: std::ops::RangeInclusive<f64> = 1e-12..=1e12;

/// The scale of a picture.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    low: f64,
    high: f64,
}

impl Scale {
    /// A logarithmic scale over these values; none where they are all the same.
    pub(super) fn over(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let known = values.into_iter().filter(|value| PLAUSIBLE.contains(value));
        let (low, high) =
            known.fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
        (low < high).then_some(Self { low, high })
    }

    fn cell(self, value: f64) -> usize {
        let place = ((value / self.low).ln() / (self.high / self.low).ln()).clamp(0.0, 1.0);
        // Between 0 and a small number.
        (place * (COLUMNS - 1) as f64).round() as usize
    }
}

/// A line from the lowest to the highest of these values, with a mark where each of the marked ones is. `*`: several in one place.
pub(super) fn strip(
    scale: Scale,
    ends: impl IntoIterator<Item = f64>,
    marks: &[(char, f64)],
    look: &Look,
) -> String {
    over_band(scale, None, ends, marks, look)
}

/// What a band of a picture is drawn with.
pub(super) fn shade(look: &Look) -> char {
    if look.unicode { '░' } else { ':' }
}

/// The same over a band that all rows share.
pub(super) fn over_band(
    scale: Scale,
    band: Option<(f64, f64)>,
    ends: impl IntoIterator<Item = f64>,
    marks: &[(char, f64)],
    look: &Look,
) -> String {
    let mut cells = [' '; COLUMNS];
    let plausible =
        |(low, high): &(f64, f64)| PLAUSIBLE.contains(low) && PLAUSIBLE.contains(high) && low <= high;
    if let Some((low, high)) = band.filter(plausible) {
        cells[scale.cell(low)..=scale.cell(high)].fill(shade(look));
    }
    let marked = || marks.iter().filter(|(_, value)| PLAUSIBLE.contains(value));
    let known = ends.into_iter().filter(|value| PLAUSIBLE.contains(value));
    let all: Vec<usize> =
        known.chain(marked().map(|(_, value)| *value)).map(|value| scale.cell(value)).collect();
    if let (Some(first), Some(last)) = (all.iter().min(), all.iter().max()) {
        cells[*first..=*last].fill(if look.unicode { '─' } else { '-' });
    }
    let line = if look.unicode { '─' } else { '-' };
    for (mark, value) in marked() {
        let cell = &mut cells[scale.cell(*value)];
        *cell = if *cell == line { *mark } else { '*' };
    }
    cells.iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::look;

    #[test]
    fn values_lie_where_they_belong() {
        let scale = Scale::over([1.0, 100.0]).unwrap();
        let drawn = strip(scale, [], &[('A', 1.0), ('B', 100.0)], &look(80, false));
        assert_eq!(drawn, "A--------------B");
        assert_eq!(strip(scale, [9.0, 11.0], &[('o', 10.0)], &look(80, true)).trim(), "─o");
        let band = over_band(scale, Some((5.0, 20.0)), [], &[('o', 10.0)], &look(80, false));
        assert_eq!(band.trim_end(), "     :::o::");
        let none = over_band(scale, Some((f64::NAN, 2.0)), [], &[('o', 1.0)], &look(80, true));
        assert_eq!(none.trim_end(), "o");
        let same = strip(scale, [], &[('A', 10.0), ('B', 10.0)], &look(80, false));
        assert_eq!(same.trim(), "*", "both are there");
        assert!(Scale::over([2.0, 2.0]).is_none() && Scale::over([f64::NAN, -1.0]).is_none());
        assert_eq!(strip(scale, [f64::NAN], &[], &look(80, true)).trim(), "");
    }
}
