//! The numbers behind a finding: what was counted, and the rows of path and work that differ most.

use std::collections::{BTreeMap, BTreeSet};

use super::causes::About;
use super::kinds::work_kind;
use super::report::{Account, Evidence};
use super::statement::Measure;
use crate::trace::command::CommandName;
use crate::trace::report::{PathKind, PathRow, WorkKind, WorkRow};
use whyfaster_stats::order::largest_first;

/// Rows of path and work that stand behind a finding, each.
const ROWS: usize = 3;

/// Seconds by what a row is.
type Rows = BTreeMap<Measure, f64>;

impl About<'_> {
    /// What was counted on both sides of a cause, then the rows that differ most. `queued_s`: the waiting for CPUs that counts
    /// as a part of the cause.
    pub(super) fn evidence(&self, queued_s: f64) -> Vec<Evidence> {
        let counted = self.definition.counted.iter();
        let counted = counted.map(|(what, of)| entry(what.clone(), of(self.slow), of(self.fast)));
        let mut all: Vec<Evidence> = counted.filter(|it| it.here != 0.0 || it.there != 0.0).collect();
        all.extend(largest(self.path(self.accounts.0), self.path(self.accounts.1)));
        all.extend(largest(self.work(self.accounts.0), self.work(self.accounts.1)));
        // What comes with the cause, so that the rows on the path sum to what it is worth.
        if queued_s > 0.0 {
            all.push(entry(Measure::Queued, queued_s, 0.0));
        }
        all
    }

    /// The command whose rows make most of the cause: what the slower side has more of. Who runs is told by the CPU time, for on
    /// the path some of it stands as waiting for it; who waits by the path.
    pub(super) fn command(&self) -> Option<String> {
        let by_work =
            || self.most(|account| self.of_work(account).map(|it| (&it.command, it.seconds)).collect());
        let by_path =
            || self.most(|account| self.of_path(account).map(|it| (&it.command, it.seconds)).collect());
        if self.definition.by_work { by_work().or_else(by_path) } else { by_path() }
    }

    fn most<'a>(&'a self, rows: impl Fn(&'a Account) -> Vec<(&'a CommandName, f64)>) -> Option<String> {
        let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
        for (account, sign) in [(self.accounts.0, 1.0), (self.accounts.1, -1.0)] {
            // Its children run the same code: whoever does the work in threads has none of them.
            for (command, seconds) in rows(account) {
                *sums.entry(command.code()).or_default() += sign * seconds;
            }
        }
        let most = sums.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
        most.filter(|(_, seconds)| *seconds > 0.0).map(|(command, _)| command.to_owned())
    }

    fn path(&self, account: &Account) -> Rows {
        sums(self.of_path(account).map(|row| (on_path(row), row.seconds)))
    }

    fn work(&self, account: &Account) -> Rows {
        let measure = |row: &WorkRow| Measure::Work { command: row.command.to_string(), on: row.kind };
        sums(self.of_work(account).map(|row| (measure(row), row.seconds)))
    }

    fn of_path<'a>(&self, account: &'a Account) -> impl Iterator<Item = &'a PathRow> {
        let (wanted, children) = (self.definition.on_path, self.children_compute());
        account.critical_path.iter().filter(move |row| wanted(row, children))
    }

    fn of_work<'a>(&self, account: &'a Account) -> impl Iterator<Item = &'a WorkRow> {
        let (wanted, children) = (self.definition.in_work, self.children_compute());
        account.work.iter().filter(move |row| wanted(row, children))
    }

    /// Whether CPU time that this command spent on this belongs to the cause.
    pub(super) fn has_work(&self, command: &CommandName, kind: WorkKind) -> bool {
        self.definition.has_work(command, kind, self.children_compute())
    }

    /// Children that run no program of their own compute where both sides make as many of them; else they are what processes cost.
    fn children_compute(&self) -> bool {
        let (here, there) = (self.slow, self.fast);
        (here.forks - there.forks).abs() <= 0.5 && (here.execs - there.execs).abs() <= 0.5
    }
}

/// A number of both sides. Its text is made at the edge.
pub(super) fn entry(measure: Measure, here: f64, there: f64) -> Evidence {
    let unit = measure.unit().to_owned();
    // A sum of nothing is -0, which would be shown.
    Evidence { measure: Some(measure), what: String::new(), here: here + 0.0, there: there + 0.0, unit }
}

fn on_path(row: &PathRow) -> Measure {
    Measure::Path { command: row.command.to_string(), part: row.kind, what: row.what.clone() }
}

fn sums(rows: impl Iterator<Item = (Measure, f64)>) -> Rows {
    let mut sums = Rows::new();
    rows.for_each(|(row, seconds)| *sums.entry(row).or_default() += seconds);
    sums
}

/// The rows that differ most.
fn largest(here: Rows, there: Rows) -> Vec<Evidence> {
    let of = |rows: &Rows, row: &Measure| rows.get(row).copied().unwrap_or(0.0);
    let rows: BTreeSet<&Measure> = here.keys().chain(there.keys()).collect();
    let mut all: Vec<Evidence> =
        rows.into_iter().map(|row| entry(row.clone(), of(&here, row), of(&there, row))).collect();
    largest_first(&mut all, |it| (it.here - it.there).abs());
    all.truncate(ROWS);
    all
}

/// Rows of the path that belong to no cause, those that differ most.
pub(super) fn of_no_cause((here, there): (&Account, &Account)) -> Vec<Evidence> {
    let of = |account: &Account| {
        let rows = account.critical_path.iter().filter(|row| has_no_cause(row));
        sums(rows.map(|row| (on_path(row), row.seconds)))
    };
    largest(of(here), of(there))
}

/// The rules give such a row of the path to no cause, because nobody saw what it was.
fn has_no_cause(row: &PathRow) -> bool {
    match row.kind {
        PathKind::Unknown | PathKind::Unobserved | PathKind::Lost => true,
        PathKind::Kernel => work_kind(row).is_none(),
        _ => false,
    }
}
