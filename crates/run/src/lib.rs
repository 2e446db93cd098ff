//! Launching and observing: from a plan to samples.
//!
//! `session` drives a measurement, `rig` holds what it needs for every batch, `machine` is what both ask of the machine. The real one's `client`
//! speaks to the `launcher`, which is another process. Nothing here prints.

pub mod cache;
mod client;
mod destination;
mod duets;
pub mod elsewhere;
mod failures;
mod faults;
mod held;
mod hooks;
pub mod inside;
pub mod interrupts;
pub mod ladder;
pub mod launcher;
mod machine;
mod output_check;
pub mod probe;
pub(crate) mod protocol;
mod real;
mod realtime;
mod resolve;
mod rig;
mod round;
mod run_as;
pub mod session;
mod simulated;
pub mod stage;
pub mod terminal;
pub mod trace;
mod why;

#[cfg(test)]
mod fuzz;

pub use real::drop_caches;
