//! Why tasks were blocked, who held the CPU while they waited for one, which stage starves which, what was searched.

use std::collections::BTreeSet;

use whyfaster_core::trace::report::{Cause, SharerKind, SharerRow, StageRow, TraceReport, WaitRow};
use whyfaster_core::trace::table::{Folded, fold};
use whyfaster_words::display::TOP;
use whyfaster_words::grid::{ABSENT, Column, Grid, Group, or_absent};
use whyfaster_words::look::Look;
use whyfaster_words::text::{Tone, for_look, tone, wrap_indented};
use whyfaster_words::units::{digits, time};

use super::super::section::{name, quiet, scale, section};
use super::sentence::{of, thousands};
use super::shown::Shown;

/// Below this share a holder of the CPU is one of the others, and a cause of blocking is left out, unless all rows are
/// asked for.
const LEAST_HOLDER: f64 = 0.02;
const LEAST_CAUSE: f64 = 0.001;
/// Holders that are shown unless told otherwise.
const HOLDERS: usize = 8;

/// Blocked time by cause, with who was at the other end.
pub(super) fn causes(report: &TraceReport, shown: &Shown, look: &Look) -> Vec<String> {
    let least = if shown.top == 0 { 0.0 } else { LEAST_CAUSE };
    let Folded { rows, others: hidden, .. } = fold(&report.waits, least, shown.rows());
    if rows.is_empty() {
        return Vec::new();
    }
    let scale = scale(rows.iter().map(|row| row.seconds), look);
    let each = |row: &&WaitRow| match row.count {
        0 => ABSENT.to_owned(),
        count => time(row.seconds / count as f64, look.time_unit),
    };
    let text = |row: &&WaitRow| {
        let peer = row.peer.as_deref().map_or_else(String::new, |peer| format!(": {}", name(peer, look)));
        format!("{} {}{peer}", name(&row.command, look), waited(row.cause))
    };
    let mut groups = vec![
        Group::in_unit("time", scale.name, &rows, |row| super::shown::number(scale, row.seconds)),
        Group::of("times", &rows, |row| thousands(row.count)),
        Group::of("each", &rows, each),
    ];
    if rows.iter().any(|row| row.unfinished > 0) {
        groups.push(Group::of("unfinished", &rows, |row| thousands(row.unfinished)));
    }
    let grid = Grid { key: Column::of("blocked", &rows, text), groups };
    section("blocked: who waited for what, and who was at the other end", grid, hidden, look)
}

fn waited(cause: Cause) -> &'static str {
    match cause {
        Cause::PipeEmpty => "for input (pipe empty)",
        Cause::PipeFull => "for room (pipe full)",
        Cause::Child => "for a child",
        Cause::Disk => "for a disk",
        Cause::WriteBack => "for write-back to a disk",
        Cause::Lock => "for a lock",
        Cause::Timer => "until a time (sleep, timeout)",
        Cause::Network => "for the network",
        Cause::Terminal => "for a terminal",
        Cause::Stopped => "stopped",
        Cause::PageFault => "in a page fault",
        Cause::OtherProcess => "for another process",
        Cause::Other => "for something else",
        Cause::Lost => "not known: records were lost",
    }
}

/// Who held the CPU, and how much of the wait was avoidable.
pub(super) fn sharers(report: &TraceReport, shown: &Shown, look: &Look) -> Vec<String> {
    let (least, most) = match shown.top {
        0 => (0.0, usize::MAX),
        TOP => (LEAST_HOLDER, HOLDERS),
        top => (0.0, top),
    };
    let folded = fold(&report.cpu_sharers, least, most);
    let mut rows: Vec<(String, f64)> = folded
        .rows
        .iter()
        .map(|row| (format!("{}: {}", name(&row.command, look), holder(row, look)), row.seconds))
        .collect();
    if folded.others > 0 {
        rows.push((format!("{} others, each less (--top 0 shows all)", folded.others), folded.others_s));
    }
    let mut lines = Vec::new();
    if !rows.is_empty() {
        let scale = scale(rows.iter().map(|(_, seconds)| *seconds), look);
        let share = |seconds: f64| match folded.all_s > 0.0 {
            true => format!("{:.1}%", seconds / folded.all_s * 100.0),
            false => ABSENT.to_owned(),
        };
        let grid = Grid {
            key: Column::of("who waited: behind whom", &rows, |(who, _)| who.clone()),
            groups: vec![
                Group::in_unit("time", scale.name, &rows, |(_, seconds)| {
                    super::shown::number(scale, *seconds)
                }),
                Group::of("share", &rows, |(_, seconds)| share(*seconds)),
            ],
        };
        lines.extend(section("waiting for a CPU: who held it", grid, 0, look));
    }
    lines.extend(avoidable(report, look));
    lines
}

fn holder(row: &SharerRow, look: &Look) -> String {
    let who = name(&row.sharer, look);
    match row.kind {
        SharerKind::Tree => format!("{who} (of this tree)"),
        SharerKind::Kernel => format!("{who} (kernel)"),
        SharerKind::Other => format!("{who} (another program)"),
        SharerKind::Tool => "whyfaster itself".to_owned(),
        SharerKind::Idle => "nobody, the CPU had to wake up".to_owned(),
        SharerKind::Throttled => "nobody, the cgroup's quota was used up".to_owned(),
        SharerKind::Steal => "the hypervisor".to_owned(),
        SharerKind::Unknown => "unknown".to_owned(),
    }
}

fn avoidable(report: &TraceReport, look: &Look) -> Vec<String> {
    let Some(seconds) = report.avoidable_wait_s else { return Vec::new() };
    let longest = report
        .avoidable_longest_s
        .filter(|_| seconds > 0.0)
        .map_or_else(String::new, |longest| format!(" (the longest {})", time(longest, look.time_unit)));
    let text = if seconds > 0.0 {
        let text = format!(
            "avoidable: {}{longest}: another CPU that was open to it stood idle meanwhile",
            time(seconds, look.time_unit)
        );
        tone(Tone::Unsure, &text)
    } else if report.cpu_sharers.iter().all(|row| row.seconds <= 0.0) {
        // Nothing waited for a CPU.
        return Vec::new();
    } else {
        "avoidable: none: no other CPU that was open to it stood idle meanwhile".to_owned()
    };
    let text = text + &beside(report, look);
    wrap_indented(&text, look.width, 2)
}

/// What looks like avoidable waiting, or hides in it.
fn beside(report: &TraceReport, look: &Look) -> String {
    let Some(beside) = &report.avoidable else { return String::new() };
    let text = |seconds: f64| time(seconds, look.time_unit);
    let mut parts = Vec::new();
    let elsewhere = match beside.by_pinning_s {
        Some(_) => {
            "more would be, had the command been given every CPU (cpuset, the affinity it was started with)"
        }
        None => "more would be, had the tasks been allowed on every CPU (--pin, taskset, cpuset)",
    };
    let more = [
        (beside.by_pinning_s, "of it only because the tasks were pinned (--pin, taskset)"),
        (
            Some(beside.threshold_s),
            "at the beginning of every wait is left out, as waking up takes that long",
        ),
        (beside.sibling_only_s, "of it only the second hardware thread of a busy core was idle"),
        (beside.but_for_affinity_s, elsewhere),
        (Some(beside.throttled_s), "more is not counted, as the cgroup's quota was used up"),
        (beside.steal_s, "the hypervisor took the CPUs meanwhile, hidden in running and waiting"),
    ];
    parts.extend(
        more.into_iter().filter_map(|(seconds, what)| {
            seconds.filter(|s| *s > 0.0).map(|s| format!("{} {what}", text(s)))
        }),
    );
    format!("; {}", parts.join("; "))
}

/// The stages of pipelines: who starves whom, a table for each pipeline.
pub(super) fn stages(report: &TraceReport, look: &Look) -> Vec<String> {
    let mut lines = Vec::new();
    let pipelines: BTreeSet<usize> = report.stages.iter().map(|row| row.pipeline).collect();
    for pipeline in &pipelines {
        let of_it = report.stages.iter().enumerate().filter(|(_, row)| row.pipeline == *pipeline);
        lines.extend(stages_of(report, &of_it.collect::<Vec<_>>(), look));
    }
    if let Some(cpus) = report.effective_parallelism.filter(|_| !pipelines.is_empty()) {
        lines.extend(wrap_indented(&format!("effective parallelism {}", digits(cpus)), look.width, 2));
    }
    lines
}

fn stages_of(report: &TraceReport, rows: &[(usize, &StageRow)], look: &Look) -> Vec<String> {
    let values = |(_, row): &(usize, &StageRow)| [row.running_s, row.starved_s, row.held_up_s, row.other_s];
    let scale = scale(rows.iter().flat_map(values), look);
    let label = |(index, row): &(usize, &StageRow)| {
        let from: Vec<String> = row.reads_from.iter().map(|stage| (stage + 1).to_string()).collect();
        let read = report.stages.iter().any(|other| other.reads_from.contains(index));
        let from = match from.is_empty() {
            false => format!(" < {}", from.join(", ")),
            // It holds an end of a pipe, and moved nothing through it.
            true if !read => " (holds a pipe)".to_owned(),
            true => String::new(),
        };
        format!("{} {}{from}", index + 1, name(&row.command, look))
    };
    let part = |header: &'static str, value: fn(&StageRow) -> f64| {
        Group::of(header, rows, |(_, row)| super::shown::number(scale, value(row)))
    };
    let grid = Grid {
        key: Column::of("stage < reads from", rows, label),
        groups: vec![
            part("running", |row| row.running_s),
            Group::new(
                "waits for the others",
                vec![
                    Column::of("starved", rows, |(_, row)| super::shown::number(scale, row.starved_s)),
                    Column::of("held up", rows, |(_, row)| super::shown::number(scale, row.held_up_s)),
                ],
            ),
            part("wait CPU", |row| row.runnable_s),
            part("otherwise", |row| row.other_s),
            Group::of("slack", rows, |(_, row)| {
                or_absent(row.slack_s, |slack| super::shown::number(scale, slack))
            }),
            part("life", |row| row.life_s),
        ],
    };
    let title =
        format!("pipeline, {}: starved = its input was empty, held up = its output was full", scale.name);
    let mut lines = section(&title, grid, 0, look);
    lines.extend(pace(rows, look));
    lines
}

fn pace(stages: &[(usize, &StageRow)], look: &Look) -> Vec<String> {
    let label = |(index, row): &(usize, &StageRow)| format!("{} {}", index + 1, for_look(&row.command, look));
    let slowest: Vec<String> = stages.iter().filter(|(_, row)| row.bottleneck).map(label).collect();
    let mut said = Vec::new();
    if !slowest.is_empty() {
        said.push(format!(
            "the pace is set by {}, which waits least for the others",
            slowest.join(" and by ")
        ));
    }
    let near: Vec<String> = stages.iter().filter(|(_, row)| row.near).map(label).collect();
    if !near.is_empty() {
        said.push(format!(
            "but {} was busy for at least 95% of that time and may set it as well",
            near.join(", ")
        ));
    }
    if said.is_empty() { Vec::new() } else { wrap_indented(&said.join("; "), look.width, 2) }
}

/// Searches of PATH, and other execs that failed.
pub(super) fn searches(report: &TraceReport, shown: &Shown, look: &Look) -> Vec<String> {
    let hidden = report.searches.len().saturating_sub(shown.rows());
    let rows = &report.searches[..report.searches.len() - hidden];
    if rows.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![tone(Tone::Strong, "searches for programs: execs that failed on the way")];
    for row in rows {
        let errors: Vec<String> =
            row.errnos.iter().map(|(name, count)| format!("{} {name}", thousands(*count))).collect();
        let errors = if errors.is_empty() { String::new() } else { format!(" ({})", errors.join(", ")) };
        let text = format!(
            "{} looked for {} {}: {} missed{errors}, found {}",
            for_look(&row.command, look),
            for_look(&row.program, look),
            of(row.searches, "time"),
            of(row.misses, "exec"),
            thousands(row.found)
        );
        lines.extend(wrap_indented(&text, look.width, 2));
    }
    if hidden > 0 {
        lines.extend(quiet(&format!("({hidden} more; --top 0 shows all)"), look));
    }
    lines
}
