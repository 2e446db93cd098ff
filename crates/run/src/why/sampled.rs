//! The stacks in which the clock found each alternative, over all its observed runs: one account, because a record has no room for one of
//! every run.

use std::collections::BTreeMap;

use whyfaster_core::trace::stacks::{Gathering, KEPT_BYTES, Stacks};
use whyfaster_core::why::report::SideStacks;

/// The samples so far.
#[derive(Debug, Default)]
pub(super) struct SampledRuns(BTreeMap<usize, Side>);

/// Those of one alternative.
#[derive(Debug)]
struct Side {
    runs: u32,
    per_s: u32,
    gathering: Gathering,
}

impl SampledRuns {
    /// Adds a run.
    pub(super) fn add(&mut self, alternative: usize, per_s: u32, stacks: Stacks) {
        let none = || Side { runs: 0, per_s, gathering: Gathering::default() };
        let side = self.0.entry(alternative).or_insert_with(none);
        side.runs += 1;
        side.gathering.add(stacks);
    }

    /// What a record keeps of them.
    pub(super) fn finish(self) -> Vec<SideStacks> {
        let kept = |(alternative, Side { runs, per_s, gathering })| {
            let stacks = gathering.finish(KEPT_BYTES);
            SideStacks { alternative, runs, per_s, stacks }
        };
        self.0.into_iter().map(kept).filter(|side| !side.stacks.is_empty()).collect()
    }
}
