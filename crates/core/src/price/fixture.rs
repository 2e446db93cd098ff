//! Lists made by hand, for the tests of this module.

use super::fingerprint::Fingerprint;
use super::inside::Unit;
use super::list::{Clock, PriceList, SCHEMA};
use super::sample::{Expect, Row, Sample, Series};
use crate::status::Status;

/// A row that is disturbed by everything and promises nothing.
pub(crate) fn row(group: &str, name: &str, variant: &str) -> Row {
    Row {
        group: group.into(),
        name: name.into(),
        variant: variant.into(),
        unit: "one operation".into(),
        expect: Expect { involuntary_disturbs: true, migration_disturbs: true, ..Expect::default() },
        ..Row::default()
    }
}

/// Repetitions of samples around a cost, spread by 2% in a way that does not depend on chance.
pub(crate) fn samples(repetitions: u32, each: u32, cost_ns: f64) -> Vec<Series> {
    let series = |repetition| {
        let mut series = Series::new(0, repetition, f64::from(repetition));
        for i in 0..each {
            let noise = f64::from((repetition * 7 + i * 3) % 11) / 500.0;
            let elapsed_ns = 200.0 * cost_ns * (1.0 + noise);
            let sample = Sample {
                ops: 200,
                elapsed_ns,
                voluntary: Some(0),
                involuntary: Some(0),
                migrations: Some(0),
                delay_ns: Some(0.0),
                ..Sample::default()
            };
            series.push(sample);
        }
        series
    };
    (0..repetitions).map(series).collect()
}

/// A list of these rows, priced.
pub(crate) fn list(rows: Vec<(Row, Vec<Series>)>) -> PriceList {
    let mut list = PriceList {
        schema: SCHEMA.into(),
        tool_version: "0.0.0".into(),
        name: "a machine".into(),
        source: None,
        study: None,
        handing: None,
        started: "2026-01-01T00:00:00Z".into(),
        took_s: 1.0,
        status: Status::Complete,
        unit: Unit::default(),
        inside: None,
        confidence: 0.95,
        clock: Some(Clock {
            name: "monotonic".into(),
            resolution_ns: Some(1.0),
            cost_ns: Some(20.0),
            tsc_hz: None,
        }),
        fingerprint: Fingerprint::default(),
        prices: Vec::new(),
        warnings: Vec::new(),
        not_measured: Vec::new(),
        rows: Vec::new(),
        samples: Vec::new(),
    };
    for (index, (row, series)) in rows.into_iter().enumerate() {
        list.rows.push(row);
        list.samples.extend(series.into_iter().map(|one| Series { row: index, ..one }));
    }
    list.reprice();
    list
}
