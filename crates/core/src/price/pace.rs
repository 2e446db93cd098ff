//! How quick the CPU itself was while a list was made.
//!
//! A CPU changes its clock, and a virtual one loses up to half of its speed to a neighbour on the same core, for seconds or
//! minutes and without any steal. All repetitions of a quick list may lie in such a time, so its own drift does not show it.
//! Every list times plain user code ([`COMPUTE`]) in every repetition, among the other rows. Where that took longer for one of two
//! lists of one kind of CPU, its prices are dearer by that much for no reason of the kernel's.

use serde::{Deserialize, Serialize};

use super::fingerprint::Fact;
use super::inside::Unit;
use super::list::PriceList;
use super::side::Side;

/// The probe of plain user code.
pub const COMPUTE: &str = "compute";

/// Error probability of its interval.
const ALPHA: f64 = 0.05;

/// How much more the kernel's paths feel a neighbour than plain user code does, on the log scale. Among 66 pairs of lists of one
/// virtual machine whose speed moved all the time, some row differed in 3 without this rule, in 1 with a factor of 1, in none with 2.
const FEELS: f64 = 2.0;

/// The time of plain user code in a list over that in the baseline.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pace {
    /// The ratio of the variant in which they differ most.
    pub ratio: f64,
    /// The lowest end of the intervals of all variants.
    pub low: f64,
    /// The highest end.
    pub high: f64,
}

impl Pace {
    /// Of two lists; `None` where one of them lacks the rows, or where they are of two kinds of CPU: then the speed of the CPU
    /// belongs to the machine and not to the minute.
    pub(super) fn between(first: &Side<'_>, second: &Side<'_>) -> Option<Self> {
        if !one_kind(first.list, second.list) {
            return None;
        }
        let variants = first.list.prices.iter().filter(|price| price.name == COMPUTE);
        let each = variants.filter_map(|price| {
            let evidence = first.evidence(second, (&price.name, &price.variant))?;
            // With too few repetitions for an interval, all that was seen.
            let (low, high) = evidence.interval(ALPHA).or_else(|| evidence.range())?;
            Some(Self { ratio: evidence.estimate()?.exp(), low: low.exp(), high: high.exp() })
        });
        each.reduce(|a, b| Self {
            ratio: if a.ratio.ln().abs() >= b.ratio.ln().abs() { a.ratio } else { b.ratio },
            low: a.low.min(b.low),
            high: a.high.max(b.high),
        })
    }

    /// By how much a price may be dearer (or, if it is not, cheaper) for this alone, on the log scale.
    pub fn noise(&self, dearer: bool) -> f64 {
        FEELS * if dearer { self.high.ln() } else { -self.low.ln() }.max(0.0)
    }
}

/// Whether both were measured on CPUs of one kind that is known, in the same place (emulators have speeds of their own).
fn one_kind(first: &PriceList, second: &PriceList) -> bool {
    let alike = |fact| first.fingerprint.fact(fact) == second.fingerprint.fact(fact);
    let machine = |list: &PriceList| list.fingerprint.facts.machine.clone();
    let place =
        |list: &PriceList| list.inside.as_ref().map(|inside| (inside.kind.clone(), inside.machine.clone()));
    first.unit == Unit::Nanoseconds
        && first.fingerprint.fact(Fact::Cpu).is_some()
        && [Fact::Cpu, Fact::Microcode, Fact::Hypervisor, Fact::Governor].into_iter().all(alike)
        && machine(first) == machine(second)
        && place(first) == place(second)
}

#[cfg(test)]
#[path = "pace_tests.rs"]
mod tests;
