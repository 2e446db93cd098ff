//! What the study of placement found, as text.

use whyfaster_core::short;
use whyfaster_core::stats::quantile;
use whyfaster_core::trace::report::SharerKind;

use super::placement::{Figure, Placed, PlacementFindings, TracedRun, kernel};
use super::traced::TracedStudy;
use super::traced_report::{Page, sentence, times};
use crate::render::grid::{ABSENT, Column, Grid, Group};
use crate::render::look::Look;
use crate::render::trace::hottest::Hot;
use crate::render::trace::{Shown, blocked};
use crate::render::units::{Scale, percent, time};

/// A CPU's occupants below this share of the run are not worth a row.
const WORTH: f64 = 0.01;
/// Columns beside a stack: the margin and a time.
const ROOM_FOR_TIME: usize = 14;
/// CPUs that have a column; where there are more, those where the most was done.
const MOST_CPUS: usize = 8;

impl TracedStudy<Figure> {
    /// The report: a sentence, times, who ran where, who waited for what, the claims.
    pub fn placement_text(&self, found: &PlacementFindings, look: &Look) -> String {
        let common = &found.common;
        let what = format!("With {} the {} lines take", self.alternative, common.amount);
        let mut page = Page::new(&sentence(self, common, &what, self.file_over_cat(), look), look);
        page.say(&format!("Read from {}.", found.file_system.words()));
        for why in &found.file_system.why_not {
            page.say(&format!("Not from something else: {why}."));
        }
        if !found.caches_dropped {
            page.say("The page cache was not dropped before each run, because that needs root.");
        }
        page.table("time, untraced", times("command", &common.rows, |figure| figure.real_s, look));
        if !found.placed.is_empty() {
            page.table(&format!("where it waited, {}", of_runs(&found.placed)), waited(&found.placed, look));
        }
        for placed in found.placed.iter().filter(|placed| self.worth_a_look(&placed.alternative)) {
            page.table(
                &format!("{}: who ran on which CPU, share of its time", placed.alternative),
                ran(placed),
            );
            page.lines(blocked(&placed.report, &Shown::of(placed.alternative.clone()), look));
            if !placed.hottest.is_empty() {
                let title = format!("{}: where the most time went, by stack", placed.alternative);
                page.table(&title, stacks(&placed.hottest, look));
            }
        }
        let graphs: Vec<String> = found
            .placed
            .iter()
            .filter_map(|placed| {
                Some(format!("{}: {}", placed.alternative, placed.flamegraph.as_ref()?.display()))
            })
            .collect();
        match graphs.is_empty() {
            true => page.say("Flame graphs of both as files: give a directory with --flamegraphs DIR."),
            false => page.say(&format!("Flame graphs: {}.", graphs.join(", "))),
        }
        page.end(self, common)
    }

    /// The two that the question is about.
    pub fn worth_a_look(&self, name: &str) -> bool {
        name == self.baseline || name == self.alternative
    }

    fn file_over_cat(&self) -> Option<f64> {
        let real = |name: &str| self.article.figures.iter().find(|f| f.command == name).map(|f| f.real_s);
        Some(real(&self.baseline)? / real(&self.alternative)?)
    }
}

/// Of how many runs the numbers are.
fn of_runs(placed: &[Placed]) -> String {
    let runs = placed.iter().map(|it| it.runs.len()).min().unwrap_or(0);
    if runs == 1 { "one traced run of each".to_owned() } else { format!("medians of {runs} traced runs") }
}

fn waited(placed: &[Placed], look: &Look) -> Grid {
    let scale = Scale::choose([placed.iter().map(|it| it.wall_s).fold(0.0, f64::max)], look.time_unit);
    let column = |header: String, cell: &dyn Fn(&Placed) -> String| {
        Column::new(header, placed.iter().map(cell).collect())
    };
    // A number that some run lacks is a number of none.
    let values = |it: &Placed, of: fn(&TracedRun) -> Option<f64>| -> Option<Vec<f64>> {
        it.runs.iter().map(of).collect::<Option<Vec<f64>>>().filter(|values| !values.is_empty())
    };
    let median = |it: &Placed, of: fn(&TracedRun) -> Option<f64>| {
        values(it, of).and_then(|values| quantile::median(&values))
    };
    let seconds = |value: Option<f64>| value.map_or_else(|| ABSENT.to_owned(), |s| scale.number(s));
    let range = |it: &Placed| {
        let values = values(it, |run| run.avoidable_s)?;
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        Some(format!("{} to {}", scale.number(low), scale.number(values.iter().copied().fold(0.0, f64::max))))
    };
    let others = |it: &Placed| median(it, |run| run.strangers).map_or_else(|| ABSENT.to_owned(), percent);
    let most = |it: &Placed| {
        kernel(&it.cpus)
            .first()
            .map_or_else(|| ABSENT.to_owned(), |(name, s)| format!("{name} {}", time(*s, look.time_unit)))
    };
    let ran = |it: &Placed| seconds(median(it, |run| run.kernel_s));
    let behind = |it: &Placed| seconds(median(it, |run| run.behind_kernel_s));
    let avoidable = |it: &Placed| seconds(median(it, |run| run.avoidable_s));
    Grid {
        key: column("command".to_owned(), &|it| it.alternative.clone()),
        groups: vec![
            Group::new(
                "traced",
                vec![column(format!("traced {}", scale.name), &|it| {
                    seconds(median(it, |run| Some(run.wall_s)))
                })],
            ),
            Group::new("kernel", vec![column("kernel threads ran".to_owned(), &ran)]),
            Group::new(
                "waits",
                vec![
                    column("waited behind them".to_owned(), &behind),
                    column("avoidable".to_owned(), &avoidable),
                ],
            ),
            Group::new(
                "range",
                vec![column("its range".to_owned(), &|it| range(it).unwrap_or_else(|| ABSENT.to_owned()))],
            ),
            Group::new("others", vec![column("CPUs others had".to_owned(), &others)]),
            Group::new("most", vec![column("most (first run)".to_owned(), &most)]),
        ],
    }
}

/// Places where time went.
fn stacks(hottest: &[Hot], look: &Look) -> Grid {
    let column =
        |header: &str, cell: &dyn Fn(&Hot) -> String| Column::new(header, hottest.iter().map(cell).collect());
    let room = look.width.saturating_sub(ROOM_FOR_TIME);
    let stack = |it: &Hot| match it.frames.is_empty() {
        true => format!("{} {}", it.command, it.state),
        false => format!("{} {}: {}", it.command, it.state, it.frames.join(" > ")),
    };
    Grid {
        key: column("innermost calls", &|it| short::shorten(&stack(it), room, "...")),
        groups: vec![Group::new("time", vec![column("time", &|it| time(it.seconds, look.time_unit))])],
    }
}

/// Who ran where: a row for each occupant, a column for each CPU.
fn ran(placed: &Placed) -> Grid {
    let share = |seconds: f64| if placed.wall_s > 0.0 { seconds / placed.wall_s } else { 0.0 };
    let mut who: Vec<(String, f64)> = Vec::new();
    for row in placed.cpus.iter().filter(|row| share(row.seconds) >= WORTH) {
        match who.iter_mut().find(|(name, _)| *name == row.who) {
            Some((_, seconds)) => *seconds += row.seconds,
            None => who.push((row.who.clone(), row.seconds)),
        }
    }
    who.sort_by(|a, b| b.1.total_cmp(&a.1));
    let busy = |cpu: u16| -> f64 {
        let mine = placed.cpus.iter().filter(|row| row.cpu == cpu && row.kind != SharerKind::Idle);
        mine.map(|row| row.seconds).sum()
    };
    let mut cpus: Vec<u16> = placed.cpus.iter().map(|row| row.cpu).collect();
    cpus.dedup();
    cpus.sort_by(|a, b| busy(*b).total_cmp(&busy(*a)));
    cpus.truncate(MOST_CPUS);
    cpus.sort_unstable();
    let cell = |cpu: u16, name: &str| {
        let rows = placed.cpus.iter().filter(|row| row.cpu == cpu && row.who == name);
        let seconds: f64 = rows.map(|row| row.seconds).sum();
        if seconds > 0.0 { percent(share(seconds)) } else { String::new() }
    };
    let columns = cpus
        .iter()
        .map(|cpu| Column::new(format!("CPU {cpu}"), who.iter().map(|(name, _)| cell(*cpu, name)).collect()));
    Grid {
        key: Column::new("who", who.iter().map(|(name, _)| name.clone()).collect()),
        groups: columns.map(|column| Group::new("CPU", vec![column])).collect(),
    }
}
