//! Tables and lines of the terminal as parts of a page: the same cells and words, in elements.

use maud::{Markup, html};
use whyfaster_words::clean::{clean, clean_lines, quoted};
use whyfaster_words::grid::Grid;
use whyfaster_words::text::{Tone, pieces};

use super::super::strip::DRAWN;

/// A table without the columns that draw with characters: a page has pictures.
pub(super) fn table(title: &str, grid: &Grid) -> Markup {
    let groups = || grid.groups.iter().filter(|group| !DRAWN.contains(&group.name()));
    let columns = || groups().flat_map(|group| group.columns());
    rows(
        title,
        std::iter::once(&grid.key).chain(columns()).map(|column| column.header().to_owned()).collect(),
        grid.key.cells().iter().enumerate().map(|(row, key)| {
            let cells = columns().map(|column| column.cells().get(row).cloned().unwrap_or_default());
            std::iter::once(key.clone()).chain(cells).collect()
        }),
    )
}

/// Rows of a table that stand there without being asked for, and how few more make no difference.
const ROWS: usize = 14;
const FEW: usize = 4;

/// A table of these cells, the first of each row its name. What makes it long is folded away.
pub(super) fn rows(title: &str, header: Vec<String>, rows: impl Iterator<Item = Vec<String>>) -> Markup {
    let rows: Vec<Vec<String>> = rows.collect();
    let shown = if rows.len() > ROWS + FEW { ROWS } else { rows.len() };
    let (first, others) = rows.split_at(shown);
    html! {
        (some(title, title, &header, first))
        @if !others.is_empty() {
            details {
                summary { (others.len()) " more rows" }
                (some(title, "", &header, others))
            }
        }
    }
}

fn some(title: &str, caption: &str, header: &[String], rows: &[Vec<String>]) -> Markup {
    html! {
        div class="scroll" tabindex="0" role="group" aria-label=(title) {
            table {
                @if !caption.is_empty() { caption { (caption) } }
                thead { tr { @for it in header { th scope="col" { (toned(it)) } } } }
                tbody {
                    @for row in rows {
                        tr {
                            @for (at, cell) in row.iter().enumerate() {
                                @if at == 0 { th scope="row" { (toned(cell)) } } @else { td { (toned(cell)) } }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Names and what they stand for.
pub(super) fn facts(facts: impl IntoIterator<Item = (String, String)>) -> Markup {
    html! {
        dl class="facts" {
            @for (name, value) in facts { div { dt { (name) } dd { (clean(&value)) } } }
        }
    }
}

/// A command, or another text of others, that somebody may copy: as it is, or quoted where something of it cannot be shown.
pub(super) fn code(text: &str) -> Markup {
    let shown = clean_lines(text);
    html! { code { (if shown == text { shown } else { quoted(text) }) } }
}

/// The same with lines of its own.
pub(super) fn lines(text: &str) -> Markup {
    html! { pre class="scroll" tabindex="0" { (clean_lines(text)) } }
}

/// A text with its tones.
pub(super) fn toned(text: &str) -> Markup {
    html! {
        @for (tone, text) in pieces(text) {
            @match tone.map(class) {
                Some(class) => { span class=(class) { (text) } },
                None => { (text) },
            }
        }
    }
}

fn class(tone: Tone) -> &'static str {
    match tone {
        Tone::Strong => "strong",
        Tone::Good => "good",
        Tone::Bad => "bad",
        Tone::Unsure => "unsure",
        Tone::Quiet => "quiet",
    }
}

/// Lines of a terminal, each a paragraph. The look that made them did not break any.
pub(super) fn paragraphs(class: &str, lines: &[String]) -> Markup {
    html! { @for line in lines { p class=(class) { (toned(line.trim())) } } }
}

/// Lines of a terminal as they are.
pub(super) fn terminal(title: &str, text: &str) -> Markup {
    html! {
        details {
            summary { (title) }
            pre class="scroll" tabindex="0" { (text) }
        }
    }
}
