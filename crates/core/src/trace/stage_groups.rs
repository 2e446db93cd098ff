//! Which processes belong to one pipeline: those that data can flow between, over any number of pipes.
//!
//! Every process with a pipe begins as a group of its own; a writer and its reader join theirs. Who only has a pipe in
//! common (the standard output of all of them) is not joined: nothing flows from one to the other. Pipelines that ran one
//! after the other stay apart, and those of the same commands are taken together when there are many.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::labels::Label;
use super::stages::{Shape, Stages, Sums};

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

    pub(super) fn crowded(&self) -> bool {
        self.above.len() >= MOST_JOINED
    }
}

/// What belongs to each group: its commands, and what was summed up of them.
pub(super) type Folded = FxHashMap<(Group, Shape), Sums>;

impl Stages {
    /// Resolves joined groups, and takes those together that are over and had the same commands.
    pub(super) fn compact(&mut self) {
        self.resolve();
        let lives: FxHashSet<Group> = self.groups_in_use().collect();
        let names = commands(&self.folded);
        let mut first: FxHashMap<&BTreeSet<Label>, Group> = FxHashMap::default();
        let mut closed: Vec<Group> = names.keys().copied().filter(|group| !lives.contains(group)).collect();
        closed.sort_unstable();
        let into: FxHashMap<Group, Group> =
            closed.iter().map(|group| (*group, *first.entry(&names[group]).or_insert(*group))).collect();
        self.renumber(&|group| into.get(&group).copied().unwrap_or(group));
    }

    fn resolve(&mut self) {
        let groups = std::mem::take(&mut self.groups);
        let next = groups.next;
        self.for_groups_in_use(&|group| groups.of(group));
        self.renumber(&|group| groups.of(group));
        self.groups = Groups { next, ..Groups::default() };
    }

    /// Gives what is folded to other groups.
    fn renumber(&mut self, new: &dyn Fn(Group) -> Group) {
        for ((group, shape), sums) in std::mem::take(&mut self.folded) {
            self.folded.entry((new(group), shape)).or_default().add(&sums);
        }
        self.late.iter_mut().for_each(|(group, ..)| *group = new(*group));
    }
}

/// The commands of every group.
pub(super) fn commands(folded: &Folded) -> FxHashMap<Group, BTreeSet<Label>> {
    let mut names: FxHashMap<Group, BTreeSet<Label>> = FxHashMap::default();
    for (group, shape) in folded.keys() {
        names.entry(*group).or_default().insert(shape.0);
    }
    names
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
