//! How the cost of a copy grows with load: the scalability law, and what of the cost grows.

use super::report::{Evidence, Growth};
use super::words::{percent, quoted, time};
use crate::record::{Analysis, LevelResult};
use crate::stats::scalability;

/// A cost that grows by less than this part is the same.
const SAME: f64 = 0.05;

/// What grows with load, for every alternative that ran at more than one.
pub(super) fn growth(analysis: &Analysis) -> Vec<Growth> {
    let one = |name: &str| {
        let levels = analysis.levels.iter();
        let mine = levels.filter_map(|level| {
            let result = level.results.iter().find(|it| it.alternative == name)?;
            (result.timed_out == 0).then_some((level.load, result))
        });
        of_alternative(name, &mine.collect::<Vec<_>>())
    };
    analysis.alternatives.iter().filter_map(|it| one(&it.name)).collect()
}

fn of_alternative(name: &str, levels: &[(u32, &LevelResult)]) -> Option<Growth> {
    let ((lowest, first), (highest, last)) = (levels.first()?, levels.last()?);
    if lowest == highest {
        return None;
    }
    let points: Vec<(f64, f64)> =
        levels.iter().map(|(load, it)| (f64::from(*load), it.throughput_per_s)).collect();
    let law = scalability::fit(&points);
    let grows = grows(first, last);
    let sentence = sentence(name, (*lowest, *highest), (first, last), &grows);
    Some(Growth {
        alternative: name.to_owned(),
        contention: law.map(|law| law.contention),
        coherency: law.map(|law| law.coherency),
        grows,
        sentence,
    })
}

/// What grows: times first, the ones that grow most, then counts.
fn grows(first: &LevelResult, last: &LevelResult) -> Vec<Evidence> {
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
    times.sort_by(|a, b| (b.there - b.here).total_cmp(&(a.there - a.here)));
    let mut counts = vec![
        entry("voluntary context switches", "", first.voluntary_switches, last.voluntary_switches),
        entry("involuntary context switches", "", first.involuntary_switches, last.involuntary_switches),
    ];
    counts.sort_by(|a, b| (b.there - b.here).total_cmp(&(a.there - a.here)));
    times.append(&mut counts);
    times.retain(|it| it.there > it.here * (1.0 + SAME));
    times
}

fn sentence(name: &str, loads: (u32, u32), ends: (&LevelResult, &LevelResult), grows: &[Evidence]) -> String {
    let (low, high) = (ends.0.work_per_copy_s, ends.1.work_per_copy_s);
    let range = format!("from {} to {} copies at once", loads.0, loads.1);
    let head = if high > low * (1.0 + SAME) {
        let most = grows.iter().find(|it| it.what.ends_with("CPU time"));
        let most = most
            .map(|it| format!(", most of that {}", it.what.replace(" CPU time", " code")))
            .unwrap_or_default();
        let most = most.replace("system code", "in the kernel").replace("user code", "in its own code");
        format!(
            "{range}, the CPU time of a copy grows by {} ({} to {}){most}",
            percent(high / low - 1.0),
            time(low),
            time(high)
        )
    } else {
        format!("{range}, the CPU time of a copy stays about the same ({} and {})", time(low), time(high))
    };
    let wait = grows.iter().find(|it| it.what == "waiting for a CPU");
    let wait = wait
        .map(|it| format!("; a copy waits for a CPU for {} instead of {}", time(it.there), time(it.here)));
    format!("{}: {head}{}.", quoted(name), wait.unwrap_or_default())
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
        let growth = of_alternative("a", &[(1, &first), (100, &last)]).unwrap();
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
    fn one_level_grows_nothing_and_full_cpus_are_contention() {
        let one = result("a", 1.0, 1.0);
        assert_eq!(of_alternative("a", &[(1, &one)]), None);
        // Two CPUs: throughput goes from 1 to 2 and no further.
        let at = |load: u32, makespan: f64| {
            let mut it = result("a", makespan, 1.0);
            it.throughput_per_s = f64::from(load) / makespan;
            it
        };
        let levels = [(1, at(1, 1.0)), (4, at(4, 2.2)), (10, at(10, 5.2)), (100, at(100, 50.2))];
        let growth = of_alternative("a", &levels.iter().map(|(n, it)| (*n, it)).collect::<Vec<_>>()).unwrap();
        assert!(
            (growth.contention.unwrap() - 0.45).abs() < 0.06 && growth.coherency.unwrap() < 1e-3,
            "{growth:?}"
        );
        assert!(growth.sentence.contains("stays about the same"));
    }
}
