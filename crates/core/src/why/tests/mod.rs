//! Tests of the whole way from hand-made reports to findings.

pub(super) mod fixture;
