//! Changes of what pipes hold, and of when programs write into them.

use super::line::{Command, Line, edited};
use super::{Change, ExperimentContext};
use crate::why::planned::{Test, Variation};

/// What a pipe holds unless it is told otherwise (pipe(7), "Pipe capacity").
const USUAL: f64 = 65_536.0;
/// The smallest pipe, bytes: one page of most machines; where pages are larger the kernel rounds it up.
const SMALLEST: u64 = 4096;
/// Pieces so many times as large as those of the other one are what full buffers make of them.
const LARGER: f64 = 2.0;

impl ExperimentContext<'_> {
    /// The slower pipeline with the largest pipes, where the usual ones do not hold all of its data.
    pub(super) fn larger_pipes(&self) -> Result<Change, String> {
        if self.machine.stage.is_empty() || self.machine.pipe_max == 0 {
            return Err("every stage does something to the data, so none can be left out".to_owned());
        }
        if self.slow.pipe.bytes <= USUAL {
            return Err(
                "every stage does something to the data, and its pipes hold all of it as they are".to_owned()
            );
        }
        let size = self.machine.pipe_max;
        let words = format!("its pipes hold {size} bytes, so that stages wait for each other less often");
        Ok(Change { words, put_in: false, sure: false, test: self.resized(self.slow_line(), size) })
    }

    /// For overlap between two pipelines: the faster one with the smallest pipes, so that its stages run ahead of each other
    /// as little as can be. `None` where all of its data fits even there, or where there is no such pipeline.
    pub(super) fn smaller_pipes(&self) -> Option<Change> {
        let matters = self.fast.pipe.bytes > SMALLEST as f64 && !self.machine.stage.is_empty();
        if !matters || !piped(self.fast_line()) || !piped(self.slow_line()) {
            return None;
        }
        let words = format!("its pipes hold {SMALLEST} bytes, so that stages wait for each other more often");
        Some(Change { words, put_in: true, sure: false, test: self.resized(self.fast_line(), SMALLEST) })
    }

    /// For overlap that is lost because a program keeps its output back until its buffer is full: the slower pipeline
    /// with a write for every line. Only where the faster one moves smaller pieces.
    pub(super) fn line_buffers(&self) -> Option<Change> {
        let (slow, fast) = (self.slow.pipe.piece(), self.fast.pipe.piece());
        let original = self.slow_line();
        let kept_back = fast > 0.0 && slow >= fast * LARGER;
        if !kept_back || !piped(original) || !self.machine.programs.contains_key("stdbuf") {
            return None;
        }
        // The same program around it, which changes nothing.
        let [changed, control] =
            ["stdbuf -oL ", "stdbuf -e0 "].map(|by| Variation::of(before_each(original, by)));
        Some(Change {
            words: "stdbuf makes its programs write every line at once, if their buffers are the C library's"
                .to_owned(),
            put_in: false,
            sure: false,
            test: Test { control, changed },
        })
    }

    /// A pipeline with pipes of this size. The control is wrapped alike.
    fn resized(&self, original: &str, size: u64) -> Test {
        let line = Line::of(original);
        let changed = self.wrapped(&line, original, |_| format!("--pipe-size {size}"));
        let control = self.wrapped(&line, original, |_| String::new());
        Test { control: Variation::of(control), changed: Variation::of(changed) }
    }
}

/// Whether it is a plain pipeline of several stages.
fn piped(text: &str) -> bool {
    let line = Line::of(text);
    line.pipeline && line.commands.len() > 1
}

/// Words before every command of a line.
pub(super) fn before_each(original: &str, words: &str) -> String {
    let each = |command: &Command| {
        let start = command.own().first()?.place.start;
        Some((start..start, words.to_owned()))
    };
    edited(original, Line::of(original).commands.iter().filter_map(each).collect())
}
