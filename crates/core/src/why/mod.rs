//! Why two alternatives differ: from traced runs to accounts, their difference, its causes in words, and predictions.
//!
//! `ExplainInput -> Alternative (own cost out) -> Account, Side -> Deltas (categories) -> causes -> Finding -> sentences`, and from the
//! findings to experiments and what they show. The modules stand in this order.

mod input;
mod kinds;
mod words;

mod subtract_overhead;

mod missing_time;
mod own_cost;

mod account;
mod categories;

mod difference;
mod facts;

mod rules;

mod delta_rows;
mod evidence;
mod sentence;

mod finding;
mod refuse;

mod deciding;
mod growth;
mod kinds_at_load;
mod predict;
mod summary;

mod explain;

mod experiments;
mod planned;

mod stored;

pub mod cause;
pub mod report;

#[cfg(test)]
mod tests;

pub use cause::Cause;
pub use experiments::{conclude, experiments, judge};
pub use explain::explain;
pub use input::ExplainInput;
pub use missing_time::UNOBSERVED;
pub use planned::{Before, Machine, Planned, Test, Variation};
pub use report::Why;
pub use stored::again;
pub use summary::agrees;
pub use words::label;
