//! The page around the sections: head with the policy that forbids every request, contents, foot, scripts.

use data_encoding::BASE64;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use whyfaster_words::clean::clean;

use super::data::{self, Download};
use super::style;
use super::svg::Picture;

/// uPlot, as it is published on npm. Its licence lies beside it and its first line names it.
const UPLOT: &str = include_str!("../../assets/uplot/uPlot.iife.min.js");
/// Ours: one function a concept, in the order in which they use each other.
const SCRIPTS: [&str; 4] = [
    include_str!("../../assets/page.js"),
    include_str!("../../assets/plots.js"),
    include_str!("../../assets/timeline.js"),
    include_str!("../../assets/flame.js"),
];

/// One part of a page.
#[derive(Clone, Debug)]
pub struct Section {
    /// Its anchor.
    pub(super) id: &'static str,
    /// Its title, for the contents as well.
    pub(super) title: String,
    /// What stands in it.
    pub(super) body: Markup,
}

impl Section {
    /// A part of a page.
    pub fn new(id: &'static str, title: impl Into<String>, body: Markup) -> Self {
        Self { id, title: title.into(), body }
    }
}

/// A page as it grows.
#[derive(Debug, Default)]
pub struct Page {
    /// What kind of measurement it is about, and when and where it was made.
    pub(super) about: String,
    /// The answer.
    pub(super) answer: String,
    /// What stands below the answer, before the first section.
    pub(super) lead: Markup0,
    /// The parts.
    pub(super) sections: Vec<Section>,
    /// What the scripts draw, by the element that it is for.
    pub(super) plots: Map<String, Value>,
    /// Blocks of packed data, with their marks.
    pub(super) blocks: Vec<Markup>,
    /// What it hands out.
    pub(super) downloads: Vec<Download>,
}

/// Markup that is empty at first.
pub(super) type Markup0 = PreEscaped<String>;

impl Page {
    /// Adds a part.
    pub fn push(&mut self, section: Section) {
        self.sections.push(section);
    }

    /// Adds a part at this place.
    pub fn insert(&mut self, at: usize, section: Section) {
        self.sections.insert(at, section);
    }

    /// Says the answer.
    pub fn answer(&mut self, text: impl Into<String>) {
        self.answer = text.into();
    }

    /// The whole document.
    pub fn finish(mut self) -> anyhow::Result<Vec<u8>> {
        if !self.downloads.is_empty() {
            let section = Section::new("numbers", "Every number", numbers(&self.downloads));
            self.sections.push(section);
        }
        let style = style::page();
        let needs_uplot = !self.plots.is_empty();
        let script = format!("{}\n{}", if needs_uplot { UPLOT } else { "" }, SCRIPTS.join("\n"));
        let policy = format!(
            "default-src 'none'; script-src '{}'; style-src '{}'; img-src data:; base-uri 'none'; form-action 'none'",
            hash(&script),
            hash(&style)
        );
        let plots = data::json("plots", &self.plots)?;
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(policy);
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="generator" content={ "whyfaster " (env!("CARGO_PKG_VERSION")) };
                    meta name="referrer" content="no-referrer";
                    title { (self.answer) " - whyfaster" }
                    style { (PreEscaped(&style)) }
                }
                body {
                    a class="skip" href="#content" { "Skip to the content" }
                    header class="top" {
                        div class="brand" { b { "whyfaster" } span { (self.about) } }
                        button id="theme" type="button" hidden { "Light or dark" }
                        h1 { (self.answer) }
                        (self.lead)
                    }
                    nav aria-label="Contents" {
                        ol { @for it in &self.sections { li { a href={ "#" (it.id) } { (it.title) } } } }
                    }
                    main id="content" {
                        @for it in &self.sections {
                            section id=(it.id) aria-labelledby={ (it.id) "-title" } {
                                h2 id={ (it.id) "-title" } { (it.title) }
                                (it.body)
                            }
                        }
                    }
                    footer {
                        p {
                            "Made by whyfaster " (env!("CARGO_PKG_VERSION"))
                            ". This page is one file: it loads nothing and sends nothing. Curves: uPlot 1.6.32 (MIT)."
                        }
                    }
                    p id="status" role="status" class="hidden" {}
                    (plots)
                    @for (at, it) in self.downloads.iter().enumerate() { (it.block(&format!("download-{at}"))) }
                    @for it in &self.blocks { (it) }
                    script { (PreEscaped(&script)) }
                }
            }
        };
        Ok(page.into_string().into_bytes())
    }
}

/// A source expression of a policy: what has this hash may run.
fn hash(text: &str) -> String {
    format!("sha256-{}", BASE64.encode(&Sha256::digest(text.as_bytes())))
}

/// The buttons that hand out the numbers.
fn numbers(downloads: &[Download]) -> Markup {
    html! {
        p { "All that this page shows was made from these. The files are in the page; saving one asks nobody." }
        ul class="downloads" {
            @for (at, it) in downloads.iter().enumerate() {
                li {
                    button type="button" class="download" data-block={ "download-" (at) } disabled { (it.file) }
                    " " (it.what) ", " (size(it.size()))
                }
            }
        }
        noscript { p class="missing" { "Saving them needs JavaScript; nothing else here does, but for zooming." } }
    }
}

fn size(bytes: usize) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{} kB", bytes / 1_000),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

/// A picture with words below it.
pub(super) fn figure(picture: &Picture, caption: &str) -> Markup {
    plotted(None, picture, caption)
}

/// A picture that scripts put a curve in the place of, where they run.
pub(super) fn plotted(plot: Option<&str>, picture: &Picture, caption: &str) -> Markup {
    html! {
        figure {
            figcaption class="title" { (picture.title) }
            div class="scroll" tabindex="0" role="group" aria-label=(picture.title) data-plot=[plot] { (picture.svg(None)) }
            @if !caption.is_empty() { figcaption { (caption) } }
        }
    }
}

/// When something began, to the minute; the clock of records is UTC.
pub(super) fn minute(started: &str) -> String {
    let zone = if started.ends_with('Z') { " UTC" } else { "" };
    started.get(..16).map_or_else(|| started.to_owned(), |it| it.replace('T', " ") + zone)
}

/// What is not there, with why and with the command that would give it.
pub(super) fn missing(what: &str, why: &str, command: Option<&str>) -> Markup {
    html! {
        p class="missing" {
            b { (clean(what)) } ": " (clean(why))
            @if let Some(command) = command { " " (super::table::code(command)) }
        }
    }
}

/// How often a text stands in what every page carries.
#[cfg(test)]
pub(super) fn carried(text: &str) -> usize {
    let style = style::page();
    SCRIPTS.into_iter().chain([UPLOT, style.as_str()]).map(|it| it.matches(text).count()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes of npm's uplot@1.6.32 (`npm pack uplot@1.6.32`, dist/ and LICENSE).
    #[test]
    fn what_is_carried_of_others_is_as_it_was_published() {
        let files = [
            (UPLOT, "19c8d4c6ad88929a79f4ae49d6f7161566dfd0ba3d15cc495e974f787eb78f1f"),
            (
                include_str!("../../assets/uplot/uPlot.min.css"),
                "df630c6a8d6f8eeaff264b50f73ce5b114f646ffd9a0bb74f049b0a00135fa04",
            ),
            (
                include_str!("../../assets/uplot/LICENSE"),
                "8f989229699b4fe2f1a0432d0e9edc338a8a911e250e2d1b01ecd770a5f5b1bd",
            ),
        ];
        for (text, digest) in files {
            let found = data_encoding::HEXLOWER.encode(&Sha256::digest(text.as_bytes()));
            assert_eq!(found, digest);
        }
    }

    #[test]
    fn a_minute_says_of_which_clock_it_is() {
        assert_eq!(minute("2026-11-20T12:00:31Z"), "2026-11-20 12:00 UTC");
        assert_eq!(minute("yesterday"), "yesterday");
    }

    #[test]
    fn scripts_and_styles_do_not_end_their_own_elements() {
        let style = style::page();
        for text in SCRIPTS.into_iter().chain([UPLOT, style.as_str()]) {
            assert!(!text.to_lowercase().contains("</script") && !text.to_lowercase().contains("</style"));
            assert!(!text.contains("<!--"));
        }
    }
}
