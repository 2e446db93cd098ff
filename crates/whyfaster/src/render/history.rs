//! Prices over kernels on the screen: the steps in words, a table, and a chart of how each row went.

use whyfaster_core::price::history::{History, Line, Step};

use super::grid::{ABSENT, Column, Grid, Group, or_absent};
use super::look::Look;
use super::text::{Tone, finish, for_look, tone, width, wrap, wrap_indented};
use super::units::{percent, price};

/// Steps that are told; the rest is counted.
const STEPS: usize = 20;

/// The report.
pub fn report(history: &History, look: &Look) -> String {
    let look = &Look { price_unit: history.unit, ..look.clone() };
    let mut lines = wrap(&tone(Tone::Strong, &title(history)), look.width, 0);
    lines.extend(steps(history, look));
    lines.push(String::new());
    lines.extend(table(history, look));
    lines.push(String::new());
    lines.extend(chart(history, look));
    lines.push(String::new());
    finish(&lines.join("\n"), look.color)
}

fn title(history: &History) -> String {
    let (first, last) = (history.kernels.first(), history.kernels.last());
    let (first, last) = (first.map_or("", String::as_str), last.map_or("", String::as_str));
    let up = history.steps.iter().filter(|step| step.ratio > 1.0).count();
    format!(
        "{} rows over {} kernels, {first} to {last}, in {}: {up} steps up and {} down by more than {}.",
        history.rows.len(),
        history.kernels.len(),
        history.unit.name(),
        history.steps.len() - up,
        percent(history.delta)
    )
}

fn row_name(line: &Line, look: &Look) -> String {
    for_look(&format!("{} {}", line.name, line.variant), look)
}

/// One sentence a step, the largest first.
pub(super) fn steps(history: &History, look: &Look) -> Vec<String> {
    let mut lines = Vec::new();
    for step in history.steps.iter().take(STEPS) {
        lines.extend(wrap_indented(&sentence(history, step, look), look.width, 2));
    }
    if history.steps.len() > STEPS {
        lines.push(format!("{} more steps; --json has all of them", history.steps.len() - STEPS));
    }
    lines
}

fn sentence(history: &History, step: &Step, look: &Look) -> String {
    let line = &history.rows[step.row];
    let at = |index: usize| or_absent(line.typical[index], |value| price(value, look));
    let change = (step.ratio - 1.0) * 100.0;
    let text = format!(
        "{} {change:+.0}% from {} to {} ({} to {})",
        row_name(line, look),
        history.kernels[step.from],
        history.kernels[step.to],
        at(step.from),
        at(step.to)
    );
    tone(if step.ratio > 1.0 { Tone::Unsure } else { Tone::Strong }, &text)
}

fn table(history: &History, look: &Look) -> Vec<String> {
    let rows = &history.rows;
    let kernel = |(at, kernel): (usize, &String)| {
        let cell = |line: &Line| or_absent(line.typical[at], |value| price(value, look));
        Group::new("more kernels", vec![Column::of(for_look(kernel, look), rows, cell)])
    };
    let mut groups: Vec<Group> = history.kernels.iter().enumerate().map(kernel).collect();
    let overall = |line: &Line| or_absent(line.overall, |ratio| format!("{:+.0}%", (ratio - 1.0) * 100.0));
    groups.push(Group::of("overall", rows, overall));
    let key = Column::of("operation", rows, |line| row_name(line, look));
    Grid { key, groups }.draw(look.width, history.kernels.len() + 1).lines
}

/// Every row by itself: the height of a kernel's bar is its price over the row's dearest one.
fn chart(history: &History, look: &Look) -> Vec<String> {
    let name = history.rows.iter().map(|line| width(&row_name(line, look))).max().unwrap_or(0);
    let title = format!(
        "each row over its dearest kernel, in eighths, {} to {}",
        history.kernels.first().map_or("", String::as_str),
        history.kernels.last().map_or("", String::as_str)
    );
    let mut lines = wrap(&tone(Tone::Strong, &title), look.width, 0);
    for line in &history.rows {
        let most = line.typical.iter().flatten().copied().fold(0.0, f64::max);
        let bars: Vec<String> = line.typical.iter().map(|value| bar(*value, most, look)).collect();
        let text = row_name(line, look);
        let pad = " ".repeat(name - width(&text));
        lines.push(format!("  {text}{pad}  {}", bars.join(" ")));
    }
    lines
}

fn bar(value: Option<f64>, most: f64, look: &Look) -> String {
    const BARS: [&str; 8] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
    let Some(value) = value.filter(|_| most > 0.0) else { return ABSENT.repeat(2) };
    let level = ((value / most * 8.0).round() as usize).clamp(1, 8);
    if look.unicode { BARS[level - 1].repeat(2) } else { level.to_string().repeat(2) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::fixture::look;
    use whyfaster_core::price::Unit;

    fn history() -> History {
        let line = |name: &str, typical: &[Option<f64>], overall| Line {
            group: "process".into(),
            name: name.into(),
            variant: "reaped".into(),
            typical: typical.to_vec(),
            overall,
        };
        History {
            unit: Unit::GuestInstructions,
            kernels: ["4.4", "5.4", "6.1"].map(str::to_owned).to_vec(),
            rows: vec![
                line("fork", &[Some(184_017.0), Some(268_943.0), Some(270_000.0)], Some(1.467)),
                line("clone3", &[None, Some(1000.0), Some(500.0)], Some(0.5)),
            ],
            steps: vec![
                Step { row: 1, from: 1, to: 2, ratio: 0.5 },
                Step { row: 0, from: 0, to: 1, ratio: 1.4615 },
            ],
            delta: 0.05,
        }
    }

    #[test]
    fn steps_are_sentences_that_one_can_act_on() {
        let text = report(&history(), &look(100, true));
        assert!(text.contains("fork reaped +46% from 4.4 to 5.4 (184k instr to 269k instr)"), "{text}");
        assert!(text.contains("clone3 reaped -50% from 5.4 to 6.1"), "{text}");
        assert!(
            text.contains("2 rows over 3 kernels, 4.4 to 6.1, in guest instructions: 1 steps up and 1 down")
        );
        assert!(text.contains("▅▅ ██ ██") && text.contains("-- ██ ▄▄"), "{text}");
        assert!(text.contains("+47%") && !text.contains(" ns"), "{text}");
    }

    #[test]
    fn without_unicode_the_chart_has_digits() {
        let text = report(&history(), &look(60, false));
        assert!(text.is_ascii() && text.contains("55 88 88"), "{text}");
    }
}
