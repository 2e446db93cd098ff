//! What a study's report is written on: titles, tables and paragraphs, as lines and as they were before they were lines.

use whyfaster_words::display::Detail;
use whyfaster_words::grid::Grid;
use whyfaster_words::look::Look;
use whyfaster_words::text::{Tone, for_look, tone, wrap};

use crate::study::Study;

/// A table or a sentence of a report.
pub(super) enum Part {
    Table(String, Grid),
    Said(String),
}

/// A report that grows from top to bottom.
pub(super) struct Page<'a> {
    pub(super) lines: Vec<String>,
    /// The tables and sentences in it, as they are before they are lines.
    pub(super) parts: Vec<Part>,
    pub(super) look: &'a Look,
}

impl<'a> Page<'a> {
    pub(super) fn new(look: &'a Look) -> Self {
        Self { lines: Vec::new(), parts: Vec::new(), look }
    }

    pub(super) fn title(&mut self, text: &str, indent: usize) {
        self.lines.extend(wrap(&tone(Tone::Strong, text), self.look.width, indent));
    }

    /// A table below its title.
    pub(super) fn table(&mut self, title: &str, grid: Grid) {
        self.lines.push(String::new());
        self.title(title, 2);
        let blocks = if self.look.detail == Detail::Screen { 1 } else { grid.groups.len() };
        let grid = grid.with_values();
        self.lines.extend(grid.draw(self.look.width, blocks).lines);
        self.parts.push(Part::Table(title.to_owned(), grid));
    }

    /// A paragraph.
    pub(super) fn say(&mut self, text: &str) {
        self.lines.extend(wrap(text, self.look.width, 2));
        self.parts.push(Part::Said(text.to_owned()));
    }

    /// What is not there, with why.
    pub(super) fn missing(&mut self, why: &str) {
        self.say(&format!("{} {}", tone(Tone::Unsure, "not measured:"), for_look(why, self.look)));
    }

    /// The article, and how it measured.
    pub(super) fn article(&mut self, study: &Study) {
        let article = &study.article;
        self.lines.push(String::new());
        let parts = [Some(&article.source), Some(&article.tool), article.input.as_ref()];
        self.say(&format!(
            "Article: {}.",
            parts.into_iter().flatten().cloned().collect::<Vec<_>>().join("; ")
        ));
        if let Some(machine) = &article.machine {
            self.say(&format!("Its machine: {machine}."));
        }
    }
}
