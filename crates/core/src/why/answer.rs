//! The answer, for somebody who reads nothing else: who is faster, why, and what changes when many run.

use super::cause::Cause;
use super::causes::definition;
use super::deciding::surely_more;
use super::report::{Difference, Finding, Outcome, Why};
use super::statement::{Answer, Because, Pair, Then, WorkTold};
use crate::trace::report::WorkKind;

/// Noise of this part of the difference may hide its causes.
const HIDDEN: f64 = 0.25;

/// From this share on, what no cause explains is said beside the cause that is named.
const MUCH: f64 = 0.3;

/// More CPU time that is this part of the difference is why.
const MOST: f64 = 0.5;

/// Up to this share, a cause is said to be a part of the difference.
const A_PART: f64 = 1.05;

/// From this share on, a cause is named.
const LARGE: f64 = 0.1;

/// Below this share, a cause is no answer where what no cause explains is more.
const MAIN: f64 = 0.25;

/// Numbers that differ by up to this part are said as the same.
const AGREE: f64 = 0.02;

/// What is said of the alternative that differs most from the baseline. `None` where nothing could be found.
pub(super) fn answer(why: &Why) -> Option<Answer> {
    let explained = |it: &&Difference| {
        it.by_counts || why.refusals.is_empty() || why.findings.iter().any(|of| is_of(of, it))
    };
    let size = |it: &&Difference| it.span_s.median.abs();
    let most = why.differences.iter().filter(explained).max_by(|a, b| size(a).total_cmp(&size(b)))?;
    let wall =
        |name: &str| why.accounts.iter().find(|it| it.alternative == name).map_or(0.0, |it| it.untraced_s);
    Some(of(most, (wall(&most.alternative), wall(&most.baseline)), why))
}

/// Whether the finding is one of this difference.
pub(super) fn is_of(finding: &Finding, difference: &Difference) -> bool {
    let names = (difference.alternative.as_str(), difference.baseline.as_str());
    let (a, b) = (finding.alternative.as_str(), finding.against.as_str());
    names == (a, b) || names == (b, a)
}

/// Whether the difference of two alternatives, which is the median over the rounds, is also that of their two times, which are
/// medians of their own. On a machine that is not quiet it need not be.
pub fn agrees(difference_s: f64, times: (f64, f64)) -> bool {
    ((times.0 - times.1).abs() - difference_s.abs()).abs() <= AGREE * difference_s.abs()
}

/// The untraced wall times are those of the alternative and the baseline.
fn of(difference: &Difference, times: (f64, f64), why: &Why) -> Answer {
    if difference.undecided {
        return in_cpu_time(difference, times);
    }
    let (a, b) = (&difference.alternative, &difference.baseline);
    // One fact has one ratio: the verdict's, the median of the rounds' ratios. That of the two medians may be another one.
    let turned = difference.ratio.map_or(times.0 < times.1, |ratio| ratio < 1.0);
    let (slower, faster) = if turned { (b, a) } else { (a, b) };
    let (here, there) = if turned { (times.1, times.0) } else { times };
    let seconds = Pair { here, there };
    let time = difference.time().map(|time| if turned { time.inverse() } else { time });
    let exact = time.is_none_or(|time| (time.ratio / (here / there) - 1.0).abs() <= AGREE);
    let findings: Findings<'_> =
        why.findings.iter().enumerate().filter(|(_, it)| is_of(it, difference)).collect();
    let rest = findings.iter().find(|(_, it)| it.cause == Cause::Unexplained).map_or(0.0, |(_, it)| it.share);
    let answers = |it: &Finding| it.share >= MAIN || it.share >= LARGE.max(rest);
    let named = findings.iter().find(|(_, it)| it.cause != Cause::Unexplained && answers(it));
    let work =
        more_work(difference).map(|(seconds, on)| (seconds, on.filter(|on| !refuted(*on, difference, why))));
    let because = match named {
        Some(&(finding, it)) if it.share > A_PART => Because::MoreThanAll {
            finding,
            against: findings.iter().find(|it| it.1.share < 0.0).map(|it| it.0),
        },
        Some(&(finding, _)) => {
            let whole_s = difference.span_s.median.abs();
            Because::Cause { finding, whole_s, agrees: agrees(whole_s, times) }
        }
        None if work.is_some_and(|(seconds, _)| seconds >= MOST * difference.span_s.median.abs()) => {
            let (seconds, on) = work.unwrap_or_default();
            Because::MoreWork { seconds, on }
        }
        None if difference.by_counts && waits_s(difference, why) >= MOST * difference.span_s.median.abs() => {
            Because::Waits { seconds: waits_s(difference, why) }
        }
        None => match difference.noise_s.filter(|noise| *noise >= HIDDEN * difference.span_s.median.abs()) {
            Some(seconds) => Because::Noise { seconds, others: difference.others },
            None => Because::Unknown,
        },
    };
    let told = difference.decides.as_ref().map(|it| it.work);
    Answer {
        slower: slower.clone(),
        ratio: time.map(|it| it.ratio),
        ratio_low: time.and_then(|it| it.low),
        ratio_high: time.and_then(|it| it.high),
        faster: faster.clone(),
        seconds,
        about: !exact,
        then: match (named, &because) {
            (Some(_), _) => then(&findings, difference, why),
            (None, Because::MoreWork { .. } | Because::Waits { .. }) => None,
            (None, _) => work.map(|(seconds, on)| Then::MoreWork { seconds, on }),
        },
        because,
        load_decides: matches!(told, Some(WorkTold::Flips | WorkTold::Same)),
    }
}

/// What is known of two of which nobody knows which is faster.
fn in_cpu_time(difference: &Difference, times: (f64, f64)) -> Answer {
    let (a, b) = ((&difference.alternative, times.0), (&difference.baseline, times.1));
    let (dearer, other) = if difference.dearer.as_ref() == Some(b.0) { (b, a) } else { (a, b) };
    let work_s = difference.work_s.median;
    let on =
        surely_more(difference).first().filter(|row| row.seconds.median / work_s >= MOST).map(|row| row.kind);
    Answer {
        slower: dearer.0.clone(),
        ratio: None,
        ratio_low: None,
        ratio_high: None,
        faster: other.0.clone(),
        seconds: Pair { here: dearer.1, there: other.1 },
        about: true,
        because: Because::CpuTime { seconds: work_s.abs(), on, others: difference.others },
        then: None,
        load_decides: false,
    }
}

/// How much longer the slower one is on no CPU. An alternative whose CPU time exceeds its wall time waits for 0 s, never for less.
fn waits_s(difference: &Difference, why: &Why) -> f64 {
    let idle_s = |name: &str| {
        let account = why.accounts.iter().find(|it| it.alternative == name);
        account.map_or(0.0, |it| it.untraced_s * (1.0 - it.parallelism.unwrap_or(0.0)).max(0.0))
    };
    (idle_s(&difference.alternative) - idle_s(&difference.baseline)) * difference.span_s.median.signum()
}

/// Findings of one difference, with their places among all.
type Findings<'a> = Vec<(usize, &'a Finding)>;

/// The next cause, else what an experiment said of the first, else what is not explained.
fn then(findings: &Findings<'_>, difference: &Difference, why: &Why) -> Option<Then> {
    let (at, first) = findings.iter().find(|(_, it)| it.cause != Cause::Unexplained)?;
    if let Some(cost_s) = difference.dearer_to_observe_s {
        return Some(Then::ByCounts { cost_s });
    }
    if first.by_counts && first.confirmed != Some(true) {
        return Some(Then::NotObserved { finding: *at });
    }
    if let Some(finding) = next(findings) {
        return Some(Then::Cause { finding });
    }
    let about = why.experiments.iter().position(|it| it.is_about(first));
    if let Some(experiment) = about.filter(|at| why.experiments[*at].outcome == Outcome::Confirmed) {
        return Some(Then::Experiment { experiment });
    }
    let rest = findings.iter().find(|(_, it)| it.cause == Cause::Unexplained && it.share >= MUCH);
    rest.map(|(_, it)| Then::Unexplained { seconds: it.seconds })
}

/// The second cause, where it is large enough to be named.
fn next(findings: &Findings<'_>) -> Option<usize> {
    let mut named = findings.iter().filter(|(_, it)| it.cause != Cause::Unexplained);
    let (_, first) = named.next()?;
    // What works against more than the whole difference has been said.
    let said = |it: &Finding| first.share > A_PART && it.share < 0.0;
    named.find(|(_, it)| !said(it)).filter(|(_, it)| it.share.abs() >= LARGE).map(|(at, _)| *at)
}

/// Whether an experiment refuted that the difference comes from work of this kind.
fn refuted(kind: WorkKind, difference: &Difference, why: &Why) -> bool {
    let of_it = |name: &Option<String>| {
        name.as_ref().is_none_or(|it| [&difference.alternative, &difference.baseline].contains(&it))
    };
    let refuted = why.experiments.iter().filter(|it| it.outcome == Outcome::Refuted);
    refuted.filter(|it| of_it(&it.slower) && of_it(&it.faster)).any(|it| definition(it.cause).is_work(kind))
}

/// Where no cause explains the time, what the CPUs have more to do is known nevertheless: where it is the one that takes longer.
fn more_work(difference: &Difference) -> Option<(f64, Option<WorkKind>)> {
    let work = difference.work_s;
    let slower = if difference.span_s.median < 0.0 { &difference.baseline } else { &difference.alternative };
    let most = difference.work.first().filter(|row| row.seconds.median / work.median >= 0.5);
    (difference.dearer.as_ref() == Some(slower)).then(|| (work.median.abs(), most.map(|row| row.kind)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::report::PathKind;
    use crate::why::tests::fixture::{Scene, Trace};

    fn explained() -> Why {
        let a = Trace::new().runs("x", WorkKind::User, 0.04, 0);
        let b = Trace::new().runs("x", WorkKind::User, 0.05, 0).waits("x", PathKind::Sleep, None, 0.03);
        Scene::of(&a.0, &b.0).explain()
    }

    fn said(why: &Why, times: (f64, f64), ratio: f64) -> Answer {
        let mut difference = why.differences[0].clone();
        difference.ratio = Some(ratio);
        difference.span_s.median = 0.04;
        of(&difference, times, why)
    }

    #[test]
    fn numbers_that_do_not_agree_are_known_not_to() {
        let why = explained();
        let same = said(&why, (0.08, 0.04), 2.0);
        assert_eq!(
            (same.slower.as_str(), same.seconds, same.about),
            ("b", Pair { here: 0.08, there: 0.04 }, false)
        );
        assert!(matches!(same.because, Because::Cause { finding: 0, agrees: true, .. }), "{same:?}");
        // Medians of the rounds' ratios and differences are not those of the times.
        let other = said(&why, (0.0733, 0.0395), 2.05);
        assert_eq!(other.ratio, Some(2.05));
        // Not even the order need be.
        let order = said(&why, (0.0733, 0.0735), 1.03);
        assert_eq!((order.slower.as_str(), order.seconds), ("b", Pair { here: 0.0733, there: 0.0735 }));
        assert!(other.about && matches!(other.because, Because::Cause { agrees: false, .. }), "{other:?}");
    }

    #[test]
    fn what_is_more_than_the_difference_is_known_as_that() {
        let mut why = explained();
        why.findings[0].share = 1.2;
        let answer = said(&why, (0.08, 0.04), 2.0);
        assert_eq!(answer.because, Because::MoreThanAll { finding: 0, against: None });
    }

    #[test]
    fn what_noise_may_hide_is_not_called_unknown() {
        let none = Why { findings: Vec::new(), ..explained() };
        let because = |noise_s| {
            let mut difference = none.differences[0].clone();
            (difference.noise_s, difference.span_s.median, difference.others) = (noise_s, 0.04, None);
            of(&difference, (0.08, 0.04), &none).because
        };
        assert_eq!(because(Some(0.02)), Because::Noise { seconds: 0.02, others: None });
        assert_eq!([Some(0.002), None].map(because), [Because::Unknown, Because::Unknown]);
    }

    #[test]
    fn cpu_time_that_is_most_of_the_difference_is_why_whatever_the_noise() {
        let none = Why { findings: Vec::new(), ..explained() };
        let mut difference = none.differences[0].clone();
        (difference.noise_s, difference.span_s.median, difference.work_s.median) = (Some(0.03), 0.04, 0.025);
        difference.work[0].seconds.median = 0.02;
        let answer = of(&difference, (0.08, 0.04), &none);
        assert_eq!(answer.because, Because::MoreWork { seconds: 0.025, on: Some(WorkKind::User) });
        assert_eq!(answer.then, None);
    }

    #[test]
    fn a_cause_that_goes_by_counts_is_told_as_that() {
        let why = explained();
        let mut difference = why.differences[0].clone();
        difference.dearer_to_observe_s = Some(0.05);
        assert_eq!(of(&difference, (0.08, 0.04), &why).then, Some(Then::ByCounts { cost_s: 0.05 }));
    }

    #[test]
    fn what_is_not_known_is_said_beside_a_cause_that_is_half_of_it() {
        let mut why = explained();
        why.findings.truncate(1);
        let mut rest = why.findings[0].clone();
        (rest.cause, rest.share, rest.seconds) = (Cause::Unexplained, 0.4, 0.016);
        (why.findings[0].share, why.findings[0].confirmed) = (0.6, None);
        why.findings.push(rest);
        assert_eq!(said(&why, (0.08, 0.04), 2.0).then, Some(Then::Unexplained { seconds: 0.016 }));
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
