//! The prices of a fleet: who stands out, what explains how machines differ, and every row over them.

use maud::{Markup, html};
use whyfaster_core::fleet::outliers::Outlier;
use whyfaster_core::fleet::placed::Placing;
use whyfaster_core::fleet::split::{Group, Split};
use whyfaster_core::fleet::{Fleet, PriceReport, RowSpread};
use whyfaster_core::price::sample::row_id;
use whyfaster_core::verdict::Ratio;

use super::super::super::fleet as screen;
use super::super::figures::machines;
use super::super::page::figure;
use super::super::svg::COLOURS;
use super::super::table;
use super::room::{NAMED, TABLED, name};
use whyfaster_stats::order::largest_first;
use whyfaster_words::clean::clean;
use whyfaster_words::fleet as words;
use whyfaster_words::look::Look;
use whyfaster_words::phrases::count;
use whyfaster_words::text::capitalise;
use whyfaster_words::units::{factor, percent, price, range};

/// Each machine with what it is off in, how far, and its rows.
pub(super) fn outliers(report: &PriceReport) -> Markup {
    let one = |it: &Outlier| {
        let ratio = Ratio { ratio: it.factor, low: it.low, high: it.high };
        let rows = it
            .rows
            .iter()
            .map(|row| vec![clean(&row_id(&row.row.name, &row.row.variant)), factor(row.factor)]);
        html! {
            div class="finding" {
                p { (clean(&words::outlier(it, &it.machine, &factor))) "." }
                p class="quiet" { "Times its group: " (factor(it.factor)) (range(ratio)) ", probability by chance " (probability(it.p_value)) }
                @if !it.rows.is_empty() {
                    details {
                        summary { (count(it.rows.len() as u64, "row is", "rows are")) " off by " (if it.rows.len() == 1 { "itself" } else { "themselves" }) }
                        (table::rows("rows that are off", vec!["row".to_owned(), "times its group".to_owned()], rows))
                    }
                }
            }
        }
    };
    let (first, others) = report.outliers.split_at(report.outliers.len().min(NAMED));
    html! {
        @if first.is_empty() { p { "No machine stands out of its group." } }
        @for it in first { (one(it)) }
        @if !others.is_empty() {
            details {
                summary { (others.len()) " more, less far off" }
                ul { @for it in others { li { (clean(&words::outlier(it, &it.machine, &factor))) } } }
            }
        }
        p class="quiet" { "Of the machines that are named, at most " (percent(report.rate)) " are expected to be so by chance." }
        (not_judged("not judged", "whose group has fewer than three machines", &report.alone.iter().map(String::as_str).collect::<Vec<_>>()))
        (not_judged("judged row by row only", "with fewer than half of the rows that most machines have", &report.not_told().collect::<Vec<_>>()))
    }
}

fn not_judged(how: &str, why: &str, machines: &[&str]) -> Markup {
    html! {
        @if !machines.is_empty() {
            p class="missing" {
                b { (how) } ": " (count(machines.len() as u64, "machine", "machines")) " " (why) ": "
                (machines.iter().take(NAMED).map(|it| clean(it)).collect::<Vec<_>>().join(", "))
                @if machines.len() > NAMED { ", ..." }
            }
        }
    }
}

fn probability(p_value: f64) -> String {
    if p_value < 1e-9 { "below 1e-9".to_owned() } else { format!("{p_value:.1e}") }
}

/// The facts with their share of the variance, and the groups that they make, in the colours of the pictures.
pub(super) fn explained(splits: &[Split], groups: &Markup) -> Markup {
    let rest = (1.0 - splits.iter().map(|it| it.share).sum::<f64>()).max(0.0);
    let parts =
        splits.iter().map(|it| (words::facts(it), it.share)).chain([("not explained".to_owned(), rest)]);
    html! {
        @if splits.is_empty() { p { "No fact of the machines explains how they differ." } }
        @else {
            dl class="facts" {
                @for (what, share) in parts { div { dt { (capitalise(&what)) } dd { (percent((share * 100.0).round() / 100.0)) " of the variance between machines" } } }
            }
        }
        (groups)
    }
}

/// The groups that have a colour of their own in the pictures, and those that share the last.
pub(super) fn legend(groups: &[&Group]) -> Markup {
    let all = groups.len();
    let own = if all > COLOURS { COLOURS - 1 } else { all };
    html! {
        @if all > 1 {
            ul class="colours" {
                @for (at, group) in groups.iter().take(own).enumerate() {
                    li { svg class="picture swatch" role="img" viewBox="0 0 12 12" { title { "colour of the group" } desc { (clean(&words::group(group))) } rect class={ "swatch-" (at) } width="12" height="12" rx="2" {} }
                        " " (clean(&words::group(group))) ", " (count(group.machines.len() as u64, "machine", "machines")) }
                }
                @if all > own {
                    li { svg class="picture swatch" role="img" viewBox="0 0 12 12" { title { "colour of the others" } desc { "other groups" } rect class={ "swatch-" (own) } width="12" height="12" rx="2" {} }
                        " " (count((all - own) as u64, "other group", "other groups")) }
                }
            }
        }
    }
}

pub(super) fn grouped(report: &PriceReport, look: &Look) -> Markup {
    let groups: Vec<&Group> = report.groups.iter().map(|it| &it.group).collect();
    html! {
        (legend(&groups))
        @if groups.len() > 1 { (table::table("groups of machines that are alike", &screen::group_grid(&report.groups[..groups.len().min(TABLED)], look))) }
    }
}

/// The pictures of all rows, those of a group of the list together, and the rows as a table.
pub(super) fn prices(fleet: &Fleet, report: &PriceReport, look: &Look) -> Markup {
    let placing = Placing::of(fleet, report);
    let mut groups: Vec<&str> = report.rows.iter().map(|it| it.row.group.as_str()).collect();
    groups.dedup();
    let mut seen: Vec<&str> = Vec::new();
    groups.retain(|it| {
        !seen.contains(it) && {
            seen.push(*it);
            true
        }
    });
    let lane = |it: &RowSpread| lane(fleet, report, &placing, it, look);
    let lanes: Vec<(&str, Vec<machines::Lane>)> = groups
        .iter()
        .map(|group| (*group, report.rows.iter().filter(|it| it.row.group == *group).map(lane).collect()))
        .collect();
    let axis = machines::axis(lanes.iter().flat_map(|(_, lanes)| lanes));
    let many = report.machines.len() > machines::POINTS;
    let how = if many {
        "Height: how many machines are at this place; the highest place of a row is as high as its line."
    } else {
        "Each point is a machine; its height means nothing."
    };
    let caption = format!(
        "{how} A ring is a machine that stands out. All rows share one logarithmic scale: times the median of the row."
    );
    let mut grid_rows: Vec<&RowSpread> = report.rows.iter().collect();
    largest_first(&mut grid_rows, |it| screen::spread(it));
    html! {
        @if let Some(axis) = axis {
            @for (group, lanes) in &lanes {
                @for (at, some) in lanes.chunks(machines::MOST).enumerate() {
                    @let nth = if at == 0 { String::new() } else { format!(" ({})", at + 1) };
                    @if let Some(picture) = machines::picture(format!("{}{nth}", capitalise(&clean(group))), some, &axis) { (figure(&picture, if at == 0 { &caption } else { "" })) }
                }
            }
        }
        details { summary { "the numbers" } (table::table("rows over the machines", &screen::row_grid(&grid_rows, look))) }
    }
}

fn lane(
    fleet: &Fleet,
    report: &PriceReport,
    placing: &Placing<'_>,
    it: &RowSpread,
    look: &Look,
) -> machines::Lane {
    let costs = fleet
        .rows
        .iter()
        .position(|row| *row == it.row)
        .map_or(&[] as &[Option<f64>], |at| fleet.costs[at].as_slice());
    let over = |ln: f64| ln.exp() / it.median_ns;
    let values = costs.iter().zip(&placing.group_of).filter_map(|(ln, group)| Some((*group, over((*ln)?))));
    let off = report.outliers.iter().filter(|out| out.rows.iter().any(|row| row.row == it.row));
    let place = |out: &Outlier| {
        let at = fleet.machines.iter().position(|machine| machine.name == out.machine)?;
        Some((clean(&out.machine), over((*costs.get(at)?)?)))
    };
    machines::Lane {
        name: name(&row_id(&it.row.name, &it.row.variant)),
        below: price(it.median_ns, look),
        behind: format!("{} apart", factor(screen::spread(it))),
        values: values.collect(),
        marked: off.filter_map(place).take(NAMED).collect(),
        most: (it.p5_ns / it.median_ns, it.p95_ns / it.median_ns),
    }
}
