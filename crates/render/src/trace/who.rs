//! Who the tasks of a stream are: kept while they live, and a little longer, because a call that never returned is
//! streamed after its task has ended.

use std::collections::{HashMap, VecDeque};

use whyfaster_core::trace::command::CommandName;
use whyfaster_core::trace::event::{Event, Pid, TaskKind, Tid, What};

/// Ended tasks whose names are still known. Bounds the memory of a stream with any number of short tasks.
const ENDED_KEPT: usize = 4096;

/// The tasks of a stream.
#[derive(Debug, Default)]
pub(in super::super) struct Who {
    tasks: HashMap<Tid, Known>,
    ended: VecDeque<(Tid, u64)>,
    born: u64,
}

/// What is known of a task.
#[derive(Clone, Debug)]
pub(in super::super) struct Known {
    /// The kernel's name of it.
    pub(in super::super) name: String,
    /// Its process, where it is known.
    pub(in super::super) process: Pid,
    /// Belongs to the traced tree.
    pub(in super::super) tree: bool,
    /// Made by a fork and has not begun a program since.
    pub(in super::super) forked: bool,
    /// Tells tasks apart that have the same number one after the other.
    pub(in super::super) birth: u64,
}

impl Known {
    /// The command as the report has it.
    pub(in super::super) fn command(&self) -> String {
        CommandName::new(&self.name, self.forked).to_string()
    }
}

impl Who {
    /// Learns from an event.
    pub(in super::super) fn see(&mut self, event: &Event) {
        match &event.what {
            What::Fork { parent, child, process, .. } => {
                let of = self.tasks.get(parent);
                let name = of.map_or_else(String::new, |of| of.name.clone());
                // A thread runs its process's program; a forked process its parent's, until its exec.
                let forked = if child == process { true } else { of.is_some_and(|of| of.forked) };
                self.born(*child, Known { name, process: *process, tree: true, forked, birth: 0 });
            }
            What::Exec { task, former, name, .. } => {
                if former != task {
                    self.tasks.remove(former);
                }
                let known = self.of(*task);
                (known.name, known.forked, known.tree) = (name.clone(), false, true);
            }
            What::Name { task, process, name, kind } => {
                let known = self.of(*task);
                let tree = *kind == TaskKind::Tree;
                // A child that is not called like its parent runs a program of its own.
                known.forked &= tree && (known.name.is_empty() || known.name == *name);
                (known.name, known.process, known.tree) = (name.clone(), *process, tree);
            }
            What::End { task, .. } => self.end(*task),
            _ => {}
        }
    }

    /// What is known of a task.
    pub(in super::super) fn get(&self, task: Tid) -> Option<&Known> {
        self.tasks.get(&task)
    }

    /// A task's name, or its number where it has none.
    pub(in super::super) fn name(&self, task: Tid) -> String {
        match self.tasks.get(&task) {
            _ if task == 0 => "idle".to_owned(),
            Some(known) if !known.name.is_empty() => known.name.clone(),
            _ => format!("task {task}"),
        }
    }

    /// The command of a task, or its number.
    pub(in super::super) fn command(&self, task: Tid) -> String {
        match self.tasks.get(&task) {
            Some(known) if !known.name.is_empty() => known.command(),
            _ => self.name(task),
        }
    }

    fn of(&mut self, task: Tid) -> &mut Known {
        let birth = &mut self.born;
        self.tasks.entry(task).or_insert_with(|| {
            *birth += 1;
            Known { name: String::new(), process: task, tree: false, forked: false, birth: *birth }
        })
    }

    fn born(&mut self, task: Tid, known: Known) {
        self.born += 1;
        self.tasks.insert(task, Known { birth: self.born, ..known });
    }

    fn end(&mut self, task: Tid) {
        let Some(known) = self.tasks.get(&task) else { return };
        self.ended.push_back((task, known.birth));
        if self.ended.len() > ENDED_KEPT
            && let Some((task, birth)) = self.ended.pop_front()
            // Its number may belong to somebody else by now.
            && self.tasks.get(&task).is_some_and(|known| known.birth == birth)
        {
            self.tasks.remove(&task);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use whyfaster_core::trace::event::Totals;

    fn event(what: What) -> Event {
        Event { at: 0, cpu: 0, what }
    }

    fn fork(parent: Tid, child: Tid) -> Event {
        event(What::Fork { parent, child, process: child, allowed: Vec::new() })
    }

    fn end(task: Tid) -> Event {
        event(What::End { task, process: task, status: Some(0), totals: Totals::default() })
    }

    #[test]
    fn a_child_has_its_parents_name_until_it_execs() {
        let mut who = Who::default();
        who.see(&event(What::Name { task: 5, process: 5, name: "sh".to_owned(), kind: TaskKind::Tree }));
        who.see(&fork(5, 6));
        assert_eq!((who.command(6), who.name(6)), ("sh (forked)".to_owned(), "sh".to_owned()));
        assert_eq!((who.name(0), who.name(7)), ("idle".to_owned(), "task 7".to_owned()));
        who.see(&end(6));
        assert_eq!(who.name(6), "sh", "a call that never returned still needs its name");
    }

    #[test]
    fn memory_is_bounded_and_numbers_are_used_again() {
        let mut who = Who::default();
        for task in 1..=20_000 {
            who.see(&fork(0, task));
            who.see(&end(task));
        }
        assert!(who.tasks.len() <= ENDED_KEPT && who.ended.len() <= ENDED_KEPT);
        let before = who.get(20_000).unwrap().birth;
        who.see(&fork(0, 20_000));
        assert!(who.get(20_000).unwrap().birth > before);
    }
}
