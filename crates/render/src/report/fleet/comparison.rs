//! A comparison on the machines of a fleet, as a forest plot.

use maud::{Markup, html};
use whyfaster_core::fleet::effects::{Combined, EffectReport, GroupEffect};
use whyfaster_core::fleet::questions::{Answered, Question};
use whyfaster_core::verdict::Verdict;

use super::super::super::fleet as screen;
use super::super::figures::forest::{self, Kind, Lane};
use super::super::page::{figure, missing};
use super::super::table;
use super::room::{TABLED, name};
use whyfaster_words::clean::clean;
use whyfaster_words::fleet as words;
use whyfaster_words::look::Look;
use whyfaster_words::phrases::count;

/// Machines that have a line of their own, and groups that have some; what is left out is said.
const LINES: usize = 60;
const GROUPS: usize = 8;

/// "'B' against 'A' at 10 copies".
fn asked(it: &Question) -> String {
    clean(&format!("{} against {}{}", it.alternative, it.baseline, words::copies(it)))
}

/// "10 machines together", "8 of 10 machines together" where the others have no interval.
fn together(it: &Combined, machines: usize) -> String {
    let of = if it.machines < machines { format!("{} of ", it.machines) } else { String::new() };
    format!("{of}{} together", count(machines as u64, "machine", "machines"))
}

/// The lines of a plot, and what it leaves out.
struct Lines {
    lanes: Vec<Lane>,
    machines_left: usize,
    groups_left: usize,
}

impl Lines {
    /// The machines by the fact that separates them, each group with what it comes to, and all of them.
    fn of(report: &EffectReport) -> Self {
        let groups = &report.groups[..report.groups.len().min(GROUPS)];
        let mut lines =
            Self { lanes: Vec::new(), machines_left: 0, groups_left: report.groups.len() - groups.len() };
        let most = LINES / groups.len().max(1);
        for group in groups {
            lines.group(report, group, most, report.groups.len() > 1);
        }
        if let Some(all) = report.combined {
            let lane = Lane {
                name: together(&all, report.machines.len()),
                ratio: Some(all.ratio),
                kind: Kind::Together(all.next),
            };
            lines.lanes.push(lane);
        }
        lines
    }

    fn group(&mut self, report: &EffectReport, group: &GroupEffect, most: usize, several: bool) {
        if several {
            let title = name(&words::group(&group.group));
            self.lanes.push(Lane { name: title, ratio: None, kind: Kind::Heading });
        }
        let mut here: Vec<usize> = group.group.machines.clone();
        here.sort_by(|a, b| report.machines[*a].ratio.ratio.total_cmp(&report.machines[*b].ratio.ratio));
        // Evenly over their order, both ends with it.
        let shown = here.len().min(most);
        self.machines_left += here.len() - shown;
        for at in (0..shown).map(|at| here[at * (here.len() - 1) / (shown - 1).max(1)]) {
            let it = &report.machines[at];
            let tone = match it.verdict {
                Verdict::Faster => "good",
                Verdict::Slower => "bad",
                Verdict::Same => "plain",
                Verdict::Undecided => "unsure",
            };
            self.lanes.push(Lane { name: name(&it.machine), ratio: Some(it.ratio), kind: Kind::One(tone) });
        }
        if let Some(it) = group.tally.combined.filter(|_| several) {
            let kind = Kind::Together(it.next);
            self.lanes.push(Lane { name: together(&it, here.len()), ratio: Some(it.ratio), kind });
        }
    }

    fn caption(&self) -> String {
        let mut caption = "Square: the ratio; line: its interval. Diamond: several machines together, with the interval; dotted: where the next machine lies.".to_owned();
        if self.machines_left > 0 {
            caption.push_str(&format!(
                " {} more machines have no line: those shown are spread evenly over the order of the ratios.",
                self.machines_left
            ));
        }
        if self.groups_left > 0 {
            let groups = count(self.groups_left as u64, "smaller group has", "smaller groups have");
            caption.push_str(&format!(" {groups} none: see the table."));
        }
        caption
    }
}

/// The forest plot of a comparison and its numbers.
pub(super) fn comparison(answered: &Answered, look: &Look) -> Markup {
    let report = &answered.report;
    let several = report.groups.len() > 1;
    let lines = Lines::of(report);
    let sides = [format!("faster than {}", clean(&answered.question.baseline)), "slower".to_owned()];
    let picture = forest::picture(
        format!("{}: time on each machine", asked(&answered.question)),
        &lines.lanes,
        [&sides[0], &sides[1]],
    );
    let groups: Vec<_> = report.groups.iter().collect();
    html! {
        h3 { (asked(&answered.question)) }
        @if let Some(text) = words::explained(&report.splits) { p { "What separates the machines is " (text) "." } }
        @if let Some(all) = &report.combined { p { (screen::combined(all, report.machines.len())) } }
        @if let Some(picture) = &picture { (figure(picture, &lines.caption())) }
        @if several { (table::table("groups of machines", &screen::effect_grid(&groups, look))) }
        @if report.machines.len() <= TABLED {
            details { summary { "every machine" } (table::table("machines", &screen::machine_grid(answered, look))) }
        } @else {
            (missing("not in this page", "the table of so many machines", Some("whyfaster fleet report --export-comparisons-csv FILE")))
        }
    }
}
