//! The page of a comparison: the answer, then what is behind it, from the picture of every run down to every number.

use maud::{Markup, html};
use whyfaster_core::analysis::{Level, time};
use whyfaster_core::plan::Alternative;
use whyfaster_core::record::Record;
use whyfaster_core::sample::Arm;
use whyfaster_core::trace::record::TraceRecord;
use whyfaster_words::clean::clean;
use whyfaster_words::look::Look;
use whyfaster_words::text::finish;
use whyfaster_words::why::brief;

use super::super::first;
use super::super::names::Names;
use super::super::notes;
use super::super::screen::{self, screen};
use super::super::sentence::{at, sentence};
use super::super::table::{level_grid, summary_grid};
use super::data::{Download, Table, cell};
use super::figures::{distribution, load, ratios, rounds};
use super::page::{Page, Section, figure, minute, missing, plotted};
use super::{look_of_page, look_of_text, machine, observed, plan, plot, table, when, why};

/// Levels whose runs are drawn without being asked for.
const LEVELS: usize = 2;

/// The page; `raw` are the bytes of the record as a file, `traces` what was traced of its commands beside it.
pub fn comparison(record: &Record, traces: &[TraceRecord], raw: &[u8], look: &Look) -> anyhow::Result<Page> {
    let look = &look_of_page(look);
    let names = &Names::of(&record.plan.alternatives, look);
    let mut page = Page { about: about(record), answer: sentence(record, names, look), ..Page::default() };
    page.lead = lead(record, names, look);
    let sections = [
        Some(Section::new("times", "How long each run took", times(record, names, look))),
        load_section(&mut page, record, names, look),
        ratio_section(record, names, look),
        round_section(&mut page, record, names, look),
    ];
    page.sections.extend(sections.into_iter().flatten());
    let when = when::of_record(record, traces, names)?;
    why::sections(&mut page, record, &when, names, look);
    observed::sections(&mut page, record, &when, names, look)?;
    page.push(Section::new("machine", "The machine", machine::machine(&record.host)));
    page.push(Section::new("plan", "What was run", plan::plan(record)));
    let text = screen(record, &look_of_text(look));
    page.push(Section::new(
        "text",
        "As the terminal prints it",
        table::terminal("whyfaster show -vv", &text),
    ));
    page.downloads.push(Download::json(
        "record.json",
        "the record: every sample, every fact, for whyfaster show and report",
        raw,
    ));
    page.downloads.extend(tables(record));
    Ok(page)
}

/// What it is, when and where.
fn about(record: &Record) -> String {
    let facts = &record.host.before;
    let kernel = facts.kernel.as_deref().unwrap_or("a kernel that is not known");
    let what = match record.study.as_deref() {
        Some(study) => format!("study {study}"),
        None => "comparison".to_owned(),
    };
    let started = minute(&record.started);
    clean(&format!("{what}, {started}, {kernel}"))
}

/// What the first screen says below the answer.
fn lead(record: &Record, names: &Names, look: &Look) -> Markup {
    let brief = brief(&record.plan.alternatives, &record.why);
    let doubts = first::doubts(record, names, look, usize::MAX);
    let reasons = first::reasons(record, brief.as_ref(), look);
    let flip = first::flip(record, brief.as_ref(), names, look);
    html! {
        (legend(&record.plan.alternatives, names))
        @if !reasons.is_empty() { div class="why" { (table::paragraphs("said", &reasons)) } }
        @if !flip.is_empty() { div class="why" { (table::paragraphs("said", &flip)) } }
        @if !doubts.is_empty() { div class="doubts" role="note" { (table::paragraphs("said", &doubts)) } }
    }
}

/// Which command has which name and colour.
fn legend(alternatives: &[Alternative], names: &Names) -> Markup {
    html! {
        dl class="legend" {
            @for (at, it) in alternatives.iter().enumerate() {
                div {
                    dt class=(super::svg::colour(at)) {
                        span aria-hidden="true" { (super::super::chart::mark(at, true)) " " } (names.show(&it.name))
                    }
                    dd { (table::code(&it.command)) }
                }
            }
        }
    }
}

fn results(record: &Record) -> impl Iterator<Item = &Level> {
    record.analysis.levels.iter().filter(|level| !level.results.is_empty())
}

/// The runs of every level, and its table.
fn times(record: &Record, names: &Names, look: &Look) -> Markup {
    let level = |level: &Level| {
        let picture = distribution::picture(record, level, names, look);
        let title = screen::title(record, level, names, usize::MAX);
        html! {
            @if let Some(picture) = picture {
                (figure(&picture, "Each point is a run. Box: half of the runs; thin line: 90 of 100; upright line: the median, with its interval below."))
            }
            (table::table(&title, &level_grid(record, level, names, look).with_values()))
        }
    };
    let levels: Vec<&Level> = results(record).collect();
    html! {
        @if levels.is_empty() { (missing("not measured", "no run ended", Some("whyfaster doctor"))) }
        @for (nth, it) in levels.iter().enumerate() {
            @if nth < LEVELS { (level(it)) }
            @else { details { summary { (at(record, it.load)) } (level(it)) } }
        }
        @if levels.len() > 1 {
            (table::table("all levels", &summary_grid(record, names, look).with_values()))
        }
    }
}

fn ratio_section(record: &Record, names: &Names, look: &Look) -> Option<Section> {
    let (picture, left_out) = ratios::picture(record, names, look)?;
    let caption = "Small points: rounds. Line: the interval. Grey band: what counts as the same; yellow: the baseline against itself, \
                   which is the noise of this machine.";
    let body = html! {
        (figure(&picture, caption))
        @if left_out > 0 { p { (left_out) " more comparisons are in the tables." } }
        @if let Some(floor) = &record.analysis.floor { p { (notes::floor(floor)) } }
    };
    Some(Section::new("ratios", "Who is faster, and how sure that is", body))
}

fn round_section(page: &mut Page, record: &Record, names: &Names, look: &Look) -> Option<Section> {
    let mut parts = Vec::new();
    for level in results(record) {
        let Some((picture, value)) = rounds::picture(record, level, names, look) else { continue };
        let id = plot(page, value);
        let caption = "Bars: what part of the machine other programs and the hypervisor took in each round.";
        parts.push((at(record, level.load), plotted(Some(&id), &picture, caption)));
    }
    let body = match parts.is_empty() {
        true => missing(
            "not in this record",
            "there is one round alone, which has no course",
            Some("whyfaster compare --runs 20 ..."),
        ),
        false => html! {
            @for (nth, (title, part)) in parts.iter().enumerate() {
                @if nth < LEVELS { (part) } @else { details { summary { (title) } (part) } }
            }
        },
    };
    Some(Section::new("rounds", "Round by round", body))
}

fn load_section(page: &mut Page, record: &Record, names: &Names, look: &Look) -> Option<Section> {
    let title = screen::chart_title(record);
    let body = match load::picture(record, title, &screen::series(record, names), look) {
        Some((picture, value)) => {
            let id = plot(page, value);
            let lines = notes::crossovers(record, names, look);
            let caption = "Dashed: what no machine with these CPUs can go below. Band: the loads between which the answer flips.";
            html! { (plotted(Some(&id), &picture, caption)) (table::paragraphs("said", &lines)) }
        }
        None => {
            let why = "one load was measured; how the answer changes when many run at once needs more";
            missing("not in this record", why, Some("whyfaster compare --load auto ..."))
        }
    };
    Some(Section::new("load", "When many run at once", body))
}

/// Every sample as tables.
fn tables(record: &Record) -> Vec<Download> {
    let mut all = vec![Download::csv("runs.csv", "every copy of every run as a table", runs(record))];
    if !record.why.experiments.is_empty() {
        all.push(Download::csv(
            "experiments.csv",
            "every run of the experiments as a table",
            experiments(record),
        ));
    }
    all
}

/// The columns of the copies.
const COPIES: [&str; 17] = [
    "alternative",
    "load",
    "round",
    "position",
    "copy",
    "batch_s",
    "start_s",
    "wall_s",
    "user_s",
    "system_s",
    "max_rss_bytes",
    "voluntary_switches",
    "involuntary_switches",
    "status",
    "timed_out",
    "machine_busy_s",
    "steal_s",
];

fn runs(record: &Record) -> Table {
    let name = |arm: Arm| match arm {
        Arm::Alternative(index) => {
            record.plan.alternatives.get(index).map_or_else(String::new, |it| it.name.clone())
        }
        Arm::HiddenCopy => "(hidden copy of the baseline)".to_owned(),
    };
    let mut table = Table::new(&COPIES);
    for batch in &record.batches {
        let copies = &batch.copies;
        for at in 0..copies.len() {
            let seconds = |column: &[f64]| cell(column.get(at));
            let counts = |column: &[u64]| cell(column.get(at));
            table.row([
                name(batch.arm),
                batch.load.to_string(),
                batch.round.to_string(),
                batch.position.to_string(),
                at.to_string(),
                time(batch, record.plan.mode).value.to_string(),
                seconds(&copies.start_s),
                seconds(&copies.wall_s),
                seconds(&copies.user_s),
                seconds(&copies.system_s),
                counts(&copies.max_rss_bytes),
                counts(&copies.voluntary_switches),
                counts(&copies.involuntary_switches),
                cell(copies.status.get(at)),
                cell(copies.timed_out.get(at)),
                cell(batch.machine_busy_s),
                cell(batch.steal_s),
            ]);
        }
    }
    table
}

fn experiments(record: &Record) -> Table {
    let mut table = Table::new(&["cause", "alternative", "change", "round", "unchanged_s", "changed_s"]);
    for it in &record.why.experiments {
        for (round, (unchanged, changed)) in it.control_s.iter().zip(&it.changed_s).enumerate() {
            table.row([
                whyfaster_words::why::title(it.cause).to_owned(),
                it.alternative.clone(),
                it.change.clone(),
                round.to_string(),
                unchanged.to_string(),
                changed.to_string(),
            ]);
        }
    }
    table
}

/// The lines of a terminal without their tones.
pub(super) fn plain(lines: &[String]) -> String {
    finish(&lines.join("\n"), false)
}
