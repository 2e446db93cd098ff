//! One command observed: the stream and the counts of a tracer, and what follows from them.
//!
//! The flow: [`event`] (what a tracer streams) → `timeline` (the state of every task at every moment) → the accounts:
//! `ledger` (time by state, blocked time by [`cause`]), `cpus` (who held the CPU), `idle` (avoidable waiting),
//! `processes` (the tree), `stages` (pipelines), `searches` (failed execs) → `assemble` (the [`report`], with
//! `checks` and `gaps`). [`counts`] is what the kernel added up beside the stream, [`setting`] what the program knows.

mod analysis;
mod assemble;
pub mod cause;
pub mod check;
mod checks;
mod class;
pub mod command;
pub mod counts;
mod cpus;
mod ending;
pub mod event;
pub mod filter;
mod flaws;
mod gaps;
mod holder;
mod hole;
mod idle;
mod known;
pub(crate) mod labels;
mod ledger;
mod left;
pub mod names;
pub mod occupancy;
mod overhead;
pub(crate) mod path;
pub mod plan;
mod processes;
pub mod record;
pub mod report;
mod rows;
mod searches;
pub mod setting;
mod skipped;
pub mod stacks;
mod stage_groups;
mod stage_rows;
mod stages;
pub mod stored;
mod syscalls;
pub mod table;
pub mod tally;
mod task;
mod timeline;
mod waits;
mod work;
mod wrappers;

pub use analysis::Analysis;
pub use path::Step;
pub use report::TraceReport;
pub use setting::{Facts, Operation, Price, Scheduling, Setting, Throttled};

#[cfg(test)]
mod tests;
