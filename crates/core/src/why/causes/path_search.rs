//! It searches PATH, and fails, more often.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;

use super::definition::{BASE, Definition, Seen, in_kernel};
use crate::trace::report::{PathKind, WorkKind};
use crate::why::experiments::line::{Line, edited, quoted};
use crate::why::experiments::{Change, Edit, ExperimentContext, Untestable};
use crate::why::planned::{Test, Variation};
use crate::why::statement::{Fact, Measure, Pair};

const KINDS: [WorkKind; 2] = [WorkKind::Exec, WorkKind::FileMetadata];

pub(super) const DEFINITION: Definition = Definition {
    on_path: |row, _| row.kind == PathKind::Forked || in_kernel(row, &KINDS),
    in_work: |row, _| KINDS.contains(&row.kind),
    seen: Seen::CpuTime,
    counted: &[(Measure::FailedExecs, |it| it.failed_execs), (Measure::FailedLooks, |it| it.failed_looks)],
    fact: |it| Fact::PathSearch { misses: Pair { here: it.slow.misses(), there: it.fast.misses() } },
    change,
    winnable_s: |it| it.finding.seconds * all_searches(it),
    ..BASE
};

/// The name of the variable.
const PATH: &str = "PATH";

/// Where both begin about as many programs, the PATH makes the difference: up to so many times as many.
const AS_MANY: f64 = 1.1;

/// The PATH of the other one; where that is the same or not enough, only the directories that have its programs.
fn change(it: &ExperimentContext<'_>) -> Result<Change, Untestable> {
    let (path, edit) = match of_the_other(it) {
        Some(path) => (path, Edit::PathOfOther),
        None => (needed(it)?, Edit::ShortPath),
    };
    let original = it.slow_line();
    let line = Line::of(original);
    let edits = assigned(original).into_iter();
    let edits = edits.map(|(place, _)| (place, format!("{PATH}={}", quoted(&path)))).collect();
    let mut changed = Variation::of(edited(original, edits));
    changed.env.insert(PATH.to_owned(), path);
    Ok(Change {
        edit,
        put_in: false,
        // A script may set a PATH of its own.
        sure: it.searches(&line) && !it.scripted(&line),
        test: Test { control: Variation::of(original), changed },
    })
}

/// How many times the difference goes with the change: where the searches that both make go too, more than once.
fn all_searches(it: &ExperimentContext<'_>) -> f64 {
    let (slow, fast) = (it.slow.misses(), it.fast.misses());
    if slow > fast && of_the_other(it).is_none() { slow / (slow - fast) } else { 1.0 }
}

/// The PATH of the other one, if it is another one, has all programs, and makes the difference.
fn of_the_other(it: &ExperimentContext<'_>) -> Option<String> {
    let (slow, fast) = (path_of(it, it.places.0)?, path_of(it, it.places.1)?);
    let there: BTreeSet<&str> = fast.split(':').collect();
    let has_all = having(it, &slow).iter().all(|directory| there.contains(directory));
    let as_many = it.slow.execs <= it.fast.execs * AS_MANY + 1.0;
    (slow != fast && has_all && as_many).then_some(fast)
}

/// The directories that have its programs, in the order in which they are searched now as far as that is known.
fn needed(it: &ExperimentContext<'_>) -> Result<String, Untestable> {
    let own = path_of(it, it.places.0);
    let known = own.clone().or_else(|| inherited(it, it.places.0)).unwrap_or_default();
    let mut found = having(it, &known);
    if own.is_none() || found.is_empty() {
        let others: Vec<&str> = directories(it).into_iter().filter(|it| !found.contains(it)).collect();
        found.extend(others);
    }
    if found.is_empty() {
        return Err(Untestable::ProgramsUnknown);
    }
    Ok(found.join(":"))
}

/// Where programs are.
fn directories<'a>(it: &'a ExperimentContext<'_>) -> BTreeSet<&'a str> {
    it.machine.programs.values().filter_map(|program| program.parent().and_then(Path::to_str)).collect()
}

/// Of a PATH, the directories that have programs, each once, in their order.
fn having<'p>(it: &ExperimentContext<'_>, path: &'p str) -> Vec<&'p str> {
    let all = directories(it);
    let mut seen = BTreeSet::new();
    path.split(':').filter(|it| all.contains(it) && seen.insert(*it)).collect()
}

/// The PATH that an alternative's line sets, or else gets.
fn path_of(it: &ExperimentContext<'_>, index: usize) -> Option<String> {
    let inherited = inherited(it, index);
    match &assigned(&it.given.plan.alternatives[index].command)[..] {
        [] => inherited,
        [(_, text)] => resolved(text, inherited.as_deref()),
        _ => None,
    }
}

/// The PATH that an alternative's line gets.
fn inherited(it: &ExperimentContext<'_>, index: usize) -> Option<String> {
    let own = it.given.plan.alternatives[index].env.get(PATH);
    own.or(Some(&it.machine.path)).filter(|path| !path.is_empty()).cloned()
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
