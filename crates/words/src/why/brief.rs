//! Why one alternative is faster, for the few lines that the first screen has for it.

use whyfaster_core::plan::Alternative;
use whyfaster_core::why::report::{Finding, Wrapper};
use whyfaster_core::why::statement::{Answer, Because, Refusal, Then};
use whyfaster_core::why::{Cause, Why};

use super::answer::{DISTURBED, disturbed, in_cpu_time, more_work, overlap, unknown, waits};
use super::called::Called;
use super::causes::{QUIET, Remedy, Said, noun, remedy, said};
use super::functions::main_function;
use super::load::when_full;
use super::numbers::{percent, time};
use super::wrappers;
use whyfaster_stats::order::largest_first;

/// Of a cause, the part from which on a script that stands before a program is named as the reason.
const MOST: f64 = 0.5;

/// Why, and what to do about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Brief {
    /// The main reason, its size, and whether an experiment confirmed it; without a full stop.
    pub because: String,
    /// The same with a detail that can be left out.
    pub in_detail: String,
    /// What could be done.
    pub remedy: Option<Remedy>,
    /// Who wins once the CPUs are full, where that is another one.
    pub when_full: Option<String>,
    /// What the difference is made of, the largest part first; empty where that is one thing.
    pub parts: Vec<Part>,
}

/// A part of a difference.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// What takes the time.
    pub noun: &'static str,
    /// Part of the whole; below zero: it works against it.
    pub share: f64,
}

/// Parts of a difference below this are not worth a word.
pub const SEEN: f64 = 0.05;

/// The causes of the difference that the answer is about. Those that are called the same are one. What an experiment refuted is not known.
fn parts(answer: &Answer, why: &Why) -> Vec<Part> {
    let pair = [&answer.slower, &answer.faster];
    let mut parts: Vec<Part> = Vec::new();
    let of_pair = |it: &&Finding| pair.contains(&&it.alternative) && pair.contains(&&it.against);
    for finding in why.findings.iter().filter(of_pair) {
        let unknown = finding.cause == Cause::Unexplained || finding.confirmed == Some(false);
        let noun = if unknown { "not known" } else { noun(finding.cause) };
        // Of what the faster one loses, the share is below zero already.
        match parts.iter_mut().find(|part| part.noun == noun) {
            Some(part) => part.share += finding.share,
            None => parts.push(Part { noun, share: finding.share }),
        }
    }
    parts.retain(|part| part.share.abs() >= SEEN);
    largest_first(&mut parts, |it| it.share.abs());
    if parts.len() > 1 { parts } else { Vec::new() }
}

/// What the explanation comes to; `None` where there is none.
pub fn brief(alternatives: &[Alternative], why: &Why) -> Option<Brief> {
    let called = Called::new(alternatives);
    let Some(answer) = &why.answer else {
        // Records of earlier versions have the sentence alone.
        let because = why.summary.first()?.trim_end_matches('.').to_owned();
        return Some(Brief {
            in_detail: because.clone(),
            because,
            remedy: None,
            when_full: None,
            parts: Vec::new(),
        });
    };
    let finding = match answer.because {
        Because::Cause { finding, .. } | Because::MoreThanAll { finding, .. } => why.findings.get(finding),
        Because::Noise { .. }
        | Because::Unknown
        | Because::MoreWork(_)
        | Because::Overlap { .. }
        | Because::CpuTime { .. }
        | Because::Waits { .. } => None,
    };
    let between = |it: &&whyfaster_core::why::report::Difference| {
        [&answer.slower, &answer.faster].contains(&&it.alternative)
            && [&answer.slower, &answer.faster].contains(&&it.baseline)
    };
    let wrapper = finding.and_then(|it| wrapper(it, answer, why));
    let deciding = why.differences.iter().find(between).and_then(|it| it.decides.as_ref());
    let (because, in_detail) = because(answer, finding, why, &called);
    let said = |text: String| match wrapper {
        Some(it) => format!("{text}. {}", wrappers::short(it)),
        None => text,
    };
    let call_itself = Remedy { short: "Call it by its own path", more: "." };
    Some(Brief {
        because: said(because),
        in_detail: said(in_detail),
        remedy: match (wrapper, finding) {
            (Some(_), _) => Some(call_itself),
            // The function that is the answer is worth more than general advice.
            (None, Some(finding)) => main_function(finding).is_none().then(|| remedy(finding)),
            (None, None) => without_cause(answer, why),
        },
        parts: parts(answer, why),
        when_full: deciding.filter(|_| answer.load_decides).map(|it| when_full(it, &called)),
    })
}

/// What could be done to find a cause, where there is none.
fn without_cause(answer: &Answer, why: &Why) -> Option<Remedy> {
    // Without an observed run of both there are no such tables, and why there is none is said beside it.
    let of_both = [&answer.slower, &answer.faster];
    let seen = |name: &&String| why.accounts.iter().any(|it| it.alternative == **name && it.rounds > 0);
    let tables = of_both.iter().all(seen);
    match &answer.because {
        Because::Noise { others: Some(part), .. } | Because::CpuTime { others: Some(part), .. }
            if *part >= DISTURBED =>
        {
            Some(QUIET)
        }
        Because::Noise { .. } | Because::CpuTime { .. } => Some(Remedy {
            short: "Give both more to do, such as a larger input",
            more: ", or more time (--max-time).",
        }),
        Because::Unknown | Because::MoreWork(_) | Because::Waits { .. } | Because::Overlap { .. } => {
            tables.then_some(Remedy { short: "The tables of -v say where the time of each goes", more: "." })
        }
        Because::Cause { .. } | Because::MoreThanAll { .. } => None,
    }
}

/// Of a cause that a script makes by starting programs, the script that stands before the program and takes most of it.
fn wrapper<'a>(finding: &Finding, answer: &Answer, why: &'a Why) -> Option<&'a Wrapper> {
    let starts = matches!(finding.cause, Cause::Processes | Cause::Startup | Cause::PathSearch);
    let most =
        |it: &&Wrapper| starts && it.alternative == answer.slower && it.seconds >= MOST * finding.seconds;
    why.wrappers.iter().find(most)
}

fn because(answer: &Answer, finding: Option<&Finding>, why: &Why, called: &Called) -> (String, String) {
    let slower = called.of(&answer.slower);
    let told = finding.and_then(|it| Some((it, said(it, &slower, called)?)));
    let text = match (&answer.because, told) {
        (Because::Noise { seconds, others }, _) => format!(
            "it cannot be told, because times of one command differ here by up to {}{}",
            time(*seconds),
            disturbed(*others)
        ),
        (Because::CpuTime { work, others }, _) => in_cpu_time(&slower, *work, *others),
        (Because::Waits { seconds }, _) => waits(&slower, *seconds),
        (Because::MoreWork(work), _) => more_work(&slower, *work),
        (Because::Overlap { cpus }, _) => overlap(&slower, &called.of(&answer.faster), *cpus),
        (_, Some((it, said))) => return cause(it, said, answer, why),
        (_, None) => unknown(answer, why).to_owned(),
    };
    (text.clone(), text)
}

/// The cause, what part of the difference it is, and what an experiment said; and the same in detail.
fn cause(finding: &Finding, said: Said, answer: &Answer, why: &Why) -> (String, String) {
    let Said { what, costs, more } = said;
    let size = match (costs, finding.share) {
        (_, all) if all > 1.005 => format!("more than the whole difference ({})", percent(all)),
        (_, all) if all >= 0.995 => "all of the difference".to_owned(),
        (Some(_), share) => format!("{} ({}) of the difference", time(finding.seconds), percent(share)),
        (None, share) => format!("{} of the difference", percent(share)),
    };
    let tested = matches!(answer.then, Some(Then::Experiment { experiment })
        if why.experiments.get(experiment).is_some_and(|it| it.cause == finding.cause));
    let confirmed = tested || finding.confirmed == Some(true);
    let confirmed = match finding.by_counts {
        _ if confirmed => ", confirmed by an experiment",
        true => ", by counts, not observed",
        false => "",
    };
    let function = main_function(finding).unwrap_or_default();
    (format!("{what}{function}: {size}{confirmed}"), format!("{what}{more}: {size}{confirmed}"))
}

/// Whether nothing is explained for no other reason than that nothing differs.
pub fn nothing_to_explain(why: &Why) -> bool {
    let nothing = |it: &Refusal| {
        matches!(
            it,
            Refusal::Same { .. } | Refusal::Undecided { .. } | Refusal::OneCommand | Refusal::NothingDiffers
        )
    };
    !why.refusals.is_empty() && why.refusals.iter().all(nothing)
}
