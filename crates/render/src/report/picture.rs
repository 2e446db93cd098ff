//! The one picture that people paste into a pull request: the intervals of a comparison, or its time by load; the bars of a price list;
//! the critical path of a trace. As SVG, or as PNG.

use maud::{Markup, html};
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};
use whyfaster_core::price::compare::Rule;
use whyfaster_core::price::history::{Line, history};
use whyfaster_core::price::{Price, PriceList};
use whyfaster_core::record::Record;
use whyfaster_core::trace::record::TraceRecord;
use whyfaster_words::clean::command;
use whyfaster_words::display::Detail;
use whyfaster_words::exit::{Exit, Failure};
use whyfaster_words::look::Look;
use whyfaster_words::text::{finish, shorten, wrap};

use super::super::names::Names;
use super::super::screen;
use super::super::sentence::sentence;
use super::super::trace::{Shown, screen as screen_of_trace};
use super::figures::{bars, distribution, history as history_picture, load, stacked};
use super::svg::{Picture, Px};
use super::{look_of_page, style, why};

/// Pixels of a PNG for each of the picture's units: sharp on the screens of today.
const SHARP: f32 = 2.0;
/// Columns of the sentence above a picture.
const COLUMNS: usize = 84;

/// A picture that stands alone.
#[derive(Clone, Debug)]
pub struct Drawn(Markup);

impl Drawn {
    /// The file.
    pub fn svg(&self) -> Vec<u8> {
        self.0.0.clone().into_bytes()
    }
}

/// Of a comparison: the time by load where there are several, else every run with its interval.
pub fn picture_of_record(record: &Record, look: &Look) -> Option<Drawn> {
    let look = &look_of_page(look);
    let names = &Names::of(&record.plan.alternatives, look);
    let by_load = load::picture(record, screen::chart_title(record), &screen::series(record, names), look);
    let first = || record.analysis.levels.iter().find(|level| !level.results.is_empty());
    let picture = by_load
        .map(|(picture, _)| picture)
        .or_else(|| distribution::picture(record, first()?, names, look))?;
    let mut below: Vec<String> = Vec::new();
    for it in &record.plan.alternatives {
        let name = names.show(&it.name);
        if name != it.command {
            below.push(shorten(&format!("{name}: {}", command(&it.command)), 100, true));
        }
    }
    Some(alone(picture, &sentence(record, names, look), &below))
}

/// Of a price list: a bar for each row that stands for its probe.
pub fn picture_of_list(list: &PriceList, look: &Look) -> Option<Drawn> {
    let look = &Look { price_unit: list.unit, ..look_of_page(look) };
    let shown = list.unlabelled();
    let rows: Vec<&Price> = super::super::price_chart::standing(&shown);
    let picture = bars::picture(shown.name.clone(), &rows, &rows, look)?;
    let answer = finish(&super::super::prices::head(&shown, look).join(" "), false);
    Some(alone(picture, &answer, &[]))
}

/// Of several lists: the rows that changed most, list by list.
pub fn picture_of_lists(lists: &[PriceList], rule: &Rule, look: &Look) -> Option<Drawn> {
    let look = &Look { price_unit: lists.first()?.unit, ..look_of_page(look) };
    let found = history(lists, rule.delta).ok()?;
    let mut rows: Vec<usize> = Vec::new();
    for row in found.steps.iter().map(|step| step.row).chain(0..found.rows.len()) {
        if rows.len() < history_picture::MOST && !rows.contains(&row) {
            rows.push(row);
        }
    }
    let rows: Vec<&Line> = rows.into_iter().map(|row| &found.rows[row]).collect();
    let (picture, _) = history_picture::picture(&found, &rows, "Prices, list by list".to_owned(), look)?;
    let names: Vec<&str> = lists.iter().map(|list| list.name.as_str()).collect();
    Some(alone(picture, &names.join(", "), &[]))
}

/// Of a trace: its critical path.
pub fn picture_of_trace(record: &TraceRecord, shown: &Shown, look: &Look) -> Option<Drawn> {
    let look = &look_of_page(look);
    let said = &screen_of_trace(&record.report, shown, &Look { detail: Detail::Sentence, ..look.clone() });
    let bars = [why::bar("critical path".to_owned(), &record.report.critical_path, look)];
    let picture = stacked::picture("The critical path".to_owned(), &bars, look)?;
    let command = shorten(&command(&record.plan.target.words()), 100, true);
    Some(alone(picture, said, &[command]))
}

/// A picture with its answer above and the commands below.
fn alone(picture: Picture, answer: &str, below: &[String]) -> Drawn {
    const LINE: f64 = 22.0;
    let said = wrap(answer.trim_end(), COLUMNS, 0);
    let top = 18.0 + LINE * said.len() as f64 + 14.0;
    let foot = top + picture.height + 6.0;
    let body = html! {
        @for (at, line) in said.iter().enumerate() {
            text class="said" x="16" y=(Px(28.0 + LINE * at as f64)) { (line.trim_end()) }
        }
        g transform=(format!("translate(0 {top:.1})")) { (picture.body) }
        @for (at, line) in below.iter().enumerate() {
            text class="tick name" x="16" y=(Px(foot + 16.0 + 16.0 * at as f64)) { (line) }
        }
        text class="tick end" x="704" y=(Px(foot + 18.0 + 16.0 * below.len() as f64)) { "whyfaster " (env!("CARGO_PKG_VERSION")) }
    };
    let height = foot + 28.0 + 16.0 * below.len() as f64;
    let text = format!("{answer} {}", picture.text);
    let whole = Picture { title: picture.title, text, height, body };
    Drawn(whole.svg(Some(&style::alone())))
}

/// The font of a PNG: the characters of European languages and the signs of pictures, cut out of DejaVu 2.37 by fonttools
/// (`pyftsubset --unicodes=U+0020-007E,U+00A0-00FF,...`).
const FONTS: [&[u8]; 2] = [
    include_bytes!("../../assets/dejavu/DejaVuSans.ttf"),
    include_bytes!("../../assets/dejavu/DejaVuSans-Bold.ttf"),
];
const FAMILY: &str = "DejaVu Sans";

/// The picture in pixels. Characters that the font does not have are taken from the system's fonts.
pub fn png(drawn: &Drawn) -> Result<Vec<u8>, Failure> {
    let mut options = Options { font_family: FAMILY.to_owned(), ..Options::default() };
    let fonts = options.fontdb_mut();
    FONTS.iter().for_each(|font| fonts.load_font_data(font.to_vec()));
    fonts.set_sans_serif_family(FAMILY);
    fonts.set_monospace_family(FAMILY);
    if drawn.0.0.chars().any(|c| c > '\u{ff}' && !('\u{2010}'..='\u{27ff}').contains(&c)) {
        fonts.load_system_fonts();
    }
    let failed = |error: String| {
        Failure::new(
            Exit::Error,
            format!("the picture could not be drawn as PNG: {error}"),
            "write it with --svg FILE, and report this defect",
        )
    };
    let tree = Tree::from_data(&drawn.svg(), &options).map_err(|error| failed(error.to_string()))?;
    let size = tree.size().to_int_size();
    let side = |units: u32| (units as f32 * SHARP).ceil() as u32;
    let mut pixels = Pixmap::new(side(size.width()), side(size.height()))
        .ok_or_else(|| failed("it is too large".to_owned()))?;
    resvg::render(&tree, Transform::from_scale(SHARP, SHARP), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| failed(error.to_string()))
}
