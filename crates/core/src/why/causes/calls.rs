//! It makes more system calls that do little each.

use super::definition::{About, BASE, Definition, Seen, in_kernel};
use crate::trace::report::{PathKind, WorkKind};
use crate::why::experiments::Untestable;
use crate::why::facts::{Made, Side};
use crate::why::statement::{Fact, Pair};

const KINDS: [WorkKind; 2] = [WorkKind::Rest, WorkKind::Descriptor];

pub(super) const DEFINITION: Definition = Definition {
    // The clock finds a call that does little where it returns to, in the function of the C library.
    on_path: |row, _| row.kind == PathKind::User || in_kernel(row, &KINDS),
    in_work: |row, _| row.kind == WorkKind::User || KINDS.contains(&row.kind),
    by_work: true,
    in_code: true,
    seen: Seen::CpuTime,
    fact,
    change: |_| Err(Untestable::Calls),
    ..BASE
};

/// The part of the calls that end with one error, where that error is named.
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

/// Additional calls of these kinds of the slower side.
pub(in crate::why) fn more_calls((slow, fast): (&Side, &Side)) -> f64 {
    more(slow, fast).map(|(_, made, there)| (made.calls - there).max(0.0)).sum()
}
