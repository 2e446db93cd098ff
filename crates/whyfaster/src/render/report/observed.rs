//! What observed runs showed beside the accounts: when things happened, where the code was, which calls were made.

use maud::{Markup, html};
use whyfaster_core::record::Record;
use whyfaster_core::trace::report::{Sampled, SyscallRow, TraceReport};
use whyfaster_core::trace::table::{Order, Together, table as together};
use whyfaster_core::why::report::Traced;

use super::super::grid::{Column, Grid, Group, or_absent};
use super::super::look::Look;
use super::super::names::Names;
use super::super::section::scale;
use super::figures::flame;
use super::page::{Page, Section, figure, missing};
use super::when::{self, When};
use super::{plot, table};
use crate::clean::clean;

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

/// What every page says of stacks.
const STACKS: &str = "The record holds the functions in which samples found the code and what called them, not whole stacks. \
                      'whyfaster trace --flamegraph FILE' draws those.";

fn flames(page: &mut Page, record: &Record, names: &Names) -> Markup {
    let alternatives = &record.plan.alternatives;
    let sampled = |at: usize| -> Vec<&Sampled> {
        let of = record.why.traced.iter().filter(|run| run.alternative == at);
        of.filter_map(|run| run.report.sampled.as_ref()).collect()
    };
    let mut sides: Vec<(usize, Vec<&Sampled>)> =
        (0..alternatives.len()).map(|at| (at, sampled(at))).filter(|(_, all)| !all.is_empty()).collect();
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
    let given: Vec<(&[&Sampled], f64)> =
        sides.iter().map(|(_, all)| (all.as_slice(), all.len() as f64)).collect();
    let root = flame::tree(&given);
    let shown: Vec<String> = sides.iter().map(|(at, _)| names.at(*at).unwrap_or_default()).collect();
    let id = plot(page, flame::plot(&root, &shown, "samples a run"));
    html! {
        p { (STACKS) }
        div class="flame" data-plot=(id) {
            @for (side, name) in shown.iter().enumerate() {
                @if let Some(picture) = flame::picture(&root, side, format!("{name}: where its code was found")) {
                    (figure(&picture, "Wider: more of the time. From above: command, what it did, what called, function."))
                }
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
    let root = flame::tree(&[(&[sampled], 1.0)]);
    let id = plot(page, flame::plot(&root, &[name.to_owned()], "samples"));
    html! {
        p { (STACKS) }
        div class="flame" data-plot=(id) {
            @if let Some(picture) = flame::picture(&root, 0, format!("{name}: where its code was found")) {
                (figure(&picture, "Wider: more of the time. From above: command, what it did, what called, function."))
            }
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
    calls.sort_by(|a, b| most(b).total_cmp(&most(a)));
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
