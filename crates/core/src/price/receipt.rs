//! Receipts: what really happened per operation, and the rule that refuses a price which its receipt contradicts.
//!
//! A benchmark that times a "context switch" which never happens, a call that a cache in the C library answers, or a batch
//! shorter than its clock's step prints a number all the same. Here such a row has no number, and the reason.

use serde::{Deserialize, Serialize};

use super::clean::Clean;
use super::sample::{Range, Row, Sample};
use crate::missing::{Counted, Obstacle};
use whyfaster_stats::quantile;

/// A batch must last so long, which is some five readings of the clock: a shorter one may be nothing but these.
const LEAST_BATCH_NS: f64 = 100.0;

/// Clock steps that a batch must last. What one step may be wrong by is said ([`Receipt::clock_step`]).
const LEAST_TICKS: f64 = 10.0;

/// From so many clock steps on, one of them is an error of at most 1%.
const FINE_TICKS: f64 = 100.0;

/// No operation of a computer is cheaper: a tenth of a clock cycle of 5 GHz.
const LEAST_NS: f64 = 0.02;

/// How far a count per operation may lie outside of what the probe promises: the ends of a batch (a thread that has not
/// gone to sleep before the first event) and the counting itself touch a few operations.
const SLACK: f64 = 0.1;

/// What happened per operation. A count that could not be made is null.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Receipt {
    /// Voluntary context switches.
    pub switches: Option<f64>,
    /// Involuntary context switches.
    #[serde(default)]
    pub involuntary: Option<f64>,
    /// System calls, counted in an untimed run under a tracer.
    pub syscalls: Option<f64>,
    /// Changes of CPU.
    pub migrations: Option<f64>,
    /// Share of the samples in which the one that sends and the one that receives ran on different CPUs: what the scheduler
    /// chose, where it was left free.
    #[serde(default)]
    pub apart: Option<f64>,
    /// Bytes that were moved.
    #[serde(default)]
    pub bytes: Option<f64>,
    /// Clock steps that the median batch lasted.
    #[serde(default)]
    pub batch_ticks: Option<f64>,
}

impl Receipt {
    /// The part of the price that one step of the clock is, where that is more than 1%: many virtual machines and AMD's CPUs have steps of 10 ns.
    pub fn clock_step(&self) -> Option<f64> {
        self.batch_ticks.filter(|ticks| *ticks < FINE_TICKS).map(f64::recip)
    }
}

/// The receipt of a row: its kept samples, and the calls that were counted apart.
pub fn receipt(row: &Row, clean: &Clean, resolution_ns: Option<f64>) -> Receipt {
    let batches: Vec<f64> = clean.samples().map(|sample| sample.elapsed_ns).collect();
    let ticks = |resolution: f64| Some(quantile::median(&batches)? / resolution);
    Receipt {
        switches: per_operation(clean, |sample| sample.voluntary),
        involuntary: per_operation(clean, |sample| sample.involuntary),
        syscalls: row.syscalls,
        migrations: per_operation(clean, |sample| sample.migrations),
        apart: apart(clean),
        bytes: per_operation(clean, |sample| sample.bytes),
        batch_ticks: resolution_ns.filter(|ns| *ns > 0.0).and_then(ticks),
    }
}

/// The share of samples whose two sides ran on different CPUs, of those that tell.
fn apart(clean: &Clean) -> Option<f64> {
    let (mut apart, mut told) = (0.0, 0.0);
    for [one, other] in clean.samples().filter_map(|sample| sample.on) {
        told += 1.0;
        apart += f64::from(u8::from(one != other));
    }
    (told > 0.0).then_some(apart / told)
}

/// A count over all kept samples per operation; `None` if any sample lacks it.
fn per_operation(clean: &Clean, count: impl Fn(&Sample) -> Option<u64>) -> Option<f64> {
    let mut total = (0.0, 0.0);
    for sample in clean.samples() {
        total = (total.0 + count(sample)? as f64, total.1 + sample.ops as f64);
    }
    (total.1 > 0.0).then_some(total.0 / total.1)
}

/// Why this price cannot be one, if its receipt contradicts it.
pub fn refusal(
    row: &Row,
    receipt: &Receipt,
    typical_ns: f64,
    resolution_ns: Option<f64>,
) -> Option<Obstacle> {
    let needed = resolution_ns.map_or(LEAST_TICKS, |step| (LEAST_BATCH_NS / step).max(LEAST_TICKS));
    if let Some(ticks) = receipt.batch_ticks.filter(|ticks| *ticks < needed) {
        return Some(Obstacle::ShortBatch { ticks, needed });
    }
    if typical_ns < LEAST_NS {
        return Some(Obstacle::NothingHappened { ns: typical_ns, operation: unit(row).to_owned() });
    }
    let expect = &row.expect;
    let both =
        receipt.switches.zip(receipt.involuntary).map(|(voluntary, involuntary)| voluntary + involuntary);
    let checks = [
        (Counted::VoluntarySwitches, receipt.switches, expect.voluntary),
        (Counted::Switches, both, expect.switches),
        (Counted::SystemCalls, receipt.syscalls, expect.syscalls),
    ];
    checks.into_iter().find_map(|(counted, seen, range)| {
        let (seen, promised) = (seen?, contradiction(seen?, range)?);
        Some(Obstacle::Contradicted { counted, seen, promised })
    })
}

/// The end of the range that this count is beyond.
fn contradiction(seen: f64, range: Range) -> Option<f64> {
    let below = range.min.filter(|min| seen < min * (1.0 - SLACK));
    below.or_else(|| range.max.filter(|max| seen > max + SLACK * max.max(1.0)))
}

fn unit(row: &Row) -> &str {
    if row.unit.is_empty() { "an operation" } else { &row.unit }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::sample::{Expect, Series};
    use super::*;

    fn row(switches: Range, syscalls: Range) -> Row {
        Row {
            unit: "one call".into(),
            expect: Expect { switches, syscalls, ..Expect::default() },
            ..Row::default()
        }
    }

    fn least(min: f64) -> Range {
        Range { min: Some(min), max: None }
    }

    fn none() -> Range {
        Range { min: None, max: Some(0.0) }
    }

    #[test]
    fn planted_lies_are_refused_with_the_reason() {
        let seen = |switches, syscalls| Receipt {
            switches: Some(switches),
            involuntary: Some(0.0),
            syscalls: Some(syscalls),
            batch_ticks: Some(500.0),
            ..Receipt::default()
        };
        let lie = |row: &Row, receipt, ns| match refusal(row, &receipt, ns, None) {
            Some(Obstacle::Contradicted { counted, seen, promised }) => Some((counted, seen, promised)),
            _ => None,
        };
        // The context switch that did not happen (60 ns by one well known program).
        let switch = Some((Counted::Switches, 0.0, 1.0));
        assert_eq!(lie(&row(least(1.0), Range::default()), seen(0.0, 1.0), 60.0), switch);
        // One that another task forced is a switch all the same, but no sleep.
        let pushed = Receipt { involuntary: Some(1.0), ..seen(0.0, 1.0) };
        assert_eq!(refusal(&row(least(1.0), Range::default()), &pushed, 60.0, None), None);
        let mut asleep = row(Range::default(), Range::default());
        asleep.expect.voluntary = least(0.5);
        assert_eq!(lie(&asleep, pushed, 60.0), Some((Counted::VoluntarySwitches, 0.0, 0.5)));
        // The getpid that a C library answered.
        let entered = row(Range::default(), least(1.0));
        assert_eq!(lie(&entered, seen(0.0, 0.0), 3.0), Some((Counted::SystemCalls, 0.0, 1.0)));
        // The vDSO that fell back to a call.
        let fell_back = Some((Counted::SystemCalls, 1.0, 0.0));
        assert_eq!(lie(&row(Range::default(), none()), seen(0.0, 1.0), 300.0), fell_back);
        // The 0.00000 us.
        let nothing = Obstacle::NothingHappened { ns: 0.0, operation: "one call".into() };
        assert_eq!(refusal(&entered, &seen(0.0, 1.0), 0.0, None), Some(nothing));
        // So many steps of so many nanoseconds, and how many are needed.
        for (ticks, step, needed) in
            [(60.0, 1.0, Some(100.0)), (110.0, 1.0, None), (9.0, 10.0, Some(10.0)), (15.0, 10.0, None)]
        {
            let short = Receipt { batch_ticks: Some(ticks), ..seen(0.0, 1.0) };
            let refused = needed.map(|needed| Obstacle::ShortBatch { ticks, needed });
            assert_eq!(refusal(&entered, &short, 90.0, Some(step)), refused, "{ticks} steps of {step} ns");
        }
    }

    #[test]
    fn the_truth_is_not_refused() {
        let whole = row(least(1.0), least(2.0));
        let receipt = Receipt {
            switches: Some(0.98),
            syscalls: Some(2.0),
            batch_ticks: Some(1e4),
            ..Receipt::default()
        };
        assert_eq!(refusal(&whole, &receipt, 5000.0, None), None);
        // What could not be counted contradicts nothing.
        assert_eq!(refusal(&whole, &Receipt::default(), 5000.0, None), None);
    }

    #[test]
    fn counts_are_per_operation_and_unknown_if_any_is() {
        let mut series = Series::default();
        for (ops, voluntary) in [(10, Some(10)), (20, Some(19))] {
            series.push(Sample { ops, elapsed_ns: 1000.0, voluntary, migrations: None, ..Sample::default() });
        }
        let clean = Clean::of([&series], &Expect::default());
        let receipt = receipt(&Row { syscalls: Some(3.0), ..Row::default() }, &clean, Some(10.0));
        assert!((receipt.switches.unwrap() - 29.0 / 30.0).abs() < 1e-12);
        assert_eq!(
            (receipt.migrations, receipt.syscalls, receipt.batch_ticks),
            (None, Some(3.0), Some(100.0))
        );
    }

    #[test]
    fn what_the_scheduler_chose_and_what_was_moved() {
        let mut series = Series::default();
        for on in [Some([0, 1]), Some([1, 1]), Some([1, 0]), Some([2, 0]), None] {
            series.push(Sample { ops: 2, elapsed_ns: 1000.0, on, bytes: Some(128), ..Sample::default() });
        }
        let found = receipt(&Row::default(), &Clean::of([&series], &Expect::default()), None);
        assert_eq!((found.apart, found.bytes), (Some(0.75), Some(64.0)));
    }

    proptest! {
        /// Below the bounds by more than the slack: always refused. Within: never.
        #[test]
        fn the_rule_is_monotone(min in 0.1..10.0f64, share in 0.0..3.0f64) {
            let refused = refusal(&row(least(min), Range::default()), &Receipt { switches: Some(min * share), involuntary: Some(0.0), ..Receipt::default() }, 100.0, None).is_some();
            prop_assert_eq!(refused, min * share < min * (1.0 - SLACK));
        }
    }
}
