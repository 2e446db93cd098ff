//! The pictures of a report, one question a file.

pub(super) mod bars;
pub(super) mod distribution;
pub(super) mod experiments;
pub(super) mod flame;
pub(super) mod forest;
pub(super) mod history;
pub(super) mod load;
pub(super) mod machines;
pub(super) mod ratios;
pub(super) mod rounds;
pub(super) mod stacked;
pub(super) mod waterfall;
