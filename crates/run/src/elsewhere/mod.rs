//! Whole measurements on other machines: the program goes there, runs a verb, and its record comes home.
//!
//! A [`Place`] says where; opened, it is some [`Machine`]s, each with a command that gives a shell over there. [`collect()`] visits them, so
//! many at once, each through a `link` whose far end is [`far`]: it owns the directory with all that was sent, starts the
//! verb, and ends all of it when its standard input, the lifeline, closes. A [`Collection`] is the directory at home.
//!
//! `run::inside` is another thing: there only the worker of the prices goes, to a kernel or a system on which this program could not run.

mod collect;
mod collection;
mod engine;
pub mod far;
mod hold;
pub mod k8s;
mod link;
mod machine;
mod message;
mod parcel;
mod place;
mod ray;
mod shell;
mod slurm;
mod ssh;
mod visit;

pub use collect::{Event, Home, Met, collect};
pub use collection::{Collection, Gone, Wanted};
pub use machine::{Machine, PlaceKind};
pub use parcel::{Binary, Load};
pub use place::{PLACES, Place};
pub use visit::{Errand, Patience};
