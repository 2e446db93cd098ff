//! Numbers in sentences, and medians with their intervals. No step: the helpers of the others.

use crate::plan::Plan;
use crate::short;
use crate::stats::{Estimate, Observation, quantile, sign};

pub(super) use crate::fit::{bytes, grouped};

/// A time with three significant figures: "18.2 ms". The sign is left out: sentences say "longer" or "shorter".
pub(super) fn time(seconds: f64) -> String {
    let seconds = seconds.abs();
    let (value, unit) = match seconds {
        s if s >= 0.9995 => (s, "s"),
        s if s >= 0.999_5e-3 => (s * 1e3, "ms"),
        s if s >= 0.999_5e-6 => (s * 1e6, "us"),
        s => (s * 1e9, "ns"),
    };
    let decimals = match value {
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        _ => 2,
    };
    format!("{value:.decimals$} {unit}")
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

/// "1.9 times".
pub(super) fn times(factor: f64) -> String {
    if factor >= 9.95 { format!("{factor:.0} times") } else { format!("{factor:.2} times") }
}

/// A share in percent.
pub(super) fn percent(share: f64) -> String {
    format!("{:.0}%", 100.0 * share)
}

/// A name in quotes, cut where it is too long for a sentence.
pub(super) fn quoted(name: &str) -> String {
    format!("'{}'", short::shorten(name, LONGEST, "..."))
}

/// Columns of a name in a sentence.
const LONGEST: usize = 40;

/// How sentences call an alternative: by its name or command line, of which what all alternatives have in common is left
/// out where it is long; by its number where what differs is long itself.
pub fn label(plan: &Plan, index: usize) -> String {
    /// It may stand several times in one sentence.
    const SHORT: usize = 28;
    let all = plan.alternatives.iter();
    let names: Vec<&str> = all.map(|it| it.given_name.as_deref().unwrap_or(&it.name)).collect();
    let cut = short::apart(&names, SHORT, "...");
    match (cut.get(index), plan.alternatives.get(index).and_then(|it| it.given_name.as_deref())) {
        (Some(cut), _) if cut.whole => format!("'{}'", cut.text),
        (_, Some(given)) => quoted(given),
        _ => format!("command {}", index + 1),
    }
}

/// "never", "once", "3 times".
pub(super) fn often(n: f64) -> String {
    match count(n).as_str() {
        "0" => "never".to_owned(),
        "1" => "once".to_owned(),
        n => format!("{n} times"),
    }
}

/// A text that begins a sentence.
pub(super) fn upper(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

/// "1 process", "3 processes".
pub(super) fn plural(n: f64, one: &str, many: &str) -> String {
    format!("{} {}", count(n), if n.round() == 1.0 { one } else { many })
}

/// The median with the interval of the sign test at error probability `alpha`. No values: 0 without an interval.
pub(super) fn estimate(values: &[f64], alpha: f64) -> Estimate {
    let observations: Vec<Observation> = values.iter().map(|&value| value.into()).collect();
    let interval = sign::median_interval(&observations, alpha);
    let (low, high) = interval.unzip();
    Estimate { median: median(values), low, high }
}

/// The median; 0 of nothing.
pub(super) fn median(values: &[f64]) -> f64 {
    quantile::median(values).unwrap_or(0.0)
}

/// Mean distance from the median: how much a number differs from round to round. 0 of nothing.
pub(super) fn spread(values: &[f64]) -> f64 {
    let middle = median(values);
    quantile::mean(&values.iter().map(|value| (value - middle).abs()).collect::<Vec<_>>()).unwrap_or(0.0)
}

/// Parts that sum to `whole`, from their medians, which do not: the rest goes to the parts that differ most from round to
/// round, for there medians and sums come apart. What is steady stays as it is. Where nothing differs, all take part alike.
pub(super) fn summing(medians: &mut [f64], spreads: &[f64], whole: f64) {
    let rest = whole - medians.iter().sum::<f64>();
    let all: f64 = spreads.iter().sum();
    let sizes: f64 = medians.iter().map(|it| it.abs()).sum();
    for (part, spread) in medians.iter_mut().zip(spreads) {
        let share = match () {
            () if all > 0.0 => spread / all,
            () if sizes > 0.0 => part.abs() / sizes,
            () => 0.0,
        };
        *part += rest * share;
    }
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
        assert_eq!((times(1.5).as_str(), times(20.4).as_str()), ("1.50 times", "20 times"));
    }

    #[test]
    fn alternatives_have_short_labels() {
        let long = "i=0; while [ $i -lt 100 ]; do /bin/true; i=$((i+1)); done";
        let plan = |lines| Plan::new(<[&str; 3]>::map(lines, crate::plan::Alternative::new).to_vec(), 1);
        let mut numbered = plan(["true", long, long]);
        numbered.alternatives[2].given_name = Some("loop".to_owned());
        assert_eq!([0, 1, 2].map(|i| label(&numbered, i)), ["'true'", "command 2", "'loop'"]);
        let alike = plan(
            [1, 20, 300]
                .map(|n| format!("seq 100 | xargs -n {n} /bin/true > /dev/null"))
                .each_ref()
                .map(String::as_str),
        );
        let expected =
            ["'seq 100 | xargs ... 1 ...'", "'seq 100 | xargs ... 20 ...'", "'seq 100 | xargs ... 300 ...'"];
        assert_eq!([0, 1, 2].map(|i| label(&alike, i)), expected);
        assert_eq!((upper("command 2 waits").as_str(), upper("")), ("Command 2 waits", String::new()));
    }

    #[test]
    fn what_differs_takes_the_rest() {
        let mut parts = [1.0, 2.0, 0.0];
        summing(&mut parts, &[0.0, 1.0, 3.0], 7.0);
        assert_eq!(parts, [1.0, 3.0, 3.0]);
        let mut steady = [1.0, 3.0];
        summing(&mut steady, &[0.0, 0.0], 8.0);
        assert_eq!(steady, [2.0, 6.0]);
        assert_eq!(spread(&[1.0, 2.0, 6.0]), 5.0 / 3.0);
    }

    #[test]
    fn few_rounds_have_no_interval() {
        let few = estimate(&[1.0, 2.0, 4.0], 0.05);
        assert_eq!((few.median, few.low), (2.0, None));
        let enough = estimate(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], 0.05);
        assert_eq!((enough.low, enough.high), (Some(1.0), Some(7.0)));
        assert_eq!(estimate(&[], 0.05).median, 0.0);
    }
}
