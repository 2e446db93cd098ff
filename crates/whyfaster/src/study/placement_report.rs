//! What the study of placement found, as text.

use whyfaster_core::trace::report::SharerKind;

use super::placement::{Figure, Placed, PlacementFindings};
use super::traced::TracedStudy;
use super::traced_report::{Page, sentence, times};
use crate::render::grid::{ABSENT, Column, Grid, Group};
use crate::render::look::Look;
use crate::render::trace::{Shown, blocked};
use crate::render::units::{Scale, percent, time};

/// A CPU's occupants below this share of the run are not worth a row.
const WORTH: f64 = 0.01;
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
            page.table("where it waited, the first traced run of each", waited(&found.placed, look));
        }
        for placed in found.placed.iter().filter(|placed| self.worth_a_look(&placed.alternative)) {
            page.table(
                &format!("{}: who ran on which CPU, share of its time", placed.alternative),
                ran(placed),
            );
            page.lines(blocked(&placed.report, &Shown::of(placed.alternative.clone()), look));
        }
        let graphs: Vec<String> = found
            .placed
            .iter()
            .filter_map(|placed| {
                Some(format!("{}: {}", placed.alternative, placed.flamegraph.as_ref()?.display()))
            })
            .collect();
        match graphs.is_empty() {
            true => page.say("Flame graphs of both: give a directory with --flamegraphs DIR."),
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

fn waited(placed: &[Placed], look: &Look) -> Grid {
    let scale = Scale::choose([placed.iter().map(|it| it.wall_s).fold(0.0, f64::max)], look.time_unit);
    let column = |header: String, cell: &dyn Fn(&Placed) -> String| {
        Column::new(header, placed.iter().map(cell).collect())
    };
    let seconds = |value: Option<f64>| value.map_or_else(|| ABSENT.to_owned(), |s| scale.number(s));
    let behind = |it: &Placed| {
        let kernel = it.behind.iter().filter(|row| row.kind == SharerKind::Kernel);
        it.avoidable_s.is_some().then(|| kernel.map(|row| row.seconds).sum())
    };
    let kernel = |it: &Placed| (!it.cpus.is_empty()).then(|| it.kernel().iter().map(|(_, s)| s).sum());
    let most = |it: &Placed| {
        it.kernel()
            .first()
            .map_or_else(|| ABSENT.to_owned(), |(name, s)| format!("{name} {}", time(*s, look.time_unit)))
    };
    Grid {
        key: column("command".to_owned(), &|it| it.alternative.clone()),
        groups: vec![
            Group::new(
                "traced",
                vec![column(format!("traced {}", scale.name), &|it| scale.number(it.wall_s))],
            ),
            Group::new("kernel", vec![column("kernel threads ran".to_owned(), &|it| seconds(kernel(it)))]),
            Group::new(
                "waits",
                vec![
                    column("waited behind them".to_owned(), &|it| seconds(behind(it))),
                    column("avoidable".to_owned(), &|it| seconds(it.avoidable_s)),
                ],
            ),
            Group::new("longest", vec![column("longest".to_owned(), &|it| seconds(it.avoidable_longest_s))]),
            Group::new("most", vec![column("most".to_owned(), &most)]),
        ],
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
