//! Paths that would have been nearly as long: where a task waits for several children, its path goes on through the one that
//! ended last. What ended a little earlier would set the pace if that one became faster.
//!
//! A path that is replaced when a child ends is told to the one that replaces it, with how much earlier it was there. What
//! of it no living path shares can be on no other path later, so it is enough to keep its length and its command. Where the
//! parent has not gone to sleep again when the next child ends, there is no wake-up: then it is told by the end of that
//! child.

use super::super::labels::{Label, Labels};
use super::super::ledger::seconds;
use super::super::report::PathAlternative;
use super::Path;
use super::nodes::{Alternative, Id, NONE};
use super::parts::{Key, wait};
use super::walk::Walk;

/// This part of the wall time is the most that an alternative is shorter, and the least that it has for itself.
const NEAR: u64 = 20;

/// Ends of children that one parent has not gone to sleep after yet: more are not told.
const MOST: usize = 8;

impl Path {
    /// A task that waited for its children since `since` goes on with the path of one that ends.
    pub(super) fn joined(&mut self, walk: &mut Walk, label: Label, shared: Id, (since, now): (u64, u64)) {
        self.settle(walk, since);
        let slack = now - since;
        let replaced = self.nodes.alone(walk.head);
        let earlier =
            replaced.flat_map(|(_, beside)| beside).map(|it| Alternative { slack: it.slack + slack, ..*it });
        let mut told: Vec<Alternative> = earlier.collect();
        told.extend(self.alone(walk, label, now).map(|it| Alternative { slack, ..it }));
        self.go_on_with(walk, shared);
        for alternative in told.into_iter().filter(matters) {
            self.nodes.tell(walk.head, alternative);
        }
        walk.joins.joined = true;
    }

    /// A child of this task ends, perhaps while the task deals with the end of another one.
    pub(super) fn ends_beside(&mut self, parent: &mut Walk, child: &Walk, label: Label, now: u64) {
        if parent.joins.joined
            && parent.joins.ended.len() < MOST
            && let Some(alternative) = self.alone(child, label, now)
        {
            parent.joins.ended.push((alternative, now));
        }
    }

    /// The task has dealt with all children that ended before.
    pub(super) fn settle(&mut self, walk: &mut Walk, now: u64) {
        walk.joins.joined = false;
        for (alternative, ended) in walk.joins.ended.drain(..) {
            let alternative = Alternative { slack: now - ended, ..alternative };
            if walk.head != NONE && matters(&alternative) {
                self.nodes.tell(walk.head, alternative);
            }
        }
    }

    /// What the path of this task shares with no other, if that is long enough to be told.
    fn alone(&self, walk: &Walk, label: Label, now: u64) -> Option<Alternative> {
        let mut of: Vec<(Label, u64)> = vec![(label, walk.unshared())];
        let parts = self.nodes.alone(walk.head).flat_map(|(parts, _)| parts);
        for part in parts {
            let by = match self.keys.what(part.kind) {
                (Key::Wait { by, .. }, wait::TIME) | (Key::Run(by) | Key::Blocked { by, .. }, _) => by,
                (Key::Wait { .. }, _) => continue,
            };
            match of.iter_mut().find(|(label, _)| *label == by) {
                Some((_, ns)) => *ns += part.ns,
                None => of.push((by, part.ns)),
            }
        }
        let ns = of.iter().map(|(_, ns)| ns).sum();
        // The whole can only become longer.
        let all = now.saturating_sub(self.began?);
        let (label, _) = of.into_iter().max_by_key(|(_, ns)| *ns)?;
        (walk.head != NONE && near(ns, all)).then_some(Alternative { label, slack: 0, ns })
    }

    /// Paths beside the critical one that are nearly as long, the longest first.
    pub(in super::super) fn alternatives(&self, labels: &Labels, wall_ns: u64) -> Vec<PathAlternative> {
        let Some((.., leaf)) = self.last else { return Vec::new() };
        let mut told: Vec<&Alternative> = self
            .nodes
            .beside(leaf)
            .filter(|it| near(it.ns, wall_ns) && !(it.slack > 0 && it.slack * NEAR > wall_ns))
            .collect();
        told.sort_by_key(|it| (it.slack, it.ns));
        let row = |it: &Alternative| PathAlternative {
            command: labels.command(it.label).clone(),
            slack_s: seconds(it.slack),
            seconds: seconds(it.ns),
        };
        told.into_iter().map(row).collect()
    }
}

/// Whether a time is long enough beside the whole to be told.
fn near(ns: u64, all: u64) -> bool {
    ns > 0 && ns.saturating_mul(NEAR) >= all
}

/// What is told has at least a part of the whole for itself and is shorter by at most as much: never by more than it has.
fn matters(alternative: &Alternative) -> bool {
    alternative.slack <= alternative.ns
}
