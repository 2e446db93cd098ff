//! Page faults on the path. The kernel shows no end of a fault, so they come as user code; what of it they are is known once
//! they are counted and have a price.

use std::collections::BTreeMap;

use super::super::ledger::{nanoseconds, seconds};
use super::super::report::{PathKind, PathRow, WorkKind, WorkRow};
use whyfaster_stats::order::largest_first;

/// Divides the user code on a path into user code and page faults, as that command's work is over the whole run. Rows that
/// are divided already stay as they are.
pub(crate) fn tell(path: &mut Vec<PathRow>, work: &[WorkRow]) {
    let told = |row: &PathRow| row.what.as_deref() == Some(WorkKind::PageFaults.name());
    if path.iter().any(told) {
        return;
    }
    let mut sums: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for row in work {
        let of = sums.entry(&row.command).or_default();
        match row.kind {
            WorkKind::User => of.0 += row.seconds,
            WorkKind::PageFaults => of.1 += row.seconds,
            _ => {}
        }
    }
    let mut faults = Vec::new();
    for row in path.iter_mut().filter(|row| row.kind == PathKind::User) {
        let (user, of_faults) = sums.get(row.command.as_str()).copied().unwrap_or_default();
        let whole = nanoseconds(row.seconds);
        let part =
            nanoseconds(row.seconds * of_faults / (user + of_faults).max(f64::MIN_POSITIVE)).min(whole);
        if part > 0 {
            row.seconds = seconds(whole - part);
            let what = Some(WorkKind::PageFaults.name().to_owned());
            faults.push(PathRow { kind: PathKind::Kernel, what, seconds: seconds(part), ..row.clone() });
        }
    }
    if !faults.is_empty() {
        path.append(&mut faults);
        path.retain(|row| row.seconds > 0.0);
        largest_first(path, |it| it.seconds);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(command: &str, seconds: f64) -> PathRow {
        PathRow::of(command.into(), PathKind::User, seconds)
    }

    fn work(command: &str, kind: WorkKind, seconds: f64) -> WorkRow {
        let command = command.into();
        WorkRow { command, kind, seconds, count: None, price_s: None, priced_s: None, estimated: false }
    }

    #[test]
    fn rows_are_divided_once_and_keep_their_sum() {
        let work = [
            work("a", WorkKind::User, 0.3),
            work("a", WorkKind::PageFaults, 0.1),
            work("b", WorkKind::User, 1.0),
        ];
        let mut rows = vec![path("a", 0.2), path("b", 0.1)];
        for _ in 0..2 {
            tell(&mut rows, &work);
            let seen: Vec<(&str, PathKind, u64)> =
                rows.iter().map(|row| (row.command.as_str(), row.kind, nanoseconds(row.seconds))).collect();
            let expected = [
                ("a", PathKind::User, 150_000_000),
                ("b", PathKind::User, 100_000_000),
                ("a", PathKind::Kernel, 50_000_000),
            ];
            assert_eq!(seen, expected);
            assert_eq!(rows[2].what.as_deref(), Some("page_faults"));
        }
    }
}
