//! Whether an edit of a command line reaches the cause: whether what makes it is a word of that line, or only called by one.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use super::context::ExperimentContext;
use super::line::{Command, Line, Word};
use crate::plan::Shell;
use crate::trace::TraceReport;
use crate::trace::command::CommandName;
use crate::trace::event::FileKind;
use crate::trace::report::TransferRow;
use crate::why::categories::{looks, misses};
use crate::why::medians::median;
use crate::why::own_cost::is_exec;

/// An edit that reaches so much of a cause reaches it.
pub(in crate::why) const REACHED: f64 = 0.8;

/// Programs that run what stands in a file or in a word.
const INTERPRETERS: [&str; 21] = [
    "sh", "dash", "bash", "zsh", "ksh", "fish", "busybox", "python", "perl", "ruby", "node", "lua", "tclsh",
    "php", "make", "ninja", "parallel", "ssh", "su", "sudo", "watch",
];

/// The shell's own ways to run what stands elsewhere.
const ELSEWHERE: [&str; 3] = [".", "source", "eval"];

/// Bytes that move at once through a buffer of the C library: 4096 for pipes and most files, and the last piece is a part of it.
const C_BUFFER: RangeInclusive<u64> = 2048..=4096;

/// The kernel keeps so many bytes of a program's name.
const COMM: usize = 15;

/// By command: how much of something.
type ByCommand = BTreeMap<String, f64>;

impl ExperimentContext<'_> {
    /// Whether a word of the slower side's line may be a script, which does what the line does not say.
    pub(in crate::why) fn scripted(&self, line: &Line) -> bool {
        let words = line.commands.iter().flat_map(|command| &command.words);
        if words.filter(|word| !word.redirects).any(|word| interprets(word.file())) {
            return true;
        }
        line.commands.iter().filter_map(Command::name).any(|name| {
            ELSEWHERE.contains(&name) || (self.ran(name) && !self.machine.dynamic.contains(comm(name)))
        })
    }

    /// Whether a program of this name ran on the slower side.
    fn ran(&self, name: &str) -> bool {
        let mut runs = self.given.traced.iter().filter(|it| it.alternative == self.places.0);
        runs.any(|it| it.report.commands.iter().any(|row| row.command.program() == comm(name)))
    }

    /// Whether the commands that search PATH in vain are words of the line, or its shell.
    pub(in crate::why) fn searches(&self, line: &Line) -> bool {
        let more = self.more(|report| {
            let rows = report.syscalls.iter().filter(|row| is_exec(row)).chain(looks(report));
            rows.filter_map(|row| Some((row.command.as_ref()?, misses(row) as f64))).collect()
        });
        let mut names = words(&line.commands.iter().collect::<Vec<_>>());
        if let Shell::Command(shell) = &self.given.plan.shell {
            names.extend(shell.first().and_then(|word| word.rsplit('/').next()));
        }
        part(&more, &names) >= REACHED
    }

    /// The part of the calls that move data in pieces which these commands of the line make, or those that read from them
    /// through a pipe: who writes small pieces makes small pieces for all behind it.
    pub(in crate::why) fn moves(&self, line: &Line, edited: impl Fn(&Command) -> bool) -> f64 {
        let more = self.more(|report| {
            let socket = |file| matches!(file, FileKind::Socket | FileKind::UnixSocket);
            let rows = report.transfers.iter().filter(|row| !socket(row.file));
            rows.map(|row| (&row.command, row.calls as f64)).collect()
        });
        let mut reached = Vec::new();
        let mut before = false;
        for command in &line.commands {
            before = edited(command) || (before && command.piped);
            reached.extend(before.then_some(command));
        }
        // Where no calls were seen, the only command makes them all.
        if more.is_empty() && line.commands.len() == 1 && reached.len() == 1 {
            return 1.0;
        }
        part(&more, &words(&reached))
    }

    /// Whether stdbuf can change the pieces of a program of this line: it gives buffers to the C library, whose own are filled before they are
    /// written or read again, and only where the dynamic loader starts the program. Other pieces are the program's choice.
    pub(in crate::why) fn has_c_buffers(&self, line: &Line) -> bool {
        let runs = self.given.traced.iter().filter(|it| it.alternative == self.places.0);
        let rows: Vec<&TransferRow> = runs.flat_map(|it| &it.report.transfers).collect();
        line.commands.iter().filter_map(Command::name).map(comm).any(|name| {
            let mine = rows.iter().filter(|row| row.command.program() == name && row.calls > 0);
            let most = mine.max_by_key(|row| row.calls);
            let piece = most.map_or(0, |row| row.bytes / row.calls);
            self.machine.dynamic.contains(name) && C_BUFFER.contains(&piece)
        })
    }

    /// Whether the calls that change priorities are those of so many times `nice`.
    pub(in crate::why) fn nices(&self, times: usize) -> bool {
        let more = self.more(|report| {
            let rows = report.syscalls.iter();
            let rows = rows.filter(|row| crate::why::facts::PRIORITIES.contains(&row.name.as_str()));
            rows.filter_map(|row| Some((row.command.as_ref()?, row.calls.saturating_sub(row.errors) as f64)))
                .collect()
        });
        let all: f64 = more.values().sum();
        // The cast is of a small whole number.
        part(&more, &BTreeSet::from(["nice"])) >= REACHED && all <= times as f64
    }

    /// How much more of this the slower side has, by command: medians of the traced runs.
    fn more(&self, of: impl Fn(&TraceReport) -> Vec<(&CommandName, f64)>) -> ByCommand {
        let side = |index: usize| -> ByCommand {
            let runs: Vec<ByCommand> = (self.given.traced.iter().filter(|it| it.alternative == index))
                .map(|it| {
                    let mut sums = ByCommand::new();
                    for (command, n) in of(&it.report) {
                        *sums.entry(command.program().to_owned()).or_default() += n;
                    }
                    sums
                })
                .collect();
            let names: BTreeSet<&String> = runs.iter().flat_map(ByCommand::keys).collect();
            let all = |name: &String| -> Vec<f64> {
                runs.iter().map(|run| run.get(name).copied().unwrap_or(0.0)).collect()
            };
            names.into_iter().map(|name| (name.clone(), median(&all(name)))).collect()
        };
        let (mut slow, fast) = (side(self.places.0), side(self.places.1));
        for (name, n) in &mut slow {
            *n = (*n - fast.get(name).copied().unwrap_or(0.0)).max(0.0);
        }
        slow
    }
}

/// The part that these commands have of it; of nothing, they have nothing.
fn part(more: &ByCommand, names: &BTreeSet<&str>) -> f64 {
    let all: f64 = more.values().sum();
    let mine: f64 = names.iter().filter_map(|name| more.get(comm(name))).sum();
    if all > 0.0 { mine / all } else { 0.0 }
}

/// What programs may be called that stand in these commands.
fn words<'a>(commands: &[&'a Command]) -> BTreeSet<&'a str> {
    commands.iter().flat_map(|command| command.own()).map(Word::file).collect()
}

/// With or without a version behind it.
fn interprets(name: &str) -> bool {
    INTERPRETERS.contains(&name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'))
}

/// A program's name as the kernel keeps it.
fn comm(name: &str) -> &str {
    let end = (0..=COMM.min(name.len())).rev().find(|at| name.is_char_boundary(*at));
    &name[..end.unwrap_or(0)]
}
