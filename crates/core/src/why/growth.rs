//! How the cost of a copy grows with load: the scalability law, and what of the cost grows.

use super::evidence::entry;
use super::input::ExplainInput;
use super::kinds_at_load::{Kind, kinds};
use super::report::{Evidence, Growth};
use super::statement::{CopyCost, GrowsIn, KindsUnknown, Measure, Trend};
use crate::analysis::LevelResult;
use crate::trace::report::WorkKind;
use whyfaster_stats::order::largest_first;
use whyfaster_stats::scalability;

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
    kinds: Option<Result<Vec<Kind>, KindsUnknown>>,
) -> Option<Growth> {
    let (&(lowest, first), &(highest, last)) = levels.first().zip(levels.last())?;
    if lowest == highest {
        return None;
    }
    let points: Vec<(f64, f64)> =
        levels.iter().map(|(load, it)| (f64::from(*load), it.throughput_per_s)).collect();
    let law = scalability::fit(&points);
    let (kinds, kinds_unknown) = match kinds.transpose() {
        Ok(kinds) => (kinds.unwrap_or_default(), None),
        // Of what does not grow no kind is missed.
        Err(why) => (Vec::new(), Some(why).filter(|_| is_dearer(first, last))),
    };
    let grows = grows(first, last, &kinds);
    Some(Growth {
        alternative: name.to_owned(),
        contention: law.map(|law| law.contention),
        coherency: law.map(|law| law.coherency),
        lowest,
        highest,
        cost: Some(cost((first, last), &grows, &kinds)),
        grows,
        kinds_not_measured: None,
        kinds_unknown,
        sentence: String::new(),
    })
}

/// Whether a copy takes more CPU time at the highest load.
fn is_dearer(first: &LevelResult, last: &LevelResult) -> bool {
    last.work_per_copy_s > first.work_per_copy_s * (1.0 + SAME)
}

/// What grows: times first, the ones that grow most, then counts.
fn grows(first: &LevelResult, last: &LevelResult, kinds: &[Kind]) -> Vec<Evidence> {
    let mut times = vec![
        entry(Measure::UserTime, first.user_per_copy_s, last.user_per_copy_s),
        entry(Measure::SystemTime, first.system_per_copy_s, last.system_per_copy_s),
    ];
    if let Some((low, high)) = first.run_delay_s.zip(last.run_delay_s) {
        times.push(entry(Measure::CpuWait, low, high));
    }
    let least_s = LEAST * last.work_per_copy_s;
    // User code has a row of its own from the untraced batches.
    let kinds = kinds.iter().filter(|it| it.kind != WorkKind::User);
    let kinds = kinds.filter(|it| it.is_sure() && it.growth_s() >= least_s);
    let of = |it: &Kind| entry(Measure::CopyWork { on: it.kind }, it.alone.seconds, it.among.seconds);
    times.extend(kinds.map(of));
    let most_first = |rows: &mut Vec<Evidence>| {
        largest_first(rows, |it| it.there - it.here);
    };
    most_first(&mut times);
    let mut counts = vec![
        entry(Measure::VoluntarySwitches, first.voluntary_switches, last.voluntary_switches),
        entry(Measure::InvoluntarySwitches, first.involuntary_switches, last.involuntary_switches),
    ];
    most_first(&mut counts);
    times.append(&mut counts);
    times.retain(|it| it.there > it.here * (1.0 + SAME));
    times
}

/// How the CPU time of a copy changes from the lowest load to the highest.
fn cost((first, last): (&LevelResult, &LevelResult), grows: &[Evidence], kinds: &[Kind]) -> CopyCost {
    let (low, high) = (first.work_per_copy_s, last.work_per_copy_s);
    let trend = match () {
        () if is_dearer(first, last) => Trend::Grows,
        () if high < low * (1.0 - SAME) => Trend::Falls,
        () => Trend::Stays,
    };
    let most = if trend == Trend::Grows { by_kind(kinds).or_else(|| by_rusage(grows)) } else { None };
    let wait = grows.iter().find(|it| it.measure == Some(Measure::CpuWait));
    CopyCost { seconds: (low, high), trend, most, waits_s: wait.map(|it| (it.here, it.there)) }
}

/// Where most of the CPU time that a copy takes more falls, as the kernel's counters have it.
fn by_rusage(grows: &[Evidence]) -> Option<GrowsIn> {
    grows.iter().find_map(|it| match it.measure {
        Some(Measure::UserTime) => Some(GrowsIn::User),
        Some(Measure::SystemTime) => Some(GrowsIn::Kernel { on: None, also: None }),
        _ => None,
    })
}

/// The same, as the observed batches have it. `None`: they do not tell.
fn by_kind(kinds: &[Kind]) -> Option<GrowsIn> {
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
        return Some(if most_s > startup_s { GrowsIn::User } else { GrowsIn::Startup });
    }
    let mut named: Vec<&Kind> =
        kinds.iter().filter(|it| is_kernel(it.kind) && it.is_sure() && it.growth_s() > 0.0).collect();
    largest_first(&mut named, |it| it.growth_s());
    // One kind where it is half of it, else the two largest.
    let enough = named.first().is_some_and(|it| it.growth_s() >= kernel_s / 2.0);
    let at = |place: usize| named.get(place).map(|it| it.kind);
    Some(GrowsIn::Kernel { on: at(0), also: at(1).filter(|_| !enough) })
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
        let rows: Vec<_> = growth.grows.iter().filter_map(|it| it.measure.clone()).collect();
        assert_eq!(rows, [Measure::CpuWait, Measure::SystemTime, Measure::UserTime]);
        assert_eq!((growth.contention, growth.coherency), (None, None));
        assert_eq!(
            growth.cost.unwrap(),
            CopyCost {
                seconds: (1.0, 1.5),
                trend: Trend::Grows,
                most: Some(GrowsIn::Kernel { on: None, also: None }),
                waits_s: Some((0.01, 70.0)),
            }
        );
    }

    #[test]
    fn what_falls_is_said_to_fall() {
        let of = |work| {
            of_alternative("a", &[(1, &result("a", 1.0, 1.0)), (10, &result("a", 6.0, work))], None).unwrap()
        };
        assert_eq!([0.93, 0.97].map(|work| of(work).cost.unwrap().trend), [Trend::Falls, Trend::Stays]);
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
        assert_eq!(growth.cost.unwrap().trend, Trend::Stays);
    }
}
