//! What a price list says in sentences. A sentence stands only where the list has every number in it. A price whose interval
//! is wide is said with it, and two prices are ordered only where their intervals do not touch.

use std::cmp::Ordering;

use whyfaster_core::price::{Price, PriceList};
use whyfaster_words::look::Look;
use whyfaster_words::units::price;

/// The sentences that this list supports.
pub fn sentences(list: &PriceList, look: &Look) -> Vec<String> {
    let all: [fn(&Prices<'_>) -> Option<String>; 6] =
        [entering, clock_in_kernel, starting, memory, events, placement];
    let prices = Prices { list, look };
    all.into_iter().filter_map(|sentence| sentence(&prices)).collect()
}

struct Prices<'a> {
    list: &'a PriceList,
    look: &'a Look,
}

/// An interval that reaches further than this part of the price is said with it.
const WIDE: f64 = 0.25;

impl Prices<'_> {
    fn price(&self, name: &str, variant: &str) -> Option<&Price> {
        self.list.find(name, Some(variant)).filter(|price| price.typical_ns().is_some())
    }

    fn ns(&self, ns: f64) -> String {
        price(ns, self.look)
    }

    /// A price; with its interval where that is wide.
    fn text(&self, price: &Price) -> String {
        let typical = price.typical_ns().unwrap_or_default();
        let shown = self.ns(typical);
        match (price.low_ns, price.high_ns) {
            (Some(low), Some(high)) if (high - typical).max(typical - low) > WIDE * typical => {
                format!("{shown} (it may be {} to {})", self.ns(low), self.ns(high))
            }
            _ => shown,
        }
    }
}

/// Whether one price is below another, so that their intervals do not touch. Prices without an interval are not ordered.
fn below(one: &Price, other: &Price) -> bool {
    one.high_ns.zip(other.low_ns).is_some_and(|(high, low)| high < low)
}

/// What it costs to enter the kernel, and what the vDSO saves.
fn entering(p: &Prices<'_>) -> Option<String> {
    let raw = p.price("getppid", "raw").or_else(|| p.price("getpid", "raw"))?;
    let entering = format!("Entering the kernel and coming back costs {}", p.text(raw));
    let clock = p.price("clock_gettime", "vdso").zip(p.price("clock_gettime", "raw"));
    Some(match clock {
        Some((vdso, raw)) if below(vdso, raw) => {
            format!(
                "{entering}; the vDSO reads the clock without it, in {} instead of {}.",
                p.text(vdso),
                p.text(raw)
            )
        }
        _ => format!("{entering}."),
    })
}

/// A C library that enters the kernel to read the clock.
fn clock_in_kernel(p: &Prices<'_>) -> Option<String> {
    let price = p.price("clock_gettime", "libc")?;
    let calls = price.receipt.syscalls.filter(|calls| *calls > 0.5)?;
    let source = p.list.fingerprint.facts.clocksource.as_deref().unwrap_or("unknown");
    Some(format!(
        "Reading the clock enters the kernel here ({calls:.0} call each, {}): the vDSO does not answer; the clock source is {source}.",
        p.text(price)
    ))
}

/// What it costs to start a program, and how.
fn starting(p: &Prices<'_>) -> Option<String> {
    let fork = p.price("fork+execve", "reaped")?;
    let ways = ["posix_spawn", "vfork+execve"].into_iter().filter_map(|name| p.price(name, "reaped"));
    let least = ways.min_by(|a, b| a.typical_ns().partial_cmp(&b.typical_ns()).unwrap_or(Ordering::Equal))?;
    let undecided = if below(least, fork) || below(fork, least) { "" } else { UNDECIDED };
    Some(format!(
        "Starting a program and waiting for its end costs {} with fork and execve, {} with {}{undecided}.",
        p.text(fork),
        p.text(least),
        least.name
    ))
}

/// What stands behind two prices that the list does not tell apart.
const UNDECIDED: &str = "; the intervals do not tell the two apart";

/// What the memory of the parent adds to a fork.
fn memory(p: &Prices<'_>) -> Option<String> {
    let fork = p.price("fork", "parent,rss=1G")?;
    let none = p.price("fork", "parent")?;
    let spawn = p.price("posix_spawn", "parent,rss=1G")?;
    let apart = below(spawn, fork);
    // It stays where it is if the memory adds nothing that the list can tell.
    let stays = p.price("posix_spawn", "parent").is_some_and(|small| !below(small, spawn));
    let verb = if apart && stays { "stays at" } else { "costs" };
    Some(format!(
        "fork costs {} with 1 GiB touched ({} without); posix_spawn {verb} {}{}.",
        p.text(fork),
        p.text(none),
        p.text(spawn),
        if apart { "" } else { UNDECIDED }
    ))
}

/// The cheapest and the dearest way to hand an event over.
fn events(p: &Prices<'_>) -> Option<String> {
    let is = |price: &&Price| {
        price.group == "thread" && price.variant == "asleep,other_cpu" && price.typical_ns().is_some()
    };
    let mut rows: Vec<&Price> = p.list.prices.iter().filter(is).collect();
    rows.sort_by(|a, b| a.typical_ns().partial_cmp(&b.typical_ns()).unwrap_or(Ordering::Equal));
    let (first, last) = (rows.first()?, rows.last()?);
    if rows.len() < 3 || !below(first, last) {
        return None;
    }
    Some(format!(
        "Waking a sleeping thread on another CPU takes from {} ({}) to {} ({}).",
        p.text(first),
        first.name,
        p.text(last),
        last.name
    ))
}

/// What the other CPU costs.
fn placement(p: &Prices<'_>) -> Option<String> {
    let same = p.price("pipe", "asleep,same_cpu")?;
    let other = p.price("pipe", "asleep,other_cpu")?;
    let ratio = other.typical_ns()? / same.typical_ns()?;
    let times = if below(same, other) {
        format!(", {ratio:.1} times as long")
    } else if below(other, same) {
        ", which is less".to_owned()
    } else {
        UNDECIDED.to_owned()
    };
    Some(format!(
        "An event through a pipe to a sleeping thread takes {} on the same CPU and {} to another one{times}.",
        p.text(same),
        p.text(other)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::look;
    use crate::prices::tests::list_of;

    /// Typical price and interval.
    type Row = (&'static str, &'static str, &'static str, [f64; 3]);

    fn said(rows: &[Row]) -> String {
        let price = |(group, name, variant, [low, typical, high]): &Row| Price {
            group: (*group).into(),
            name: (*name).into(),
            variant: (*variant).into(),
            median_ns: Some(*typical),
            low_ns: Some(*low),
            high_ns: Some(*high),
            ..Price::default()
        };
        sentences(&list_of(rows.iter().map(price).collect()), &look(120, false)).join("\n")
    }

    #[test]
    fn a_wide_interval_is_said_and_what_overlaps_is_not_ordered() {
        let fork = |ends| ("process", "fork+execve", "reaped", ends);
        let vfork = ("process", "vfork+execve", "reaped", [1.8e5, 1.9e5, 2.0e5]);
        let noisy = said(&[fork([1.9e5, 2.39e6, 3.98e6]), vfork]);
        assert!(noisy.contains("2.39 ms (it may be 190 us to 3.98 ms)"), "{noisy}");
        assert!(noisy.contains("do not tell the two apart"), "{noisy}");
        let clear = said(&[fork([2.4e5, 2.5e5, 2.6e5]), vfork]);
        assert!(clear.contains("costs 250 us with fork and execve, 190 us with vfork+execve."), "{clear}");
    }

    #[test]
    fn how_many_times_as_long_needs_two_intervals_apart() {
        let pipe = |variant, ends| ("thread", "pipe", variant, ends);
        let of = |other| said(&[pipe("asleep,same_cpu", [9e3, 1e4, 1.1e4]), pipe("asleep,other_cpu", other)]);
        assert!(of([1.9e4, 2e4, 2.1e4]).contains("2.0 times as long."));
        let less = of([7e3, 8e3, 8.5e3]);
        assert!(less.contains("which is less") && !less.contains("times as long"), "{less}");
        assert!(of([7e3, 1.3e4, 1.4e4]).contains("do not tell the two apart"));
    }

    #[test]
    fn posix_spawn_stays_only_where_it_does() {
        let of = |spawn| {
            said(&[
                ("process", "fork", "parent", [8e4, 9e4, 9.5e4]),
                ("process", "fork", "parent,rss=1G", [1.4e7, 1.5e7, 1.6e7]),
                ("process", "posix_spawn", "parent", [4e4, 5e4, 6e4]),
                ("process", "posix_spawn", "parent,rss=1G", spawn),
            ])
        };
        assert!(of([4.5e4, 5.2e4, 6e4]).contains("posix_spawn stays at 52.0 us."));
        assert!(of([4.5e5, 5.2e5, 6e5]).contains("posix_spawn costs 520 us."));
        assert!(of([1e4, 5.2e5, 9e7]).contains("do not tell the two apart"));
    }
}
