//! Why the alternatives differ, on the screen: first the sentences, below the tables of the measurement what is behind
//! them: the causes, what was done to confirm them, the differences by part, and predictions.

mod differences;
mod findings;
mod predictions;

#[cfg(test)]
mod tests;

use whyfaster_core::record::{Estimate, Record};
use whyfaster_core::why::label;
use whyfaster_core::why::report::Difference;

use super::grid::{Column, Drawn, Grid, Group};
use super::look::Look;
use super::table::interval;
use super::text::{Names, Tone, clean, for_look, shorten, tone, wrap, wrap_indented};
use super::units::{Scale, percent};

/// Differences that are written out, the largest first; the others are in `--json`.
const WRITTEN_OUT: usize = 3;

/// At most three sentences, or why there are none.
pub(super) fn sentences(record: &Record, names: &Names, look: &Look) -> Vec<String> {
    let why = &record.why;
    let asked = record.plan.explain.as_ref().is_some_and(|explain| explain.asked);
    let said = match why.summary.is_empty() && why.refused.is_none() && !why.differences.is_empty() {
        true => "Nothing that was observed explains the difference.".to_owned(),
        false => why.summary.join(" "),
    };
    let mut lines = Vec::new();
    if !said.is_empty() {
        lines = wrap(&shown(&said, names, look), look.width, 0);
        lines.extend(numbers(record, &said, names, look));
    }
    if let Some(refused) = &why.refused {
        let text = format!("not explained: {}", shown(refused, names, look));
        let mark = if asked { Tone::Unsure } else { Tone::Quiet };
        lines.extend(wrap_indented(&text, look.width, 2).iter().map(|line| tone(mark, line)));
    }
    lines
}

/// Which command lines these are that the sentences call by their numbers.
fn numbers(record: &Record, said: &str, names: &Names, look: &Look) -> Vec<String> {
    let said = said.to_lowercase();
    let line = |at: usize| {
        let called = label(&record.plan, at);
        let known = called.starts_with('\'') || !said.contains(&called);
        let name = names.at(at).filter(|_| !known)?;
        Some(wrap_indented(&format!("{called}: {name}"), look.width, 2))
    };
    (0..record.plan.alternatives.len()).filter_map(line).flatten().collect()
}

/// What is behind the sentences, section by section.
pub(super) fn sections(record: &Record, names: &Names, look: &Look) -> Vec<Vec<String>> {
    let why = &record.why;
    let mut largest: Vec<&Difference> = why.differences.iter().collect();
    largest.sort_by(|a, b| b.span_s.median.abs().total_cmp(&a.span_s.median.abs()));
    let mut sections = Vec::new();
    for difference in largest.iter().take(WRITTEN_OUT) {
        let shown = Shown { why, difference, names, look };
        sections.push(findings::table(&shown));
        sections.push(findings::remedies(&shown));
        sections.push(differences::path(&shown));
        sections.push(differences::work(&shown));
        sections.push(differences::share(&shown));
        sections.push(differences::accounts(&shown));
    }
    if largest.len() > WRITTEN_OUT {
        let text = format!("the differences of {} more: --json", largest.len() - WRITTEN_OUT);
        sections.push(wrap(&text, look.width, 2));
    }
    sections.push(findings::experiments(why, names, look));
    sections.push(predictions::predictions(record, names, look));
    sections.push(predictions::growth(why, names, look));
    sections.extend(why.growth.iter().map(|it| predictions::what_grows(it, names, look)));
    sections
}

/// One difference, told from the side of the slower one.
struct Shown<'a> {
    why: &'a whyfaster_core::why::Why,
    difference: &'a Difference,
    names: &'a Names,
    look: &'a Look,
}

impl<'a> Shown<'a> {
    /// The slower one and the faster one.
    fn sides(&self) -> (&'a str, &'a str) {
        let (alternative, baseline) = (&self.difference.alternative, &self.difference.baseline);
        if self.turned() { (baseline, alternative) } else { (alternative, baseline) }
    }

    /// Whether the baseline is the slower one.
    fn turned(&self) -> bool {
        self.difference.span_s.median < 0.0
    }

    /// A difference of alternative less baseline, told as slower less faster.
    fn told(&self, estimate: Estimate) -> Estimate {
        if !self.turned() {
            return estimate;
        }
        let (low, high) = (estimate.high.map(|it| -it), estimate.low.map(|it| -it));
        Estimate { median: -estimate.median, low, high }
    }

    /// The whole difference.
    fn whole(&self) -> Estimate {
        self.told(self.difference.span_s)
    }

    /// The unit in which these times are shown.
    fn scale(&self, times: impl IntoIterator<Item = f64>) -> Scale {
        Scale::choose([times.into_iter().map(f64::abs).fold(0.0, f64::max)], self.look.time_unit)
    }

    fn section(&self, title: &str, grid: Grid) -> Vec<String> {
        section(title, grid, self.look)
    }
}

/// Foreign text with names as they are shown.
fn shown(text: &str, names: &Names, look: &Look) -> String {
    for_look(&names.within(&clean(text)), look)
}

/// Columns that the first number takes beside a label.
const NUMBER: usize = 18;

/// A column of labels that leaves room for a number.
fn labels(header: &str, labels: impl IntoIterator<Item = String>, look: &Look) -> Column {
    let room = look.width.saturating_sub(NUMBER);
    let label = |text: String| shorten(&for_look(&text, look), room, look.unicode);
    Column::new(header, labels.into_iter().map(label).collect())
}

/// A title and the table, and what found no room.
fn section(title: &str, grid: Grid, look: &Look) -> Vec<String> {
    let mut lines: Vec<String> =
        wrap(title, look.width, 2).iter().map(|line| tone(Tone::Strong, line)).collect();
    let Drawn { lines: table, left_out } = grid.with_values().draw(look.width, 2);
    lines.extend(table);
    if !left_out.is_empty() {
        let text = format!("(no room for: {}; --json has everything)", left_out.join(", "));
        lines.extend(wrap_indented(&text, look.width, 2).iter().map(|line| tone(Tone::Quiet, line)));
    }
    lines
}

fn single<T>(name: &'static str, unit: &str, rows: &[T], cell: impl Fn(&T) -> String) -> Group {
    let title = if unit.is_empty() { name.to_owned() } else { format!("{name} {unit}") };
    Group::new(name, vec![Column::new(title, rows.iter().map(cell).collect())])
}

/// A signed time: a difference says which way.
fn signed(scale: Scale, seconds: f64) -> String {
    let text = scale.number(seconds);
    if seconds > 0.0 { format!("+{text}") } else { text }
}

fn ends(scale: Scale, estimate: &Estimate) -> String {
    interval(estimate.low, estimate.high, |value| signed(scale, value))
}

/// A part of the whole difference.
fn share(part: f64, whole: f64) -> String {
    if whole == 0.0 { super::grid::ABSENT.to_owned() } else { percent(part / whole) }
}
