//! Names as small numbers, each string kept once. Bounded: a tree that names itself anew all the time gets one name.

use rustc_hash::FxHashMap;

use super::command::CommandName;

/// A name.
pub(super) type Label = u32;

/// The name of a task whose name was not seen.
pub(super) const UNNAMED: Label = 0;
/// The name that stands for all beyond the bound.
pub(super) const REST: Label = 1;
/// How many names are kept.
const MOST: usize = 1 << 16;

/// All names.
#[derive(Debug)]
pub(super) struct Labels {
    names: Vec<CommandName>,
    by_name: FxHashMap<Box<str>, Label>,
    children: FxHashMap<CommandName, Label>,
}

impl Labels {
    pub(super) fn new() -> Self {
        let mut labels =
            Self { names: Vec::new(), by_name: FxHashMap::default(), children: FxHashMap::default() };
        labels.of("(unnamed)");
        labels.of("(more names)");
        labels
    }

    /// The number of a name.
    pub(super) fn of(&mut self, name: &str) -> Label {
        if let Some(label) = self.by_name.get(name) {
            return *label;
        }
        let label = self.add(name.into());
        if label != REST {
            self.by_name.insert(name.into(), label);
        }
        label
    }

    fn add(&mut self, name: CommandName) -> Label {
        if self.names.len() >= MOST {
            return REST;
        }
        self.names.push(name);
        Label::try_from(self.names.len() - 1).unwrap_or(REST)
    }

    /// The name of a child of this command that has not begun another program. A child of such a child has the same.
    pub(super) fn forked(&mut self, label: Label) -> Label {
        self.child(CommandName::new(self.command(label).code(), true))
    }

    /// The name of a child of this command that goes on without an exec. A child of such a child has the same.
    pub(super) fn subshell(&mut self, label: Label) -> Label {
        self.child(CommandName::subshell(self.command(label).code()))
    }

    fn child(&mut self, name: CommandName) -> Label {
        if let Some(label) = self.children.get(&name) {
            return *label;
        }
        let label = self.add(name.clone());
        if label != REST {
            self.children.insert(name, label);
        }
        label
    }

    /// The command of this number.
    pub(super) fn command(&self, label: Label) -> &CommandName {
        let known = usize::try_from(label).ok().and_then(|index| self.names.get(index));
        known.unwrap_or(&self.names[0])
    }

    /// Its name as it is shown.
    pub(super) fn name(&self, label: Label) -> &str {
        self.command(label)
    }
}

/// A kernel thread without the number of its CPU or pool, so that all workers are one.
pub(super) fn kernel(comm: &str) -> &str {
    match comm.split_once('/') {
        Some((name, rest)) if rest.trim_start_matches('u').starts_with(|it: char| it.is_ascii_digit()) => {
            name
        }
        _ => comm,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_number_and_a_fork_of_a_fork_one_suffix() {
        let mut labels = Labels::new();
        let sh = labels.of("sh");
        assert_eq!(labels.of("sh"), sh);
        let forked = labels.forked(sh);
        assert_eq!(labels.name(forked), "sh (forked)");
        assert_eq!(labels.forked(forked), forked);
        let subshell = labels.subshell(forked);
        assert_eq!(labels.name(subshell), "sh (subshell)");
        assert_eq!((labels.subshell(sh), labels.subshell(subshell)), (subshell, subshell));
        assert_eq!(labels.forked(subshell), forked);
        assert_eq!(labels.name(9999), "(unnamed)");
    }

    #[test]
    fn names_are_bounded() {
        let mut labels = Labels::new();
        for index in 0..MOST + 10 {
            labels.of(&format!("name {index}"));
        }
        assert_eq!(labels.names.len(), MOST);
        assert_eq!(labels.of("one more"), REST);
    }

    #[test]
    fn workers_are_one() {
        assert_eq!(kernel("kworker/0:1-events"), "kworker");
        assert_eq!(kernel("kworker/u8:2"), "kworker");
        assert_eq!(kernel("ksoftirqd/1"), "ksoftirqd");
        assert_eq!(kernel("jbd2/vda1-8"), "jbd2/vda1-8");
        assert_eq!(kernel("kdamond.0"), "kdamond.0");
    }
}
