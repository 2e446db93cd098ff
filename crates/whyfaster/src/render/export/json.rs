//! hyperfine's JSON: one object with `results`, indented, with a line end.

use serde::Serialize;

use super::hyperfine::Outcome;

#[derive(Serialize)]
struct Document<'a> {
    results: &'a [Outcome],
}

pub(super) fn write(results: &[Outcome]) -> anyhow::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec_pretty(&Document { results })?;
    bytes.push(b'\n');
    Ok(bytes)
}
