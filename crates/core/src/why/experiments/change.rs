//! Changes of the environment of a command: sleeping, the class that it is scheduled in.

use std::ops::Range;

use super::line::{Command, Line, Word, edited};
use super::reach::REACHED;
use super::{Change, ExperimentContext, instead};
use crate::plan::Placement;
use crate::trace::report::{PathKind, SharerKind};
use crate::why::cause::Cause;
use crate::why::planned::{Test, Variation};
use crate::why::words::time;

/// A change that can win less of a finding than this tests it not.
pub(super) const SOME: f64 = 0.5;

impl ExperimentContext<'_> {
    /// The seconds that the change can win: what its edit reaches of the cause.
    pub(super) fn winnable(&self) -> f64 {
        let whole = self.finding.seconds;
        match self.finding.cause {
            Cause::Sleep => self.cut_s().map_or(whole, |cut| cut.min(whole)),
            Cause::PathSearch => whole * self.all_searches(),
            // Its whole wait goes, and not only what it waits more than the other one.
            Cause::CpuContention => whole.max(self.kept_waiting_s()) - self.left_to_others_s(),
            Cause::Disk => whole.max(self.warmable_s()),
            Cause::Overlap => self.one_cpu_s().unwrap_or(whole),
            _ => whole,
        }
    }

    /// Of the sleeps in the command line, only what the slower side sleeps more than the other one.
    pub(super) fn sleep(&self) -> Result<Change, String> {
        let original = self.slow_line();
        let (slow, fast) = (sleeps(original), sleeps(self.fast_line()));
        if slow.is_empty() {
            return Err("the program sleeps by itself, and cannot be kept from it from outside".to_owned());
        }
        let edits = shortened(slow, &fast)?;
        let (cut, whole) = (self.cut_s(), self.finding.seconds);
        if let Some(cut) = cut.filter(|cut| *cut < whole * SOME) {
            return Err(format!(
                "the cause is not in its command line, which sleeps only {} longer; a script or a program sleeps the rest",
                time(cut)
            ));
        }
        // Of sleeps that sum to more than what the finding says, not all delay it, and others may.
        let sure = cut.is_some_and(|cut| (REACHED..=1.0 / REACHED).contains(&(cut / whole)));
        let words = match &edits[..] {
            _ if fast.is_empty() => "every sleep in its command line is sleep 0".to_owned(),
            [(place, with)] => {
                format!("sleep {} is sleep {with}, as long as the other one sleeps", &original[place.clone()])
            }
            _ => "its command line sleeps only as long as the other one's".to_owned(),
        };
        Ok(instead(original, edited(original, edits), words, sure))
    }

    /// How much longer the slower side's line says to sleep, if it says.
    fn cut_s(&self) -> Option<f64> {
        cut(sleeps(self.slow_line()), &sleeps(self.fast_line()))
    }

    /// Ordinary tasks kept away. `nice` would not do that: where sessions are groups of their own, it counts within the session
    /// only (sched(7), "The autogroup feature").
    pub(super) fn cpu_contention(&self) -> Result<Change, String> {
        if let Some(why) = &self.machine.no_realtime {
            return Err(format!("to keep others from a CPU {why}"));
        }
        if self.finding.seconds < self.kept_waiting_s() * SOME {
            return Err(
                "both wait for CPUs that others have, and without others most of what goes is what both wait"
                    .to_owned(),
            );
        }
        if self.winnable() < self.finding.seconds * SOME {
            return Err(
                "real-time tasks leave others a part of every second, about as much as it waits".to_owned()
            );
        }
        let original = self.slow_line();
        let changed = Variation { realtime: true, ..Variation::of(original) };
        Ok(Change {
            words: "it runs in the real-time class (round robin, priority 1), so that ordinary tasks cannot take its CPUs"
                .to_owned(),
            put_in: false,
            sure: false,
            test: Test { control: Variation::of(original), changed },
        })
    }

    /// What others may take all the same: the kernel leaves them a part of every period, and of a run that ends before that
    /// begins nothing (sched(7), "Limiting the CPU usage of real-time and deadline processes").
    fn left_to_others_s(&self) -> f64 {
        const PERIOD_S: f64 = 1.0;
        let left = self.machine.left_to_others;
        let runs_s = (self.slow.wall_s - self.kept_waiting_s()).max(0.0);
        if runs_s < PERIOD_S * (1.0 - left) { 0.0 } else { runs_s * left / (1.0 - left) }
    }

    /// Seconds for which the slower side waits for CPUs that tasks outside of it have.
    fn kept_waiting_s(&self) -> f64 {
        let outside = |kind| matches!(kind, SharerKind::Other | SharerKind::Kernel);
        self.path_s(|row| row.kind == PathKind::CpuWait && row.holder.is_some_and(outside))
    }

    /// No lowered priority; without one, the other placement.
    pub(super) fn share(&self) -> Result<Change, String> {
        let throttled = self.path_s(|row| row.holder == Some(SharerKind::Throttled));
        if throttled >= self.finding.seconds / 2.0 {
            return Err("the quota belongs to its cgroup, which is not changed here".to_owned());
        }
        let original = self.slow_line();
        let line = Line::of(original);
        let edits: Vec<_> = line.called("nice").filter_map(unniced).collect();
        if !edits.is_empty() {
            let sure = self.nices(edits.len());
            let changed = edited(original, edits);
            return Ok(instead(original, changed, "nice leaves its priority as it is".to_owned(), sure));
        }
        if self.given.host.before.autogroup != Some(true) {
            return Err("what gives it less of the CPUs does not stand in its command line".to_owned());
        }
        let (placement, words) = match self.given.plan.placement {
            Placement::Session => (Placement::Shared, "it runs in the session of all"),
            Placement::Shared => (Placement::Session, "it runs in a session of its own"),
        };
        let changed = Variation { placement: Some(placement), ..Variation::of(original) };
        Ok(Change {
            words: words.to_owned(),
            put_in: false,
            sure: false,
            test: Test { control: Variation::of(original), changed },
        })
    }

    /// Seconds on the slower side's path.
    pub(super) fn path_s(&self, wanted: impl Fn(&crate::trace::report::PathRow) -> bool) -> f64 {
        let mine = self.given.traced.iter().filter(|it| it.alternative == self.places.0);
        let of = |it: &crate::why::report::Traced| {
            it.report.critical_path.iter().filter(|row| wanted(row)).map(|row| row.seconds).sum::<f64>()
        };
        crate::why::words::median(&mine.map(of).collect::<Vec<_>>())
    }
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
fn shortened(slow: Vec<Sleep>, fast: &[Sleep]) -> Result<Vec<(Range<usize>, String)>, String> {
    let (slow, left) = apart(slow, fast);
    let unknown = "it is not known how long the other one sleeps";
    let keeps: f64 = left.iter().map(|it| it.seconds()).sum::<Option<f64>>().ok_or(unknown)?;
    let mine = slow.iter().map(Sleep::seconds).sum::<Option<f64>>();
    let Some(first) = slow.first().filter(|_| keeps <= 0.0 || mine.is_some_and(|mine| mine > keeps)) else {
        return Err("its command line does not say that it sleeps longer than the other one".to_owned());
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
