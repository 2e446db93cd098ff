//! Numbers and names in sentences.

use whyfaster_core::short;

pub(super) use whyfaster_core::fit::{bytes, grouped};

/// A time with three significant figures: "18.2 ms". The sign is left out: sentences say "longer" or "shorter".
pub(super) fn time(seconds: f64) -> String {
    let seconds = seconds.abs();
    let (value, unit) = match seconds {
        s if s >= 0.9995 => (s, "s"),
        s if s >= 0.999_5e-3 => (s * 1e3, "ms"),
        s if s >= 0.999_5e-6 => (s * 1e6, "us"),
        s => (s * 1e9, "ns"),
    };
    format!("{} {unit}", three_figures(value))
}

/// A number of 1 or more.
fn three_figures(value: f64) -> String {
    let decimals = match value {
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        _ => 2,
    };
    format!("{value:.decimals$}")
}

/// A count that may be a median between two counts.
pub(super) fn count(n: f64) -> String {
    // The cast saturates, and counts are far below 2^64.
    grouped(n.max(0.0).round() as u64)
}

/// An amount of data that may be a median.
pub(super) fn amount(n: f64) -> String {
    bytes(n.max(0.0).round() as u64)
}

/// A share in percent.
pub(super) fn percent(share: f64) -> String {
    format!("{:.0}%", 100.0 * share)
}

/// A name in quotes, cut where it is too long for a sentence.
pub(super) fn quoted(name: &str) -> String {
    /// Columns of a name in a sentence.
    const LONGEST: usize = 40;
    format!("'{}'", short::shorten(name, LONGEST, "..."))
}

/// A command line that somebody may copy: with marks around it that are not in it, where that can be.
pub(super) fn command_line(words: &str) -> String {
    if words.contains('\'') { format!("\"{words}\"") } else { format!("'{words}'") }
}

/// "never", "once", "3 times".
pub(super) fn often(n: f64) -> String {
    match n.max(0.0).round() {
        0.0 => "never".to_owned(),
        1.0 => "once".to_owned(),
        n => format!("{} times", count(n)),
    }
}

/// "1 process", "3 processes".
pub(super) fn plural(n: f64, one: &str, many: &str) -> String {
    format!("{} {}", count(n), if n.round() == 1.0 { one } else { many })
}

/// A text that begins a sentence.
pub(super) fn upper(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_for_people() {
        let wanted = [
            (1.5, "1.50 s"),
            (0.9999, "1.00 s"),
            (0.01823, "18.2 ms"),
            (-0.2, "200 ms"),
            (3e-6, "3.00 us"),
            (2e-9, "2.00 ns"),
        ];
        for (seconds, text) in wanted {
            assert_eq!(time(seconds), text);
        }
        assert_eq!((count(1234.5).as_str(), count(-1.0).as_str()), ("1,235", "0"));
        assert_eq!(plural(1.0, "process", "processes"), "1 process");
        assert_eq!([0.0, 1.0, 1234.0].map(often), ["never", "once", "1,234 times"]);
        assert_eq!(quoted(&"x".repeat(50)).len(), 42);
        assert_eq!((upper("it waits").as_str(), upper("")), ("It waits", String::new()));
    }
}
