//! The answer, for somebody who reads nothing else: who is faster, why, and what changes when many run.

use super::cause::Cause;
use super::causes::definition;
use super::deciding::surely_more;
use super::report::{Difference, Finding, Outcome, Why};
use super::statement::{Answer, Because, MoreCpuTime, Pair, Refusal, Then, WorkTold};
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
        it.by_counts
            || why.refusals.is_empty()
            || why.findings.iter().any(|of| is_of(of, it))
            || by_timed_runs(it, why).is_some()
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
    let first = findings.iter().find(|(_, it)| it.cause != Cause::Unexplained && answers(it));
    // The CPU time of the timed runs has the kernel's part, and the rest beside it.
    let named = first.filter(|(_, it)| it.cause != Cause::Kernel);
    let work = more_work(difference, why);
    let because = match named {
        Some(&(finding, it)) if it.share > A_PART => Because::MoreThanAll {
            finding,
            against: findings.iter().find(|it| it.1.share < 0.0).map(|it| it.0),
        },
        Some(&(finding, _)) => {
            let whole_s = difference.span_s.median.abs();
            Because::Cause { finding, whole_s, agrees: agrees(whole_s, times) }
        }
        None => by_timed_runs(difference, why).unwrap_or_else(|| {
            match difference.noise_s.filter(|noise| *noise >= HIDDEN * difference.span_s.median.abs()) {
                Some(seconds) => Because::Noise { seconds, others: difference.others },
                None => Because::Unknown,
            }
        }),
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
            (None, Because::MoreWork(_) | Because::Waits { .. } | Because::Overlap { .. }) => None,
            (None, _) => work.map(Then::MoreWork),
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
        because: Because::CpuTime {
            work: MoreCpuTime { on, ..more_cpu_time(difference) },
            others: difference.others,
        },
        then: None,
        load_decides: false,
    }
}

/// Wall and CPU time of the timed runs explain a difference without any observed run: more CPU time, more time on no CPU, or as much of both
/// on fewer CPUs.
fn by_timed_runs(difference: &Difference, why: &Why) -> Option<Because> {
    let two = [&difference.alternative, &difference.baseline];
    let not_told_apart = |it: &Refusal| matches!(it, Refusal::Same { .. } | Refusal::Undecided { .. });
    if why.refusals.iter().any(|it| not_told_apart(it) && it.is_about(two)) {
        return None;
    }
    let turned = difference.span_s.median < 0.0;
    let (alternative, baseline) = (&difference.alternative, &difference.baseline);
    let (slower, faster) = if turned { (baseline, alternative) } else { (alternative, baseline) };
    let (slower, faster) = (Timed::of(slower, why)?, Timed::of(faster, why)?);
    let most = MOST * difference.span_s.median.abs();
    if let Some(work) = more_work(difference, why).filter(|work| work.seconds >= most) {
        return Some(Because::MoreWork(work));
    }
    let waits_s = slower.idle_s() - faster.idle_s();
    if waits_s >= most {
        return Some(Because::Waits { seconds: waits_s });
    }
    let overlaps = faster.saved_s() - slower.saved_s() >= most;
    overlaps.then_some(Because::Overlap { cpus: Pair { here: slower.cpus, there: faster.cpus } })
}

/// The timed runs of one alternative.
#[derive(Clone, Copy)]
struct Timed {
    wall_s: f64,
    /// CPUs that it keeps busy on average.
    cpus: f64,
}

impl Timed {
    /// `None`: the kernel counted no CPU time.
    fn of(name: &str, why: &Why) -> Option<Self> {
        let account = why.accounts.iter().find(|it| it.alternative == name)?;
        Some(Self { wall_s: account.untraced_s, cpus: account.parallelism? })
    }

    /// Time on no CPU, at least.
    fn idle_s(self) -> f64 {
        self.wall_s * (1.0 - self.cpus).max(0.0)
    }

    /// CPU time that costs no time, because more than one CPU is busy meanwhile, at least.
    fn saved_s(self) -> f64 {
        self.wall_s * (self.cpus - 1.0).max(0.0)
    }
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

/// More CPU time of the one that takes longer, where the rounds tell it.
fn more_work(difference: &Difference, why: &Why) -> Option<MoreCpuTime> {
    let slower = if difference.span_s.median < 0.0 { &difference.baseline } else { &difference.alternative };
    let most = difference.work.first().filter(|row| row.seconds.median / difference.work_s.median >= MOST);
    let on = most.map(|row| row.kind).filter(|on| !refuted(*on, difference, why));
    let more = MoreCpuTime { on, ..more_cpu_time(difference) };
    (difference.dearer.as_ref() == Some(slower)).then_some(more)
}

/// The additional CPU time of the one that needs more.
fn more_cpu_time(difference: &Difference) -> MoreCpuTime {
    let work_s = difference.work_s.median;
    let user_s = difference.user_s.map(|it| it.median * work_s.signum());
    MoreCpuTime { seconds: work_s.abs(), on: None, user_s }
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
        let mut none = Why { findings: Vec::new(), ..explained() };
        // The kernel counted no CPU time.
        none.accounts.iter_mut().for_each(|it| it.parallelism = None);
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
        difference.user_s = None;
        let answer = of(&difference, (0.08, 0.04), &none);
        let more = MoreCpuTime { seconds: 0.025, on: Some(WorkKind::User), user_s: None };
        assert_eq!(answer.because, Because::MoreWork(more));
        assert_eq!(answer.then, None);
    }

    #[test]
    fn wall_and_cpu_time_tell_an_overlap_and_a_wait() {
        let why = Why { findings: Vec::new(), ..explained() };
        let of = |slower: (f64, f64), faster: (f64, f64)| {
            let mut why = why.clone();
            for (it, (wall_s, cpus)) in why.accounts.iter_mut().zip([faster, slower]) {
                (it.untraced_s, it.parallelism) = (wall_s, Some(cpus));
            }
            let mut difference = why.differences[0].clone();
            (difference.dearer, difference.span_s.median) = (None, slower.0 - faster.0);
            by_timed_runs(&difference, &why)
        };
        let two = Pair { here: 1.0, there: 2.0 };
        assert_eq!(of((0.08, 1.0), (0.04, 2.0)), Some(Because::Overlap { cpus: two }));
        let Some(Because::Waits { seconds }) = of((0.08, 0.5), (0.04, 1.0)) else { panic!() };
        assert!((seconds - 0.04).abs() < 1e-9, "{seconds}");
        // Both are busy all the time, and nobody knows which has more to do.
        assert_eq!(of((0.08, 1.0), (0.04, 1.0)), None);
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
        let why = explained();
        let mut difference = why.differences[0].clone();
        assert_eq!(difference.dearer.as_deref(), Some("b"));
        assert!(more_work(&difference, &why).is_some());
        difference.dearer = None;
        assert_eq!(more_work(&difference, &why), None);
    }
}
