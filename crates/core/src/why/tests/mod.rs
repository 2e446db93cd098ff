//! Tests of the whole way from hand-made reports to findings.

mod causes;
mod mixed;
mod refusals;

pub(super) mod fixture;
