//! From records to bytes on a screen or in a file. No arithmetic beyond units.

pub mod beside;
pub mod chart;
pub mod demo;
pub mod doctor;
pub mod export;
pub mod first;
pub mod fleet;
pub mod history;
mod lead;
pub mod machines;
mod metrics;
pub mod names;
pub mod notes;
pub mod price_chart;
pub mod price_sentences;
pub mod prices;
pub mod progress;
pub mod report;
pub mod screen;
mod section;
pub mod sentence;
pub mod store;
mod stories;
mod strip;
pub mod table;
pub mod trace;
pub mod visits;
mod why;

#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
#[allow(dead_code, reason = "shared by several crates")]
#[path = "../../../tests/support/records.rs"]
mod records;
#[cfg(test)]
mod screen_tests;
#[cfg(test)]
mod sentence_tests;
#[cfg(test)]
#[allow(dead_code, unused_imports, clippy::unwrap_used, reason = "shared with the end-to-end tests")]
#[path = "../../../tests/support/skip.rs"]
mod skip;
