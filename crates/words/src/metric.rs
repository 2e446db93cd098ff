//! Metrics as a user chooses them: names, presets and units of hyperfine 2.

use whyfaster_core::metric::{Dimension, Limit, Metric, Most};

use crate::display::TimeUnit;

/// A unit of a metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unit {
    /// Its sign.
    pub symbol: &'static str,
    /// Seconds, bytes or events in one.
    pub scale: f64,
}

const fn unit(symbol: &'static str, scale: f64) -> Unit {
    Unit { symbol, scale }
}

const TIME: [Unit; 6] = [
    unit("ns", 1e-9),
    unit("µs", 1e-6),
    unit("ms", 1e-3),
    unit("s", 1.0),
    unit("min", 60.0),
    unit("h", 3600.0),
];
/// Those of memory that a number is shown in by itself.
const BINARY: [Unit; 5] = [
    unit("B", 1.0),
    unit("KiB", 1024.0),
    unit("MiB", 1_048_576.0),
    unit("GiB", 1_073_741_824.0),
    unit("TiB", 1_099_511_627_776.0),
];
const MEMORY: [Unit; 9] = [
    unit("B", 1.0),
    unit("kB", 1e3),
    unit("MB", 1e6),
    unit("GB", 1e9),
    unit("TB", 1e12),
    BINARY[1],
    BINARY[2],
    BINARY[3],
    BINARY[4],
];
const COUNT: [Unit; 4] = [unit("count", 1.0), unit("k", 1e3), unit("M", 1e6), unit("B", 1e9)];

/// The units of a dimension, by the names that may be asked for.
fn units(dimension: Dimension) -> &'static [Unit] {
    match dimension {
        Dimension::Time => &TIME,
        Dimension::Memory => &MEMORY,
        Dimension::Count => &COUNT,
    }
}

impl From<TimeUnit> for Unit {
    fn from(unit: TimeUnit) -> Self {
        match unit {
            TimeUnit::Microsecond => TIME[1],
            TimeUnit::Millisecond => TIME[2],
            TimeUnit::Second => TIME[3],
            TimeUnit::Minute => TIME[4],
            TimeUnit::Hour => TIME[5],
        }
    }
}

impl Unit {
    /// Seconds, bytes or events themselves.
    pub fn base(dimension: Dimension) -> Self {
        match dimension {
            Dimension::Time => TIME[3],
            Dimension::Memory => BINARY[0],
            Dimension::Count => COUNT[0],
        }
    }

    /// The unit in which this value reads best: the largest that leaves at least one of it.
    pub fn fitting(dimension: Dimension, value: f64) -> Self {
        let units = if dimension == Dimension::Memory { &BINARY } else { units(dimension) };
        match units.iter().rev().find(|unit| value.abs() >= unit.scale) {
            _ if value == 0.0 => Self::base(dimension),
            Some(unit) => *unit,
            None => units[0],
        }
    }

    fn named(metric: Metric, name: &str) -> Result<Self, String> {
        let dimension = metric.dimension();
        let name = if name == "us" { "µs" } else { name };
        units(dimension).iter().find(|unit| unit.symbol == name).copied().ok_or_else(|| {
            let known: Vec<&str> = units(dimension).iter().map(|unit| unit.symbol).collect();
            format!(
                "Unit '{name}' is not valid for metric '{}': there are {}",
                metric.name(),
                known.join(", ")
            )
        })
    }

    /// Behind a number; events have no sign.
    pub fn suffix(self) -> &'static str {
        if self.symbol == COUNT[0].symbol { "" } else { self.symbol }
    }
}

/// A metric, and the unit if one was asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Chosen {
    /// The metric.
    pub metric: Metric,
    /// The unit.
    pub unit: Option<Unit>,
}

impl From<Metric> for Chosen {
    fn from(metric: Metric) -> Self {
        Self { metric, unit: None }
    }
}

impl Chosen {
    /// The unit for a table in which this value stands.
    pub fn unit_for(self, value: f64) -> Unit {
        self.unit.unwrap_or_else(|| Unit::fitting(self.metric.dimension(), value))
    }
}

/// The metrics of a preset.
fn preset(name: &str) -> Option<&'static [Metric]> {
    Some(match name {
        "default" => &[Metric::TimeWallClock, Metric::MemoryPeakResident],
        "time" => &[Metric::TimeWallClock, Metric::TimeCpu, Metric::TimeUser, Metric::TimeSystem],
        "all" => &Metric::ALL,
        _ => return None,
    })
}

/// The metrics that hyperfine 2 measures when it is not told which.
pub fn usual() -> Vec<Chosen> {
    preset("default").unwrap_or_default().iter().copied().map(Chosen::from).collect()
}

fn metric(name: &str) -> Result<Metric, String> {
    Metric::named(name).ok_or_else(|| {
        if preset(name).is_some() {
            return format!("'{name}' is a preset, which stands alone and has no unit");
        }
        format!("'{name}' is no metric; there are {}", Metric::ALL.map(Metric::name).join(", "))
    })
}

/// `LIST[:UNIT]`: a preset, or metrics with or without a unit, each once.
pub fn list(text: &str) -> Result<Vec<Chosen>, String> {
    if let Some(metrics) = preset(text) {
        return Ok(metrics.iter().copied().map(Chosen::from).collect());
    }
    let mut chosen: Vec<Chosen> = Vec::new();
    for item in text.split(',') {
        let (name, unit) = item.split_once(':').map_or((item, None), |(name, unit)| (name, Some(unit)));
        let metric = metric(name)?;
        if chosen.iter().any(|other| other.metric == metric) {
            return Err(format!("'{name}' stands in it twice"));
        }
        let unit = unit.map(|unit| Unit::named(metric, unit)).transpose()?;
        chosen.push(Chosen { metric, unit });
    }
    Ok(chosen)
}

/// The two sides of `NAME>LIMIT`.
pub fn condition(text: &str) -> Option<(&str, &str)> {
    text.split_once('>').map(|(name, most)| (name.trim(), most.trim()))
}

/// A number and what stands behind it.
pub fn number(text: &str) -> Option<(f64, &str)> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let rest = digits.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.');
    let number = text[..text.len() - rest.len()].parse().ok()?;
    Some((number, rest.trim()))
}

/// `METRIC>LIMIT`: a percentage over the baseline, or a number with a unit.
pub fn limit(text: &str) -> Result<Limit, String> {
    let (name, most) =
        condition(text).ok_or("write METRIC>LIMIT, such as memory_peak_resident>5% or time_user>2s")?;
    let metric = metric(name)?;
    let no_limit = || format!("'{most}' is no limit: write 5%, or a number with a unit");
    let (number, unit) = number(most).filter(|(number, _)| *number >= 0.0).ok_or_else(no_limit)?;
    let most = match (unit, metric.dimension()) {
        ("%", _) => Most::OverBaseline(number / 100.0),
        ("", Dimension::Count) => Most::Amount(number),
        ("", _) => return Err(format!("'{most}' needs a unit, such as 5%, 2s or 100MiB")),
        (unit, _) => Most::Amount(number * Unit::named(metric, unit)?.scale),
    };
    Ok(Limit { metric, most })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<&'static str> {
        list(text).unwrap().iter().map(|chosen| chosen.metric.name()).collect()
    }

    #[test]
    fn presets_and_lists() {
        assert_eq!(names("default"), ["time_wall_clock", "memory_peak_resident"]);
        assert_eq!(names("time"), ["time_wall_clock", "time_cpu", "time_user", "time_system"]);
        assert_eq!(names("all").len(), 10);
        let chosen = list("instructions:M,time_user:us,memory_peak_resident").unwrap();
        assert_eq!(chosen[0].unit, Some(unit("M", 1e6)));
        assert_eq!(chosen[1].unit.unwrap().symbol, "µs");
        assert_eq!(chosen[2].unit, None);
        for (text, says) in [
            ("", "no metric"),
            ("instructions,", "no metric"),
            ("default,instructions", "preset"),
            ("all:ms", "preset"),
            ("instructions,instructions:M", "twice"),
            ("instructions:MiB", "count, k, M, B"),
            ("time_user:", "not valid for metric"),
        ] {
            assert!(list(text).unwrap_err().contains(says), "{text}");
        }
    }

    #[test]
    fn units_fit_the_value() {
        let fitting = |dimension, value| Unit::fitting(dimension, value).symbol;
        assert_eq!(fitting(Dimension::Time, 0.0135), "ms");
        assert_eq!(fitting(Dimension::Time, 0.0), "s");
        assert_eq!(fitting(Dimension::Time, 1e-12), "ns");
        assert_eq!(fitting(Dimension::Memory, 3e6), "MiB");
        assert_eq!(fitting(Dimension::Count, 143.2e9), "B");
        assert_eq!(Unit::fitting(Dimension::Count, 7.0).suffix(), "");
    }

    #[test]
    fn limits_are_percentages_or_amounts() {
        let most = |text: &str| limit(text).unwrap().most;
        assert_eq!(most("memory_peak_resident>5%"), Most::OverBaseline(0.05));
        assert_eq!(most("memory_peak_resident > 1.5 MiB"), Most::Amount(1.5 * 1_048_576.0));
        assert_eq!(most("time_wall_clock>200ms"), Most::Amount(0.2));
        assert_eq!(most("instructions>3M"), Most::Amount(3e6));
        assert_eq!(most("instructions>3000"), Most::Amount(3000.0));
        for (text, says) in [
            ("memory_peak_resident", "METRIC>LIMIT"),
            ("memory>5%", "no metric"),
            ("time_user>5", "needs a unit"),
            ("time_user>5MiB", "not valid for metric"),
            ("time_user>", "no limit"),
            ("time_user>x%", "no limit"),
            ("time_user>-5%", "no limit"),
        ] {
            assert!(limit(text).unwrap_err().contains(says), "{text}");
        }
    }
}
