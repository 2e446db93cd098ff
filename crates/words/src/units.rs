//! Numbers as text: three significant digits, one unit per column. The only arithmetic of a renderer.

use whyfaster_core::price::Unit;
use whyfaster_core::verdict::Ratio;

use crate::display::TimeUnit;
use crate::grid::or_absent;
use crate::look::Look;

/// A unit of time and what it is in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// Its sign, e.g. "ms".
    pub name: &'static str,
    /// Seconds in one.
    pub seconds: f64,
}

const NANO: Scale = Scale { name: "ns", seconds: 1e-9 };
const SCALES: [Scale; 6] = [
    NANO,
    Scale { name: "us", seconds: 1e-6 },
    Scale { name: "ms", seconds: 1e-3 },
    Scale { name: "s", seconds: 1.0 },
    Scale { name: "min", seconds: 60.0 },
    Scale { name: "h", seconds: 3600.0 },
];

impl From<TimeUnit> for Scale {
    fn from(unit: TimeUnit) -> Self {
        match unit {
            TimeUnit::Microsecond => SCALES[1],
            TimeUnit::Millisecond => SCALES[2],
            TimeUnit::Second => SCALES[3],
            TimeUnit::Minute => SCALES[4],
            TimeUnit::Hour => SCALES[5],
        }
    }
}

impl Scale {
    /// The unit in which these times read best together: that of their geometric middle.
    pub fn choose(times: impl IntoIterator<Item = f64>, wanted: Option<TimeUnit>) -> Self {
        if let Some(unit) = wanted {
            return unit.into();
        }
        let (low, high) = times
            .into_iter()
            .map(f64::abs)
            .filter(|time| time.is_finite() && *time > 0.0)
            .fold((f64::INFINITY, 0.0_f64), |(low, high), time| (low.min(time), high.max(time)));
        if low > high {
            return SCALES[3];
        }
        let middle = low.sqrt() * high.sqrt();
        // Seconds stay seconds for some minutes: "412 s" reads better than "6.87 min".
        let fits = |scale: &&Scale| middle >= scale.seconds * if scale.seconds > 1.0 { 10.0 } else { 0.9995 };
        SCALES.iter().rev().find(fits).copied().unwrap_or(NANO)
    }

    /// A time in this unit, without the unit.
    pub fn number(self, seconds: f64) -> String {
        // Below a picosecond there is no clock; what is left is the rounding of a difference.
        let seconds = if seconds.abs() < 1e-12 { 0.0 } else { seconds };
        digits(seconds / self.seconds)
    }
}

/// A time with a unit of its own.
pub fn time(seconds: f64, wanted: Option<TimeUnit>) -> String {
    let scale = Scale::choose([seconds], wanted);
    format!("{} {}", scale.number(seconds), scale.name)
}

/// A price in the unit of its list.
pub fn price(value: f64, look: &Look) -> String {
    match look.price_unit {
        Unit::Nanoseconds => time(value * 1e-9, look.time_unit),
        Unit::GuestInstructions => format!("{} instr", count(value)),
    }
}

/// A price for a mark on an axis, the next of which is a step away.
pub fn price_tick(value: f64, step: f64, look: &Look) -> String {
    match look.price_unit {
        Unit::Nanoseconds => tick(value * 1e-9, step * 1e-9, look.time_unit),
        Unit::GuestInstructions => format!("{} instr", count(value)),
    }
}

/// A time for a mark on an axis, the next of which is a step away: no zeros that say nothing, and no digit less than tells the two apart.
pub fn tick(seconds: f64, step: f64, wanted: Option<TimeUnit>) -> String {
    // Round seconds are no round minutes.
    let scale = Scale::choose([seconds.min(1.0)], wanted);
    let apart = (seconds.abs() / step).log10().floor();
    // Where there is no step, the digits of other numbers do.
    let figures = if apart.is_finite() { (apart + 2.0).clamp(3.0, 12.0) as i32 } else { 3 };
    let seconds = if seconds.abs() < 1e-12 { 0.0 } else { seconds };
    format!("{} {}", bare(&significant(seconds / scale.seconds, figures)), scale.name)
}

/// A number without the noughts behind its point.
pub(super) fn bare(number: &str) -> &str {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number }
}

/// Three significant digits; whole numbers above a thousand keep all of theirs.
pub fn digits(value: f64) -> String {
    significant(value, 3)
}

/// A value with the digits that its interval supports: two where it reaches farther than this part of it to either side.
pub fn supported(value: f64, low: Option<f64>, high: Option<f64>) -> String {
    const VAGUE: f64 = 0.05;
    let reach = low.zip(high).map(|(low, high)| (high - low) / 2.0);
    significant(value, if reach.is_none_or(|reach| reach > VAGUE * value.abs()) { 2 } else { 3 })
}

fn significant(value: f64, figures: i32) -> String {
    if !value.is_finite() {
        return "-".to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    if !(1e-9..1e12).contains(&value.abs()) {
        return format!("{value:.2e}");
    }
    // Formatting decides what rounding does to the magnitude: 9.996 becomes 1.000e1.
    let behind = usize::try_from(figures - 1).unwrap_or(0);
    let rounded = format!("{value:.behind$e}");
    let magnitude: i32 = rounded.split_once('e').and_then(|(_, exponent)| exponent.parse().ok()).unwrap_or(0);
    let decimals = usize::try_from(figures - 1 - magnitude).unwrap_or(0).min(12);
    format!("{value:.decimals$}")
}

/// A count: whole below a thousand when it is whole, else three digits with k, M or G.
pub fn count(value: f64) -> String {
    let (factor, suffix) = match value.abs() {
        v if v >= 999.5e6 => (1e9, "G"),
        v if v >= 999.5e3 => (1e6, "M"),
        v if v >= 999.5 => (1e3, "k"),
        _ => (1.0, ""),
    };
    if factor == 1.0 && value.fract() == 0.0 {
        return format!("{value:.0}");
    }
    format!("{}{suffix}", digits(value / factor))
}

/// A number of rounds.
pub fn rounds(number: u32) -> String {
    if number == 1 { "1 round".to_owned() } else { format!("{number} rounds") }
}

/// A unit of memory for a column, and what it is in bytes.
pub fn memory_scale(bytes: impl IntoIterator<Item = u64>) -> (&'static str, f64) {
    match bytes.into_iter().max().unwrap_or(0) {
        b if b >= 1 << 30 => ("GiB", f64::from(1u32 << 30)),
        b if b >= 1 << 20 => ("MiB", f64::from(1u32 << 20)),
        b if b >= 1 << 10 => ("KiB", f64::from(1u32 << 10)),
        _ => ("B", 1.0),
    }
}

/// How many digits of a ratio say something: two where its interval reaches farther than a twentieth to either side, but three where it comes
/// near 1, for what such a ratio says is its distance from 1, and more where an end that is not 1 would look like it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figures(i32);

impl Figures {
    /// Of this ratio and its interval; three where there is none.
    pub fn of(ratio: Ratio) -> Self {
        const VAGUE: f64 = 1.05;
        const NEAR_ONE: f64 = 2.0;
        let Some((low, high)) = ratio.low.zip(ratio.high) else { return Self(3) };
        let far = low >= NEAR_ONE || high <= NEAR_ONE.recip();
        if far && high > low * VAGUE * VAGUE {
            return Self(2);
        }
        let looks_like_one =
            |figures: &i32| [low, high].iter().any(|end| significant(*end, *figures).parse() == Ok(1.0));
        let beside_one = low > 1.0 || high < 1.0;
        Self((3..5).find(|figures| !(beside_one && looks_like_one(figures))).unwrap_or(5))
    }

    /// A number with so many.
    pub fn number(self, value: f64) -> String {
        significant(value, self.0)
    }

    /// The same as a factor: "6.0x".
    pub fn factor(self, value: f64) -> String {
        format!("{}x", self.number(value))
    }
}

/// A ratio with the digits of its interval: "0.17".
pub fn ratio(of: Ratio) -> String {
    Figures::of(of).number(of.ratio)
}

/// A ratio as a factor, with the digits of its interval: "6.0x".
pub fn times(of: Ratio) -> String {
    Figures::of(of).factor(of.ratio)
}

/// Its interval behind it: " (5.2x to 6.9x)", or nothing where an end is open.
pub fn range(of: Ratio) -> String {
    let figures = Figures::of(of);
    let ends = of.low.zip(of.high).map(|(low, high)| (figures.factor(low), figures.factor(high)));
    ends.map_or_else(String::new, |(low, high)| format!(" ({low} to {high})"))
}

/// A factor that has no interval: "1.60x".
pub fn factor(ratio: f64) -> String {
    format!("{}x", digits(ratio))
}

/// A fraction as a percentage: "2%", "0.5%".
pub fn percent(fraction: f64) -> String {
    format!("{}%", bare(&digits(fraction * 100.0)))
}

/// How far a ratio is from 1, with its sign: "+0.3%". One decimal, because more would be noise.
pub fn deviation(ratio: f64) -> String {
    if !ratio.is_finite() {
        return "-".to_owned();
    }
    let text = format!("{:+.1}%", (ratio - 1.0) * 100.0);
    if text == "-0.0%" { "+0.0%".to_owned() } else { text }
}

/// A length of time in words for people who wait: "28 ms", "0.4 s", "12 s", "1 min 20 s", "2 h 5 min".
pub fn duration(seconds: f64) -> String {
    if !seconds.is_finite() {
        return "an unknown time".to_owned();
    }
    let seconds = seconds.max(0.0);
    if seconds < 0.0005 {
        return "0 s".to_owned();
    }
    if seconds < 0.0995 {
        return format!("{:.0} ms", seconds * 1e3);
    }
    if seconds < 9.95 {
        return format!("{seconds:.1} s");
    }
    // A float to integer cast saturates, which is what a time beyond all bounds should do.
    let whole = seconds.round() as u64;
    match (whole / 3600, whole / 60 % 60, whole % 60) {
        (0, 0, s) => format!("{s} s"),
        (0, m, 0) => format!("{m} min"),
        (0, m, s) => format!("{m} min {s} s"),
        (h, 0, _) => format!("{h} h"),
        (h, m, _) => format!("{h} h {m} min"),
    }
}

/// A price that may be missing.
pub fn price_or_absent(value: Option<f64>, look: &Look) -> String {
    or_absent(value, |ns| price(ns, look))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_whatever_the_size() {
        let table = [
            (0.0, "0"),
            (412.0, "412"),
            (41.25, "41.2"),
            (1.6, "1.60"),
            (9.996, "10.0"),
            (0.999_6, "1.00"),
            (0.012_34, "0.0123"),
            (1234.4, "1234"),
            (-1.5, "-1.50"),
            (1e300, "1.00e300"),
            (f64::NAN, "-"),
            (f64::INFINITY, "-"),
        ];
        for (value, text) in table {
            assert_eq!(digits(value), text);
        }
    }

    #[test]
    fn a_ratio_has_the_digits_of_its_interval_unless_it_is_near_one() {
        let of = |ratio, low, high| Ratio { ratio, low: Some(low), high: Some(high) };
        let told = |ratio, low, high| times(of(ratio, low, high)) + &range(of(ratio, low, high));
        assert_eq!(told(76.04, 36.6, 151.2), "76x (37x to 151x)");
        assert_eq!(told(6.012, 5.21, 6.93), "6.0x (5.2x to 6.9x)");
        assert_eq!(told(10.1, 9.9, 10.3), "10.1x (9.90x to 10.3x)");
        assert_eq!(told(1.096, 1.004, 1.31), "1.096x (1.004x to 1.310x)");
        assert_eq!(told(1.096, 0.998, 1.31), "1.10x (0.998x to 1.31x)");
        assert_eq!(told(1.0102, 1.0001, 1.02), "1.0102x (1.0001x to 1.0200x)");
        assert_eq!(times(Ratio { ratio: 6.012, low: None, high: Some(9.0) }), "6.01x");
        for it in [of(6.012, 5.21, 6.93), of(10.1, 9.9, 10.3), of(2.2, 1.9, 2.5)] {
            assert_eq!(Figures::of(it), Figures::of(it.inverse()), "both ways round");
        }
    }

    #[test]
    fn a_time_takes_the_unit_that_fits() {
        let table = [
            (3e-9, "3.00 ns"),
            (4.2e-5, "42.0 us"),
            (0.412, "412 ms"),
            (0.999_9, "1.00 s"),
            (-0.0039, "-3.90 ms"),
            (412.0, "412 s"),
            (1200.0, "20.0 min"),
            (7.2e4, "20.0 h"),
        ];
        for (seconds, text) in table {
            assert_eq!(time(seconds, None), text);
        }
        assert_eq!(Scale::from(TimeUnit::Millisecond).number(1.08e-19), "0");
        assert_eq!(time(0.412, Some(TimeUnit::Second)), "0.412 s");
        assert_eq!(time(90.0, Some(TimeUnit::Minute)), "1.50 min");
    }

    #[test]
    fn marks_of_an_axis_are_told_apart() {
        let axis = [0.02645, 0.0265, 0.02655, 0.0266].map(|value| tick(value, 0.00005, None));
        assert_eq!(axis, ["26.45 ms", "26.5 ms", "26.55 ms", "26.6 ms"]);
        assert_eq!(tick(0.0, 0.5, None), "0 s");
        assert_eq!(tick(1.0, f64::INFINITY, None), "1 s");
    }

    #[test]
    fn a_column_has_one_unit() {
        assert_eq!(Scale::choose([0.8, 1.3], None).name, "s");
        assert_eq!(Scale::choose([0.000_95, 0.001_2], None).name, "ms");
        assert_eq!(Scale::choose([0.257, 320.0], None).name, "s");
        assert_eq!(Scale::choose([0.0, f64::NAN], None).name, "s");
    }

    #[test]
    fn ticks_are_round() {
        let marks = [(0.01, 0.01), (0.5, 0.5), (1000.0, 500.0)].map(|(value, step)| tick(value, step, None));
        assert_eq!(marks, ["10 ms", "500 ms", "1000 s"]);
    }

    #[test]
    fn other_quantities() {
        assert_eq!(
            [count(12.0), count(12.5), count(12_345.0), count(999.9)],
            ["12", "12.5", "12.3k", "1.00k"]
        );
        assert_eq!(memory_scale([3 << 20, 5 << 10]).0, "MiB");
        assert_eq!(
            [percent(0.02), percent(0.005), percent(1.0), percent(0.5)],
            ["2%", "0.5%", "100%", "50%"]
        );
        assert_eq!([deviation(1.003), deviation(0.9999), deviation(0.91)], ["+0.3%", "+0.0%", "-9.0%"]);
    }

    #[test]
    fn waiting_is_told_in_words() {
        assert_eq!(
            [duration(0.42), duration(12.3), duration(80.0), duration(59.9), duration(7500.0)],
            ["0.4 s", "12 s", "1 min 20 s", "1 min", "2 h 5 min"]
        );
    }
}
