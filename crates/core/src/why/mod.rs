//! Why two alternatives differ: from traced runs to accounts, their difference, its causes in words, and predictions.

pub mod cause;
pub mod report;

pub use cause::Cause;
pub use report::Why;
