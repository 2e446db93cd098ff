//! Tests of the whole way from hand-made reports to findings.

mod causes;
mod counted;
mod experiments;
mod functions;
mod growth;
mod judging;
mod mixed;
mod refusals;
mod starts;

pub(super) mod fixture;
