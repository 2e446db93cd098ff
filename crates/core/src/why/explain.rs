//! The explanation of a measurement: accounts, differences, findings and the summary, from traced and untraced runs.

use super::account::Alternative;
use super::answer::answer;
use super::cause::Cause;
use super::counted;
use super::deciding::{dearer, deciding, surely_more};
use super::delta_rows;
use super::difference::Deltas;
use super::facts::Side;
use super::finding::{self, Sides};
use super::input::{self, ExplainInput};
use super::refuse;
use super::report::{Account, Difference, Finding, Why};
use super::rules::Pair;
use super::statement::Refusal;
use super::stolen;
use super::wrapped;
use crate::analysis::Comparison;
use crate::trace::report::Level;
use crate::verdict::Verdict;
use whyfaster_stats::Estimate;
use whyfaster_stats::looks::Precision;

/// Explains a measurement, in kinds with their numbers; the texts are empty, and made where they are shown or stored. `traced`, `traced_batches` and `experiments` of the result are empty: they are put in by who has them.
///
/// Without traces that saw waits, a difference is explained by counts and CPU time. A second call with the same runs gives the same.
pub fn explain(given: &ExplainInput<'_>) -> Why {
    let (runs, batches) = (stolen::from_runs(given.traced), stolen::from_batches(given.traced_batches));
    let given = &ExplainInput {
        traced: runs.as_deref().unwrap_or(given.traced),
        traced_batches: batches.as_deref().unwrap_or(given.traced_batches),
        ..*given
    };
    let mut why = Why {
        predictions: super::predict::predictions(given),
        growth: super::growth::growth(given),
        ..Why::default()
    };
    let wanted = given.plan.explain.is_some() || !given.traced.is_empty();
    if !wanted || given.plan.alternatives.len() < 2 {
        return why;
    }
    let untraced = input::untraced(given.plan, given.batches);
    why.refusals.extend(refuse::whole(given, untraced.len()));
    if !why.refusals.is_empty() {
        return why;
    }
    let all: Vec<Alternative<'_>> =
        (0..given.plan.alternatives.len()).map(|index| Alternative::of(given, &untraced, index)).collect();
    why.wrappers = all.iter().flat_map(wrapped::wrappers).collect();
    let sides: Vec<(Side, Account)> = all.iter().map(|it| (Side::of(it), it.account())).collect();
    let Some(baseline) = all.get(given.plan.baseline) else { return why };
    for alternative in all.iter().filter(|it| it.index != baseline.index) {
        let of = Both { given, alternative, baseline, sides: &sides };
        let difference = of.explain(&mut why);
        why.differences.extend(difference);
    }
    let told = |it: &Account| {
        it.rounds > 0
            || why.differences.iter().any(|of| [&of.alternative, &of.baseline].contains(&&it.alternative))
    };
    why.accounts = sides.into_iter().map(|(_, account)| account).filter(told).collect();
    finding::sort(&mut why.findings);
    why.answer = answer(&why);
    why
}

/// How far the noise reaches: the farthest end of the hidden copy's interval, as the part of the longer time that it makes.
/// Noise that makes a run five times as long makes four fifths of it, and hides no difference of twenty times. Without an
/// interval, delta.
fn floor(given: &ExplainInput<'_>) -> f64 {
    let level = given.analysis.levels.iter().find(|level| level.load == 1);
    let floor = level.and_then(|level| level.floor).or(given.analysis.floor);
    let interval = floor.and_then(|floor| floor.low.zip(floor.high));
    let part = |(low, high): (f64, f64)| (1.0 - low).max(1.0 - 1.0 / high).max(0.0);
    interval.map_or(given.plan.delta, part)
}

/// The same in seconds. The hidden copy is one of the baseline. A longer alternative is as noisy in proportion, unless the rounds say
/// that it is not: then as far as its distance to the baseline is uncertain. A short baseline that jitters by a third of a
/// millisecond says nothing of milliseconds among a hundred.
fn floor_s(part: f64, (alternative_s, baseline_s): (f64, f64), wall_s: &Estimate) -> f64 {
    let seen = wall_s.low.zip(wall_s.high).map(|(low, high)| (high - low) / 2.0);
    let longer = part * alternative_s;
    (part * baseline_s).max(seen.map_or(longer, |seen| longer.min(seen)))
}

/// One alternative and the baseline.
struct Both<'a> {
    given: &'a ExplainInput<'a>,
    alternative: &'a Alternative<'a>,
    baseline: &'a Alternative<'a>,
    sides: &'a [(Side, Account)],
}

impl Both<'_> {
    /// The difference of the two, and its findings put into `why`. `None` where one of them never ran.
    fn explain(&self, why: &mut Why) -> Option<Difference> {
        let (alternative, baseline) = (self.alternative, self.baseline);
        // A damaged record may have any confidence; here it stays a probability.
        let alpha = (1.0 - self.given.plan.confidence).clamp(1e-12, 0.5);
        let fixed = self.given.plan.explain.as_ref().is_some_and(|it| it.rounds.is_some());
        let precision = Precision { alpha, fixed };
        let of_wall = |it: &input::Untraced| Some(it.wall_s);
        let wall_s = delta_rows::untraced(&alternative.untraced, &baseline.untraced, alpha, of_wall);
        let verdict = self.given.comparison(alternative.name).map(|it| it.verdict);
        let full = |it: &&Alternative<'_>| it.counts.iter().any(|report| report.level == Level::Full);
        let observed = [alternative, baseline].iter().any(full);
        // Of several alternatives only those are observed that differ.
        let meant = observed && !alternative.counts.is_empty();
        if !meant && !matches!(verdict, Some(Verdict::Faster | Verdict::Slower)) {
            return None;
        }
        let Some(wall_s) = wall_s else {
            let of = [alternative.name.to_owned(), baseline.name.to_owned()];
            why.refusals.push(Refusal::NoCommonRound { of });
            return None;
        };
        let mut difference = self.difference(wall_s, precision);
        let refusal = if observed { refuse::pair(alternative, baseline, &wall_s, verdict) } else { None };
        if matches!(refusal, Some(Refusal::Undecided { .. }))
            && difference.dearer.is_some()
            && !surely_more(&difference).is_empty()
        {
            // Causes are parts of a difference of wall times, and there may be none.
            difference.undecided = true;
            return Some(difference);
        }
        let counts = refusal.as_ref().map(|it| refuse::leaves_counts(it, (alternative, baseline)));
        difference.by_counts = counts.unwrap_or(!observed);
        why.refusals.extend(refusal);
        if counts != Some(false) {
            let findings = self.findings(&mut difference, precision);
            // Counts that show nothing are no result.
            let shown = !difference.by_counts || findings.iter().any(|it| it.cause != Cause::Unexplained);
            why.findings.extend(findings.into_iter().filter(|_| shown));
        }
        Some(difference)
    }

    /// The findings of the difference, which is told what they leave of it.
    fn findings(&self, difference: &mut Difference, precision: Precision) -> Vec<Finding> {
        let (alternative, baseline) = (self.alternative, self.baseline);
        let (here, there) = (&self.sides[alternative.index], &self.sides[baseline.index]);
        let wall_s = difference.span_s;
        let sides = Sides {
            alternative: (alternative, &here.0, &here.1),
            baseline: (baseline, &there.0, &there.1),
            wall_s,
            floor_s: floor_s(floor(self.given), (alternative.untraced_s, baseline.untraced_s), &wall_s),
            precision,
            by_counts: difference.dearer_to_observe_s.is_some() && !difference.by_counts,
            unobserved: difference.by_counts,
            surely_more_s: difference.dearer.as_ref().map(|_| difference.work_s.median),
        };
        let deltas = match difference.by_counts {
            true => {
                let pair = Pair { alternative: &here.0, baseline: &there.0 };
                counted::deltas(self.given, alternative, baseline, pair)
            }
            false => Deltas::of(alternative, baseline),
        };
        difference.noise_s = Some(sides.noise_s());
        let (findings, unexplained_s) = finding::findings(&sides, &deltas);
        difference.unexplained_s = unexplained_s;
        findings
    }

    /// The part of the CPUs that others kept busy during the untraced runs.
    fn others(&self) -> Option<f64> {
        let cpus = f64::from(self.given.host.before.cpus_online?).max(1.0);
        let sides = [self.alternative, self.baseline].map(|it| self.sides[it.index].0.foreign);
        Some(sides.into_iter().flatten().reduce(f64::max)? / cpus)
    }

    /// The rows of the difference. All of it counts as unexplained until there are findings.
    fn difference(&self, wall_s: Estimate, precision: Precision) -> Difference {
        let (alternative, baseline) = (self.alternative, self.baseline);
        let work = delta_rows::work(alternative, baseline, precision);
        let traced_work =
            Estimate { median: work.iter().map(|row| row.seconds.median).sum(), low: None, high: None };
        let work_s =
            delta_rows::untraced(&alternative.untraced, &baseline.untraced, precision.alpha, |it| it.cpu_s)
                .unwrap_or(traced_work);
        let time = self.given.comparison(alternative.name).map(Comparison::time);
        Difference {
            alternative: alternative.name.to_owned(),
            baseline: baseline.name.to_owned(),
            ratio: time.map(|it| it.ratio),
            ratio_low: time.and_then(|it| it.low),
            ratio_high: time.and_then(|it| it.high),
            span_s: wall_s,
            path: delta_rows::path(alternative, baseline, precision),
            deciding: String::new(),
            decides: deciding(self.given, (alternative.name, baseline.name), &work_s, &work),
            dearer: dearer(self.given, (alternative.name, baseline.name), &work_s),
            user_s: counted::user_s(alternative, baseline, precision.alpha),
            work_s,
            share: delta_rows::share(alternative, baseline, precision),
            unexplained_s: wall_s,
            noise_s: None,
            others: self.others(),
            dearer_to_observe_s: refuse::dearer_to_observe_s(alternative, baseline, &wall_s),
            by_counts: false,
            undecided: false,
            work,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::floor_s;
    use whyfaster_stats::Estimate;

    #[test]
    fn noise_of_a_short_baseline_hides_nothing_of_a_long_alternative() {
        let wall = |half: f64| Estimate { median: 0.063, low: Some(0.063 - half), high: Some(0.063 + half) };
        let of = |half, times| floor_s(0.34, times, &wall(half));
        // 0.5 ms that jitter by a third, against 64 ms that the rounds tell to 0.4 ms.
        assert!((of(0.0004, (0.0637, 0.0005)) - 0.0004).abs() < 1e-9);
        // Rounds that differ more than the hidden copy says do not raise it.
        assert!((of(0.05, (0.0637, 0.0005)) - 0.34 * 0.0637).abs() < 1e-9);
        // The noise of the baseline counts whole, and without an interval all is in proportion.
        assert!((of(0.0004, (0.0005, 0.0637)) - 0.34 * 0.0637).abs() < 1e-9);
        let none = Estimate { median: 0.063, low: None, high: None };
        assert!((floor_s(0.34, (0.0637, 0.0005), &none) - 0.34 * 0.0637).abs() < 1e-9);
    }
}
