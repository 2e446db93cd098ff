//! A PATH with which the slower side searches no more than the other one.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;

use super::line::{Line, edited, quoted};
use super::{Change, ExperimentContext};
use crate::why::planned::{Test, Variation};

/// The name of the variable.
const PATH: &str = "PATH";

/// Where both begin about as many programs, the PATH makes the difference: up to so many times as many.
const AS_MANY: f64 = 1.1;

impl ExperimentContext<'_> {
    /// The PATH of the other one; where that is the same or not enough, only the directories that have its programs.
    pub(super) fn path_search(&self) -> Result<Change, String> {
        let (path, words) = match self.of_the_other() {
            Some(path) => (path, "it searches for programs where the other one does"),
            None => (self.needed()?, "PATH names only the directories in which its programs are"),
        };
        let original = self.slow_line();
        let line = Line::of(original);
        let edits = assigned(original).into_iter();
        let edits = edits.map(|(place, _)| (place, format!("{PATH}={}", quoted(&path)))).collect();
        let mut changed = Variation::of(edited(original, edits));
        changed.env.insert(PATH.to_owned(), path);
        Ok(Change {
            words: words.to_owned(),
            put_in: false,
            // A script may set a PATH of its own.
            sure: self.searches(&line) && !self.scripted(&line),
            test: Test { control: Variation::of(original), changed },
        })
    }

    /// How many times the difference goes with the change: where the searches that both make go too, more than once.
    pub(super) fn all_searches(&self) -> f64 {
        let (slow, fast) = (self.slow.misses(), self.fast.misses());
        if slow > fast && self.of_the_other().is_none() { slow / (slow - fast) } else { 1.0 }
    }

    /// The PATH of the other one, if it is another one, has all programs, and makes the difference.
    fn of_the_other(&self) -> Option<String> {
        let (slow, fast) = (self.path_of(self.places.0)?, self.path_of(self.places.1)?);
        let there: BTreeSet<&str> = fast.split(':').collect();
        let has_all = self.having(&slow).iter().all(|directory| there.contains(directory));
        let as_many = self.slow.execs <= self.fast.execs * AS_MANY + 1.0;
        (slow != fast && has_all && as_many).then_some(fast)
    }

    /// The directories that have its programs, in the order in which they are searched now as far as that is known.
    fn needed(&self) -> Result<String, String> {
        let own = self.path_of(self.places.0);
        let known = own.clone().or_else(|| self.inherited(self.places.0)).unwrap_or_default();
        let mut directories = self.having(&known);
        if own.is_none() || directories.is_empty() {
            let others: Vec<&str> =
                self.directories().into_iter().filter(|it| !directories.contains(it)).collect();
            directories.extend(others);
        }
        if directories.is_empty() {
            return Err("it is not known in which directories the programs are".to_owned());
        }
        Ok(directories.join(":"))
    }

    /// Where programs are.
    fn directories(&self) -> BTreeSet<&str> {
        self.machine.programs.values().filter_map(|program| program.parent().and_then(Path::to_str)).collect()
    }

    /// Of a PATH, the directories that have programs, each once, in their order.
    fn having<'p>(&self, path: &'p str) -> Vec<&'p str> {
        let all = self.directories();
        let mut seen = BTreeSet::new();
        path.split(':').filter(|it| all.contains(it) && seen.insert(*it)).collect()
    }

    /// The PATH that an alternative's line sets, or else gets.
    fn path_of(&self, index: usize) -> Option<String> {
        let inherited = self.inherited(index);
        match &assigned(&self.given.plan.alternatives[index].command)[..] {
            [] => inherited,
            [(_, text)] => resolved(text, inherited.as_deref()),
            _ => None,
        }
    }

    /// The PATH that an alternative's line gets.
    fn inherited(&self, index: usize) -> Option<String> {
        let own = self.given.plan.alternatives[index].env.get(PATH);
        own.or(Some(&self.machine.path)).filter(|path| !path.is_empty()).cloned()
    }
}

/// Where a line sets PATH, and to what.
fn assigned(text: &str) -> Vec<(Range<usize>, String)> {
    let line = Line::of(text);
    let words = line.commands.iter().flat_map(|command| &command.words).filter(|word| !word.redirects);
    words.filter_map(|word| Some((word.place.clone(), word.text.strip_prefix("PATH=")?.to_owned()))).collect()
}

/// What a shell makes of it. `None` if that depends on more than the PATH before.
fn resolved(text: &str, inherited: Option<&str>) -> Option<String> {
    let mut text = text.to_owned();
    for name in ["${PATH}", "$PATH"] {
        if text.contains(name) {
            text = text.replace(name, inherited?);
        }
    }
    (!text.contains(['$', '`', '~'])).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_what_a_shell_makes_of_it() {
        let of = |text: &str| resolved(&assigned(text)[0].1, Some("/usr/bin:/bin"));
        assert_eq!(of("PATH=/x:$PATH y").as_deref(), Some("/x:/usr/bin:/bin"));
        assert_eq!(of("env PATH=\"/x y:${PATH}\" y").as_deref(), Some("/x y:/usr/bin:/bin"));
        assert_eq!(of("PATH=/x; y").as_deref(), Some("/x"));
        assert_eq!(of("PATH=$HOME/bin:$PATH y"), None);
        assert_eq!(resolved("/x:$PATH", None), None);
        assert_eq!(assigned("y > PATH=x"), []);
    }
}
