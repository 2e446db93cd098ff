//! Changes of the environment of a command: PATH, the page cache, sleeping, the class that it is scheduled in.

use std::collections::BTreeSet;
use std::path::Path;

use super::line::{Command, Line, edited, quoted};
use super::{Bench, Change, instead};
use crate::plan::Placement;
use crate::trace::report::{PathKind, SharerKind};
use crate::why::planned::{Before, Test, Variation};

impl Bench<'_> {
    /// PATH with nothing but the directories in which programs are.
    pub(super) fn path_search(&self) -> Result<Change, String> {
        let found =
            self.machine.programs.values().filter_map(|program| program.parent().and_then(Path::to_str));
        let directories: BTreeSet<&str> = found.collect();
        if directories.is_empty() {
            return Err("it is not known in which directories the programs are".to_owned());
        }
        let path = directories.into_iter().collect::<Vec<_>>().join(":");
        let original = self.slow_line();
        let line = Line::of(original);
        let words = line.commands.iter().flat_map(|command| &command.words);
        let assigned = words.filter(|word| word.text.starts_with("PATH=") && !word.redirects);
        let edits = assigned.map(|word| (word.place.clone(), format!("PATH={}", quoted(&path)))).collect();
        let mut changed = Variation::of(edited(original, edits));
        changed.env.insert("PATH".to_owned(), path);
        Ok(Change {
            words: "PATH names only the directories in which its programs are".to_owned(),
            put_in: false,
            sure: true,
            test: Test { control: Variation::of(original), changed },
        })
    }

    /// The page cache filled before every run.
    pub(super) fn disk(&self) -> Result<Change, String> {
        let of = |kind| self.path_s(|row| row.kind == kind);
        if of(PathKind::WriteBack) > of(PathKind::Disk) {
            return Err("it waits until data is written, and no cache can spare it that".to_owned());
        }
        let original = self.slow_line();
        let before = if self.given.plan.drop_caches { Before::DropCaches } else { Before::Nothing };
        let control = Variation { before, ..Variation::of(original) };
        let changed = Variation { before: Before::WarmCaches(Vec::new()), ..Variation::of(original) };
        Ok(Change {
            words: "what it reads is in memory before it begins".to_owned(),
            put_in: false,
            // A command that drops its files from the cache by itself is not kept from that.
            sure: self.given.plan.drop_caches,
            test: Test { control, changed },
        })
    }

    /// Of the sleeps in the command line, only what the slower side sleeps more than the other one.
    pub(super) fn sleep(&self) -> Result<Change, String> {
        let original = self.slow_line();
        let (slow, fast) = (sleeps(original), sleeps(self.fast_line()));
        if slow.is_empty() {
            return Err("the program sleeps by itself, and cannot be kept from it from outside".to_owned());
        }
        let edits = shortened(slow, &fast)?;
        let words = match &edits[..] {
            _ if fast.is_empty() => "every sleep in its command line is sleep 0".to_owned(),
            [(place, with)] => {
                format!("sleep {} is sleep {with}, as long as the other one sleeps", &original[place.clone()])
            }
            _ => "its command line sleeps only as long as the other one's".to_owned(),
        };
        Ok(instead(original, edited(original, edits), words, true))
    }

    /// Ordinary tasks kept away. `nice` would not do that: where sessions are groups of their own, it counts within the session
    /// only (sched(7), "The autogroup feature").
    pub(super) fn cpu_contention(&self) -> Result<Change, String> {
        if let Some(why) = &self.machine.no_realtime {
            return Err(format!("to keep others from a CPU {why}"));
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
            let changed = edited(original, edits);
            return Ok(instead(original, changed, "nice leaves its priority as it is".to_owned(), true));
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
    fn path_s(&self, wanted: impl Fn(&crate::trace::report::PathRow) -> bool) -> f64 {
        let mine = self.given.traced.iter().filter(|it| it.alternative == self.places.0);
        let of = |it: &crate::why::report::Traced| {
            it.report.critical_path.iter().filter(|row| wanted(row)).map(|row| row.seconds).sum::<f64>()
        };
        crate::why::words::median(&mine.map(of).collect::<Vec<_>>())
    }
}

/// Where a command line says how long to sleep, and what it says.
type Sleep = (std::ops::Range<usize>, String);

fn sleeps(text: &str) -> Vec<Sleep> {
    let line = Line::of(text);
    let words = line.called("sleep").flat_map(|command| command.own().into_iter().skip(1));
    words.map(|word| (word.place.clone(), word.text.clone())).collect()
}

/// The sleeps of the slower side, cut by what the other one does not sleep: those that both have stay, and the others
/// become as long as what is left of the other's.
fn shortened(mut slow: Vec<Sleep>, fast: &[Sleep]) -> Result<Vec<Sleep>, String> {
    let mut left: Vec<&str> = fast.iter().map(|it| it.1.as_str()).collect();
    slow.retain(|(_, text)| match left.iter().position(|it| it == text) {
        Some(at) => {
            left.remove(at);
            false
        }
        None => true,
    });
    let sum = |all: &mut dyn Iterator<Item = &str>| all.map(seconds).sum::<Option<f64>>();
    let keeps = sum(&mut left.iter().copied()).ok_or("it is not known how long the other one sleeps")?;
    let mine = sum(&mut slow.iter().map(|it| it.1.as_str()));
    if slow.is_empty() || (keeps > 0.0 && mine.is_none_or(|mine| mine <= keeps)) {
        return Err("its command line does not say that it sleeps longer than the other one".to_owned());
    }
    let mut with =
        if let [one] = left[..] { one.to_owned() } else { format!("{}", (keeps * 1e6).round().abs() / 1e6) };
    for (_, text) in &mut slow {
        *text = std::mem::replace(&mut with, "0".to_owned());
    }
    Ok(slow)
}

/// Seconds of an operand of sleep: "0.5", "2m".
fn seconds(text: &str) -> Option<f64> {
    let units = [('s', 1.0), ('m', 60.0), ('h', 3600.0), ('d', 86400.0)];
    let unit = units.into_iter().find_map(|(unit, each)| Some((text.strip_suffix(unit)?, each)));
    let (number, each) = unit.unwrap_or((text, 1.0));
    number.parse::<f64>().ok().filter(|n| n.is_finite() && *n >= 0.0).map(|n| n * each)
}

/// `nice -n 5 X` as `nice -n 0 X`; `nice X` as `nice -n 0 X`.
fn unniced(command: &Command) -> Option<(std::ops::Range<usize>, String)> {
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
