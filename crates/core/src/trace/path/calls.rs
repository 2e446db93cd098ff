//! In which system calls the path was in the kernel. Its time there is divided as the command's calls are, so these are the calls
//! of the row's group in which the command spent most of its CPU time.

use std::collections::BTreeMap;

use super::super::command::CommandName;
use super::super::counts::Counts;
use super::super::names::Abi;
use super::super::report::{PathKind, PathRow, WorkKind};
use super::super::{class, work};

/// Calls that are named.
const NAMED: usize = 3;

/// Part of the group's time below which a call is not named.
const LEAST: f64 = 0.1;

/// CPU time by call of one group of one command.
type Times = BTreeMap<String, u64>;

/// Names the calls of all rows that are in the kernel.
pub(in super::super) fn tell_calls(path: &mut [PathRow], counts: &Counts, abi: Abi) {
    let mut groups: BTreeMap<(CommandName, &str), Times> = BTreeMap::new();
    for cell in &counts.calls {
        let kind: WorkKind = class::class(abi, cell.call).work(cell.file);
        let command = cell.by.command();
        let times = groups.entry((command, kind.name())).or_default();
        *times.entry(abi.name(cell.call).into_owned()).or_default() += work::cpu(cell).unwrap_or(0);
    }
    for row in path.iter_mut().filter(|row| row.kind == PathKind::Kernel) {
        let Some(what) = &row.what else { continue };
        let times = groups.get(&(row.command.clone(), what.as_str()));
        row.calls = times.map(most).unwrap_or_default();
    }
}

fn most(times: &Times) -> Vec<String> {
    let all: u64 = times.values().sum();
    let mut calls: Vec<(&String, u64)> = times.iter().map(|(name, ns)| (name, *ns)).collect();
    calls.retain(|(_, ns)| *ns > 0 && *ns as f64 >= LEAST * all as f64);
    calls.sort_by_key(|(_, ns)| std::cmp::Reverse(*ns));
    calls.into_iter().take(NAMED).map(|(name, _)| name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dearest_calls_come_first_and_small_ones_not_at_all() {
        let times =
            |of: &[(&str, u64)]| of.iter().map(|(name, ns)| ((*name).to_owned(), *ns)).collect::<Times>();
        assert_eq!(most(&times(&[("read", 500), ("write", 4000), ("readv", 20)])), ["write", "read"]);
        assert_eq!(most(&times(&[("a", 25), ("b", 25), ("c", 25), ("d", 25)])).len(), NAMED);
        assert!(most(&times(&[("read", 0)])).is_empty());
    }
}
