//! Why they differ: the causes from one time to the other, the parts of both critical paths, the CPU time, and what was tried.

use maud::{Markup, html};
use whyfaster_core::record::Record;
use whyfaster_core::trace::report::{PathKind, PathRow, WorkKind, WorkRow};
use whyfaster_core::why::report::{Account, Difference, Experiment, Finding};
use whyfaster_words::grid::{Column, Grid, Group, or_absent};
use whyfaster_words::look::Look;
use whyfaster_words::text::{capitalise, pieces};
use whyfaster_words::units::Scale;
use whyfaster_words::why::title;

use super::super::names::Names;
use super::super::section::scale;
use super::super::trace::path::{parts, what};
use super::super::why::findings::{Row, evidence, heading, outcome, rows};
use super::super::why::shown::{Shown, shown};
use super::super::why::{refused, sentences};
use super::figures::experiments;
use super::figures::stacked::{self, Bar, Part};
use super::figures::waterfall::{self, Step};
use super::page::{Page, Section, figure, missing};
use super::table;
use super::when::{self, When};
use whyfaster_stats::order::largest_first;

/// What explains the differences, those that were observed.
pub(super) fn sections(page: &mut Page, record: &Record, when: &[When<'_>], names: &Names, look: &Look) {
    page.push(Section::new("causes", "Why", causes(record, names, look)));
    page.push(Section::new("paths", "From the beginning to the end", paths(record, when, names, look)));
    page.push(Section::new("work", "What the CPUs did", work(record, names, look)));
    page.push(Section::new("experiments", "What was tried to be sure", tried(record, look)));
}

/// How causes get into a record.
const EXPLAIN: &str = "whyfaster compare --why=yes ...";

fn causes(record: &Record, names: &Names, look: &Look) -> Markup {
    let why = &record.why;
    let mut largest: Vec<&Difference> = why.differences.iter().collect();
    largest_first(&mut largest, |it| it.span_s.median.abs());
    let said = sentences(record, look);
    html! {
        @if largest.is_empty() {
            @if said.is_empty() { (missing("not in this record", "nothing was explained", Some(EXPLAIN))) }
            @else { (table::paragraphs("said", &said)) }
        }
        @for difference in largest { (difference_of(&Shown { why, difference, names, look })) }
        @if !why.differences.is_empty() && why.summary.is_empty() { (table::paragraphs("said", &refused(record, look))) }
    }
}

fn difference_of(it: &Shown<'_>) -> Markup {
    let (slow, fast) = it.sides();
    let rows = rows(it);
    let account = |name: &str| it.why.accounts.iter().find(|account| account.alternative == name);
    let unit = Scale::choose([it.whole().median.abs()], it.look.time_unit);
    let title = capitalise(&heading(it, unit));
    let steps: Vec<Step> = rows.iter().map(step).collect();
    let picture = account(fast).zip(account(slow)).and_then(|(from, to)| {
        let (faster, slower) = (it.names.show(fast), it.names.show(slow));
        let (from, to) = ((faster.as_str(), from.untraced_s), (slower.as_str(), to.untraced_s));
        waterfall::picture(title.clone(), from, to, &steps, it.look)
    });
    html! {
        @match picture {
            Some(picture) => (figure(&picture, "✓ an experiment removed the cause and its time went with it; ✗ it did not. Thin lines: intervals.")),
            None => h3 { (title) },
        }
        @for finding in rows.iter().filter_map(|row| row.finding) { (finding_of(finding, it.look)) }
    }
}

fn step(row: &Row<'_>) -> Step {
    Step {
        what: row.what.to_owned(),
        seconds: row.seconds.median,
        interval: row.seconds.low.zip(row.seconds.high),
        confirmed: row.finding.and_then(|it| it.confirmed),
        rest: row.finding.is_none_or(|it| it.cause == whyfaster_core::why::Cause::Unexplained),
    }
}

fn finding_of(it: &Finding, look: &Look) -> Markup {
    html! {
        div class="finding" {
            h3 { (capitalise(title(it.cause))) }
            p { (shown(&it.sentence, look)) }
            @if !it.remedy.is_empty() { p class="remedy" { (shown(&it.remedy, look)) } }
            p class="quiet" { (shown(&evidence(it, look), look)) }
            @if !it.functions.is_empty() { (functions(it, look)) }
        }
    }
}

fn functions(it: &Finding, look: &Look) -> Markup {
    let scale = scale(it.functions.iter().map(|f| f.seconds), look);
    let name = |f: &whyfaster_core::why::report::Function| {
        let at = f.symbol.clone().or_else(|| f.file.as_ref().map(|file| format!("[{file}]")));
        shown(&at.unwrap_or_else(|| "[made at run time]".to_owned()), look)
    };
    let grid = Grid {
        key: Column::of("function", &it.functions, name),
        groups: vec![
            Group::in_unit("costs it", scale.name, &it.functions, |f| scale.number(f.seconds)),
            Group::of("command", &it.functions, |f| shown(&f.command, look)),
            Group::of("file", &it.functions, |f| or_absent(f.file.as_deref(), |file| shown(file, look))),
            Group::of("called from", &it.functions, |f| {
                or_absent(f.called_from.as_deref(), |from| shown(from, look))
            }),
        ],
    };
    table::table("the functions behind it", &grid.with_values())
}

/// The class of colour of a part of a path.
pub(super) fn class(kind: PathKind) -> &'static str {
    match kind {
        PathKind::User => "k-user",
        PathKind::Kernel => "k-kernel",
        PathKind::Startup | PathKind::Forked => "k-start",
        PathKind::CpuWait => "k-wait",
        PathKind::Disk | PathKind::WriteBack | PathKind::Network | PathKind::Terminal => "k-io",
        PathKind::Lock | PathKind::Sleep | PathKind::Stopped | PathKind::Outside => "k-block",
        PathKind::Unknown | PathKind::Unobserved | PathKind::Lost => "k-none",
    }
}

/// The parts of a path, those that read the same together, kind by kind.
pub(super) fn bar(name: String, path: &[PathRow], look: &Look) -> Bar {
    let kinds = ["k-start", "k-user", "k-kernel", "k-wait", "k-io", "k-block", "k-none"];
    let mut all: Vec<Part> = Vec::new();
    for kind in kinds {
        let mut of_kind: Vec<Part> = Vec::new();
        for row in path.iter().filter(|row| class(row.kind) == kind) {
            let what = what(row, look);
            match of_kind.iter_mut().find(|part| part.what == what) {
                Some(part) => part.seconds += row.seconds,
                None => of_kind.push(Part { class: kind, what, seconds: row.seconds }),
            }
        }
        largest_first(&mut of_kind, |it| it.seconds);
        all.extend(of_kind);
    }
    Bar { name, parts: all }
}

fn paths(record: &Record, when: &[When<'_>], names: &Names, look: &Look) -> Markup {
    let accounts: Vec<&Account> =
        record.why.accounts.iter().filter(|it| !it.critical_path.is_empty()).collect();
    let bars: Vec<Bar> =
        accounts.iter().map(|it| bar(names.show(&it.alternative), &it.critical_path, look)).collect();
    let Some(picture) = stacked::picture("The critical path of each, aligned".to_owned(), &bars, look) else {
        return missing("not in this record", "no run was observed", Some(EXPLAIN));
    };
    let caption = "The chain of running and waiting that the end had to wait for, medians of the observed runs brought to the untraced time. \
                   The parts of a bar sum to the time; they are sorted by kind.";
    let rows = joined(&accounts, |it| {
        parts(&it.critical_path, look).into_iter().map(|part| (part.what, part.seconds)).collect()
    });
    html! {
        (figure(&picture, caption))
        (when::paths(when, look))
        (side_by_side("part of the critical path", &accounts, &rows, names, look))
    }
}

/// A row for everything that any of them has, with the seconds of each, the largest first.
fn joined(
    accounts: &[&Account],
    of: impl Fn(&Account) -> Vec<(String, f64)>,
) -> Vec<(String, Vec<Option<f64>>)> {
    let mut rows: Vec<(String, Vec<Option<f64>>)> = Vec::new();
    for (at, account) in accounts.iter().enumerate() {
        for (what, seconds) in of(account) {
            let row = match rows.iter().position(|(known, _)| *known == what) {
                Some(row) => row,
                None => {
                    rows.push((what, vec![None; accounts.len()]));
                    rows.len() - 1
                }
            };
            *rows[row].1[at].get_or_insert(0.0) += seconds;
        }
    }
    let most = |row: &(String, Vec<Option<f64>>)| row.1.iter().flatten().copied().fold(0.0, f64::max);
    largest_first(&mut rows, most);
    rows
}

fn side_by_side(
    what: &'static str,
    accounts: &[&Account],
    rows: &[(String, Vec<Option<f64>>)],
    names: &Names,
    look: &Look,
) -> Markup {
    let scale = scale(rows.iter().flat_map(|row| row.1.iter().flatten().copied()), look);
    let column = |at: usize, it: &Account| {
        let header = format!("{} {}", names.show(&it.alternative), scale.name);
        Column::of(header, rows, |row| or_absent(row.1[at], |seconds| scale.number(seconds)))
    };
    let columns = accounts.iter().enumerate().map(|(at, it)| column(at, it)).collect();
    let grid = Grid {
        key: Column::of(what, rows, |row| row.0.clone()),
        groups: vec![Group::new("seconds", columns)],
    };
    table::table(what, &grid)
}

/// CPU time by what it was spent on, all commands together, kind by kind.
pub(super) fn parts_of_work(work: &[WorkRow]) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for row in work {
        let what = row.kind.words().to_owned();
        match parts.iter_mut().find(|part| part.what == what) {
            Some(part) => part.seconds += row.seconds,
            None => parts.push(Part { class: class_of_work(row.kind), what, seconds: row.seconds }),
        }
    }
    parts.sort_by(|a, b| a.class.cmp(b.class).then(b.seconds.total_cmp(&a.seconds)));
    parts
}

/// The class of colour of a kind of work.
fn class_of_work(kind: WorkKind) -> &'static str {
    match kind {
        WorkKind::User => "k-user",
        WorkKind::Startup | WorkKind::Process | WorkKind::Exec => "k-start",
        _ => "k-kernel",
    }
}

fn work(record: &Record, names: &Names, look: &Look) -> Markup {
    let accounts: Vec<&Account> = record.why.accounts.iter().filter(|it| !it.work.is_empty()).collect();
    let of = |it: &Account| -> Vec<(String, f64)> {
        it.work.iter().map(|row| (row.kind.words().to_owned(), row.seconds)).collect()
    };
    let bars: Vec<Bar> = accounts
        .iter()
        .map(|it| Bar { name: names.show(&it.alternative), parts: parts_of_work(&it.work) })
        .collect();
    let Some(picture) =
        stacked::picture("CPU time of one copy, by what it was spent on".to_owned(), &bars, look)
    else {
        return missing("not in this record", "no run was observed", Some(EXPLAIN));
    };
    let deciding = record.why.differences.iter().filter(|it| !it.deciding.is_empty());
    html! {
        (figure(&picture, "CPU seconds of the whole process tree. Once all CPUs are busy, this decides."))
        @for it in deciding { p { (shown(&it.deciding, look)) } }
        (side_by_side("kind of work", &accounts, &joined(&accounts, of), names, look))
    }
}

fn tried(record: &Record, look: &Look) -> Markup {
    let all = &record.why.experiments;
    html! {
        @if all.is_empty() { (missing("not in this record", "no experiment was made", Some(EXPLAIN))) }
        @for it in all { (experiment(it, look)) }
    }
}

fn experiment(it: &Experiment, look: &Look) -> Markup {
    let word: String = pieces(&outcome(it.outcome)).into_iter().map(|(_, text)| text).collect();
    let heading = format!("{}: {word}", capitalise(title(it.cause)));
    let picture = experiments::picture(it, heading.clone(), look);
    html! {
        div class="finding" {
            @if picture.is_none() { h3 { (heading) } }
            @if let Some(picture) = picture { (figure(&picture, "Untraced runs in turns; the upright line is the median.")) }
            @if !it.prediction.is_empty() { p { b { "Before: " } (shown(&it.prediction, look)) } }
            p { b { "After: " } (shown(&it.sentence, look)) }
            @if let Some(command) = &it.command { p class="quiet" { "changed command: " (table::code(command)) } }
        }
    }
}
