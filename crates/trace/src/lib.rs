//! Observing a process tree: what the kernel and the privileges at hand allow, from everything (BPF) down to the bare
//! times of a child. Every level streams the same events and says what it cannot see.

mod boot;
mod caller;
mod clock;
pub mod counters;
pub mod foreign;
mod full;
mod obstacles;
mod remedy;
mod ring;
mod support;
pub mod unprivileged;
mod wanted;

pub use full::{Full, TraceError, samples_allowed};
pub use obstacles::{Missing, Unsupported};
pub use support::{Support, support};
pub use wanted::{CallsBy, Wanted};
