//! It makes more system calls that do little each.

use super::definition::{About, BASE, Definition, in_kernel};
use crate::trace::report::{PathKind, WorkKind};
use crate::why::experiments::Untestable;
use crate::why::facts::{Made, Side};
use crate::why::statement::{Fact, Pair};

const KINDS: [WorkKind; 2] = [WorkKind::Rest, WorkKind::FileMetadata];

pub(super) const DEFINITION: Definition = Definition {
    // The clock finds a call that does little where it returns to, in the function of the C library.
    on_path: |row, _| row.kind == PathKind::User || in_kernel(row, &KINDS),
    in_work: |row, _| row.kind == WorkKind::User || KINDS.contains(&row.kind),
    by_work: true,
    in_code: true,
    fact,
    change: |_| Err(Untestable::Calls),
    ..BASE
};

/// A call mostly ends with one error if so many do.
const MOSTLY: f64 = 0.9;

/// The call of which the slower side makes the most more.
fn fact(it: &About<'_>) -> Fact {
    let Some((name, made, there)) = most(it.slow, it.fast) else {
        return Fact::Calls { call: None, error: None, number: Pair { here: 0.0, there: 0.0 } };
    };
    let error = made.error.as_ref().filter(|(_, times)| *times >= MOSTLY * made.calls);
    Fact::Calls {
        call: Some(name.to_owned()),
        error: error.map(|(error, _)| error.clone()),
        number: Pair { here: made.calls, there },
    }
}

fn most<'a>(slow: &'a Side, fast: &Side) -> Option<(&'a str, &'a Made, f64)> {
    let more = more(slow, fast).max_by(|a, b| (a.1.calls - a.2).total_cmp(&(b.1.calls - b.2)));
    more.filter(|(_, made, there)| made.calls > *there)
}

/// The calls of these kinds, with the number of the other side.
fn more<'a>(slow: &'a Side, fast: &Side) -> impl Iterator<Item = (&'a str, &'a Made, f64)> {
    let counted = slow.calls.iter().filter(|(name, _)| KINDS.contains(&WorkKind::of_call(name)));
    counted.map(|(name, made)| {
        let there = fast.calls.get(name).map_or(0.0, |it| it.calls);
        (name.as_str(), made, there)
    })
}

/// How many more of these calls the slower side makes.
pub(in crate::why) fn more_calls((slow, fast): (&Side, &Side)) -> f64 {
    more(slow, fast).map(|(_, made, there)| (made.calls - there).max(0.0)).sum()
}

/// Calls on a descriptor, which look up no name.
const ON_DESCRIPTORS: [&str; 12] = [
    "close",
    "close_range",
    "dup",
    "dup2",
    "dup3",
    "fcntl",
    "fcntl64",
    "lseek",
    "_llseek",
    "ioctl",
    "fadvise64",
    "umask",
];

/// Whether most of the calls about files that the slower side has more of are on descriptors.
pub(in crate::why) fn on_descriptors((slow, fast): (&Side, &Side)) -> bool {
    let about_files = |name: &str| WorkKind::of_call(name) == WorkKind::FileMetadata;
    let (mut on_descriptors, mut all) = (0.0, 0.0);
    for (name, made, there) in more(slow, fast).filter(|(name, ..)| about_files(name)) {
        let more = (made.calls - there).max(0.0);
        all += more;
        on_descriptors += if ON_DESCRIPTORS.contains(&name) { more } else { 0.0 };
    }
    on_descriptors > all / 2.0
}
