//! It waits for a CPU while another one stands idle.

use std::ops::Range;

use super::definition::{About, BASE, Definition};
use crate::trace::report::{PathKind, PathRow};
use crate::why::categories::Category;
use crate::why::experiments::line::{Command, Line, edited};
use crate::why::experiments::{Change, Edit, ExperimentContext, Untestable, instead};
use crate::why::facts::Side;
use crate::why::planned::{Test, Variation};
use crate::why::statement::{Fact, Measure, Pair};

pub(super) const DEFINITION: Definition = Definition {
    categories: &[Category::Misplaced],
    on_path: |row, _| misplaced_s(row) > 0.0,
    counted: &[(Measure::CpusOfBusiest, |it| it.cpus), (Measure::AffinityCalls, |it| it.affinities)],
    fact,
    change,
    ..BASE
};

/// The part of a wait for which another CPU stood idle.
fn misplaced_s(row: &PathRow) -> f64 {
    row.avoidable_s + row.but_for_affinity_s
}

fn fact(it: &About<'_>) -> Fact {
    let rows = || it.slow_path(|row| row.kind == PathKind::CpuWait);
    let sum = |of: fn(&PathRow) -> f64| -> f64 { rows().map(of).sum() };
    let (avoidable, forbidden, pinned) =
        (sum(|row| row.avoidable_s), sum(|row| row.but_for_affinity_s), sum(|row| row.by_pinning_s));
    if it.slow.affinities > 0.0 && avoidable + forbidden < it.seconds / 2.0 {
        return Fact::Confined { cpus: Pair { here: it.slow.cpus, there: it.fast.cpus } };
    }
    let most = rows().max_by(|a, b| misplaced_s(a).total_cmp(&misplaced_s(b)));
    let holder = most.and_then(|row| row.what.clone());
    Fact::Misplacement { holder, forbidden: forbidden + pinned > avoidable - pinned }
}

/// Whether the slower side confined itself to fewer CPUs than the other one ran on.
pub(in crate::why) fn confined(slow: &Side, fast: &Side) -> bool {
    slow.affinities > 0.0 && slow.cpus > 0.0 && slow.cpus < fast.cpus
}

/// Whether both sides confined themselves to as many CPUs.
pub(in crate::why) fn confined_alike(slow: &Side, fast: &Side) -> bool {
    slow.affinities > 0.0 && fast.affinities > 0.0 && slow.cpus > 0.0 && slow.cpus == fast.cpus
}

/// CPUs that are busy for this part of the time are full: nothing more would fit on them.
const ALL_BUSY: f64 = 0.8;

/// Whether the slower side confined itself to CPUs that it keeps busy, and the other one has more: its parts take turns there.
/// Then the path may go through one part after the other without any wait for a CPU, as if they depended on each other.
pub(in crate::why) fn taking_turns(slow: &Side, fast: &Side) -> bool {
    confined(slow, fast) && slow.parallelism() >= slow.cpus * ALL_BUSY && fast.parallelism() > slow.cpus
}

/// The slower alternative where nothing shares its CPU: without taskset, each stage on a CPU of its own, or elsewhere.
fn change(it: &ExperimentContext<'_>) -> Result<Change, Untestable> {
    if it.machine.cpus.len() < 2 {
        return Err(Untestable::NoOtherCpu);
    }
    let original = it.slow_line();
    let line = Line::of(original);
    let edits = freed(it, &line);
    if !edits.is_empty() {
        let edit = Edit::MoreCpus { cpus: it.machine.cpus.clone() };
        return Ok(instead(original, edited(original, edits), edit, true));
    }
    if line.pipeline && line.commands.len() > 1 && !it.machine.stage.is_empty() {
        return Ok(pinned(it, &line, original));
    }
    let last = it.machine.cpus[it.machine.cpus.len() - 1];
    let changed = Variation { cpus: Some(vec![last]), ..Variation::of(original) };
    Ok(Change {
        edit: Edit::OneCpu { cpu: last, all: false },
        put_in: false,
        // What shared its CPU may come along.
        sure: false,
        test: Test { control: Variation::of(original), changed },
    })
}

/// Every stage on a CPU of its own, as far as there are. The control is wrapped alike, and may run anywhere.
fn pinned(it: &ExperimentContext<'_>, line: &Line, original: &str) -> Change {
    let cpus = &it.machine.cpus;
    let pinned = |at: usize| cpus[at % cpus.len()];
    let changed = Variation::of(it.wrapped(line, original, |at| format!("--cpu {}", pinned(at))));
    let control = Variation::of(it.wrapped(line, original, |_| format!("--cpu {}", all_cpus(it))));
    Change {
        edit: Edit::StagesApart { cpus: (0..line.commands.len()).map(pinned).collect() },
        put_in: false,
        sure: false,
        test: Test { control, changed },
    }
}

fn all_cpus(it: &ExperimentContext<'_>) -> String {
    it.machine.cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
}

/// Every `taskset` of the line with all CPUs.
fn freed(it: &ExperimentContext<'_>, line: &Line) -> Vec<(Range<usize>, String)> {
    let all = all_cpus(it);
    let one = |command: &Command| {
        let words = command.own();
        let first = words.get(1)?;
        match first.text.as_str() {
            "-c" | "--cpu-list" => Some((words.get(2)?.place.clone(), all.clone())),
            "-p" | "-cp" | "-pc" | "--pid" | "-a" => None,
            list if list.starts_with("-c") => Some((first.place.clone(), format!("-c{all}"))),
            mask if !mask.starts_with('-') => Some((first.place.clone(), format!("-c {all}"))),
            _ => None,
        }
    };
    line.called("taskset").filter_map(one).collect()
}
