//! What a study found: the article's figures beside this machine's, and what became of its claims.

use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;
use whyfaster_core::claims::{Beside, Judgement, beside, judge};
use whyfaster_core::record::Record;
use whyfaster_core::verdict::{Ratio, Verdict};

use super::claims::{claim_lines, tally};
use super::{INPUT_SEED, LINES, Study};

/// A study beside a record.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Findings {
    /// The study's name.
    pub name: String,
    /// The input, if the record tells of it.
    pub input: Option<InputFacts>,
    /// The article's ratios beside this machine's.
    pub levels: Vec<Beside>,
    /// What became of the claims.
    pub claims: Vec<Judgement>,
}

/// What was made as input. A record keeps it as parameters of its alternatives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InputFacts {
    /// Its lines.
    pub lines: String,
    /// Its seed.
    pub seed: String,
}

impl InputFacts {
    fn of(record: &Record) -> Option<Self> {
        let parameters = &record.plan.alternatives.first()?.parameters;
        Some(Self { lines: parameters.get(LINES)?.clone(), seed: parameters.get(INPUT_SEED)?.clone() })
    }
}

/// Sets a record beside the article; needs only the record, so a stored one will do.
pub fn findings(study: &Study, record: &Record) -> Findings {
    Findings {
        name: study.name.clone(),
        input: InputFacts::of(record),
        levels: beside(&study.article.figures, study.pair(), record),
        claims: judge(&study.claims, study.pair(), record),
    }
}

/// The report: a sentence, the levels, the claims.
pub fn text(study: &Study, found: &Findings) -> String {
    let mut lines = vec![
        sentence(study, found),
        String::new(),
        format!("{} over {}: time (below 1 is faster) and CPU time", study.alternative, study.baseline),
        String::new(),
        table(&found.levels),
        String::new(),
        "Once all CPUs are busy, the time ratio follows the CPU time ratio.".into(),
        format!("Article: {}; {}; {}.", study.article.source, study.article.tool, study.article.input),
        format!("Its machine: {}.", study.article.machine),
    ];
    lines.extend(
        found.input.as_ref().map(|input| format!("Here: {} lines, input seed {}.", input.lines, input.seed)),
    );
    lines.extend([String::new(), "The article's claims here:".into()]);
    lines.extend(claim_lines(&found.claims));
    lines.push(String::new());
    lines.join("\n")
}

/// What matters, in one sentence.
fn sentence(study: &Study, found: &Findings) -> String {
    let mut parts: Vec<String> = found
        .levels
        .iter()
        .filter_map(|level| Some(at(level.load, level.ratio?.ratio, level.verdict?)))
        .collect();
    // The lowest and the highest load tell the story; the table has the rest.
    if parts.len() > 2 {
        parts.drain(1..parts.len() - 1);
    }
    let claims = tally(&found.claims);
    if parts.is_empty() {
        return format!("Nothing was compared here; {claims}.");
    }
    format!(
        "Compared with {}, {} is {} here; {claims}.",
        study.baseline,
        study.alternative,
        parts.join(" and ")
    )
}

fn at(load: u32, ratio: f64, verdict: Verdict) -> String {
    let copies = if load == 1 { "alone".into() } else { format!("at {load} copies") };
    match verdict {
        Verdict::Faster => format!("{:.2}x faster {copies}", 1.0 / ratio),
        Verdict::Slower => format!("{ratio:.2}x slower {copies}"),
        Verdict::Same => format!("as fast {copies}"),
        Verdict::Undecided => format!("undecided {copies} (time ratio {ratio:.2})"),
    }
}

fn table(levels: &[Beside]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["copies", "article", "here", "interval", "verdict", "CPU article", "CPU here"]);
    for level in levels {
        let here = match (&level.ratio, &level.missing) {
            (Some(ratio), _) => [number(Some(ratio.ratio)), interval(ratio), verdict(level.verdict).into()],
            (None, _) => ["not measured".into(), String::new(), String::new()],
        };
        let [ratio, interval, verdict] = here;
        table.add_row([
            level.load.to_string(),
            number(level.article_ratio),
            ratio,
            interval,
            verdict,
            number(level.article_work),
            number(level.work.map(|work| work.ratio)),
        ]);
    }
    for (index, column) in table.column_iter_mut().enumerate() {
        let alignment = if index == 4 { CellAlignment::Left } else { CellAlignment::Right };
        column.set_cell_alignment(alignment);
    }
    table.trim_fmt()
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(|| "-".into(), |value| format!("{value:.2}"))
}

fn interval(ratio: &Ratio) -> String {
    let end = |end: Option<f64>| end.map_or_else(|| "?".into(), |end| format!("{end:.2}"));
    match (ratio.low, ratio.high) {
        (None, None) => "too few rounds".into(),
        (low, high) => format!("{} to {}", end(low), end(high)),
    }
}

fn verdict(verdict: Option<Verdict>) -> &'static str {
    match verdict {
        Some(Verdict::Faster) => "faster",
        Some(Verdict::Slower) => "slower",
        Some(Verdict::Same) => "same",
        Some(Verdict::Undecided) => "undecided",
        None => "",
    }
}
