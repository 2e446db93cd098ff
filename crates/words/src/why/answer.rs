//! The answer in at most three sentences, for somebody who reads nothing else.

use whyfaster_core::why::Why;
use whyfaster_core::why::report::Finding;
use whyfaster_core::why::statement::{Answer, Because, MoreCpuTime, Pair, Then};

use super::called::Called;
use super::causes::{clause, noun, said, unobserved};
use super::experiments::confirmation;
use super::load;
use super::numbers::{percent, time, upper};
use crate::units::ratio;

/// Others who have this part of the CPUs disturb what runs beside them.
pub(super) const DISTURBED: f64 = 0.05;

/// Who is faster, why, and what changes when many run.
pub(super) fn sentences(answer: &Answer, why: &Why, called: &Called) -> Vec<String> {
    if let Because::CpuTime { work, others } = answer.because {
        let said = in_cpu_time(&called.of(&answer.slower), work, others);
        return vec![format!("Which of the two is faster cannot be told yet; {said}.")];
    }
    let mut sentences = vec![format!("{}{}.", head(answer, called), because(answer, why, called))];
    sentences.extend(answer.then.as_ref().map(|it| then(it, why, called)));
    let difference = why.differences.iter().find(|it| {
        [(&it.alternative, &it.baseline), (&it.baseline, &it.alternative)]
            .contains(&(&answer.slower, &answer.faster))
    });
    let deciding = difference.and_then(|it| it.decides.as_ref()).filter(|_| answer.load_decides);
    sentences.extend(deciding.map(|it| load::when_full(it, called)));
    sentences
}

/// Who takes longer, and how much.
fn head(answer: &Answer, called: &Called) -> String {
    let (slower, faster) = (upper(&called.of(&answer.slower)), called.of(&answer.faster));
    let (here, there) = (time(answer.seconds.here), time(answer.seconds.there));
    let ratio = format!("{} times", ratio(answer.time()));
    match answer.about {
        false => format!("{slower} takes {here}, {ratio} as long as {faster} ({there})"),
        true => format!(
            "{slower} takes {ratio} as long as {faster} in a typical round (median times: {here} and {there})"
        ),
    }
}

/// Why, behind that.
fn because(answer: &Answer, why: &Why, called: &Called) -> String {
    let finding = |at: usize| {
        let finding = why.findings.get(at)?;
        // Who takes longer was named just now.
        Some((finding, said(finding, "it", called)?))
    };
    let text = match answer.because {
        Because::Noise { seconds, others } => return noise(seconds, others),
        Because::Waits { seconds } => return format!("; {}", waits("it", seconds)),
        Because::MoreWork(work) => return format!("; {}", more_work("it", work)),
        Because::Overlap { cpus } => return format!("; {}", overlap("it", &called.of(&answer.faster), cpus)),
        Because::Unknown | Because::CpuTime { .. } => None,
        Because::MoreThanAll { finding: at, .. } if why.findings.get(at).is_some_and(|it| it.by_counts) => {
            finding(at).map(|(_, said)| format!("; the difference fits this: {}", said.what))
        }
        Because::MoreThanAll { finding: at, against } => finding(at).map(|(it, said)| {
            let back = against.and_then(|at| why.findings.get(at)).map(|it| {
                let (who, lost) = (called.of(&it.alternative), time(it.seconds));
                format!(", but {who} loses {lost} by {}", noun(it.cause))
            });
            let cost = match said.costs {
                Some(costs) => format!("that {costs} it {},", time(it.seconds)),
                None => "that is".to_owned(),
            };
            let more = if said.costs.is_none() { said.more.as_str() } else { "" };
            format!(
                ": {}{more}; {cost} more than the whole difference{}",
                said.what,
                back.unwrap_or_default()
            )
        }),
        Because::Cause { finding: at, whole_s, agrees } => finding(at).map(|(it, said)| {
            let whole = match agrees {
                true => format!("the {} between them", time(answer.seconds.here - answer.seconds.there)),
                false => format!("the {} between them in a typical round", time(whole_s)),
            };
            let share = percent(it.share);
            let part = match said.costs {
                _ if it.by_counts => {
                    return format!("; {} of {whole} ({share}) fit this: {}", time(it.seconds), said.what);
                }
                // A little more than all of it is said as all of it.
                _ if it.share >= 0.995 => format!("all of {whole} is"),
                Some(_) => format!("{} of {whole} ({share}) are", time(it.seconds)),
                // The fact has the time already.
                None => format!("{share} of {whole} are"),
            };
            format!("; {part} because {}", said.what)
        }),
    };
    let text = text.unwrap_or_else(|| format!("; {}", unknown(answer, why)));
    match (&answer.because, &answer.then) {
        // Its test has no sentence of its own then.
        (Because::Cause { finding, .. } | Because::MoreThanAll { finding, .. }, Some(Then::Cause { .. })) => {
            format!("{text}{}", why.findings.get(*finding).map_or("", tested))
        }
        _ => text,
    }
}

/// What hides the cause.
fn noise(seconds: f64, others: Option<f64>) -> String {
    let (differ, disturbed) = (time(seconds), disturbed(others));
    format!("; why cannot be told, because times of one command differ here by up to {differ}{disturbed}")
}

/// What more the CPUs have to do, where times do not tell who is faster, and who disturbed those.
pub(super) fn in_cpu_time(it: &str, work: MoreCpuTime, others: Option<f64>) -> String {
    let disturbed = others.filter(|part| *part >= DISTURBED);
    let disturbed = disturbed.map(|part| format!("; other programs had {} of the CPUs", percent(part)));
    format!("{}{}", more_work(it, work), disturbed.unwrap_or_default())
}

/// No cause is known: after a search, or because none of the observed runs could be searched.
pub(super) fn unknown(answer: &Answer, why: &Why) -> &'static str {
    let observed = |name: &String| why.accounts.iter().any(|it| it.alternative == *name && it.rounds > 0);
    let refused = why.refusals.iter().any(|it| it.is_about([&answer.slower, &answer.faster]));
    let searched = !refused && observed(&answer.slower) && observed(&answer.faster);
    if searched { "no cause that is known explains it" } else { "wall and CPU time alone do not show why" }
}

/// Who disturbed, where noise hides a cause.
pub(super) fn disturbed(others: Option<f64>) -> String {
    match others {
        Some(part) if part >= DISTURBED => {
            format!(", while other programs had {} of the CPUs", percent(part))
        }
        Some(part) => format!(", though other programs had only {} of the CPUs", percent(part)),
        None => String::new(),
    }
}

/// What nobody saw.
pub(super) fn waits(it: &str, seconds: f64) -> String {
    format!("{it} is on no CPU for {} longer, and nothing shows what it waits for", time(seconds))
}

/// The second sentence.
fn then(then: &Then, why: &Why, called: &Called) -> String {
    match then {
        Then::Cause { finding } => {
            let finding = why.findings.get(*finding);
            let text = finding.and_then(|it| {
                let how = if it.share > 0.0 { "Besides" } else { "Against that" };
                Some(format!("{how}, {}{}.", clause(it, called)?, tested(it)))
            });
            text.unwrap_or_default()
        }
        Then::Experiment { experiment } => why
            .experiments
            .get(*experiment)
            .map_or(String::new(), |it| format!("An experiment confirmed it: {}.", confirmation(it, called))),
        Then::Unexplained { seconds } => format!("What takes the other {} is not known.", time(*seconds)),
        Then::ByCounts { cost_s } => format!(
            "Observing cost one of them {} more than the other, too much for this difference: the cause is told by counts and CPU time, and its seconds are about right.",
            time(cost_s.abs())
        ),
        Then::NotObserved { finding } => {
            why.findings.get(*finding).map_or(String::new(), |it| format!("That goes {}.", unobserved(it)))
        }
        Then::MoreWork(work) => format!("{}.", more_work("It", *work)),
    }
}

/// What more the CPUs have to do.
pub(super) fn more_work(it: &str, work: MoreCpuTime) -> String {
    let MoreCpuTime { seconds, on, user_s } = work;
    let most = match (on, user_s) {
        (Some(kind), _) => format!(", most of that for {}", kind.words()),
        (None, Some(user_s)) if user_s >= seconds / 2.0 => {
            format!(", {} of it in its programs' own code (user time)", percent((user_s / seconds).min(1.0)))
        }
        (None, Some(user_s)) => {
            format!(", {} of it in the kernel (system time)", percent((1.0 - user_s / seconds).min(1.0)))
        }
        (None, None) => String::new(),
    };
    format!("{it} needs {} more CPU time{most}", time(seconds))
}

/// One of the two does more at the same time.
pub(super) fn overlap(slower: &str, faster: &str, cpus: Pair) -> String {
    let Pair { here, there } = cpus;
    format!(
        "{faster} does several things at the same time and keeps {there:.1} CPUs busy on average, {slower} only {here:.1}"
    )
}

/// Whether an experiment confirmed a cause, in brackets.
fn tested(finding: &Finding) -> &'static str {
    if finding.confirmed == Some(true) { " (an experiment confirmed it)" } else { "" }
}
