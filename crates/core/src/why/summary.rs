//! The answer in at most three sentences, for somebody who reads nothing else.

use super::cause::Cause;
use super::deciding::{FULL, THEN};
use super::kinds;
use super::report::{Difference, Finding, Outcome, Why};
use super::words::{percent, quoted, time, times, upper};

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
    let mut head = first(result, &findings, why);
    if let Some((most, _)) = named(&findings).zip(next(&findings)) {
        // Its test has no sentence of its own then.
        head = format!("{}{}.", head.trim_end_matches('.'), tested(most));
    }
    let mut sentences = vec![head];
    sentences.extend(match named(&findings) {
        Some(_) => second(&findings, why),
        None => more_work(difference),
    });
    sentences.extend(under_load(&difference.deciding));
    sentences.truncate(3);
    sentences
}

/// Noise of this part of the difference may hide its causes.
const HIDDEN: f64 = 0.25;

/// From this share on, what no cause explains is said beside the cause that is named.
const MUCH: f64 = 0.3;

/// Up to this share, a cause is said to be a part of the difference.
const A_PART: f64 = 1.05;

/// The cause that the answer names: the largest that is known, where it is large enough.
fn named<'a>(findings: &[&'a Finding]) -> Option<&'a Finding> {
    findings.iter().copied().find(|it| it.cause != Cause::Unexplained && it.share >= 0.1)
}

/// How sentences call this alternative.
fn label(why: &Why, name: &str) -> String {
    let account = why.accounts.iter().find(|it| it.alternative == name && !it.label.is_empty());
    account.map_or_else(|| quoted(name), |it| it.label.clone())
}

fn first(result: &Result<'_>, findings: &[&Finding], why: &Why) -> String {
    let difference = result.difference;
    let (here, there) = result.times;
    let (quick, slow) = (here.min(there), here.max(there));
    let (quick_name, slow_name) = if here < there {
        (&difference.alternative, &difference.baseline)
    } else {
        (&difference.baseline, &difference.alternative)
    };
    // Of the two times that stand in the same sentence. The verdict's is the median of the rounds' ratios.
    let ratio = slow / quick;
    let exact = difference.ratio.is_none_or(|it| (it.max(1.0 / it) / ratio - 1.0).abs() <= AGREE);
    let head = format!(
        "{} takes {}, {}{} as long as {} ({})",
        upper(&label(why, slow_name)),
        time(slow),
        if exact { "" } else { "about " },
        times(ratio),
        label(why, quick_name),
        time(quick)
    );
    let most = named(findings);
    let Some(most) = most else {
        return match difference.noise_s.filter(|noise| *noise >= HIDDEN * difference.span_s.median.abs()) {
            Some(noise) => format!(
                "{head}; why cannot be told, because times differ here by up to {} for no reason.",
                time(noise)
            ),
            None => format!("{head}, and none of the causes that are known explains it."),
        };
    };
    let (what, cost) = (lower(fact(&most.sentence)), time(most.seconds));
    let costs_apart = what.len() < most.sentence.trim_end_matches('.').len();
    // Who takes longer was named just now.
    let what = what.strip_prefix(&label(why, slow_name)).map_or(what.clone(), |rest| format!("it{rest}"));
    if most.share > A_PART {
        let costs = if most.cause == Cause::Overlap { "saves" } else { "costs" };
        let cost = if costs_apart { format!("that {costs} it {cost}") } else { "that is".to_owned() };
        let back = findings.iter().find(|it| it.share < 0.0).map(|it| {
            format!(", but {} loses {} by {}", label(why, &it.alternative), time(it.seconds), noun(it.cause))
        });
        let comma = if costs_apart { "," } else { "" };
        return format!(
            "{head}: {what}; {cost}{comma} more than the whole difference{}.",
            back.unwrap_or_default()
        );
    }
    let whole = match agrees(difference.span_s.median, result.times) {
        true => format!("the {} between them", time(slow - quick)),
        false => format!("the {} between them in a typical round", time(difference.span_s.median)),
    };
    let share = percent(most.share);
    match costs_apart {
        // A little more than all of it is said as all of it.
        _ if most.share >= 0.995 => format!("{head}; all of {whole} is because {what}."),
        true => format!("{head}; {cost} of {whole} ({share}) are because {what}."),
        // The sentence has the time already.
        false => format!("{head}; {share} of {whole} are because {what}."),
    }
}

/// Numbers that differ by up to this part are said as the same.
const AGREE: f64 = 0.02;

/// Whether the difference of two alternatives, which is the median over the rounds, is also that of their two times, which are
/// medians of their own. On a machine that is not quiet it need not be.
pub fn agrees(difference_s: f64, times: (f64, f64)) -> bool {
    ((times.0 - times.1).abs() - difference_s.abs()).abs() <= AGREE * difference_s.abs()
}

/// The sentence of a finding without the time that it costs, where that stands behind the fact.
fn fact(sentence: &str) -> &str {
    let end = ["; that costs it ", "; that saves it "].into_iter().find_map(|cost| sentence.find(cost));
    end.map_or_else(|| sentence.trim_end_matches('.'), |end| &sentence[..end])
}

/// What works against a difference, as a noun.
fn noun(cause: Cause) -> &'static str {
    match cause {
        Cause::Processes => "making processes",
        Cause::PathSearch => "searching for programs",
        Cause::Startup => "starting programs up",
        Cause::SmallIo => "reading and writing in small pieces",
        Cause::PipeCopy => "copying through pipes",
        Cause::Overlap => "doing one thing after the other",
        Cause::Compute => "computing",
        Cause::PageFaults => "using more memory",
        Cause::Disk => "waiting for the disk",
        Cause::Lock => "waiting for locks",
        Cause::Sleep => "sleeping",
        Cause::CpuContention | Cause::Misplacement | Cause::Share => "waiting for a CPU",
        Cause::Network => "waiting for the network",
        Cause::Unexplained => "something that is not known",
    }
}

/// Where no cause explains the time, what the CPUs have more to do is known nevertheless: where it is the one that takes longer.
fn more_work(difference: &Difference) -> Option<String> {
    let work = difference.work_s;
    let slower = if difference.span_s.median < 0.0 { &difference.baseline } else { &difference.alternative };
    let most = difference.work.first().filter(|row| row.seconds.median / work.median >= 0.5);
    let most = most.map(|row| format!(", most of that for {}", kinds::words(row.kind))).unwrap_or_default();
    (difference.dearer.as_ref() == Some(slower))
        .then(|| format!("It needs {} more CPU time{most}.", time(work.median)))
}

/// The next cause, else what an experiment said of the first. Every test stands with its own cause.
fn second(findings: &[&Finding], why: &Why) -> Option<String> {
    let first = findings.iter().find(|it| it.cause != Cause::Unexplained)?;
    if let Some(next) = next(findings) {
        let how = if next.share > 0.0 { "Besides" } else { "Against that" };
        return Some(format!("{how}, {}{}.", lower(next.sentence.trim_end_matches('.')), tested(next)));
    }
    let confirmed =
        why.experiments.iter().find(|it| it.is_about(first)).filter(|it| it.outcome == Outcome::Confirmed);
    let rest = findings.iter().find(|it| it.cause == Cause::Unexplained && it.share >= MUCH);
    match (confirmed, rest) {
        (Some(it), _) => Some(format!("An experiment confirmed it: {}", lower(one_sentence(&it.sentence)))),
        (None, Some(rest)) => Some(format!("What takes the other {} is not known.", time(rest.seconds))),
        (None, None) => None,
    }
}

/// The first of several sentences: what else an experiment has to say stands with it.
fn one_sentence(text: &str) -> &str {
    text.find(". ").map_or(text, |end| &text[..=end])
}

/// The second cause, where it is large enough to be named.
fn next<'a>(findings: &[&'a Finding]) -> Option<&'a Finding> {
    let mut named = findings.iter().copied().filter(|it| it.cause != Cause::Unexplained);
    let first = named.next()?;
    // What works against more than the whole difference has been said.
    let said = |it: &&Finding| first.share > A_PART && it.share < 0.0;
    named.find(|it| !said(it)).filter(|it| it.share.abs() >= 0.1)
}

/// Whether an experiment confirmed a cause, in brackets.
fn tested(finding: &Finding) -> &'static str {
    if finding.confirmed == Some(true) { " (an experiment confirmed it)" } else { "" }
}

/// Of what was said of loads: the sentence of full CPUs, where the answer is another one than alone.
fn under_load(deciding: &str) -> Option<String> {
    let said = &deciding[deciding.find(FULL)?..];
    Some(said.split(THEN).next().unwrap_or(said).trim().to_owned())
}

fn lower(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_lowercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::report::{PathKind, WorkKind};
    use crate::why::tests::fixture::{Scene, Trace};

    fn explained() -> Why {
        let a = Trace::new().runs("x", WorkKind::User, 0.04, 0);
        let b = Trace::new().runs("x", WorkKind::User, 0.05, 0).waits("x", PathKind::Sleep, None, 0.03);
        Scene::of(&a.0, &b.0).explain()
    }

    fn sentence(why: &Why, times: (f64, f64), ratio: f64) -> String {
        let mut difference = why.differences[0].clone();
        difference.ratio = Some(ratio);
        difference.span_s.median = 0.04;
        summary(&Result { difference: &difference, times }, why).remove(0)
    }

    #[test]
    fn the_numbers_of_a_sentence_agree() {
        let why = explained();
        let same = sentence(&why, (0.08, 0.04), 2.0);
        assert!(same.contains(" takes 80.0 ms, 2.00 times as long as 'a' (40.0 ms)"), "{same}");
        assert!(same.contains("of the 40.0 ms between them"), "{same}");
        // Medians of the rounds' ratios and differences are not those of the times.
        let other = sentence(&why, (0.0733, 0.0395), 2.05);
        assert!(other.contains(" takes 73.3 ms, about 1.86 times as long as 'a' (39.5 ms)"), "{other}");
        assert!(other.contains("of the 40.0 ms between them in a typical round"), "{other}");
    }

    #[test]
    fn what_is_more_than_the_difference_is_said_once() {
        let mut why = explained();
        why.findings[0].share = 1.2;
        let said = sentence(&why, (0.08, 0.04), 2.0);
        assert!(said.contains("(40.0 ms): it sleeps 3") && !said.contains("costs it"), "{said}");
        assert!(said.contains("; that is more than the whole difference"), "{said}");
    }

    #[test]
    fn what_noise_may_hide_is_not_called_unknown() {
        let why = explained();
        let none = Why { findings: Vec::new(), ..why.clone() };
        let said = |noise_s| {
            let mut difference = why.differences[0].clone();
            (difference.noise_s, difference.span_s.median) = (noise_s, 0.04);
            summary(&Result { difference: &difference, times: (0.08, 0.04) }, &none).remove(0)
        };
        assert!(
            said(Some(0.02))
                .ends_with("why cannot be told, because times differ here by up to 20.0 ms for no reason.")
        );
        for small in [Some(0.002), None] {
            assert!(
                said(small).ends_with("none of the causes that are known explains it."),
                "{}",
                said(small)
            );
        }
    }

    #[test]
    fn what_is_not_known_is_said_beside_a_cause_that_is_half_of_it() {
        let mut why = explained();
        why.findings.truncate(1);
        let mut rest = why.findings[0].clone();
        (rest.cause, rest.share, rest.seconds) = (Cause::Unexplained, 0.4, 0.016);
        (why.findings[0].share, why.findings[0].confirmed) = (0.6, None);
        why.findings.push(rest);
        let difference = why.differences[0].clone();
        let said = summary(&Result { difference: &difference, times: (0.08, 0.04) }, &why);
        assert_eq!(said[1], "What takes the other 16.0 ms is not known.");
        assert_eq!(one_sentence("It won 2.5 ms. The machine was not the same."), "It won 2.5 ms.");
        assert_eq!(one_sentence("It won 2.5 ms."), "It won 2.5 ms.");
    }

    #[test]
    fn more_cpu_time_is_said_only_where_the_rounds_tell_it() {
        let mut difference = explained().differences.remove(0);
        assert_eq!(difference.dearer.as_deref(), Some("b"));
        assert!(more_work(&difference).is_some());
        difference.dearer = None;
        assert_eq!(more_work(&difference), None);
    }
}
