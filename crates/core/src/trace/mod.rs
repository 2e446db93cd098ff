//! One command observed: the stream and the counts of a tracer, and what follows from them.

pub mod counts;
pub mod event;
pub mod plan;
pub mod record;
pub mod report;
pub mod table;
