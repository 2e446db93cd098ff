//! What was not whole in a stream of records: counted, by CPU where that is known.

use std::collections::BTreeMap;

/// Something counted, and on which CPU where that is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ByCpu {
    pub(super) all: u64,
    pub(super) by_cpu: BTreeMap<u16, u64>,
}

impl ByCpu {
    pub(super) fn add(&mut self, cpu: Option<u16>) {
        self.all += 1;
        if let Some(cpu) = cpu {
            *self.by_cpu.entry(cpu).or_default() += 1;
        }
    }
}

/// What was not whole in the stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Flaws {
    /// A CPU's record does not follow from the one before.
    pub(super) gaps: ByCpu,
    /// Intervals without an end, or ends without a beginning.
    pub(super) unfinished: ByCpu,
    /// Events that came with an earlier time than the one before.
    pub(super) disorder: u64,
    /// Places where records were lost.
    pub(super) holes: u64,
    /// Switches of tasks of the tree.
    pub(super) switches: u64,
}
