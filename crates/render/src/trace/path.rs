//! The critical path, what CPU time was spent on, and the data that was moved.

use whyfaster_core::trace::event::FileKind;
use whyfaster_core::trace::report::{
    Direction, PathAlternative, PathKind, PathRow, SharerKind, TraceReport, TransferRow, WorkKind, WorkRow,
};
use whyfaster_core::trace::table::{Folded, Timed, fold};
use whyfaster_words::display::TOP;
use whyfaster_words::grid::{ABSENT, Column, Grid, Group, or_absent};
use whyfaster_words::look::Look;
use whyfaster_words::phrases::count;
use whyfaster_words::text::{for_look, shorten, width, wrap_indented};
use whyfaster_words::units::{digits, memory_scale, time};

use super::super::section::{name, scale, section};
use super::sentence::thousands;

/// Parts below this share of all stand together in one row, unless more rows were asked for.
const LEAST: f64 = 0.005;

/// Columns that the numbers take beside a label.
const NUMBERS: usize = 31;

/// The least that a label is cut to, the width of its header: below it parts could not be told from each other.
const LABEL: usize = 20;

/// The longest rows, and how many others there are; all for 0.
fn shown<T: Timed>(rows: &[T], top: usize) -> Folded<'_, T> {
    match top {
        0 => fold(rows, 0.0, usize::MAX),
        TOP => fold(rows, LEAST, TOP),
        top => fold(rows, 0.0, top),
    }
}

fn others(others: usize, look: &Look) -> String {
    let said = match others {
        1 => "1 other, less (--top 0 shows it)".to_owned(),
        others => format!("{others} others, each less (--top 0 shows all)"),
    };
    if width(&said) <= look.width.saturating_sub(NUMBERS) {
        said
    } else {
        count(others as u64, "other", "others")
    }
}

pub(in super::super) fn share(seconds: f64, all_s: f64) -> String {
    if all_s > 0.0 { format!("{:.1}%", seconds / all_s * 100.0) } else { ABSENT.to_owned() }
}

/// Which chain of running and waiting took from the beginning to the end.
pub(crate) fn critical_path(report: &TraceReport, top: usize, look: &Look) -> Vec<String> {
    let path = &report.critical_path;
    let mut lines = chain(path, top, look);
    if !lines.is_empty() {
        lines.extend(beside_idle(path, look));
    }
    let nearly = nearly_as_long(&report.critical_alternatives, report.wall_s, look);
    lines.extend(nearly.iter().flat_map(|text| wrap_indented(text, look.width, 2)));
    lines
}

/// The chain alone.
pub(super) fn chain(path: &[PathRow], top: usize, look: &Look) -> Vec<String> {
    if path.is_empty() {
        return Vec::new();
    }
    let parts = parts(path, look);
    let folded = shown(&parts, top);
    let mut rows: Vec<Part> = folded.rows.iter().map(|part| (*part).clone()).collect();
    if folded.others > 0 {
        rows.push(Part { what: others(folded.others, look), seconds: folded.others_s, count: 0 });
    }
    let scale = scale(rows.iter().map(|row| row.seconds), look);
    let times = |row: &Part| if row.count > 0 { thousands(row.count) } else { ABSENT.to_owned() };
    let groups = vec![
        Group::in_unit("time", scale.name, &rows, |row| super::shown::number(scale, row.seconds)),
        Group::of("part", &rows, |row| share(row.seconds, folded.all_s)),
        Group::of("times", &rows, times),
    ];
    let grid = Grid { key: Column::of("on the critical path", &rows, |row| label(&row.what, look)), groups };
    let title = "critical path: from the beginning to the end; the parts sum to the wall time";
    section(title, grid, 0, look)
}

/// Alternatives that are named; the others are in `--json`.
const NAMED: usize = 3;

/// That a path is one of several.
pub(crate) fn nearly_as_long(beside: &[PathAlternative], all_s: f64, look: &Look) -> Option<String> {
    let path = |it: &PathAlternative| {
        let less = format!("{} ({}) less", time(it.slack_s, look.time_unit), share(it.slack_s, all_s));
        format!("through '{}', {less}", name(&it.command, look))
    };
    let mut said: Vec<String> = beside.iter().take(NAMED).map(path).collect();
    if beside.len() > NAMED {
        said.push(format!("{} more", beside.len() - NAMED));
    }
    let is = if beside.len() == 1 { "another path is" } else { "other paths are" };
    (!said.is_empty()).then(|| {
        format!("{is} nearly as long: {}; making only one of them faster wins little", said.join("; "))
    })
}

/// What of the waiting for a CPU need not have been.
fn beside_idle(path: &[PathRow], look: &Look) -> Vec<String> {
    let sum = |part: fn(&PathRow) -> f64| path.iter().map(part).sum::<f64>();
    let kinds = [
        (sum(|row| row.avoidable_s - row.by_pinning_s), "while another CPU that was allowed stood idle"),
        (sum(|row| row.by_pinning_s), "while one stood idle that only a pin forbade"),
        (sum(|row| row.but_for_affinity_s), "while one stood idle that was not open to it"),
    ];
    let said: Vec<String> = kinds
        .into_iter()
        .filter(|(seconds, _)| *seconds > 0.0)
        .map(|(seconds, when)| format!("{} {when}", time(seconds, look.time_unit)))
        .collect();
    if said.is_empty() {
        return Vec::new();
    }
    wrap_indented(&format!("of the waiting for a CPU: {}", said.join(", ")), look.width, 2)
}

/// Rows of the path that read the same.
#[derive(Clone, Debug)]
pub(in super::super) struct Part {
    pub(in super::super) what: String,
    pub(in super::super) seconds: f64,
    count: u64,
}

impl Timed for Part {
    fn seconds(&self) -> f64 {
        self.seconds
    }
}

/// What had been waited for before a CPU was is in --json: here such rows are one.
pub(in super::super) fn parts(path: &[PathRow], look: &Look) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for row in path {
        let what = what(row, look);
        match parts.iter_mut().find(|part| part.what == what) {
            Some(part) => {
                part.seconds += row.seconds;
                part.count += row.count;
            }
            None => parts.push(Part { what, seconds: row.seconds, count: row.count }),
        }
    }
    parts
}

/// A label that leaves room for the numbers.
fn label(text: &str, look: &Look) -> String {
    shorten(text, look.width.saturating_sub(NUMBERS).max(LABEL), look.unicode)
}

/// What a part of the path is, in words.
pub(in super::super) fn what(row: &PathRow, look: &Look) -> String {
    let who = name(&row.command, look);
    let of = row.what.as_deref().map(|what| name(what, look));
    let words = match (row.kind, of) {
        (PathKind::Kernel, Some(group)) => {
            let kind = row.what.as_deref().and_then(WorkKind::from_name);
            let kind = kind.map_or(group, |kind| kind.words().to_owned());
            let calls = row.calls.join(", ");
            if calls.is_empty() { format!("in the kernel: {kind}") } else { format!("in {calls}: {kind}") }
        }
        (PathKind::CpuWait, Some(holder)) => format!("waiting: CPU {}", held(row.holder, &holder)),
        (PathKind::Lock, Some(holder)) => format!("waiting for a lock that {holder} let go"),
        (PathKind::Outside, Some(other)) => format!("waiting for {other}, outside the tree"),
        (PathKind::Network, Some(other)) => format!("waiting for the network, ended by {other}"),
        (kind, _) => kind.words().to_owned(),
    };
    format!("{who}: {words}")
}

/// Who held the CPU.
fn held(kind: Option<SharerKind>, holder: &str) -> String {
    match kind {
        Some(SharerKind::Kernel) => format!("held by {holder} (kernel)"),
        Some(SharerKind::Other) => format!("held by {holder} (outside)"),
        Some(SharerKind::Tool) => "held by whyfaster itself".to_owned(),
        Some(SharerKind::Idle) => "had to wake up".to_owned(),
        Some(SharerKind::Throttled) => "quota was used up".to_owned(),
        Some(SharerKind::Steal) => "held by the hypervisor".to_owned(),
        Some(SharerKind::Unknown) => "held by a task that was not shown".to_owned(),
        Some(SharerKind::Tree) | None => format!("held by {holder}"),
    }
}

/// What CPU time was spent on.
pub(crate) fn work(work: &[WorkRow], top: usize, look: &Look) -> Vec<String> {
    if work.is_empty() {
        return Vec::new();
    }
    let folded = shown(work, top);
    let estimated = folded.rows.iter().any(|row| row.estimated);
    let mut rows: Vec<(String, f64, Option<&WorkRow>)> = folded
        .rows
        .iter()
        .map(|row| {
            let mark = if row.estimated { " (estimated)" } else { "" };
            {
                let what = format!("{}: {}{mark}", name(&row.command, look), row.kind.words());
                (label(&what, look), row.seconds, Some(*row))
            }
        })
        .collect();
    if folded.others > 0 {
        rows.push((others(folded.others, look), folded.others_s, None));
    }
    let scale = scale(rows.iter().map(|(_, seconds, _)| *seconds), look);
    let priced = |value: Option<f64>| or_absent(value, |v| super::shown::number(scale, v));
    let mut groups = vec![
        Group::in_unit("CPU", scale.name, &rows, |(_, seconds, _)| super::shown::number(scale, *seconds)),
        Group::of("share", &rows, |(_, seconds, _)| share(*seconds, folded.all_s)),
        Group::of("operations", &rows, |(.., row)| or_absent(row.and_then(|row| row.count), thousands)),
    ];
    if folded.rows.iter().any(|row| row.priced_s.is_some()) {
        groups.push(Group::of("at its price", &rows, |(.., row)| priced(row.and_then(|row| row.priced_s))));
    }
    let grid = Grid { key: Column::of("work", &rows, |(what, ..)| what.clone()), groups };
    let mut title = "work: what CPU time was spent on; the parts sum to the CPU time".to_owned();
    if estimated {
        title += "; estimated = count times price, out of user code";
    }
    section(&title, grid, 0, look)
}

/// Data moved, by command and what it went through.
pub(crate) fn transfers(transfers: &[TransferRow], top: usize, look: &Look) -> Vec<String> {
    moved("data moved by system calls", transfers, top, look)
}

/// The same of files, those that took the longest first.
pub(crate) fn files(files: &[TransferRow], top: usize, look: &Look) -> Vec<String> {
    moved("data of files, by CPU time", files, top, look)
}

fn moved(title: &str, transfers: &[TransferRow], top: usize, look: &Look) -> Vec<String> {
    let most = if top == 0 { usize::MAX } else { top };
    let rows: Vec<&TransferRow> = transfers.iter().filter(|row| row.calls > 0).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let hidden = rows.len().saturating_sub(most);
    let rows = &rows[..rows.len() - hidden];
    let scale = scale(rows.iter().filter_map(|row| row.cpu_s), look);
    let through = |row: &&TransferRow| {
        let way = match row.direction {
            Direction::Read => "from",
            Direction::Write => "to",
        };
        let path = |path: &String| shorten(&for_look(path, look), (look.width / 3).max(LABEL), look.unicode);
        let what = row.path.as_ref().map_or_else(|| file_words(row.file).to_owned(), path);
        format!("{} {way} {what}", name(&row.command, look))
    };
    let each = |row: &&TransferRow| size(row.bytes / row.calls.max(1));
    let all = |row: &&TransferRow| size(row.bytes);
    let cpu = |row: &&TransferRow| or_absent(row.cpu_s, |cpu| super::shown::number(scale, cpu));
    let grid = Grid {
        key: Column::of("data moved", rows, through),
        groups: vec![
            Group::of("bytes", rows, all),
            Group::of("calls", rows, |row| thousands(row.calls)),
            Group::of("a call", rows, each),
            Group::in_unit("CPU", scale.name, rows, cpu),
        ],
    };
    section(title, grid, hidden, look)
}

/// A size in the unit in which it reads best.
fn size(bytes: u64) -> String {
    let (unit, one) = memory_scale([bytes]);
    #[allow(clippy::cast_precision_loss, reason = "a size to be read, with three digits")]
    let number = bytes as f64 / one;
    format!("{} {unit}", digits(number))
}

fn file_words(file: FileKind) -> &'static str {
    match file {
        FileKind::None => "a descriptor that was not told",
        FileKind::Pipe => "a pipe",
        FileKind::File => "a file",
        FileKind::BlockDevice => "a block device",
        FileKind::Terminal => "a terminal",
        FileKind::CharDevice => "a character device",
        FileKind::UnixSocket => "a local socket",
        FileKind::Socket => "a socket",
        FileKind::Other => "something else",
    }
}
