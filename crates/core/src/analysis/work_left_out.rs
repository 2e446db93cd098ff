//! Whether all do the same work, by what they read and write: a command that leaves some of it out is not faster at the same.

use super::context::Context;
use super::results::{Analysis, Comparison, Level};
use super::rounds::median_of;
use crate::plan::Output;
use crate::sample::{Arm, Batch, Io};
use crate::verdict::Verdict;
use crate::warning::Caution;

/// Counts that differ by no more than this part are said once.
const ALIKE: f64 = 0.02;
/// Less than this part of what the other one reads is far less.
const FAR_LESS: f64 = 0.25;
/// Bytes of a read, on average, while a program is loaded: headers of some hundred bytes of the program and of each of its libraries
/// (64, 784 and 832 in glibc's loader). Data is read in larger pieces, or byte by byte.
const LOADS: std::ops::Range<f64> = 128.0..2048.0;

pub(super) fn warnings(context: &Context<'_>, analysis: &Analysis) -> Vec<Caution> {
    let mut warnings: Vec<Caution> = does_less_unread(context);
    let level = analysis.levels.iter().find(|level| !level.comparisons.is_empty());
    warnings.extend(level.into_iter().flat_map(|level| {
        level.comparisons.iter().filter_map(|comparison| reads_far_less(context, level, comparison))
    }));
    warnings
}

/// Commands that do less when nobody reads what they write, where that decided where the timed ones wrote.
fn does_less_unread(context: &Context<'_>) -> Vec<Caution> {
    let mut found: Vec<(Vec<String>, Io, Io)> = Vec::new();
    for trial in context.measured.trials {
        let Some((unread, read)) = trial.does_less_unread() else { continue };
        let name = context.name(trial.alternative).to_owned();
        match found.iter_mut().find(|(_, u, r)| alike(u, &unread) && alike(r, &read)) {
            Some((names, ..)) => names.push(name),
            None => found.push((vec![name], unread, read)),
        }
    }
    let caution = |(mut names, unread, read): (Vec<String>, Io, Io)| {
        let others = names.split_off(1);
        Some(Caution::DoesLessUnread { alternative: names.pop()?, others, unread, read })
    };
    found.into_iter().filter_map(caution).collect()
}

/// Whether the same can be said of both.
fn alike(a: &Io, b: &Io) -> bool {
    let alike = |a: u64, b: u64| a.abs_diff(b) as f64 <= ALIKE * a.max(b) as f64;
    alike(a.read_bytes, b.read_bytes) && alike(a.write_bytes, b.write_bytes)
}

/// One that took less time and reads far less than the other one, also if all that its memory ever held had been mapped from the
/// input, but did not read all that its command line names. Counts of bytes are as sure where the times are not.
fn reads_far_less(context: &Context<'_>, level: &Level, comparison: &Comparison) -> Option<Caution> {
    let (winner, loser) = match comparison.verdict {
        Verdict::Same => return None,
        _ if comparison.ratio < 1.0 => (&comparison.alternative, &comparison.baseline),
        _ => (&comparison.baseline, &comparison.alternative),
    };
    let index = |name: &str| context.alternatives().find(|&index| context.name(index) == name);
    let (winner, loser) = (index(winner)?, index(loser)?);
    let batches = |index: usize| -> Option<Vec<&Batch>> {
        Some(context.levels.get(&level.load)?.get(&Arm::Alternative(index))?.values().copied().collect())
    };
    // The kernel counts for every batch or for none.
    let count = |batches: &[&Batch], of: fn(Io) -> u64| {
        batches.first()?.io?;
        let a_copy = |io: Io, batch: &Batch| of(io) as f64 / batch.copies.len() as f64;
        Some(median_of(batches, |batch| batch.io.map_or(0.0, |io| a_copy(io, batch))))
    };
    let read = |batches: &[&Batch]| count(batches, |io| io.read_bytes);
    let (of_winner, of_loser) = (batches(winner)?, batches(loser)?);
    let held = |batch: &Batch| batch.copies.max_rss_bytes.iter().copied().max().unwrap_or(0) as f64;
    let (little, much) = (read(&of_winner)?, read(&of_loser)?);
    // Every stage of a pipeline reads what the one before it wrote.
    let alternatives = &context.measured.plan.alternatives;
    let stages = 1 + alternatives.get(loser)?.command.matches('|').count();
    let far_less = little / FAR_LESS + median_of(&of_winner, held) <= much / stages as f64;
    // The loser reads something again and again, as a shell does that reads line by line.
    let all = alternatives.get(winner)?.named_bytes.is_some_and(|named| little >= named as f64);
    // Both write as much, and what the loser reads more is what programs are loaded with.
    let more = |of: fn(Io) -> u64| Some(count(&of_loser, of)? - count(&of_winner, of)?);
    let piece = (much - little) / more(|io| io.reads)?;
    let writes = |batches| count(batches, |io| io.write_bytes);
    let loads = writes(&of_winner)? == writes(&of_loser)? && LOADS.contains(&piece);
    // Who prints nothing does not look where it would go.
    let trials = &context.measured.trials;
    let prints = trials.iter().find(|trial| trial.alternative == winner).is_none_or(|it| it.stdout_bytes > 0);
    let unread = match alternatives.get(winner)?.output {
        Output::Null => prints,
        Output::Auto => prints && trials.iter().all(|trial| trial.destinations.is_none()),
        Output::Pipe | Output::Inherit | Output::File(_) => false,
    };
    (far_less && !all && !loads).then(|| Caution::ReadsFarLess {
        winner: context.name(winner).to_owned(),
        loser: context.name(loser).to_owned(),
        winner_bytes: little.round() as u64,
        loser_bytes: much.round() as u64,
        unread,
    })
}
