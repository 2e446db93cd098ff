//! The table of system calls, from what the tracer counted.

use super::counts::{CallCell, Counts};
use super::ledger::seconds;
use super::names::{Abi, errno_name};
use super::report::SyscallRow;

/// One row a command or process and call, in the order of command, process and name.
pub(super) fn rows(counts: &Counts, abi: Abi) -> Vec<SyscallRow> {
    let mut rows: Vec<SyscallRow> = counts.calls.iter().map(|cell| row(cell, abi)).collect();
    rows.sort_by(|a, b| (&a.command, a.pid, &a.name).cmp(&(&b.command, b.pid, &b.name)));
    // A 64-bit and a 32-bit program may have the same name, and so do their calls; the numbers differ.
    rows.dedup_by(|later, first| {
        let same = later.command == first.command && later.pid == first.pid && later.name == first.name;
        if same {
            add(first, later);
        }
        same
    });
    rows
}

fn row(cell: &CallCell, abi: Abi) -> SyscallRow {
    let total = cell.total_ns;
    // The parts are measured one by one: a rounding of clocks must not make the rest negative.
    let off =
        |total: u64, runnable: u64, blocked: u64| total.saturating_sub(runnable.saturating_add(blocked));
    let cpu = total
        .zip(cell.runnable_ns.zip(cell.blocked_ns))
        .map(|(all, (wait, blocked))| off(all, wait, blocked));
    let mut errnos: Vec<(String, u64)> =
        cell.errors.iter().map(|(errno, times)| (errno_name(*errno).into_owned(), *times)).collect();
    errnos.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    SyscallRow {
        command: Some(cell.by.command()),
        pid: cell.by.process,
        name: abi.name(cell.call).into_owned(),
        calls: cell.entered,
        not_returned: cell.not_returned,
        begun_before: cell.begun_before,
        going_on: cell.going_on,
        errors: cell.errors.iter().map(|(_, times)| times).sum(),
        errnos,
        total_s: total.map(seconds),
        max_s: cell.max_ns.map(seconds),
        cpu_s: cpu.map(seconds),
        runnable_s: cell.runnable_ns.map(seconds),
        blocked_s: cell.blocked_ns.map(seconds),
        failed_s: cell.failed_ns.map(seconds),
        histogram_log2_ns: cell.histogram.clone(),
    }
}

fn add(row: &mut SyscallRow, other: &SyscallRow) {
    row.calls += other.calls;
    row.not_returned += other.not_returned;
    row.begun_before += other.begun_before;
    row.going_on += other.going_on;
    row.errors += other.errors;
    for (errno, times) in &other.errnos {
        match row.errnos.iter_mut().find(|(it, _)| it == errno) {
            Some((_, sum)) => *sum += times,
            None => row.errnos.push((errno.clone(), *times)),
        }
    }
    let sum = |a: Option<f64>, b: Option<f64>| a.zip(b).map(|(a, b)| a + b);
    row.total_s = sum(row.total_s, other.total_s);
    row.max_s = row.max_s.zip(other.max_s).map(|(a, b)| a.max(b));
    row.cpu_s = sum(row.cpu_s, other.cpu_s);
    row.runnable_s = sum(row.runnable_s, other.runnable_s);
    row.blocked_s = sum(row.blocked_s, other.blocked_s);
    row.failed_s = sum(row.failed_s, other.failed_s);
    let longer = row.histogram_log2_ns.len().max(other.histogram_log2_ns.len());
    row.histogram_log2_ns.resize(longer, 0);
    for (sum, times) in row.histogram_log2_ns.iter_mut().zip(&other.histogram_log2_ns) {
        *sum += times;
    }
}
