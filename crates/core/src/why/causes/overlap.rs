//! The other one overlaps work on several CPUs, or waits meanwhile.

use std::collections::BTreeMap;

use super::definition::{About, BASE, Definition};
use crate::trace::report::PathKind;
use crate::why::experiments::line::Line;
use crate::why::experiments::pipes::before_each;
use crate::why::experiments::{Change, Edit, ExperimentContext, SOME, Untestable};
use crate::why::facts::Side;
use crate::why::planned::{Test, Variation};
use crate::why::report::Account;
use crate::why::statement::{Fact, Measure, Pair};

pub(super) const DEFINITION: Definition = Definition {
    on_path: |row, _| matches!(row.kind, PathKind::User | PathKind::Kernel | PathKind::Forked),
    timed: true,
    counted: &[
        (Measure::CpusBusy, Side::parallelism),
        (Measure::Stages, |it| it.stages),
        (Measure::CpuTime, |it| it.cpu_s),
    ],
    fact,
    change,
    winnable_s: |it| one_cpu_s(it).unwrap_or(it.finding.seconds),
    ..BASE
};

fn fact(it: &About<'_>) -> Fact {
    match waits_in_turn(it.accounts, it.seconds) {
        Some(command) => Fact::WaitsInTurn { command },
        None => Fact::Overlap {
            cpus: Pair { here: it.slow.parallelism(), there: it.fast.parallelism() },
            bottleneck: it.fast.bottleneck.clone(),
        },
    }
}

/// Who waits on the slower side's path, if that is what the other one overlaps: with other waits, which its path has not, or with what
/// runs, which then loses nothing on one CPU.
fn waits_in_turn((slow, fast): (&Account, &Account), seconds: f64) -> Option<Option<String>> {
    let (mine, meanwhile) = (waits(slow), waits(fast));
    let of = |waits: &BTreeMap<&str, f64>| waits.values().sum::<f64>();
    let overlaps_waits = of(&mine) - of(&meanwhile) >= seconds * SOME;
    let on_one_cpu_s = beside_path_s(fast) - of(&meanwhile);
    let overlaps_running = of(&meanwhile) >= seconds * SOME && on_one_cpu_s < seconds * SOME;
    if !overlaps_waits && !overlaps_running {
        return None;
    }
    let longest = mine.iter().max_by(|a, b| a.1.total_cmp(b.1));
    Some(longest.map(|(command, _)| (*command).to_owned()))
}

/// By command: waits on the path of a kind that many can have at the same time.
fn waits(account: &Account) -> BTreeMap<&str, f64> {
    let wanted =
        |kind| matches!(kind, PathKind::Sleep | PathKind::Network | PathKind::Disk | PathKind::WriteBack);
    let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
    for row in account.critical_path.iter().filter(|row| wanted(row.kind)) {
        *sums.entry(row.command.program()).or_default() += row.seconds;
    }
    sums
}

/// The smallest pipe, bytes: one page of most machines; where pages are larger the kernel rounds it up.
const SMALLEST: u64 = 4096;
/// Pieces so many times as large as those of the other one are what full buffers make of them.
const LARGER: f64 = 2.0;

/// The faster alternative on one CPU, where that takes away about as much as the finding says: what it does at the same
/// time, it then does one after the other. Where more of it overlaps, for both do, what makes the stages of one wait for
/// each other more; and where nothing does that, one CPU all the same.
fn change(it: &ExperimentContext<'_>) -> Result<Change, Untestable> {
    if matches!(it.finding.fact, Some(Fact::WaitsInTurn { .. })) {
        return Err(Untestable::WaitsInTurn);
    }
    if it.machine.cpus.len() < 2 {
        return Err(Untestable::OneCpu);
    }
    let of_pipes = || line_buffers(it).or_else(|| smaller_pipes(it));
    let change = if one_cpu_s(it).is_some() { None } else { of_pipes() };
    Ok(change.unwrap_or_else(|| on_one_cpu(it)))
}

fn on_one_cpu(it: &ExperimentContext<'_>) -> Change {
    let (original, cpu) = (it.fast_line(), it.machine.cpus[0]);
    let changed = Variation { cpus: Some(vec![cpu]), ..Variation::of(original) };
    Change {
        edit: Edit::OneCpu { cpu, all: true },
        put_in: true,
        sure: true,
        test: Test { control: Variation::of(original), changed },
    }
}

/// What the faster alternative loses on one CPU, if that is about what the finding says: at least half of it is what the
/// other one has not.
fn one_cpu_s(it: &ExperimentContext<'_>) -> Option<f64> {
    let (seconds, beside) = (it.finding.seconds, beside_path_s(it.fast_account?));
    (beside >= seconds * SOME && beside * SOME <= seconds).then_some(beside)
}

/// For overlap between two pipelines: the faster one with the smallest pipes, so that its stages run ahead of each other
/// as little as can be. `None` where all of its data fits even there, or where there is no such pipeline.
fn smaller_pipes(it: &ExperimentContext<'_>) -> Option<Change> {
    let matters = it.fast.pipe.bytes > SMALLEST as f64 && !it.machine.stage.is_empty();
    if !matters || !piped(it.fast_line()) || !piped(it.slow_line()) {
        return None;
    }
    let edit = Edit::PipeSize { bytes: SMALLEST, larger: false };
    Some(Change { edit, put_in: true, sure: false, test: it.resized(it.fast_line(), SMALLEST) })
}

/// For overlap that is lost because a program keeps its output back until its buffer is full: the slower pipeline
/// with a write for every line. Only where the faster one moves smaller pieces.
fn line_buffers(it: &ExperimentContext<'_>) -> Option<Change> {
    let (slow, fast) = (it.slow.pipe.piece(), it.fast.pipe.piece());
    let original = it.slow_line();
    let kept_back = fast > 0.0 && slow >= fast * LARGER;
    if !kept_back || !piped(original) || !it.machine.programs.contains_key("stdbuf") {
        return None;
    }
    // The same program around it, which changes nothing.
    let [changed, control] =
        ["stdbuf -oL ", "stdbuf -e0 "].map(|by| Variation::of(before_each(original, by)));
    Some(Change { edit: Edit::LineBuffers, put_in: false, sure: false, test: Test { control, changed } })
}

/// Whether it is a plain pipeline of several stages.
fn piped(text: &str) -> bool {
    let line = Line::of(text);
    line.pipeline && line.commands.len() > 1
}

/// CPU seconds that are not on the critical path: they are spent while that runs or waits.
fn beside_path_s(account: &Account) -> f64 {
    let on_path: f64 =
        account.critical_path.iter().filter(|row| row.kind.runs()).map(|row| row.seconds).sum();
    account.work.iter().map(|row| row.seconds).sum::<f64>() - on_path
}
