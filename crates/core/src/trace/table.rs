//! Rows of system calls taken together for a table, and the order of rows.

use super::command::CommandName;
use super::report::{PathRow, SharerRow, SyscallRow, WaitRow, WorkRow};
use whyfaster_stats::order::largest_first;

/// Whose calls make one row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Together {
    /// Those of one command.
    #[default]
    Command,
    /// Those of one process.
    Process,
    /// Those of the whole tree.
    All,
}

/// What comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The most time; the most calls where no time was taken.
    #[default]
    Time,
    /// The most calls.
    Calls,
    /// The most errors.
    Errors,
    /// By the name of the call.
    Name,
}

/// Takes rows together and sorts them. A sum in which one part was not measured is not measured.
pub fn table(rows: &[SyscallRow], together: Together, order: Order) -> Vec<SyscallRow> {
    let mut keyed: Vec<SyscallRow> = rows.iter().map(|row| labelled(row, together)).collect();
    keyed.sort_by(|a, b| key(a).cmp(&key(b)));
    let mut table: Vec<SyscallRow> = Vec::new();
    for row in keyed {
        match table.last_mut() {
            Some(last) if key(last) == key(&row) => add(last, &row),
            _ => table.push(row),
        }
    }
    table.sort_by(|a, b| compare(a, b, order).then_with(|| key(a).cmp(&key(b))));
    table
}

/// All rows as one; `None` when there are none.
pub fn total(rows: &[SyscallRow]) -> Option<SyscallRow> {
    let (first, others) = rows.split_first()?;
    let mut sum = labelled(first, Together::All);
    sum.name = "total".to_owned();
    others.iter().for_each(|row| add(&mut sum, row));
    Some(sum)
}

/// The rows that matter, the longest first, and what the others add up to.
#[derive(Clone, Debug, PartialEq)]
pub struct Folded<'a, T> {
    /// The longest.
    pub rows: Vec<&'a T>,
    /// How many others there are.
    pub others: usize,
    /// Seconds of the others together.
    pub others_s: f64,
    /// Seconds of all.
    pub all_s: f64,
}

/// A row with a time.
pub trait Timed {
    /// Its time.
    fn seconds(&self) -> f64;
}

impl Timed for SharerRow {
    fn seconds(&self) -> f64 {
        self.seconds
    }
}

impl Timed for WaitRow {
    fn seconds(&self) -> f64 {
        self.seconds
    }
}

impl Timed for PathRow {
    fn seconds(&self) -> f64 {
        self.seconds
    }
}

impl Timed for WorkRow {
    fn seconds(&self) -> f64 {
        self.seconds
    }
}

/// Keeps at most `most` rows that have at least this share of all time.
pub fn fold<T: Timed>(rows: &[T], least_share: f64, most: usize) -> Folded<'_, T> {
    let all_s: f64 = rows.iter().map(Timed::seconds).sum();
    let mut sorted: Vec<&T> = rows.iter().collect();
    largest_first(&mut sorted, |it| it.seconds());
    let kept = sorted.iter().take(most).take_while(|row| row.seconds() >= all_s * least_share).count();
    let others = sorted.split_off(kept);
    Folded {
        rows: sorted,
        others: others.len(),
        others_s: others.iter().map(|row| row.seconds()).sum(),
        all_s,
    }
}

fn labelled(row: &SyscallRow, together: Together) -> SyscallRow {
    let mut row = row.clone();
    match together {
        Together::Process => {}
        Together::Command => row.pid = None,
        Together::All => (row.pid, row.command) = (None, None),
    }
    row
}

fn key(row: &SyscallRow) -> (&Option<CommandName>, Option<u32>, &str) {
    (&row.command, row.pid, &row.name)
}

fn add(sum: &mut SyscallRow, row: &SyscallRow) {
    let both = |a: Option<f64>, b: Option<f64>| Some(a? + b?);
    sum.calls += row.calls;
    sum.not_returned += row.not_returned;
    sum.begun_before += row.begun_before;
    sum.going_on += row.going_on;
    sum.errors += row.errors;
    sum.total_s = both(sum.total_s, row.total_s);
    sum.cpu_s = both(sum.cpu_s, row.cpu_s);
    sum.runnable_s = both(sum.runnable_s, row.runnable_s);
    sum.blocked_s = both(sum.blocked_s, row.blocked_s);
    sum.failed_s = both(sum.failed_s, row.failed_s);
    sum.max_s = sum.max_s.zip(row.max_s).map(|(a, b)| a.max(b));
    for (name, count) in &row.errnos {
        match sum.errnos.iter_mut().find(|(known, _)| known == name) {
            Some((_, sum)) => *sum += count,
            None => sum.errnos.push((name.clone(), *count)),
        }
    }
    if sum.histogram_log2_ns.len() < row.histogram_log2_ns.len() {
        sum.histogram_log2_ns.resize(row.histogram_log2_ns.len(), 0);
    }
    sum.histogram_log2_ns.iter_mut().zip(&row.histogram_log2_ns).for_each(|(sum, count)| *sum += count);
}

fn compare(a: &SyscallRow, b: &SyscallRow, order: Order) -> std::cmp::Ordering {
    let time = |row: &SyscallRow| row.total_s.unwrap_or(0.0);
    let by_time = time(b).total_cmp(&time(a));
    let by_calls = b.calls.cmp(&a.calls);
    match order {
        Order::Time => by_time.then(by_calls),
        Order::Calls => by_calls.then(by_time),
        Order::Errors => b.errors.cmp(&a.errors).then(by_time).then(by_calls),
        Order::Name => a.name.cmp(&b.name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(command: &str, pid: u32, name: &str, calls: u64, total: Option<f64>) -> SyscallRow {
        SyscallRow {
            command: Some(command.into()),
            pid: Some(pid),
            name: name.to_owned(),
            calls,
            not_returned: 0,
            begun_before: 0,
            going_on: 0,
            errors: calls / 2,
            errnos: vec![("ENOENT".to_owned(), calls / 2)],
            total_s: total,
            max_s: total,
            cpu_s: total.map(|t| t / 4.0),
            runnable_s: total.map(|t| t / 4.0),
            blocked_s: total.map(|t| t / 2.0),
            failed_s: None,
            histogram_log2_ns: vec![0, calls],
        }
    }

    #[test]
    fn rows_are_added_by_command_or_altogether() {
        let rows = [
            row("sh", 1, "read", 4, Some(1.0)),
            row("sh", 2, "read", 2, Some(0.5)),
            row("xargs", 3, "read", 1, Some(3.0)),
        ];
        assert_eq!(table(&rows, Together::Process, Order::Name).len(), 3);
        let by_command = table(&rows, Together::Command, Order::Time);
        assert_eq!(
            by_command.iter().map(|r| (r.command.as_deref(), r.calls)).collect::<Vec<_>>(),
            [(Some("xargs"), 1), (Some("sh"), 6)]
        );
        let sh = &by_command[1];
        assert_eq!((sh.total_s, sh.max_s, sh.blocked_s, sh.pid), (Some(1.5), Some(1.0), Some(0.75), None));
        assert_eq!(
            (&sh.errnos[..], &sh.histogram_log2_ns[..]),
            (&[("ENOENT".to_owned(), 3)][..], &[0, 6][..])
        );
        let all = table(&rows, Together::All, Order::Time);
        assert_eq!((all.len(), all[0].calls, all[0].command.as_deref()), (1, 7, None));
        assert_eq!(
            total(&rows).map(|t| (t.calls, t.total_s, t.name)),
            Some((7, Some(4.5), "total".to_owned()))
        );
    }

    #[test]
    fn a_part_without_a_time_leaves_the_sum_without_one() {
        let rows = [row("sh", 1, "read", 4, Some(1.0)), row("sh", 2, "read", 2, None)];
        let sum = &table(&rows, Together::Command, Order::Time)[0];
        assert_eq!((sum.calls, sum.total_s, sum.max_s), (6, None, None));
        assert_eq!(total(&[]), None);
    }

    #[test]
    fn small_rows_are_folded_and_no_time_is_lost() {
        let wait = |seconds| WaitRow {
            command: "sh".into(),
            cause: crate::trace::report::Cause::Child,
            peer: None,
            seconds,
            count: 1,
            unfinished: 0,
        };
        let rows = [wait(1.0), wait(97.0), wait(0.5), wait(1.5)];
        let folded = fold(&rows, 0.02, 8);
        assert_eq!((folded.rows.len(), folded.others, folded.others_s, folded.all_s), (1, 3, 3.0, 100.0));
        assert_eq!(fold(&rows, 0.0, usize::MAX).others, 0);
        assert_eq!(fold(&rows, 0.0, 2).others, 2);
        assert_eq!(fold::<WaitRow>(&[], 0.02, 8).rows.len(), 0);
    }

    #[test]
    fn every_order_sorts_by_what_it_says() {
        let rows = [
            row("a", 1, "write", 10, Some(0.1)),
            row("a", 1, "read", 2, Some(2.0)),
            row("a", 1, "close", 30, Some(0.2)),
        ];
        let names =
            |order| table(&rows, Together::Command, order).into_iter().map(|r| r.name).collect::<Vec<_>>();
        assert_eq!(names(Order::Time), ["read", "close", "write"]);
        assert_eq!(names(Order::Calls), ["close", "write", "read"]);
        assert_eq!(names(Order::Errors), ["close", "write", "read"]);
        assert_eq!(names(Order::Name), ["close", "read", "write"]);
    }
}
