//! What differs between two alternatives: by category, over the traced rounds, path and work side by side.
//!
//! A difference on the path that has its counterpart in the work is a cause: something is done that the other one does not
//! do. One without a counterpart is overlap: both do it, but the other one beside something else, on another CPU. More work
//! that is not on the path is off-path work, and costs no time as long as CPUs are free.

use std::collections::{BTreeMap, BTreeSet};

use super::account::Alternative;
use super::categories::{Amount, Categories, Category, Waiting, categories, waiting};
use super::medians::{median, spread, summing};

/// The differences of one category: what is more in the alternative than in the baseline, seconds.
#[derive(Clone, Debug, Default)]
pub(super) struct CategoryDelta {
    /// The medians.
    pub median: Amount,
    /// By round.
    rounds: Vec<Amount>,
}

/// What follows from a category.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Attribution {
    /// Seconds of wall time that this costs.
    pub caused: f64,
    /// Seconds on the path that the other one has as well, beside the path.
    pub overlap: f64,
    /// CPU time more than on the other side, beside the path. It costs no time as long as a CPU is free for it.
    pub off_path_work: f64,
}

/// What follows from each category.
pub(super) type Attributions = BTreeMap<Category, Attribution>;

/// The differences of two alternatives.
#[derive(Clone, Debug, Default)]
pub(super) struct Deltas {
    pub categories: BTreeMap<Category, CategoryDelta>,
    /// Traced rounds in which both ran.
    pub rounds: usize,
}

impl Deltas {
    /// The alternative less the baseline, paired by round.
    pub(super) fn of(alternative: &Alternative<'_>, baseline: &Alternative<'_>) -> Self {
        let waiting: Waiting<'_> = alternative.runs.iter().chain(&baseline.runs).flat_map(waiting).collect();
        let by_round = |side: &Alternative<'_>| -> BTreeMap<u32, Categories> {
            side.runs.iter().map(|run| (run.round, categories(run, &waiting))).collect()
        };
        let (here, there) = (by_round(alternative), by_round(baseline));
        let pairs: Vec<(&Categories, &Categories)> =
            here.iter().filter_map(|(round, categories)| Some((categories, there.get(round)?))).collect();
        Self::paired(&pairs)
    }

    /// Of rounds with the categories of both.
    pub(super) fn paired(pairs: &[(&Categories, &Categories)]) -> Self {
        let all: BTreeSet<Category> =
            pairs.iter().flat_map(|(a, b)| a.keys().chain(b.keys())).copied().collect();
        let delta = |category: Category| {
            let rounds = pairs.iter().map(|(a, b)| less(get(a, category), get(b, category))).collect();
            (category, CategoryDelta::of(rounds))
        };
        let mut deltas = Self { categories: all.into_iter().map(delta).collect(), rounds: pairs.len() };
        deltas.bring_to_sum();
        deltas
    }

    /// Brings the medians on the path to the median of their sum.
    fn bring_to_sum(&mut self) {
        let on_path = |it: &Amount| it.path + it.wait;
        let sum = |round: usize| -> f64 {
            self.categories.values().filter_map(|delta| delta.rounds.get(round)).map(on_path).sum()
        };
        let whole = median(&(0..self.rounds).map(sum).collect::<Vec<_>>());
        let of = |number: fn(&Amount) -> f64| {
            self.categories.values().map(move |delta| delta.rounds.iter().map(number).collect::<Vec<_>>())
        };
        let values: Vec<Vec<f64>> = of(|it| it.path).chain(of(|it| it.wait)).collect();
        let mut medians: Vec<f64> = values.iter().map(|it| median(it)).collect();
        summing(&mut medians, &values.iter().map(|it| spread(it)).collect::<Vec<_>>(), whole);
        let (paths, waits) = medians.split_at(self.categories.len());
        for (delta, (path, wait)) in self.categories.values_mut().zip(paths.iter().zip(waits)) {
            (delta.median.path, delta.median.wait) = (*path, *wait);
        }
    }

    /// What each category causes and overlaps, from the medians.
    pub(super) fn attributed(&self) -> Attributions {
        self.categories.iter().map(|(category, delta)| (*category, part(delta.median))).collect()
    }

    /// The same, in one round.
    pub(super) fn attributed_in(&self, round: usize) -> Attributions {
        let of = |delta: &CategoryDelta| delta.rounds.get(round).copied().unwrap_or_default();
        self.categories.iter().map(|(category, delta)| (*category, part(of(delta)))).collect()
    }
}

impl CategoryDelta {
    fn of(rounds: Vec<Amount>) -> Self {
        let of = |number: &dyn Fn(&Amount) -> f64| median(&rounds.iter().map(number).collect::<Vec<_>>());
        let median = Amount {
            path: of(&|it| it.path),
            wait: of(&|it| it.wait),
            wait_beside: of(&|it| it.wait_beside),
            work: of(&|it| it.work),
        };
        Self { median, rounds }
    }
}

fn get(categories: &Categories, category: Category) -> Amount {
    categories.get(&category).copied().unwrap_or_default()
}

fn less(a: Amount, b: Amount) -> Amount {
    Amount {
        path: a.path - b.path,
        wait: a.wait - b.wait,
        wait_beside: a.wait_beside - b.wait_beside,
        work: a.work - b.work,
    }
}

/// Path and work come from different counts; up to so much more on the path counts as the same.
const ALIKE: f64 = 1.05;

/// Divides a difference into what is caused and what is overlap. The counterpart of running on the path is all work; that of waiting
/// on it are the waits of the same kind, on the path and beside it.
fn part(delta: Amount) -> Attribution {
    let (ran, waited) =
        (counterpart(delta.path, delta.work), counterpart(delta.wait, delta.wait + delta.wait_beside));
    let off_path_work = if ran == 0.0 {
        delta.work
    } else {
        delta.work - delta.work.signum() * delta.path.abs().min(delta.work.abs())
    };
    Attribution { caused: ran + waited, overlap: delta.path - ran + delta.wait - waited, off_path_work }
}

/// As much of what is more on the path as there is more of it in all.
fn counterpart(on_path: f64, all: f64) -> f64 {
    if on_path * all <= 0.0 { 0.0 } else { on_path.signum() * on_path.abs().min(all.abs() * ALIKE) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn of(path: f64, work: f64) -> Attribution {
        part(Amount { path, work, ..Amount::default() })
    }

    fn attributed(caused: f64, overlap: f64, off_path_work: f64) -> Attribution {
        Attribution { caused, overlap, off_path_work }
    }

    #[test]
    fn parts_by_hand() {
        // Done and paid for; done beside the path; off-path work; less on the path for more work.
        assert_eq!(of(2.0, 2.0), attributed(2.0, 0.0, 0.0));
        assert_eq!(of(2.0, 0.0), attributed(0.0, 2.0, 0.0));
        assert_eq!(of(2.0, 5.0), attributed(2.0, 0.0, 3.0));
        assert_eq!(of(-2.0, 1.0), attributed(0.0, -2.0, 1.0));
        assert_eq!(of(-2.0, -1.0), attributed(-1.05, -0.95, 0.0));
        // More waits; as many waits as on the other side, of which it has some at the same time; and more of both.
        let wait = |wait, wait_beside| part(Amount { wait, wait_beside, ..Amount::default() });
        assert_eq!(wait(3.0, 0.0), attributed(3.0, 0.0, 0.0));
        assert_eq!(wait(3.0, -3.0), attributed(0.0, 3.0, 0.0));
        assert_eq!(wait(3.0, 2.0), attributed(3.0, 0.0, 0.0));
    }

    proptest! {
        #[test]
        fn the_parts_are_the_difference_on_the_path(
            path in -5.0..5.0f64,
            wait in -5.0..5.0f64,
            wait_beside in -5.0..5.0f64,
            work in -5.0..5.0f64,
        ) {
            let attributed = part(Amount { path, wait, wait_beside, work });
            prop_assert!((attributed.caused + attributed.overlap - path - wait).abs() < 1e-12);
            let back = part(Amount { path: -path, wait: -wait, wait_beside: -wait_beside, work: -work });
            prop_assert_eq!((back.caused, back.overlap), (-attributed.caused, -attributed.overlap));
            prop_assert_eq!(back.off_path_work, -attributed.off_path_work);
        }
    }
}
