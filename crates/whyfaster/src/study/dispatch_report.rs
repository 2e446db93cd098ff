//! What the study of dispatchers found, as text.

use whyfaster_core::verdict::Verdict;

use super::dispatch::{DispatchFindings, DispatchStudy, Row};
use super::report::{claim_lines, tally};
use crate::render::grid::{ABSENT, Column, Grid, Group};
use crate::render::look::Look;
use crate::render::table::{interval, verdict_word};
use crate::render::text::{Tone, finish, for_look, tone, wrap};
use crate::render::units::{Scale, digits, time};

impl DispatchStudy {
    /// The report: a sentence, times, what the whole tree did, what the dispatcher alone did, the claims.
    pub fn text(&self, found: &DispatchFindings, look: &Look) -> String {
        let mut lines = wrap(&tone(Tone::Strong, &self.sentence(found, look)), look.width, 0);
        let mut part = |title: &str, grid: Grid| {
            lines.push(String::new());
            lines.extend(wrap(&tone(Tone::Strong, title), look.width, 2));
            lines.extend(grid.with_values().draw(look.width, 2).lines);
        };
        part(&format!("time for {} items, untraced", found.items), times(found, look));
        part("the whole tree, traced", trees(found));
        part(
            "the dispatching process alone: what strace -c without -f shows, and the article's figures",
            alone(found),
        );
        lines.extend(wrap(&self.unseen(found), look.width, 2));
        lines.push(String::new());
        let article = &self.article;
        let source = format!("Article: {}; {}; {} items.", article.source, article.tool, article.items);
        lines.extend(wrap(&source, look.width, 2));
        lines.extend(wrap(&format!("Its machine: {}.", article.machine), look.width, 2));
        for (name, why) in &found.left_out {
            lines.extend(wrap(&format!("Left out: {name}, because {why}."), look.width, 2));
        }
        for why in &found.not_traced {
            let text = format!("{} {}", tone(Tone::Unsure, "not measured:"), for_look(why, look));
            lines.extend(wrap(&text, look.width, 2));
        }
        lines.extend([String::new(), "The article's claims here:".to_owned()]);
        lines.extend(claim_lines(&found.claims));
        lines.push(String::new());
        finish(&lines.join("\n"), look.color)
    }

    fn row<'a>(&self, found: &'a DispatchFindings, name: &str) -> Option<&'a Row> {
        found.rows.iter().find(|row| row.dispatcher == name)
    }

    fn sentence(&self, found: &DispatchFindings, look: &Look) -> String {
        let claims = tally(&found.claims);
        let row = self.row(found, &self.alternative);
        let (Some(ratio), Some(verdict), Some(median)) =
            (row.and_then(|r| r.ratio), row.and_then(|r| r.verdict), row.and_then(|r| r.median_s))
        else {
            return format!("Nothing was compared here; {claims}.");
        };
        let how = match verdict {
            Verdict::Faster => format!("{} times as fast as", digits(1.0 / ratio.ratio)),
            Verdict::Slower => format!("{} times slower than", digits(ratio.ratio)),
            Verdict::Same => "as fast as".to_owned(),
            Verdict::Undecided => format!("(undecided, time ratio {}) against", digits(ratio.ratio)),
        };
        let article = self
            .article_ratio()
            .map_or_else(String::new, |ratio| format!(" (article: {} times)", digits(ratio)));
        format!(
            "With {} {} items take {}, {how} {}{article}; {claims}.",
            self.alternative,
            found.items,
            time(median, look.time_unit),
            self.baseline
        )
    }

    fn article_ratio(&self) -> Option<f64> {
        let real = |name: &str| self.article.figures.iter().find(|f| f.dispatcher == name).map(|f| f.real_s);
        Some(real(&self.baseline)? / real(&self.alternative)?)
    }

    /// What strace without -f could not see, in numbers of this machine.
    fn unseen(&self, found: &DispatchFindings) -> String {
        let counted = self.row(found, &self.alternative).and_then(|row| row.counted.as_ref());
        let Some((forks, own)) = counted.and_then(|tally| Some((tally.forks?, tally.own_forks?))) else {
            return "What the shells behind split do could not be counted at this level.".to_owned();
        };
        let below = forks.saturating_sub(own);
        format!(
            "{} forks {own} times itself, but the shells that it feeds fork {below} times: strace -c without -f sees only the first.",
            self.alternative
        )
    }
}

fn column(header: impl Into<String>, rows: &[Row], cell: impl Fn(&Row) -> String) -> Column {
    Column::new(header, rows.iter().map(cell).collect())
}

fn number(value: Option<u64>) -> String {
    value.map_or_else(|| ABSENT.to_owned(), |value| value.to_string())
}

fn key(rows: &[Row]) -> Column {
    column("dispatcher", rows, |row| row.dispatcher.clone())
}

fn times(found: &DispatchFindings, look: &Look) -> Grid {
    let rows = &found.rows;
    let slowest = rows.iter().filter_map(|row| row.median_s).fold(0.0, f64::max);
    let scale = Scale::choose([slowest], look.time_unit);
    let ratio = |row: &Row| row.ratio.map_or_else(|| "1".to_owned(), |r| digits(r.ratio));
    let ends = |row: &Row| row.ratio.map_or_else(String::new, |r| interval(r.low, r.high, digits));
    let verdict = |row: &Row| row.verdict.map_or_else(|| "baseline".to_owned(), verdict_word);
    let article =
        |row: &Row| row.article.as_ref().map_or_else(|| ABSENT.to_owned(), |a| format!("{:.2}", a.real_s));
    let median = |row: &Row| row.median_s.map_or_else(|| ABSENT.to_owned(), |s| scale.number(s));
    Grid {
        key: key(rows),
        groups: vec![
            Group::new("time", vec![column(format!("time {}", scale.name), rows, median)]),
            Group::new("ratio", vec![column("ratio", rows, ratio), column("verdict", rows, verdict)]),
            Group::new("interval", vec![column("interval", rows, ends)]),
            Group::new("article", vec![column("article s", rows, article)]),
        ],
    }
}

fn trees(found: &DispatchFindings) -> Grid {
    let rows = &found.rows;
    let of = |row: &Row, value: fn(&whyfaster_core::trace::claims::Tally) -> Option<u64>| {
        number(row.counted.as_ref().and_then(value))
    };
    let traced = |row: &Row| row.traced_over_untraced.map_or_else(|| ABSENT.to_owned(), digits);
    let work = |row: &Row| row.counted.as_ref().map_or_else(|| ABSENT.to_owned(), |t| digits(t.work_s));
    Grid {
        key: key(rows),
        groups: vec![
            Group::new("forks", vec![column("forks", rows, |row| of(row, |t| t.forks))]),
            Group::new("execs", vec![column("execs", rows, |row| of(row, |t| t.execs))]),
            Group::new("failed", vec![column("failed execs", rows, |row| of(row, |t| t.failed_execs))]),
            Group::new("waits", vec![column("wait4", rows, |row| of(row, |t| t.waits))]),
            Group::new("work", vec![column("CPU s", rows, work)]),
            Group::new("traced", vec![column("traced/untraced", rows, traced)]),
        ],
    }
}

fn alone(found: &DispatchFindings) -> Grid {
    let rows = &found.rows;
    let here = |row: &Row, value: fn(&whyfaster_core::trace::claims::Tally) -> Option<u64>| {
        number(row.counted.as_ref().and_then(value))
    };
    let article =
        |row: &Row, value: fn(&super::dispatch::Figure) -> u64| number(row.article.as_ref().map(value));
    let cpu = |value: Option<f64>| value.map_or_else(|| ABSENT.to_owned(), digits);
    Grid {
        key: key(rows),
        groups: vec![
            Group::new(
                "forks",
                vec![
                    column("forks", rows, |row| here(row, |t| t.own_forks)),
                    column("article", rows, |row| article(row, |a| a.own_forks)),
                ],
            ),
            Group::new(
                "waits",
                vec![
                    column("wait4", rows, |row| here(row, |t| t.own_waits)),
                    column("article", rows, |row| article(row, |a| a.own_waits)),
                ],
            ),
            Group::new(
                "time",
                vec![
                    column("CPU s in both", rows, |row| {
                        cpu(row.counted.as_ref().and_then(|t| t.own_fork_wait_cpu_s))
                    }),
                    column("article", rows, |row| cpu(row.article.as_ref().map(|a| a.own_fork_wait_cpu_s))),
                ],
            ),
        ],
    }
}
