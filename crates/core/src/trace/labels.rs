//! Names as small numbers, each string kept once. Bounded: a tree that names itself anew all the time gets one name.

use rustc_hash::FxHashMap;

/// A name.
pub(super) type Label = u32;

/// The name of a task whose name was not seen.
pub(super) const UNNAMED: Label = 0;
/// The name that stands for all beyond the bound.
pub(super) const REST: Label = 1;
/// How many names are kept.
const MOST: usize = 1 << 16;
/// Behind the name of a process that was forked and has not begun a program of its own.
const FORKED: &str = " (forked)";

/// All names.
#[derive(Debug)]
pub(super) struct Labels {
    names: Vec<Box<str>>,
    by_name: FxHashMap<Box<str>, Label>,
    forked: FxHashMap<Label, Label>,
}

impl Labels {
    pub(super) fn new() -> Self {
        let mut labels =
            Self { names: Vec::new(), by_name: FxHashMap::default(), forked: FxHashMap::default() };
        labels.of("(unnamed)");
        labels.of("(more names)");
        labels
    }

    /// The number of a name.
    pub(super) fn of(&mut self, name: &str) -> Label {
        if let Some(label) = self.by_name.get(name) {
            return *label;
        }
        if self.names.len() >= MOST {
            return REST;
        }
        let label = Label::try_from(self.names.len()).unwrap_or(REST);
        self.names.push(name.into());
        self.by_name.insert(name.into(), label);
        label
    }

    /// The name of a child of this command that has not begun another program. A child of such a child has the same.
    pub(super) fn forked(&mut self, label: Label) -> Label {
        if let Some(forked) = self.forked.get(&label) {
            return *forked;
        }
        let name = self.name(label);
        let forked = if is_forked(name) { label } else { self.of(&format!("{name}{FORKED}")) };
        self.forked.insert(label, forked);
        forked
    }

    pub(super) fn name(&self, label: Label) -> &str {
        usize::try_from(label).ok().and_then(|index| self.names.get(index)).map_or("", |name| name)
    }
}

/// The name under which calls of a group are shown.
pub(super) fn shown(name: &str, forked: bool) -> String {
    if forked { format!("{name}{FORKED}") } else { name.to_owned() }
}

/// Whether a name is that of forked children.
pub(crate) fn is_forked(name: &str) -> bool {
    name.ends_with(FORKED)
}

/// The name without the mark of a child between fork and exec.
pub(crate) fn base(name: &str) -> &str {
    name.strip_suffix(FORKED).unwrap_or(name)
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
        assert_eq!(labels.name(9999), "");
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
