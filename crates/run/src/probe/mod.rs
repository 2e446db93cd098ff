//! Prices: from the worker's probes to a price list.
//!
//! [`select`] turns words into lines of the worker's plan, [`worker`] starts the worker fresh and reads what it writes,
//! [`group`] ends it with all that it started, [`session`] drives the repetitions, [`site`] is where the worker runs.
//! What the worker writes is read in [`whyfaster_store::worker`].

pub mod group;
pub mod select;
pub mod session;
pub mod site;
pub mod worker;
