//! It is given less of the machine: priority, session, cgroup.

use std::ops::Range;

use super::definition::{About, BASE, Definition};
use crate::plan::Placement;
use crate::trace::report::{PathKind, PathRow, SharerKind};
use crate::why::categories::Category;
use crate::why::experiments::line::{Command, Line, edited};
use crate::why::experiments::{Change, Edit, ExperimentContext, Untestable, instead};
use crate::why::planned::{Test, Variation};
use crate::why::statement::{Fact, Measure};

pub(super) const DEFINITION: Definition = Definition {
    categories: &[Category::Throttled],
    on_path: |row, _| row.kind == PathKind::CpuWait,
    counted: &[(Measure::PriorityCalls, |it| it.priorities)],
    fact,
    change,
    ..BASE
};

fn fact(it: &About<'_>) -> Fact {
    let throttled: f64 = it.slow_path(throttled).map(|row| row.seconds).sum();
    if throttled >= it.seconds / 2.0 { Fact::Throttled } else { Fact::LowPriority }
}

fn throttled(row: &PathRow) -> bool {
    row.holder == Some(SharerKind::Throttled)
}

/// No lowered priority; without one, the other placement.
fn change(it: &ExperimentContext<'_>) -> Result<Change, Untestable> {
    if it.path_s(throttled) >= it.finding.seconds / 2.0 {
        return Err(Untestable::Quota);
    }
    let original = it.slow_line();
    let line = Line::of(original);
    let edits: Vec<_> = line.called("nice").filter_map(unniced).collect();
    if !edits.is_empty() {
        let sure = it.nices(edits.len());
        let changed = edited(original, edits);
        return Ok(instead(original, changed, Edit::NoNice, sure));
    }
    if it.given.host.before.autogroup != Some(true) {
        return Err(Untestable::ShareElsewhere);
    }
    let (placement, edit) = match it.given.plan.placement {
        Placement::Session => (Placement::Shared, Edit::SharedSession),
        Placement::Shared => (Placement::Session, Edit::OwnSession),
    };
    let changed = Variation { placement: Some(placement), ..Variation::of(original) };
    Ok(Change { edit, put_in: false, sure: false, test: Test { control: Variation::of(original), changed } })
}

/// `nice -n 5 X` as `nice -n 0 X`; `nice X` as `nice -n 0 X`.
fn unniced(command: &Command) -> Option<(Range<usize>, String)> {
    let words = command.own();
    let first = words.get(1)?;
    if first.text == "-n" {
        return Some((words.get(2)?.place.clone(), "0".to_owned()));
    }
    if first.text.starts_with("-n") || first.text.starts_with("--adjustment=") {
        return Some((first.place.clone(), "-n0".to_owned()));
    }
    let number = first.text.strip_prefix('-').unwrap_or("");
    if !number.is_empty() && number.trim_start_matches('-').chars().all(|c| c.is_ascii_digit()) {
        return Some((first.place.clone(), "-n0".to_owned()));
    }
    (!first.text.starts_with('-')).then(|| (first.place.start..first.place.start, "-n 0 ".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nice_in_all_its_forms() {
        for (text, wanted) in [
            ("nice -n 5 x", "nice -n 0 x"),
            ("nice -n5 x", "nice -n0 x"),
            ("nice --adjustment=5 x y", "nice -n0 x y"),
            ("nice -19 x", "nice -n0 x"),
            ("nice x; /usr/bin/nice -n 3 y", "nice -n 0 x; /usr/bin/nice -n 0 y"),
        ] {
            let line = Line::of(text);
            assert_eq!(edited(text, line.called("nice").filter_map(unniced).collect()), wanted);
        }
        assert!(Line::of("nice").called("nice").all(|it| unniced(it).is_none()));
    }
}
