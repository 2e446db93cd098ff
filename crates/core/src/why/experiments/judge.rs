//! What the rounds of an experiment say, and what follows for the finding.

use super::super::answer::{answer, is_of};
use super::super::cause::Cause;
use super::super::causes::definition;
use super::super::finding;
use super::super::medians::{median, of_rounds};
use super::super::planned::{Before, Planned};
use super::super::report::{Experiment, Finding, Outcome, Why};
use super::super::statement::Fact;
use super::statement::{Pace, Shown};
use whyfaster_stats::Estimate;
use whyfaster_stats::looks::Precision;

/// The interval of what an experiment won. It ends when that says something.
const PRECISION: Precision = Precision { alpha: 0.05, fixed: false };

/// The part of what was predicted that must go for a finding to be confirmed. Less than this on the whole interval refutes.
const ENOUGH: f64 = 0.5;

/// A change that wins so many times what was predicted took away more than the cause.
const TOO_MUCH: f64 = 1.3;

/// A cause of so much of the difference is nearly all of it: what wins about the whole difference took away no more.
const NEARLY_ALL: f64 = 0.8;

/// Unchanged runs that take so much more or less in an experiment than before it are said to.
const AS_BEFORE: f64 = 0.1;

/// What an experiment showed. `control_s` and `changed_s` are its wall times, paired by round; empty where it was not run.
pub fn judge(planned: &Planned, why: &Why, control_s: &[f64], changed_s: &[f64]) -> Experiment {
    let finding = why.findings.get(planned.finding);
    let (slow, fast) = finding.map_or(("", ""), |it| (it.alternative.as_str(), it.against.as_str()));
    let sign = if planned.put_in { -1.0 } else { 1.0 };
    let won: Vec<f64> =
        control_s.iter().zip(changed_s).map(|(control, changed)| sign * (control - changed)).collect();
    let won_s = (planned.test.is_ok() && !won.is_empty()).then(|| of_rounds(&won, PRECISION));
    let pace = finding.zip(won_s).and_then(|(finding, _)| pace(why, finding, planned, control_s));
    let shown = match (&planned.test, won_s) {
        (Err(why), _) => Shown::NotTestable { why: why.clone() },
        (Ok(_), None) => Shown::NotRun,
        (Ok(_), Some(won)) => shown(&won, planned, (why, finding), pace),
    };
    Experiment {
        cause: planned.cause,
        slower: finding.map(|it| it.alternative.clone()),
        faster: finding.map(|it| it.against.clone()),
        alternative: if planned.put_in { fast } else { slow }.to_owned(),
        edit: planned.edit.clone(),
        change: String::new(),
        command: planned.test.as_ref().ok().map(|test| test.changed.command.clone()),
        put_in: planned.put_in,
        sure: planned.sure,
        prediction: String::new(),
        predicted_s: planned.predicted_s,
        won_s,
        rounds: won_s.map_or(0, |_| u32::try_from(won.len()).unwrap_or(u32::MAX)),
        outcome: outcome(&shown),
        control_s: control_s.to_vec(),
        changed_s: changed_s.to_vec(),
        pace,
        shown: Some(shown),
        sentence: String::new(),
    }
}

/// What the runs of an experiment say.
fn shown(
    won: &Estimate,
    planned: &Planned,
    (why, finding): (&Why, Option<&Finding>),
    pace: Option<Pace>,
) -> Shown {
    let factor = pace.map_or(1.0, |pace| pace.now_s / pace.before_s);
    if finding.is_some_and(|finding| won.median > most(why, finding, planned) * factor.max(1.0)) {
        return Shown::TooMuch;
    }
    // A machine that became faster leaves less to win.
    let enough = planned.predicted_s * ENOUGH * factor.min(1.0);
    // The change may reach only a part of what the finding says.
    let enough_of_all = enough.max(finding.map_or(0.0, |it| it.seconds) * ENOUGH * factor.min(1.0));
    match won.low.zip(won.high) {
        Some((low, _)) if low > 0.0 && won.median >= enough_of_all => Shown::Confirmed,
        // A change that may leave the cause in place refutes nothing.
        Some((_, high)) if high < enough && planned.sure => Shown::Refuted,
        None => Shown::FewRounds,
        Some(_) if !planned.sure => Shown::MayStay,
        Some(_) => Shown::Unclear,
    }
}

fn outcome(shown: &Shown) -> Outcome {
    match shown {
        Shown::Confirmed => Outcome::Confirmed,
        Shown::Refuted => Outcome::Refuted,
        Shown::NotTestable { .. } => Outcome::NotTestable,
        _ => Outcome::Undecided,
    }
}

/// What the unchanged command takes in the experiment, and took before. `None` if both are alike, or not comparable: what
/// something is put into runs behind a wrapper, and a cache is dropped.
fn pace(why: &Why, finding: &Finding, planned: &Planned, control_s: &[f64]) -> Option<Pace> {
    let plain = planned.test.as_ref().is_ok_and(|test| {
        test.control.before == Before::Nothing && test.control.cpus.is_none() && !planned.put_in
    });
    let account = why.accounts.iter().find(|it| plain && it.alternative == finding.alternative)?;
    let pace = Pace { now_s: median(control_s), before_s: account.untraced_s };
    let known = pace.now_s > 0.0 && pace.before_s > 0.0;
    (known && (pace.now_s / pace.before_s - 1.0).abs() > AS_BEFORE).then_some(pace)
}

/// The most that a change can win which takes away this cause and nothing else.
fn most(why: &Why, finding: &Finding, planned: &Planned) -> f64 {
    let predicted = planned.predicted_s;
    let part = if finding.seconds > 0.0 { predicted / finding.seconds } else { 1.0 };
    let high = finding.high.map_or(0.0, |high| high * part);
    let all = whole(why, finding).filter(|whole| predicted >= whole * NEARLY_ALL).unwrap_or(0.0);
    (predicted.max(all) * TOO_MUCH).max(high)
}

/// The difference that a finding is a part of, seconds.
fn whole(why: &Why, finding: &Finding) -> Option<f64> {
    why.differences.iter().find(|it| is_of(finding, it)).map(|it| it.span_s.median.abs())
}

/// Puts the experiments into the explanation: what they say of their findings, and the summary. What was refuted is no cause
/// any more, and its seconds are unexplained. To be called again with stored experiments after a record was explained anew.
pub fn conclude(why: &mut Why, experiments: Vec<Experiment>) {
    for experiment in &experiments {
        // Older records do not say of which of several pairs: of that whose seconds were predicted, about.
        let far = |it: &Finding| (it.seconds - experiment.predicted_s).abs();
        let mine = why.findings.iter().enumerate().filter(|(_, it)| experiment.is_about(it));
        let nearest = mine.min_by(|a, b| far(a.1).total_cmp(&far(b.1)));
        let Some(at) = nearest.map(|(at, _)| at) else { continue };
        why.findings[at].confirmed = match experiment.outcome {
            Outcome::Confirmed => Some(true),
            Outcome::Refuted => {
                refute(why, at);
                continue;
            }
            Outcome::Undecided | Outcome::NotTestable => None,
        };
    }
    why.experiments = experiments;
    why.answer = answer(why);
}

/// Gives the seconds of this finding to what is unexplained.
fn refute(why: &mut Why, at: usize) {
    let refuted = why.findings.remove(at);
    let Some(difference) = why.differences.iter_mut().find(|it| is_of(&refuted, it)) else { return };
    let slower = |alternative: bool| if alternative { 1.0 } else { -1.0 };
    let by = refuted.seconds * slower(refuted.alternative == difference.alternative);
    let rest = &mut difference.unexplained_s;
    *rest = Estimate {
        median: rest.median + by,
        low: rest.low.map(|low| low + by),
        high: rest.high.map(|high| high + by),
    };
    // Nor is it said as what the CPUs have more to do.
    if let Some(decides) = &mut difference.decides {
        decides.kinds.retain(|kind| !definition(refuted.cause).is_work(*kind));
    }
    let (rest, difference) = (*rest, &*difference);
    why.findings.retain(|it| it.cause != Cause::Unexplained || !is_of(it, difference));
    let (mut slow, mut fast) = (difference.alternative.clone(), difference.baseline.clone());
    let (mut low, mut high) = (rest.low, rest.high);
    if rest.median < 0.0 {
        std::mem::swap(&mut slow, &mut fast);
        (low, high) = (high.map(|it| -it), low.map(|it| -it));
    }
    why.findings.push(Finding {
        by_counts: false,
        cause: Cause::Unexplained,
        alternative: slow,
        against: fast,
        seconds: rest.median.abs(),
        low,
        high,
        share: rest.median / difference.span_s.median,
        confirmed: None,
        fact: Some(Fact::Refuted { cause: refuted.cause }),
        functions: Vec::new(),
        samples: None,
        sentence: String::new(),
        remedy: String::new(),
        page: Cause::Unexplained.page(),
        evidence: refuted.evidence,
    });
    finding::sort(&mut why.findings);
}
