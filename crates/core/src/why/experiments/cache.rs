//! Changes of what is in the page cache before a command begins.

use std::path::PathBuf;

use super::change::SOME;
use super::line::{Line, Word};
use super::{Change, ExperimentContext};
use crate::trace::report::PathKind;
use crate::why::planned::{Before, Test, Variation};

impl ExperimentContext<'_> {
    /// The page cache filled before every run of the slower one. Where nothing but the command itself can have dropped what it
    /// reads, that helps not; then the files of the faster one leave the cache.
    pub(super) fn disk(&self) -> Result<Change, String> {
        if self.path_s(|row| row.kind == PathKind::WriteBack) > self.disk_s() {
            return Err("it waits until data is written, and no cache can spare it that".to_owned());
        }
        if self.finding.seconds < self.warmable_s() * SOME {
            return Err("both wait for the disk, and with a warm cache most of what goes is what both wait"
                .to_owned());
        }
        let files = self.files();
        if self.drops_itself() && !files.is_empty() {
            return Ok(self.cold(files));
        }
        let original = self.slow_line();
        let before = if self.given.plan.drop_caches { Before::DropCaches } else { Before::Nothing };
        let control = Variation { before, ..Variation::of(original) };
        let changed = Variation { before: Before::WarmCaches, ..Variation::of(original) };
        Ok(Change {
            words: "what it reads is in memory before it begins".to_owned(),
            put_in: false,
            // A command that drops its files from the cache by itself is not kept from that.
            sure: self.given.plan.drop_caches,
            test: Test { control, changed },
        })
    }

    /// What a warm cache can spare the slower one: all that it waits for the disk. Nothing is known of that where it drops its
    /// files itself.
    pub(super) fn warmable_s(&self) -> f64 {
        if self.drops_itself() { 0.0 } else { self.disk_s() }
    }

    fn disk_s(&self) -> f64 {
        self.path_s(|row| row.kind == PathKind::Disk)
    }

    /// Whether nothing but the command can have dropped what it reads from the cache: it ran before, and neither `--drop-caches`
    /// nor a command of the user's stands between its runs.
    fn drops_itself(&self) -> bool {
        let hooks = self.given.plan.alternatives.iter();
        !self.given.plan.drop_caches && hooks.clone().all(|it| it.prepare.is_none() && it.conclude.is_none())
    }

    /// The files that the faster one's line says it reads.
    fn files(&self) -> Vec<PathBuf> {
        let line = Line::of(self.fast_line());
        let words = line.commands.iter().flat_map(|command| &command.words);
        let files = words.filter_map(read).filter(|file| self.machine.files.contains(*file));
        files.map(PathBuf::from).collect()
    }

    fn cold(&self, files: Vec<PathBuf>) -> Change {
        let original = self.fast_line();
        let names: Vec<String> = files.iter().map(|file| format!("'{}'", file.display())).collect();
        let changed = Variation { before: Before::DropFiles(files), ..Variation::of(original) };
        Change {
            words: format!("{} left the page cache before it begins", names.join(", ")),
            put_in: true,
            // It may read other files than these, or in another order than the slower one.
            sure: false,
            test: Test { control: Variation::of(original), changed },
        }
    }
}

/// The file that a word may name for reading.
fn read(word: &Word) -> Option<&str> {
    match (word.redirects, word.text.strip_prefix('<')) {
        (true, file) => file,
        (false, _) => Some(word.text.strip_prefix("if=").unwrap_or(&word.text)),
    }
}
