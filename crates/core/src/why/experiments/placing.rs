//! Changes of where a command runs: stages on CPUs of their own, or all on one.

use super::change::SOME;
use super::line::{Line, edited};
use super::{Change, ExperimentContext, instead};
use crate::trace::report::PathKind;
use crate::why::planned::{Test, Variation};
use crate::why::report::Account;

impl ExperimentContext<'_> {
    /// The faster alternative on one CPU, where that takes away about as much as the finding says: what it does at the same
    /// time, it then does one after the other. Where more of it overlaps, for both do, what makes the stages of one wait for
    /// each other more; and where nothing does that, one CPU all the same.
    pub(super) fn overlap(&self) -> Result<Change, String> {
        if self.machine.cpus.len() < 2 {
            return Err("there is one CPU, on which nothing overlaps".to_owned());
        }
        let of_pipes = || self.line_buffers().or_else(|| self.smaller_pipes());
        let change = if self.one_cpu_s().is_some() { None } else { of_pipes() };
        Ok(change.unwrap_or_else(|| self.on_one_cpu()))
    }

    fn on_one_cpu(&self) -> Change {
        let (original, cpu) = (self.fast_line(), self.machine.cpus[0]);
        let changed = Variation { cpus: Some(vec![cpu]), ..Variation::of(original) };
        Change {
            words: format!("all of it may run on CPU {cpu} only"),
            put_in: true,
            sure: true,
            test: Test { control: Variation::of(original), changed },
        }
    }

    /// What the faster alternative loses on one CPU, if that is about what the finding says: at least half of it is what the
    /// other one has not.
    pub(super) fn one_cpu_s(&self) -> Option<f64> {
        let (seconds, beside) = (self.finding.seconds, beside_path_s(self.fast_account?));
        (beside >= seconds * SOME && beside * SOME <= seconds).then_some(beside)
    }

    /// The slower alternative where nothing shares its CPU: without taskset, each stage on a CPU of its own, or elsewhere.
    pub(super) fn misplacement(&self) -> Result<Change, String> {
        if self.machine.cpus.len() < 2 {
            return Err("there is no other CPU".to_owned());
        }
        let original = self.slow_line();
        let line = Line::of(original);
        let edits = self.freed(&line);
        if !edits.is_empty() {
            let words = format!("taskset lets it run on CPUs {}", self.all_cpus());
            return Ok(instead(original, edited(original, edits), words, true));
        }
        if line.pipeline && line.commands.len() > 1 && !self.machine.stage.is_empty() {
            return Ok(self.pinned(&line, original));
        }
        let last = self.machine.cpus[self.machine.cpus.len() - 1];
        let changed = Variation { cpus: Some(vec![last]), ..Variation::of(original) };
        Ok(Change {
            words: format!("it may run on CPU {last} only"),
            put_in: false,
            // What shared its CPU may come along.
            sure: false,
            test: Test { control: Variation::of(original), changed },
        })
    }

    /// Every stage on a CPU of its own, as far as there are. The control is wrapped alike, and may run anywhere.
    fn pinned(&self, line: &Line, original: &str) -> Change {
        let cpus = &self.machine.cpus;
        let pinned = |at: usize| cpus[at % cpus.len()].to_string();
        let changed = Variation::of(self.wrapped(line, original, |at| format!("--cpu {}", pinned(at))));
        let control = Variation::of(self.wrapped(line, original, |_| format!("--cpu {}", self.all_cpus())));
        let places: Vec<String> = (0..line.commands.len()).map(pinned).collect();
        Change {
            words: format!("its stages may run on CPUs {} only, each on its own", places.join(", ")),
            put_in: false,
            sure: false,
            test: Test { control, changed },
        }
    }

    /// The line with every stage behind the wrapper. Assignments stay before it.
    pub(super) fn wrapped(&self, line: &Line, original: &str, options: impl Fn(usize) -> String) -> String {
        let edits = line.commands.iter().enumerate().filter_map(|(at, command)| {
            let start = command.own().first()?.place.start;
            Some((start..start, format!("{} {} -- ", self.machine.stage, options(at))))
        });
        edited(original, edits.collect())
    }

    fn all_cpus(&self) -> String {
        self.machine.cpus.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
    }

    /// Every `taskset` of the line with all CPUs.
    fn freed(&self, line: &Line) -> Vec<(std::ops::Range<usize>, String)> {
        let all = self.all_cpus();
        let one = |command: &super::line::Command| {
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
}

/// CPU seconds that are not on the critical path: they are spent while that runs or waits.
fn beside_path_s(account: &Account) -> f64 {
    let runs =
        |kind| matches!(kind, PathKind::User | PathKind::Kernel | PathKind::Startup | PathKind::Forked);
    let on_path: f64 = account.critical_path.iter().filter(|row| runs(row.kind)).map(|row| row.seconds).sum();
    account.work.iter().map(|row| row.seconds).sum::<f64>() - on_path
}
