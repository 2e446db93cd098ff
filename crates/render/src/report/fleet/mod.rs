//! The page of a fleet: its prices over the machines, what its machines say of comparisons, and what an update changed.

mod change;
mod comparison;
mod prices;
mod room;

pub use change::changes;

use maud::html;
use whyfaster_core::fleet::questions::{Answered, Counted};
use whyfaster_core::fleet::{Fleet, PriceReport};

use self::room::carry;
use super::super::fleet as screen;
use super::page::{Page, Section};
use super::{look_of_page, look_of_text, table};
use whyfaster_words::display::Detail;
use whyfaster_words::look::Look;
use whyfaster_words::text::finish;

/// Questions that have a picture.
const QUESTIONS: usize = 20;

/// What a page of a fleet is made of.
#[derive(Clone, Copy, Debug)]
pub struct Reported<'a> {
    /// The prices of its machines.
    pub prices: Option<(&'a Fleet, &'a PriceReport)>,
    /// The comparisons, machine by machine.
    pub answered: &'a [Answered],
    /// Many comparisons in short.
    pub counted: &'a [Counted],
    /// The report as JSON.
    pub json: &'a [u8],
}

/// The page of a report.
pub fn fleet(of: &Reported<'_>, look: &Look) -> Page {
    let look = &look_of_page(look);
    let sentence = Look { detail: Detail::Sentence, ..look.clone() };
    let several: Vec<&Answered> = of.answered.iter().filter(|it| it.report.machines.len() > 1).collect();
    let mut answers: Vec<String> = of.prices.iter().map(|(_, it)| screen::prices(it, &sentence)).collect();
    match of.counted {
        [] => answers.extend(several.iter().map(|it| screen::comparison(it, &sentence))),
        counted => answers.push(screen::counted(counted, &sentence)),
    }
    let answers: Vec<String> = answers.iter().map(|it| finish(it.trim(), false)).collect();
    let mut page = Page { about: "fleet".to_owned(), ..Page::default() };
    page.answer(answers.first().cloned().unwrap_or_default());
    page.lead = html! { div class="why" { @for it in answers.iter().skip(1) { p class="said" { (it) } } } };
    if let Some((fleet, report)) = of.prices {
        page.push(Section::new("outliers", "Machines that stand out", prices::outliers(report)));
        page.push(Section::new(
            "groups",
            "What explains how machines differ",
            prices::explained(&report.splits, &prices::grouped(report, look)),
        ));
        page.push(Section::new(
            "prices",
            "Every price over the machines",
            prices::prices(fleet, report, look),
        ));
    }
    if !several.is_empty() {
        let all = html! { @for it in several.iter().take(QUESTIONS) { (comparison::comparison(it, look)) } };
        page.push(Section::new("comparisons", "Comparisons", all));
    }
    if !of.counted.is_empty() {
        page.push(Section::new(
            "counted",
            "Every comparison in short",
            table::table("comparisons", &screen::counted_grid(&screen::differing(of.counted), look)),
        ));
    }
    let plain = Look { detail: Detail::Screen, ..look_of_text(look) };
    let mut text: Vec<String> = of.prices.iter().map(|(_, it)| screen::prices(it, &plain)).collect();
    match of.counted {
        [] => text.extend(several.iter().map(|it| screen::comparison(it, &plain))),
        counted => text.push(screen::counted(counted, &plain)),
    }
    let text = table::terminal("whyfaster fleet report", &finish(&text.join("\n"), false));
    page.push(Section::new("text", "As the terminal prints it", text));
    carry(&mut page, "fleet.json", "the report", of.json);
    page
}
