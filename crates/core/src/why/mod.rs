//! Why two alternatives differ: from traced runs to accounts, their difference, its causes, and predictions.
//!
//! `ExplainInput -> Alternative (own cost out) -> Account, Side -> Deltas (categories) -> causes -> Finding -> Answer`, and from the
//! findings to experiments and what they show. The modules stand in this order. All that is stated is a kind with its numbers
//! (`statement`, `experiments/statement`); the texts beside them in the document are made by who shows or stores it.

pub mod cause;
pub mod report;
pub mod statement;

mod input;
mod kinds;
mod medians;

mod stolen;
mod subtract_overhead;

mod missing_time;
mod own_cost;
mod system_time;

mod account;
mod categories;

mod difference;
mod facts;

mod causes;
mod rules;

mod counted;

mod delta_rows;
mod evidence;
mod functions;

mod finding;
mod refuse;

mod deciding;
mod growth;
mod kinds_at_load;
mod predict;

mod answer;
mod explain;

mod experiments;
mod planned;
mod settled;
mod wrapped;

mod stored;

#[cfg(test)]
mod tests;

pub use answer::agrees;
pub use cause::Cause;
pub use deciding::worth_observing;
pub use experiments::{Edit, InPlace, Pace, Repeated, Shown, Untestable, conclude, experiments, judge};
pub use explain::explain;
pub use functions::Located;
pub use input::ExplainInput;
pub use planned::{Before, Machine, Planned, Test, Variation};
pub use report::Why;
pub use settled::{REACH_ENOUGH, Settling};
pub use stored::again;
