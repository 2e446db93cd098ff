//! The tree folded by command, and where the time of each command's tasks went.

use whyfaster_core::cpu_list;
use whyfaster_core::trace::report::{CommandRow, TraceReport, TreeRow};
use whyfaster_words::grid::{ABSENT, Column, Grid, Group, or_absent};
use whyfaster_words::look::Look;
use whyfaster_words::text::{Tone, tone, wrap_indented};
use whyfaster_words::units::{count, percent};

use super::super::section::{name, scale, section};
use super::sentence::{of, thousands};
use super::shown::Shown;
use whyfaster_stats::order::largest_first;

/// Who started whom, how many of them.
pub(super) fn tree(report: &TraceReport, shown: &Shown, look: &Look) -> Vec<String> {
    let order = in_order(&report.tree);
    if order.is_empty() {
        return Vec::new();
    }
    let hidden = order.len().saturating_sub(shown.rows());
    let rows: Vec<(String, &TreeRow)> = order
        .iter()
        .take(shown.rows())
        .map(|(index, depth)| {
            let row = &report.tree[*index];
            (format!("{}{}", "  ".repeat((*depth).min(12)), name(&row.command, look)), row)
        })
        .collect();
    let cpu = scale(rows.iter().map(|(_, row)| row.cpu_s), look);
    let life = scale(rows.iter().map(|(_, row)| row.life_s), look);
    let grid = Grid {
        key: Column::of("command, below who started it", &rows, |(label, _)| label.clone()),
        groups: vec![
            Group::of("processes", &rows, |(_, row)| thousands(row.processes)),
            Group::in_unit("CPU", cpu.name, &rows, |(_, row)| super::shown::number(cpu, row.cpu_s)),
            Group::in_unit("lives", life.name, &rows, |(_, row)| super::shown::number(life, row.life_s)),
        ],
    };
    section(&processes(report), grid, hidden, look)
}

fn processes(report: &TraceReport) -> String {
    let p = &report.processes;
    let Some((forks, threads, execs, exits)) =
        p.forks.zip(p.threads).zip(p.execs).zip(p.exits).map(|(((a, b), c), d)| (a, b, c, d))
    else {
        return "tree: not measured".to_owned();
    };
    let failed = p.failed_execs.map_or_else(
        || "failed execs not measured".to_owned(),
        |failed| format!("{} failed", of(failed, "exec")),
    );
    let alive = p.alive.filter(|alive| *alive > 0);
    let alive =
        alive.map_or_else(String::new, |alive| format!(", {} still there at the end", thousands(alive)));
    format!(
        "tree: {}, {}, {}, {failed}, {}{alive}",
        of(forks, "fork"),
        of(threads, "thread"),
        of(execs, "exec"),
        of(exits, "exit")
    )
}

/// Indices with their depth: every row behind its parent, children in the order of the report. A row whose parent is
/// unknown, or is itself, stands at the top; a circle is cut.
fn in_order(tree: &[TreeRow]) -> Vec<(usize, usize)> {
    let mut order = Vec::with_capacity(tree.len());
    let mut seen = vec![false; tree.len()];
    let top = |i: &usize| tree[*i].parent.is_none_or(|parent| parent >= tree.len() || parent == *i);
    let mut stack: Vec<(usize, usize)> = (0..tree.len()).filter(top).map(|i| (i, 0)).rev().collect();
    while let Some((index, depth)) = stack.pop() {
        if std::mem::replace(&mut seen[index], true) {
            continue;
        }
        order.push((index, depth));
        let below = (0..tree.len()).rev().filter(|i| *i != index && tree[*i].parent == Some(index));
        stack.extend(below.map(|i| (i, depth + 1)));
    }
    order
}

/// Where the time of each command's tasks went.
pub(in super::super) fn commands(report: &TraceReport, shown: &Shown, look: &Look) -> Vec<String> {
    let mut all: Vec<&CommandRow> = report.commands.iter().collect();
    largest_first(&mut all, |it| life(it));
    let hidden = all.len().saturating_sub(shown.rows());
    let rows: Vec<&CommandRow> = all.into_iter().take(shown.rows()).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let values =
        |row: &&CommandRow| [Some(row.running_s), row.runnable_s, row.blocked_s, Some(row.unknown_s)];
    let scale = scale(rows.iter().flat_map(values).flatten(), look);
    let number = |value: Option<f64>| or_absent(value, |v| super::shown::number(scale, v));
    let whole = |value: Option<u64>| or_absent(value, |v| count(v as f64));
    let switches = |row: &&CommandRow| format!("{} + {}", whole(row.voluntary), whole(row.involuntary));
    let mut running = vec![
        Column::of("user", &rows, |row| number(row.running_user_s)),
        Column::of("kernel", &rows, |row| number(row.running_kernel_s)),
    ];
    if rows.iter().any(|row| row.running_user_s.is_none()) {
        running.insert(0, Column::of("running", &rows, |row| number(Some(row.running_s))));
    }
    // Time in a hole of the stream: in no state.
    let unknown = rows.iter().any(|row| row.unknown_s > 0.0);
    let mut groups = vec![
        Group::new("running", running),
        Group::of("wait CPU", &rows, |row| number(row.runnable_s)),
        Group::of("avoidable", &rows, |row| number(row.avoidable_s)),
        Group::of("blocked", &rows, |row| number(row.blocked_s)),
        Group::of("tasks", &rows, |row| thousands(row.tasks)),
        Group::of("switches vol + invol", &rows, switches),
        Group::of("faults", &rows, |row| whole(row.faults)),
        Group::of("moves", &rows, |row| whole(row.migrations)),
        Group::of("CPUs", &rows, |row| cpus(&row.cpus)),
    ];
    if unknown {
        groups.insert(4, Group::of("not known", &rows, |row| number(Some(row.unknown_s))));
    }
    let grid = Grid { key: Column::of("command", &rows, |row| name(&row.command, look)), groups };
    let parts = match rows.iter().all(|row| row.runnable_s.is_some()) {
        true if unknown => ": running + waiting for a CPU + blocked + not known (records were lost) = life",
        true => ": running + waiting for a CPU + blocked = life",
        false => "",
    };
    let title = format!("time of each command's tasks, {}{parts}", scale.name);
    let mut lines = section(&title, grid, hidden, look);
    let own: Vec<String> = super::costs::observed_itself(report)
        .into_iter()
        .take(3)
        .map(|(command, share)| {
            format!("{} of {}", percent((share * 100.0).round() / 100.0), name(command, look))
        })
        .collect();
    if !own.is_empty() {
        let text = format!("of 'user' so much is observing the calls, by calibration: {}", own.join(", "));
        lines.extend(wrap_indented(&tone(Tone::Unsure, &text), look.width, 2));
    }
    lines
}

fn life(row: &CommandRow) -> f64 {
    row.running_s + row.runnable_s.unwrap_or(0.0) + row.blocked_s.unwrap_or(0.0) + row.unknown_s
}

/// CPUs as ranges: "0-3,6".
fn cpus(cpus: &[u16]) -> String {
    if cpus.is_empty() {
        return ABSENT.to_owned();
    }
    let list: Vec<u32> = cpus.iter().map(|cpu| u32::from(*cpu)).collect();
    cpu_list::show(&list)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(parent: Option<usize>) -> TreeRow {
        TreeRow { parent, command: "x".into(), processes: 1, cpu_s: 0.0, life_s: 0.0 }
    }

    #[test]
    fn rows_follow_their_parents_whatever_their_order() {
        let tree = [row(None), row(Some(0)), row(None), row(Some(0)), row(Some(1))];
        assert_eq!(in_order(&tree), [(0, 0), (1, 1), (4, 2), (3, 1), (2, 0)]);
    }

    #[test]
    fn a_damaged_tree_ends() {
        let tree = [row(Some(0)), row(Some(9)), row(Some(3)), row(Some(2))];
        assert_eq!(in_order(&tree), [(0, 0), (1, 0)]);
    }
}
