//! The page of a price list, and of several side by side.

use maud::{Markup, html};
use whyfaster_core::price::compare::Rule;
use whyfaster_core::price::history::{History, Line, history};
use whyfaster_core::price::{Price, PriceList};
use whyfaster_words::clean::clean;
use whyfaster_words::display::Detail;
use whyfaster_words::look::Look;
use whyfaster_words::text::{capitalise, finish};

use super::super::history as history_text;
use super::super::machines::{self, Machines};
use super::super::names::Names;
use super::super::notes;
use super::super::price_sentences::sentences;
use super::super::prices::{grid, groups, head, report};
use super::comparison::plain;
use super::data::{Download, Table, cell};
use super::figures::{bars, history as history_picture};
use super::page::{Page, Section, figure, minute, missing, plotted};
use super::{look_of_page, look_of_text, plot, table};

/// The page of one list; `raw` are its bytes as a file.
pub fn prices(list: &PriceList, raw: &[u8], look: &Look) -> Page {
    let look = &Look { price_unit: list.unit, ..look_of_page(look) };
    let shown = &list.unlabelled();
    let mut page = Page {
        about: clean(&format!("prices, {}, {}", minute(&list.started), kernel(list))),
        ..Page::default()
    };
    page.answer(finish(&head(shown, look).join(" "), false));
    page.lead = lead(shown, look);
    page.sections.extend(of_list(shown, look));
    page.push(Section::new(
        "text",
        "As the terminal prints it",
        table::terminal("whyfaster show -vv", &report(list, &look_of_text(look))),
    ));
    page.downloads.push(Download::json(
        "prices.json",
        "the list: every sample, for whyfaster show and machines",
        raw,
    ));
    page.downloads.push(Download::csv("prices.csv", "the prices as a table", priced(&[list])));
    page.downloads.push(Download::csv("samples.csv", "every sample as a table", samples(list)));
    page
}

fn kernel(list: &PriceList) -> &str {
    list.fingerprint.facts.kernel.as_deref().unwrap_or("a kernel that is not known")
}

fn lead(list: &PriceList, look: &Look) -> Markup {
    let doubts = notes::statements(&list.warnings, &list.not_measured, &Names::of(&[], look), look);
    html! {
        div class="why" { (table::paragraphs("said", &sentences(list, look))) }
        @if !doubts.is_empty() { div class="doubts" role="note" { (table::paragraphs("said", &doubts)) } }
    }
}

/// The groups of a list, what has no price, and the machine.
fn of_list(list: &PriceList, look: &Look) -> Vec<Section> {
    let measured: Vec<&Price> = list.prices.iter().filter(|price| price.is_measured()).collect();
    let group = |name: &str| {
        let rows: Vec<&Price> = measured.iter().filter(|price| price.group == name).copied().collect();
        let picture = bars::picture(capitalise(&clean(name)), &rows, &measured, look);
        html! {
            @if let Some(picture) = picture {
                (figure(&picture, "Bar: the typical price. Light line: up to the 99th of 100; mark within: the 5th. Dark line: the interval. All groups share one logarithmic scale."))
            }
            @if !rows.is_empty() {
                details { summary { "the numbers, with receipts" } (table::table(name, &grid(&rows, look).with_values())) }
            }
        }
    };
    let all = html! {
        @if measured.is_empty() { (missing("not measured", "no row has a price", Some("whyfaster doctor"))) }
        @for name in groups(list) { (group(name)) }
    };
    let without =
        list.prices.iter().filter_map(|it| Some(vec![clean(&it.id()), clean(it.not_measured.as_deref()?)]));
    let mut sections = vec![Section::new("prices", "What operations cost", all)];
    if list.prices.iter().any(|it| it.not_measured.is_some()) {
        let header = vec!["row".to_owned(), "why it has no price".to_owned()];
        sections.push(Section::new(
            "without",
            "Without a price",
            table::rows("rows without a price", header, without),
        ));
    }
    let facts = list.fingerprint.known().into_iter().map(|(name, value)| (name.to_owned(), value));
    sections.push(Section::new("machine", "The machine", table::facts(facts)));
    sections
}

/// The page of several lists: the comparison in the words of the terminal, and the rows over all of them.
pub fn lists(lists: &[PriceList], compared: &Machines, rule: &Rule, look: &Look) -> anyhow::Result<Page> {
    let look = &look_of_page(look);
    let said = |look: &Look| machines::report(lists, compared, true, rule, look);
    let answer = said(&Look { detail: Detail::Sentence, ..look.clone() });
    let mut page = Page { about: "price lists side by side".to_owned(), ..Page::default() };
    page.answer(answer.lines().next().unwrap_or_default());
    page.lead = html! {
        dl class="legend" {
            @for list in lists { div { dt { (clean(&list.name)) } dd { (clean(&format!("{}, {}", minute(&list.started), kernel(list)))) } } }
        }
        div class="why" { @for line in answer.lines().skip(1) { p class="said" { (line) } } }
    };
    let mut units: Vec<Vec<PriceList>> = Vec::new();
    for list in lists {
        match units.iter_mut().find(|of| of[0].unit == list.unit) {
            Some(of) => of.push(list.clone()),
            None => units.push(vec![list.clone()]),
        }
    }
    let mut body = Vec::new();
    for of in units.iter().filter(|of| of.len() > 1) {
        let look = Look { price_unit: of[0].unit, ..look.clone() };
        body.push(over(&mut page, &history(of, rule.delta)?, &look));
    }
    page.push(Section::new("history", "Every row, list by list", super::several(body)));
    let text = said(&look_of_text(look));
    page.push(Section::new(
        "text",
        "As the terminal prints it",
        table::terminal("whyfaster machines -vv", &text),
    ));
    let all: Vec<&PriceList> = lists.iter().collect();
    page.downloads.push(Download::json("lists.json", "all lists", &serde_json::to_vec(lists)?));
    page.downloads.push(Download::csv("prices.csv", "the prices of all lists as a table", priced(&all)));
    Ok(page)
}

/// The pictures of a history, some rows of a group in each.
fn over(page: &mut Page, found: &History, look: &Look) -> Markup {
    let mut groups: Vec<&str> = Vec::new();
    for row in &found.rows {
        if !groups.contains(&row.group.as_str()) {
            groups.push(&row.group);
        }
    }
    let steps: Vec<String> = history_text::steps(found, history_text::STEPS, look);
    let mut parts = Vec::new();
    for group in groups {
        let rows: Vec<&Line> = found.rows.iter().filter(|row| row.group == group).collect();
        for (at, rows) in rows.chunks(history_picture::MOST).enumerate() {
            let nth = if at == 0 { String::new() } else { format!(" ({})", at + 1) };
            let title = format!("{}{nth}", capitalise(group));
            if let Some((picture, value)) = history_picture::picture(found, rows, title, look) {
                let id = plot(page, value);
                parts.push(plotted(Some(&id), &picture, ""));
            }
        }
    }
    html! {
        pre class="scroll text" tabindex="0" { (plain(&steps)) }
        @for part in parts { (part) }
    }
}

fn priced(lists: &[&PriceList]) -> Table {
    let mut table = Table::new(&[
        "list",
        "group",
        "name",
        "variant",
        "unit",
        "floor",
        "median",
        "p99",
        "low",
        "high",
        "mean",
        "measured_in",
        "samples",
        "rejected",
        "not_measured",
    ]);
    for list in lists {
        for it in &list.prices {
            let figures = it.figures();
            table.row([
                list.name.clone(),
                it.group.clone(),
                it.name.clone(),
                it.variant.clone(),
                it.unit.clone(),
                cell(figures.floor),
                cell(figures.median),
                cell(figures.p99),
                cell(figures.low),
                cell(figures.high),
                cell(figures.mean),
                list.unit.name().to_owned(),
                it.samples.to_string(),
                it.rejected.total().to_string(),
                it.not_measured.clone().unwrap_or_default(),
            ]);
        }
    }
    table
}

/// Every batch of a list.
fn samples(list: &PriceList) -> Table {
    let mut table = Table::new(&[
        "name",
        "variant",
        "repetition",
        "sample",
        "ops",
        "elapsed_ns",
        "voluntary",
        "involuntary",
        "migrations",
        "delay_ns",
    ]);
    for series in &list.samples {
        let Some(row) = list.rows.get(series.row) else { continue };
        for at in 0..series.elapsed_ns.len() {
            let count = |column: &[Option<u64>]| cell(column.get(at).copied().flatten());
            table.row([
                row.name.clone(),
                row.variant.clone(),
                series.repetition.to_string(),
                at.to_string(),
                cell(series.ops.get(at)),
                cell(series.elapsed_ns.get(at)),
                count(&series.voluntary),
                count(&series.involuntary),
                count(&series.migrations),
                cell(series.delay_ns.get(at).copied().flatten()),
            ]);
        }
    }
    table
}
