//! How the cost of a copy grows with load: the scalability law, and what of the cost grows.

use super::input::ExplainInput;
use super::kinds_at_load::{Kind, kinds};
use super::report::{Evidence, Growth};
use super::words::{percent, quoted, time};
use crate::analysis::LevelResult;
use crate::stats::scalability;
use crate::trace::report::WorkKind;

/// A cost that grows by less than this part is the same.
const SAME: f64 = 0.05;

/// A kind of work whose growth is less than this part of a copy's CPU time is not worth a row.
const LEAST: f64 = 0.01;

/// What grows with load, for every alternative that ran at more than one.
pub(super) fn growth(given: &ExplainInput<'_>) -> Vec<Growth> {
    let one = |index: usize, name: &str| {
        let levels = given.analysis.levels.iter();
        let mine = levels.filter_map(|level| {
            let result = level.results.iter().find(|it| it.alternative == name)?;
            (result.timed_out == 0).then_some((level.load, result))
        });
        let levels: Vec<_> = mine.collect();
        // The kinds of a copy among others are held against those of one alone.
        let ends = levels.first().zip(levels.last()).filter(|(first, _)| first.0 == 1);
        let kinds = ends.and_then(|(_, (load, last))| kinds(given, index, (*load, last.work_per_copy_s)));
        of_alternative(name, &levels, kinds)
    };
    given.plan.alternatives.iter().enumerate().filter_map(|(index, it)| one(index, &it.name)).collect()
}

fn of_alternative(
    name: &str,
    levels: &[(u32, &LevelResult)],
    kinds: Option<Result<Vec<Kind>, String>>,
) -> Option<Growth> {
    let (&(lowest, first), &(highest, last)) = levels.first().zip(levels.last())?;
    if lowest == highest {
        return None;
    }
    let points: Vec<(f64, f64)> =
        levels.iter().map(|(load, it)| (f64::from(*load), it.throughput_per_s)).collect();
    let law = scalability::fit(&points);
    let (kinds, kinds_not_measured) = match kinds.transpose() {
        Ok(kinds) => (kinds.unwrap_or_default(), None),
        // Of what does not grow no kind is missed.
        Err(why) => (Vec::new(), Some(why).filter(|_| is_dearer(first, last))),
    };
    let grows = grows(first, last, &kinds);
    let sentence = sentence(name, (lowest, highest), (first, last), (&grows, &kinds));
    Some(Growth {
        alternative: name.to_owned(),
        contention: law.map(|law| law.contention),
        coherency: law.map(|law| law.coherency),
        lowest,
        highest,
        grows,
        kinds_not_measured,
        sentence,
    })
}

/// Whether a copy takes more CPU time at the highest load.
fn is_dearer(first: &LevelResult, last: &LevelResult) -> bool {
    last.work_per_copy_s > first.work_per_copy_s * (1.0 + SAME)
}

/// What grows: times first, the ones that grow most, then counts.
fn grows(first: &LevelResult, last: &LevelResult, kinds: &[Kind]) -> Vec<Evidence> {
    let entry = |what: &str, unit: &str, low: f64, high: f64| Evidence {
        what: what.to_owned(),
        here: low,
        there: high,
        unit: unit.to_owned(),
    };
    let mut times = vec![
        entry("user CPU time", "s", first.user_per_copy_s, last.user_per_copy_s),
        entry("system CPU time", "s", first.system_per_copy_s, last.system_per_copy_s),
    ];
    if let Some((low, high)) = first.run_delay_s.zip(last.run_delay_s) {
        times.push(entry("waiting for a CPU", "s", low, high));
    }
    let least_s = LEAST * last.work_per_copy_s;
    let kinds = kinds.iter().filter(|it| it.is_sure() && it.growth_s() >= least_s);
    let kinds = kinds.filter_map(|it| Some((row(it.kind)?, it)));
    times.extend(kinds.map(|(row, it)| entry(&row, "s", it.alone.seconds, it.among.seconds)));
    let most_first = |rows: &mut Vec<Evidence>| {
        rows.sort_by(|a, b| (b.there - b.here).total_cmp(&(a.there - a.here)));
    };
    most_first(&mut times);
    let mut counts = vec![
        entry("voluntary context switches", "", first.voluntary_switches, last.voluntary_switches),
        entry("involuntary context switches", "", first.involuntary_switches, last.involuntary_switches),
    ];
    most_first(&mut counts);
    times.append(&mut counts);
    times.retain(|it| it.there > it.here * (1.0 + SAME));
    times
}

/// What a kind is called among what grows. User code has a row of its own from the untraced batches.
fn row(kind: WorkKind) -> Option<String> {
    match kind {
        WorkKind::User => None,
        WorkKind::Startup => Some(kind.words().to_owned()),
        _ => Some(format!("kernel: {}", kind.words())),
    }
}

fn sentence(
    name: &str,
    loads: (u32, u32),
    ends: (&LevelResult, &LevelResult),
    (grows, kinds): (&[Evidence], &[Kind]),
) -> String {
    let (low, high) = (ends.0.work_per_copy_s, ends.1.work_per_copy_s);
    let range = format!("from {} to {} copies at once", loads.0, loads.1);
    let head = if is_dearer(ends.0, ends.1) {
        let most = by_kind(kinds).or_else(|| by_rusage(grows).map(str::to_owned));
        let most = most.map(|it| format!(", most of that {it}")).unwrap_or_default();
        format!(
            "{range}, the CPU time of a copy grows by {} ({} to {}){most}",
            percent(high / low - 1.0),
            time(low),
            time(high)
        )
    } else if high < low * (1.0 - SAME) {
        let by = percent(1.0 - high / low);
        format!("{range}, the CPU time of a copy falls by {by} ({} to {})", time(low), time(high))
    } else {
        format!("{range}, the CPU time of a copy stays about the same ({} and {})", time(low), time(high))
    };
    let wait = grows.iter().find(|it| it.what == "waiting for a CPU");
    let wait = wait
        .map(|it| format!("; a copy waits for a CPU for {} instead of {}", time(it.there), time(it.here)));
    format!("{}: {head}{}.", quoted(name), wait.unwrap_or_default())
}

/// Where most of the CPU time that a copy takes more falls, as the kernel's counters have it.
fn by_rusage(grows: &[Evidence]) -> Option<&'static str> {
    grows.iter().find_map(|it| match it.what.as_str() {
        "user CPU time" => Some("in its own code"),
        "system CPU time" => Some("in the kernel"),
        _ => None,
    })
}

/// The same, as the observed batches have it. `None`: they do not tell.
fn by_kind(kinds: &[Kind]) -> Option<String> {
    let growth = |of: &dyn Fn(WorkKind) -> bool| -> f64 {
        kinds.iter().filter(|it| of(it.kind)).map(Kind::growth_s).sum()
    };
    let is_kernel = |kind| !matches!(kind, WorkKind::User | WorkKind::Startup);
    let kernel_s = growth(&is_kernel);
    let (startup_s, user_s) =
        (growth(&|kind| kind == WorkKind::Startup), growth(&|kind| kind == WorkKind::User));
    let most_s = kernel_s.max(startup_s).max(user_s);
    if most_s <= 0.0 {
        return None;
    }
    if most_s > kernel_s {
        let own = if most_s > startup_s { "in its own code" } else { "in the start-up of its programs" };
        return Some(own.to_owned());
    }
    let mut named: Vec<&Kind> =
        kinds.iter().filter(|it| is_kernel(it.kind) && it.is_sure() && it.growth_s() > 0.0).collect();
    named.sort_by(|a, b| b.growth_s().total_cmp(&a.growth_s()));
    // One kind where it is half of it, else the two largest.
    let enough = if named.first().is_some_and(|it| it.growth_s() >= kernel_s / 2.0) { 1 } else { 2 };
    let words: Vec<&str> = named.iter().take(enough).map(|it| it.kind.words()).collect();
    Some(match words.join(" and ") {
        none if none.is_empty() => "in the kernel".to_owned(),
        words => format!("in the kernel, for {words}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::why::tests::fixture::result;

    #[test]
    fn what_grows_is_named() {
        let (mut first, mut last) = (result("a", 1.0, 1.0), result("a", 80.0, 1.5));
        (first.user_per_copy_s, first.system_per_copy_s) = (0.9, 0.1);
        (last.user_per_copy_s, last.system_per_copy_s) = (1.0, 0.5);
        (first.run_delay_s, last.run_delay_s) = (Some(0.01), Some(70.0));
        let growth = of_alternative("a", &[(1, &first), (100, &last)], None).unwrap();
        let names: Vec<&str> = growth.grows.iter().map(|it| it.what.as_str()).collect();
        assert_eq!(names, ["waiting for a CPU", "system CPU time", "user CPU time"]);
        assert_eq!((growth.contention, growth.coherency), (None, None));
        assert_eq!(
            growth.sentence,
            "'a': from 1 to 100 copies at once, the CPU time of a copy grows by 50% (1.00 s to 1.50 s), most of that in the \
             kernel; a copy waits for a CPU for 70.0 s instead of 10.0 ms."
        );
    }

    #[test]
    fn what_falls_is_said_to_fall() {
        let of = |work| {
            of_alternative("a", &[(1, &result("a", 1.0, 1.0)), (10, &result("a", 6.0, work))], None).unwrap()
        };
        assert!(of(0.93).sentence.contains("falls by 7% (1.00 s to 930 ms)"), "{}", of(0.93).sentence);
        assert!(of(0.97).sentence.contains("stays about the same"), "{}", of(0.97).sentence);
    }

    #[test]
    fn one_level_grows_nothing_and_full_cpus_are_contention() {
        let one = result("a", 1.0, 1.0);
        assert_eq!(of_alternative("a", &[(1, &one)], None), None);
        // Two CPUs: throughput goes from 1 to 2 and no further.
        let at = |load: u32, makespan: f64| {
            let mut it = result("a", makespan, 1.0);
            it.throughput_per_s = f64::from(load) / makespan;
            it
        };
        let levels = [(1, at(1, 1.0)), (4, at(4, 2.2)), (10, at(10, 5.2)), (100, at(100, 50.2))];
        let levels: Vec<(u32, &LevelResult)> = levels.iter().map(|(n, it)| (*n, it)).collect();
        let growth = of_alternative("a", &levels, None).unwrap();
        assert!(
            (growth.contention.unwrap() - 0.45).abs() < 0.06 && growth.coherency.unwrap() < 1e-3,
            "{growth:?}"
        );
        assert!(growth.sentence.contains("stays about the same"));
    }
}
