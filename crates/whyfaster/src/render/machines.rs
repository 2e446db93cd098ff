//! Price lists side by side on the screen.

use whyfaster_core::price::PriceList;
use whyfaster_core::price::compare::{Beside, Comparison, Other, Rule};
use whyfaster_core::price::project::{Projection, SumCheck};
use whyfaster_core::verdict::Verdict;

use super::grid::{ABSENT, Column, Grid, Group};
use super::look::Look;
use super::table::{interval, verdict_word};
use super::text::{Tone, finish, for_look, shorten, tone, wrap, wrap_indented};
use super::units::{digits, percent, time};
use crate::cmd::machines::Machines;

/// Columns that the name of a machine may take.
const NAME: usize = 24;

/// The report.
pub fn report(lists: &[PriceList], machines: &Machines, all: bool, rule: &Rule, look: &Look) -> String {
    let comparison = &machines.comparison;
    let mut lines = Vec::new();
    if comparison.lists.len() > 1 {
        for sentence in summary(comparison, look) {
            lines.extend(wrap(&sentence, look.width, 0));
        }
        lines.extend(tables(comparison, all, look));
        lines.push(String::new());
        lines.extend(differing(comparison, look));
        let method = format!(
            "A ratio is a machine's price over that of {}. With {} confidence no row is called faster or slower by noise alone; rows within {} are the same.",
            name(comparison, 0, look),
            percent(1.0 - rule.alpha),
            percent(rule.delta)
        );
        lines.extend(wrap(&method, look.width, 0));
        lines.extend(sources(lists, look));
    }
    let mut text = finish(&lines.join("\n"), look.color);
    if !lines.is_empty() {
        text.push('\n');
    }
    text.push_str(&checks(&machines.checks, look));
    if let Some(found) = &machines.projection {
        text.push_str(&projection(found, look));
    }
    text
}

fn name(comparison: &Comparison, at: usize, look: &Look) -> String {
    let name = comparison.lists.get(at).map(String::as_str).unwrap_or_default();
    shorten(&for_look(name, look), NAME, look.unicode)
}

/// One sentence a machine: how many rows, and the worst.
fn summary(comparison: &Comparison, look: &Look) -> Vec<String> {
    let baseline = name(comparison, 0, look);
    (0..comparison.lists.len() - 1)
        .map(|at| {
            let of = |row: &Beside| row.others.get(at).cloned().unwrap_or_default();
            let count = |verdict| comparison.rows.iter().filter(|row| of(row).verdict == Some(verdict)).count();
            let rated = comparison.rows.iter().filter(|row| of(row).ratio.is_some());
            let worst = rated.clone().max_by(|a, b| distance(&of(a)).total_cmp(&distance(&of(b))));
            let worst = worst.map_or_else(String::new, |row| {
                let ratio = of(row).ratio.unwrap_or(1.0);
                format!("; the largest difference: {} {}, {} times as much", row.name, row.variant, digits(ratio))
            });
            tone(
                Tone::Strong,
                &format!(
                    "{} against {baseline}: {} rows in both, {} slower, {} faster, {} the same, {} undecided{worst}.",
                    name(comparison, at + 1, look),
                    rated.count(),
                    count(Verdict::Slower),
                    count(Verdict::Faster),
                    count(Verdict::Same),
                    count(Verdict::Undecided),
                ),
            )
        })
        .collect()
}

fn distance(other: &Other) -> f64 {
    other.ratio.map_or(0.0, |ratio| ratio.ln().abs())
}

fn tables(comparison: &Comparison, all: bool, look: &Look) -> Vec<String> {
    let shared = |row: &&Beside| all || row.others.iter().any(|other| other.ratio.is_some());
    let rows: Vec<&Beside> = comparison.rows.iter().filter(shared).collect();
    let hidden = comparison.rows.len() - rows.len();
    let column = |header: String, cell: &dyn Fn(&Beside) -> String| {
        Column::new(header, rows.iter().map(|row| cell(row)).collect())
    };
    let price =
        |ns: Option<f64>| ns.map_or_else(|| "not measured".to_owned(), |ns| time(ns * 1e-9, look.time_unit));
    let machines = 1..comparison.lists.len();
    let other = |row: &Beside, at: usize| row.others.get(at - 1).cloned().unwrap_or_default();
    let several = comparison.lists.len() > 2;
    let mut groups = Vec::new();
    for at in machines.clone() {
        // With two machines there is one ratio, and no need to say of which.
        let header =
            if several { format!("{} ratio", name(comparison, at, look)) } else { "ratio".to_owned() };
        groups.push(Group::new(
            "more ratios",
            vec![
                column(header, &|row| other(row, at).ratio.map_or_else(|| ABSENT.to_owned(), digits)),
                column("verdict".into(), &|row| verdict(&other(row, at))),
            ],
        ));
    }
    groups.push(Group::new("prices", vec![column(name(comparison, 0, look), &|row| price(row.ns))]));
    for at in machines.clone() {
        groups.push(Group::new(
            "prices",
            vec![column(name(comparison, at, look), &|row| price(other(row, at).ns))],
        ));
    }
    for at in machines {
        let ends = |row: &Beside| interval(other(row, at).low, other(row, at).high, digits);
        let header = |word: &str| match several {
            true => format!("{} {word}", name(comparison, at, look)),
            false => word.to_owned(),
        };
        groups.push(Group::new("intervals", vec![column(header("interval"), &ends)]));
        if rows.iter().any(|row| !other(row, at).explained_by.is_empty()) {
            let facts = |row: &Beside| explained(&other(row, at));
            groups.push(Group::new("what may explain it", vec![column(header("may come from"), &facts)]));
        }
    }
    let key = column("operation".into(), &|row| for_look(&format!("{} {}", row.name, row.variant), look));
    let drawn = Grid { key, groups }.draw(look.width, 2 * comparison.lists.len());
    let mut lines = vec![String::new()];
    lines.extend(drawn.lines);
    lines.extend(crowds(&rows, look));
    if hidden > 0 {
        lines.push(format!(
            "  {hidden} more rows stand in one list only: not measured in the other (--all shows them)"
        ));
    }
    lines
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

/// How the machines differ.
fn differing(comparison: &Comparison, look: &Look) -> Vec<String> {
    let mut lines = Vec::new();
    for (at, differences) in comparison.machines.iter().enumerate() {
        if differences.is_empty() {
            lines.push(format!(
                "{}: no difference between the machines is known.",
                name(comparison, at + 1, look)
            ));
            continue;
        }
        lines.push(format!("{} differs in:", name(comparison, at + 1, look)));
        for difference in differences {
            let text =
                format!("{}: {} there, {} here", difference.fact.name(), difference.second, difference.first);
            lines.extend(wrap_indented(&for_look(&text, look), look.width, 2));
        }
    }
    lines
}

fn sources(lists: &[PriceList], look: &Look) -> Vec<String> {
    let mut lines = Vec::new();
    for list in lists {
        let Some(source) = &list.source else { continue };
        lines.extend(wrap(
            &format!("{}: {}.", for_look(&list.name, look), for_look(source, look)),
            look.width,
            2,
        ));
        for warning in &list.warnings {
            lines.extend(wrap_indented(
                &for_look(&format!("{}; {}", warning.what, warning.remedy), look),
                look.width,
                2,
            ));
        }
    }
    lines
}

/// Whether fork and execve together cost what they cost alone.
pub fn checks(checks: &[SumCheck], look: &Look) -> String {
    let mut text = String::new();
    let us = |ns: f64| time(ns * 1e-9, look.time_unit);
    for check in checks {
        let sign = if check.difference_ns < 0.0 { "less" } else { "more" };
        text.push_str(&format!(
            "\n{}: {} cost {} alone and {} together ({}): {} {sign}, {} of the whole.",
            for_look(&check.name, look),
            check.parts.join(" and "),
            us(check.sum_ns),
            us(check.whole_ns),
            check.whole,
            us(check.difference_ns.abs()),
            percent(check.share.abs())
        ));
    }
    if text.is_empty() { text } else { text + "\n" }
}

/// What counts cost on each machine.
pub fn projection(found: &Projection, look: &Look) -> String {
    let seconds = |s: Option<f64>| s.map_or_else(|| "not measured".to_owned(), |s| time(s, look.time_unit));
    let names: Vec<String> =
        found.machines.iter().map(|m| shorten(&for_look(&m.name, look), NAME, look.unicode)).collect();
    let mut key: Vec<String> =
        found.terms.iter().map(|term| format!("{} {}", term.count, for_look(&term.id(), look))).collect();
    key.push("together".to_owned());
    let mut groups = Vec::new();
    let base = found.machines.first().and_then(|m| m.total_s);
    for (at, machine) in found.machines.iter().enumerate() {
        let mut cells: Vec<String> = machine.seconds.iter().map(|s| seconds(*s)).collect();
        cells.push(seconds(machine.total_s));
        let mut columns = vec![Column::new(names[at].clone(), cells)];
        if at > 0 {
            let difference = |here: Option<f64>, there: Option<f64>| match (here, there) {
                (Some(here), Some(there)) => {
                    let sign = if there < here { "-" } else { "+" };
                    format!("{sign}{}", time((there - here).abs(), look.time_unit))
                }
                _ => ABSENT.to_owned(),
            };
            let first = &found.machines[0];
            let mut cells: Vec<String> =
                first.seconds.iter().zip(&machine.seconds).map(|(a, b)| difference(*a, *b)).collect();
            cells.push(difference(base, machine.total_s));
            columns.push(Column::new("difference", cells));
        }
        groups.push(Group::new("more machines", columns));
    }
    let drawn =
        Grid { key: Column::new("operations", key), groups }.draw(look.width, found.machines.len().max(1));
    let mut lines = vec![String::new()];
    lines.extend(drawn.lines);
    for (machine, name) in found.machines.iter().zip(&names) {
        if let (Some(low), Some(high)) = (machine.low_s, machine.high_s) {
            lines.push(format!(
                "  {name}: {} to {} by the intervals of the prices",
                seconds(Some(low)),
                seconds(Some(high))
            ));
        }
        for missing in &machine.not_measured {
            let text = format!("{name}: {} not measured: {}", missing.what, missing.why);
            lines.extend(wrap_indented(&for_look(&text, look), look.width, 2));
        }
    }
    lines.push(String::new());
    finish(&lines.join("\n"), look.color)
}

/// The built-in lists.
pub fn built_in(lists: &[(&'static str, PriceList)], look: &Look) -> String {
    let mut lines =
        vec!["Built-in price lists; name them as you would name a file:".to_owned(), String::new()];
    for (name, list) in lists {
        let rows = list.prices.iter().filter(|price| price.not_measured.is_none()).count();
        let source = list.source.as_deref().unwrap_or_default();
        lines.push(format!("{name}: {}, {rows} prices", for_look(&list.name, look)));
        lines.extend(wrap_indented(&for_look(source, look), look.width, 2));
    }
    lines.push(String::new());
    lines.push("whyfaster prices --record here.json makes the list of this machine.".to_owned());
    lines.push(String::new());
    lines.join("\n")
}
