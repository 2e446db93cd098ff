//! Failed execs taken together: a shell or `execvp` tries one directory of PATH after the other.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use super::labels::{Label, Labels};
use super::names;
use super::report::SearchRow;

/// Pairs of searcher and program that are kept apart; further ones are taken together as one program.
const MOST: usize = 4096;
/// The program of what is beyond the bound.
const MORE: &str = "(more programs)";
/// The program of an exec whose path could not be read.
const UNREAD: &str = "(path not read)";

/// Failed execs of one task in a row, for one program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Search {
    program: Label,
    errnos: BTreeMap<i32, u64>,
}

/// All searches by who searched and for what.
#[derive(Debug, Default)]
pub(super) struct Searches {
    rows: FxHashMap<(Label, Label), Row>,
    failed: u64,
}

#[derive(Debug, Default)]
struct Row {
    searches: u64,
    found: u64,
    errnos: BTreeMap<i32, u64>,
}

impl Searches {
    /// An exec failed. A failure for another program ends the search before.
    pub(super) fn failed(
        &mut self,
        labels: &mut Labels,
        by: Label,
        search: &mut Option<Search>,
        path: Option<&str>,
        errno: i32,
    ) {
        self.failed += 1;
        let program = labels.of(path.map_or(UNREAD, base));
        if search.as_ref().is_some_and(|search| search.program != program) {
            self.close(labels, by, search.take(), false);
        }
        let search = search.get_or_insert_with(|| Search { program, errnos: BTreeMap::new() });
        *search.errnos.entry(errno).or_default() += 1;
    }

    /// An exec worked: the search for this program found it; one for another ended without.
    pub(super) fn worked(
        &mut self,
        labels: &mut Labels,
        by: Label,
        search: Option<Search>,
        path: Option<&str>,
    ) {
        let Some(search) = search else { return };
        // Without the path it is taken for what was searched: a task that gave up does not exec in the next breath.
        let found = path.is_none_or(|path| labels.of(base(path)) == search.program);
        self.close(labels, by, Some(search), found);
    }

    /// The search is over.
    pub(super) fn close(&mut self, labels: &mut Labels, by: Label, search: Option<Search>, found: bool) {
        let Some(search) = search else { return };
        let mut key = (by, search.program);
        if self.rows.len() >= MOST && !self.rows.contains_key(&key) {
            key = (by, labels.of(MORE));
        }
        let row = self.rows.entry(key).or_default();
        row.searches += 1;
        row.found += u64::from(found);
        for (errno, times) in search.errnos {
            *row.errnos.entry(errno).or_default() += times;
        }
    }

    /// Execs that failed.
    pub(super) fn failures(&self) -> u64 {
        self.failed
    }

    /// The rows, the most misses first.
    pub(super) fn rows(&self, labels: &Labels) -> Vec<SearchRow> {
        let row = |((by, program), row): (&(Label, Label), &Row)| SearchRow {
            command: labels.command(*by).clone(),
            program: labels.name(*program).to_owned(),
            searches: row.searches,
            misses: row.errnos.values().sum(),
            found: row.found,
            errnos: row
                .errnos
                .iter()
                .map(|(errno, times)| (names::errno_name(*errno).into_owned(), *times))
                .collect(),
        };
        let mut rows: Vec<SearchRow> = self.rows.iter().map(row).collect();
        rows.sort_by(|a, b| (b.misses, &a.command, &a.program).cmp(&(a.misses, &b.command, &b.program)));
        rows
    }
}

fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
