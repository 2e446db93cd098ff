//! Command lines with something before each of their commands.

use super::context::ExperimentContext;
use super::line::{Command, Line, edited};
use crate::why::planned::{Test, Variation};

impl ExperimentContext<'_> {
    /// The line with every stage behind the wrapper. Assignments stay before it.
    pub(in crate::why) fn wrapped(
        &self,
        line: &Line,
        original: &str,
        options: impl Fn(usize) -> String,
    ) -> String {
        let edits = line.commands.iter().enumerate().filter_map(|(at, command)| {
            let start = command.own().first()?.place.start;
            Some((start..start, format!("{} {} -- ", self.machine.stage, options(at))))
        });
        edited(original, edits.collect())
    }

    /// A pipeline with pipes of this size. The control is wrapped alike.
    pub(in crate::why) fn resized(&self, original: &str, size: u64) -> Test {
        let line = Line::of(original);
        let changed = self.wrapped(&line, original, |_| format!("--pipe-size {size}"));
        let control = self.wrapped(&line, original, |_| String::new());
        Test { control: Variation::of(control), changed: Variation::of(changed) }
    }
}

/// Words before every command of a line.
pub(in crate::why) fn before_each(original: &str, words: &str) -> String {
    let each = |command: &Command| {
        let start = command.own().first()?.place.start;
        Some((start..start, words.to_owned()))
    };
    edited(original, Line::of(original).commands.iter().filter_map(each).collect())
}
