//! Paths that share their beginnings: a tree of nodes, each with the parts of the time that passed there.
//!
//! A leaf is the end of one task's path, and only its owner adds to it. A node within the tree has at least two nodes
//! behind it, for one that is left with a single one is merged into that. So there are fewer nodes than twice the paths,
//! however often tasks wake each other.

use super::super::labels::Label;
use super::parts::Part;

/// A node. [`NONE`] is none.
pub(super) type Id = u32;

/// No node: the beginning.
pub(super) const NONE: Id = Id::MAX;

/// Alternatives that one node keeps: the longest.
const MOST_BESIDE: usize = 8;

/// A path that was replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Alternative {
    /// The command that took most of what no other path shares.
    pub(super) label: Label,
    /// How much longer it could have been.
    pub(super) slack: u64,
    /// How much of it no other path shares.
    pub(super) ns: u64,
}

#[derive(Debug, Default)]
struct Node {
    before: Id,
    /// Nodes right behind this one, and all their numbers combined by exclusive or: the last one left is known by it.
    behind: u32,
    combined: Id,
    /// How many of those lead only to paths that rest.
    resting: u32,
    /// Of a leaf: its path rests.
    rests: bool,
    parts: Vec<Part>,
    /// Paths that ended in this one and would have been nearly as long.
    beside: Vec<Alternative>,
}

/// All nodes.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    nodes: Vec<Node>,
    free: Vec<Id>,
}

impl Nodes {
    /// A new path behind this node.
    pub(super) fn leaf(&mut self, before: Id) -> Id {
        let id = self.free.pop().unwrap_or_else(|| {
            self.nodes.push(Node::default());
            Id::try_from(self.nodes.len() - 1)
                .expect("there are fewer nodes than twice the tasks of a kernel")
        });
        let node = &mut self.nodes[index(id)];
        (node.before, node.behind, node.combined) = (before, 0, 0);
        (node.resting, node.rests) = (0, false);
        node.parts.clear();
        node.beside.clear();
        self.attach(before, id);
        id
    }

    /// The path of this leaf is kept as it is, and nobody lives it: that of a task that is gone, or one that somebody may
    /// go on with later. It takes nothing from what another path has [alone](Self::alone).
    pub(super) fn rest(&mut self, leaf: Id) {
        let rested = self.rests(leaf);
        self.nodes[index(leaf)].rests = true;
        self.tell_rest(leaf, rested);
    }

    /// Two paths from one: this one goes on behind the node that is returned first, under the number returned second.
    pub(super) fn fork(&mut self, leaf: Id) -> (Id, Id) {
        let node = &self.nodes[index(leaf)];
        if node.parts.is_empty() && node.beside.is_empty() && node.before != NONE {
            return (node.before, leaf);
        }
        let rests = node.rests;
        let next = self.leaf(leaf);
        if rests {
            self.rest(next);
        }
        (leaf, next)
    }

    /// The path of this leaf is another one from now on: what is before this node.
    pub(super) fn jump(&mut self, leaf: Id, before: Id) {
        // First to the new place, so that it is not merged away.
        self.attach(before, leaf);
        let node = &mut self.nodes[index(leaf)];
        let former = std::mem::replace(&mut node.before, before);
        node.parts.clear();
        node.beside.clear();
        self.detach(former, leaf, self.rests(leaf));
    }

    /// The path is not needed any more.
    pub(super) fn release(&mut self, leaf: Id) {
        let (before, rested) = (self.nodes[index(leaf)].before, self.rests(leaf));
        self.forget(leaf);
        self.detach(before, leaf, rested);
    }

    /// Adds to the end of a path.
    pub(super) fn add(&mut self, leaf: Id, kind: u32, ns: u64, count: u32) {
        add(&mut self.nodes[index(leaf)].parts, Part { kind, count, ns });
    }

    /// All parts of a path.
    pub(super) fn collect(&self, leaf: Id) -> Vec<Part> {
        let mut all = Vec::new();
        for id in self.back(leaf) {
            self.nodes[index(id)].parts.iter().for_each(|part| add(&mut all, *part));
        }
        all
    }

    /// A path that ended in this one.
    pub(super) fn tell(&mut self, leaf: Id, alternative: Alternative) {
        keep(&mut self.nodes[index(leaf)].beside, alternative);
    }

    /// What only this path has: every node that no other path that lives goes on from. Parts and alternatives of each.
    pub(super) fn alone(&self, leaf: Id) -> impl Iterator<Item = (&[Part], &[Alternative])> {
        let ours = move |id: &Id| {
            let node = &self.nodes[index(*id)];
            *id == leaf || node.behind - node.resting <= 1
        };
        self.back(leaf).take_while(ours).map(|id| {
            let node = &self.nodes[index(id)];
            (node.parts.as_slice(), node.beside.as_slice())
        })
    }

    /// All paths that ended in this one.
    pub(super) fn beside(&self, leaf: Id) -> impl Iterator<Item = &Alternative> {
        self.back(leaf).flat_map(|id| &self.nodes[index(id)].beside)
    }

    /// The nodes of a path, from its end.
    fn back(&self, leaf: Id) -> impl Iterator<Item = Id> {
        let known = |id: Id| (id != NONE).then_some(id);
        std::iter::successors(known(leaf), move |id| known(self.nodes[index(*id)].before))
    }

    /// How many nodes there are.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.nodes.len() - self.free.len()
    }

    fn attach(&mut self, before: Id, id: Id) {
        if before == NONE {
            return;
        }
        let (rested, rests) = (self.rests(before), self.rests(id));
        let node = &mut self.nodes[index(before)];
        node.behind += 1;
        node.combined ^= id;
        node.resting += u32::from(rests);
        self.tell_rest(before, rested);
    }

    /// `rests`: as which of both the node before knows it.
    fn detach(&mut self, before: Id, id: Id, rests: bool) {
        if before == NONE {
            return;
        }
        let rested = self.rests(before);
        let node = &mut self.nodes[index(before)];
        node.behind -= 1;
        node.combined ^= id;
        node.resting -= u32::from(rests);
        if node.behind == 0 {
            let further = node.before;
            self.forget(before);
            return self.detach(further, before, rested);
        }
        let last = node.behind == 1;
        self.tell_rest(before, rested);
        if last {
            self.merge(before);
        }
    }

    /// Whether all paths behind this node rest.
    fn rests(&self, id: Id) -> bool {
        let node = &self.nodes[index(id)];
        if node.behind == 0 { node.rests } else { node.resting == node.behind }
    }

    /// Whether all behind this node rest may have changed. Nodes behind which all rest are few, for few paths do.
    fn tell_rest(&mut self, mut id: Id, mut rested: bool) {
        loop {
            let (rests, before) = (self.rests(id), self.nodes[index(id)].before);
            if rests == rested || before == NONE {
                return;
            }
            rested = self.rests(before);
            let resting = &mut self.nodes[index(before)].resting;
            *resting = if rests { *resting + 1 } else { *resting - 1 };
            id = before;
        }
    }

    /// One node is left behind this one, which becomes a part of it.
    fn merge(&mut self, id: Id) {
        let node = &mut self.nodes[index(id)];
        let (last, before) = (node.combined, node.before);
        let mut parts = std::mem::take(&mut node.parts);
        let beside = std::mem::take(&mut node.beside);
        if before != NONE {
            self.nodes[index(before)].combined ^= id ^ last;
        }
        let node = &mut self.nodes[index(last)];
        node.before = before;
        if node.parts.len() < parts.len() {
            std::mem::swap(&mut node.parts, &mut parts);
        }
        parts.iter().for_each(|part| add(&mut node.parts, *part));
        beside.into_iter().for_each(|it| keep(&mut node.beside, it));
        parts.clear();
        self.nodes[index(id)].parts = parts;
        self.free.push(id);
    }

    fn forget(&mut self, id: Id) {
        let node = &mut self.nodes[index(id)];
        node.parts.clear();
        node.beside.clear();
        // A node that is used again keeps its room, if that is little.
        node.parts.shrink_to(8);
        self.free.push(id);
    }
}

/// Parts are sorted by their kinds.
fn add(parts: &mut Vec<Part>, part: Part) {
    match parts.binary_search_by_key(&part.kind, |it| it.kind) {
        Ok(at) => {
            parts[at].ns += part.ns;
            parts[at].count = parts[at].count.saturating_add(part.count);
        }
        Err(at) => parts.insert(at, part),
    }
}

/// The longest alternatives are kept.
fn keep(all: &mut Vec<Alternative>, alternative: Alternative) {
    all.push(alternative);
    if all.len() > MOST_BESIDE
        && let Some((least, _)) = all.iter().enumerate().min_by_key(|(_, it)| it.ns)
    {
        all.swap_remove(least);
    }
}

fn index(id: Id) -> usize {
    usize::try_from(id).expect("32 bits are a size on every machine with these tracepoints")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(nodes: &Nodes, leaf: Id) -> u64 {
        nodes.collect(leaf).iter().map(|part| part.ns).sum()
    }

    #[test]
    fn paths_share_their_beginnings_and_merge_when_one_is_left() {
        let mut nodes = Nodes::default();
        let first = nodes.leaf(NONE);
        nodes.add(first, 7, 100, 1);
        let (shared, first) = nodes.fork(first);
        let second = nodes.leaf(shared);
        nodes.add(first, 7, 10, 1);
        nodes.add(second, 3, 1, 1);
        assert_eq!((sum(&nodes, first), sum(&nodes, second), nodes.len()), (110, 101, 3));
        nodes.release(first);
        assert_eq!((sum(&nodes, second), nodes.len()), (101, 1));
        assert_eq!(nodes.collect(second).iter().map(|part| part.kind).collect::<Vec<_>>(), [3, 7]);
    }

    #[test]
    fn two_that_wake_each_other_need_no_more_nodes() {
        let mut nodes = Nodes::default();
        let (mut a, mut b) = (nodes.leaf(NONE), nodes.leaf(NONE));
        for _ in 0..1000 {
            nodes.add(a, 1, 5, 1);
            let (shared, next) = nodes.fork(a);
            a = next;
            nodes.jump(b, shared);
            std::mem::swap(&mut a, &mut b);
            assert!(nodes.len() <= 3, "{}", nodes.len());
        }
        assert_eq!((sum(&nodes, a), sum(&nodes, b)), (5000, 5000));
    }

    #[test]
    fn what_a_path_has_alone_begins_behind_the_last_node_that_another_one_shares() {
        let mut nodes = Nodes::default();
        let root = nodes.leaf(NONE);
        nodes.add(root, 0, 100, 1);
        let (shared, root) = nodes.fork(root);
        let (child, other) = (nodes.leaf(shared), nodes.leaf(shared));
        nodes.add(child, 1, 7, 1);
        let (joined, child) = nodes.fork(child);
        nodes.jump(root, joined);
        nodes.add(root, 2, 5, 1);
        let alone =
            |nodes: &Nodes| nodes.alone(root).flat_map(|(parts, _)| parts).map(|part| part.ns).sum::<u64>();
        assert_eq!(alone(&nodes), 5);
        // What rests is nobody's, though something goes on from it that rests too.
        nodes.rest(child);
        assert_eq!(alone(&nodes), 12);
        nodes.add(child, 3, 1, 1);
        let (kept, child) = nodes.fork(child);
        let also = nodes.leaf(kept);
        assert_eq!(alone(&nodes), 5);
        nodes.rest(also);
        assert_eq!(alone(&nodes), 12);
        // Who goes on from it lives.
        nodes.jump(other, kept);
        assert_eq!(alone(&nodes), 5);
        [other, child, also].into_iter().for_each(|leaf| nodes.release(leaf));
        assert_eq!((alone(&nodes), sum(&nodes, root), nodes.len()), (112, 112, 1));
    }

    #[test]
    fn the_longest_alternatives_stay_with_their_path() {
        let mut nodes = Nodes::default();
        let first = nodes.leaf(NONE);
        let (shared, first) = nodes.fork(first);
        let second = nodes.leaf(shared);
        for ns in 0..20 {
            nodes.tell(shared, Alternative { label: 0, slack: 0, ns });
        }
        nodes.release(first);
        let mut told: Vec<u64> = nodes.beside(second).map(|it| it.ns).collect();
        told.sort_unstable();
        assert_eq!(told, (12..20).collect::<Vec<_>>());
    }

    #[test]
    fn a_fork_at_once_behind_another_makes_no_empty_node() {
        let mut nodes = Nodes::default();
        let root = nodes.leaf(NONE);
        nodes.add(root, 0, 3, 1);
        let (shared, root) = nodes.fork(root);
        let child = nodes.leaf(shared);
        assert_eq!(nodes.fork(root), (shared, root));
        let other = nodes.leaf(shared);
        nodes.release(root);
        nodes.release(child);
        assert_eq!((sum(&nodes, other), nodes.len()), (3, 1));
        nodes.release(other);
        assert_eq!(nodes.len(), 0);
    }
}
