//! It sleeps or polls.

use std::ops::Range;

use super::definition::{BASE, Definition, Seen, in_kernel};
use crate::trace::report::{PathKind, WorkKind};
use crate::why::categories::Category;
use crate::why::experiments::line::{Command, Line, Word, edited};
use crate::why::experiments::{Change, Edit, ExperimentContext, REACHED, SOME, Untestable, instead};
use crate::why::statement::{Fact, Measure};

pub(super) const DEFINITION: Definition = Definition {
    categories: &[Category::Sleep],
    on_path: |row, _| row.kind == PathKind::Sleep || in_kernel(row, &[WorkKind::Scheduling]),
    in_work: |row, _| row.kind == WorkKind::Scheduling,
    seen: Seen::Wait,
    counted: &[(Measure::SleepCalls, |it| it.sleeps)],
    fact: |it| Fact::Sleep { waits_s: it.waits_s(WorkKind::Scheduling), command: it.command() },
    change,
    winnable_s: |it| cut_s(it).map_or(it.finding.seconds, |cut| cut.min(it.finding.seconds)),
    ..BASE
};

/// Of the sleeps in the command line, only what the slower side sleeps more than the other one.
fn change(it: &ExperimentContext<'_>) -> Result<Change, Untestable> {
    let original = it.slow_line();
    let (slow, fast) = (sleeps(original), sleeps(it.fast_line()));
    if slow.is_empty() {
        return Err(Untestable::SleepsItself);
    }
    let edits = shortened(slow, &fast)?;
    let (cut, whole) = (cut_s(it), it.finding.seconds);
    if let Some(cut) = cut.filter(|cut| *cut < whole * SOME) {
        return Err(Untestable::SleepsElsewhere { seconds: cut });
    }
    // Of sleeps that sum to more than what the finding says, not all delay it, and others may.
    let sure = cut.is_some_and(|cut| (REACHED..=1.0 / REACHED).contains(&(cut / whole)));
    let edit = match &edits[..] {
        _ if fast.is_empty() => Edit::NoSleep,
        [(place, to)] => Edit::ShorterSleep { from: original[place.clone()].to_owned(), to: to.clone() },
        _ => Edit::SleepsAsOther,
    };
    Ok(instead(original, edited(original, edits), edit, sure))
}

/// How much longer the slower side's line says to sleep, if it says.
fn cut_s(it: &ExperimentContext<'_>) -> Option<f64> {
    cut(sleeps(it.slow_line()), &sleeps(it.fast_line()))
}

/// Where a command line says how long to sleep, what it says, and how often it does so.
#[derive(Clone, Debug, PartialEq)]
struct Sleep {
    place: Range<usize>,
    text: String,
    times: Option<f64>,
}

impl Sleep {
    fn seconds(&self) -> Option<f64> {
        Some(seconds(&self.text)? * self.times?)
    }

    fn is_like(&self, other: &Self) -> bool {
        (&self.text, self.times) == (&other.text, other.times)
    }
}

fn sleeps(text: &str) -> Vec<Sleep> {
    let line = Line::of(text);
    let of = |command: &Command| -> Vec<Sleep> {
        let words = command.own().into_iter().skip(1);
        let sleep =
            |word: &Word| Sleep { place: word.place.clone(), text: word.text.clone(), times: command.times };
        words.map(sleep).collect()
    };
    line.called("sleep").flat_map(of).collect()
}

/// What each of the two sleeps and the other one does not.
fn apart(mut slow: Vec<Sleep>, fast: &[Sleep]) -> (Vec<Sleep>, Vec<&Sleep>) {
    let mut left: Vec<&Sleep> = fast.iter().collect();
    slow.retain(|sleep| match left.iter().position(|it| it.is_like(sleep)) {
        Some(at) => {
            left.remove(at);
            false
        }
        None => true,
    });
    (slow, left)
}

/// How much longer the slower side sleeps, if its line says.
fn cut(slow: Vec<Sleep>, fast: &[Sleep]) -> Option<f64> {
    let (slow, left) = apart(slow, fast);
    let mine: f64 = slow.iter().map(Sleep::seconds).sum::<Option<f64>>()?;
    let keeps: f64 = left.into_iter().map(Sleep::seconds).sum::<Option<f64>>()?;
    Some((mine - keeps).max(0.0))
}

/// The sleeps of the slower side, cut by what the other one does not sleep: those that both have stay, and the others
/// become as long as what is left of the other's.
fn shortened(slow: Vec<Sleep>, fast: &[Sleep]) -> Result<Vec<(Range<usize>, String)>, Untestable> {
    let (slow, left) = apart(slow, fast);
    let keeps = left.iter().map(|it| it.seconds()).sum::<Option<f64>>();
    let keeps = keeps.ok_or(Untestable::OtherSleepUnknown)?;
    let mine = slow.iter().map(Sleep::seconds).sum::<Option<f64>>();
    let Some(first) = slow.first().filter(|_| keeps <= 0.0 || mine.is_some_and(|mine| mine > keeps)) else {
        return Err(Untestable::SleepNotLonger);
    };
    let mut with = match left[..] {
        [one] if one.times == first.times => one.text.clone(),
        _ => format!("{}", (keeps / first.times.unwrap_or(1.0) * 1e6).round().abs() / 1e6),
    };
    let each = |sleep: Sleep| (sleep.place, std::mem::replace(&mut with, "0".to_owned()));
    Ok(slow.into_iter().map(each).collect())
}

/// Seconds of an operand of sleep: "0.5", "2m".
fn seconds(text: &str) -> Option<f64> {
    let units = [('s', 1.0), ('m', 60.0), ('h', 3600.0), ('d', 86400.0)];
    let unit = units.into_iter().find_map(|(unit, each)| Some((text.strip_suffix(unit)?, each)));
    let (number, each) = unit.unwrap_or((text, 1.0));
    number.parse::<f64>().ok().filter(|n| n.is_finite() && *n >= 0.0).map(|n| n * each)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_slept_more_is_taken_away() {
        let cut = |slow: &str, fast: &str| shortened(sleeps(slow), &sleeps(fast)).map(|it| edited(slow, it));
        for (slow, fast, wanted) in [
            ("sleep 0.08", "sleep 0.05", "sleep 0.05"),
            ("sleep 0.02; x; sleep 0.02", "sleep 0.02", "sleep 0.02; x; sleep 0"),
            ("sleep 1; sleep 2m", "sleep 0.1; sleep 0.2", "sleep 0.3; sleep 0"),
            ("sleep $N; x", "y", "sleep 0; x"),
        ] {
            assert_eq!(cut(slow, fast).as_deref(), Ok(wanted));
        }
        for (slow, fast) in [
            ("sleep 1", "sleep 1"),
            ("sleep 1", "sleep 1m"),
            ("sleep $N", "sleep 2"),
            ("sleep 1", "sleep $N"),
        ] {
            assert!(cut(slow, fast).is_err(), "{slow} {fast}");
        }
    }
}
