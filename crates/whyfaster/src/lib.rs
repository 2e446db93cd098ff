//! The program behind `whyfaster`, as a library so that tests and the generator of man pages can use it.
//!
//! Words of the command line become a plan (`cli`), and a verb (`cmd`) joins the crates that do the work: `whyfaster_host`, `whyfaster_run`,
//! `whyfaster_store`, `whyfaster_words` and `whyfaster_render`. `study` holds the articles as data.

pub mod cli;
pub mod cmd;
pub mod pages;
pub mod sources;
pub mod study;

#[cfg(test)]
mod exports_tests;
#[cfg(test)]
mod fuzz;
#[cfg(test)]
#[allow(dead_code, reason = "shared by several crates")]
#[path = "../../../tests/support/records.rs"]
mod records;
#[cfg(test)]
mod registries_tests;
