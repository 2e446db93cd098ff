//! Why the alternatives differ, on the screen: first the sentences, below the tables of the measurement what is behind
//! them: the causes, what was done to confirm them, the differences by part, and predictions.

mod differences;
pub(super) mod findings;
mod predictions;
pub(super) mod shown;

#[cfg(test)]
mod tests;

use shown::{Shown, shown};
use whyfaster_core::record::Record;
use whyfaster_core::why::report::Difference;
use whyfaster_words::look::Look;
use whyfaster_words::text::{Tone, tone, wrap, wrap_indented};
use whyfaster_words::why::{nothing_to_explain, unexplained};

use super::names::Names;
use whyfaster_stats::order::largest_first;

/// Differences that are written out, the largest first; the others are in `--json`.
const WRITTEN_OUT: usize = 3;

/// At most three sentences, or why there are none.
pub(super) fn sentences(record: &Record, look: &Look) -> Vec<String> {
    let why = &record.why;
    let said = match why.summary.is_empty() && why.refused.is_none() && !why.differences.is_empty() {
        true => "Nothing that was observed explains the difference.".to_owned(),
        false => why.summary.join(" "),
    };
    let mut lines = if said.is_empty() { Vec::new() } else { wrap(&shown(&said, look), look.width, 0) };
    lines.extend(refused(record, look));
    lines
}

/// Why nothing is explained, for the first screen: not where nothing differs.
pub(super) fn not_told(record: &Record, look: &Look) -> Vec<String> {
    if nothing_to_explain(&record.why) { Vec::new() } else { sentences(record, look) }
}

/// Why nothing is explained, or how what explains it could be observed.
pub(super) fn refused(record: &Record, look: &Look) -> Vec<String> {
    let Some((text, command)) = unexplained(&record.why) else { return Vec::new() };
    let asked = record.plan.explain.as_ref().is_some_and(|explain| explain.asked);
    let command = command.map(|command| format!("    {}", shown(command, look)));
    let mark = if asked { Tone::Unsure } else { Tone::Quiet };
    let wrapped = wrap_indented(&shown(&text, look), look.width, 2).into_iter().chain(command);
    wrapped.map(|line| tone(mark, &line)).collect()
}

/// What is behind the sentences, section by section.
pub(super) fn sections(record: &Record, names: &Names, look: &Look) -> Vec<Vec<String>> {
    let why = &record.why;
    let mut largest: Vec<&Difference> = why.differences.iter().collect();
    largest_first(&mut largest, |it| it.span_s.median.abs());
    let mut sections = Vec::new();
    let written_out = look.detail.most(WRITTEN_OUT);
    for difference in largest.iter().take(written_out) {
        let shown = Shown { why, difference, names, look };
        // Of a difference that may be none there are no parts.
        if !difference.undecided {
            sections.push(findings::table(&shown));
            sections.push(findings::remedies(&shown));
        }
        sections.push(differences::path(&shown));
        sections.push(differences::work(&shown));
        sections.push(differences::share(&shown));
        sections.push(differences::accounts(&shown));
    }
    if largest.len() > written_out {
        let text = format!("the differences of {} more: -vv", largest.len() - written_out);
        sections.push(wrap(&text, look.width, 2));
    }
    sections.push(findings::experiments(why, look));
    sections.push(predictions::predictions(record, names, look));
    sections.push(predictions::growth(why, names, look));
    sections.extend(why.growth.iter().map(|it| predictions::what_grows(it, names, look)));
    sections
}
