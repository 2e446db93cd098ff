//! Quantiles, mean and standard deviation of plain numbers.

/// The numbers in rising order. Infinities are allowed; NaN goes to the ends by `total_cmp` and must not be passed.
pub fn sorted(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_unstable_by(f64::total_cmp);
    values
}

/// Quantile `q` (0 to 1) of numbers that are already in rising order, by linear interpolation between the two nearest
/// order statistics (type 7 of Hyndman and Fan 1996, the default of R and NumPy). `None` for an empty slice.
///
/// Between two opposite infinities there is no number; the lower one is returned.
pub fn of_sorted(values: &[f64], q: f64) -> Option<f64> {
    let last = values.len().checked_sub(1)?;
    let place = q.clamp(0.0, 1.0) * last as f64;
    // In range: q <= 1 makes place <= last, and rounding up happens only below last.
    Some(between(values[place.floor() as usize], values[place.ceil() as usize], place.fract()))
}

fn between(below: f64, above: f64, weight: f64) -> f64 {
    if weight == 0.0 || below == above {
        return below;
    }
    let between = below * (1.0 - weight) + above * weight;
    if between.is_nan() { below } else { between }
}

/// Quantile `q` of numbers in any order, type 7. `None` for an empty slice.
pub fn quantile(values: &[f64], q: f64) -> Option<f64> {
    let mut values = values.to_vec();
    let place = q.clamp(0.0, 1.0) * values.len().checked_sub(1)? as f64;
    // Reports of large fleets take thousands of medians: what is on either side need not be sorted.
    let (_, below, rest) = values.select_nth_unstable_by(place.floor() as usize, f64::total_cmp);
    let above = rest.iter().copied().min_by(f64::total_cmp).unwrap_or(*below);
    Some(between(*below, above, place.fract()))
}

/// The median. `None` for an empty slice.
pub fn median(values: &[f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// The arithmetic mean. `None` for an empty slice.
pub fn mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    Some(values.iter().sum::<f64>() / values.len() as f64)
}

/// The sample standard deviation (divided by n - 1). `None` below two numbers.
pub fn stddev(values: &[f64]) -> Option<f64> {
    let mean = mean(values)?;
    if values.len() < 2 {
        return None;
    }
    let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn known_values() {
        // R: quantile(c(1, 2, 4, 8), c(.25, .5, .95)) is 1.75, 3, 7.4; sd is sqrt(28.75 / 3).
        let xs = [8.0, 1.0, 4.0, 2.0];
        assert_eq!(quantile(&xs, 0.25), Some(1.75));
        assert_eq!(median(&xs), Some(3.0));
        assert!((quantile(&xs, 0.95).unwrap() - 7.4).abs() < 1e-12);
        assert_eq!(mean(&xs), Some(3.75));
        assert!((stddev(&xs).unwrap() - (28.75f64 / 3.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn too_few_numbers_have_no_answer() {
        assert_eq!(median(&[]), None);
        assert_eq!(mean(&[]), None);
        assert_eq!(stddev(&[1.0]), None);
        assert_eq!(quantile(&[7.0], 0.99), Some(7.0));
    }

    #[test]
    fn infinities_are_numbers_at_the_ends() {
        let inf = f64::INFINITY;
        assert_eq!(median(&[inf, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[inf, 1.0]), Some(inf));
        assert_eq!(median(&[-inf, 1.0]), Some(-inf));
        assert_eq!(median(&[-inf, inf]), Some(-inf));
    }

    proptest! {
        #[test]
        fn quantiles_rise_and_stay_within(xs in prop::collection::vec(-1e6..1e6f64, 1..60), a in 0.0..1.0f64, b in 0.0..1.0f64) {
            let (low, high) = (quantile(&xs, a.min(b)).unwrap(), quantile(&xs, a.max(b)).unwrap());
            let all = sorted(xs.iter().copied());
            prop_assert!(low <= high + 1e-9);
            prop_assert!(all[0] - 1e-9 <= low && high <= all[all.len() - 1] + 1e-9);
        }

        #[test]
        fn the_median_mirrors(xs in prop::collection::vec(-1e6..1e6f64, 1..60)) {
            let mirrored: Vec<f64> = xs.iter().map(|x| -x).collect();
            prop_assert!((median(&xs).unwrap() + median(&mirrored).unwrap()).abs() < 1e-9);
        }
    }
}
