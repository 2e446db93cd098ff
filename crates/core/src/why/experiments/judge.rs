//! What the rounds of an experiment say, and what follows for the finding.

use super::super::cause::Cause;
use super::super::explain::summaries;
use super::super::finding;
use super::super::planned::{Before, Planned};
use super::super::report::{Difference, Experiment, Finding, Outcome, Why};
use super::super::sentence;
use super::super::words::{estimate, median, quoted, time};
use crate::stats::Estimate;

/// Error probability of the interval of what an experiment won.
const ALPHA: f64 = 0.05;

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
    let mut experiment = Experiment {
        cause: planned.cause,
        slower: finding.map(|it| it.alternative.clone()),
        faster: finding.map(|it| it.against.clone()),
        alternative: if planned.put_in { fast } else { slow }.to_owned(),
        change: planned.change.clone(),
        command: planned.test.as_ref().ok().map(|test| test.changed.command.clone()),
        prediction: planned.prediction.clone(),
        predicted_s: planned.predicted_s,
        won_s: None,
        control_s: control_s.to_vec(),
        changed_s: changed_s.to_vec(),
        rounds: 0,
        outcome: Outcome::NotTestable,
        sentence: String::new(),
    };
    if let Err(reason) = &planned.test {
        experiment.sentence = format!("Not testable: {reason}.");
        return experiment;
    }
    let sign = if planned.put_in { -1.0 } else { 1.0 };
    let won: Vec<f64> =
        control_s.iter().zip(changed_s).map(|(control, changed)| sign * (control - changed)).collect();
    experiment.rounds = u32::try_from(won.len()).unwrap_or(u32::MAX);
    if won.is_empty() {
        experiment.outcome = Outcome::Undecided;
        experiment.sentence = "It was planned and not run: the time was over.".to_owned();
        return experiment;
    }
    let won = estimate(&won, ALPHA);
    experiment.won_s = Some(won);
    let pace = finding.and_then(|finding| Pace::of(why, finding, planned, control_s));
    let factor = pace.as_ref().map_or(1.0, Pace::factor);
    if finding.is_some_and(|finding| won.median > most(why, finding, planned) * factor.max(1.0)) {
        experiment.outcome = Outcome::Undecided;
        experiment.sentence = too_much(&won, planned);
    } else {
        let seconds = finding.map_or(0.0, |it| it.seconds);
        experiment.outcome = outcome(&won, planned, seconds, factor.min(1.0));
        experiment.sentence = worded(&won, planned, experiment.outcome);
    }
    experiment.sentence.extend(pace.map(|pace| pace.sentence()));
    experiment
}

/// The machine is not as fast as when the difference was measured: what the unchanged command takes in the experiment, and
/// took before, seconds.
struct Pace {
    now_s: f64,
    before_s: f64,
}

impl Pace {
    /// `None` if both are alike, or not comparable: what something is put into runs behind a wrapper, and a cache is dropped.
    fn of(why: &Why, finding: &Finding, planned: &Planned, control_s: &[f64]) -> Option<Self> {
        let plain = planned.test.as_ref().is_ok_and(|test| {
            test.control.before == Before::Nothing && test.control.cpus.is_none() && !planned.put_in
        });
        let account = why.accounts.iter().find(|it| plain && it.alternative == finding.alternative)?;
        let pace = Self { now_s: median(control_s), before_s: account.untraced_s };
        let known = pace.now_s > 0.0 && pace.before_s > 0.0;
        (known && (pace.factor() - 1.0).abs() > AS_BEFORE).then_some(pace)
    }

    fn factor(&self) -> f64 {
        self.now_s / self.before_s
    }

    fn sentence(&self) -> String {
        format!(
            " Unchanged, it took {} in this test and {} before: the machine was not the same, and what can be won neither.",
            time(self.now_s),
            time(self.before_s)
        )
    }
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
    why.differences.iter().find(|it| is_of(it, finding)).map(|it| it.span_s.median.abs())
}

/// Whether the finding is one of this difference.
fn is_of(difference: &Difference, finding: &Finding) -> bool {
    let names = (difference.alternative.as_str(), difference.baseline.as_str());
    let (a, b) = (finding.alternative.as_str(), finding.against.as_str());
    names == (a, b) || names == (b, a)
}

fn too_much(won: &Estimate, planned: &Planned) -> String {
    let (took, verb) = if planned.put_in { ("longer", "put in") } else { ("less", "took away") };
    format!(
        "With the change ({}), it takes {} {took}, more than the {} predicted: undecided, the change {verb} \
         more than this cause.",
        planned.change,
        time(won.median),
        time(planned.predicted_s)
    )
}

/// `seconds`: of the finding, of which the change may reach only a part. `slack`: so much less can be won than was predicted, for
/// the machine became faster.
fn outcome(won: &Estimate, planned: &Planned, seconds: f64, slack: f64) -> Outcome {
    let enough = planned.predicted_s * ENOUGH * slack;
    let enough_of_all = enough.max(seconds * ENOUGH * slack);
    match won.low.zip(won.high) {
        Some((low, _)) if low > 0.0 && won.median >= enough_of_all => Outcome::Confirmed,
        // A change that may leave the cause in place refutes nothing.
        Some((_, high)) if high < enough && planned.sure => Outcome::Refuted,
        _ => Outcome::Undecided,
    }
}

fn worded(won: &Estimate, planned: &Planned, outcome: Outcome) -> String {
    let predicted = time(planned.predicted_s);
    let shrank = if won.median > 0.0 {
        format!("the difference shrank by {} ({predicted} were predicted)", time(won.median))
    } else {
        format!("the difference did not shrink (it grew by {}; {predicted} were predicted)", time(won.median))
    };
    match outcome {
        Outcome::Confirmed => format!("With the change ({}), {shrank}.", planned.change),
        Outcome::Refuted => {
            format!("With the change ({}), {shrank}: the cause is another one.", planned.change)
        }
        Outcome::Undecided if won.low.is_none() => {
            format!("With the change ({}), {shrank}, but the rounds are too few to tell.", planned.change)
        }
        Outcome::Undecided if !planned.sure => {
            format!(
                "With the change ({}), {shrank}; the change need not remove the cause, which may not be in the command line.",
                planned.change
            )
        }
        Outcome::Undecided | Outcome::NotTestable => {
            format!("With the change ({}), {shrank}, which does not tell.", planned.change)
        }
    }
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
    why.summary = summaries(why);
}

/// Gives the seconds of this finding to what is unexplained.
fn refute(why: &mut Why, at: usize) {
    let refuted = why.findings.remove(at);
    let Some(difference) = why.differences.iter_mut().find(|it| is_of(it, &refuted)) else { return };
    let slower = |alternative: bool| if alternative { 1.0 } else { -1.0 };
    let by = refuted.seconds * slower(refuted.alternative == difference.alternative);
    let rest = &mut difference.unexplained_s;
    *rest = Estimate {
        median: rest.median + by,
        low: rest.low.map(|low| low + by),
        high: rest.high.map(|high| high + by),
    };
    let (rest, difference) = (*rest, &*difference);
    why.findings.retain(|it| it.cause != Cause::Unexplained || !is_of(difference, it));
    let (mut slow, mut fast) = (difference.alternative.clone(), difference.baseline.clone());
    let (mut low, mut high) = (rest.low, rest.high);
    if rest.median < 0.0 {
        std::mem::swap(&mut slow, &mut fast);
        (low, high) = (high.map(|it| -it), low.map(|it| -it));
    }
    let account = why.accounts.iter().find(|it| it.alternative == slow && !it.label.is_empty());
    let label = account.map_or_else(|| quoted(&slow), |it| it.label.clone());
    let seconds = rest.median.abs();
    why.findings.push(Finding {
        cause: Cause::Unexplained,
        alternative: slow,
        against: fast,
        seconds,
        low,
        high,
        share: rest.median / difference.span_s.median,
        confirmed: None,
        sentence: format!(
            "{} that {label} takes longer are not explained by any cause that is known; a test refuted {}.",
            time(seconds),
            sentence::name(refuted.cause)
        ),
        remedy: sentence::remedy(Cause::Unexplained).to_owned(),
        page: sentence::page(Cause::Unexplained),
        evidence: refuted.evidence,
    });
    finding::sort(&mut why.findings);
}
