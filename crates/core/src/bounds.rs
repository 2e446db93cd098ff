//! Lower bounds of the makespan, and the crossover that they predict. The step from one copy alone to any load.
//!
//! N copies on C CPUs cannot end before the longest of them could alone (span), nor before C CPUs have done all the work:
//! T(N) >= max(span, N * work / C). This is Brent's work and span bound, and the asymptotic bound of operational
//! analysis (Denning and Buzen 1978). It knows nothing of memory, disks or caches: it is a floor, not a forecast.

use serde::{Deserialize, Serialize};

use crate::host::{Host, HostFacts};
use crate::plan::Plan;

/// What one copy needs when it runs alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Alone {
    /// Wall time, seconds.
    pub span_s: f64,
    /// CPU time of its process tree, seconds.
    pub work_s: f64,
}

impl Alone {
    /// The least time in which `capacity` CPUs can do the work of `load` copies, seconds.
    pub fn work_bound_s(&self, load: f64, capacity: f64) -> f64 {
        load * self.work_s / capacity
    }

    /// The least makespan of `load` copies on `capacity` CPUs, seconds.
    pub fn makespan_bound_s(&self, load: f64, capacity: f64) -> f64 {
        self.span_s.max(self.work_bound_s(load, capacity))
    }
}

/// Lower bound of the makespan at a level: the larger of span and N * work / C.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Bound {
    /// The span, seconds.
    pub span_s: f64,
    /// N * work / C, seconds.
    pub work_s: f64,
    /// The larger of the two.
    pub makespan_s: f64,
    /// Measured makespan over the bound.
    pub gap: f64,
}

/// The load at which the bounds of two alternatives meet and change places. `None` if one is never above the other.
///
/// Only a shorter span bought with more work gives a crossing. The longer span has the less work, so its curve is still
/// flat where the other, rising with N * work / C, reaches it: N = C * (longer span) / (larger work). Below it the shorter span
/// has the lower bound, above it the smaller work.
pub fn crossover(a: Alone, b: Alone, capacity: f64) -> Option<f64> {
    let (short, long) = if a.span_s < b.span_s { (a, b) } else { (b, a) };
    if short.span_s >= long.span_s || short.work_s <= long.work_s {
        return None;
    }
    let load = capacity * long.span_s / short.work_s;
    (load.is_finite() && load > 0.0).then_some(load)
}

/// CPUs that the copies can use: those of the plan or those allowed, and no more than the cgroup's quota pays for.
///
/// A quota of 1.5 CPUs is 1.5: the work bound needs no whole number. Where the machine told nothing, 1 is taken; see [`capacity_known`].
pub fn capacity(plan: &Plan, host: &Host) -> f64 {
    capacity_on(plan.cpus.as_deref(), &host.before)
}

/// The same for what is no plan: on these CPUs, or on those allowed.
pub fn capacity_on(pinned: Option<&[u32]>, facts: &HostFacts) -> f64 {
    let cpus = cpus(pinned, facts).unwrap_or(1.0);
    match facts.cgroup_cpus {
        // The kernel's least quota is 1 ms of a second.
        Some(quota) if quota > 0.0 => cpus.min(quota.max(0.001)),
        _ => cpus,
    }
}

/// Whether [`capacity`] rests on facts of the machine.
pub fn capacity_known(plan: &Plan, host: &Host) -> bool {
    cpus(plan.cpus.as_deref(), &host.before).is_some()
}

fn cpus(pinned: Option<&[u32]>, facts: &HostFacts) -> Option<f64> {
    let listed = pinned.or(facts.cpus_allowed.as_deref()).map(<[u32]>::len);
    let count = listed.filter(|&n| n > 0).map(|n| n as f64);
    count.or(facts.cpus_online.filter(|&n| n > 0).map(f64::from))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SERIAL: Alone = Alone { span_s: 1.0, work_s: 1.0 };
    const PIPE: Alone = Alone { span_s: 0.6, work_s: 1.2 };

    #[test]
    fn bounds_by_hand() {
        assert_eq!(SERIAL.makespan_bound_s(1.0, 2.0), 1.0);
        assert_eq!(SERIAL.makespan_bound_s(2.0, 2.0), 1.0);
        assert_eq!(SERIAL.makespan_bound_s(10.0, 2.0), 5.0);
        assert_eq!(PIPE.makespan_bound_s(10.0, 2.0), 6.0);
    }

    #[test]
    fn crossover_by_hand() {
        // N* = C * W_A / W_B for a serial A: 2 * 1 / 1.2.
        let load = crossover(SERIAL, PIPE, 2.0).unwrap();
        assert!((load - 2.0 / 1.2).abs() < 1e-12);
        assert_eq!(crossover(PIPE, SERIAL, 2.0), Some(load));
    }

    #[test]
    fn a_dominated_alternative_never_crosses() {
        let better = Alone { span_s: 0.5, work_s: 0.5 };
        assert_eq!(crossover(SERIAL, better, 2.0), None);
        assert_eq!(crossover(SERIAL, SERIAL, 2.0), None);
        assert_eq!(crossover(Alone { span_s: 1.0, work_s: 2.0 }, SERIAL, 2.0), None);
    }

    proptest! {
        #[test]
        fn the_curves_change_places_at_the_crossover(
            span_a in 0.01..10.0f64, span_b in 0.01..10.0f64, extra_a in 0.1..8.0f64, extra_b in 0.1..8.0f64, c in 1u32..64,
        ) {
            // A copy cannot do more work than C CPUs can in its span.
            let c = f64::from(c);
            let a = Alone { span_s: span_a, work_s: span_a * extra_a.min(c) };
            let b = Alone { span_s: span_b, work_s: span_b * extra_b.min(c) };
            let at = |load: f64| a.makespan_bound_s(load, c) - b.makespan_bound_s(load, c);
            match crossover(a, b, c) {
                Some(load) => {
                    prop_assert!(at(load).abs() < 1e-9 * (span_a + span_b));
                    prop_assert!(at(load * 0.5) * at(load * 4.0) < 0.0);
                }
                None => prop_assert!(at(1e-3).signum() * at(1e6).signum() >= 0.0),
            }
        }
    }
}
