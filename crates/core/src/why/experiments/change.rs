//! Changes of the environment of a command: PATH, the page cache, sleeping, priority.

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

    /// `sleep 0` instead of `sleep N`.
    pub(super) fn sleep(&self) -> Result<Change, String> {
        let original = self.slow_line();
        let line = Line::of(original);
        let times = line.called("sleep").flat_map(|command| command.own().into_iter().skip(1));
        let edits: Vec<_> = times.map(|word| (word.place.clone(), "0".to_owned())).collect();
        if edits.is_empty() {
            return Err("the program sleeps by itself, and cannot be kept from it from outside".to_owned());
        }
        Ok(instead(
            original,
            edited(original, edits),
            "every sleep in its command line is sleep 0".to_owned(),
            true,
        ))
    }

    /// Priority over all others.
    pub(super) fn cpu_contention(&self) -> Result<Change, String> {
        if !self.machine.root {
            return Err("to keep others from a CPU needs root".to_owned());
        }
        let original = self.slow_line();
        let changed = Variation { nice: Some(-20), ..Variation::of(original) };
        Ok(Change {
            words: "it runs with the highest priority, so that others are kept away".to_owned(),
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
