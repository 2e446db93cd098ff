//! The tables of `machines`: prices side by side, and for each machine its ratios to the baseline, the worst first.

use whyfaster_core::price::compare::{Beside, Comparison, Other};
use whyfaster_core::verdict::Verdict;

use super::grid::{ABSENT, Column, Grid, Group};
use super::look::Look;
use super::machines::name;
use super::table::{interval, verdict_word};
use super::text::{Tone, for_look, tone, wrap_indented};
use super::units::{digits, price as in_unit};

/// The tables, and what has to be said about their rows.
pub fn tables(comparison: &Comparison, all: bool, look: &Look) -> Vec<String> {
    let shared = |row: &&Beside| all || row.others.iter().any(|other| other.ratio.is_some());
    let rows: Vec<&Beside> = comparison.rows.iter().filter(shared).collect();
    let hidden = comparison.rows.len() - rows.len();
    let mut lines = Vec::new();
    // Two machines find room in one table.
    let several = comparison.lists.len() > 2;
    if several && !rows.is_empty() {
        lines.extend([String::new(), tone(Tone::Strong, "prices")]);
        let groups = prices(comparison, &rows, 0..comparison.lists.len(), look);
        lines.extend(Grid { key: key(&rows, look), groups }.draw(look.width, comparison.lists.len()).lines);
    }
    for at in 1..comparison.lists.len() {
        let mut rows: Vec<&Beside> =
            rows.iter().copied().filter(|row| !several || other(row, at).ratio.is_some()).collect();
        if rows.is_empty() {
            continue;
        }
        let severity = |row: &&Beside| other(row, at).severity();
        rows.sort_by(|a, b| severity(b).partial_cmp(&severity(a)).unwrap_or(std::cmp::Ordering::Equal));
        lines.push(String::new());
        if several {
            let title = format!("{} against {}", name(comparison, at, look), name(comparison, 0, look));
            lines.push(tone(Tone::Strong, &title));
        }
        let mut groups = vec![ratios(&rows, at)];
        if !several {
            groups.extend(prices(comparison, &rows, 0..2, look));
        }
        groups.extend(intervals(&rows, at));
        groups.extend(reasons(&rows, at));
        lines.extend(Grid { key: key(&rows, look), groups }.draw(look.width, 2).lines);
    }
    lines.extend(crowds(&rows, look));
    if hidden > 0 {
        let text = format!(
            "{hidden} more rows stand in one list only: not measured in the other (--all shows them)"
        );
        lines.extend(wrap_indented(&text, look.width, 2));
    }
    lines
}

fn other(row: &Beside, at: usize) -> Other {
    row.others.get(at - 1).cloned().unwrap_or_default()
}

fn column(rows: &[&Beside], header: impl Into<String>, cell: impl Fn(&Beside) -> String) -> Column {
    Column::new(header, rows.iter().map(|row| cell(row)).collect())
}

fn key(rows: &[&Beside], look: &Look) -> Column {
    column(rows, "operation", |row| for_look(&format!("{} {}", row.name, row.variant), look))
}

fn ratios(rows: &[&Beside], at: usize) -> Group {
    let ratio = |row: &Beside| other(row, at).ratio.map_or_else(|| ABSENT.to_owned(), digits);
    Group::new(
        "ratio",
        vec![column(rows, "ratio", ratio), column(rows, "verdict", |row| verdict(&other(row, at)))],
    )
}

fn intervals(rows: &[&Beside], at: usize) -> Option<Group> {
    let some = rows.iter().any(|row| other(row, at).low.is_some() || other(row, at).high.is_some());
    let ends = |row: &Beside| interval(other(row, at).low, other(row, at).high, digits);
    some.then(|| Group::new("interval", vec![column(rows, "interval", ends)]))
}

/// The prices of these lists.
fn prices(
    comparison: &Comparison,
    rows: &[&Beside],
    lists: std::ops::Range<usize>,
    look: &Look,
) -> Vec<Group> {
    let price =
        |value: Option<f64>| value.map_or_else(|| "not measured".to_owned(), |value| in_unit(value, look));
    let ns = |row: &Beside, at: usize| match at {
        0 => row.ns.or(row.instructions),
        at => other(row, at).ns.or(other(row, at).instructions),
    };
    lists
        .map(|at| {
            Group::new("prices", vec![column(rows, name(comparison, at, look), |row| price(ns(row, at)))])
        })
        .collect()
}

fn reasons(rows: &[&Beside], at: usize) -> Option<Group> {
    let some = rows.iter().any(|row| !other(row, at).explained_by.is_empty());
    let facts = |row: &Beside| explained(&other(row, at));
    some.then(|| Group::new("what may explain it", vec![column(rows, "may come from", facts)]))
}

/// Why rows that differ have no verdict, each reason once.
fn crowds(rows: &[&Beside], look: &Look) -> Vec<String> {
    let mut reasons: Vec<(String, usize)> = Vec::new();
    for why in rows
        .iter()
        .flat_map(|row| &row.others)
        .filter(|o| o.verdict == Some(Verdict::Undecided))
        .filter_map(|o| o.not_measured.clone())
    {
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, count)) => *count += 1,
            None => reasons.push((why, 1)),
        }
    }
    let lines = reasons.into_iter().map(|(why, count)| format!("{count} rows: {}", for_look(&why, look)));
    lines.flat_map(|line| wrap_indented(&tone(Tone::Unsure, &line), look.width, 2)).collect()
}

fn verdict(other: &Other) -> String {
    match (other.verdict, other.ratio) {
        (Some(verdict), _) => verdict_word(verdict),
        (None, Some(_)) => "no spread given".to_owned(),
        (None, None) => ABSENT.to_owned(),
    }
}

fn explained(other: &Other) -> String {
    let facts: Vec<&str> = other.explained_by.iter().map(|fact| fact.name()).collect();
    if facts.is_empty() { ABSENT.to_owned() } else { facts.join(", ") }
}
