//! The contents of every generated file, in memory, so that writing and checking cannot differ.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::ValueEnum;
use clap_complete::Shell;
use schemars::JsonSchema;
use whyfaster::cli::manual;
use whyfaster_core::price::PriceList;
use whyfaster_core::record::Record;
use whyfaster_core::trace::record::TraceRecord;

use crate::shown;

/// Contents by path below the root of the repository.
pub(crate) type Files = BTreeMap<PathBuf, Vec<u8>>;

/// Directories in which every file is generated.
pub(crate) const DIRECTORIES: [&str; 2] = ["man", "completions"];

/// The schemas, named after the versions of the documents.
const SCHEMA_FILE: &str = "schema/whyfaster-1.json";
const TRACE_SCHEMA_FILE: &str = "schema/whyfaster-trace-1.json";
const PRICES_SCHEMA_FILE: &str = "schema/whyfaster-prices-1.json";

/// All generated files.
pub(crate) fn all(root: &Path) -> Result<Files> {
    let mut files = Files::new();
    man_pages(&mut files)?;
    completions(&mut files);
    files.insert(SCHEMA_FILE.into(), schema::<Record>()?);
    files.insert(TRACE_SCHEMA_FILE.into(), schema::<TraceRecord>()?);
    files.insert(PRICES_SCHEMA_FILE.into(), schema::<PriceList>()?);
    files.extend(shown::all(root)?);
    Ok(files)
}

/// One page for the program and one for each verb.
fn man_pages(files: &mut Files) -> Result<()> {
    for page in manual::pages() {
        files.insert(Path::new("man").join(format!("{}.1", page.name())), page.roff()?);
    }
    Ok(())
}

/// One file for each shell, under the name that the shell looks for.
fn completions(files: &mut Files) {
    for shell in Shell::value_variants() {
        let file = manual::completions_file(*shell);
        files.insert(Path::new("completions").join(file), manual::completions(*shell));
    }
}

/// The JSON Schema of a document.
fn schema<Document: JsonSchema>() -> Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec_pretty(&schemars::schema_for!(Document))?;
    bytes.push(b'\n');
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verb_has_a_page_and_every_shell_a_script() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let files = all(root).unwrap();
        assert_eq!(
            files.keys().filter(|path| path.starts_with("man")).count(),
            whyfaster::cli::manual::pages().len()
        );
        assert_eq!(
            files.keys().filter(|path| path.starts_with("completions")).count(),
            Shell::value_variants().len()
        );
        assert_eq!(all(root).unwrap(), files, "the same input must give the same bytes");
    }

    #[test]
    fn the_schema_knows_the_paths_that_other_tools_read() {
        let schema: serde_json::Value = serde_json::from_slice(&schema::<Record>().unwrap()).unwrap();
        let properties = schema["properties"].as_object().unwrap();
        for path in
            ["schema", "alternatives", "levels", "crossovers", "floor", "warnings", "not_measured", "batches"]
        {
            assert!(properties.contains_key(path), "{path}");
        }
        let prices: serde_json::Value =
            serde_json::from_slice(&super::schema::<PriceList>().unwrap()).unwrap();
        for path in ["schema", "prices", "fingerprint", "rows", "samples", "status"] {
            assert!(prices["properties"].as_object().unwrap().contains_key(path), "{path}");
        }
    }
}
