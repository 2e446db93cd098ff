//! What statements are made of: names, places, numbers and lists.

use whyfaster_core::metric::Metric;
use whyfaster_core::warning::Place;

/// How the name of an alternative is shown.
pub type Naming<'a> = &'a dyn Fn(&str) -> String;

/// A warning and its remedy, or a quantity and why it was not measured.
pub type Pair = (String, String);

/// A name as it is, for what is stored.
pub(super) fn whole(name: &str) -> String {
    name.to_owned()
}

/// "at load 1, 10 and 100"; in open mode the rate instead.
pub(super) fn at(place: &Place) -> String {
    match place {
        Place::Rate(rate) => format!("at {rate} starts a second"),
        Place::Loads(loads) => {
            let loads: Vec<String> = loads.iter().map(u32::to_string).collect();
            format!("at load {}", list(&loads))
        }
    }
}

/// "a, b and c".
pub fn list(parts: &[String]) -> String {
    match parts.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        Some((last, _)) => last.clone(),
        None => String::new(),
    }
}

/// "1 copy", "3 copies".
pub fn count(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// A fraction as a percentage with two significant figures or so.
pub(super) fn percent(fraction: f64) -> String {
    let percent = 100.0 * fraction;
    if percent.abs() < 10.0 { format!("{percent:.1}%") } else { format!("{percent:.0}%") }
}

/// A percentage as it was asked for: 7% is 0.07, which times 100 is 7.000000000000001.
pub fn percentage(fraction: f64) -> String {
    format!("{}%", (fraction * 100.0 * 1e6).round() / 1e6)
}

/// What a metric is called in running text.
pub fn metric(metric: Metric) -> &'static str {
    match metric {
        Metric::TimeWallClock => "wall time",
        Metric::TimeCpu => "CPU time",
        Metric::TimeUser => "user time",
        Metric::TimeSystem => "system time",
        Metric::MemoryPeakResident => "peak memory",
        Metric::CpuCycles => "CPU cycles",
        Metric::Instructions => "instructions",
        Metric::CacheReferences => "cache references",
        Metric::CacheMisses => "cache misses",
        Metric::BranchMisses => "branch misses",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_places() {
        assert_eq!(at(&Place::Loads(vec![1])), "at load 1");
        assert_eq!(at(&Place::Loads(vec![1, 10, 100])), "at load 1, 10 and 100");
        assert_eq!(at(&Place::Rate(2.5)), "at 2.5 starts a second");
        assert_eq!(count(1, "copy", "copies"), "1 copy");
        assert_eq!((percent(0.0125).as_str(), percent(0.125).as_str()), ("1.2%", "12%"));
    }
}
