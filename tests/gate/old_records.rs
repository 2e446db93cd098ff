//! Records of earlier versions stay readable: every file in tests/records was written by the version in its name and is
//! never changed, but that rounds and observed runs may be left out, with what `show` makes anew, and observed runs may be packed. A new
//! version of a record adds a file here, at most 150 KB in all:
//!
//! - `batch`: two levels in batch mode, crossover and floor; `closed`: latencies of closed mode;
//! - `why`: an explanation with its traced rounds, accounts, findings and an experiment;
//! - `flip`: a run at two loads with its whole explanation, of which the README and the book show the screens;
//! - `trace`: the full level with the schedule kept; `prices`: a price list with all its samples; `ordinary-prices`: the rows that people ask
//!   for, without samples and without fields that are null. The book shows screens of both.

#![expect(clippy::unwrap_used, reason = "a test ends by panicking")]

use std::path::{Path, PathBuf};

use crate::support::{Ran, Sandbox};
use serde_json::Value;

/// Every file with its content and which record it is: `whyfaster`, `whyfaster-trace` or `whyfaster-prices`.
fn records() -> Vec<(PathBuf, Value, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/records");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    // What engines answered is in a directory there, and is no record.
    let files = files.filter(|path| path.is_file());
    let read = |file: PathBuf| {
        let record: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        let (kind, _) = record["schema"].as_str().unwrap().split_once('/').unwrap();
        let kind = kind.to_owned();
        (file, record, kind)
    };
    let records: Vec<_> = files.map(read).collect();
    for kind in ["whyfaster", "whyfaster-trace", "whyfaster-prices"] {
        assert!(records.iter().any(|(_, _, it)| it == kind), "no record of {kind}");
    }
    records
}

fn show(option: &str, file: &Path) -> Ran {
    Sandbox::new().run(&["show", option, file.to_str().unwrap()]).ok()
}

#[test]
fn every_old_record_is_shown_with_its_names() {
    for (file, record, kind) in records() {
        let screen = show("-v", &file).out;
        let (list, name) = match kind.as_str() {
            "whyfaster" => (&record["plan"]["alternatives"], "name"),
            "whyfaster-trace" => (&record["commands"], "command"),
            _ => (&record["prices"], "name"),
        };
        for row in list.as_array().unwrap() {
            let name = row[name].as_str().unwrap();
            assert!(screen.contains(name), "{file:?} does not show {name}:\n{screen}");
        }
    }
}

/// Without what was null: an option that is gone left one in the plan. Without the kind that a text got while it was read, and without the text
/// of what was not measured, which is that of today.
fn known(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let told = fields.contains_key("why");
            let fields = fields
                .iter()
                .filter(|(key, value)| !value.is_null() && *key != "quantity" && !(told && *key == "what"));
            fields.map(|(key, value)| (key.clone(), known(value))).collect()
        }
        Value::Array(values) => values.iter().map(known).collect(),
        other => other.clone(),
    }
}

#[test]
fn samples_of_old_records_come_back_as_they_were() {
    for (file, old, _) in records() {
        let new = show("--json", &file).json();
        for path in ["plan", "batches", "trials", "host", "schedule", "samples", "rows", "fingerprint"] {
            assert_eq!(known(&old[path]), known(&new[path]), "{path} of {file:?}");
        }
    }
}

#[test]
fn old_records_follow_the_schema_of_today() {
    for (file, record, kind) in records() {
        let schema = format!("{}/../../schema/{kind}-1.json", env!("CARGO_MANIFEST_DIR"));
        let schema = serde_json::from_slice(&std::fs::read(schema).unwrap()).unwrap();
        let validator = jsonschema::validator_for(&schema).unwrap();
        let errors: Vec<String> = validator.iter_errors(&record).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{file:?}: {errors:?}");
    }
}

#[test]
fn the_files_stay_small() {
    let sizes = records().into_iter().map(|(file, ..)| file.metadata().unwrap().len());
    assert!(sizes.sum::<u64>() <= 150_000);
}
