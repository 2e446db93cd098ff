//! Which account decides at which load: alone the way that must be gone step by step, among many the CPU time.

use super::input::ExplainInput;
use super::kinds;
use super::report::WorkDelta;
use super::words::{label, time, upper};
use crate::analysis::AlternativeSummary;
use crate::bounds;
use crate::crossover::Crossover;
use crate::stats::Estimate;

/// Kinds of work that are named, at most.
const NAMED: usize = 2;

/// Parts of the difference of the work below this are not named.
const LEAST: f64 = 0.2;

/// In words: what decides below and above which load, and what the difference of the work consists of. `work_s` is the difference
/// of the CPU times; an answer that changes with the load is claimed only where its interval excludes equality by delta.
pub(super) fn deciding(
    given: &ExplainInput<'_>,
    names: (&str, &str),
    work_s: &Estimate,
    work: &[WorkDelta],
) -> String {
    let of = |name: &str| {
        let at = given.plan.alternatives.iter().position(|it| it.name == name)?;
        let summary = given.analysis.alternatives.iter().find(|it| it.name == name)?;
        Summary::of(summary, label(given.plan, at))
    };
    let (Some(a), Some(b)) = (of(names.0), of(names.1)) else { return String::new() };
    let (quicker, slower) = if a.span_s < b.span_s { (&a, &b) } else { (&b, &a) };
    let alone = format!(
        "Alone, {} wins, because a copy needs {} from beginning to end against {}.",
        quicker.label,
        time(quicker.span_s),
        time(slower.span_s)
    );
    let full = format!("{}{} full", FULL, cpus(bounds::capacity(given.plan, given.host)));
    let works = format!("{} and {}", time(quicker.work_s), time(slower.work_s));
    // The sign of the difference is the alternative's.
    let (cheaper, dearer) = match told(given, work_s, (a.work_s, b.work_s)) {
        Told::Same => {
            return format!(
                "{alone}{full}, only the CPU time counts, and neither wins: both need about the same ({works})."
            );
        }
        Told::Nothing => {
            return format!(
                "{alone} Which of them costs less CPU time cannot be told ({works}), nor which wins when the {} full.",
                cpus(bounds::capacity(given.plan, given.host))
            );
        }
        Told::Less => (&a, &b),
        Told::More => (&b, &a),
    };
    let kinds = kinds(work);
    let (cheap, dear) = (time(cheaper.work_s), time(dearer.work_s));
    if quicker.name == cheaper.name {
        return format!(
            "{} takes less time alone ({} against {}) and less CPU time ({cheap} against {dear}{kinds}), so it stays ahead when \
             many copies run.",
            upper(&quicker.label),
            time(quicker.span_s),
            time(slower.span_s),
        );
    }
    let at = load(given, names).map(|it| format!(" ({it})")).unwrap_or_default();
    format!(
        "{alone}{full}{at}, {} wins: it needs {cheap} of CPU time against {dear}.{THEN}{kinds}.",
        cheaper.label
    )
}

/// The one that needs more CPU time, where the rounds tell.
pub(super) fn dearer(given: &ExplainInput<'_>, names: (&str, &str), work_s: &Estimate) -> Option<String> {
    let work = |name: &str| given.analysis.alternatives.iter().find(|it| it.name == name)?.work_s;
    match told(given, work_s, (work(names.0)?, work(names.1)?)) {
        Told::More => Some(names.0.to_owned()),
        Told::Less => Some(names.1.to_owned()),
        Told::Same | Told::Nothing => None,
    }
}

/// Begins the sentence of what holds when the CPUs are full.
pub(super) const FULL: &str = " Once the ";

/// Begins what is said of it further.
pub(super) const THEN: &str = " Then the CPU time decides";

/// What the rounds say of a difference of CPU times.
enum Told {
    Less,
    More,
    Same,
    Nothing,
}

/// Within delta, the works are the same, as times are. Without an interval nothing is told.
fn told(given: &ExplainInput<'_>, work_s: &Estimate, works: (f64, f64)) -> Told {
    let delta = given.plan.delta * works.0.min(works.1);
    match work_s.low.zip(work_s.high) {
        Some((low, _)) if low > delta => Told::More,
        Some((_, high)) if high < -delta => Told::Less,
        Some((low, high)) if low >= -delta && high <= delta => Told::Same,
        _ => Told::Nothing,
    }
}

/// Span and work of an alternative, where both are known.
struct Summary<'a> {
    name: &'a str,
    label: String,
    span_s: f64,
    work_s: f64,
}

impl<'a> Summary<'a> {
    fn of(it: &'a AlternativeSummary, label: String) -> Option<Self> {
        Some(Self { name: &it.name, label, span_s: it.span_s?, work_s: it.work_s? })
    }
}

fn cpus(capacity: f64) -> String {
    if (capacity - 1.0).abs() < 1e-9 { "CPU is".to_owned() } else { format!("{capacity} CPUs are") }
}

/// The kinds that most of the difference of the work consists of: ", most of the difference in pipes".
fn kinds(work: &[WorkDelta]) -> String {
    let whole: f64 = work.iter().map(|row| row.seconds.median).sum();
    let large = |row: &&WorkDelta| row.seconds.median * whole > 0.0 && row.seconds.median / whole >= LEAST;
    let names: Vec<&str> = work.iter().filter(large).take(NAMED).map(|row| kinds::words(row.kind)).collect();
    if names.is_empty() {
        String::new()
    } else {
        format!(", most of the difference in {}", names.join(" and "))
    }
}

/// The load at which the answer changes, as measured or else as predicted.
pub(super) fn load(given: &ExplainInput<'_>, names: (&str, &str)) -> Option<String> {
    let mine = |it: &&Crossover| it.alternative == names.0 && it.baseline == names.1;
    let crossover = given.analysis.crossovers.iter().find(mine)?;
    match (crossover.measured_from, crossover.measured_to, crossover.predicted_load) {
        (Some(from), Some(to), _) => Some(format!("somewhere from {from} to {to} copies at once")),
        (_, _, Some(load)) => Some(format!("from about {:.0} copies at once on, predicted", load.max(1.0))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::sample::Arm;
    use crate::trace::report::WorkKind;
    use crate::why::tests::fixture::{Scene, Trace};

    fn text(a: Trace, b: Trace) -> String {
        Scene::of(&a.0, &b.0).explain().differences[0].deciding.clone()
    }

    fn runs(path: f64, beside: f64) -> Trace {
        Trace::new().runs("x", WorkKind::User, path, 0).beside("y", WorkKind::User, beside, 0)
    }

    #[test]
    fn the_account_that_decides_is_named() {
        let flips = text(runs(0.2, 0.0), runs(0.12, 0.18));
        assert!(
            flips.starts_with("Alone, 'b' wins")
                && flips.contains(
                    "'a' wins: it needs 200 ms of CPU time against 300 ms. Then the CPU time decides, most of"
                ),
            "{flips}"
        );
        let same = text(runs(0.2, 0.0), runs(0.1, 0.1));
        assert!(
            same.starts_with("Alone, 'b' wins") && same.contains("neither wins: both need about the same"),
            "{same}"
        );
        let stays = text(runs(0.1, 0.0), runs(0.2, 0.0));
        assert!(stays.starts_with("'a' takes less time alone") && stays.contains("stays ahead"), "{stays}");
    }

    #[test]
    fn the_last_sentence_of_the_summary_is_short() {
        let summary = Scene::of(&runs(0.2, 0.0).0, &runs(0.12, 0.18).0).explain().summary;
        let last = summary.last().unwrap();
        assert!(last.starts_with("Once the ") && last.ends_with("against 300 ms."), "{last}");
        assert!(last.split_whitespace().count() <= 30, "{last}");
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
        let text = &why.differences[0].deciding;
        assert!(text.contains("cannot be told (") && !text.contains("decides"), "{text}");
        assert!(why.summary.iter().all(|it| !it.contains("CPU time")), "{:?}", why.summary);
    }
}
