//! The whole screen for a record: sentence, tables, chart, notes.

use whyfaster_core::analysis::{Level, LevelResult};
use whyfaster_core::plan::{Alternative, Mode};
use whyfaster_core::record::Record;
use whyfaster_words::called::named;
use whyfaster_words::display::Detail;
use whyfaster_words::grid::ABSENT;
use whyfaster_words::look::Look;
use whyfaster_words::text::{Tone, finish, tone, width, wrap};

use super::chart::{Point, Series, chart};
use super::first;
use super::metrics::overview;
use super::names::{Names, legend};
use super::notes;
use super::section::paragraphs;
use super::sentence::{at, headline};
use super::table::{level_grid, summary_grid, typical};
use super::why;

/// What a person sees of a record, in the detail that was asked for; empty for `--style none`.
pub fn screen(record: &Record, look: &Look) -> String {
    if look.quiet {
        return String::new();
    }
    let names = Names::of(&record.plan.alternatives, look);
    let parts = match look.detail {
        Detail::Sentence => vec![headline(record, &names, look)],
        Detail::Screen => first::parts(record, &names, look),
        Detail::Tables | Detail::Everything => everything(record, &names, look),
    };
    paragraphs(parts, look)
}

fn everything(record: &Record, names: &Names, look: &Look) -> Vec<Vec<String>> {
    let mut parts = vec![headline(record, names, look)];
    parts.push(notes::unequal_work(record, names, look));
    parts.push(why::sentences(record, look));
    parts.push(whole_legend(record, names, look));
    parts.extend(tables(record, names, look));
    parts.push(overview(record, names, look));
    parts.push(chart(&chart_title(record), &series(record, names), look));
    parts.extend(why::sections(record, names, look));
    parts.push(facts(record, names, look));
    parts.push(notes::warnings(record, names, look));
    parts
}

/// The answer alone, for below the report of another program that runs one command after the other.
pub fn answer(record: &Record, look: &Look) -> String {
    let names = Names::of(&record.plan.alternatives, look);
    let mut lines = headline(record, &names, look);
    lines.extend(notes::unequal_work(record, &names, look));
    // Given names stand in the report above, which says nothing of the command lines either.
    if !record.plan.alternatives.iter().all(named) {
        lines.extend(whole_legend(record, &names, look));
    }
    if record.plan.alternatives.len() > 1 {
        let why = "The commands ran one after the other: what drifted meanwhile counts as a difference. 'whyfaster compare' runs them in turns.";
        lines.extend(wrap(why, look.width, 2).iter().map(|line| tone(Tone::Quiet, line)));
    }
    finish(&(lines.join("\n") + "\n"), look.color)
}

/// Lines for a command in the legend, and commands.
const LEGEND: (usize, usize) = (3, 8);

/// What all names stand for.
fn whole_legend(record: &Record, names: &Names, look: &Look) -> Vec<String> {
    let alternatives = &record.plan.alternatives;
    let (lines, commands) = (look.detail.most(LEGEND.0), look.detail.most(LEGEND.1));
    let shown: Vec<&Alternative> = alternatives.iter().take(commands).collect();
    let mut legend = legend(&shown, names, look, lines);
    if alternatives.len() > commands && !legend.is_empty() {
        legend.push(format!("  and {} more (-vv)", alternatives.len() - commands));
    }
    legend
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
    let mut absent = false;
    let mut parts = Vec::new();
    for level in &levels {
        let mut lines = vec![tone(Tone::Strong, &title(record, level, names, look.width))];
        let drawn = level_grid(record, level, names, look).draw(look.width, blocks);
        absent |= drawn.absent;
        lines.extend(drawn.lines);
        left_out.extend(drawn.left_out.iter().filter(|name| !left_out.contains(name)).collect::<Vec<_>>());
        parts.push(lines);
    }
    if levels.len() > 1 {
        let drawn = summary_grid(record, names, look).draw(look.width, 4);
        let title = format!("all levels: {}, its lower bound, ratio", quantity(record));
        let mut lines: Vec<String> =
            wrap(&title, look.width, 2).iter().map(|line| tone(Tone::Strong, line)).collect();
        absent |= drawn.absent;
        lines.extend(drawn.lines);
        left_out.extend(drawn.left_out.first());
        parts.push(lines);
    }
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

pub(super) fn title(record: &Record, level: &Level, names: &Names, columns: usize) -> String {
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

pub(super) fn chart_title(record: &Record) -> String {
    let by = if matches!(record.plan.mode, Mode::Batch) { "copies at once" } else { "workers" };
    format!("{} by {by}, both logarithmic", quantity(record))
}

pub(super) fn series(record: &Record, names: &Names) -> Vec<Series> {
    let batch = matches!(record.plan.mode, Mode::Batch);
    let point = |level: &Level, result: &LevelResult| {
        let estimate = result.makespan_s;
        Point {
            load: level.load,
            value: typical(record, result),
            at_least: result.timed_out > 0,
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

pub(super) fn facts(record: &Record, names: &Names, look: &Look) -> Vec<String> {
    let mut lines = notes::crossovers(record, names, look);
    lines.extend(notes::causes(record, names, look));
    lines.extend(notes::duets(record, names, look));
    lines.extend(notes::corrected(record, names, look, |_| true));
    lines.extend(record.analysis.floor.iter().flat_map(|floor| wrap(&notes::floor(floor), look.width, 2)));
    lines.extend(wrap(&notes::meta(record), look.width, 2).iter().map(|line| tone(Tone::Quiet, line)));
    lines
}
