//! hyperfine's JSON: one object with `results`, indented, with a line end.

use serde::Serialize;
use whyfaster_words::display::FileOption;
use whyfaster_words::look::Look;

use super::exporter::Exporter;
use super::hyperfine::Outcome;

pub(super) static EXPORTER: Exporter = Exporter {
    option: FileOption {
        more: "With every single time. For loads, intervals and verdicts use --record or --json.",
        ..FileOption::new("export-json", "Write hyperfine's JSON to FILE").short()
    },
    results,
    results_2: super::json_2::results,
    prices: None,
};

#[derive(Serialize)]
struct Document<'a> {
    results: &'a [Outcome],
}

fn results(results: &[Outcome], _: &Look) -> anyhow::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec_pretty(&Document { results })?;
    bytes.push(b'\n');
    Ok(bytes)
}
