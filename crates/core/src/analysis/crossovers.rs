//! Where the answer flips, of each alternative: as the levels say, and as span and work of one copy predict it.
//!
//! The bounds of the two meet at C * (longer span) / (larger work). That is C, times span over work of the one with the longer span, times the ratio of
//! the two works. Span over work has no change of the machine's speed in it, because both are of the same run; the ratio of works has
//! an interval of its own. So the interval of the crossover takes the ends of these two, each at the confidence of the record.

use super::context::{Context, alpha_per_alternative, precision};
use super::results::{DuetComparison, Level};
use super::{compare, rounds};
use crate::bounds::{self, Alone};
use crate::crossover::{self, Crossover, NotPredicted};
use crate::plan::Mode;
use crate::sample::{Arm, Batch};
use crate::verdict::Ratio;
use whyfaster_stats::Observation;

/// The crossovers of all alternatives with the baseline.
pub(super) fn crossovers(
    context: &Context<'_>,
    levels: &[Level],
    duets: &[DuetComparison],
) -> Vec<Crossover> {
    context.others().map(|index| of(context, levels, duets, index)).collect()
}

fn of(context: &Context<'_>, levels: &[Level], duets: &[DuetComparison], index: usize) -> Crossover {
    let (name, plan) = (context.name(index), context.measured.plan);
    let verdicts = compare::verdicts_of(levels, name);
    let flip = crossover::flip(&verdicts);
    // In open mode copies come by the clock: there is no N to predict.
    let closed = !matches!(context.mode(), Mode::Open { .. });
    // Two works that cannot be told apart, or that count as the same, cross anywhere or nowhere.
    let apart = |works: &Ratio| works.excludes_one() && works.ratio.ln().abs() > plan.delta.ln_1p();
    let works = works(levels.first(), duets, name);
    let ran_alone = [index, context.baseline()].iter().all(|index| context.ran_alone(*index));
    let usable = works.filter(apart).filter(|_| closed && ran_alone);
    let predicted = usable.and_then(|works| predicted(context, index, works));
    let why = match works {
        _ if usable.is_some() => NotPredicted::BoundsDoNotCross,
        // Among others a span holds waiting, and the longer one may be that of the shorter command.
        _ if !ran_alone => NotPredicted::NoneAlone,
        Some(Ratio { low: Some(_), high: Some(_), .. }) => NotPredicted::WorksAlike,
        _ => NotPredicted::WorksUnknown,
    };
    Crossover {
        alternative: name.to_owned(),
        baseline: context.name(context.baseline()).to_owned(),
        predicted_load: predicted.map(|it| it.ratio),
        predicted_low: predicted.and_then(|it| it.low),
        predicted_high: predicted.and_then(|it| it.high),
        not_predicted: (closed && predicted.is_none()).then_some(why),
        measured_from: flip.map(|flip| flip.from),
        measured_to: flip.map(|flip| flip.to),
        ranges: crossover::ranges(&verdicts),
    }
}

/// The work of an alternative over that of the baseline: from the duets if there are any, else at the lowest level.
fn works(lowest: Option<&Level>, duets: &[DuetComparison], alternative: &str) -> Option<Ratio> {
    let duet = duets.iter().find(|it| it.alternative == alternative).map(|it| it.work);
    let comparisons = lowest.into_iter().flat_map(|level| &level.comparisons);
    let in_turns = || comparisons.filter(|it| it.alternative == alternative).find_map(|it| it.work);
    duet.or_else(in_turns)
}

/// The load at which the bounds meet, with its interval.
fn predicted(context: &Context<'_>, index: usize, works: Ratio) -> Option<Ratio> {
    let (alternative, baseline) = (context.alone(index)?, context.alone(context.baseline())?);
    // Medians of runs in turns have the machine's changes of speed in them, the ratio has not.
    let alternative = Alone { work_s: baseline.work_s * works.ratio, ..alternative };
    let load = bounds::crossover(alternative, baseline, context.capacity)?;
    // The works as those of the one with the longer span over the other's.
    let (longer, works) = match alternative.span_s < baseline.span_s {
        true => (context.baseline(), works.inverse()),
        false => (index, works),
    };
    let ends = span_over_work(context, longer).zip(works.low.zip(works.high));
    let ends = ends
        .map(|((low, high), works)| (low * works.0 * context.capacity, high * works.1 * context.capacity));
    // The load is made of medians of spans and of works, its interval of medians of ratios: the load may lie a little outside.
    Some(Ratio {
        ratio: load,
        low: ends.map(|(low, _)| low.min(load)),
        high: ends.map(|(_, high)| high.max(load)),
    })
}

/// The interval of span over work of an alternative at the lowest level at which it ran.
fn span_over_work(context: &Context<'_>, index: usize) -> Option<(f64, f64)> {
    let plan = context.measured.plan;
    let batches = context.levels.values().find_map(|arms| arms.get(&Arm::Alternative(index)))?;
    let of = |batch: &&Batch| {
        let span_s = rounds::median_wall(&[*batch]).filter(|span| span.high.is_finite())?.value;
        let work_s = batch.work_s() / batch.copies.len() as f64;
        Some(span_s / work_s).filter(|it| it.is_finite() && *it > 0.0).map(Observation::from)
    };
    let each: Vec<Observation> = batches.values().map(of).collect::<Option<_>>()?;
    precision(plan, alpha_per_alternative(plan), each.len()).interval(&each)
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use whyfaster_stats::random::Random;

    use super::super::tests::fixture::{Fixture, OTHER, jitter};
    use super::*;

    /// Rounds of a serial command and of a pipeline that has a tenth more work, on CPUs that run at two speeds. Their bounds meet at 2 / 1.1.
    fn at_two_speeds(seed: u64, rounds: u32, noise: f64) -> Vec<Crossover> {
        let mut rng = Random::seed_from_u64(seed);
        let fixture = Fixture::two(&[1], rounds, |_, arm, _| {
            let pace = if rng.random_bool(0.4) { 1.8 } else { 1.0 };
            let mut noisy = |it: f64| it * pace * (1.0 + noise * rng.random_range(-1.0..1.0));
            if arm == OTHER { (noisy(0.6), noisy(1.1)) } else { (noisy(1.0), noisy(1.0)) }
        });
        fixture.analyse().crossovers
    }

    #[test]
    fn the_interval_of_a_prediction_holds_where_the_speed_changes() {
        let truth = 2.0 / 1.1;
        let (mut told, mut missed) = (0, 0);
        for seed in 0..100 {
            let all = at_two_speeds(seed, 60, 0.03);
            let Some(Ratio { ratio, low: Some(low), high: Some(high) }) = all[0].predicted() else {
                continue;
            };
            assert!(low <= ratio && ratio <= high);
            told += 1;
            missed += usize::from(truth < low || high < truth);
        }
        // Where works are told apart at all. Both ends at 95% miss at most 10%; 16 of 60 are four standard deviations more.
        assert!(told >= 30 && missed * 60 <= told * 16, "{missed} of {told} missed");
    }

    #[test]
    fn a_prediction_from_quiet_rounds_is_narrow() {
        let fixture = Fixture::two(&[1], 40, |_, arm, round| {
            let noise = 1.0 + 0.004 * jitter(arm, round);
            if arm == OTHER { (0.6 * noise, 1.1) } else { (1.0 * noise, 1.0) }
        });
        let predicted = fixture.analyse().crossovers[0].predicted().unwrap();
        let (low, high) = (predicted.low.unwrap(), predicted.high.unwrap());
        assert!(low <= 2.0 / 1.1 && 2.0 / 1.1 <= high && high / low < 1.03, "{predicted:?}");
    }
}
