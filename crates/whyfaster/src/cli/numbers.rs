//! Numbers as people write them: durations, percentages, loads, lists of CPUs. A step of the command line.
//!
//! Each function takes the text of one value and says in its error what is accepted; clap adds the option's name and
//! the value itself.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

use whyfaster_core::cpu_list;
use whyfaster_core::plan::{Loads, MAX_LOAD};

/// Largest CPU number that is looked at: the kernel's own limit is 8192 (`NR_CPUS_RANGE_END` in arch/x86/Kconfig).
const MAX_CPU: u32 = 8191;

/// A year. Longer times are a slip of the finger, and would only overflow in sums later.
const MAX_SECONDS: f64 = 366.0 * 86_400.0;

/// A positive time in seconds: `30`, `30s`, `500ms`, `1.5m`, `2h`.
pub fn duration(text: &str) -> Result<f64, String> {
    let accepted = "expected a time above 0 such as 30, 30s, 500ms, 2m or 1h";
    let text = text.trim();
    let split = text.find(|c: char| c.is_ascii_alphabetic() || c == 'µ').unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let scale = match unit {
        "" | "s" | "sec" => 1.0,
        "us" | "µs" => 1e-6,
        "ms" => 1e-3,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(accepted.to_owned()),
    };
    let seconds = finite(number).ok_or(accepted)? * scale;
    if seconds > MAX_SECONDS {
        return Err("expected a time of at most a year".to_owned());
    }
    if seconds > 0.0 { Ok(seconds) } else { Err(accepted.to_owned()) }
}

/// A fraction: `2%` and `0.02` are the same. Plain numbers of 1 and more are refused, because `2` could mean either.
fn fraction(text: &str, accepted: &str) -> Result<f64, String> {
    let text = text.trim();
    if let Some(percent) = text.strip_suffix('%') {
        return finite(percent.trim_end()).map(|p| p / 100.0).ok_or_else(|| accepted.to_owned());
    }
    match finite(text) {
        Some(f) if f.abs() < 1.0 => Ok(f),
        Some(_) => Err(format!("{accepted}; write '{text}%' if you mean percent")),
        None => Err(accepted.to_owned()),
    }
}

/// The half-width of the band of sameness: at least 0 and below 1.
pub fn delta(text: &str) -> Result<f64, String> {
    let accepted = "expected a share from 0% to below 100%, such as 2% or 0.02";
    fraction(text, accepted).and_then(|f| in_range(f, (0.0..1.0).contains(&f), accepted))
}

/// A confidence: from one half to below 1.
pub fn confidence(text: &str) -> Result<f64, String> {
    let accepted = "expected a confidence from 50% to 99.99%, such as 95% or 0.95";
    fraction(text, accepted).and_then(|f| in_range(f, (0.5..=0.9999).contains(&f), accepted))
}

/// A percentage, with or without the sign: `5` and `5%` are 0.05. Percentages above 100 are meaningful here.
pub fn percent(text: &str) -> Result<f64, String> {
    let accepted = "expected a percentage from 0 to 100000, such as 5 or 5%";
    let number = text.trim().trim_end_matches('%').trim_end();
    let percent = finite(number).ok_or(accepted)?;
    in_range(percent / 100.0, (0.0..=100_000.0).contains(&percent), accepted)
}

/// Arrivals a second, above 0.
pub fn rate(text: &str) -> Result<f64, String> {
    let accepted = "expected starts a second, above 0 and at most 1000000, such as 50 or 0.5";
    let number = text.trim();
    let rate = finite(number.strip_suffix("/s").unwrap_or(number)).ok_or(accepted)?;
    in_range(rate, rate > 0.0 && rate <= 1e6, accepted)
}

/// Load levels: `1,10,100` or `auto`.
pub fn loads(text: &str) -> Result<Loads, String> {
    if text.trim() == "auto" {
        return Ok(Loads::Auto);
    }
    let mut loads = Vec::new();
    for part in text.split(',') {
        match part.trim().parse::<u32>() {
            Ok(load) if (1..=MAX_LOAD).contains(&load) => loads.push(load),
            _ => {
                return Err(format!(
                    "'{}' is no load; expected 'auto' or numbers of copies from 1 to {MAX_LOAD}, such as 1,10,100",
                    part.trim()
                ));
            }
        }
    }
    loads.sort_unstable();
    loads.dedup();
    Ok(Loads::Fixed(loads))
}

/// CPUs as the kernel writes them: `0-3,5`. Each once, in rising order.
pub fn cpu_list(text: &str) -> Result<Vec<u32>, String> {
    let cpus = cpu_list::parse(text).filter(|cpus| cpus.last().is_some_and(|last| *last <= MAX_CPU));
    cpus.ok_or_else(|| format!("expected CPU numbers up to {MAX_CPU} and ranges of them, such as 0-3,5"))
}

/// Bytes of the ring of a trace: a power of two from a page to 1 GiB, such as `65536`, `64K` or `16M`.
pub fn ring_size(text: &str) -> Result<u32, String> {
    let accepted = "expected a power of two from 4K to 1G, such as 64K, 16M or 1048576";
    let text = text.trim();
    let (number, scale) = match text.char_indices().last() {
        Some((at, 'k' | 'K')) => (&text[..at], 1 << 10),
        Some((at, 'm' | 'M')) => (&text[..at], 1 << 20),
        Some((at, 'g' | 'G')) => (&text[..at], 1 << 30),
        _ => (text, 1_u32),
    };
    let bytes = number.parse::<u32>().ok().and_then(|number| number.checked_mul(scale)).ok_or(accepted)?;
    let possible = bytes.is_power_of_two() && (1 << 12..=1 << 30).contains(&bytes);
    if possible { Ok(bytes) } else { Err(accepted.to_owned()) }
}

/// Stacks a second: more than the kernel's own limit, `kernel.perf_event_max_sample_rate`, are refused by it anyway.
pub fn sample_rate(text: &str) -> Result<u32, String> {
    match text.trim().parse::<u32>() {
        Ok(rate @ 1..=10_000) => Ok(rate),
        _ => Err("expected stacks a second from 1 to 10000".to_owned()),
    }
}

/// A count of at least 1.
pub fn count(text: &str) -> Result<u32, String> {
    whole(text, 1..=u32::MAX)
}

/// A count that may be 0.
pub fn count_or_none(text: &str) -> Result<u32, String> {
    whole(text, 0..=u32::MAX)
}

/// How many rows are listed.
pub fn rows(text: &str) -> Result<usize, String> {
    whole(text, 0..=usize::MAX)
}

/// How often the alternatives are observed.
pub fn rounds(text: &str) -> Result<u32, String> {
    whole(text, 1..=1000)
}

/// The number of a record in a store.
pub fn entry(text: &str) -> Result<i64, String> {
    text.trim().parse().map_err(|_| "expected a number that 'whyfaster store list' shows".to_owned())
}

/// A seed of chance.
pub fn seed(text: &str) -> Result<u64, String> {
    whole(text, 0..=u64::MAX)
}

fn whole<T: FromStr + PartialOrd + Display>(text: &str, within: RangeInclusive<T>) -> Result<T, String> {
    let number = text.trim().parse().ok().filter(|number| within.contains(number));
    number.ok_or_else(|| format!("expected a whole number from {} to {}", within.start(), within.end()))
}

/// A finite number. `inf` and `nan`, which Rust would read, are none.
fn finite(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|f| f.is_finite())
}

fn in_range(value: f64, holds: bool, accepted: &str) -> Result<f64, String> {
    if holds { Ok(value) } else { Err(accepted.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn durations_are_read_in_every_unit() {
        let cases =
            [("30", 30.0), ("30s", 30.0), ("2m", 120.0), ("500ms", 0.5), ("1.5h", 5400.0), ("250us", 250e-6)];
        for (text, seconds) in cases {
            assert!((duration(text).unwrap() - seconds).abs() < 1e-12, "{text}");
        }
        for text in ["", "0", "-1", "nan", "inf", "NaN", "30 parsecs", "s", "1e3", "1e300h", "9999999h"] {
            assert!(duration(text).is_err(), "{text} was accepted");
        }
    }

    #[test]
    fn a_fraction_may_be_written_in_two_ways_but_not_in_a_third() {
        assert_eq!(delta("2%"), delta("0.02"));
        assert_eq!(confidence("95%"), confidence("0.95"));
        assert!(delta("2").unwrap_err().contains("'2%'"));
        assert!(confidence("95").unwrap_err().contains("'95%'"));
        for text in ["-1%", "100%", "nan", "", "%", "two"] {
            assert!(delta(text).is_err(), "{text} was accepted");
        }
        for text in ["49%", "100%", "1", "nan%", "-0.95"] {
            assert!(confidence(text).is_err(), "{text} was accepted");
        }
        assert_eq!(percent("5"), percent("5%"));
        assert!(percent("-5").is_err() && percent("inf").is_err() && percent("").is_err());
    }

    #[test]
    fn loads_are_sorted_and_each_stands_once() {
        assert_eq!(loads("100,1,10,1"), Ok(Loads::Fixed(vec![1, 10, 100])));
        assert_eq!(loads("auto"), Ok(Loads::Auto));
        for text in ["", "0", "1,0", "1000001", "-1", "1.5", "1,,2", "many", "99999999999999999999"] {
            assert!(loads(text).is_err(), "{text} was accepted");
        }
    }

    #[test]
    fn rings_are_powers_of_two() {
        let sizes = [("4096", 4096), ("4K", 4096), ("64k", 65_536), ("16M", 16 << 20), ("1G", 1 << 30)];
        for (text, bytes) in sizes {
            assert_eq!(ring_size(text), Ok(bytes), "{text}");
        }
        for text in ["", "K", "0", "2048", "5000", "3M", "2G", "4G", "-1", "1.5M", "16MB", "99999999999G"] {
            assert!(ring_size(text).is_err(), "{text} was accepted");
        }
        assert!(sample_rate("499").is_ok() && sample_rate("0").is_err() && sample_rate("10001").is_err());
    }

    #[test]
    fn a_list_of_cpus_names_some_that_may_be() {
        assert_eq!(cpu_list("0-3,5"), Ok(vec![0, 1, 2, 3, 5]));
        for text in ["", "3-0", "0-8192", "0-4294967295"] {
            assert!(cpu_list(text).is_err(), "{text} was accepted");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_a_parser_panic(text in any::<String>()) {
            let _ = (duration(&text), delta(&text), confidence(&text), percent(&text), rate(&text));
            let _ = (loads(&text), cpu_list(&text), count(&text), ring_size(&text), sample_rate(&text));
        }
    }
}
