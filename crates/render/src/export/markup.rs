//! What hyperfine's tables have in common: columns, digits, and the relation to the fastest or to the reference.

use std::cmp::Ordering;
use std::fmt::Write;

use whyfaster_words::display::{Sort, TimeUnit};
use whyfaster_words::look::Look;

use super::hyperfine::Outcome;

/// How a column stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Align {
    Left,
    Right,
}

/// The columns of every table.
const ALIGNS: [Align; 5] = [Align::Left, Align::Right, Align::Right, Align::Right, Align::Right];

/// The marks of one table language.
pub(super) trait Markup {
    /// What stands before the first row.
    fn head(_aligns: &[Align]) -> String {
        String::new()
    }
    /// One row.
    fn row(cells: &[&str]) -> String;
    /// What stands between the names of the columns and the rows.
    fn divider(aligns: &[Align]) -> String;
    /// What stands after the last row.
    fn foot() -> &'static str {
        ""
    }
    /// A command line, set off as code.
    fn code(command: &str) -> String;
}

/// The table of these results.
pub(super) fn table<M: Markup>(results: &[Outcome], look: &Look) -> anyhow::Result<Vec<u8>> {
    let unit = look
        .time_unit
        .unwrap_or_else(|| results.first().map_or(TimeUnit::Second, |first| fitting(first.mean)));
    let mut rows: Vec<&Outcome> = results.iter().collect();
    if look.sort == Sort::MeanTime {
        rows.sort_by(|a, b| a.load.cmp(&b.load).then(a.mean.total_cmp(&b.mean)));
    }
    let symbol = symbol(unit);
    let titles = [format!("Mean [{symbol}]"), format!("Min [{symbol}]"), format!("Max [{symbol}]")];
    let mut table = M::head(&ALIGNS);
    table += &M::row(&["Command", &titles[0], &titles[1], &titles[2], "Relative"]);
    table += &M::divider(&ALIGNS);
    for result in rows {
        let command = M::code(&cell(&result.shown));
        let mut mean = number(result.mean, unit);
        if let Some(stddev) = result.stddev {
            let _ = write!(mean, " ± {}", number(stddev, unit));
        }
        let (min, max) = (number(result.min, unit), number(result.max, unit));
        table += &M::row(&[&command, &mean, &min, &max, &relative(result, results)]);
    }
    table += M::foot();
    Ok(table.into_bytes())
}

/// A name for a cell: a line end in it would end the row.
pub(super) fn cell(name: &str) -> String {
    name.replace(['\n', '\r'], " ").replace('|', "\\|")
}

/// How a result stands to its reference.
pub(super) struct Relation {
    /// The slower mean over the faster one.
    pub(super) ratio: f64,
    /// Standard deviation of that, if it has one.
    pub(super) deviation: Option<f64>,
    /// Which of the two means is larger.
    pub(super) order: Ordering,
}

/// What a result is held against: the named reference, or the fastest of its level.
pub(super) fn reference<'a>(result: &Outcome, results: &'a [Outcome]) -> Option<&'a Outcome> {
    let level = || results.iter().filter(|other| other.load == result.load);
    let named = level().find(|other| other.is_named_reference);
    named.or_else(|| level().min_by(|a, b| a.mean.total_cmp(&b.mean)))
}

pub(super) fn relation(result: &Outcome, reference: &Outcome) -> Relation {
    let order = result.mean.total_cmp(&reference.mean);
    let (fast, slow) = if order == Ordering::Less { (result, reference) } else { (reference, result) };
    let ratio = if order == Ordering::Equal { 1.0 } else { slow.mean / fast.mean };
    // Propagation of uncertainty of a quotient of independent quantities.
    let deviations = result.stddev.zip(reference.stddev);
    let deviation = deviations.map(|(a, b)| ratio * (a / result.mean).hypot(b / reference.mean));
    // A mean of 0 has no relative deviation.
    Relation { ratio, deviation: deviation.filter(|it| it.is_finite()), order }
}

/// How much slower a result is than its reference. Than a named one a result may also be faster; hyperfine 1.21 then writes how much
/// faster, and says which of the two it is.
fn relative(result: &Outcome, results: &[Outcome]) -> String {
    let Some(reference) = reference(result, results) else { return String::new() };
    let is_reference = std::ptr::eq(result, reference);
    let Relation { ratio, deviation, order } = relation(result, reference);
    let mut text = format!("{ratio:.2}");
    if let Some(deviation) = deviation.filter(|_| !is_reference) {
        let _ = write!(text, " ± {deviation:.2}");
    }
    if reference.is_named_reference {
        text += match order {
            _ if is_reference => " (reference)",
            Ordering::Less => " (faster)",
            Ordering::Equal => " (same speed)",
            Ordering::Greater => " (slower)",
        };
    }
    text
}

/// The unit in which hyperfine shows this many seconds.
pub(super) fn fitting(seconds: f64) -> TimeUnit {
    if seconds < 1e-3 {
        TimeUnit::Microsecond
    } else if seconds < 1.0 {
        TimeUnit::Millisecond
    } else {
        TimeUnit::Second
    }
}

/// The sign of a unit.
pub(super) fn symbol(unit: TimeUnit) -> &'static str {
    match unit {
        TimeUnit::Microsecond => "µs",
        TimeUnit::Millisecond => "ms",
        TimeUnit::Second => "s",
        TimeUnit::Minute => "min",
        TimeUnit::Hour => "h",
    }
}

/// Seconds in a unit, with hyperfine's digits.
pub(super) fn number(seconds: f64, unit: TimeUnit) -> String {
    match unit {
        TimeUnit::Microsecond => format!("{:.1}", seconds * 1e6),
        TimeUnit::Millisecond => format!("{:.1}", seconds * 1e3),
        TimeUnit::Second => format!("{seconds:.3}"),
        TimeUnit::Minute => format!("{:.1}", seconds / 60.0),
        TimeUnit::Hour => format!("{:.1}", seconds / 3600.0),
    }
}
