//! Makespan at other loads: from span and work of one copy alone and one level at which the CPUs are full.
//!
//! As long as CPUs are free, a batch takes the span. Once they are full, N copies need N * work / C; to that come the time
//! to start them all and the time at the end when the last ones have CPUs for themselves, which a full level shows and
//! which does not grow with N. The work of a copy grows until the CPUs are full (they share caches and cores), and the
//! full level shows how far. No level is predicted from itself. The usual loads that were not measured are predicted as well.

use std::collections::{BTreeMap, BTreeSet};

use super::input::ExplainInput;
use super::report::Prediction;
use super::statement::PredictedFrom;
use crate::analysis::LevelResult;
use crate::bounds::{self, Alone};
use crate::crossover;
use crate::plan::Mode;
use whyfaster_stats::Estimate;

/// A level is full when its work alone takes this many spans.
const FULL: f64 = 1.5;

/// Costs per copy go on changing slowly with load; this part for every factor of ten between a level and the one that it
/// is predicted from (the measurement in docs/src/concepts.md: 4% to 33%).
const DRIFT: f64 = 0.1;

/// Without a full level nobody knows how much dearer a copy becomes on full CPUs, where it shares caches and cores. By up
/// to this factor it was (the measurement in docs/src/concepts.md: 1.66), and the interval reaches as far.
const DEARER: f64 = 1.7;

/// Loads of the usual ladder up to this are predicted, measured or not.
const HIGHEST: u32 = 100;

/// The predictions of all alternatives, beside what was measured. Batches only: in the other modes the number of copies
/// follows from the time.
pub(super) fn predictions(given: &ExplainInput<'_>) -> Vec<Prediction> {
    if given.plan.mode != Mode::Batch {
        return Vec::new();
    }
    let capacity = bounds::capacity(given.plan, given.host);
    let one = |name: &str| {
        let levels = given.analysis.levels.iter();
        let mine = levels.filter_map(|level| {
            let result = level.results.iter().find(|it| it.alternative == name)?;
            // What the time-out ended has no makespan.
            (result.timed_out == 0).then_some((level.load, result))
        });
        of_alternative(name, &mine.collect::<Vec<_>>(), capacity)
    };
    given.plan.alternatives.iter().flat_map(|it| one(&it.name)).collect()
}

fn of_alternative(name: &str, levels: &[(u32, &LevelResult)], capacity: f64) -> Vec<Prediction> {
    let Some(((lowest, first), others)) = levels.split_first() else { return Vec::new() };
    let alone = Alone { span_s: first.latency_s.p50, work_s: first.work_per_copy_s };
    // Of copies that ran beside others the span holds waiting.
    if *lowest != 1 || alone.span_s <= 0.0 || alone.work_s <= 0.0 {
        return Vec::new();
    }
    let from = Model { alone, half_width: half_width(&first.makespan_s), capacity };
    let full: Vec<Full> = others.iter().filter_map(|(load, result)| from.full(*load, result)).collect();
    let distance = |a: u32, b: u32| (f64::from(a) / f64::from(b)).ln().abs();
    let measured: BTreeMap<u32, f64> =
        others.iter().map(|(load, it)| (*load, it.makespan_s.median)).collect();
    let usual = crossover::ladder(capacity).into_iter().filter(|load| load > lowest && *load <= HIGHEST);
    let loads: BTreeSet<u32> = usual.chain(measured.keys().copied()).collect();
    let predict = |load: u32| {
        let others = full.iter().filter(|full| full.load != load);
        let nearest = others.min_by(|a, b| distance(a.load, load).total_cmp(&distance(b.load, load)));
        from.predict(name, load, nearest, measured.get(&load).copied())
    };
    loads.into_iter().map(predict).collect()
}

/// Half the width of an interval, as a part of its median.
fn half_width(of: &Estimate) -> Option<f64> {
    let ends = of.low.zip(of.high).filter(|_| of.median > 0.0);
    ends.map(|(low, high)| (high - low) / 2.0 / of.median)
}

/// What one copy alone says.
struct Model {
    alone: Alone,
    /// `None`: too few rounds.
    half_width: Option<f64>,
    capacity: f64,
}

/// What a level with full CPUs says.
struct Full {
    load: u32,
    makespan_s: f64,
    work_s: f64,
    /// Makespan beyond what the work takes.
    beyond_s: f64,
    /// `None`: too few rounds.
    half_width: Option<f64>,
}

impl Model {
    fn full(&self, load: u32, result: &LevelResult) -> Option<Full> {
        let work_s = result.work_per_copy_s;
        let busy = f64::from(load) * work_s / self.capacity;
        let makespan_s = result.makespan_s.median;
        (busy >= FULL * self.alone.span_s && makespan_s > 0.0).then(|| Full {
            load,
            makespan_s,
            work_s,
            beyond_s: (makespan_s - busy).max(0.0),
            half_width: half_width(&result.makespan_s),
        })
    }

    fn predict(&self, name: &str, load: u32, full: Option<&Full>, measured_s: Option<f64>) -> Prediction {
        // Nobody knows how far apart other rounds would have been.
        let noise = full.map_or(self.half_width, |full| {
            full.half_width.zip(self.half_width).map(|(level, alone)| level.max(alone))
        });
        let half_width = noise.unwrap_or(0.0);
        let (predicted_s, low, high) = match full {
            Some(full) => self.by_full(f64::from(load), full, half_width),
            None => {
                let n = f64::from(load);
                let bound = self.alone.makespan_bound_s(n, self.capacity);
                // Brent's bound: a scheduler that leaves no CPU idle while something can run needs no more than both together.
                let most = self.alone.span_s + DEARER * self.alone.work_bound_s(n, self.capacity);
                // It bounds what the work of a copy alone takes; among others a copy may also take less.
                let cheaper = self.alone.work_bound_s(n, self.capacity) * (1.0 - DRIFT * n.log10()).max(0.0);
                let least = self.alone.span_s.max(cheaper);
                (bound, least * (1.0 - half_width), most * (1.0 + half_width))
            }
        };
        Prediction {
            alternative: name.to_owned(),
            load,
            predicted_s,
            low: noise.map(|_| low.max(0.0)),
            high: noise.map(|_| high),
            measured_s,
            lower_bound: full.is_none(),
            based_on: Some(PredictedFrom { level: full.map(|full| full.load), few_rounds: noise.is_none() }),
            from: String::new(),
        }
    }

    /// Prediction and interval. The ends hold two readings of the full level (what is beyond the work stays, or grows with
    /// the copies), the noise of that level, and the drift.
    fn by_full(&self, n: f64, full: &Full, noise: f64) -> (f64, f64, f64) {
        let growth = full.work_s / self.alone.work_s;
        let alone_busy = (self.alone.work_s / self.capacity / self.alone.span_s).min(1.0);
        let busy = (alone_busy * n).min(1.0);
        // 0 for one copy alone, 1 for full CPUs.
        let fullness =
            if alone_busy < 1.0 { ((busy - alone_busy) / (1.0 - alone_busy)).clamp(0.0, 1.0) } else { 1.0 };
        let slower = 1.0 + (growth - 1.0) * fullness;
        let span = self.alone.span_s * slower.max(1.0);
        let work = n * self.alone.work_s * slower / self.capacity;
        let stays = span.max(work + fullness * full.beyond_s);
        let grows = span.max(work * full.makespan_s / (full.makespan_s - full.beyond_s));
        let drift = DRIFT * (n / f64::from(full.load)).log10().abs();
        let error = noise + drift;
        // Copies that sleep or wait may all do so at the same time, with the CPUs idle, and then all want to run: up to what one
        // waits comes on top. One far above full CPUs does not show it, for there others run meanwhile.
        let at_once = work + (self.alone.span_s - self.alone.work_s).max(0.0);
        let most = stays.max(grows).max(at_once);
        (stays, stays.min(grows) * (1.0 - error).max(0.0), most * (1.0 + error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::why::tests::fixture::result;

    /// With an interval that has no width.
    fn exact(makespan_s: f64, work_s: f64) -> LevelResult {
        let mut it = result("a", makespan_s, work_s);
        (it.makespan_s.low, it.makespan_s.high) = (Some(makespan_s), Some(makespan_s));
        it
    }

    fn predict(levels: &[(u32, f64, f64)], capacity: f64) -> Vec<Prediction> {
        let results: Vec<(u32, LevelResult)> =
            levels.iter().map(|(load, makespan, work)| (*load, exact(*makespan, *work))).collect();
        of_alternative("a", &results.iter().map(|(load, it)| (*load, it)).collect::<Vec<_>>(), capacity)
    }

    fn at(all: &[Prediction], load: u32) -> &Prediction {
        all.iter().find(|it| it.load == load).unwrap_or_else(|| panic!("no {load}: {all:?}"))
    }

    #[test]
    fn copies_that_all_wait_at_the_same_time_are_within_the_interval() {
        // 40 ms of sleep, then 10 ms of computing, on two CPUs: 40 + 10 * 10 / 2 ms for ten of them.
        let all = predict(&[(1, 0.05, 0.01), (10, 0.09, 0.01), (100, 0.5, 0.01)], 2.0);
        let of = |load| (at(&all, load).low.unwrap(), at(&all, load).high.unwrap());
        assert!(of(10).0 <= 0.09 && 0.09 <= of(10).1, "{:?}", at(&all, 10));
        // Who only computes has nothing to wait for, and the interval stays narrow.
        let all = predict(&[(1, 0.01, 0.01), (10, 0.05, 0.01), (100, 0.5, 0.01)], 2.0);
        assert!(at(&all, 10).high.unwrap() < 0.06, "{:?}", at(&all, 10));
    }

    #[test]
    fn a_published_measurement_is_predicted() {
        // The figures of the worked example in docs/src/concepts.md: makespan and work of no-pipe on 8 CPUs.
        let all =
            predict(&[(1, 0.260, 0.283), (10, 0.669, 0.471), (100, 6.17, 0.490), (1000, 64.9, 0.518)], 8.0);
        assert_eq!(all.iter().filter(|it| it.measured_s.is_some()).count(), 3);
        for it in all.iter().filter(|it| it.measured_s.is_some()) {
            let measured = it.measured_s.unwrap();
            assert!((it.predicted_s / measured - 1.0).abs() < 0.1, "{it:?}");
            assert!(it.low.unwrap() <= measured && measured <= it.high.unwrap(), "{it:?}");
        }
        assert_eq!(at(&all, 100).based_on.unwrap().level, Some(10));
    }

    #[test]
    fn no_level_is_predicted_from_itself() {
        let all = predict(&[(1, 1.0, 1.0), (10, 6.0, 1.0)], 2.0);
        let ten = at(&all, 10);
        assert_eq!((ten.predicted_s, ten.based_on.unwrap().level), (5.0, None));
        assert!(ten.lower_bound && ten.low.unwrap() <= 5.0 && ten.high.unwrap() >= 6.0);
    }

    #[test]
    fn the_usual_loads_are_predicted_from_the_full_level() {
        let all = predict(&[(1, 1.0, 1.0), (10, 6.0, 1.0)], 2.0);
        assert_eq!(all.iter().map(|it| it.load).collect::<Vec<_>>(), [2, 4, 8, 10, 100]);
        let hundred = at(&all, 100);
        assert_eq!((hundred.predicted_s, hundred.measured_s, hundred.lower_bound), (51.0, None, false));
        assert_eq!(hundred.based_on.unwrap().level, Some(10));
    }

    #[test]
    fn a_copy_that_takes_less_work_among_others_is_within_the_interval() {
        // 12.3 ms of CPU time alone, 11.4 among ten; the makespan is below what ten times the work of one would take.
        let all = predict(&[(1, 0.0125, 0.0123), (10, 0.0573, 0.0114)], 2.0);
        let ten = at(&all, 10);
        assert!(ten.predicted_s > 0.0573 && ten.low.unwrap() < 0.0573, "{ten:?}");
        // What takes no work falls by nothing: its span stays.
        assert_eq!(at(&predict(&[(1, 1.0, 0.001), (10, 1.0, 0.001)], 2.0), 10).low, Some(1.0));
    }

    #[test]
    fn a_lower_bound_has_an_interval_that_holds_copies_that_grow_dearer() {
        // The first two levels of the published measurement: a copy takes 1.66 times the CPU time on full CPUs.
        let measured = 0.669;
        let all = predict(&[(1, 0.260, 0.283), (10, measured, 0.471)], 8.0);
        let ten = at(&all, 10);
        assert!(ten.lower_bound && ten.predicted_s < measured, "{ten:?}");
        assert!(ten.low.unwrap() <= measured && measured <= ten.high.unwrap(), "{ten:?}");
        let full = predict(&[(1, 1.0, 1.0), (10, 6.0, 1.0), (100, 51.0, 1.0)], 2.0);
        assert!(full.iter().all(|it| !it.lower_bound && it.low < it.high), "{full:?}");
    }

    #[test]
    fn what_has_no_interval_gives_none() {
        let (alone, level) = (result("a", 1.0, 1.0), exact(6.0, 1.0));
        let of = |levels: &[(u32, &LevelResult)]| of_alternative("a", levels, 2.0);
        for it in of(&[(1, &alone)]).iter().chain(&of(&[(1, &alone), (10, &level), (100, &level)])) {
            assert_eq!((it.low, it.high), (None, None), "{it:?}");
            assert!(it.predicted_s > 0.0 && it.based_on.unwrap().few_rounds, "{it:?}");
        }
    }

    #[test]
    fn without_other_levels_the_ladder_is_predicted() {
        let all = predict(&[(1, 1.0, 1.0)], 2.0);
        assert_eq!(all.iter().map(|it| it.load).collect::<Vec<_>>(), [2, 4, 8, 10, 100]);
        assert!(all.iter().all(|it| it.measured_s.is_none()));
        assert_eq!(all[4].predicted_s, 50.0);
    }

    #[test]
    fn a_sleeper_takes_its_span_until_the_cpus_are_full() {
        let all = predict(&[(1, 1.0, 0.01), (10, 1.0, 0.01), (1000, 5.5, 0.01)], 2.0);
        assert_eq!(at(&all, 10).predicted_s, 1.0);
    }
}
