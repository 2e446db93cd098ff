//! One measurement as one page that anybody can open: a file without requests, in which every picture is there without scripts too.
//!
//! The words are those of the terminal (`words`, the other renderers). What is added here are pictures, and what lies below the tables:
//! every number, timelines to zoom into, flame graphs.

mod comparison;
mod data;
mod figures;
mod fleet;
mod machine;
mod observed;
mod page;
mod picture;
mod plan;
mod prices;
mod style;
mod svg;
mod table;
mod timeline;
mod trace;
mod when;
mod why;

#[cfg(test)]
mod tests;

use maud::{Markup, html};
use serde_json::Value;
use whyfaster_words::display::Detail;
use whyfaster_words::grid::Grid;
use whyfaster_words::look::Look;

pub use comparison::comparison;
pub use data::Download;
pub use fleet::{Reported, changes, fleet};
pub use page::{Page, Section};
pub use picture::{Drawn, picture_of_list, picture_of_lists, picture_of_record, picture_of_trace, png};
pub use prices::{lists, prices};
pub use trace::trace;

/// How text in a page looks: no line is broken, nothing is left out.
fn look_of_page(look: &Look) -> Look {
    Look {
        width: 100_000,
        color: false,
        unicode: true,
        detail: Detail::Everything,
        kept: false,
        quiet: false,
        ..look.clone()
    }
}

/// How text looks that stands in a page as a terminal prints it.
fn look_of_text(look: &Look) -> Look {
    Look { width: 110, ..look_of_page(look) }
}

/// A table for a page, for what measures nothing itself.
pub fn table_of(title: &str, grid: &Grid) -> Markup {
    table::table(title, &grid.clone().with_values())
}

/// Paragraphs of a page.
pub fn text_of(lines: &[String]) -> Markup {
    table::paragraphs("said", lines)
}

/// Parts of a page one after the other.
pub fn several(parts: impl IntoIterator<Item = Markup>) -> Markup {
    html! { @for part in parts { (part) } }
}

/// What scripts draw in the place of a picture, under a name of its own.
fn plot(page: &mut Page, value: Value) -> String {
    let id = format!("plot-{}", page.plots.len());
    page.plots.insert(id.clone(), value);
    id
}
