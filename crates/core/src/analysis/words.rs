//! Numbers and places in sentences of warnings.

use crate::plan::Mode;

/// "at load 1, 10 and 100"; in open mode the rate instead.
pub(super) fn at(mode: Mode, loads: &[u32]) -> String {
    match mode {
        Mode::Open { rate_per_s, .. } => format!("at {rate_per_s} starts a second"),
        Mode::Batch | Mode::Closed { .. } => format!("at load {}", list(loads)),
    }
}

fn list(loads: &[u32]) -> String {
    let words: Vec<String> = loads.iter().map(u32::to_string).collect();
    match words.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        Some((last, _)) => last.clone(),
        None => String::new(),
    }
}

/// "1 copy", "3 copies".
pub(super) fn count(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// A fraction as a percentage with two significant figures or so.
pub(super) fn percent(fraction: f64) -> String {
    let percent = 100.0 * fraction;
    if percent.abs() < 10.0 { format!("{percent:.1}%") } else { format!("{percent:.0}%") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences() {
        assert_eq!(at(Mode::Batch, &[1]), "at load 1");
        assert_eq!(at(Mode::Batch, &[1, 10, 100]), "at load 1, 10 and 100");
        assert_eq!(at(Mode::Open { rate_per_s: 2.5, duration_s: 1.0 }, &[0]), "at 2.5 starts a second");
        assert_eq!(count(1, "copy", "copies"), "1 copy");
        assert_eq!((percent(0.0125).as_str(), percent(0.125).as_str()), ("1.2%", "12%"));
    }
}
