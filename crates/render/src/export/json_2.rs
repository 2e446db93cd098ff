//! The JSON of hyperfine 2, schema 2: every metric of every run, and what follows from them.

use std::collections::BTreeMap;

use serde::Serialize;
use whyfaster_core::metric::{Dimension, Metric};
use whyfaster_core::record::Record;
use whyfaster_words::metric::Chosen;

use super::hyperfine::{Outcome, Run, Summary};
use super::markup_2::primary;

/// The version whose files these are like.
const LIKE: &str = "2.0.0";

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    metadata: Metadata<'a>,
    primary_metric: Metric,
    results: Vec<Benchmark<'a>>,
}

#[derive(Serialize)]
struct Metadata<'a> {
    hyperfine_version: &'static str,
    start_time: &'a str,
    platform: Platform<'a>,
}

#[derive(Serialize)]
struct Platform<'a> {
    os: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    architecture: Option<&'a str>,
}

#[derive(Serialize)]
struct Benchmark<'a> {
    command: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    measurements: Vec<Measurement>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    parameters: BTreeMap<&'a str, Parameter<'a>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    environment: &'a BTreeMap<String, String>,
    summary: BTreeMap<&'static str, Statistics>,
}

#[derive(Serialize)]
struct Parameter<'a> {
    value: &'a str,
}

/// One run. What was not measured is absent.
#[derive(Serialize)]
struct Measurement {
    #[serde(flatten)]
    values: BTreeMap<Metric, Quantity>,
    exit_code: Option<i32>,
}

#[derive(Serialize)]
struct Quantity {
    value: serde_json::Number,
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<&'static str>,
}

#[derive(Serialize)]
struct Statistics {
    #[serde(skip_serializing_if = "Option::is_none")]
    unit: Option<&'static str>,
    count: usize,
    mean: f64,
    stddev: Option<f64>,
    median: f64,
    min: f64,
    max: f64,
}

fn unit(metric: Metric) -> Option<&'static str> {
    match metric.dimension() {
        Dimension::Time => Some("second"),
        Dimension::Memory => Some("byte"),
        Dimension::Count => None,
    }
}

pub(super) fn results(record: &Record, results: &[Outcome], metrics: &[Chosen]) -> anyhow::Result<Vec<u8>> {
    let document = Document {
        schema_version: 2,
        metadata: Metadata {
            hyperfine_version: LIKE,
            start_time: &record.started,
            platform: Platform { os: "Linux", architecture: record.host.before.machine.as_deref() },
        },
        primary_metric: primary(metrics).metric,
        results: results.iter().map(benchmark).collect(),
    };
    let mut bytes = serde_json::to_vec_pretty(&document)?;
    bytes.push(b'\n');
    Ok(bytes)
}

fn benchmark(result: &Outcome) -> Benchmark<'_> {
    let parameters = result.parameters.iter();
    let statistics = |metric: Metric| Some((metric.name(), statistics(metric, result)?));
    Benchmark {
        command: result.line.as_ref().unwrap_or(&result.command),
        name: result.line.is_some().then_some(result.command.as_str()),
        measurements: result.runs.iter().map(measurement).collect(),
        parameters: parameters.map(|(name, value)| (name.as_str(), Parameter { value })).collect(),
        environment: &result.environment,
        summary: Metric::ALL.into_iter().filter_map(statistics).collect(),
    }
}

fn measurement(run: &Run) -> Measurement {
    let quantity = |metric: Metric| {
        let value = run.value(metric)?;
        // Events are counted, so they are written as whole numbers.
        let number = if unit(metric).is_none() {
            Some((value.round() as u64).into())
        } else {
            serde_json::Number::from_f64(value)
        };
        Some((metric, Quantity { value: number?, unit: unit(metric) }))
    };
    Measurement { values: Metric::ALL.into_iter().filter_map(quantity).collect(), exit_code: run.exit_code }
}

fn statistics(metric: Metric, result: &Outcome) -> Option<Statistics> {
    let Summary { mean, stddev, median, min, max } = result.summary(metric)?;
    Some(Statistics { unit: unit(metric), count: result.runs.len(), mean, stddev, median, min, max })
}
