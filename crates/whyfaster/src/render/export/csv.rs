//! hyperfine's CSV: one line a result, always in seconds. Single times and exit codes have no place in it.

use ::csv::Writer;

use super::hyperfine::Outcome;

const COLUMNS: [&str; 8] = ["command", "mean", "stddev", "median", "user", "system", "min", "max"];

pub(super) fn write(results: &[Outcome]) -> anyhow::Result<Vec<u8>> {
    let mut writer = Writer::from_writer(Vec::new());
    // As in hyperfine the first result names the columns; all results of one plan have the same parameters, but for a
    // reference, whose columns stay empty.
    let parameters: Vec<&String> = results
        .iter()
        .map(|r| &r.parameters)
        .max_by_key(|p| p.len())
        .into_iter()
        .flat_map(|p| p.keys())
        .collect();
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
