//! Which processes belong to one pipeline: those that data can flow between, over any number of pipes.
//!
//! Every process with a pipe begins as a group of its own; a writer and its reader join theirs. Who only has a pipe in
//! common (the standard output of all of them) is not joined: nothing flows from one to the other. Pipelines that ran one
//! after the other stay apart, and those of the same commands are taken together when there are many.

use rustc_hash::FxHashMap;

/// The number of a group; smaller ones began earlier.
pub(super) type Group = u32;

/// Joined groups that are kept before all are resolved.
const MOST_JOINED: usize = 1 << 14;

/// Which groups are one.
#[derive(Debug, Default)]
pub(super) struct Groups {
    above: FxHashMap<Group, Group>,
    next: Group,
}

impl Groups {
    /// A group that nobody is in yet.
    pub(super) fn begin(&mut self) -> Group {
        self.next += 1;
        self.next
    }

    /// The earliest group that this one was joined with.
    pub(super) fn of(&self, mut group: Group) -> Group {
        while let Some(above) = self.above.get(&group) {
            group = *above;
        }
        group
    }

    /// These two are one from now on.
    pub(super) fn join(&mut self, a: Group, b: Group) {
        let (a, b) = (self.of(a), self.of(b));
        if a != b {
            self.above.insert(a.max(b), a.min(b));
        }
    }

    /// The same, with all of them resolved: none is joined with another one any more.
    pub(super) fn resolved(&self) -> Self {
        Self { above: FxHashMap::default(), next: self.next }
    }

    pub(super) fn crowded(&self) -> bool {
        self.above.len() >= MOST_JOINED
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_groups_are_the_earliest_of_them() {
        let mut groups = Groups::default();
        let all: Vec<Group> = (0..5).map(|_| groups.begin()).collect();
        groups.join(all[4], all[3]);
        groups.join(all[3], all[1]);
        groups.join(all[0], all[2]);
        assert_eq!(all.iter().map(|group| groups.of(*group)).collect::<Vec<_>>(), [1, 2, 1, 2, 2]);
        groups.join(all[2], all[4]);
        assert!(all.iter().all(|group| groups.of(*group) == 1));
    }
}
