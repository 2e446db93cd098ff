//! The report of hyperfine 2: under each command a table of its metrics, with their change against the first command.

use whyfaster_words::look::Look;
use whyfaster_words::metric::{Chosen, Unit};
use whyfaster_words::text::{Tone, for_look, tone, width};

use super::hyperfine::Outcome;
use super::markup_2::{change, factor, label, number};

/// Least width of a number, of a unit and of a change, so that tables of several commands stand under each other.
const NUMBER: usize = 7;
const UNIT: usize = 3;
const CHANGE: usize = 14;

/// A metric of one command: its name, its numbers in one unit, and what changed.
struct Row {
    label: &'static str,
    numbers: Vec<String>,
    unit: &'static str,
    change: String,
}

/// "Benchmark 1".
pub(super) fn title(index: usize) -> String {
    tone(Tone::Strong, &format!("Benchmark {}", index + 1))
}

pub(super) fn benchmarks(results: &[Outcome], metrics: &[Chosen], look: &Look) -> String {
    let mut text = String::new();
    for (index, result) in results.iter().enumerate() {
        let runs = result.runs.len();
        let word = if runs == 1 { "run" } else { "runs" };
        text += &format!("{}: {} ({runs} {word})\n", title(index), for_look(&result.shown, look));
        let first = results.iter().find(|other| other.load == result.load);
        let first = first.filter(|first| !std::ptr::eq(*first, result));
        let rows: Vec<Row> = metrics.iter().filter_map(|chosen| row(result, first, *chosen)).collect();
        let names = metrics.iter().map(|chosen| label(chosen.metric).len()).max().unwrap_or(0);
        text += &table(&rows, names, runs > 1);
        text += " \n";
    }
    text
}

fn row(result: &Outcome, first: Option<&Outcome>, chosen: Chosen) -> Option<Row> {
    let summary = result.summary(chosen.metric)?;
    let reference = first.and_then(|first| first.summary(chosen.metric));
    let scale = reference.map(|reference| reference.mean).filter(|mean| *mean != 0.0);
    let unit: Unit = chosen.unit_for(scale.unwrap_or(summary.mean));
    let mut numbers = vec![number(summary.mean, unit)];
    if let Some(stddev) = summary.stddev {
        numbers.extend([stddev, summary.min, summary.max].map(|value| number(value, unit)));
    }
    let change = match reference {
        Some(reference) => {
            let factor = factor(&summary, &reference, chosen.metric);
            format!("{:>CHANGE$}  {factor}", change(&summary, &reference))
        }
        None if first.is_some() => format!("{:>CHANGE$}", "N/A"),
        None => String::new(),
    };
    Some(Row { label: label(chosen.metric), numbers, unit: unit.suffix(), change })
}

fn table(rows: &[Row], names: usize, several: bool) -> String {
    let header: &[&str] = if several { &["mean", "σ", "min", "max"] } else { &["Value"] };
    let units = rows.iter().map(|row| width(row.unit)).max().unwrap_or(0).max(UNIT);
    let wide = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.numbers.get(column)).map(|cell| width(cell));
        cells.chain([width(header[column]), NUMBER]).max().unwrap_or(NUMBER)
    };
    let line = |label: &str, cells: &mut dyn Iterator<Item = &str>, unit: &str, change: &str| {
        let mut line = format!("  {label:<names$}");
        for (column, cell) in cells.enumerate() {
            line += match column {
                1 => " ± ",
                3 => " … ",
                _ => "  ",
            };
            let pad = " ".repeat(wide(column).saturating_sub(width(cell)));
            // A number without a unit, and a header, keep the room of both the unit and the space before it.
            line += &format!("{pad}{cell} {unit}{}", " ".repeat(units - width(unit)));
        }
        if !change.is_empty() {
            line += &format!("  {change}");
        }
        line.trim_end().to_owned() + "\n"
    };
    let rows = rows
        .iter()
        .map(|row| line(row.label, &mut row.numbers.iter().map(String::as_str), row.unit, &row.change));
    line("", &mut header.iter().copied(), "", "") + &rows.collect::<String>()
}
