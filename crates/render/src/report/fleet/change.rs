//! What an update changed on the machines of a fleet.

use maud::{Markup, html};
use whyfaster_core::fleet::change::{ChangeReport, RowChange};
use whyfaster_core::fleet::split::Group;
use whyfaster_core::price::sample::row_id;

use super::super::super::fleet as screen;
use super::super::figures::forest::{self, Kind};
use super::super::page::{Page, Section, figure};
use super::super::{look_of_page, look_of_text, table};
use super::prices::{explained, legend};
use super::room::{NAMED, carry, name};
use whyfaster_words::clean::clean;
use whyfaster_words::display::Detail;
use whyfaster_words::look::Look;
use whyfaster_words::phrases::count;
use whyfaster_words::text::finish;

/// The page of what an update changed.
pub fn changes(report: &ChangeReport, json: &[u8], look: &Look) -> Page {
    let look = &look_of_page(look);
    let answer = screen::changes(report, &Look { detail: Detail::Sentence, ..look.clone() });
    let mut page = Page { about: "fleet, before and after".to_owned(), ..Page::default() };
    page.answer(finish(answer.trim(), false));
    let facts = report.facts.iter().map(|it| {
        let of = &it.difference;
        vec![of.fact.name().to_owned(), clean(&of.first), clean(&of.second), it.machines.to_string()]
    });
    let header = ["fact", "before", "after", "machines"].map(str::to_owned).to_vec();
    let unpaired = [("before only", &report.only_before), ("after only", &report.only_after)];
    let machines = html! {
        @if report.facts.is_empty() { p { "No fact that is known changed." } } @else { (table::rows("facts that changed", header, facts)) }
        @for (what, names) in unpaired.iter().filter(|(_, names)| !names.is_empty()) {
            p class="missing" { b { (what) } ": " (names.iter().take(NAMED).map(|it| clean(it)).collect::<Vec<_>>().join(", ")) @if names.len() > NAMED { ", ..." } }
        }
    };
    page.push(Section::new("rows", "How prices changed", rows(report, look)));
    if report.groups.len() > 1 {
        let groups: Vec<&Group> = report.groups.iter().collect();
        page.push(Section::new(
            "groups",
            "What explains how machines changed",
            explained(&report.splits, &legend(&groups)),
        ));
    }
    page.push(Section::new("machines", "The machines", machines));
    let plain = Look { detail: Detail::Screen, ..look_of_text(look) };
    let text = finish(&screen::changes(report, &plain), false);
    page.push(Section::new(
        "text",
        "As the terminal prints it",
        table::terminal("whyfaster fleet diff", &text),
    ));
    carry(&mut page, "diff.json", "the report", json);
    page
}

/// Every row with its interval, those that changed first.
fn rows(report: &ChangeReport, look: &Look) -> Markup {
    let tone = |it: &RowChange| match it.changed {
        false => "plain",
        true if it.ratio.is_above_one() => "bad",
        true => "good",
    };
    let lane = |it: &RowChange| {
        let id = row_id(&it.row.name, &it.row.variant);
        forest::Lane { name: name(&id), ratio: Some(it.ratio), kind: Kind::One(tone(it)) }
    };
    let (changed, others): (Vec<&RowChange>, Vec<&RowChange>) = report.rows.iter().partition(|it| it.changed);
    let picture = |title: &str, rows: &[&RowChange]| {
        let lanes: Vec<forest::Lane> = rows.iter().map(|it| lane(it)).collect();
        forest::picture(title.to_owned(), &lanes, ["cheaper", "dearer"])
    };
    let caption = "Square: after over before in the median machine; line: its interval, which is open to the edge where machines are too few.";
    let all: Vec<&RowChange> = report.rows.iter().collect();
    html! {
        @match picture("Prices that changed", &changed) {
            Some(picture) => { (figure(&picture, caption)) }
            None => { p { "No price changed." } }
        }
        @if let Some(picture) = picture("Prices that did not", &others) {
            details { summary { (count(others.len() as u64, "price that did not change", "prices that did not change")) } (figure(&picture, caption)) }
        }
        details { summary { "the numbers" } (table::table("rows", &screen::change_grid(report, &all, look))) }
    }
}
