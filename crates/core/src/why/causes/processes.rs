//! It makes more processes.

use std::collections::BTreeMap;

use super::definition::{About, BASE, Count, Definition, Seen, in_kernel};
use crate::trace::report::{PathKind, WorkKind};
use crate::why::experiments::line::quoted;
use crate::why::experiments::{Change, Edit, ExperimentContext, InPlace, Repeated, Untestable, starts};
use crate::why::facts::Side;
use crate::why::statement::{Fact, Measure, Pair};

const KINDS: [WorkKind; 2] = [WorkKind::Process, WorkKind::Exec];

pub(super) const DEFINITION: Definition = Definition {
    on_path: |row, _| row.kind == PathKind::Forked || in_kernel(row, &KINDS),
    in_work: |row, _| KINDS.contains(&row.kind),
    seen: Seen::CpuTime,
    counted: &COUNTED,
    fact,
    change,
    ..BASE
};

/// What is counted of processes and start-ups.
pub(super) const COUNTED: [Count; 2] =
    [(Measure::Processes, |it| it.forks), (Measure::Programs, |it| it.execs)];

fn fact(it: &About<'_>) -> Fact {
    let (slow, fast) = (it.slow, it.fast);
    if slow.forks_more_than(fast) {
        return Fact::MoreProcesses { processes: Pair { here: slow.forks, there: fast.forks } };
    }
    if slow.begins_more_than(fast) {
        return Fact::MorePrograms { programs: Pair { here: slow.execs, there: fast.execs } };
    }
    Fact::DearerProcesses { equal: slow.forks.round() == fast.forks.round(), command: it.command() }
}

/// Of the start-ups: those of programs that only the slower side begins, when it begins more of them. Which of its programs are
/// the additional ones is not told; the cheapest are taken.
pub(in crate::why) fn startups_s((slow, fast): (&Side, &Side)) -> f64 {
    let begun = |side: &Side| side.starts.values().map(|it| it.0).sum::<f64>();
    let missing = begun(slow) - begun(fast);
    if missing < 0.5 {
        return 0.0;
    }
    let taken = cheapest(slow, fast, missing);
    taken.iter().map(|(_, each_s, times)| each_s * times).sum()
}

/// Of the programs that the slower side begins more often, so many of those that start fastest: the command, the seconds of
/// each start-up, and how many are taken.
fn cheapest<'a>(slow: &'a Side, fast: &Side, most: f64) -> Vec<(&'a str, f64, f64)> {
    let more = slow.starts.iter().filter_map(|(command, (n, seconds))| {
        let more = n - fast.starts.get(command).map_or(0.0, |it| it.0);
        (more > 0.0).then_some((command.as_str(), seconds / n, more))
    });
    let mut more: Vec<_> = more.collect();
    more.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut left = most;
    for (_, _, times) in &mut more {
        *times = times.min(left);
        left -= *times;
    }
    more
}

/// As many processes that do nothing, put into the faster alternative, as many at once as the slower one has.
fn change(it: &ExperimentContext<'_>) -> Result<Change, Untestable> {
    it.wrapper()?;
    let programs = (it.slow.execs - it.fast.execs).round().max(0.0);
    let forks = (it.slow.forks - it.fast.forks).round();
    // `env X`, `exec X`: a program in the place of another one, in the same process. The casts are of small whole numbers.
    let replaced = (programs - forks.max(0.0)).max(0.0);
    let mut each = extra_programs(it, programs - replaced);
    // Children that run no program are a shell's subshells.
    if forks - programs >= 1.0 {
        each.push(Repeated { times: (forks - programs) as u64, words: "( : )".to_owned() });
    }
    let in_place = if replaced >= 1.0 { Some(in_place(it, replaced as u64)?) } else { None };
    // The same loops that end at once: what the shell around them costs is no part of it.
    let mut control: Vec<Repeated> = each.iter().map(|it| Repeated { times: 0, ..it.clone() }).collect();
    let mut changed = each.clone();
    if let Some(InPlace { each, against }) = &in_place {
        control.push(Repeated { times: each.times, words: against.clone() });
        changed.push(each.clone());
    }
    let all: u64 = changed.iter().map(|it| it.times).sum();
    if all == 0 {
        return Err(Untestable::AsManyProcesses);
    }
    let at_once = starts::at_once(it.slow, all);
    let (control, changed) = (starts::repeated(&control, at_once), starts::repeated(&changed, at_once));
    // Another program than `env` may stand in the place.
    let sure = in_place.is_none();
    Ok(it.put_in(&control, &changed, Edit::ProcessesBefore { each, in_place, at_once }, sure))
}

/// A program alone, and behind one that becomes it without a process more.
fn in_place(it: &ExperimentContext<'_>, times: u64) -> Result<InPlace, Untestable> {
    let path = |name: &str| {
        let path = it.machine.programs.get(name).and_then(|path| path.to_str());
        path.map(quoted).ok_or_else(|| Untestable::ProgramMissing { program: name.to_owned() })
    };
    let (against, before) = (path("true")?, path("env")?);
    Ok(InPlace { each: Repeated { times, words: format!("{before} {against}") }, against })
}

/// What to put in for so many additional programs: those that start fastest, as the finding has it, doing nothing.
fn extra_programs(it: &ExperimentContext<'_>, programs: f64) -> Vec<Repeated> {
    const LEAST: &str = "true";
    let mut known = cheapest(it.slow, it.fast, programs);
    // Programs of which no start-up was seen are put in as the smallest program.
    let left = programs - known.iter().map(|it| it.2.round()).sum::<f64>();
    known.push((LEAST, 0.0, left));
    let mut extra: BTreeMap<String, u64> = BTreeMap::new();
    for (command, _, times) in known.into_iter().filter(|it| it.2.round() >= 1.0) {
        let words = it.only_start(command).unwrap_or_else(|| LEAST.to_owned());
        // The cast is of a small whole number.
        *extra.entry(words).or_default() += times.round() as u64;
    }
    extra.into_iter().map(|(words, times)| Repeated { times, words }).collect()
}
