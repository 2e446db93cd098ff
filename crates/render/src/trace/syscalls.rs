//! The system calls in the columns of `strace -c`, and what is inside the wall time of each call.

use whyfaster_core::trace::report::{SyscallRow, TraceReport};
use whyfaster_core::trace::table::{table, total};
use whyfaster_words::grid::{ABSENT, Column, Drawn, Grid, Group, or_absent};
use whyfaster_words::look::Look;
use whyfaster_words::text::{Tone, for_look, tone, wrap};
use whyfaster_words::units::{Scale, digits, time};

use super::super::section::{left, name, quiet, scale};
use super::shown::Shown;

/// A table for each command (or process), the one with the most time first; `--by none` makes one.
pub(super) fn tables(report: &TraceReport, shown: &Shown, look: &Look) -> Vec<String> {
    let rows = table(&report.syscalls, shown.by.into(), shown.sort.into());
    let Some(all) = total(&rows) else { return Vec::new() };
    let hidden = rows.len().saturating_sub(shown.rows());
    let visible = &rows[..rows.len() - hidden];
    let scale = scale(visible.iter().filter_map(|row| row.total_s), look);
    let view = View { all: &all, scale, look };
    let mut lines = wrap(&title(&all, look), look.width, 2);
    lines.iter_mut().for_each(|line| *line = tone(Tone::Strong, line));
    for group in groups(visible) {
        let of_group: Vec<SyscallRow> = rows.iter().filter(|row| same(row, group[0])).cloned().collect();
        lines.extend(view.group(&group, total(&of_group).as_ref()));
    }
    lines.extend(left(hidden, look));
    let note = "cpu/wait/block: of the call's wall time on a CPU, waiting for one, blocked, in percent; % time: of the wall time of all calls";
    if all.total_s.is_some() {
        lines.extend(quiet(note, look));
    }
    if all.begun_before + all.going_on > 0 {
        let note = format!(
            "in progress: {} calls before observing began, {} still when it ended; their times are what lies between",
            all.begun_before, all.going_on
        );
        lines.extend(quiet(&note, look));
    }
    lines
}

fn title(all: &SyscallRow, look: &Look) -> String {
    let within = all.total_s.map_or_else(
        || "; they were counted, not timed".to_owned(),
        |seconds| format!(", {} of wall time within them", time(seconds, look.time_unit)),
    );
    let ended =
        if all.not_returned > 0 { format!(", {} did not return", all.not_returned) } else { String::new() };
    format!("system calls: {}, {} failed{ended}{within}", all.calls, all.errors)
}

fn same(a: &SyscallRow, b: &SyscallRow) -> bool {
    (&a.command, a.pid) == (&b.command, b.pid)
}

/// Rows of one command or process, in the order in which the first of each comes.
fn groups(rows: &[SyscallRow]) -> Vec<Vec<&SyscallRow>> {
    let mut groups: Vec<Vec<&SyscallRow>> = Vec::new();
    for row in rows {
        match groups.iter_mut().find(|group| same(group[0], row)) {
            Some(group) => group.push(row),
            None => groups.push(vec![row]),
        }
    }
    groups
}

struct View<'a> {
    all: &'a SyscallRow,
    scale: Scale,
    look: &'a Look,
}

impl View<'_> {
    fn group(&self, rows: &[&SyscallRow], sum: Option<&SyscallRow>) -> Vec<String> {
        let Some(sum) = sum else { return Vec::new() };
        let mut shown: Vec<&SyscallRow> = rows.to_vec();
        if sum.calls > rows.iter().map(|row| row.calls).sum() || rows.len() > 1 {
            shown.push(sum);
        }
        let Drawn { lines: table, left_out, .. } =
            self.grid(&self.label(rows[0]), &shown).draw(self.look.width, 1);
        let mut lines = table;
        // What is most wanted behind the usual columns finds no room on a narrow screen; the record has it.
        if left_out.contains(&"inside") {
            lines.extend(quiet("(no room for: cpu/wait/block; --json has everything)", self.look));
        }
        lines
    }

    fn label(&self, row: &SyscallRow) -> String {
        match (&row.command, row.pid) {
            (Some(command), Some(pid)) => format!("{} {pid}", name(command, self.look)),
            (Some(command), None) => name(command, self.look),
            (None, Some(pid)) => format!("process {pid}"),
            (None, None) => "syscall".to_owned(),
        }
    }

    fn grid(&self, label: &str, rows: &[&SyscallRow]) -> Grid {
        let scale = self.scale;
        let number = |value: Option<f64>| or_absent(value, |v| super::shown::number(scale, v));
        let mut groups = Vec::new();
        let calls = Column::of("calls", rows, |row| row.calls.to_string());
        let errors = Column::of("errors", rows, |row| blank(row.errors));
        if self.all.total_s.is_some() {
            groups.push(Group::new(
                "time",
                vec![
                    Column::of("% time", rows, |row| share(row.total_s, self.all.total_s)),
                    Column::of(seconds_header(scale), rows, |row| number(row.total_s)),
                    Column::of("usecs/call", rows, |row| per_call(row)),
                    calls,
                    errors,
                ],
            ));
            groups.push(Group::new("inside", vec![Column::of("cpu/wait/block", rows, |row| inside(row))]));
            groups.push(Group::new(
                "longest",
                vec![Column::of(format!("longest {}", scale.name), rows, |row| number(row.max_s))],
            ));
        } else {
            groups.push(Group::new("calls", vec![calls, errors]));
        }
        if rows.iter().any(|row| row.not_returned > 0) {
            groups.push(Group::new(
                "not returned",
                vec![Column::of("no return", rows, |row| blank(row.not_returned))],
            ));
        }
        if rows.iter().any(|row| row.begun_before + row.going_on > 0) {
            groups.push(Group::of("in progress", rows, |row| in_progress(row)));
        }
        if rows.iter().any(|row| row.errors > 0) {
            groups.push(Group::of("errors by name", rows, |row| errnos(row)));
        }
        Grid { key: Column::of(label, rows, |row| for_look(&row.name, self.look)), groups }
    }
}

fn seconds_header(scale: Scale) -> String {
    if scale.name == "s" { "seconds".to_owned() } else { format!("time {}", scale.name) }
}

/// As strace does, nothing stands where there is no error.
fn blank(number: u64) -> String {
    if number == 0 { String::new() } else { number.to_string() }
}

/// "1 before, 2 after": calls of which only a part was seen.
fn in_progress(row: &SyscallRow) -> String {
    let part = |number: u64, what: &str| (number > 0).then(|| format!("{number} {what}"));
    let parts = [part(row.begun_before, "before"), part(row.going_on, "after")];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn share(part: Option<f64>, all: Option<f64>) -> String {
    match part.zip(all) {
        Some((part, all)) if all > 0.0 => format!("{:.2}", part / all * 100.0),
        _ => ABSENT.to_owned(),
    }
}

fn per_call(row: &SyscallRow) -> String {
    // Calls that ended their task have no duration.
    let returned = row.calls.saturating_sub(row.not_returned - row.going_on.min(row.not_returned));
    match row.total_s {
        Some(total) if returned > 0 => digits(total * 1e6 / returned as f64),
        _ => ABSENT.to_owned(),
    }
}

/// "12/3/85": of the wall time on a CPU, waiting for one, blocked.
fn inside(row: &SyscallRow) -> String {
    let parts = (row.total_s, row.cpu_s, row.runnable_s, row.blocked_s);
    let (Some(total), Some(cpu), Some(wait), Some(blocked)) = parts else { return ABSENT.to_owned() };
    if total <= 0.0 {
        return ABSENT.to_owned();
    }
    let percent = |part: f64| format!("{:.0}", (part / total * 100.0).max(0.0));
    [cpu, wait, blocked].map(percent).join("/")
}

fn errnos(row: &SyscallRow) -> String {
    row.errnos.iter().map(|(name, count)| format!("{count} {name}")).collect::<Vec<_>>().join(", ")
}
