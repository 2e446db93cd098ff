//! The tables of `machines`: prices side by side, and for each machine its ratios to the baseline, the worst first.

use whyfaster_core::price::compare::{Beside, Comparison};
use whyfaster_core::price::pairing::Other;
use whyfaster_core::price::sample::row_id;
use whyfaster_core::verdict::Verdict;
use whyfaster_words::display::Detail;
use whyfaster_words::grid::{ABSENT, Column, Grid, Group, or_absent};
use whyfaster_words::look::Look;
use whyfaster_words::phrases::count;
use whyfaster_words::text::{Tone, for_look, shorten, tone, wrap_indented};
use whyfaster_words::units::{digits, factor, price as in_unit};

use super::chart::mark;
use super::section::by_reason;
use super::strip::{self, strip};
use super::table::{interval, verdict_word};

/// Rows of the first screen of two machines.
const ROWS: usize = 20;
/// Columns that the name of a machine may take.
pub(super) const NAME: usize = 24;

/// The name of one of the machines that are compared.
pub(super) fn name(comparison: &Comparison, at: usize, look: &Look) -> String {
    let name = comparison.lists.get(at).map(String::as_str).unwrap_or_default();
    shorten(&for_look(name, look), NAME, look.unicode)
}

/// The tables, and what has to be said about their rows.
pub fn tables(comparison: &Comparison, all: bool, look: &Look) -> Vec<String> {
    let shared = |row: &&Beside| all || row.others.iter().any(|other| other.ratio.is_some());
    let rows: Vec<&Beside> = comparison.rows.iter().filter(shared).collect();
    let hidden = comparison.rows.len() - rows.len();
    let mut lines = Vec::new();
    // Two machines find room in one table.
    let several = comparison.lists.len() > 2;
    if several && !rows.is_empty() && look.detail >= Detail::Tables {
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
        groups.extend(needs(&rows, at));
        groups.extend(reasons(&rows, at));
        lines.extend(Grid { key: key(&rows, look), groups }.draw(look.width, 2).lines);
    }
    lines.extend(too_few(&rows, look));
    lines.extend(open(&rows, look));
    lines.extend(left_out(&comparison.rows, hidden, look));
    lines
}

/// The first screen of two machines: the rows that differ most, without their reasons. What only the scheduler changed stands last.
pub fn screen(comparison: &Comparison, all: bool, look: &Look) -> Vec<String> {
    let mut rows: Vec<&Beside> =
        comparison.rows.iter().filter(|row| all || other(row, 1).ratio.is_some()).collect();
    let rank = |row: &&Beside| (!other(row, 1).placed_otherwise, other(row, 1).severity());
    rows.sort_by(|a, b| rank(b).partial_cmp(&rank(a)).unwrap_or(std::cmp::Ordering::Equal));
    let more = if all { 0 } else { rows.len().saturating_sub(ROWS) };
    rows.truncate(rows.len() - more);
    let mut groups = vec![Group::of("change", &rows, |row| change(&other(row, 1)))];
    groups.extend(prices(comparison, &rows, 0..2, look));
    let ratio = |row: &Beside| other(row, 1).ratio;
    if let Some(scale) = strip::Scale::over(rows.iter().filter_map(|row| ratio(row)).chain([1.0])) {
        let drawn = |row: &&Beside| {
            let end = ratio(row).map(|ratio| (mark(0, look.unicode), ratio));
            strip(scale, [1.0].into_iter().filter(|_| end.is_some()), end.as_slice(), look)
        };
        groups.push(Group::of("drawn, log scale", &rows, drawn));
    }
    let mut lines = vec![String::new()];
    lines.extend(Grid { key: key(&rows, look), groups }.draw(look.width, 1).lines);
    lines
        .extend((more > 0).then(|| format!("  and {}", count(more as u64, "row more: -v", "rows more: -v"))));
    lines
}

/// "1.27x slower", "same".
fn change(other: &Other) -> String {
    let Some(ratio) = other.ratio else { return ABSENT.to_owned() };
    let by = factor(ratio.max(ratio.recip()));
    let word = match other.verdict {
        Some(verdict @ (Verdict::Faster | Verdict::Slower)) => format!("{by} {}", verdict_word(verdict)),
        Some(verdict) => verdict_word(verdict),
        None => format!("{by} {}", verdict_word(if ratio < 1.0 { Verdict::Faster } else { Verdict::Slower })),
    };
    if other.placed_otherwise { format!("{word} on other CPUs") } else { word }
}

fn other(row: &Beside, at: usize) -> Other {
    row.others.get(at - 1).cloned().unwrap_or_default()
}

fn key(rows: &[&Beside], look: &Look) -> Column {
    Column::of("operation", rows, |row| for_look(&format!("{} {}", row.name, row.variant), look))
}

fn ratios(rows: &[&Beside], at: usize) -> Group {
    let ratio = Column::of("ratio", rows, |row| or_absent(other(row, at).ratio, digits));
    Group::new("ratio", vec![ratio, Column::of("verdict", rows, |row| verdict(&other(row, at)))])
}

fn intervals(rows: &[&Beside], at: usize) -> Option<Group> {
    let some = rows.iter().any(|row| other(row, at).low.is_some() || other(row, at).high.is_some());
    some.then(|| Group::of("interval", rows, |row| interval(other(row, at).low, other(row, at).high, digits)))
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
            Group::new("prices", vec![Column::of(name(comparison, at, look), rows, |row| price(ns(row, at)))])
        })
        .collect()
}

fn reasons(rows: &[&Beside], at: usize) -> Option<Group> {
    let some = rows.iter().any(|row| !other(row, at).explained_by.is_empty());
    some.then(|| Group::of("may come from", rows, |row| explained(&other(row, at))))
}

/// How many repetitions an undecided row needs.
fn needs(rows: &[&Beside], at: usize) -> Option<Group> {
    let some = rows.iter().any(|row| other(row, at).repetitions_needed.is_some());
    let cell = |row: &&Beside| match (other(row, at).repetitions, other(row, at).repetitions_needed) {
        (Some(has), Some(needs)) => format!("{needs} (has {has})"),
        _ => ABSENT.to_owned(),
    };
    some.then(|| Group::of("repetitions needed", rows, cell))
}

/// What would decide the rows that have too few repetitions.
fn too_few(rows: &[&Beside], look: &Look) -> Vec<String> {
    let others = || rows.iter().flat_map(|row| &row.others);
    let needed: Vec<u32> = others().filter_map(|other| other.repetitions_needed).collect();
    let (Some(least), Some(most)) = (needed.iter().min(), needed.iter().max()) else { return Vec::new() };
    let range = if least == most { format!("{least}") } else { format!("{least} to {most}") };
    let text = format!(
        "{} undecided {} too few repetitions: about {range} in each list would do. Lists without --quick have more of them, and so have lists of fewer rows.",
        needed.len(),
        if needed.len() == 1 { "row has" } else { "rows have" }
    );
    wrap_indented(&tone(Tone::Unsure, &text), look.width, 2)
}

/// Why rows are left open however many repetitions there are, each reason once, with the rows.
fn open(rows: &[&Beside], look: &Look) -> Vec<String> {
    let undecided = rows.iter().flat_map(|row| {
        let others = row.others.iter().filter(|other| other.verdict == Some(Verdict::Undecided));
        others.filter_map(|other| Some((other.not_measured.as_deref()?, row_id(&row.name, &row.variant))))
    });
    let line = |(why, rows): (&str, Vec<String>)| {
        let more = rows.len().saturating_sub(MOST_NAMED);
        let and_more = if more == 0 { String::new() } else { format!(" and {more} more") };
        let shown = rows[..rows.len().min(MOST_NAMED)].join(" ");
        wrap_indented(
            &tone(Tone::Unsure, &for_look(&format!("{shown}{and_more}: {why}"), look)),
            look.width,
            2,
        )
    };
    by_reason(undecided).into_iter().flat_map(line).collect()
}

/// Rows that a reason names.
const MOST_NAMED: usize = 6;

/// What the table does not show.
fn left_out(rows: &[Beside], hidden: usize, look: &Look) -> Vec<String> {
    if hidden == 0 {
        return Vec::new();
    }
    let priced = |row: &Beside| {
        let others = row.others.iter().flat_map(|other| [other.ns, other.instructions]);
        [row.ns, row.instructions].into_iter().chain(others).any(|price| price.is_some())
    };
    let nowhere = rows.iter().filter(|row| !priced(row)).count();
    let one = hidden.saturating_sub(nowhere);
    let parts = [(one, "priced in one list only"), (nowhere, "without a price in any list")];
    let parts: Vec<String> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    let rows = count(hidden as u64, "more row is", "more rows are");
    let text = format!("{rows} not shown: {} (--all shows them)", parts.join(", "));
    wrap_indented(&text, look.width, 2)
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
