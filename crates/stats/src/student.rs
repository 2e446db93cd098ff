//! Student's t, for a number of rounds that was fixed beforehand and is too small for the sign test.
//!
//! Fewer than six rounds have no 95% interval by signs, whatever they show. With the further assumption that the logarithms of the
//! ratios are normally distributed, already two have one (Student 1908), and who reads it is told the assumption.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::{Observation, quantile};

/// The least number of rounds that gives an interval: one leaves no degree of freedom.
pub const MIN_ROUNDS: usize = 2;

/// Interval for the mean at error probability `alpha`. `None` with fewer than two rounds, or where a time-out leaves one of them
/// open.
pub fn mean_interval(observations: &[Observation], alpha: f64) -> Option<(f64, f64)> {
    let exact = |o: &Observation| (o.low == o.high && o.value.is_finite()).then_some(o.value);
    let values: Vec<f64> = observations.iter().map(exact).collect::<Option<_>>()?;
    let n = values.len();
    if n < MIN_ROUNDS {
        return None;
    }
    let mean = quantile::mean(&values)?;
    let freedom = (n - 1) as f64;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / freedom;
    let quantile = StudentsT::new(0.0, 1.0, freedom).ok()?.inverse_cdf(1.0 - alpha / 2.0);
    let half = quantile * (variance / n as f64).sqrt();
    Some((mean - half, mean + half))
}

#[cfg(test)]
mod tests {
    use crate::random::Random;
    use rand::{RngExt, SeedableRng};

    use super::*;

    fn interval(values: &[f64], alpha: f64) -> Option<(f64, f64)> {
        mean_interval(&values.iter().map(|&x| x.into()).collect::<Vec<_>>(), alpha)
    }

    #[test]
    fn quantiles_of_the_tables() {
        // Two values one apart: the mean's standard error is 1/2, and t at 97.5% with one degree of freedom is 12.706.
        let (low, high) = interval(&[0.0, 1.0], 0.05).unwrap();
        assert!((high - low - 12.706).abs() < 1e-3, "{low} {high}");
        // -1, 0, 1: standard deviation 1, t at 97.5% with two degrees of freedom is 4.303.
        let (low, high) = interval(&[-1.0, 0.0, 1.0], 0.05).unwrap();
        assert!((high - 4.303 / 3f64.sqrt()).abs() < 1e-3 && (low + high).abs() < 1e-9, "{low} {high}");
    }

    #[test]
    fn too_few_or_open_values_have_none() {
        assert_eq!(interval(&[1.0], 0.05), None);
        assert_eq!(interval(&[], 0.05), None);
        assert_eq!(mean_interval(&[1.0.into(), 1.1.into(), Observation::at_least(2.0)], 0.05), None);
    }

    /// Under the assumption that it states, it covers as often as it promises.
    #[test]
    fn coverage_on_normal_data() {
        let mut rng = Random::seed_from_u64(11);
        let trials = 4000;
        for (n, alpha) in [(2usize, 0.05), (3, 0.05), (5, 0.01), (5, 0.2)] {
            // The sum of twelve uniform numbers is normal for all that matters here.
            let mut normal = || (0..12).map(|_| rng.random_range(-0.5..0.5)).sum::<f64>();
            let covers = |values: &[f64]| {
                let (low, high) = interval(values, alpha).unwrap();
                low <= 0.0 && 0.0 <= high
            };
            let missed =
                (0..trials).filter(|_| !covers(&(0..n).map(|_| normal()).collect::<Vec<_>>())).count();
            let error = (alpha * (1.0 - alpha) / f64::from(trials)).sqrt();
            let rate = missed as f64 / f64::from(trials);
            assert!((rate - alpha).abs() <= 4.0 * error, "n = {n}: missed {rate}, promised {alpha}");
        }
    }
}
