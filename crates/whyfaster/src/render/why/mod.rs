//! Why the alternatives differ, on the screen: first the sentences, below the tables of the measurement what is behind
//! them: the causes, what was done to confirm them, the differences by part, and predictions.

mod differences;
mod findings;
mod predictions;
mod shown;

#[cfg(test)]
mod tests;

use whyfaster_core::record::Record;
use whyfaster_core::why::label;
use whyfaster_core::why::report::Difference;

use super::look::Look;
use super::text::{Names, Tone, tone, wrap, wrap_indented};
use shown::{Shown, shown};

/// Differences that are written out, the largest first; the others are in `--json`.
const WRITTEN_OUT: usize = 3;

/// At most three sentences, or why there are none.
pub(super) fn sentences(record: &Record, names: &Names, look: &Look) -> Vec<String> {
    let why = &record.why;
    let asked = record.plan.explain.as_ref().is_some_and(|explain| explain.asked);
    let said = match why.summary.is_empty() && why.refused.is_none() && !why.differences.is_empty() {
        true => "Nothing that was observed explains the difference.".to_owned(),
        false => why.summary.join(" "),
    };
    let mut lines = Vec::new();
    if !said.is_empty() {
        lines = wrap(&shown(&said, names, look), look.width, 0);
        lines.extend(numbers(record, &said, names, look));
    }
    if let Some(refused) = &why.refused {
        let text = format!("not explained: {}", shown(refused, names, look));
        let mark = if asked { Tone::Unsure } else { Tone::Quiet };
        lines.extend(wrap_indented(&text, look.width, 2).iter().map(|line| tone(mark, line)));
    }
    lines
}

/// Which command lines these are that the sentences call by their numbers.
fn numbers(record: &Record, said: &str, names: &Names, look: &Look) -> Vec<String> {
    let said = said.to_lowercase();
    let line = |at: usize| {
        let called = label(&record.plan, at);
        let known = called.starts_with('\'') || !said.contains(&called);
        let name = names.at(at).filter(|_| !known)?;
        Some(wrap_indented(&format!("{called}: {name}"), look.width, 2))
    };
    (0..record.plan.alternatives.len()).filter_map(line).flatten().collect()
}

/// What is behind the sentences, section by section.
pub(super) fn sections(record: &Record, names: &Names, look: &Look) -> Vec<Vec<String>> {
    let why = &record.why;
    let mut largest: Vec<&Difference> = why.differences.iter().collect();
    largest.sort_by(|a, b| b.span_s.median.abs().total_cmp(&a.span_s.median.abs()));
    let mut sections = Vec::new();
    for difference in largest.iter().take(WRITTEN_OUT) {
        let shown = Shown { why, difference, names, look };
        sections.push(findings::table(&shown));
        sections.push(findings::remedies(&shown));
        sections.push(differences::path(&shown));
        sections.push(differences::work(&shown));
        sections.push(differences::share(&shown));
        sections.push(differences::accounts(&shown));
    }
    if largest.len() > WRITTEN_OUT {
        let text = format!("the differences of {} more: --json", largest.len() - WRITTEN_OUT);
        sections.push(wrap(&text, look.width, 2));
    }
    sections.push(findings::experiments(why, names, look));
    sections.push(predictions::predictions(record, names, look));
    sections.push(predictions::growth(why, names, look));
    sections.extend(why.growth.iter().map(|it| predictions::what_grows(it, names, look)));
    sections
}
