//! The program behind `whyfaster`, as a library so that tests and the generator of man pages can use it.
//!
//! A datum goes left to right: `cli` (words to a plan), `host` (facts), `run` (plan to samples), `elsewhere` (whole measurements on other machines), `worker` (what the worker
//! of the price probes writes), `store` (records and files), `words` and `render` (records to text and bytes); `study` holds the articles as data,
//! `reference` the price lists of others; `cmd` holds one verb a file and joins them.

mod clean;
pub mod cli;
pub mod cmd;
pub mod database;
pub mod display;
pub mod elsewhere;
pub mod exit;
pub mod host;
pub mod metric;
pub mod pages;
pub mod reference;
pub mod render;
pub mod run;
pub mod sources;
pub mod store;
pub mod study;
pub mod words;
pub mod worker;

#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod registries_tests;
#[cfg(test)]
#[allow(dead_code, unused_imports, clippy::unwrap_used, reason = "shared with the end-to-end tests")]
#[path = "../../../tests/support/skip.rs"]
mod skip;
