//! The command line: words to a plan. First step of the flow; nothing right of here sees clap.
//!
//! Words are resolved in two steps. [`args`] is what was typed, one field an option, each value already a number, a
//! list or a word that is known. [`compare::resolve`] then looks at all of them together, puts parameters in, and
//! makes the plan and the list of outputs.

pub mod args;
pub mod compare;
pub mod manual;
pub mod numbers;
pub mod outputs;
pub mod parameters;
pub mod seed;
pub mod trace;

mod alternatives;
mod output_policy;

#[cfg(test)]
mod tests;

pub use args::{Args, Verb};
pub use compare::resolve;
pub use outputs::{Outputs, Target};
pub use seed::HostSeed;
