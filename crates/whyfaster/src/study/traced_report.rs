//! What the reports of timed and traced studies have in common: the sentence, the times, what stands below.

use whyfaster_core::verdict::Verdict;

use super::claims::{claim_lines, tally};
use super::traced::{About, Row, TracedFindings, TracedStudy};
use crate::render::grid::{ABSENT, Column, Grid, Group};
use crate::render::look::Look;
use crate::render::table::{interval, verdict_word};
use crate::render::text::{Tone, finish, for_look, tone, wrap};
use crate::render::units::{Scale, digits, time};

/// A report that grows from top to bottom.
pub(super) struct Page<'a> {
    lines: Vec<String>,
    look: &'a Look,
}

impl<'a> Page<'a> {
    /// Begins with what matters, in a sentence.
    pub(super) fn new(sentence: &str, look: &'a Look) -> Self {
        Self { lines: wrap(&tone(Tone::Strong, sentence), look.width, 0), look }
    }

    /// A table below its title.
    pub(super) fn table(&mut self, title: &str, grid: Grid) {
        self.lines.push(String::new());
        self.lines.extend(wrap(&tone(Tone::Strong, title), self.look.width, 2));
        self.lines.extend(grid.with_values().draw(self.look.width, 2).lines);
    }

    /// Lines that are laid out already.
    pub(super) fn lines(&mut self, lines: Vec<String>) {
        self.lines.extend(lines);
    }

    /// A paragraph.
    pub(super) fn say(&mut self, text: &str) {
        self.lines.extend(wrap(text, self.look.width, 2));
    }

    /// The article, what was left out or not measured, the claims; then all of it as text.
    pub(super) fn end<F: About + Clone>(
        mut self,
        study: &TracedStudy<F>,
        found: &TracedFindings<F>,
    ) -> String {
        self.lines.push(String::new());
        let article = &study.article;
        self.say(&format!("Article: {}; {}; {}.", article.source, article.tool, article.input));
        self.say(&format!("Its machine: {}.", article.machine));
        for (name, why) in &found.left_out {
            self.say(&format!("Left out: {name}, because {why}."));
        }
        for why in &found.not_traced {
            let text = format!("{} {}", tone(Tone::Unsure, "not measured:"), for_look(why, self.look));
            self.say(&text);
        }
        self.lines.extend([String::new(), "The article's claims here:".to_owned()]);
        self.lines.extend(claim_lines(&found.claims));
        self.lines.push(String::new());
        finish(&self.lines.join("\n"), self.look.color)
    }
}

/// What matters: how the alternative did against the baseline, and how many claims hold. `what` is put before the time.
pub(super) fn sentence<F: About + Clone>(
    study: &TracedStudy<F>,
    found: &TracedFindings<F>,
    what: &str,
    article_ratio: Option<f64>,
    look: &Look,
) -> String {
    let claims = tally(&found.claims);
    let row = found.row(&study.alternative);
    let (Some(ratio), Some(verdict), Some(median)) =
        (row.and_then(|r| r.ratio), row.and_then(|r| r.verdict), row.and_then(|r| r.median_s))
    else {
        return format!("Nothing was compared here; {claims}.");
    };
    let article =
        article_ratio.map_or_else(String::new, |ratio| format!(" (article: {} times)", digits(ratio)));
    let time = time(median, look.time_unit);
    let how = match verdict {
        Verdict::Faster => format!("{} times as fast as", digits(1.0 / ratio.ratio)),
        Verdict::Slower => format!("{} times slower than", digits(ratio.ratio)),
        Verdict::Same => "as fast as".to_owned(),
        // Nothing is claimed of the two: what was seen is said as such.
        Verdict::Undecided => {
            let seen = digits(ratio.ratio);
            let base = &study.baseline;
            return format!(
                "{what} {time}; whether that is faster than {base} is undecided (time ratio {seen}){article}; {claims}."
            );
        }
    };
    format!("{what} {time}, {how} {}{article}; {claims}.", study.baseline)
}

/// A column of a table of commands.
pub(super) fn column<F>(
    header: impl Into<String>,
    rows: &[Row<F>],
    cell: impl Fn(&Row<F>) -> String,
) -> Column {
    Column::new(header, rows.iter().map(cell).collect())
}

/// The column that names the commands.
pub(super) fn key<F>(header: &str, rows: &[Row<F>]) -> Column {
    column(header, rows, |row| row.alternative.clone())
}

/// The untraced times beside those of the article.
pub(super) fn times<F>(header: &str, rows: &[Row<F>], article_s: impl Fn(&F) -> f64, look: &Look) -> Grid {
    let slowest = rows.iter().filter_map(|row| row.median_s).fold(0.0, f64::max);
    let scale = Scale::choose([slowest], look.time_unit);
    let ratio = |row: &Row<F>| row.ratio.map_or_else(|| "1".to_owned(), |r| digits(r.ratio));
    let ends = |row: &Row<F>| row.ratio.map_or_else(String::new, |r| interval(r.low, r.high, digits));
    let verdict = |row: &Row<F>| row.verdict.map_or_else(|| "baseline".to_owned(), verdict_word);
    let article = |row: &Row<F>| {
        row.article.as_ref().map_or_else(|| ABSENT.to_owned(), |a| format!("{:.2}", article_s(a)))
    };
    let median = |row: &Row<F>| row.median_s.map_or_else(|| ABSENT.to_owned(), |s| scale.number(s));
    Grid {
        key: key(header, rows),
        groups: vec![
            Group::new("time", vec![column(format!("time {}", scale.name), rows, median)]),
            Group::new("ratio", vec![column("ratio", rows, ratio), column("verdict", rows, verdict)]),
            Group::new("interval", vec![column("interval", rows, ends)]),
            Group::new("article", vec![column("article s", rows, article)]),
        ],
    }
}
