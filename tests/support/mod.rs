//! The harness of the end-to-end tests: a directory of its own for each test, the built program in it, and what came of a run.

#![allow(
    dead_code,
    unused_macros,
    unused_imports,
    reason = "every test file uses its own part of this module"
)]
#![allow(clippy::unwrap_used, reason = "helpers of tests, which end by panicking")]

pub(crate) mod engines;
pub(crate) mod fleets;
pub(crate) mod group;
pub(crate) mod needs;
pub(crate) mod postgres;
pub(crate) mod prices;
mod processes;
pub(crate) mod ray;
mod sandbox;
pub(crate) mod seccomp;
pub(crate) mod skip;
pub(crate) mod slurm;
pub(crate) mod sshd;
pub(crate) mod stores;
pub(crate) mod terminal;
pub(crate) mod trace;
pub(crate) mod user;

use serde_json::Value;

pub(crate) use processes::{children, eventually, kill, launcher_of, processes};
pub(crate) use sandbox::{PROGRAM, Ran, Running, Sandbox, undisturbed};

/// The elements of a list of JSON.
#[track_caller]
pub(crate) fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("no list: {value}"))
}

#[track_caller]
pub(crate) fn numbers(value: &Value) -> Vec<f64> {
    list(value).iter().map(number).collect()
}

#[track_caller]
pub(crate) fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("no number: {value}"))
}

#[track_caller]
pub(crate) fn texts<'a>(values: &'a [Value], key: &str) -> Vec<&'a str> {
    values.iter().map(|v| v[key].as_str().unwrap_or_else(|| panic!("no text '{key}': {v}"))).collect()
}

/// The loads of a record's levels.
#[track_caller]
pub(crate) fn loads(record: &Value) -> Vec<u64> {
    list(&record["levels"]).iter().map(|level| level["load"].as_u64().expect("a load")).collect()
}

/// The arms of a record's batches in the order in which they ran: index of the alternative, or -1 for the hidden copy.
pub(crate) fn order(record: &Value) -> Vec<i64> {
    list(&record["batches"]).iter().map(|batch| batch["arm"]["alternative"].as_i64().unwrap_or(-1)).collect()
}
