//! What a list of engines says, by engine: what a task costs by how many there are at once, how long it waits, whose CPU time it takes,
//! and from which length of a task on it costs next to nothing.

use serde::Serialize;
use whyfaster_core::missing::NotMeasured;
use whyfaster_core::price::handing::{Engine, Handing, Threshold, variant};
use whyfaster_core::price::{Price, PriceList};

use whyfaster_run::ladder::MEASURES;
use whyfaster_words::missing;

/// What was found about engines.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OfLadder {
    /// Workers that every engine had.
    pub workers: u32,
    /// Tasks at once, rising: what any engine was measured with.
    pub tasks: Vec<u32>,
    /// What is next to nothing.
    pub share: f64,
    /// The engine that the others are measured against.
    pub reference: String,
    /// The engines that have a price, the cheapest first.
    pub engines: Vec<OfEngine>,
    /// What was not measured, with why.
    pub not_measured: Vec<(String, String)>,
}

/// What was found about one engine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OfEngine {
    /// Its name.
    pub name: String,
    /// What it is.
    pub title: String,
    /// What it ran on.
    pub versions: Vec<String>,
    /// By tasks at once, as in the list of all.
    pub levels: Vec<Option<AtOnce>>,
    /// From which length of a task on it costs next to nothing.
    pub threshold: Option<Threshold>,
}

/// What so many tasks at once cost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AtOnce {
    /// How many.
    pub tasks: u32,
    /// Tasks a second: typical, and the ends of its interval.
    pub tasks_per_s: f64,
    /// The least.
    pub low_per_s: Option<f64>,
    /// The most.
    pub high_per_s: Option<f64>,
    /// From the hand-over to the start of a task.
    pub latency_ns: Option<f64>,
    /// The same of the slowest hundredth.
    pub latency_p99_ns: Option<f64>,
    /// CPU time a task of those who hand out.
    pub client_cpu_ns: Option<f64>,
    /// CPU time a task of those who take.
    pub worker_cpu_ns: Option<f64>,
}

impl OfLadder {
    /// From a list.
    pub fn of(list: &PriceList) -> Self {
        let handing = list.handing.clone().unwrap_or_default();
        let mut tasks: Vec<u32> = list.prices.iter().filter_map(|price| tasks_of(&price.variant)).collect();
        tasks.sort_unstable();
        tasks.dedup();
        let engine = |it: &Engine| OfEngine {
            name: it.name.clone(),
            title: it.title.clone(),
            versions: it.versions.clone(),
            levels: tasks.iter().map(|tasks| AtOnce::of(list, &it.name, *tasks)).collect(),
            threshold: handing.thresholds.iter().find(|threshold| threshold.engine == it.name).cloned(),
        };
        let all = handing.engines.iter().map(engine);
        let mut engines: Vec<OfEngine> = all.filter(|engine| engine.last().is_some()).collect();
        engines.sort_by(|a, b| a.cost().total_cmp(&b.cost()));
        let without = list.prices.iter().filter_map(|price| Some((price.id(), price.why_none()?)));
        let rows = without.map(|(row, why)| (row, missing::reason(&why)));
        let others = list.not_measured.iter().map(|it: &NotMeasured| (it.what.clone(), it.why.clone()));
        let Handing { workers, share, reference, .. } = handing;
        Self { workers, tasks, share, reference, engines, not_measured: rows.chain(others).collect() }
    }
}

/// Tasks at once of a row of tasks that compute nothing.
fn tasks_of(variant: &str) -> Option<u32> {
    variant.strip_prefix("n=")?.parse().ok()
}

impl OfEngine {
    /// With the most tasks at once that it was measured with.
    pub fn last(&self) -> Option<&AtOnce> {
        self.levels.iter().flatten().next_back()
    }

    /// With the fewest.
    pub fn first(&self) -> Option<&AtOnce> {
        self.levels.iter().flatten().next()
    }

    /// Seconds a task where it was measured with the most at once.
    fn cost(&self) -> f64 {
        self.last().map_or(f64::INFINITY, |level| 1.0 / level.tasks_per_s)
    }
}

impl AtOnce {
    fn of(list: &PriceList, engine: &str, tasks: u32) -> Option<Self> {
        let price = |measure: &str| {
            let price: Option<&Price> = list.find(engine, Some(&variant(tasks, 0, measure)));
            price.filter(|price| price.is_measured())
        };
        let typical = |measure: &str| price(measure).and_then(Price::typical_ns);
        let took = price("")?;
        let rate = |ns: f64| 1e9 / ns;
        Some(Self {
            tasks,
            tasks_per_s: took.typical_ns().map(rate)?,
            low_per_s: took.high_ns.map(rate),
            high_per_s: took.low_ns.map(rate),
            latency_ns: typical(MEASURES[1]),
            latency_p99_ns: price(MEASURES[1]).and_then(|price| price.p99_ns),
            client_cpu_ns: typical(MEASURES[2]),
            worker_cpu_ns: typical(MEASURES[3]),
        })
    }
}
