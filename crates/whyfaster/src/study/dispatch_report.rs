//! What the study of dispatchers found, as text.

use super::dispatch::Figure;
use super::traced::{Row, TracedFindings, TracedStudy};
use super::traced_report::{Page, column, key, sentence, times};
use crate::render::grid::{ABSENT, Grid, Group};
use crate::render::look::Look;
use crate::render::units::digits;

type Found = TracedFindings<Figure>;

impl TracedStudy<Figure> {
    /// The report: a sentence, times, what the whole tree did, what the dispatcher alone did, the claims.
    pub fn text(&self, found: &Found, look: &Look) -> String {
        let what = format!("With {} {} items take", self.alternative, found.amount);
        let mut page = Page::new(&sentence(self, found, &what, self.article_ratio(), look), look);
        let title = format!("time for {} items, untraced", found.amount);
        page.table(&title, times("dispatcher", &found.rows, |figure| figure.real_s, look));
        page.table("the whole tree, traced", trees(found));
        page.table(
            "the dispatching process alone: what strace -c without -f shows, and the article's figures",
            alone(found),
        );
        page.say(&self.unseen(found));
        page.end(self, found)
    }

    fn article_ratio(&self) -> Option<f64> {
        let real = |name: &str| self.article.figures.iter().find(|f| f.dispatcher == name).map(|f| f.real_s);
        Some(real(&self.baseline)? / real(&self.alternative)?)
    }

    /// What strace without -f could not see, in numbers of this machine.
    fn unseen(&self, found: &Found) -> String {
        let counted = found.row(&self.alternative).and_then(|row| row.counted.as_ref());
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

fn number(value: Option<u64>) -> String {
    value.map_or_else(|| ABSENT.to_owned(), |value| value.to_string())
}

fn trees(found: &Found) -> Grid {
    let rows = &found.rows;
    let of = |row: &Row<Figure>, value: fn(&whyfaster_core::trace::claims::Tally) -> Option<u64>| {
        number(row.counted.as_ref().and_then(value))
    };
    let traced = |row: &Row<Figure>| match (row.traced_over_untraced, row.untraced) {
        (None, _) => ABSENT.to_owned(),
        (Some(ratio), None) => digits(ratio),
        (Some(ratio), Some(range)) => {
            let sure = if range.distinguishable == Some(false) { ", no farther than they are apart" } else { "" };
            format!("{} ({} to {}){sure}", digits(ratio), digits(range.low), digits(range.high))
        }
    };
    let work =
        |row: &Row<Figure>| row.counted.as_ref().map_or_else(|| ABSENT.to_owned(), |t| digits(t.work_s));
    Grid {
        key: key("dispatcher", rows),
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

fn alone(found: &Found) -> Grid {
    let rows = &found.rows;
    let here = |row: &Row<Figure>, value: fn(&whyfaster_core::trace::claims::Tally) -> Option<u64>| {
        number(row.counted.as_ref().and_then(value))
    };
    let article = |row: &Row<Figure>, value: fn(&Figure) -> u64| number(row.article.as_ref().map(value));
    let cpu = |value: Option<f64>| value.map_or_else(|| ABSENT.to_owned(), digits);
    Grid {
        key: key("dispatcher", rows),
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
