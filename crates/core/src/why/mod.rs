//! Why two alternatives differ: from traced runs to accounts, their difference, its causes in words, and predictions.

pub mod cause;
mod input;
mod planned;
pub mod report;

pub use cause::Cause;
pub use input::Given;
pub use planned::{Before, Machine, Planned, Test, Variation};
pub use report::Why;
