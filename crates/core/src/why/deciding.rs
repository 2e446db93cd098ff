//! Which account decides at which load: alone the way that must be gone step by step, among many the CPU time.

use super::input::Given;
use super::kinds;
use super::report::WorkDelta;
use super::words::{label, time, times, upper};
use crate::bounds;
use crate::record::{AlternativeSummary, Crossover};

/// Kinds of work that are named, at most.
const NAMED: usize = 2;

/// Parts of the difference of the work below this are not named.
const LEAST: f64 = 0.2;

/// In words: what decides below and above which load, and what the difference of the work consists of.
pub(super) fn deciding(given: &Given<'_>, names: (&str, &str), work: &[WorkDelta]) -> String {
    let of = |name: &str| {
        let at = given.plan.alternatives.iter().position(|it| it.name == name)?;
        let summary = given.analysis.alternatives.iter().find(|it| it.name == name)?;
        Summary::of(summary, label(given.plan, at))
    };
    let (Some(a), Some(b)) = (of(names.0), of(names.1)) else { return String::new() };
    let capacity = bounds::capacity(given.plan, given.host);
    let (quicker, cheaper) =
        (if a.span_s < b.span_s { &a } else { &b }, if a.work_s < b.work_s { &a } else { &b });
    let kinds = kinds(work);
    let full = format!("as soon as the {} are full", cpus(capacity));
    // Within delta the works are the same, as times are.
    if (quicker.work_s / cheaper.work_s).ln().abs() <= given.plan.delta.ln_1p()
        && (a.work_s / b.work_s).ln().abs() <= given.plan.delta.ln_1p()
    {
        let slower = if quicker.name == a.name { &b } else { &a };
        return format!(
            "Alone, {} wins, because a copy needs {} from beginning to end against {}. Both cost about the same CPU time ({} \
             and {}); {full}, nothing else counts, and neither wins.",
            quicker.label,
            time(quicker.span_s),
            time(slower.span_s),
            time(quicker.work_s),
            time(slower.work_s),
        );
    }
    if quicker.name == cheaper.name {
        return format!(
            "{} takes less time alone ({} against {}) and less CPU time ({} against {}{kinds}), so it stays ahead when many \
             copies run: {full}, CPU time decides.",
            upper(&quicker.label),
            time(quicker.span_s),
            time(a.span_s.max(b.span_s)),
            time(quicker.work_s),
            time(a.work_s.max(b.work_s)),
        );
    }
    let at = load(given, names).map(|it| format!(", from {it} on")).unwrap_or_default();
    format!(
        "Alone, {} wins, because a copy needs {} from beginning to end against {}. But it costs {} the CPU time ({} against \
         {}){kinds}; {full}{at}, nothing runs beside it any more, CPU time decides, and {} wins.",
        quicker.label,
        time(quicker.span_s),
        time(cheaper.span_s),
        times(quicker.work_s / cheaper.work_s),
        time(quicker.work_s),
        time(cheaper.work_s),
        cheaper.label,
    )
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
    if (capacity - 1.0).abs() < 1e-9 { "CPU".to_owned() } else { format!("{capacity} CPUs") }
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
pub(super) fn load(given: &Given<'_>, names: (&str, &str)) -> Option<String> {
    let mine = |it: &&Crossover| it.alternative == names.0 && it.baseline == names.1;
    let crossover = given.analysis.crossovers.iter().find(mine)?;
    match (crossover.measured_from, crossover.measured_to, crossover.predicted_load) {
        (Some(from), Some(to), _) => Some(format!("between {from} and {to} copies at once")),
        (_, _, Some(load)) => Some(format!("about {:.0} copies at once (predicted)", load.max(1.0))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
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
            flips.starts_with("Alone, 'b' wins") && flips.ends_with("CPU time decides, and 'a' wins."),
            "{flips}"
        );
        let same = text(runs(0.2, 0.0), runs(0.1, 0.1));
        assert!(same.starts_with("Alone, 'b' wins") && same.ends_with("neither wins."), "{same}");
        let stays = text(runs(0.1, 0.0), runs(0.2, 0.0));
        assert!(stays.starts_with("'a' takes less time alone") && stays.contains("stays ahead"), "{stays}");
    }
}
