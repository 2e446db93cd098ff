//! Centre, spread and tails of numbers of which some are broken.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

use whyfaster_stats::quantile;

/// The median absolute deviation of a normal distribution, as a part of its standard deviation: 1 / 1.4826.
const NORMAL: f64 = 1.4826;

/// How much too small the median absolute deviation of a few normal numbers is, for 2 to 9 of them (Croux and Rousseeuw, "Time-efficient
/// algorithms for two highly robust estimators of scale", 1992).
const FEW: [f64; 8] = [1.196, 1.495, 1.363, 1.206, 1.200, 1.140, 1.129, 1.107];

/// The standard deviation by the median of the absolute deviations from 0, for residuals of groups of about so many members each.
pub(super) fn spread(residuals: &[f64], members: f64) -> Option<f64> {
    let absolute: Vec<f64> = residuals.iter().map(|x| x.abs()).collect();
    let few = (members.round() as usize)
        .checked_sub(2)
        .map_or(FEW[0], |at| FEW.get(at).copied().unwrap_or(members / (members - 0.8)));
    Some(quantile::median(&absolute)? * NORMAL * few)
}

/// How a statistic is distributed over the machines that do not stand out: Student's t, moved and stretched, and on either side of its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Null {
    centre: f64,
    scale: f64,
    /// Of the numbers themselves.
    tails: Tails,
    /// Degrees of freedom with which so many numbers tell the scale.
    known: f64,
}

/// Degrees of freedom below and above the centre.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tails {
    below: f64,
    above: f64,
}

impl Tails {
    /// Of scores of all rows together. What breaks some machines in a row is a small part of them, and so hides nothing of it.
    pub(super) fn of_all(scores: impl Iterator<Item = f64>) -> Option<Self> {
        let sorted = quantile::sorted(scores);
        let at = |q| quantile::of_sorted(&sorted, q);
        let (centre, half) = (at(0.5)?, (at(0.75)? - at(0.25)?) / 2.0);
        let side = |far: &dyn Fn(f64) -> Option<f64>| {
            let told = told(sorted.len()).filter_map(|q| Some(freedom(q, far(q)? / half)));
            told.fold(NEARLY_NORMAL, f64::min)
        };
        Some(Self { below: side(&|q| Some(centre - at(1.0 - q)?)), above: side(&|q| Some(at(q)? - centre)) })
    }

    /// Of the mean of so many that are independent: its excess kurtosis, about 6 / freedom, is so many times less.
    pub(super) fn of_mean(self, many: usize) -> Self {
        let of = |freedom: f64| (many as f64 * freedom).min(NEARLY_NORMAL);
        Self { below: of(self.below), above: of(self.above) }
    }
}

/// The tails that so many numbers tell.
fn told(numbers: usize) -> impl Iterator<Item = f64> {
    TAILS.into_iter().filter(move |q| numbers as f64 * (1.0 - q) >= LEAST_BEYOND)
}

/// From so many machines on, the tails of a statistic are read off it, too.
pub(super) const MANY: usize = 50;

/// A spread by the median of deviations, or by quartiles, is known as well as the usual one of so many times as many numbers (Rousseeuw
/// and Croux, "Alternatives to the median absolute deviation", 1993). For a handful that would say too little: there, this much is added,
/// by simulation (`where_none_is_off_hardly_any_is_named`).
const EFFICIENCY: f64 = 0.37;
const LEAST_FREEDOM: f64 = 4.0;

/// Degrees of freedom that the other rows add to the spread of one. Rows differ in their noise: where by a factor of two (0.7 on the log scale),
/// so many keep a few rows of four or six machines from more false names than promised (`neither_where_a_few_rows_have_each_its_own_noise`).
const OTHER_ROWS: f64 = 2.0;

/// Where tails are read: each needs this many machines beyond it.
const TAILS: [f64; 3] = [0.95, 0.99, 0.999];
const LEAST_BEYOND: f64 = 2.0;

/// More degrees of freedom are no different from these.
const NEARLY_NORMAL: f64 = 200.0;

impl Null {
    /// Of the statistic of all machines, of which `groups` medians were taken off; the scale is at least `least`.
    pub(super) fn of(values: &[f64], groups: usize, least: f64) -> Option<Self> {
        let sorted = quantile::sorted(values.iter().copied());
        let at = |q| quantile::of_sorted(&sorted, q);
        let centre = at(0.5)?;
        let members = values.len() as f64 / groups.max(1) as f64;
        let residuals: Vec<f64> = values.iter().map(|value| value - centre).collect();
        let by_median = spread(&residuals, members)?;
        let few = (values.len().saturating_sub(groups)).max(1) as f64;
        let known = few.min(LEAST_FREEDOM + EFFICIENCY * few).min(NEARLY_NORMAL);
        let (scale, freedom) = if values.len() >= MANY {
            let quartiles = at(0.75)? - at(0.25)?;
            // The shorter tail: machines that stand out are most often all on one side.
            let ratios = told(values.len())
                .filter_map(|q| Some((q, 2.0 * (at(q)? - centre).min(centre - at(1.0 - q)?) / quartiles)));
            let freedom = ratios.map(|(q, ratio)| freedom(q, ratio)).fold(NEARLY_NORMAL, f64::min);
            (quartiles / (2.0 * quantile_of(0.75, freedom)), freedom)
        } else {
            (by_median, NEARLY_NORMAL)
        };
        let scale = scale.max(least);
        let tails = Tails { below: freedom, above: freedom };
        (scale > 0.0 && scale.is_finite()).then_some(Self { centre, scale, tails, known })
    }

    /// Of the scores of a row. Their spread leans on the other rows, and so is better known than by these few machines.
    pub(super) fn of_row(scores: &[f64], groups: usize) -> Option<Self> {
        let null = Self::of(scores, groups, 1.0)?;
        // Of three machines the spread is a single number, and leaning says less.
        let by_others = (scores.len().saturating_sub(groups) as f64 - 1.0).clamp(0.0, OTHER_ROWS);
        Some(Self { known: (null.known + by_others).min(NEARLY_NORMAL), ..null })
    }

    /// The same with tails that are at least as long as these.
    pub(super) fn with(self, Tails { below, above }: Tails) -> Self {
        let tails = Tails { below: self.tails.below.min(below), above: self.tails.above.min(above) };
        Self { tails, ..self }
    }

    /// Long tails, and a scale that is little known, are two reasons for a value far out. What they do to the fourth moment adds: about
    /// 6 / freedom each.
    fn freedom(&self, tail: f64) -> f64 {
        let of = |freedom: f64| if freedom >= NEARLY_NORMAL { 0.0 } else { freedom.recip() };
        (of(tail) + of(self.known)).recip().min(NEARLY_NORMAL)
    }

    /// The probability of a value at least so far from the centre, on either side.
    pub(super) fn p_value(&self, value: f64) -> f64 {
        let far = (value - self.centre) / self.scale;
        let freedom = self.freedom(if far < 0.0 { self.tails.below } else { self.tails.above });
        (2.0 * upper_tail(far.abs(), freedom)).min(1.0)
    }

    /// How far from its place a value may lie, that is so distributed around it, but for this probability of both sides together.
    pub(super) fn reach(&self, probability: f64) -> f64 {
        let below = probability / 2.0;
        let far = match self.freedom(self.tails.below.min(self.tails.above)) {
            freedom if freedom >= NEARLY_NORMAL => Normal::standard().inverse_cdf(below),
            freedom => quantile_of(below, freedom),
        };
        far.abs() * self.scale
    }
}

/// The degrees of freedom at which quantile `q` of Student's t is so many times as far out as its upper quartile.
fn freedom(q: f64, ratio: f64) -> f64 {
    let far = |freedom: f64| quantile_of(q, freedom) / quantile_of(0.75, freedom);
    let (mut heavy, mut light) = (1.0, NEARLY_NORMAL);
    if !ratio.is_finite() || ratio <= far(light) {
        return light;
    }
    if ratio >= far(heavy) {
        return heavy;
    }
    for _ in 0..40 {
        let middle = f64::sqrt(heavy * light);
        if far(middle) > ratio { heavy = middle } else { light = middle }
    }
    heavy
}

fn quantile_of(q: f64, freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, freedom).map_or(f64::NAN, |t| t.inverse_cdf(q))
}

fn upper_tail(far: f64, freedom: f64) -> f64 {
    if freedom >= NEARLY_NORMAL {
        Normal::standard().sf(far)
    } else {
        StudentsT::new(0.0, 1.0, freedom).map_or(1.0, |t| t.sf(far))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_are_those_of_the_tables() {
        // t with 3 degrees of freedom: 2.353 at 95%, 0.765 at 75%.
        assert!((freedom(0.95, 2.353_36 / 0.764_89) - 3.0).abs() < 0.05);
        assert_eq!(freedom(0.95, 1.645 / 0.6745), NEARLY_NORMAL);
        assert!((upper_tail(2.353_36, 3.0) - 0.05).abs() < 1e-4);
        assert!((upper_tail(1.96, 1e9) - 0.025).abs() < 1e-4);
    }

    #[test]
    fn what_is_beyond_the_reach_has_that_probability() {
        for freedom in [3.0, 12.0, NEARLY_NORMAL] {
            let null = Null {
                centre: 0.0,
                scale: 0.1,
                tails: Tails { below: freedom, above: freedom },
                known: NEARLY_NORMAL,
            };
            for probability in [0.05, 1e-4, 1e-7] {
                let p_value = null.p_value(null.reach(probability));
                assert!((p_value / probability - 1.0).abs() < 0.01, "{freedom} {probability}: {p_value}");
            }
        }
    }

    #[test]
    fn one_of_four_that_is_far_off_does_not_widen_the_spread() {
        let near = spread(&[-0.01, 0.0, 0.01, 0.02], 4.0).unwrap();
        let far = spread(&[-0.01, 0.0, 0.01, 3.0], 4.0).unwrap();
        assert_eq!(near, far);
    }

    #[test]
    fn numbers_that_are_all_alike_have_the_least_scale() {
        assert_eq!(Null::of(&[1.0; 5], 1, 0.0), None);
        let null = Null::of(&[1.0; 5], 1, 0.1).unwrap();
        assert!(null.p_value(1.0) > 0.99 && null.p_value(9.0) < 0.001);
    }
}
