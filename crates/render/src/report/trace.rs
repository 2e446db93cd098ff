//! The page of a trace: where the time of one process tree went.

use maud::{Markup, html};
use whyfaster_core::trace::record::TraceRecord;
use whyfaster_core::trace::report::{CommandRow, TraceReport};
use whyfaster_core::trace::table::{Order, Together, table as together};
use whyfaster_words::clean::clean;
use whyfaster_words::display::Detail;
use whyfaster_words::look::Look;
use whyfaster_words::units::{duration, time};

use super::super::names::Names;
use super::super::notes;
use super::super::trace::{Shown, next, screen, sections, times};
use super::comparison::plain;
use super::data::{Download, Table, cell};
use super::figures::stacked::{self, Bar, Part};
use super::page::{Page, Section, figure, minute, missing};
use super::when::When;
use super::{look_of_page, look_of_text, machine, observed, table, when, why};
use whyfaster_stats::order::largest_first;

/// The page; `raw` are the bytes of the record as a file.
pub fn trace(record: &TraceRecord, shown: &Shown, raw: &[u8], look: &Look) -> anyhow::Result<Page> {
    let look = &look_of_page(look);
    let report = &record.report;
    let answer = screen(report, shown, &Look { detail: Detail::Sentence, ..look.clone() });
    let kernel = record.host.before.kernel.as_deref().unwrap_or("a kernel that is not known");
    let started = minute(&record.started);
    let mut page = Page {
        about: clean(&format!("trace, {started}, {kernel}")),
        answer: answer.trim_end().to_owned(),
        ..Page::default()
    };
    page.lead = lead(record, look);
    let when = [when::of_trace(record, &shorter(&shown.command))?];
    page.push(Section::new("path", "From the beginning to the end", path(report, &when, look)));
    page.push(Section::new("commands", "Where the time of each command went", commands(report, shown, look)));
    let body = when::timelines(&mut page, &when, look)?;
    page.push(Section::new("timeline", "Who ran when", body));
    let body = observed::flame_of(&mut page, report, &shorter(&shown.command));
    page.push(Section::new("flame", "Where in the code", body));
    page.push(Section::new("work", "What the CPUs did", work(report, look)));
    page.push(Section::new("calls", "System calls", calls(report, look)));
    let text = look_of_text(look);
    for (id, title, lines) in sections(report, &Shown { top: 0, ..shown.clone() }, &text) {
        let body = match lines.is_empty() {
            true => {
                missing("not in this record", "nothing of it was seen at this level, or there was none", None)
            }
            false => html! { pre class="scroll text" tabindex="0" { (plain(&lines)) } },
        };
        page.push(Section::new(id, title, body));
    }
    page.push(Section::new("machine", "The machine", machine::machine(&record.host)));
    page.push(Section::new("plan", "What was run", plan(record, shown)));
    let whole = screen(report, shown, &text);
    page.push(Section::new(
        "text",
        "As the terminal prints it",
        table::terminal("whyfaster show -vv", &whole),
    ));
    page.downloads.push(Download::json("trace.json", "the record, for whyfaster show and report", raw));
    page.downloads.extend(tables(report));
    Ok(page)
}

/// A command that fits beside a picture.
fn shorter(command: &str) -> String {
    whyfaster_words::text::shorten(&clean(command), 40, true)
}

fn lead(record: &TraceRecord, look: &Look) -> Markup {
    let report = &record.report;
    let doubts = notes::statements(&report.warnings, &report.not_measured, &Names::of(&[], look), look);
    let next: Vec<String> = next::next(report, look).into_iter().collect();
    html! {
        dl class="legend" { div { dt { "command" } dd { (table::code(&record.plan.target.words())) } } }
        @if !next.is_empty() { div class="why" { (table::paragraphs("said", &next)) } }
        @if !doubts.is_empty() { div class="doubts" role="note" { (table::paragraphs("said", &doubts)) } }
    }
}

fn path(report: &TraceReport, when: &[When<'_>], look: &Look) -> Markup {
    let bars = [why::bar("critical path".to_owned(), &report.critical_path, look)];
    let Some(picture) =
        stacked::picture("The critical path, by what it was spent on".to_owned(), &bars, look)
    else {
        let why = "the critical path needs every switch and wake-up, which the full level sees";
        return missing("not measured", why, Some("whyfaster doctor"));
    };
    let rows = super::super::trace::path::parts(&report.critical_path, look);
    let scale = super::super::section::scale(rows.iter().map(|row| row.seconds), look);
    let cells = rows.iter().map(|row| {
        vec![
            row.what.clone(),
            scale.number(row.seconds),
            super::super::trace::path::share(row.seconds, report.wall_s),
        ]
    });
    let header = ["part of the critical path".to_owned(), format!("time {}", scale.name), "part".to_owned()];
    html! {
        (figure(&picture, "The chain of running and waiting that the end had to wait for. The parts sum to the wall time; they are sorted by kind."))
        (when::paths(when, look))
        (table::rows("the parts of the critical path", header.to_vec(), cells))
    }
}

fn commands(report: &TraceReport, shown: &Shown, look: &Look) -> Markup {
    const MOST: usize = 16;
    let life =
        |row: &&CommandRow| row.running_s + row.runnable_s.unwrap_or(0.0) + row.blocked_s.unwrap_or(0.0);
    let mut rows: Vec<&CommandRow> = report.commands.iter().collect();
    largest_first(&mut rows, life);
    let parts = |row: &&CommandRow| {
        let known = row.running_user_s.zip(row.running_kernel_s);
        let running = match known {
            Some((user, kernel)) => vec![("k-user", "user code", user), ("k-kernel", "kernel", kernel)],
            None => vec![("k-user", "on a CPU", row.running_s)],
        };
        let waiting = [
            ("k-wait", "waiting for a CPU", row.runnable_s.unwrap_or(0.0)),
            ("k-block", "waiting for others or asleep", row.blocked_s.unwrap_or(0.0)),
            ("k-none", "not known", row.unknown_s),
        ];
        let part = |(class, what, seconds): (&'static str, &str, f64)| Part {
            class,
            what: what.to_owned(),
            seconds,
        };
        Bar { name: clean(&row.command), parts: running.into_iter().chain(waiting).map(part).collect() }
    };
    let bars: Vec<Bar> = rows.iter().take(MOST).map(parts).collect();
    let table = times::commands(report, &Shown { top: 0, ..shown.clone() }, &look_of_text(look));
    html! {
        @match stacked::picture("The lives of each command's tasks, added up".to_owned(), &bars, look) {
            Some(picture) => (figure(&picture, "Tasks live at the same time, so these sums may be longer than the wall time.")),
            None => (missing("not measured", "no task was seen at this level", Some("whyfaster doctor"))),
        }
        pre class="scroll text" tabindex="0" { (plain(&table)) }
    }
}

fn work(report: &TraceReport, look: &Look) -> Markup {
    let parts = why::parts_of_work(&report.work);
    let bars = [Bar { name: "CPU time".to_owned(), parts }];
    let lines = super::super::trace::path::work(&report.work, 0, &look_of_text(look));
    match stacked::picture("CPU time by what it was spent on".to_owned(), &bars, look) {
        Some(picture) => html! {
            (figure(&picture, "CPU seconds of the whole process tree."))
            pre class="scroll text" tabindex="0" { (plain(&lines)) }
        },
        None => missing(
            "not measured",
            "this level does not see what CPU time is spent on",
            Some("whyfaster doctor"),
        ),
    }
}

fn calls(report: &TraceReport, look: &Look) -> Markup {
    let rows = together(&report.syscalls, Together::All, Order::Time);
    match rows.is_empty() {
        true => missing("not measured", "this level does not see system calls", Some("whyfaster doctor")),
        false => observed::compared(&[("all", rows)], look),
    }
}

fn plan(record: &TraceRecord, shown: &Shown) -> Markup {
    let runs = &record.runs.untraced_s;
    let facts = [
        ("began", Some(record.started.clone())),
        ("took, untraced runs included", Some(duration(record.took_s))),
        ("traced run", record.runs.traced_s.map(|it| time(it, None))),
        (
            "untraced runs",
            (!runs.is_empty()).then(|| runs.iter().map(|it| time(*it, None)).collect::<Vec<_>>().join(", ")),
        ),
        ("as", shown.as_whom.clone()),
        ("exit status", record.exit_status.map(|it| it.to_string())),
        ("version", Some(record.tool_version.clone())),
    ];
    let facts = facts.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    html! {
        (table::lines(&record.plan.target.words()))
        (table::facts(facts))
    }
}

/// The rows of the report as tables.
fn tables(report: &TraceReport) -> Vec<Download> {
    let mut calls = Table::new(&[
        "command",
        "call",
        "calls",
        "errors",
        "total_s",
        "max_s",
        "cpu_s",
        "runnable_s",
        "blocked_s",
    ]);
    for row in &report.syscalls {
        calls.row([
            row.command.as_ref().map(ToString::to_string).unwrap_or_default(),
            row.name.clone(),
            row.calls.to_string(),
            row.errors.to_string(),
            cell(row.total_s),
            cell(row.max_s),
            cell(row.cpu_s),
            cell(row.runnable_s),
            cell(row.blocked_s),
        ]);
    }
    let mut tasks = Table::new(&[
        "command",
        "pid",
        "tid",
        "from_s",
        "to_s",
        "running_s",
        "running_user_s",
        "running_kernel_s",
        "runnable_s",
        "blocked_s",
        "unknown_s",
    ]);
    for row in &report.tasks {
        tasks.row([
            row.command.to_string(),
            row.pid.to_string(),
            row.tid.to_string(),
            row.from_s.to_string(),
            row.to_s.to_string(),
            row.running_s.to_string(),
            cell(row.running_user_s),
            cell(row.running_kernel_s),
            cell(row.runnable_s),
            cell(row.blocked_s),
            row.unknown_s.to_string(),
        ]);
    }
    let mut all = Vec::new();
    if !report.syscalls.is_empty() {
        all.push(Download::csv("calls.csv", "system calls as a table", calls));
    }
    if !report.tasks.is_empty() {
        all.push(Download::csv("tasks.csv", "tasks with their states as a table", tasks));
    }
    all
}
