//! Prices: from the worker's probes to a price list.
//!
//! [`select`] turns words into lines of the worker's plan, [`worker`] starts the worker fresh and reads what it writes,
//! [`group`] ends it with all that it started,
//! [`protocol`] understands a record, [`collect`] puts records into the rows of a list, [`session`] drives the repetitions,
//! [`site`] is where the worker runs.

pub mod group;
pub mod select;
pub mod session;
pub mod site;
pub mod worker;
