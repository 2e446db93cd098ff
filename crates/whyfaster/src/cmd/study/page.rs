//! The page of a study: the article beside this machine, then the page of what was measured.

use maud::html;
use whyfaster_render::report as render;
use whyfaster_render::report::{Page, Section};
use whyfaster_store as store;
use whyfaster_words as words;
use whyfaster_words::look::Look;

use super::findings::Findings;
use super::report::{Measured, answer, parts};
use super::sheet::Part;
use crate::cli::outputs::Pages;
use crate::cmd::pages;
use crate::study::Study;

/// Writes the page and the picture, as far as they were asked for.
pub(super) fn write(
    study: &Study,
    found: &Findings,
    measured: Measured<'_>,
    wanted: &Pages,
    look: &Look,
) -> anyhow::Result<()> {
    if !wanted.any() {
        return Ok(());
    }
    let drawn = || match measured {
        Measured::Record(record) => render::picture_of_record(record, look),
        Measured::List(list) => render::picture_of_list(list, look),
    };
    pages::write(wanted, || page(study, found, measured, look), drawn)
}

fn page(study: &Study, found: &Findings, measured: Measured<'_>, look: &Look) -> anyhow::Result<Page> {
    let wide = Look { width: 10_000, unicode: true, color: false, ..look.clone() };
    let mut page = match measured {
        Measured::Record(record) => render::comparison(record, &[], &store::record_bytes(record)?, look)?,
        Measured::List(list) => render::prices(list, &store::price_bytes(list)?, look),
    };
    page.answer(answer(study, found, &wide));
    let parts = parts(study, found, measured, &wide)?.into_iter().map(|part| match part {
        Part::Table(title, grid) => render::table_of(&title, &grid),
        Part::Said(text) => render::text_of(&[text]),
    });
    let body = html! {
        p { (study.question) }
        @for part in parts { (part) }
    };
    page.insert(0, Section::new("article", "The article beside this machine", body));
    let claims = html! {
        ol {
            @for claim in &found.claims {
                li value=(claim.number) {
                    p { b { (words::claims::outcome(claim.outcome)) } ": " (claim.text) }
                    p class="quiet" { (words::claims::why(claim)) }
                }
            }
        }
    };
    page.insert(1, Section::new("claims", "The article's claims here", claims));
    Ok(page)
}
