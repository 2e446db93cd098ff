//! The answer in at most three sentences, for somebody who reads nothing else.

use super::cause::Cause;
use super::report::{Difference, Finding, Outcome, Why};
use super::words::{percent, quoted, time, times};

/// How two alternatives compare, one copy alone.
pub(super) struct Result<'a> {
    pub difference: &'a Difference,
    /// Untraced wall times of the alternative and the baseline.
    pub times: (f64, f64),
}

/// Who is faster, why, and what changes when many run.
pub(super) fn summary(result: &Result<'_>, why: &Why) -> Vec<String> {
    let difference = result.difference;
    let (a, b) = (difference.alternative.as_str(), difference.baseline.as_str());
    let mine =
        |it: &&Finding| (it.alternative == a && it.against == b) || (it.alternative == b && it.against == a);
    let findings: Vec<&Finding> = why.findings.iter().filter(mine).collect();
    let mut sentences = vec![first(result, &findings)];
    sentences.extend(second(&findings, why));
    if !difference.deciding.is_empty() && difference.deciding.starts_with("Alone") {
        sentences.push(under_load(&difference.deciding));
    }
    sentences.truncate(3);
    sentences
}

fn first(result: &Result<'_>, findings: &[&Finding]) -> String {
    let difference = result.difference;
    let (here, there) = result.times;
    let faster = here < there;
    let (quick, slow) = if faster { (here, there) } else { (there, here) };
    let (quick_name, slow_name) = if faster {
        (&difference.alternative, &difference.baseline)
    } else {
        (&difference.baseline, &difference.alternative)
    };
    let head = format!(
        "{} takes {}, {} the time of {} ({})",
        quoted(slow_name),
        time(slow),
        times(slow / quick),
        quoted(quick_name),
        time(quick)
    );
    match findings.iter().find(|it| it.share > 0.0) {
        Some(it) if it.cause != Cause::Unexplained => {
            format!(
                "{head}; {} of the {} are because {}",
                percent(it.share),
                time(slow - quick),
                lower(&it.sentence)
            )
        }
        _ => format!("{head}, and none of the causes that are known explains it."),
    }
}

/// The next cause, or what speaks against the first; else whether an experiment confirmed it.
fn second(findings: &[&Finding], why: &Why) -> Option<String> {
    let mut named = findings.iter().filter(|it| it.cause != Cause::Unexplained);
    let first = named.next()?;
    let next = named.next().filter(|it| it.share.abs() >= 0.1);
    let tested = why.experiments.iter().find(|it| it.cause == first.cause);
    let tested = match tested.map(|it| (it.outcome, it)) {
        Some((Outcome::Confirmed, it)) => Some(format!("tested: {}", lower(&it.sentence))),
        Some((Outcome::Refuted, it)) => {
            Some(format!("but a test speaks against it: {}", lower(&it.sentence)))
        }
        _ => None,
    };
    let next = next.map(|it| {
        if it.share > 0.0 {
            format!("Besides, {}", lower(&it.sentence))
        } else {
            format!("Against that, {}", lower(&it.sentence))
        }
    });
    match (next, tested) {
        (Some(next), Some(tested)) => {
            Some(format!("{} ({}).", next.trim_end_matches('.'), tested.trim_end_matches('.')))
        }
        (Some(next), None) => Some(next),
        (None, Some(tested)) => Some(upper(&tested)),
        (None, None) => None,
    }
}

/// What was said of loads, as one sentence.
fn under_load(deciding: &str) -> String {
    deciding.replacen(". But it costs", ", but it costs", 1).replacen(". Both cost", ", and both cost", 1)
}

fn lower(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_lowercase().chain(letters).collect())
}

fn upper(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
