//! The whole screen for a record: sentence, tables, chart, notes.

use whyfaster_core::analysis::{Level, LevelResult};
use whyfaster_core::plan::Mode;
use whyfaster_core::record::Record;

use super::chart::{Point, Series, chart};
use super::grid::ABSENT;
use super::look::Look;
use super::notes;
use super::sentence::{at, sentence};
use super::table::{level_grid, summary_grid, typical};
use super::text::{Names, Tone, finish, for_look, shorten, tone, width, wrap};
use super::why;

/// Everything that a person should see of a record; empty for `--style none`.
pub fn screen(record: &Record, look: &Look) -> String {
    if look.quiet {
        return String::new();
    }
    let names = column_names(record, look);
    let mut parts = vec![headline(record, look)];
    parts.push(why::sentences(record, &long_names(record, look), look));
    parts.push(commands(record, &names, look));
    parts.extend(tables(record, &names, look));
    parts.push(chart(&chart_title(record), &series(record, &names), look));
    parts.extend(why::sections(record, &names, look));
    parts.push(facts(record, &names, look));
    parts.push(notes::warnings(record, &names, look));
    let parts: Vec<String> =
        parts.into_iter().filter(|lines| !lines.is_empty()).map(|lines| lines.join("\n")).collect();
    finish(&(parts.join("\n\n") + "\n"), look.color)
}

/// Names for columns: a quarter of the line if that is enough for all, else a fifth, so that the verdict has room.
fn column_names(record: &Record, look: &Look) -> Names {
    let full = || record.plan.alternatives.iter().map(|alternative| alternative.name.as_str());
    let roomy = Names::new(full(), (look.width / 4).clamp(10, 30), look);
    if roomy.shortened() { Names::new(full(), (look.width / 5).clamp(10, 30), look) } else { roomy }
}

fn headline(record: &Record, look: &Look) -> Vec<String> {
    let lines = wrap(&sentence(record, &long_names(record, look), look), look.width, 0);
    lines.iter().map(|line| tone(Tone::Strong, line)).collect()
}

/// Names for running text: there a name may be longer than in a column, but two of them should fit on one line.
fn long_names(record: &Record, look: &Look) -> Names {
    let full = record.plan.alternatives.iter().map(|alternative| alternative.name.as_str());
    Names::new(full, (look.width * 2 / 5).clamp(12, 48), look)
}

/// The command lines, where the names alone do not tell them.
fn commands(record: &Record, names: &Names, look: &Look) -> Vec<String> {
    const MOST: usize = 8;
    let alternatives = &record.plan.alternatives;
    if !names.shortened() && alternatives.iter().all(|a| a.name == a.command) {
        return Vec::new();
    }
    let widest = alternatives.iter().map(|a| width(&names.show(&a.name))).max().unwrap_or(0);
    let line = |a: &whyfaster_core::plan::Alternative| {
        let name = names.show(&a.name);
        let pad = " ".repeat(widest - width(&name));
        let command = for_look(&a.command, look);
        format!("  {name}{pad}  {}", shorten(&command, look.width.saturating_sub(widest + 4), look.unicode))
    };
    let mut lines: Vec<String> = alternatives.iter().take(MOST).map(line).collect();
    if alternatives.len() > MOST {
        lines.push(format!("  and {} more (--json)", alternatives.len() - MOST));
    }
    lines
}

/// A table per level, the summary over all levels, and what found no room.
fn tables(record: &Record, names: &Names, look: &Look) -> Vec<Vec<String>> {
    let levels: Vec<&Level> = record.analysis.levels.iter().filter(|l| !l.results.is_empty()).collect();
    // Many levels are read across, in the summary; each of them then gets one block.
    let blocks = match levels.len() {
        0 | 1 => 3,
        2 | 3 => 2,
        _ => 1,
    };
    let mut left_out: Vec<&'static str> = Vec::new();
    let mut parts = Vec::new();
    for level in &levels {
        let mut lines = vec![tone(Tone::Strong, &title(record, level, names, look.width))];
        let drawn = level_grid(record, level, names, look).draw(look.width, blocks);
        lines.extend(drawn.lines);
        left_out.extend(drawn.left_out.iter().filter(|name| !left_out.contains(name)).collect::<Vec<_>>());
        parts.push(lines);
    }
    if levels.len() > 1 {
        let drawn = summary_grid(record, names, look).draw(look.width, 4);
        let title = format!("all levels: {}, its lower bound, ratio", quantity(record));
        let mut lines: Vec<String> =
            wrap(&title, look.width, 2).iter().map(|line| tone(Tone::Strong, line)).collect();
        lines.extend(drawn.lines);
        left_out.extend(drawn.left_out.first());
        parts.push(lines);
    }
    let absent = parts.iter().flatten().any(|line| line.split_whitespace().any(|word| word == ABSENT));
    let mut hints = Vec::new();
    if absent {
        hints.push(format!("{ABSENT} is not measured, or an interval that needs more rounds"));
    }
    if !left_out.is_empty() {
        hints.push(format!("no room for: {} (a wider terminal or --json shows them)", left_out.join(", ")));
    }
    parts.push(hints.iter().flat_map(|hint| wrap(hint, look.width, 2)).collect());
    parts
}

fn title(record: &Record, level: &Level, names: &Names, columns: usize) -> String {
    let place = match (record.plan.mode, level.load) {
        (Mode::Batch, 1) => "1 copy, alone".to_owned(),
        (Mode::Batch, load) => format!("{load} copies at once"),
        (Mode::Closed { .. }, 1) => "1 worker".to_owned(),
        (Mode::Closed { .. }, load) => format!("{load} workers"),
        (Mode::Open { .. }, load) => at(record, load),
    };
    let time = match record.plan.mode {
        Mode::Batch => "time",
        Mode::Closed { .. } => "seconds per copy",
        Mode::Open { .. } => "median latency",
    };
    let baseline = level.comparisons.first().map(|c| names.show(&c.baseline));
    let ratio = baseline.map(|name| format!(" (ratio: {time} over that of {name})")).unwrap_or_default();
    let whole = format!("{place}{ratio}");
    if width(&whole) <= columns { whole } else { place }
}

/// What the levels are known by.
fn quantity(record: &Record) -> &'static str {
    match record.plan.mode {
        Mode::Batch => "makespan",
        Mode::Closed { .. } | Mode::Open { .. } => "median latency",
    }
}

fn chart_title(record: &Record) -> String {
    let by = if matches!(record.plan.mode, Mode::Batch) { "copies at once" } else { "workers" };
    format!("{} by {by}, both logarithmic", quantity(record))
}

fn series(record: &Record, names: &Names) -> Vec<Series> {
    let batch = matches!(record.plan.mode, Mode::Batch);
    let point = |level: &Level, result: &LevelResult| {
        let estimate = result.makespan_s;
        Point {
            load: level.load,
            value: typical(record, result),
            interval: estimate.low.zip(estimate.high).filter(|_| batch),
            bound: result.bound.map(|bound| (bound.span_s, bound.work_s)),
        }
    };
    let points = |name: &str| {
        let levels = record.analysis.levels.iter();
        let of =
            |level: &Level| level.results.iter().find(|r| r.alternative == name).map(|r| point(level, r));
        levels.filter_map(of).collect()
    };
    let alternatives = record.plan.alternatives.iter();
    alternatives.map(|a| Series { name: names.show(&a.name), points: points(&a.name) }).collect()
}

fn facts(record: &Record, names: &Names, look: &Look) -> Vec<String> {
    let mut lines = notes::crossovers(record, names, look);
    lines.extend(notes::causes(record, names, look));
    lines.extend(record.analysis.floor.iter().flat_map(|floor| wrap(&notes::floor(floor), look.width, 2)));
    lines.extend(wrap(&notes::meta(record), look.width, 2).iter().map(|line| tone(Tone::Quiet, line)));
    lines
}
