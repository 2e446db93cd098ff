//! Price lists side by side on the screen.

use serde::Serialize;
use whyfaster_core::price::PriceList;
use whyfaster_core::price::compare::{Beside, Comparison, Rule, compare, compare_by_unit};
use whyfaster_core::price::pace::Pace;
use whyfaster_core::price::project::{Projection, Term, project};
use whyfaster_core::price::sum::{SumCheck, WITHIN, fork_execve};
use whyfaster_core::status::Status;
use whyfaster_core::verdict::Verdict;
use whyfaster_words as words;
use whyfaster_words::Tell;
use whyfaster_words::display::Detail;
use whyfaster_words::grid::{ABSENT, Column, Grid, Group};
use whyfaster_words::look::Look;
use whyfaster_words::text::{Tone, finish, for_look, shorten, tone, wrap, wrap_indented};
use whyfaster_words::units::{digits, percent, time};

use super::beside::{self, NAME, name};
use super::first;
use super::section::paragraphs;
use super::stories;
use super::table::interval;

/// Lists side by side: what `machines --json` prints.
#[derive(Clone, Debug, Serialize)]
pub struct Machines {
    /// The rows.
    #[serde(flatten)]
    pub comparison: Comparison,
    /// The lists in another unit than the first one, compared among themselves.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other_units: Vec<Comparison>,
    /// What counts cost on each machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub projection: Option<Projection>,
    /// Whether fork and execve together cost what they cost alone, where a list has all three.
    #[serde(serialize_with = "words::claims::sums")]
    pub checks: Vec<SumCheck>,
}

impl Machines {
    /// The lists side by side, and what such counts cost on each.
    pub fn of(lists: &[PriceList], rule: &Rule, terms: Option<&[Term]>) -> Self {
        let mut by_unit = compare_by_unit(lists, rule).into_iter().map(Tell::told);
        Self {
            comparison: by_unit.next().unwrap_or_else(|| compare(lists, rule).told()),
            other_units: by_unit.collect(),
            projection: terms.map(|terms| project(lists, terms).told()),
            checks: lists.iter().filter_map(fork_execve).collect(),
        }
    }
}

/// The report.
pub fn report(lists: &[PriceList], machines: &Machines, all: bool, rule: &Rule, look: &Look) -> String {
    let mut lines = Vec::new();
    for comparison in [&machines.comparison].into_iter().chain(&machines.other_units) {
        if !machines.other_units.is_empty() {
            lines.extend(wrap(&tone(Tone::Strong, &unit_title(comparison, look)), look.width, 0));
        }
        lines.extend(compared(lists, comparison, all, rule, look));
    }
    let mut text = finish(&lines.join("\n"), look.color);
    if !lines.is_empty() {
        text.push('\n');
    }
    if look.detail >= Detail::Tables {
        text.push_str(&checks(&machines.checks, look));
    }
    if let Some(found) = machines.projection.as_ref().filter(|_| look.detail > Detail::Sentence) {
        text.push_str(&projection(found, look));
    }
    if look.detail == Detail::Screen && !lines.is_empty() {
        text.push_str(&paragraphs([first::more(look)], look));
    }
    text
}

/// What is compared here and nowhere else.
fn unit_title(comparison: &Comparison, look: &Look) -> String {
    let names: Vec<String> = (0..comparison.lists.len()).map(|at| name(comparison, at, look)).collect();
    let alone = if names.len() == 1 { "; nothing else has this unit, so there is no ratio" } else { "" };
    format!(
        "In {}: {}{alone}. Units are never compared with each other.",
        comparison.unit.name(),
        names.join(", ")
    )
}

/// The lists of one unit.
fn compared(
    lists: &[PriceList],
    comparison: &Comparison,
    all: bool,
    rule: &Rule,
    look: &Look,
) -> Vec<String> {
    let look = &Look { price_unit: comparison.unit, ..look.clone() };
    let lists: Vec<&PriceList> = lists.iter().filter(|list| list.unit == comparison.unit).collect();
    let mut lines = Vec::new();
    if comparison.lists.len() > 1 {
        for sentence in summary(comparison, look) {
            lines.extend(wrap(&sentence, look.width, 0));
        }
        if look.detail == Detail::Sentence {
            return lines;
        }
        if look.detail == Detail::Screen {
            let two = comparison.lists.len() == 2;
            lines.extend(match two {
                true => beside::screen(comparison, all, look),
                false => stories::screen(&lists, rule, first::LONG.saturating_sub(lines.len() + 3), look),
            });
            lines.push(String::new());
            return lines;
        }
        lines.extend(beside::tables(comparison, all, look));
        lines.push(String::new());
        lines.extend(differing(comparison, look));
        lines.extend(paces(comparison, rule, look));
        let method = format!(
            "A ratio is a machine's price over that of {}. Of the rows called faster or slower, and of those called the same, at most {} are expected to be so by noise; rows within {} are the same.",
            name(comparison, 0, look),
            percent(rule.alpha),
            percent(rule.delta)
        );
        lines.extend(wrap(&method, look.width, 0));
        let mean =
            |list: &&PriceList| list.prices.iter().any(|p| p.median_ns.is_none() && p.mean_ns.is_some());
        if lists.iter().any(mean) && !lists.iter().all(mean) {
            let means = "A source gives means, so ratios to it compare means; the prices shown are medians where there are any.";
            lines.extend(wrap(means, look.width, 0));
        }
        lines.extend(sources(&lists, look));
    }
    lines
}

/// One sentence a machine: how many rows, and the worst.
fn summary(comparison: &Comparison, look: &Look) -> Vec<String> {
    let baseline = name(comparison, 0, look);
    (0..comparison.lists.len() - 1)
        .map(|at| {
            let of = |row: &Beside| row.others.get(at).cloned().unwrap_or_default();
            let count =
                |verdict| comparison.rows.iter().filter(|row| of(row).verdict == Some(verdict)).count();
            let rated: Vec<&Beside> = comparison.rows.iter().filter(|row| of(row).ratio.is_some()).collect();
            let all = rated.len();
            // Rows of two sources have a ratio and no verdict.
            let judged = [
                (count(Verdict::Slower), "slower"),
                (count(Verdict::Faster), "faster"),
                (count(Verdict::Same), "the same"),
                (count(Verdict::Undecided), "undecided"),
                (rated.iter().filter(|row| of(row).verdict.is_none()).count(), "without a spread"),
            ];
            let judged: Vec<String> = judged
                .iter()
                .filter(|(count, _)| *count > 0)
                .map(|(count, word)| format!("{count} {word}"))
                .collect();
            let judged = if judged.is_empty() { String::new() } else { format!(" ({})", judged.join(", ")) };
            let worst = worst(&rated, at);
            let text = format!(
                "{} against {baseline}: {all} {} in both{judged}{worst}.",
                name(comparison, at + 1, look),
                if all == 1 { "row" } else { "rows" }
            );
            tone(Tone::Strong, &for_look(&text, look))
        })
        .collect()
}

/// The worst of the rows that are decided to be dearer. An undecided ratio, however large, is no finding.
fn worst(rated: &[&Beside], at: usize) -> String {
    let ratio = |row: &Beside| row.others.get(at).and_then(|other| other.ratio).unwrap_or(1.0);
    let verdict = |row: &Beside| row.others.get(at).and_then(|other| other.verdict);
    let dearer = |row: &&&Beside| match verdict(row) {
        Some(verdict) => verdict == Verdict::Slower,
        // Two sources give no spread: their ratio is all that there is.
        None => ratio(row) > 1.0,
    };
    // What the scheduler chose is no price of the machine as long as there is one.
    let placed = |row: &Beside| row.others.get(at).is_some_and(|other| other.placed_otherwise);
    let key = |row: &Beside| (!placed(row), ratio(row));
    let order = |a: &Beside, b: &Beside| key(a).0.cmp(&key(b).0).then(key(a).1.total_cmp(&key(b).1));
    let worst = rated.iter().filter(dearer).max_by(|a, b| order(a, b));
    match worst {
        Some(row) => {
            let unproven = match verdict(row) {
                None => ", with no spread given",
                Some(_) if placed(row) => ", where the scheduler chose other CPUs",
                Some(_) => "",
            };
            let id = format!("{} {}", row.name, row.variant);
            format!("; the worst is {}, {} times as much{unproven}", id.trim_end(), digits(ratio(row)))
        }
        None if rated.iter().any(|row| verdict(row) == Some(Verdict::Undecided)) => {
            "; none is decided to be dearer".to_owned()
        }
        None => "; none is dearer".to_owned(),
    }
}

/// How the machines differ.
fn differing(comparison: &Comparison, look: &Look) -> Vec<String> {
    let mut lines = Vec::new();
    let baseline = name(comparison, 0, look);
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
            let text = format!(
                "{}: {}, {baseline} has {}",
                difference.fact.name(),
                difference.second,
                difference.first
            );
            lines.extend(wrap_indented(&for_look(&text, look), look.width, 2));
        }
    }
    lines
}

/// Whether the CPU itself was slower or quicker for a list than for the baseline.
fn paces(comparison: &Comparison, rule: &Rule, look: &Look) -> Vec<String> {
    let baseline = name(comparison, 0, look);
    let sentence = |at: usize, pace: &Pace| {
        let other = name(comparison, at + 1, look);
        let (ratio, range) = (digits(pace.ratio), interval(Some(pace.low), Some(pace.high), digits));
        let took = format!(
            "{other}: plain user code (compute) took {ratio} times as long as for {baseline} ({range})"
        );
        let [dearer, cheaper] = [true, false].map(|dearer| pace.noise(dearer));
        let band = rule.delta.ln_1p();
        let within = [
            (dearer > band).then(|| format!("slower below {}", digits(dearer.exp()))),
            (cheaper > band).then(|| format!("faster above {}", digits((-cheaper).exp()))),
        ];
        let within: Vec<String> = within.into_iter().flatten().collect();
        if within.is_empty() {
            return format!("{took}: the CPU itself was as quick.");
        }
        format!("{took}; the kernel's paths feel that more, so no row is called {}.", within.join(" or "))
    };
    let told =
        comparison.paces.iter().enumerate().filter_map(|(at, pace)| Some(sentence(at, pace.as_ref()?)));
    told.flat_map(|text| wrap(&for_look(&text, look), look.width, 0)).collect()
}

fn sources(lists: &[&PriceList], look: &Look) -> Vec<String> {
    let mut lines = Vec::new();
    for list in lists {
        let said = match (&list.source, list.status) {
            (Some(source), _) => for_look(source, look),
            (None, Status::Complete) => continue,
            (None, _) => "a partial list".to_owned(),
        };
        lines.extend(wrap(&format!("{}: {said}.", for_look(&list.name, look)), look.width, 2));
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
        let line = format!(
            "{}: {} cost {} alone and {} together ({}): {} {sign}, {} of the whole{}.",
            check.name,
            check.parts.join(" and "),
            us(check.sum_ns),
            us(check.whole_ns),
            check.whole,
            us(check.difference_ns.abs()),
            percent(check.share.abs()),
            added_up(check)
        );
        let line = for_look(&line, look);
        text.push_str(&format!("\n{}", finish(&wrap(&line, look.width, 2).join("\n"), look.color)));
    }
    if text.is_empty() { text } else { text + "\n" }
}

/// What the interval says of a sum.
fn added_up(check: &SumCheck) -> String {
    let interval = match (check.low, check.high) {
        (Some(low), Some(high)) => format!(" (interval {:+.1}% to {:+.1}%)", low * 100.0, high * 100.0),
        _ => String::new(),
    };
    let verdict = match check.verdict {
        Some(Verdict::Same) => format!(": they add up within {}", percent(WITHIN)),
        Some(Verdict::Slower) => ": together they cost more".to_owned(),
        Some(Verdict::Faster) => ": together they cost less".to_owned(),
        Some(Verdict::Undecided) => {
            let why = words::claims::doubt(check).unwrap_or_else(|| "no reason is known".to_owned());
            format!(": undecided: {why}")
        }
        None => "; no spread given".to_owned(),
    };
    format!("{interval}{verdict}")
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
        let rows = list.prices.iter().filter(|price| price.is_measured()).count();
        let source = list.source.as_deref().unwrap_or_default();
        lines.push(format!("{name}: {}, {rows} prices", for_look(&list.name, look)));
        lines.extend(wrap_indented(&for_look(source, look), look.width, 2));
    }
    lines.push(String::new());
    lines.push("whyfaster prices --record here.json makes the list of this machine.".to_owned());
    lines.push(String::new());
    lines.join("\n")
}
