//! Paths that share their beginnings: a tree of nodes, each with the parts of the time that passed there.
//!
//! A leaf is the end of one task's path, and only its owner adds to it. A node within the tree has at least two nodes
//! behind it, for one that is left with a single one is merged into that. So there are fewer nodes than twice the paths,
//! however often tasks wake each other.

use super::parts::Part;

/// A node. [`NONE`] is none.
pub(super) type Id = u32;

/// No node: the beginning.
pub(super) const NONE: Id = Id::MAX;

#[derive(Debug, Default)]
struct Node {
    before: Id,
    /// Nodes right behind this one, and all their numbers combined by exclusive or: the last one left is known by it.
    behind: u32,
    combined: Id,
    parts: Vec<Part>,
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
        node.parts.clear();
        self.attach(before, id);
        id
    }

    /// Two paths from one: this one goes on behind the node that is returned first, under the number returned second.
    pub(super) fn fork(&mut self, leaf: Id) -> (Id, Id) {
        let node = &self.nodes[index(leaf)];
        if node.parts.is_empty() && node.before != NONE {
            return (node.before, leaf);
        }
        let next = self.leaf(leaf);
        (leaf, next)
    }

    /// The path of this leaf is another one from now on: what is before this node.
    pub(super) fn jump(&mut self, leaf: Id, before: Id) {
        // First to the new place, so that it is not merged away.
        self.attach(before, leaf);
        let node = &mut self.nodes[index(leaf)];
        let former = std::mem::replace(&mut node.before, before);
        node.parts.clear();
        self.detach(former, leaf);
    }

    /// The path is not needed any more.
    pub(super) fn release(&mut self, leaf: Id) {
        let before = self.nodes[index(leaf)].before;
        self.forget(leaf);
        self.detach(before, leaf);
    }

    /// Adds to the end of a path.
    pub(super) fn add(&mut self, leaf: Id, kind: u32, ns: u64, count: u32) {
        add(&mut self.nodes[index(leaf)].parts, Part { kind, count, ns });
    }

    /// All parts of a path.
    pub(super) fn collect(&self, leaf: Id) -> Vec<Part> {
        let mut all = Vec::new();
        let mut id = leaf;
        while id != NONE {
            let node = &self.nodes[index(id)];
            node.parts.iter().for_each(|part| add(&mut all, *part));
            id = node.before;
        }
        all
    }

    /// How many nodes there are.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.nodes.len() - self.free.len()
    }

    fn attach(&mut self, before: Id, id: Id) {
        if before != NONE {
            let node = &mut self.nodes[index(before)];
            node.behind += 1;
            node.combined ^= id;
        }
    }

    fn detach(&mut self, before: Id, id: Id) {
        if before == NONE {
            return;
        }
        let node = &mut self.nodes[index(before)];
        node.behind -= 1;
        node.combined ^= id;
        match node.behind {
            0 => {
                let further = node.before;
                self.forget(before);
                self.detach(further, before);
            }
            1 => self.merge(before),
            _ => {}
        }
    }

    /// One node is left behind this one, which becomes a part of it.
    fn merge(&mut self, id: Id) {
        let node = &mut self.nodes[index(id)];
        let (last, before) = (node.combined, node.before);
        let mut parts = std::mem::take(&mut node.parts);
        if before != NONE {
            self.nodes[index(before)].combined ^= id ^ last;
        }
        let node = &mut self.nodes[index(last)];
        node.before = before;
        if node.parts.len() < parts.len() {
            std::mem::swap(&mut node.parts, &mut parts);
        }
        parts.iter().for_each(|part| add(&mut node.parts, *part));
        parts.clear();
        self.nodes[index(id)].parts = parts;
        self.free.push(id);
    }

    fn forget(&mut self, id: Id) {
        let parts = &mut self.nodes[index(id)].parts;
        parts.clear();
        // A node that is used again keeps its room, if that is little.
        parts.shrink_to(8);
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
