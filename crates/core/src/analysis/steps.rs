//! How far the ratio of an alternative moves from one load to a higher one.

use super::compare::{contrasts, sides};
use super::rounds::{arms, time};
use crate::plan::Plan;
use crate::sample::Batch;
use crate::verdict::{Ratio, ratio};
use whyfaster_stats::eprocess::{Evidence, estimate, step};

/// The ratio of the alternative at this place to the baseline at the load `to`, over that at the load `from`, with its interval at error
/// probability `alpha`. `None` if they were not compared at both.
pub fn step(
    plan: &Plan,
    batches: &[Batch],
    alternative: usize,
    (from, to): (u32, u32),
    alpha: f64,
) -> Option<Ratio> {
    let blocks = |load| {
        let arms = arms(batches.iter().filter(|batch| batch.load == load), plan.mode);
        contrasts(plan, &sides(plan, &arms, alternative), |batch| Some(time(batch, plan.mode)))
    };
    let (from, to) = (blocks(from)?, blocks(to)?);
    let moved = estimate(&to)? - estimate(&from)?;
    let interval = step::interval(&Evidence::of(&from), &Evidence::of(&to), alpha);
    Some(Ratio {
        ratio: ratio(moved)?,
        low: interval.and_then(|interval| ratio(interval.0)),
        high: interval.and_then(|interval| ratio(interval.1)),
    })
}
