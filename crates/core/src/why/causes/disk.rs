//! It waits for a disk.

use std::path::PathBuf;

use super::definition::{About, BASE, Definition, Seen};
use crate::trace::report::{PathKind, WorkKind};
use crate::why::categories::Category;
use crate::why::experiments::line::{Line, Word};
use crate::why::experiments::{Change, Edit, ExperimentContext, SOME, Untestable};
use crate::why::planned::{Before, Test, Variation};
use crate::why::report::Account;
use crate::why::statement::{Fact, Measure};

pub(super) const DEFINITION: Definition = Definition {
    categories: &[Category::Disk],
    on_path: |row, _| matches!(row.kind, PathKind::Disk | PathKind::WriteBack),
    in_work: |row, _| row.kind == WorkKind::FileData,
    seen: Seen::Wait,
    counted: &[(Measure::FileData, |it| it.file.bytes), (Measure::FileCalls, |it| it.file.calls)],
    fact: |it| Fact::Disk { waits_s: waits_s(it), command: it.command() },
    change,
    winnable_s: |it| it.finding.seconds.max(warmable_s(it)),
    ..BASE
};

/// How much longer the slower one waits: what it costs beside that is the kernel's own code. Counts do not tell the two apart.
fn waits_s(it: &About<'_>) -> Option<f64> {
    let waits = |account: &Account| -> f64 {
        let rows = account.critical_path.iter();
        rows.filter(|row| matches!(row.kind, PathKind::Disk | PathKind::WriteBack))
            .map(|row| row.seconds)
            .sum()
    };
    it.observed.then(|| waits(it.accounts.0) - waits(it.accounts.1))
}

/// The page cache filled before every run of the slower one. Where nothing but the command itself can have dropped what it
/// reads, that helps not; then the files of the faster one leave the cache.
fn change(it: &ExperimentContext<'_>) -> Result<Change, Untestable> {
    if it.path_s(|row| row.kind == PathKind::WriteBack) > disk_s(it) {
        return Err(Untestable::WriteBack);
    }
    if it.finding.seconds < warmable_s(it) * SOME {
        return Err(Untestable::BothWaitForDisk);
    }
    let files = files(it);
    if drops_itself(it) && !files.is_empty() {
        return Ok(cold(it, files));
    }
    let original = it.slow_line();
    let before = if it.given.plan.drop_caches { Before::DropCaches } else { Before::Nothing };
    let control = Variation { before, ..Variation::of(original) };
    let changed = Variation { before: Before::WarmCaches, ..Variation::of(original) };
    Ok(Change {
        edit: Edit::WarmCache,
        put_in: false,
        // A command that drops its files from the cache by itself is not kept from that.
        sure: it.given.plan.drop_caches,
        test: Test { control, changed },
    })
}

/// What a warm cache can spare the slower one: all that it waits for the disk. Nothing is known of that where it drops its
/// files itself.
fn warmable_s(it: &ExperimentContext<'_>) -> f64 {
    if drops_itself(it) { 0.0 } else { disk_s(it) }
}

fn disk_s(it: &ExperimentContext<'_>) -> f64 {
    it.path_s(|row| row.kind == PathKind::Disk)
}

/// Whether nothing but the command can have dropped what it reads from the cache: it ran before, and neither `--drop-caches`
/// nor a command of the user's stands between its runs.
fn drops_itself(it: &ExperimentContext<'_>) -> bool {
    let mut hooks = it.given.plan.alternatives.iter();
    !it.given.plan.drop_caches && hooks.all(|it| it.prepare.is_none() && it.conclude.is_none())
}

/// The files that the faster one's line says it reads.
fn files(it: &ExperimentContext<'_>) -> Vec<PathBuf> {
    let line = Line::of(it.fast_line());
    let words = line.commands.iter().flat_map(|command| &command.words);
    let files = words.filter_map(read).filter(|file| it.machine.files.contains(*file));
    files.map(PathBuf::from).collect()
}

fn cold(it: &ExperimentContext<'_>, files: Vec<PathBuf>) -> Change {
    let original = it.fast_line();
    let names = files.iter().map(|file| file.display().to_string()).collect();
    let changed = Variation { before: Before::DropFiles(files), ..Variation::of(original) };
    Change {
        edit: Edit::ColdFiles { files: names },
        put_in: true,
        // It may read other files than these, or in another order than the slower one.
        sure: false,
        test: Test { control: Variation::of(original), changed },
    }
}

/// The file that a word may name for reading.
fn read(word: &Word) -> Option<&str> {
    match (word.redirects, word.text.strip_prefix('<')) {
        (true, file) => file,
        (false, _) => Some(word.text.strip_prefix("if=").unwrap_or(&word.text)),
    }
}
