//! Medians with their intervals, and parts that are brought to a sum. No step: the helpers of the others.

use whyfaster_stats::Estimate;
use whyfaster_stats::looks::Precision;
use whyfaster_stats::{Observation, quantile, sign};

/// The median with the interval of the sign test at error probability `alpha`. No values: 0 without an interval.
pub(super) fn estimate(values: &[f64], alpha: f64) -> Estimate {
    let observations: Vec<Observation> = values.iter().map(|&value| value.into()).collect();
    let interval = sign::median_interval(&observations, alpha);
    let (low, high) = interval.unzip();
    Estimate { median: median(values), low, high }
}

/// The median of observed rounds, in their order, with its interval.
pub(super) fn of_rounds(rounds: &[f64], precision: Precision) -> Estimate {
    let observations: Vec<Observation> = rounds.iter().map(|&value| value.into()).collect();
    let (low, high) = precision.interval(&observations).unzip();
    let median = median(rounds);
    // Few rounds have an interval of their mean.
    Estimate { median, low: low.map(|low| low.min(median)), high: high.map(|high| high.max(median)) }
}

/// The median; 0 of nothing.
pub(super) fn median(values: &[f64]) -> f64 {
    quantile::median(values).unwrap_or(0.0)
}

/// Mean distance from the median: how much a number differs from round to round. 0 of nothing.
pub(super) fn spread(values: &[f64]) -> f64 {
    let middle = median(values);
    quantile::mean(&values.iter().map(|value| (value - middle).abs()).collect::<Vec<_>>()).unwrap_or(0.0)
}

/// Parts that sum to `whole`, from their medians, which do not: the rest goes to the parts that differ most from round to
/// round, for there medians and sums come apart. What is steady stays as it is. Where nothing differs, all take part alike.
pub(super) fn summing(medians: &mut [f64], spreads: &[f64], whole: f64) {
    let rest = whole - medians.iter().sum::<f64>();
    let all: f64 = spreads.iter().sum();
    let sizes: f64 = medians.iter().map(|it| it.abs()).sum();
    for (part, spread) in medians.iter_mut().zip(spreads) {
        let share = match () {
            () if all > 0.0 => spread / all,
            () if sizes > 0.0 => part.abs() / sizes,
            () => 0.0,
        };
        *part += rest * share;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_takes_the_rest() {
        let mut parts = [1.0, 2.0, 0.0];
        summing(&mut parts, &[0.0, 1.0, 3.0], 7.0);
        assert_eq!(parts, [1.0, 3.0, 3.0]);
        let mut steady = [1.0, 3.0];
        summing(&mut steady, &[0.0, 0.0], 8.0);
        assert_eq!(steady, [2.0, 6.0]);
        assert_eq!(spread(&[1.0, 2.0, 6.0]), 5.0 / 3.0);
    }

    #[test]
    fn few_rounds_have_no_interval() {
        let few = estimate(&[1.0, 2.0, 4.0], 0.05);
        assert_eq!((few.median, few.low), (2.0, None));
        let enough = estimate(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0], 0.05);
        assert_eq!((enough.low, enough.high), (Some(1.0), Some(7.0)));
        assert_eq!(estimate(&[], 0.05).median, 0.0);
    }
}
