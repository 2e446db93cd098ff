//! Facts of this machine: what it is, what it allows, how busy it is. The step before any run, and again after it.
//!
//! Every reader takes a [`Root`], so that it also works on a tree of fake `/proc` and `/sys` files. What cannot be read is
//! an entry in `missing` with the reason, never a 0.

mod accounts;
pub mod before;
mod cgroup;
mod counters;
mod cpu;
mod examination;
mod facts;
#[cfg(test)]
mod facts_tests;
#[cfg(test)]
pub(crate) mod fixture;
mod identity;
mod judge;
mod levels;
mod limits;
mod load;
mod memory;
pub mod names;
mod noise;
mod privilege;
mod root;
pub mod said;
mod security;
pub mod tools;
pub mod user;

pub use counters::{Counters, MachineCounters};
pub use cpu::{cores, cpus_allowed};
pub use examination::{Examination, examine};
pub use facts::{facts, throttling};
pub use judge::{Finding, Mark};
pub use levels::levels;
pub use noise::{Noise, Spread};
pub use root::{Process, Root, Unreadable};
pub use security::{mitigations, seccomp};
pub use user::{Caller, user};
