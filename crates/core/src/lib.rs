//! The domain of whyfaster: what is run, what was measured, what follows from it.
//!
//! Pure by rule: no I/O, no clock, no threads, no `unsafe`. Time comes in as numbers, so that everything here can be
//! tested without a clock. The modules stand in the order in which a datum goes through them; each imports only from
//! modules above it.
#![forbid(unsafe_code)]

pub mod plan;

pub mod cpu_list;
pub mod event;
pub mod host;
pub mod sample;

pub mod fit;

pub mod short;
pub mod stats;

pub mod bounds;
pub mod reason;
pub mod verdict;

pub mod crossover;
pub mod record;
pub mod validate;

pub mod analysis;
pub mod claims;
pub mod gate;
pub mod price;
pub mod schedule;
pub mod trace;
pub mod why;
