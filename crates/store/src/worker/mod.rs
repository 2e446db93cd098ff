//! What the worker of the price probes writes, read: its lines ([`protocol`]), the rows that they belong to ([`rows`]), its
//! samples in the order in which they come ([`collect`]), and a whole list of a worker that ran by itself ([`foreign`]).

pub mod collect;
pub mod foreign;
pub mod protocol;
pub mod rows;
