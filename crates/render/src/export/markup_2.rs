//! What the tables of hyperfine 2 have in common: the first metric, and how it changed against the first command.

use std::fmt::Write;

use whyfaster_core::metric::{Dimension, Metric};
use whyfaster_core::record::Record;
use whyfaster_words::metric::{Chosen, Unit};

use super::hyperfine::{Outcome, Summary};
use super::markup::{Align, Markup, cell};

const ALIGNS: [Align; 4] = [Align::Left, Align::Right, Align::Right, Align::Left];

/// What hyperfine calls a metric in its tables.
pub(super) fn label(metric: Metric) -> &'static str {
    match metric {
        Metric::TimeWallClock => "Wall Time",
        Metric::TimeCpu => "CPU time",
        Metric::TimeUser => "User time",
        Metric::TimeSystem => "System time",
        Metric::MemoryPeakResident => "Memory",
        Metric::CpuCycles => "CPU cycles",
        Metric::Instructions => "Instructions",
        Metric::CacheReferences => "Cache references",
        Metric::CacheMisses => "Cache misses",
        Metric::BranchMisses => "Branch misses",
    }
}

/// The metric that tables with one metric are about.
pub(super) fn primary(metrics: &[Chosen]) -> Chosen {
    metrics.first().copied().unwrap_or(Chosen { metric: Metric::TimeWallClock, unit: None })
}

/// The table of these results.
pub(super) fn table<M: Markup>(
    _: &Record,
    results: &[Outcome],
    metrics: &[Chosen],
) -> anyhow::Result<Vec<u8>> {
    let primary = primary(metrics);
    let summaries = || results.iter().filter_map(|result| result.summary(primary.metric));
    // The first that is not 0, which has no unit of its own.
    let typical = summaries().map(|summary| summary.mean).find(|mean| *mean != 0.0).unwrap_or(0.0);
    let unit = primary.unit_for(typical);
    let mean = format!("Mean {} [{}]", label(primary.metric), unit.symbol);
    let mut table = M::head(&ALIGNS);
    table += &M::row(&["Command", &mean, "Change", "Factor"]);
    table += &M::divider(&ALIGNS);
    for result in results {
        let Some(summary) = result.summary(primary.metric) else { continue };
        let first = results.iter().find(|other| other.load == result.load);
        let reference = first.filter(|first| !std::ptr::eq(*first, result));
        let reference = reference.and_then(|reference| reference.summary(primary.metric));
        let mut mean = number(summary.mean, unit);
        if let Some(stddev) = summary.stddev {
            let _ = write!(mean, " ± {}", number(stddev, unit));
        }
        let change = reference.map(|it| change(&summary, &it)).unwrap_or_default();
        let factor = reference.map(|it| factor(&summary, &it, primary.metric)).unwrap_or_default();
        table += &M::row(&[&M::code(&cell(&result.shown)), &mean, &change, &factor]);
    }
    table += M::foot();
    Ok(table.into_bytes())
}

/// A number in a unit, with hyperfine's digits.
pub(super) fn number(value: f64, unit: Unit) -> String {
    let digits = if unit.symbol == Unit::base(Dimension::Time).symbol { 3 } else { 1 };
    format!("{:.digits$}", value / unit.scale)
}

/// How the mean changed, in percent.
pub(super) fn change(summary: &Summary, reference: &Summary) -> String {
    if reference.mean == 0.0 {
        return "N/A".to_owned();
    }
    let change = format!("{:+.1}%", 100.0 * (summary.mean / reference.mean - 1.0));
    if matches!(change.as_str(), "+0.0%" | "-0.0%") { "0.0%".to_owned() } else { change }
}

/// The change as a factor, where it is large enough to be one.
pub(super) fn factor(summary: &Summary, reference: &Summary, metric: Metric) -> String {
    let (mean, base) = (summary.mean, reference.mean);
    if base <= 0.0 || (0.7 * base < mean && mean < 1.3 * base) {
        return String::new();
    }
    let less = mean < base;
    let factor = if less { base / mean } else { mean / base };
    let word = match (metric.dimension(), less) {
        (Dimension::Time, true) => "faster",
        (Dimension::Time, false) => "slower",
        (_, true) => "less",
        (_, false) => "more",
    };
    if factor.is_infinite() { format!("(∞x {word})") } else { format!("({factor:.1}x {word})") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_as_in_hyperfine() {
        let of = |mean| Summary { mean, stddev: None, median: mean, min: mean, max: mean };
        let text = |mean, metric| {
            let (summary, reference) = (of(mean), of(100.0));
            format!("{} {}", change(&summary, &reference), factor(&summary, &reference, metric))
        };
        assert_eq!(text(130.0, Metric::TimeWallClock), "+30.0% (1.3x slower)");
        assert_eq!(text(70.0, Metric::TimeCpu), "-30.0% (1.4x faster)");
        assert_eq!(text(10.0, Metric::Instructions), "-90.0% (10.0x less)");
        assert_eq!(text(1000.0, Metric::MemoryPeakResident), "+900.0% (10.0x more)");
        assert_eq!(text(129.9, Metric::TimeWallClock), "+29.9% ");
        assert_eq!(text(99.99, Metric::TimeWallClock), "0.0% ", "no negative zero");
        assert_eq!(text(0.0, Metric::Instructions), "-100.0% (∞x less)");
        assert_eq!(change(&of(1.0), &of(0.0)), "N/A");
    }
}
