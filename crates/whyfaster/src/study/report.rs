//! What a study found: the article's figures beside this machine's, and what became of its claims.

use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;
use whyfaster_core::claims::{Beside, Judgement, Outcome, beside, judge};
use whyfaster_core::record::Record;
use whyfaster_core::verdict::{Ratio, Verdict};

use super::Study;

/// A study beside a record.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Findings {
    /// The study's name.
    pub name: String,
    /// The article's ratios beside this machine's.
    pub levels: Vec<Beside>,
    /// What became of the claims.
    pub claims: Vec<Judgement>,
}

/// Sets a record beside the article; needs only the record, so a stored one will do.
pub fn findings(study: &Study, record: &Record) -> Findings {
    Findings {
        name: study.name.clone(),
        levels: beside(&study.article.figures, study.pair(), record),
        claims: judge(&study.claims, study.pair(), record),
    }
}

/// The report: a sentence, the levels, the claims.
pub fn text(study: &Study, found: &Findings) -> String {
    let pair = study.pair();
    let mut lines = vec![
        sentence(study, found),
        String::new(),
        format!(
            "Time of {} over {} (below 1 is faster), and what it costs in CPU time:",
            pair.alternative, pair.baseline
        ),
        String::new(),
        table(&found.levels),
        String::new(),
        format!("Article: {}; {}; {} lines.", study.article.source, study.article.tool, study.article.lines),
        format!("Its machine: {}.", study.article.machine),
        String::new(),
        "Claims of the article, here:".into(),
    ];
    for claim in &found.claims {
        lines.push(format!("  {}. {}: {}", claim.number, claim.text, outcome(claim.outcome)));
        lines.push(format!("     {}", claim.why));
    }
    lines.push(String::new());
    lines.join("\n")
}

/// What matters, in one sentence.
fn sentence(study: &Study, found: &Findings) -> String {
    let measured: Vec<(u32, Ratio, Verdict)> =
        found.levels.iter().filter_map(|level| Some((level.load, level.ratio?, level.verdict?))).collect();
    let count = |outcome| found.claims.iter().filter(|claim| claim.outcome == outcome).count();
    let claims = format!(
        "of the article's {} claims {} hold, {} do not, {} are undecided",
        found.claims.len(),
        count(Outcome::Holds),
        count(Outcome::DoesNotHold),
        count(Outcome::Undecided)
    );
    let Some((first, rest)) = measured.split_first() else {
        return format!("Nothing was compared; {claims}.");
    };
    let mut parts = vec![format!("{} {}", study.alternative, at(first, &study.baseline))];
    parts.extend(rest.last().map(|last| at(last, &study.baseline)));
    format!("Here {}; {claims}.", parts.join(" and "))
}

fn at(&(load, ratio, verdict): &(u32, Ratio, Verdict), baseline: &str) -> String {
    let copies = if load == 1 { "alone".into() } else { format!("at {load} copies") };
    let takes = format!("takes {:.2} times as long as {baseline} {copies}", ratio.ratio);
    if verdict == Verdict::Undecided { format!("{takes} (undecided)") } else { takes }
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

fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Holds => "holds",
        Outcome::DoesNotHold => "does not hold",
        Outcome::Undecided => "undecided here",
    }
}
