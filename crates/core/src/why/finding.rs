//! Findings: causes that are large enough to be told from noise and from the cost of observing, the largest first.

use std::collections::BTreeMap;

use super::account::Alternative;
use super::cause::Cause;
use super::causes::{About, Seen, definition};
use super::difference::Deltas;
use super::facts::Side;
use super::functions;
use super::medians::of_rounds;
use super::report::{Account, Finding};
use super::rules::{Causes, Pair, alone, causes};
use whyfaster_stats::Estimate;
use whyfaster_stats::looks::Precision;

/// Part of the cost of observing that the calibration placed, and that may have fallen elsewhere all the same.
const MISPLACED_COST: f64 = 0.25;

/// Part of the rounds that must agree on the sign of a cause: six of seven.
const AGREE: f64 = 0.85;

/// From so many rounds on that is enough.
const SOME: usize = 7;

/// A part of the difference whose rounds surely agree is told at this share or more, however noisy wall times are, where its cause is seen
/// beside them.
pub(super) const LARGE: f64 = 0.1;

/// Where observing cost more than the difference, a cause is told from this share on: the largest.
const BY_COUNTS: f64 = 0.5;

/// A cause with this part of a CPU time that is surely more is as sure as that.
const MOST: f64 = 0.5;

/// Parts of the difference below this are nobody's concern.
const LEAST_SHARE: f64 = 0.01;

/// The two sides of a difference, with all that is known of them.
pub(super) struct Sides<'a> {
    pub alternative: (&'a Alternative<'a>, &'a Side, &'a Account),
    pub baseline: (&'a Alternative<'a>, &'a Side, &'a Account),
    /// The difference of the untraced wall times.
    pub wall_s: Estimate,
    /// How far the noise reaches, seconds.
    pub floor_s: f64,
    pub precision: Precision,
    /// Observing cost more than the difference: what is told is what counts and CPU time show.
    pub by_counts: bool,
    /// No observed run can be used: see [`super::counted`].
    pub unobserved: bool,
    /// The difference of the CPU times. `None`: the timed rounds do not tell them apart.
    pub surely_more_s: Option<f64>,
}

/// The findings, and what they leave of the difference.
pub(super) fn findings(sides: &Sides<'_>, deltas: &Deltas) -> (Vec<Finding>, Estimate) {
    let pair = Pair { alternative: sides.alternative.1, baseline: sides.baseline.1 };
    let attributed = deltas.attributed();
    let without = alone(&attributed, pair);
    let mut all: Causes = causes(&attributed, pair);
    let rounds: Vec<Causes> =
        (0..deltas.rounds).map(|round| causes(&deltas.attributed_in(round), pair)).collect();
    all.remove(&Cause::Unexplained);
    let found: BTreeMap<Cause, Estimate> = all
        .into_iter()
        .map(|(cause, seconds)| (cause, interval(cause, seconds, &rounds, sides.precision)))
        .filter(|(cause, seconds)| sides.tells(*cause, seconds) && sides.agree(*cause, seconds, &rounds))
        .collect();
    let rest = sides.wall_s.median - found.values().map(|it| it.median).sum::<f64>();
    let mut findings: Vec<Finding> = found
        .iter()
        .map(|(cause, seconds)| {
            let queued_s = seconds.median - without.get(cause).copied().unwrap_or(0.0);
            sides.finding(*cause, *seconds, queued_s)
        })
        .collect();
    let unexplained = moved(sides.wall_s, rest);
    // With it the findings are the whole difference, but for what is within the noise.
    if rest.abs() > sides.noise_s() {
        findings.push(sides.finding(Cause::Unexplained, unexplained, 0.0));
    }
    sort(&mut findings);
    (findings, unexplained)
}

/// What makes the slower alternative slower comes first, then what works against it; the largest first, where one that may be none by its
/// interval counts half. What others took is no property of a command, and stands behind what is, where that is large enough to be named.
pub(super) fn sort(findings: &mut [Finding]) {
    let own = |it: &Finding| !matches!(it.cause, Cause::CpuContention | Cause::Unexplained);
    let named = findings.iter().any(|it| own(it) && it.share >= LARGE);
    let rank = |it: &Finding| match it.cause {
        _ if it.share <= 0.0 => 2,
        Cause::CpuContention if named => 1,
        _ => 0,
    };
    let weight = |it: &Finding| {
        let sure = it.low.zip(it.high).is_none_or(|(low, high)| low * high > 0.0);
        if sure { it.seconds } else { it.seconds / 2.0 }
    };
    findings.sort_by(|a, b| rank(a).cmp(&rank(b)).then(weight(b).total_cmp(&weight(a))));
}

/// What findings leave of a difference, with the interval of the difference around it.
fn moved(whole: Estimate, rest: f64) -> Estimate {
    let by = rest - whole.median;
    Estimate { median: rest, low: whole.low.map(|low| low + by), high: whole.high.map(|high| high + by) }
}

/// The interval over the rounds. It holds the median of the parts, which need not be the median of what follows from them.
fn interval(cause: Cause, seconds: f64, rounds: &[Causes], precision: Precision) -> Estimate {
    let values: Vec<f64> = rounds.iter().map(|causes| causes.get(&cause).copied().unwrap_or(0.0)).collect();
    let of = of_rounds(&values, precision);
    Estimate {
        median: seconds,
        low: of.low.map(|low| low.min(seconds)),
        high: of.high.map(|high| high.max(seconds)),
    }
}

impl Sides<'_> {
    /// Whether a part is larger than noise and than what observing may have put there. The noise of wall times does not hide a large part
    /// of which the rounds say how sure it is.
    fn tells(&self, cause: Cause, part: &Estimate) -> bool {
        let seconds = part.median;
        let (a, b) = (self.alternative.0, self.baseline.0);
        let uncertain = |it: &Alternative<'_>| {
            let placed = it.attributed_s();
            it.unattributed_s() + it.beyond_s().max(placed * MISPLACED_COST)
        };
        let sure = part.low.zip(part.high).is_some_and(|(low, high)| low * high > 0.0)
            || self.is_most_of_surely_more(cause, seconds);
        let large = seconds.abs() >= self.wall_s.median.abs() * LARGE;
        let clear = sure && large && definition(cause).seen != Seen::Nothing;
        if self.by_counts {
            return clear && seconds.abs() >= self.wall_s.median.abs() * BY_COUNTS;
        }
        let noise_s = if clear { 0.0 } else { self.noise_s() };
        let misplaced_s = if self.unobserved { 0.0 } else { (uncertain(a) - uncertain(b)).abs() };
        seconds.abs() > noise_s.max(misplaced_s)
    }

    /// Most rounds agree. Of seven rounds or more the interval may hold 0: of seven it is the whole range, and the verdict, which rests on the
    /// untraced runs, has excluded chance already. Fewer rounds agree by chance too often.
    fn agree(&self, cause: Cause, part: &Estimate, rounds: &[Causes]) -> bool {
        let same = rounds
            .iter()
            .filter(|causes| causes.get(&cause).is_some_and(|it| it * part.median > 0.0))
            .count();
        let sure = part.low.zip(part.high).is_none_or(|(low, high)| low * high > 0.0);
        same as f64 >= AGREE * rounds.len() as f64
            && (sure || rounds.len() >= SOME || self.is_most_of_surely_more(cause, part.median))
    }

    /// The timed rounds surely tell more CPU time, and this part is most of it. Three rounds may do so, by the ratio; the interval of the
    /// part's seconds then still holds 0 on a machine that changes its speed.
    fn is_most_of_surely_more(&self, cause: Cause, seconds: f64) -> bool {
        let more = self.surely_more_s.filter(|_| definition(cause).seen == Seen::CpuTime);
        more.is_some_and(|more| seconds / more >= MOST)
    }

    /// How far the noise reaches; parts of the difference below 1% count as that.
    pub(super) fn noise_s(&self) -> f64 {
        self.floor_s.max(self.wall_s.median.abs() * LEAST_SHARE)
    }

    /// The finding of a cause that takes the alternative so much longer (or, below zero, the baseline).
    fn finding(&self, cause: Cause, seconds: Estimate, queued_s: f64) -> Finding {
        let (slow, fast, seconds_of) = if seconds.median >= 0.0 {
            (self.alternative, self.baseline, seconds)
        } else {
            let turned = Estimate {
                median: -seconds.median,
                low: seconds.high.map(|high| -high),
                high: seconds.low.map(|low| -low),
            };
            (self.baseline, self.alternative, turned)
        };
        let accounts = (slow.2, fast.2);
        let definition = definition(cause);
        let observed = !(self.unobserved || self.by_counts);
        let about =
            About { definition, seconds: seconds_of.median, observed, slow: slow.1, fast: fast.1, accounts };
        let (functions, samples) = functions::functions(&about, slow.0, fast.0);
        Finding {
            cause,
            alternative: slow.1.name.clone(),
            against: fast.1.name.clone(),
            seconds: seconds_of.median,
            low: seconds_of.low,
            high: seconds_of.high,
            share: seconds.median / self.wall_s.median,
            by_counts: self.unobserved && !definition.timed,
            confirmed: None,
            fact: Some((definition.fact)(&about)),
            functions,
            samples,
            sentence: String::new(),
            remedy: String::new(),
            page: cause.page(),
            evidence: about.evidence(queued_s * seconds.median.signum()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::report::{PathKind, WorkKind};
    use crate::why::tests::fixture::{Scene, Trace};

    /// What leads of 40 ms of sleeping and 30 ms of computing, where the interval of the sleeping begins at `low_s`.
    fn leads(low_s: f64, computing_s: f64) -> Cause {
        let a = Trace::new().runs("x", WorkKind::User, 0.05, 0);
        let b = Trace::new().runs("x", WorkKind::User, 0.05 + computing_s, 0).waits(
            "x",
            PathKind::Sleep,
            None,
            0.04,
        );
        let mut findings = Scene::of(&a.0, &b.0).explain().findings;
        assert_eq!(findings.len(), 2, "{findings:?}");
        for it in &mut findings {
            let low_s = if it.cause == Cause::Sleep { low_s } else { it.seconds / 2.0 };
            (it.low, it.high) = (Some(low_s), Some(it.seconds * 2.0));
        }
        sort(&mut findings);
        findings[0].cause
    }

    #[test]
    fn a_cause_that_may_be_none_leads_where_it_is_twice_as_large_as_a_sure_one() {
        assert_eq!(leads(0.01, 0.03), Cause::Sleep);
        assert_eq!(leads(-0.01, 0.03), Cause::Compute);
        assert_eq!(leads(-0.01, 0.01), Cause::Sleep);
    }
}
