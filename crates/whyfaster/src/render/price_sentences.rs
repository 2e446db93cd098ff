//! What a price list says in sentences. A sentence stands only where the list has every number in it.

use whyfaster_core::price::{Price, PriceList};

use super::look::Look;
use super::units::price;

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

impl Prices<'_> {
    fn ns(&self, name: &str, variant: &str) -> Option<f64> {
        self.list.find(name, Some(variant))?.typical_ns()
    }

    fn text(&self, ns: f64) -> String {
        price(ns, self.look)
    }
}

/// What it costs to enter the kernel, and what the vDSO saves.
fn entering(p: &Prices<'_>) -> Option<String> {
    let raw = p.ns("getppid", "raw").or_else(|| p.ns("getpid", "raw"))?;
    let entering = format!("Entering the kernel and coming back costs {}", p.text(raw));
    let clock = p.ns("clock_gettime", "vdso").zip(p.ns("clock_gettime", "raw"));
    Some(match clock {
        Some((vdso, raw)) if vdso < raw => {
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
    let price = p.list.find("clock_gettime", Some("libc"))?;
    let calls = price.receipt.syscalls.filter(|calls| *calls > 0.5)?;
    let source = p.list.fingerprint.facts.clocksource.as_deref().unwrap_or("unknown");
    Some(format!(
        "Reading the clock enters the kernel here ({calls:.0} call each, {}): the vDSO does not answer; the clock source is {source}.",
        p.text(price.typical_ns()?)
    ))
}

/// What it costs to start a program, and how.
fn starting(p: &Prices<'_>) -> Option<String> {
    let fork = p.ns("fork+execve", "reaped")?;
    let ways = ["posix_spawn", "vfork+execve"];
    let (name, least) = ways
        .into_iter()
        .filter_map(|name| Some((name, p.ns(name, "reaped")?)))
        .min_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(format!(
        "Starting a program and waiting for its end costs {} with fork and execve, {} with {name}.",
        p.text(fork),
        p.text(least)
    ))
}

/// What the memory of the parent adds to a fork.
fn memory(p: &Prices<'_>) -> Option<String> {
    let fork = p.ns("fork", "parent,rss=1G")?;
    let none = p.ns("fork", "parent")?;
    let spawn = p.ns("posix_spawn", "parent,rss=1G")?;
    Some(format!(
        "fork costs {} with 1 GiB touched ({} without); posix_spawn stays at {}.",
        p.text(fork),
        p.text(none),
        p.text(spawn)
    ))
}

/// The cheapest and the dearest way to hand an event over.
fn events(p: &Prices<'_>) -> Option<String> {
    let rows = |variant: &str| -> Vec<&Price> {
        let mut rows: Vec<&Price> = p
            .list
            .prices
            .iter()
            .filter(|price| {
                price.group == "thread" && price.variant == variant && price.typical_ns().is_some()
            })
            .collect();
        rows.sort_by(|a, b| a.typical_ns().partial_cmp(&b.typical_ns()).unwrap_or(std::cmp::Ordering::Equal));
        rows
    };
    let rows = rows("asleep,other_cpu");
    let (first, last) = (rows.first()?, rows.last()?);
    if rows.len() < 3 {
        return None;
    }
    Some(format!(
        "Waking a sleeping thread on another CPU takes from {} ({}) to {} ({}).",
        p.text(first.typical_ns()?),
        first.name,
        p.text(last.typical_ns()?),
        last.name
    ))
}

/// What the other CPU costs.
fn placement(p: &Prices<'_>) -> Option<String> {
    let same = p.ns("pipe", "asleep,same_cpu")?;
    let other = p.ns("pipe", "asleep,other_cpu")?;
    Some(format!(
        "An event through a pipe to a sleeping thread takes {} on the same CPU and {} to another one, {:.1} times as long.",
        p.text(same),
        p.text(other),
        other / same
    ))
}
