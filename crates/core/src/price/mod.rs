//! What one operation costs: from the worker's raw samples to a price, to a list of prices, to the difference of two lists.
//!
//! The flow: [`sample`] (what the worker said) → [`clean`] and [`delay`] (what disturbed is left out and counted), [`fixed`]
//! (the fixed cost of a batch is taken off) → [`summary`] (floor, typical, tail, interval) → [`receipt`] (did it really happen?) → [`list`] (the
//! stored document) → [`compare`], [`project`], [`sum`], and the claims of a study about lists. [`history`] follows prices over
//! kernels, [`inside`] says where a list was measured and in which unit. [`check`] reads a list with
//! suspicion, [`fingerprint`] names what differs between two machines, and [`pace`] whether the CPU itself
//! was slower for one of two lists.

pub mod check;
pub mod clean;
pub mod compare;
pub mod delay;
mod evidence;
pub mod fingerprint;
pub mod fixed;
pub mod handing;
pub mod history;
pub mod inside;
pub mod list;
pub mod pace;
pub mod paired;
pub mod pairing;
pub mod project;
pub mod receipt;
pub mod sample;
mod side;
pub mod story;
pub mod sum;
pub mod summary;

#[cfg(test)]
pub(crate) mod fixture;

pub use check::Invalid;
pub use inside::{Inside, Unit};
pub use list::{Price, PriceList, SCHEMA};
pub use sample::{Expect, Range, Row, Series};
