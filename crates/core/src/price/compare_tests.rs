//! Two lists of the same machine differ in no row beyond the stated rate; planted differences are found.

use rand::{RngExt, SeedableRng};
use whyfaster_stats::random::Random;

use super::super::fixture::{list, row, samples};
use super::super::list::PriceList;
use super::super::sample::{Sample, Series};
use super::*;
use crate::missing::Crowd;

/// A machine with noise: samples have a one-sided tail, repetitions differ from each other, the whole list drifts.
fn machine(rng: &mut Random, rows: usize, repetitions: u32, factor: impl Fn(usize) -> f64) -> PriceList {
    let normal = |rng: &mut Random| (0..12).map(|_| rng.random_range(-0.5..0.5f64)).sum::<f64>();
    let slope = 0.02 * normal(rng);
    let rows = (0..rows)
        .map(|index| {
            let series = (0..repetitions)
                .map(|repetition| {
                    let mut one = Series::new(index, repetition, f64::from(repetition));
                    let place = 0.03 * normal(rng) + slope * f64::from(repetition) / f64::from(repetitions);
                    for _ in 0..12 {
                        let tail = -(1.0 - rng.random_range(0.0..1.0f64)).ln() * 0.05;
                        let elapsed_ns = 1e4 * factor(index) * (place + tail).exp();
                        one.push(Sample { ops: 100, elapsed_ns, ..Sample::default() });
                    }
                    one
                })
                .collect();
            (row("kernel", &format!("probe{index}"), "raw"), series)
        })
        .collect();
    list(rows)
}

fn different(comparison: &Comparison) -> usize {
    let others = comparison.rows.iter().flat_map(|row| &row.others);
    others.filter(|other| matches!(other.verdict, Some(Verdict::Faster | Verdict::Slower))).count()
}

#[test]
fn the_same_machine_twice_differs_in_no_row_beyond_the_rate() {
    let mut rng = Random::seed_from_u64(3);
    let rule = Rule { delta: 0.0, alpha: 0.05 };
    let trials = 60;
    let wrong = (0..trials)
        .filter(|_| {
            let (one, two) = (machine(&mut rng, 20, 10, |_| 1.0), machine(&mut rng, 20, 10, |_| 1.0));
            different(&compare(&[one, two], &rule)) > 0
        })
        .count();
    // 5% of 60 are 3; three standard errors above are 8.
    assert!(wrong <= 8, "{wrong} of {trials} pairs differ in some row");
}

#[test]
fn planted_differences_are_found_and_stand_first() {
    let mut rng = Random::seed_from_u64(4);
    let factor = |index: usize| match index {
        3 => 2.0,
        7 => 0.4,
        _ => 1.0,
    };
    let lists = [machine(&mut rng, 20, 10, |_| 1.0), machine(&mut rng, 20, 10, factor)];
    let found = compare(&lists, &Rule::default());
    // What is dearer is worse than what is cheaper, however much cheaper.
    let first = |at: usize| found.rows.get(at).map(|row| (row.name.as_str(), row.others[0].verdict)).unwrap();
    assert_eq!(first(0), ("probe3", Some(Verdict::Slower)));
    assert_eq!(first(1), ("probe7", Some(Verdict::Faster)));
    let worst = &found.rows[0].others[0];
    assert!((1.7..2.3).contains(&worst.ratio.unwrap()), "{worst:?}");
    assert!(worst.low.unwrap() < 2.1 && worst.high.unwrap() > 1.9);
    assert_eq!(different(&found), 2);
}

#[test]
fn a_difference_that_drift_explains_is_not_called_one() {
    // Each list gets 30% dearer while it is measured; the second began where the first ended.
    let drifting = |from: f64| {
        let mut all = samples(10, 12, 100.0);
        for series in &mut all {
            let factor = from * (1.0 + 0.03 * f64::from(series.repetition));
            series.elapsed_ns.iter_mut().for_each(|ns| *ns *= factor);
        }
        list(vec![(row("kernel", "getpid", "raw"), all)])
    };
    let found = compare(&[drifting(1.0), drifting(1.12)], &Rule::default());
    assert_eq!(found.rows[0].others[0].verdict, Some(Verdict::Undecided));
    let found = compare(&[drifting(1.0), drifting(3.0)], &Rule::default());
    assert_eq!(found.rows[0].others[0].verdict, Some(Verdict::Slower));
}

fn source(ns: f64) -> PriceList {
    let mut list = list(Vec::new());
    list.prices = vec![Price {
        group: "process".into(),
        name: "fork".into(),
        variant: "reaped".into(),
        mean_ns: Some(ns),
        ..Price::default()
    }];
    list
}

#[test]
fn numbers_of_a_source_have_a_ratio_and_borrow_the_spread() {
    let measured = list(vec![(row("process", "fork", "reaped"), samples(20, 10, 1000.0))]);
    let found = compare(&[measured.clone(), source(5000.0)], &Rule::default());
    let other = &found.rows[0].others[0];
    assert_eq!(other.verdict, Some(Verdict::Slower));
    assert!((4.8..5.0).contains(&other.ratio.unwrap()) && other.low.unwrap() < other.high.unwrap());
    let back = compare(&[source(5000.0), measured], &Rule::default());
    assert_eq!(back.rows[0].others[0].verdict, Some(Verdict::Faster));
    let both = compare(&[source(5000.0), source(2500.0)], &Rule::default());
    let other = &both.rows[0].others[0];
    assert_eq!((other.ratio, other.verdict), (Some(0.5), None));
    assert_eq!(other.reason, Some(Obstacle::NoSpread));
}

#[test]
fn one_noisy_repetition_does_not_drag_the_ratio_out_of_its_interval() {
    let mut all = samples(15, 10, 1000.0);
    all[4].elapsed_ns.iter_mut().for_each(|ns| *ns *= 500.0);
    let measured = list(vec![(row("process", "fork", "reaped"), all)]);
    for lists in [[measured.clone(), source(5000.0)], [source(5000.0), measured]] {
        let found = compare(&lists, &Rule::default());
        let other = &found.rows[0].others[0];
        let (low, ratio, high) = (other.low.unwrap(), other.ratio.unwrap(), other.high.unwrap());
        assert!(low <= ratio && ratio <= high, "{low} {ratio} {high}");
    }
}

#[test]
fn a_row_that_one_list_lacks_says_so() {
    let measured = list(vec![(row("kernel", "getpid", "raw"), samples(6, 10, 90.0))]);
    let found = compare(&[measured, source(5000.0)], &Rule::default());
    let row = |name: &str| found.rows.iter().find(|row| row.name == name).unwrap();
    assert_eq!(row("fork").reason, Some(Obstacle::NotInList));
    assert_eq!(row("fork").others[0].ns, Some(5000.0));
    assert_eq!(row("getpid").others[0].reason, Some(Obstacle::NotInList));
    assert_eq!(compare(&[], &Rule::default()).rows, []);
}

#[test]
fn what_differs_between_the_machines_stands_beside_the_row() {
    let mut one = list(vec![(row("kernel", "clock_gettime", "vdso"), samples(12, 10, 20.0))]);
    let mut two = list(vec![(row("kernel", "clock_gettime", "vdso"), samples(12, 10, 900.0))]);
    one.fingerprint.facts.clocksource = Some("tsc".into());
    two.fingerprint.facts.clocksource = Some("hpet".into());
    let found = compare(&[one, two], &Rule::default());
    assert_eq!(found.rows[0].others[0].explained_by, [Fact::Clocksource]);
    assert_eq!(found.machines[0].len(), 1);
}

#[test]
fn few_repetitions_decide_nothing_and_say_how_many_would() {
    let of = |ns| list(vec![(row("kernel", "getpid", "raw"), samples(3, 50, ns))]);
    let found = compare(&[of(90.0), of(900.0)], &Rule::default());
    let other = &found.rows[0].others[0];
    assert_eq!((other.verdict, other.low), (Some(Verdict::Undecided), None));
    assert_eq!((other.repetitions, other.repetitions_needed), (Some(3), Some(4)));
    // A source has one number, so that all repetitions are those of the other side.
    let found = compare(
        &[of(90.0), {
            let mut other = source(900.0);
            other.prices[0].name = "getpid".into();
            other.prices[0].variant = "raw".into();
            other
        }],
        &Rule::default(),
    );
    assert_eq!(found.rows[0].others[0].repetitions_needed, Some(6));
}

/// The list with every time so many times as long.
fn times(list: &PriceList, factor: f64) -> PriceList {
    let mut dearer = list.clone();
    for series in &mut dearer.samples {
        series.elapsed_ns.iter_mut().for_each(|ns| *ns *= factor);
    }
    dearer.reprice();
    dearer
}

/// The positive control of "one machine twice": what is ten times as dear in every row is found in every row, also with the
/// repetitions of a quick list, which a Bonferroni correction over so many rows would leave without any interval.
#[test]
fn a_copy_that_is_ten_times_as_dear_is_slower_in_every_row() {
    let mut rng = Random::seed_from_u64(6);
    for (rows, repetitions) in [(225, 6), (309, 8), (39, 6)] {
        let mut one = machine(&mut rng, rows, repetitions, |_| 1.0);
        // The same crowd around both explains nothing.
        one.fingerprint.others_during = Some(0.5);
        let ten = times(&one, 10.0);
        let found = compare(&[one.clone(), ten.clone()], &Rule::default());
        let slower =
            |row: &Beside| row.others[0].verdict == Some(Verdict::Slower) && row.others[0].low > Some(1.0);
        assert!(found.rows.iter().all(slower), "{rows} rows, {repetitions} repetitions");
        let back = compare(&[ten, one], &Rule::default());
        assert!(back.rows.iter().all(|row| row.others[0].verdict == Some(Verdict::Faster)));
    }
}

/// One row of 225 that differs: six repetitions do not suffice for it, eight do, and the report says eight.
#[test]
fn a_single_row_of_many_says_how_many_repetitions_it_needs() {
    let mut rng = Random::seed_from_u64(7);
    let mut pair = |repetitions| {
        let factor = |index: usize| if index == 9 { 10.0 } else { 1.0 };
        let lists =
            [machine(&mut rng, 225, repetitions, |_| 1.0), machine(&mut rng, 225, repetitions, factor)];
        let found = compare(&lists, &Rule::default());
        found.rows.iter().find(|row| row.name == "probe9").unwrap().others[0].clone()
    };
    let six = pair(6);
    assert_eq!((six.verdict, six.repetitions_needed), (Some(Verdict::Undecided), Some(8)), "{six:?}");
    assert_eq!(pair(8).verdict, Some(Verdict::Slower));
}

/// Many rows differ, many do not: of those that are called different, few are wrong.
#[test]
fn the_false_discovery_rate_is_kept() {
    let mut rng = Random::seed_from_u64(8);
    let factor = |index: usize| if index < 30 { 1.6 } else { 1.0 };
    let (mut called, mut wrong) = (0, 0);
    for _ in 0..20 {
        let lists = [machine(&mut rng, 60, 9, |_| 1.0), machine(&mut rng, 60, 9, factor)];
        let rule = Rule { delta: 0.0, alpha: 0.05 };
        for row in compare(&lists, &rule).rows {
            if !matches!(row.others[0].verdict, Some(Verdict::Faster | Verdict::Slower)) {
                continue;
            }
            called += 1;
            let planted = row.name.trim_start_matches("probe").parse::<usize>().unwrap() < 30;
            wrong += usize::from(!planted || row.others[0].verdict == Some(Verdict::Faster));
        }
    }
    assert!(called > 300, "the difference is hardly found: {called} of 600");
    assert!(wrong as f64 <= 0.08 * called as f64, "{wrong} of {called}");
}

#[test]
fn what_the_scheduler_chose_does_not_lead() {
    let of = |factor: f64, apart| {
        let pipe = |variant, ns| (row("pipe", "round_trip", variant), samples(12, 10, ns));
        let mut list = list(vec![pipe("free", 5e3 * factor.powi(4)), pipe("same_cpu", 5e3 * factor)]);
        list.prices[0].receipt.apart = apart;
        list
    };
    let found = |apart| compare(&[of(1.0, Some(0.0)), of(2.0, apart)], &Rule::default());
    let order = |found: &Comparison| found.rows.iter().map(|row| row.variant.clone()).collect::<Vec<_>>();
    let placed = found(Some(0.95));
    assert!(placed.rows.iter().all(|row| row.others[0].verdict == Some(Verdict::Slower)), "{placed:#?}");
    assert_eq!(order(&placed), ["same_cpu", "free"]);
    assert!(placed.rows[1].others[0].placed_otherwise && !placed.rows[0].others[0].placed_otherwise);
    // The same choice on both is a price of the machine, as any other.
    assert_eq!(order(&found(Some(0.1))), ["free", "same_cpu"]);
    assert_eq!(order(&found(None)), ["free", "same_cpu"]);
}

#[test]
fn a_crowd_is_no_property_of_a_machine() {
    let of = |group: &str, ns, others| {
        let mut list = list(vec![(row(group, "x", "asleep"), samples(12, 10, ns))]);
        list.fingerprint.others_during = others;
        list
    };
    let verdict = |group: &str, base: Option<f64>, other: Option<f64>| {
        let found = compare(&[of(group, 5e3, base), of(group, 4e6, other)], &Rule::default());
        found.rows[0].others[0].clone()
    };
    assert_eq!(verdict("thread", None, Some(0.01)).verdict, Some(Verdict::Slower));
    let crowded = verdict("thread", None, Some(0.4));
    assert_eq!(crowded.verdict, Some(Verdict::Undecided));
    let crowd = Crowd { share: 0.4, stolen: false };
    assert_eq!(crowded.reason, Some(Obstacle::Crowded(crowd)));
    // A crowd around the cheaper list makes the difference no smaller, and a call that waits for nobody is rejected if hit.
    assert_eq!(verdict("thread", Some(0.4), None).verdict, Some(Verdict::Slower));
    assert_eq!(verdict("thread", Some(0.4), Some(0.4)).verdict, Some(Verdict::Slower));
    assert_eq!(verdict("thread", Some(0.3), Some(0.4)).verdict, Some(Verdict::Undecided));
    assert_eq!(verdict("kernel", None, Some(0.4)).verdict, Some(Verdict::Slower));
}

#[test]
fn only_what_bears_on_a_row_is_named_beside_it() {
    fn price(group: &str, name: &str, variant: &str, syscalls: f64) -> Price {
        let mut price =
            Price { group: group.into(), name: name.into(), variant: variant.into(), ..Price::default() };
        price.receipt.syscalls = Some(syscalls);
        price
    }
    let facts = [Fact::Clocksource, Fact::Mitigations];
    let beside = |price: &Price| facts.iter().copied().filter(|f| bears_on(*f, price)).collect::<Vec<_>>();
    assert_eq!(beside(&price("kernel", "getpid", "raw", 1.0)), [Fact::Mitigations]);
    assert_eq!(beside(&price("kernel", "clock_gettime", "vdso", 0.0)), [Fact::Clocksource]);
    assert_eq!(
        beside(&price("kernel", "clock_gettime_monotonic", "raw", 1.0)),
        [Fact::Clocksource, Fact::Mitigations]
    );
    assert!(beside(&price("cpu", "cache_line", "", 0.0)).is_empty());
}
