//! What observed runs showed beside the accounts: when things happened, where the code was, which calls were made.

use maud::{Markup, html};
use whyfaster_core::record::Record;
use whyfaster_core::trace::report::{SyscallRow, TraceReport};
use whyfaster_core::trace::table::{Order, Together, table as together};
use whyfaster_core::why::report::Traced;
use whyfaster_words::clean::clean;
use whyfaster_words::grid::{Column, Grid, Group, or_absent};
use whyfaster_words::look::Look;

use super::super::names::Names;
use super::super::section::scale;
use super::figures::flame::{self, View};
use super::page::{Page, Section, figure, missing};
use super::when::{self, When};
use super::{plot, table};
use whyfaster_stats::order::largest_first;

/// Timelines, flame graphs and calls of a comparison.
pub(super) fn sections(
    page: &mut Page,
    record: &Record,
    when: &[When<'_>],
    names: &Names,
    look: &Look,
) -> anyhow::Result<()> {
    let timelines = when::timelines(page, when, look)?;
    page.push(Section::new("timeline", "Who ran when", timelines));
    let flames = flames(page, record, names);
    page.push(Section::new("flame", "Where in the code", flames));
    page.push(Section::new("calls", "System calls", calls(record, names, look)));
    Ok(())
}

/// What is said of records without stacks.
const FUNCTIONS: &str = "The record holds the functions in which samples found the code and what called them, not whole stacks. \
                         'whyfaster trace --flamegraph FILE' draws those.";

/// What stacks are.
const STACKS: &str = "Samples of the observed runs, by whole stacks of user code: the topmost 4 to 8 KiB of each stack were unwound, 32 frames at \
                      most, so deep ones begin further in. What the kernel did for a call is one block below who called.";

/// What the blocks of a picture are.
const BLOCKS: &str = "Wider: more of the time. From above: command, and who called whom.";

fn flames(page: &mut Page, record: &Record, names: &Names) -> Markup {
    let alternatives = &record.plan.alternatives;
    let stacks = &record.why.stacks;
    let rows = |at: usize| -> flame::Rows {
        // All or none: blocks of functions alone are no stacks to set others against.
        if !stacks.is_empty() {
            return stacks.iter().filter(|side| side.alternative == at).flat_map(flame::of_stacks).collect();
        }
        let of = record.why.traced.iter().filter(|run| run.alternative == at);
        flame::of_functions(&of.filter_map(|run| run.report.sampled.as_ref()).collect::<Vec<_>>())
    };
    let mut sides: Vec<(usize, flame::Rows)> =
        (0..alternatives.len()).map(|at| (at, rows(at))).filter(|(_, rows)| !rows.is_empty()).collect();
    // Two can be set against each other: the pair of the largest difference.
    let largest =
        record.why.differences.iter().max_by(|a, b| a.span_s.median.abs().total_cmp(&b.span_s.median.abs()));
    if let Some(pair) = largest {
        sides.retain(|(at, _)| [&pair.alternative, &pair.baseline].contains(&&alternatives[*at].name));
    }
    sides.truncate(2);
    if sides.is_empty() {
        let why = "no samples of the code were taken, which needs the full level and a program that computes long enough";
        return missing("not in this record", why, Some("whyfaster compare --why=yes ..."));
    }
    let (at, rows): (Vec<usize>, Vec<flame::Rows>) = sides.into_iter().unzip();
    let root = flame::tree(&rows);
    let shown: Vec<String> = at.iter().map(|at| names.at(*at).unwrap_or_default()).collect();
    let id = plot(page, flame::plot(&root, &shown, "samples a run"));
    let views = (0..shown.len()).map(|side| {
        (View::Side(side), format!("{}: where its code was found", shown[side]), BLOCKS.to_owned())
    });
    let difference = (shown.len() == 2).then(|| {
        let (first, second) = (&shown[0], &shown[1]);
        let caption = format!(
            "Wider: more of the time of both together. + and red: {first} has more of it; \u{2212} and blue: {second} has."
        );
        (View::Difference, format!("{first} against {second}: where their code was found"), caption)
    });
    html! {
        p { (if stacks.is_empty() { FUNCTIONS } else { STACKS }) }
        div class="flame" data-plot=(id) {
            @for (view, title, caption) in views.chain(difference) {
                @if let Some(picture) = flame::picture(&root, view, title) { (figure(&picture, &caption)) }
            }
        }
    }
}

/// The flame graph of one trace.
pub(super) fn flame_of(page: &mut Page, report: &TraceReport, name: &str) -> Markup {
    let Some(sampled) = &report.sampled else {
        let why = "no samples of the code are in the record; a file of stacks is made by";
        return missing("not in this record", why, Some("whyfaster trace --flamegraph flame.svg ..."));
    };
    let root = flame::tree(&[flame::of_functions(&[sampled])]);
    let id = plot(page, flame::plot(&root, &[name.to_owned()], "samples"));
    let title = format!("{name}: where its code was found");
    html! {
        p { (FUNCTIONS) }
        div class="flame" data-plot=(id) {
            @if let Some(picture) = flame::picture(&root, View::Side(0), title) { (figure(&picture, BLOCKS)) }
        }
    }
}

fn calls(record: &Record, names: &Names, look: &Look) -> Markup {
    let runs: Vec<(String, &Traced, usize)> = (0..record.plan.alternatives.len())
        .filter_map(|at| {
            let of = record.why.traced.iter().filter(|run| run.alternative == at).count();
            Some((names.at(at).unwrap_or_default(), record.why.typical(at)?, of))
        })
        .filter(|(_, run, _)| !run.report.syscalls.is_empty())
        .collect();
    if runs.is_empty() {
        let why = "no run was observed that saw system calls";
        return missing("not in this record", why, Some("whyfaster compare --why=yes ..."));
    }
    let each: Vec<(&str, Vec<SyscallRow>)> = runs
        .iter()
        .map(|(name, run, _)| (name.as_str(), together(&run.report.syscalls, Together::All, Order::Time)))
        .collect();
    let said = runs.iter().map(|(name, run, of)| format!("{name}: round {} of {of}", run.round + 1));
    html! {
        (compared(&each, look))
        p class="quiet" { "One observed run of each, the one with the middle wall time: " (said.collect::<Vec<_>>().join("; ")) "." }
    }
}

/// A row for every call that any of them made.
pub(super) fn compared(each: &[(&str, Vec<SyscallRow>)], look: &Look) -> Markup {
    let mut calls: Vec<&str> = Vec::new();
    for row in each.iter().flat_map(|(_, rows)| rows) {
        if !calls.contains(&row.name.as_str()) {
            calls.push(&row.name);
        }
    }
    let find = |rows: &'_ [SyscallRow], name: &str| rows.iter().position(|row| row.name == name);
    let most =
        |name: &str| each.iter().filter_map(|(_, rows)| rows[find(rows, name)?].total_s).fold(0.0, f64::max);
    largest_first(&mut calls, |it| most(it));
    let scale = scale(calls.iter().map(|name| most(name)), look);
    let columns = each.iter().flat_map(|(of, rows)| {
        let row = move |name: &&str| find(rows, name).map(|at| &rows[at]);
        [
            Column::of(format!("{of} calls"), &calls, |name| {
                row(name).map_or_else(|| "0".to_owned(), |it| it.calls.to_string())
            }),
            Column::of(format!("{of} failed"), &calls, |name| {
                row(name).filter(|it| it.errors > 0).map_or_else(String::new, |it| it.errors.to_string())
            }),
            Column::of(format!("{of} {}", scale.name), &calls, |name| {
                or_absent(row(name).and_then(|it| it.total_s), |seconds| scale.number(seconds))
            }),
        ]
    });
    let grid = Grid {
        key: Column::of("call", &calls, |name| clean(name)),
        groups: vec![Group::new("calls", columns.collect())],
    };
    table::table("wall time within system calls, all tasks together", &grid)
}
