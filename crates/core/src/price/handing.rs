//! From which length of a task on it costs next to nothing to hand it to a worker.
//!
//! A ladder measures, for every engine, what a task costs by the number of tasks at once and by their length. The answer is
//! made from pairs: in every repetition the same tasks also went through the reference, the cheapest engine there is, so that what the
//! machine did to both at that time cancels out. The share that an engine costs beyond the reference falls as tasks grow, and the
//! length at which it falls below the limit is the threshold of that repetition; its median has the interval of the sign test.

use serde::{Deserialize, Serialize};

use whyfaster_stats::{Observation, quantile, sign};

/// What a list of a ladder knows beside its prices.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Handing {
    /// Workers that every engine had.
    pub workers: u32,
    /// The engine that the others are measured against.
    pub reference: String,
    /// Tasks at once where their length was varied.
    pub tasks: u32,
    /// The lengths that were tried, milliseconds, rising.
    pub lengths_ms: Vec<u32>,
    /// The share of the time that is next to nothing.
    pub share: f64,
    /// Engines, in the order in which they are shown.
    pub engines: Vec<Engine>,
    /// What follows from the samples; can be made again from them.
    #[serde(default)]
    pub thresholds: Vec<Threshold>,
}

/// An engine of a ladder.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Engine {
    /// Its name, as rows have it.
    pub name: String,
    /// What it is.
    pub title: String,
    /// What it ran on, as its programs and modules say their versions; empty where none does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub versions: Vec<String>,
    /// Packages that bring what it needs and this machine lacks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub packages: Vec<String>,
}

/// From which length of a task on an engine costs next to nothing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Threshold {
    /// The engine.
    pub engine: String,
    /// The typical length, seconds.
    pub typical_s: f64,
    /// Lower end of its interval; null with too few repetitions.
    pub low_s: Option<f64>,
    /// Upper end.
    pub high_s: Option<f64>,
    /// Repetitions behind it.
    pub repetitions: u64,
    /// Where it lies against the lengths that were tried.
    pub place: Reach,
}

/// Where a threshold lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Reach {
    /// The shortest length was long enough already: the threshold is at most that.
    Below,
    /// Between the lengths that were tried.
    Within,
    /// The longest length was not enough: the threshold holds if the cost of a task stays what it was there.
    Beyond,
}

/// What a task of a row costs, by the name and the variant of that row: each repetition with its number.
pub type Costs<'a> = dyn Fn(&str, &str) -> Vec<(u32, Vec<f64>)> + 'a;

/// The variant of a row: so many tasks at once, of this length, and what of them. It is the name that the worker's rows have.
pub fn variant(tasks: u32, length_ms: u32, measure: &str) -> String {
    let mut text = format!("n={tasks}");
    if length_ms > 0 {
        text += &format!(",ms={length_ms}");
    }
    if !measure.is_empty() {
        text += &format!(",{measure}");
    }
    text
}

impl Handing {
    /// The thresholds of all engines that have one, from what a task costs by name and variant of its row.
    pub fn follow(&mut self, costs: &Costs<'_>, confidence: f64) {
        let reference = self.lengths(costs, &self.reference);
        let others = self.engines.iter().filter(|engine| engine.name != self.reference);
        let alpha = 1.0 - confidence;
        self.thresholds = others
            .filter_map(|engine| {
                self.threshold(&engine.name, &self.lengths(costs, &engine.name), &reference, alpha)
            })
            .collect();
    }

    /// Costs of a task by length, and then by repetition.
    fn lengths(&self, costs: &Costs<'_>, engine: &str) -> Vec<(f64, Vec<(u32, f64)>)> {
        let costs = |length: &u32| {
            let found = costs(engine, &variant(self.tasks, *length, ""));
            let medians = found.into_iter().filter_map(|(at, costs)| Some((at, quantile::median(&costs)?)));
            (f64::from(*length) * 1e-3, medians.collect::<Vec<_>>())
        };
        self.lengths_ms.iter().map(costs).filter(|(_, costs)| !costs.is_empty()).collect()
    }

    fn threshold(
        &self,
        engine: &str,
        costs: &[(f64, Vec<(u32, f64)>)],
        reference: &[(f64, Vec<(u32, f64)>)],
        alpha: f64,
    ) -> Option<Threshold> {
        let repetitions: Vec<u32> = costs.first()?.1.iter().map(|(repetition, _)| *repetition).collect();
        let at = |costs: &[(u32, f64)], wanted: u32| {
            costs.iter().find(|(repetition, _)| *repetition == wanted).map(|(_, cost)| *cost)
        };
        let of_repetition = |repetition: u32| {
            let share = |(length, costs): &(f64, Vec<(u32, f64)>)| {
                let (_, others) = reference.iter().find(|(other, _)| other == length)?;
                Some((*length, at(costs, repetition)? / at(others, repetition)? - 1.0))
            };
            crossing(&costs.iter().filter_map(share).collect::<Vec<_>>(), self.share)
        };
        let found: Vec<f64> = repetitions.into_iter().filter_map(of_repetition).collect();
        let typical_s = quantile::median(&found)?;
        let observations: Vec<Observation> = found.iter().map(|length| (*length).into()).collect();
        let (low_s, high_s) = sign::median_interval(&observations, alpha).unzip();
        let (shortest, longest) = (costs.first()?.0, costs.last()?.0);
        let place = match typical_s {
            typical if typical <= shortest => Reach::Below,
            typical if typical > longest => Reach::Beyond,
            _ => Reach::Within,
        };
        let repetitions = found.len() as u64;
        Some(Threshold { engine: engine.to_owned(), typical_s, low_s, high_s, repetitions, place })
    }
}

/// The length from which on the share stays at or below the limit, by lengths that rise. Between two lengths the share is taken to
/// fall evenly with the logarithm of the length; beyond the longest one the cost of a task is taken to stay what it is there.
fn crossing(shares: &[(f64, f64)], limit: f64) -> Option<f64> {
    let Some(last_above) = shares.iter().rposition(|(_, share)| *share > limit) else {
        return shares.first().map(|(length, _)| *length);
    };
    let (length, share) = shares[last_above];
    let Some((next, lower)) = shares.get(last_above + 1) else { return Some(length * share / limit) };
    let part = (share - limit) / (share - lower);
    Some(length * (next / length).powf(part))
}

#[cfg(test)]
mod tests {
    use super::super::Row;
    use super::super::fixture::{list, row, samples};
    use super::*;

    fn handing() -> Handing {
        let engine = |name: &str| Engine { name: name.into(), ..Engine::default() };
        Handing {
            workers: 2,
            reference: "pool".into(),
            tasks: 10,
            lengths_ms: vec![1, 10, 100],
            share: 0.05,
            engines: ["pool", "near", "dear", "far"].map(engine).to_vec(),
            thresholds: Vec::new(),
        }
    }

    /// Engines whose cost a task is known: the threshold is that cost over the limit, wherever it lies.
    #[test]
    fn a_planted_cost_is_found_again() {
        let mut rows = Vec::new();
        for (engine, cost_ns) in [("pool", 0.0), ("near", 2e3), ("dear", 1e6), ("far", 5e7)] {
            for length in [1, 10, 100] {
                let row =
                    Row { unit: "one task".into(), ..row("dispatch", engine, &variant(10, length, "")) };
                rows.push((row, samples(8, 2, f64::from(length) * 5e5 + cost_ns)));
            }
        }
        let list = list(rows);
        let mut handing = handing();
        handing.follow(&|name, variant| list.costs(name, variant), list.confidence);
        let found: Vec<_> = handing.thresholds.iter().map(|t| (t.engine.as_str(), t.place)).collect();
        assert_eq!(found, [("near", Reach::Below), ("dear", Reach::Within), ("far", Reach::Beyond)]);
        // 1 ms beside half the length, as two workers share it: 5% at 40 ms. Interpolation is between 10 and 100.
        let dear = &handing.thresholds[1];
        assert!((20e-3..80e-3).contains(&dear.typical_s), "{dear:?}");
        assert!(dear.low_s.unwrap() <= dear.typical_s && dear.typical_s <= dear.high_s.unwrap());
        let far = &handing.thresholds[2];
        assert!((1.8..2.2).contains(&far.typical_s), "{far:?}");
    }

    #[test]
    fn the_last_length_that_costs_too_much_decides() {
        assert_eq!(crossing(&[], 0.05), None);
        assert_eq!(crossing(&[(1.0, 0.01), (10.0, 0.0)], 0.05), Some(1.0));
        assert_eq!(crossing(&[(1.0, 0.1)], 0.05), Some(2.0));
        let noisy = crossing(&[(1.0, 0.01), (10.0, 0.08), (100.0, -0.01)], 0.05).unwrap();
        assert!((10.0..100.0).contains(&noisy), "{noisy}");
    }

    #[test]
    fn too_few_repetitions_have_no_interval() {
        let rows = ["pool", "dear"].map(|engine| {
            let cost = if engine == "dear" { 1e6 } else { 0.0 };
            (row("dispatch", engine, "n=10,ms=1"), samples(3, 2, 5e5 + cost))
        });
        let list = list(rows.to_vec());
        let mut handing = handing();
        handing.follow(&|name, variant| list.costs(name, variant), list.confidence);
        assert_eq!((handing.thresholds.len(), handing.thresholds[0].low_s), (1, None));
    }
}
