//! Prices over kernels on the screen: the steps in words, a table, and a chart of how each row went. The first screen has the largest
//! steps, and both others in one table.

use whyfaster_core::price::history::{History, Line, Step};
use whyfaster_words::display::Detail;
use whyfaster_words::grid::{ABSENT, Column, Grid, Group, or_absent};
use whyfaster_words::look::Look;
use whyfaster_words::phrases::count;
use whyfaster_words::text::{Tone, finish, for_look, tone, width, wrap, wrap_indented};
use whyfaster_words::units::{percent, price};

use super::first;
use super::section::paragraphs;
use super::stories::{PLACED_OTHERWISE, change};

/// Lines for steps behind the first screen; the rest is counted.
pub(super) const STEPS: usize = 20;
/// Rows of the table of the first screen.
const ROWS: usize = 18;

/// The report.
pub fn report(history: &History, look: &Look) -> String {
    let look = &Look { price_unit: history.unit, ..look.clone() };
    let mut lines = wrap(&tone(Tone::Strong, &title(history)), look.width, 0);
    match look.detail {
        Detail::Sentence => return finish(&(lines.join("\n") + "\n"), look.color),
        Detail::Screen => {
            let table = overview(history, look);
            let more = first::more(look);
            // An empty line before the table and before what stands last, and one for the steps that are only counted.
            let room = first::LONG.saturating_sub(lines.len() + table.len() + more.len() + 3);
            lines.extend(steps(history, room, look));
            return paragraphs([lines, table, more], look);
        }
        Detail::Tables | Detail::Everything => {}
    }
    let most = if look.detail == Detail::Everything { usize::MAX } else { STEPS };
    lines.extend(steps(history, most, look));
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
        "{} over {}, {first} to {last}, in {}: {} up and {} down by more than {}.",
        count(history.rows.len() as u64, "row", "rows"),
        count(history.kernels.len() as u64, "kernel", "kernels"),
        history.unit.name(),
        count(up as u64, "step", "steps"),
        history.steps.len() - up,
        percent(history.delta)
    )
}

fn row_name(line: &Line, look: &Look) -> String {
    for_look(&format!("{} {}", line.name, line.variant), look)
}

/// One sentence a step, the largest first, in at most so many lines; the rest is counted.
pub(super) fn steps(history: &History, most: usize, look: &Look) -> Vec<String> {
    let (mut lines, mut told, mut placed) = (Vec::new(), 0, false);
    for step in &history.steps {
        let mut more = Vec::new();
        if step.placed_otherwise && !placed {
            placed = true;
            more.extend(wrap(PLACED_OTHERWISE, look.width, 2));
        }
        more.extend(wrap_indented(&sentence(history, step, look), look.width, 2));
        if lines.len() + more.len() > most {
            break;
        }
        lines.extend(more);
        told += 1;
    }
    let hidden = (history.steps.len() - told) as u64;
    if hidden > 0 {
        lines.push(format!("  and {}; --json has all of them", count(hidden, "step more", "steps more")));
    }
    lines
}

/// The first screen's table: how each row went, as bars, over all and as a price on the last kernel; those that changed most.
fn overview(history: &History, look: &Look) -> Vec<String> {
    let mut rows: Vec<(usize, &Line)> = history.rows.iter().enumerate().collect();
    let hidden = rows.len().saturating_sub(ROWS);
    if hidden > 0 {
        let change = |line: &Line| line.overall.map_or(0.0, |ratio| ratio.ln().abs());
        let placed = |at: usize| history.only_placed_otherwise(at);
        rows.sort_by(|a, b| placed(a.0).cmp(&placed(b.0)).then_with(|| change(b.1).total_cmp(&change(a.1))));
        rows.truncate(ROWS);
    }
    let rows: Vec<&Line> = rows.into_iter().map(|(_, line)| line).collect();
    let overall = |line: &&Line| or_absent(line.overall, change);
    let end = |at: usize| {
        let cell = |line: &&Line| or_absent(line.typical[at], |value| price(value, look));
        let kernel = history.kernels.get(at).map(|kernel| for_look(kernel, look)).unwrap_or_default();
        Group::new("ends", vec![Column::of(kernel, &rows, cell)])
    };
    let bars = Group::of("over the kernels", &rows, |line| bars(line, "", look));
    let mut groups = vec![Group::of("first to last", &rows, overall), bars];
    groups.extend([0, history.kernels.len().saturating_sub(1)].map(end));
    let key = Column::of("operation", &rows, |line| row_name(line, look));
    let mut lines = Grid { key, groups }.draw(look.width, 1).lines;
    lines.extend(
        (hidden > 0).then(|| format!("  and {}", count(hidden as u64, "row more: -v", "rows more: -v"))),
    );
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
        let text = row_name(line, look);
        let pad = " ".repeat(name - width(&text));
        lines.push(format!("  {text}{pad}  {}", bars(line, " ", look)));
    }
    lines
}

/// A bar a kernel, each over the row's dearest one.
fn bars(line: &Line, between: &str, look: &Look) -> String {
    let most = line.typical.iter().flatten().copied().fold(0.0, f64::max);
    let bars: Vec<String> = line.typical.iter().map(|value| bar(*value, most, look)).collect();
    bars.join(between)
}

fn bar(value: Option<f64>, most: f64, look: &Look) -> String {
    const BARS: [&str; 8] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"];
    let Some(value) = value.filter(|_| most > 0.0) else { return ABSENT.repeat(2) };
    let level = ((value / most * 8.0).round() as usize).clamp(1, 8);
    if look.unicode { BARS[level - 1].repeat(2) } else { level.to_string().repeat(2) }
}

#[cfg(test)]
mod tests {
    use whyfaster_core::price::Unit;

    use super::*;
    use crate::fixture::look;

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
                Step { row: 1, from: 1, to: 2, ratio: 0.5, placed_otherwise: false },
                Step { row: 0, from: 0, to: 1, ratio: 1.4615, placed_otherwise: false },
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
            text.contains("2 rows over 3 kernels, 4.4 to 6.1, in guest instructions: 1 step up and 1 down")
        );
        assert!(text.contains("▅▅ ██ ██") && text.contains("-- ██ ▄▄"), "{text}");
        assert!(text.contains("+47%") && !text.contains(" ns"), "{text}");
    }

    #[test]
    fn the_first_screen_has_the_steps_and_one_table() {
        let mut many = history();
        many.rows = (0..30).flat_map(|_| many.rows.clone()).collect();
        many.steps = (0..60).flat_map(|_| many.steps.clone()).collect();
        for width in [60, 80, 200] {
            let text = report(&many, &Look { detail: Detail::Screen, ..look(width, true) });
            assert!(text.lines().count() <= 40, "{} lines\n{text}", text.lines().count());
            assert!(text.contains("fork reaped +46% from 4.4 to 5.4") && text.contains("-v: "), "{text}");
            assert!(text.contains("and 42 rows more: -v") && text.contains("steps more"), "{text}");
            assert!(text.lines().all(|line| super::width(line) <= width), "{text}");
        }
        let quiet = Look { detail: Detail::Sentence, ..look(80, true) };
        assert!(report(&history(), &quiet).lines().count() <= 2);
    }

    #[test]
    fn without_unicode_the_chart_has_digits() {
        let text = report(&history(), &look(60, false));
        assert!(text.is_ascii() && text.contains("55 88 88"), "{text}");
    }
}
