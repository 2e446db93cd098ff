//! Records of earlier versions stay readable: every file in tests/records was written by the version in its name and is
//! never changed. A new version of the record adds files here.

#![expect(clippy::unwrap_used, reason = "a test ends by panicking")]

use std::path::PathBuf;
use std::process::Command;

fn files() -> Vec<PathBuf> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/records");
    let entries = std::fs::read_dir(folder).expect("the folder is part of the repository");
    entries.map(|entry| entry.expect("a readable folder").path()).collect()
}

fn show(arguments: &[&str], file: &PathBuf) -> String {
    let output =
        Command::new(env!("CARGO_BIN_EXE_whyfaster")).arg("show").args(arguments).arg(file).output().unwrap();
    assert!(output.status.success(), "{file:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_old_record_is_shown_with_its_names() {
    assert!(!files().is_empty());
    for file in files() {
        let record: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        let screen = show(&["--style", "basic"], &file);
        for alternative in record["plan"]["alternatives"].as_array().unwrap() {
            let name = alternative["name"].as_str().unwrap();
            assert!(screen.contains(name), "{file:?} does not show {name}:\n{screen}");
        }
    }
}

#[test]
fn samples_of_old_records_come_back_as_they_were() {
    for file in files() {
        let old: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        let new: serde_json::Value = serde_json::from_str(&show(&["--json"], &file)).unwrap();
        for path in ["plan", "batches", "trials", "host"] {
            assert_eq!(old[path], new[path], "{path} of {file:?}");
        }
    }
}

#[test]
fn old_records_follow_the_schema_of_today() {
    let schema = include_str!("../schema/whyfaster-1.json");
    let validator = jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
    for file in files() {
        let record = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        let errors: Vec<String> = validator.iter_errors(&record).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{file:?}: {errors:?}");
    }
}
