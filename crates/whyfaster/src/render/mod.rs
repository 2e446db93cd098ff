//! From records to bytes on a screen or in a file. No arithmetic beyond units.

pub mod beside;
pub mod chart;
pub mod demo;
pub mod doctor;
pub mod export;
pub(crate) mod first;
pub mod fleet;
pub mod grid;
pub mod history;
mod lead;
pub mod look;
pub mod machines;
mod metrics;
pub(crate) mod names;
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
pub mod text;
pub mod trace;
pub mod units;
pub mod visits;
mod why;

#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
mod screen_tests;
#[cfg(test)]
mod sentence_tests;
