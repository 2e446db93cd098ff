//! Comma-separated values: of results hyperfine's, one line a result, always in seconds, in which single times and exit codes have no
//! place; of a price list one line a row.
//!
//! Scripts read results as hyperfine's CSV, so commands and parameters are unchanged. A spreadsheet may read one as a formula.
//! In a price list no text is a formula.

use ::csv::Writer;
use whyfaster_core::price::PriceList;
use whyfaster_words::display::FileOption;
use whyfaster_words::look::Look;
use whyfaster_words::text::no_formula;

use super::exporter::Exporter;
use super::hyperfine::{Outcome, parameters};

/// Comma-separated values.
pub static EXPORTER: Exporter = Exporter {
    option: FileOption { name: "export-csv", help: "Write hyperfine's CSV to FILE", more: "", short: false },
    results,
    results_2: super::csv_2::results,
    prices: Some(prices),
};

const COLUMNS: [&str; 8] = ["command", "mean", "stddev", "median", "user", "system", "min", "max"];

fn results(results: &[Outcome], _: &Look) -> anyhow::Result<Vec<u8>> {
    let mut writer = Writer::from_writer(Vec::new());
    let parameters = parameters(results);
    let names = parameters.iter().map(|name| format!("parameter_{name}"));
    writer.write_record(COLUMNS.iter().map(|column| (*column).to_owned()).chain(names))?;
    for result in results {
        // hyperfine writes 0 where one run has no deviation; a CSV reader expects a number.
        let stddev = result.stddev.unwrap_or(0.0);
        let numbers =
            [result.mean, stddev, result.median, result.user, result.system, result.min, result.max];
        let values = parameters.iter().map(|name| result.parameters.get(*name).cloned().unwrap_or_default());
        let fields =
            std::iter::once(result.command.clone()).chain(numbers.map(|n| n.to_string())).chain(values);
        writer.write_record(fields)?;
    }
    Ok(writer.into_inner()?)
}

/// The prices as comma-separated values, nanoseconds; what is not there is empty.
fn prices(list: &PriceList) -> anyhow::Result<Vec<u8>> {
    let mut writer = Writer::from_writer(Vec::new());
    writer.write_record([
        "group",
        "name",
        "variant",
        "unit",
        "floor_ns",
        "median_ns",
        "p99_ns",
        "low_ns",
        "high_ns",
        "mean_ns",
        "switches",
        "involuntary",
        "syscalls",
        "migrations",
        "apart",
        "bytes_per_s",
        "samples",
        "rejected",
        "not_measured",
        "floor_instructions",
        "median_instructions",
        "p99_instructions",
    ])?;
    let number = |value: Option<f64>| value.map_or_else(String::new, |v| v.to_string());
    for price in &list.prices {
        let text = [&price.group, &price.name, &price.variant, &price.unit].map(|it| no_formula(it));
        let times =
            [price.floor_ns, price.median_ns, price.p99_ns, price.low_ns, price.high_ns, price.mean_ns];
        let receipt = &price.receipt;
        let counts =
            [receipt.switches, receipt.involuntary, receipt.syscalls, receipt.migrations, receipt.apart];
        let mut row: Vec<String> = text.to_vec();
        row.extend(times.into_iter().chain(counts).chain([price.bytes_per_s]).map(number));
        row.extend([price.samples.to_string(), price.rejected.total().to_string()]);
        row.push(no_formula(price.not_measured.as_deref().unwrap_or_default()));
        let figures = price.instructions.unwrap_or_default();
        row.extend([figures.floor, figures.median, figures.p99].map(number));
        writer.write_record(row)?;
    }
    Ok(writer.into_inner()?)
}
