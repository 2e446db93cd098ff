//! Why the alternatives differ, on the screen: first the sentences, below the tables of the measurement what is behind
//! them: the causes, what was done to confirm them, the differences by part, and predictions.

mod differences;
mod findings;
mod predictions;
mod shown;

#[cfg(test)]
mod tests;

use whyfaster_core::plan::Alternative;
use whyfaster_core::record::Record;
use whyfaster_core::why::report::Difference;

use super::look::Look;
use super::text::{Names, Tone, tone, wrap, wrap_indented};
use crate::words::why::number;
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
        lines = wrap(&shown(&said, look), look.width, 0);
        lines.extend(numbers(record, names, look));
    }
    if let Some(refused) = &why.refused {
        let text = format!("not explained: {}", shown(refused, look));
        let mark = if asked { Tone::Unsure } else { Tone::Quiet };
        lines.extend(wrap_indented(&text, look.width, 2).iter().map(|line| tone(mark, line)));
    }
    lines
}

/// Which command lines these are that the answer calls by their numbers.
fn numbers(record: &Record, names: &Names, look: &Look) -> Vec<String> {
    let Some(answer) = &record.why.answer else { return Vec::new() };
    let line = |(at, it): (usize, &Alternative)| {
        let called =
            number(&record.plan, at).filter(|_| [&answer.slower, &answer.faster].contains(&&it.name))?;
        Some(wrap_indented(&format!("{called}: {}", names.at(at)?), look.width, 2))
    };
    record.plan.alternatives.iter().enumerate().filter_map(line).flatten().collect()
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
    sections.push(findings::experiments(why, look));
    sections.push(predictions::predictions(record, names, look));
    sections.push(predictions::growth(why, look));
    sections.extend(why.growth.iter().map(|it| predictions::what_grows(it, names, look)));
    sections
}
