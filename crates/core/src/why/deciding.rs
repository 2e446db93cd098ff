//! Which account decides at which load: alone the way that must be gone step by step, among many the CPU time.

use super::input::ExplainInput;
use super::report::{Difference, WorkDelta};
use super::statement::{Deciding, FlipLoad, WorkTold};
use crate::analysis::Comparison;
use crate::bounds;
use crate::crossover::Crossover;
use crate::trace::report::WorkKind;
use crate::verdict::Verdict;
use whyfaster_stats::Estimate;

/// Kinds of work that are named, at most.
const NAMED: usize = 2;

/// Parts of the difference of the work below this are not named.
const LEAST: f64 = 0.2;

/// What decides below and above which load, and what the difference of the work consists of. `work_s` is the difference of the
/// CPU times; an answer that changes with the load is claimed only where its interval excludes equality by delta. `None`: span or
/// work of one of them is not known, or something else decided at a load that was measured.
pub(super) fn deciding(
    given: &ExplainInput<'_>,
    names: (&str, &str),
    work_s: &Estimate,
    work: &[WorkDelta],
) -> Option<Deciding> {
    let of = |name: &str| {
        let it = given.analysis.alternatives.iter().find(|it| it.name == name)?;
        Some((it.span_s?, it.work_s?))
    };
    let (a, b) = (of(names.0)?, of(names.1)?);
    let crossover = crossover(given, names);
    if crossover.is_some_and(Crossover::is_refuted) {
        return None;
    }
    let turned = a.0 >= b.0;
    let (quicker, slower) = if turned { (names.1, names.0) } else { names };
    let ((quick_s, quick_work_s), (slow_s, slow_work_s)) = if turned { (b, a) } else { (a, b) };
    // The sign of the difference is the alternative's.
    let work_told = match told(given, names, work_s, (a.1, b.1)) {
        Told::Same => WorkTold::Same,
        Told::Nothing => WorkTold::Undecided,
        Told::Less if turned => WorkTold::Flips,
        Told::More if !turned => WorkTold::Flips,
        Told::Less | Told::More => WorkTold::StaysAhead,
    };
    Some(Deciding {
        quicker: quicker.to_owned(),
        slower: slower.to_owned(),
        spans_s: (quick_s, slow_s),
        works_s: (quick_work_s, slow_work_s),
        cpus: bounds::capacity(given.plan, given.host),
        work: work_told,
        from: crossover.and_then(load),
        kinds: kinds(work),
    })
}

/// The one that needs more CPU time, where the rounds tell.
pub(super) fn dearer(given: &ExplainInput<'_>, names: (&str, &str), work_s: &Estimate) -> Option<String> {
    let work = |name: &str| given.analysis.alternatives.iter().find(|it| it.name == name)?.work_s;
    match told(given, names, work_s, (work(names.0)?, work(names.1)?)) {
        Told::More => Some(names.0.to_owned()),
        Told::Less => Some(names.1.to_owned()),
        Told::Same | Told::Nothing => None,
    }
}

/// Whether there is anything to explain between two alternatives: one is faster, or the rounds tell their CPU times apart at least.
pub fn worth_observing(it: &Comparison, delta: f64) -> bool {
    match it.verdict {
        Verdict::Faster | Verdict::Slower => true,
        Verdict::Same => false,
        Verdict::Undecided => {
            let work = it.work.and_then(|work| work.low.zip(work.high));
            work.is_some_and(|(low, high)| low - 1.0 > delta || high - 1.0 < -delta)
        }
    }
}

/// The kinds of work that are more where more CPU time is needed, by every observed round; the largest first.
pub(super) fn surely_more(difference: &Difference) -> Vec<&WorkDelta> {
    let whole = difference.work_s.median;
    let more = |row: &&WorkDelta| {
        let sure = row.seconds.low.zip(row.seconds.high).is_some_and(|(low, high)| low * high > 0.0);
        sure && row.seconds.median * whole > 0.0 && row.seconds.median / whole >= LEAST
    };
    difference.work.iter().filter(more).collect()
}

/// What the rounds say of a difference of CPU times.
enum Told {
    Less,
    More,
    Same,
    Nothing,
}

/// Within delta, the works are the same, as times are. Without an interval nothing is told. The ratio of a comparison has one after
/// fewer rounds than the difference.
fn told(given: &ExplainInput<'_>, names: (&str, &str), work_s: &Estimate, works: (f64, f64)) -> Told {
    let compared = given.comparison(names.0).filter(|it| it.baseline == names.1).and_then(|it| it.work);
    let ratio = compared.and_then(|it| it.low.zip(it.high)).map(|(low, high)| (low - 1.0, high - 1.0));
    let delta = given.plan.delta;
    let parts = work_s.low.zip(work_s.high).map(|(low, high)| {
        let less = works.0.min(works.1);
        (low / less, high / less)
    });
    match ratio.or(parts) {
        Some((low, _)) if low > delta => Told::More,
        Some((_, high)) if high < -delta => Told::Less,
        Some((low, high)) if low >= -delta && high <= delta => Told::Same,
        _ => Told::Nothing,
    }
}

/// The kinds that most of the difference of the work consists of.
fn kinds(work: &[WorkDelta]) -> Vec<WorkKind> {
    let whole: f64 = work.iter().map(|row| row.seconds.median).sum();
    let large = |row: &&WorkDelta| row.seconds.median * whole > 0.0 && row.seconds.median / whole >= LEAST;
    work.iter().filter(large).take(NAMED).map(|row| row.kind).collect()
}

fn crossover<'a>(given: &ExplainInput<'a>, names: (&str, &str)) -> Option<&'a Crossover> {
    let mine = |it: &&Crossover| it.alternative == names.0 && it.baseline == names.1;
    given.analysis.crossovers.iter().find(mine)
}

/// The load at which the answer changes, as measured or else as predicted.
fn load(crossover: &Crossover) -> Option<FlipLoad> {
    match crossover.measured_from.zip(crossover.measured_to) {
        Some((from, to)) => Some(FlipLoad::Measured { from, to }),
        None => crossover.predicted().map(|it| {
            let [load, low, high] = [Some(it.ratio), it.low, it.high].map(|load| load.map(|it| it.max(1.0)));
            FlipLoad::Predicted { load: load.unwrap_or(1.0), low, high }
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crossover::VerdictRange;
    use crate::sample::Arm;
    use crate::why::statement::{Because, MoreCpuTime, Refusal};
    use crate::why::tests::fixture::{Scene, Trace};

    fn decides(a: Trace, b: Trace) -> Deciding {
        Scene::of(&a.0, &b.0).explain().differences.remove(0).decides.unwrap()
    }

    fn runs(path: f64, beside: f64) -> Trace {
        Trace::new().runs("x", WorkKind::User, path, 0).beside("y", WorkKind::User, beside, 0)
    }

    #[test]
    fn the_account_that_decides_is_named() {
        let flips = decides(runs(0.2, 0.0), runs(0.12, 0.18));
        assert_eq!(
            (flips.quicker.as_str(), flips.work, &flips.kinds[..]),
            ("b", WorkTold::Flips, &[WorkKind::User][..])
        );
        assert!((flips.works_s.0 - 0.3).abs() < 0.01 && (flips.works_s.1 - 0.2).abs() < 0.01, "{flips:?}");
        assert_eq!(decides(runs(0.2, 0.0), runs(0.1, 0.1)).work, WorkTold::Same);
        let stays = decides(runs(0.1, 0.0), runs(0.2, 0.0));
        assert_eq!((stays.quicker.as_str(), stays.work), ("a", WorkTold::StaysAhead));
    }

    #[test]
    fn where_a_measured_load_refutes_it_nothing_is_said_of_full_cpus() {
        let mut scene = Scene::of(&runs(0.2, 0.0).0, &runs(0.12, 0.18).0);
        let decides = |scene: &Scene| scene.explain().differences.remove(0).decides;
        assert!(decides(&scene).is_some());
        let crossover = &mut scene.analysis.crossovers[0];
        (crossover.predicted_load, crossover.predicted_high) = (Some(8.0), Some(10.0));
        crossover.ranges = vec![VerdictRange { from: 1, to: 100, verdict: Verdict::Faster }];
        assert_eq!(decides(&scene), None);
    }

    #[test]
    fn few_rounds_that_tell_the_times_apart_tell_the_cpu_times_apart_too() {
        let mut scene = Scene::of(&runs(0.2, 0.0).0, &runs(0.001, 0.0).0);
        scene.batches.retain(|it| it.round < 4);
        scene.analyse();
        let difference = scene.explain().differences.remove(0);
        assert_eq!(difference.work_s.low, None, "too few for an interval of the difference");
        assert_eq!(difference.decides.unwrap().work, WorkTold::StaysAhead);
    }

    /// 'b' takes half of the CPU time, and every second run of both waits four times as long: nobody knows which is faster.
    fn undecided(work: f64) -> Scene {
        let mut scene = Scene::of(&runs(0.2, 0.0).0, &runs(work, 0.0).0);
        for (at, batch) in scene.batches.iter_mut().enumerate() {
            batch.makespan_s = if (at / 3 + at % 3) % 2 == 0 { 0.3 } else { 1.2 };
        }
        scene.analyse();
        scene
    }

    #[test]
    fn of_two_that_nobody_tells_apart_the_cpu_time_is_told() {
        let scene = undecided(0.1);
        let compared = &scene.analysis.levels[0].comparisons[0];
        assert!(compared.verdict == Verdict::Undecided && worth_observing(compared, 0.01), "{compared:#?}");
        let why = scene.explain();
        assert!(why.findings.is_empty() && why.refusals.is_empty(), "{why:#?}");
        let answer = why.answer.unwrap();
        assert_eq!((answer.slower.as_str(), answer.faster.as_str(), answer.ratio), ("a", "b", None));
        let Because::CpuTime { work: MoreCpuTime { seconds, on, .. }, .. } = answer.because else {
            panic!("{answer:#?}")
        };
        assert!((seconds - 0.1).abs() < 0.01 && on == Some(WorkKind::User), "{answer:#?}");
        // Both need the same: there is nothing to say, and nothing to observe.
        let scene = undecided(0.2);
        assert!(!worth_observing(&scene.analysis.levels[0].comparisons[0], 0.01));
        let why = scene.explain();
        assert!(why.answer.is_none() && matches!(why.refusals[..], [Refusal::Undecided { .. }]), "{why:#?}");
    }

    #[test]
    fn no_answer_changes_by_a_difference_that_may_be_none() {
        // 'b' costs 3% more in the median, and between 12% less and 15% more by the rounds.
        let mut scene = Scene::of(&runs(0.2, 0.0).0, &runs(0.1, 0.106).0);
        for (at, batch) in scene.batches.iter_mut().filter(|it| it.arm == Arm::Alternative(1)).enumerate() {
            batch.copies.user_s[0] *= [0.85, 1.0, 1.12][at % 3];
        }
        scene.analyse();
        let why = scene.explain();
        assert_eq!(why.differences[0].decides.as_ref().unwrap().work, WorkTold::Undecided);
        assert!(!why.answer.unwrap().load_decides);
    }
}
