//! The domain of whyfaster: what is run, what was measured, what follows from it.
//!
//! Pure by rule: no I/O, no clock, no threads, no `unsafe`. Time comes in as numbers, so that everything here can be
//! tested without a clock. The modules stand by layers (CONTRIBUTING.md), each of which imports only from those above it.
#![forbid(unsafe_code)]

pub mod cpu_list;
pub mod fit;
pub mod host;
pub mod metric;
pub mod missing;
pub mod plan;
pub mod run;
pub mod sample;
pub mod short;
pub mod status;
pub mod validate;
pub mod warning;

pub mod bounds;
pub mod crossover;
pub mod reason;
pub mod schedule;
pub mod verdict;

pub mod analysis;
pub mod gate;

pub mod trace;

pub mod price;

pub mod why;

pub mod course;
pub mod event;
pub mod record;
pub mod studied;

pub mod claims;
pub mod fleet;
