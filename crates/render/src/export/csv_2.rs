//! The CSV of hyperfine 2: one line a result, a group of columns for each metric, always in the unit that was asked for. Commands and
//! parameters are unchanged, as in hyperfine's CSV, and a spreadsheet may read one as a formula.

use ::csv::Writer;
use whyfaster_core::record::Record;
use whyfaster_words::metric::{Chosen, Unit};

use super::hyperfine::{Outcome, Summary, parameters};

const COLUMNS: [&str; 6] = ["unit", "mean", "stddev", "median", "min", "max"];

pub(super) fn results(_: &Record, results: &[Outcome], metrics: &[Chosen]) -> anyhow::Result<Vec<u8>> {
    // What no result has gets no columns.
    let has = |chosen: &&Chosen| results.iter().any(|result| result.summary(chosen.metric).is_some());
    let metrics: Vec<&Chosen> = metrics.iter().filter(has).collect();
    let parameters = parameters(results);
    let mut writer = Writer::from_writer(Vec::new());
    let groups = metrics.iter().flat_map(|it| COLUMNS.map(|column| format!("{}_{column}", it.metric.name())));
    let names = parameters.iter().map(|name| format!("parameter_{name}"));
    writer.write_record(std::iter::once("command".to_owned()).chain(groups).chain(names))?;
    for result in results {
        let groups = metrics.iter().flat_map(|chosen| group(result, chosen));
        let values = parameters.iter().map(|name| result.parameters.get(*name).cloned().unwrap_or_default());
        writer.write_record(std::iter::once(result.command.clone()).chain(groups).chain(values))?;
    }
    Ok(writer.into_inner()?)
}

fn group(result: &Outcome, chosen: &Chosen) -> [String; 6] {
    let unit = chosen.unit.unwrap_or_else(|| Unit::base(chosen.metric.dimension()));
    let summary = result.summary(chosen.metric);
    let number = |of: fn(&Summary) -> Option<f64>| {
        summary.as_ref().and_then(of).map(|value| (value / unit.scale).to_string()).unwrap_or_default()
    };
    [
        unit.symbol.to_owned(),
        number(|it| Some(it.mean)),
        number(|it| it.stddev),
        number(|it| Some(it.median)),
        number(|it| Some(it.min)),
        number(|it| Some(it.max)),
    ]
}
