//! The stored price list, and how its prices follow from its samples.

use serde::{Deserialize, Serialize};

use super::clean::{Clean, Rejected};
use super::fingerprint::Fingerprint;
use super::fixed::Fixed;
use super::handing::Handing;
use super::inside::{Figures, Inside, Unit};
use super::receipt::{Receipt, receipt, refusal};
use super::sample::{Row, Series, row_id};
use super::summary::summary;
use crate::missing::{NotMeasured, Obstacle};
use crate::status::Status;
use crate::warning::Warning;

/// Version of the document. Changes are additive; a reader refuses another number.
pub const SCHEMA: &str = "whyfaster-prices/1";

/// What one machine charges.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PriceList {
    /// Always [`SCHEMA`].
    pub schema: String,
    /// Version of whyfaster that wrote it.
    pub tool_version: String,
    /// What to call the machine.
    pub name: String,
    /// Where the numbers come from, if they were not measured by whyfaster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The study that it was measured for, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub study: Option<String>,
    /// What a ladder knows of its engines, where the list is one of tasks that were handed out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub handing: Option<Handing>,
    /// When the measurement began, RFC 3339 in UTC; or the date of the source.
    pub started: String,
    /// Seconds that it took.
    pub took_s: f64,
    /// How it ended.
    pub status: Status,
    /// What its prices are. Lists of different units are never compared.
    #[serde(default, skip_serializing_if = "Unit::is_usual")]
    pub unit: Unit,
    /// Where the worker ran, if not as an ordinary process of this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inside: Option<Inside>,
    /// Confidence of every interval by itself.
    pub confidence: f64,
    /// The clock that was used; null where a source does not say.
    pub clock: Option<Clock>,
    /// The machine.
    pub fingerprint: Fingerprint,
    /// The prices, in the order in which they are shown.
    pub prices: Vec<Price>,
    /// What to know before believing a number.
    #[serde(default)]
    pub warnings: Vec<Warning>,
    /// What was not measured beside the rows that say so themselves.
    #[serde(default)]
    pub not_measured: Vec<NotMeasured>,
    /// The rows, as the probes describe themselves.
    #[serde(default)]
    pub rows: Vec<Row>,
    /// Every raw sample.
    #[serde(default)]
    pub samples: Vec<Series>,
}

/// The clock that timed the batches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Clock {
    /// Its name.
    pub name: String,
    /// Smallest step that was seen, nanoseconds.
    pub resolution_ns: Option<f64>,
    /// One reading, nanoseconds.
    pub cost_ns: Option<f64>,
    /// Steps a second of the CPU's time stamp counter, where there is one.
    #[serde(default)]
    pub tsc_hz: Option<f64>,
}

/// The price of one operation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Price {
    /// kernel, process, thread, pipe or cpu.
    pub group: String,
    /// Name of the probe.
    pub name: String,
    /// Variant.
    pub variant: String,
    /// What one operation is.
    #[serde(default)]
    pub unit: String,
    /// 5th percentile, nanoseconds.
    pub floor_ns: Option<f64>,
    /// The typical cost: median of the repetitions' medians.
    pub median_ns: Option<f64>,
    /// 99th percentile.
    pub p99_ns: Option<f64>,
    /// Lower end of the interval of the median.
    pub low_ns: Option<f64>,
    /// Upper end of the interval of the median.
    pub high_ns: Option<f64>,
    /// Mean; the only number that some sources give.
    #[serde(default)]
    pub mean_ns: Option<f64>,
    /// What was taken off every batch as its fixed cost; null if nothing was.
    #[serde(default)]
    pub fixed_ns: Option<f64>,
    /// Lower end of what the repetitions say of the fixed cost of a batch; null where batches are of one size.
    #[serde(default)]
    pub fixed_low_ns: Option<f64>,
    /// Upper end.
    #[serde(default)]
    pub fixed_high_ns: Option<f64>,
    /// Bytes a second, at the typical cost, where an operation moves some.
    #[serde(default)]
    pub bytes_per_s: Option<f64>,
    /// The figures where the list's unit is guest instructions; the fields of nanoseconds are null then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<Figures>,
    /// Samples behind it.
    #[serde(default)]
    pub samples: u64,
    /// Repetitions behind it, each a fresh process.
    #[serde(default)]
    pub repetitions: u64,
    /// Samples that were left out.
    #[serde(default)]
    pub rejected: Rejected,
    /// What really happened per operation.
    #[serde(default)]
    pub receipt: Receipt,
    /// The numbers of a source, as it gives them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<Given>,
    /// Why there is no price; absent if there is one, or if a worker, a source or an earlier version said why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Obstacle>,
    /// The same, in English; null if there is a price.
    pub not_measured: Option<String>,
}

/// A figure as a source gives it: so many seconds for so many operations.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Given {
    /// Seconds.
    pub seconds: f64,
    /// Operations.
    pub operations: f64,
}

impl Price {
    /// Name and variant as one word.
    pub fn id(&self) -> String {
        row_id(&self.name, &self.variant)
    }

    /// Whether there is a price.
    pub fn is_measured(&self) -> bool {
        self.reason.is_none() && self.not_measured.is_none()
    }

    /// Why there is no price, if there is none.
    pub fn why_none(&self) -> Option<Obstacle> {
        self.reason.clone().or_else(|| self.not_measured.clone().map(Obstacle::from))
    }

    /// The typical cost: the median, or the mean where a source gives no more.
    pub fn typical_ns(&self) -> Option<f64> {
        self.median_ns.or(self.mean_ns)
    }

    /// The figures, whatever their unit.
    pub fn figures(&self) -> Figures {
        self.instructions.unwrap_or(Figures {
            floor: self.floor_ns,
            median: self.median_ns,
            p99: self.p99_ns,
            low: self.low_ns,
            high: self.high_ns,
            mean: self.mean_ns,
            fixed: self.fixed_ns,
            fixed_low: self.fixed_low_ns,
            fixed_high: self.fixed_high_ns,
        })
    }

    /// The typical cost, whatever its unit.
    pub fn typical(&self) -> Option<f64> {
        let figures = self.figures();
        figures.median.or(figures.mean)
    }

    /// The same price with its figures in the fields of nanoseconds, for a reader that goes by the unit of the list.
    fn unlabelled(&self) -> Self {
        let Figures { floor, median, p99, low, high, mean, fixed, fixed_low, fixed_high } = self.figures();
        Self {
            floor_ns: floor,
            median_ns: median,
            p99_ns: p99,
            low_ns: low,
            high_ns: high,
            mean_ns: mean,
            fixed_ns: fixed,
            fixed_low_ns: fixed_low,
            fixed_high_ns: fixed_high,
            instructions: None,
            ..self.clone()
        }
    }

    /// Moves the figures from the fields of nanoseconds to those of instructions.
    fn count_instructions(&mut self) {
        let figures = self.figures();
        if figures != Figures::default() {
            *self = Self { instructions: Some(figures), ..self.clone() };
        }
        (self.floor_ns, self.median_ns, self.p99_ns) = (None, None, None);
        (self.low_ns, self.high_ns, self.mean_ns) = (None, None, None);
        (self.fixed_ns, self.fixed_low_ns, self.fixed_high_ns) = (None, None, None);
        // Bytes an instruction are no bytes a second.
        self.bytes_per_s = None;
    }

    /// Bytes a second at this cost. CPU time is no time in which bytes arrive.
    fn rate(&self, ns: f64) -> Option<f64> {
        let cpu_time = ["writer_cpu", "reader_cpu"].iter().any(|measure| self.variant.ends_with(measure));
        self.receipt.bytes.filter(|_| ns > 0.0 && !cpu_time).map(|bytes| bytes / ns * 1e9)
    }

    /// The price of a row from its samples.
    fn of<'a>(
        row: &Row,
        series: impl Iterator<Item = &'a Series>,
        resolution_ns: Option<f64>,
        (alpha, measured_in): (f64, Unit),
    ) -> Self {
        let clean = Clean::of(series, &row.expect);
        let fixed = Fixed::of(&clean, alpha);
        let fixed_ns = fixed.and_then(|fixed| fixed.taken_off());
        let mut price = Self {
            group: row.group.clone(),
            name: row.name.clone(),
            variant: row.variant.clone(),
            unit: row.unit.clone(),
            fixed_ns,
            fixed_low_ns: fixed.map(|fixed| fixed.low_ns),
            fixed_high_ns: fixed.map(|fixed| fixed.high_ns),
            samples: clean.len() as u64,
            repetitions: clean.repetitions.len() as u64,
            rejected: clean.rejected,
            receipt: receipt(row, &clean, resolution_ns),
            ..Self::default()
        };
        let found = summary(&clean.costs(fixed_ns.unwrap_or(0.0)), alpha);
        price.reason = match (&row.unavailable, found) {
            (Some(why), _) => Some(Obstacle::from(why.clone())),
            (None, None) => Some(nothing_kept(&clean.rejected)),
            (None, Some(found)) => {
                let least = found.floor_ns.min(found.median_ns);
                let unresolved = fixed.and_then(|fixed| fixed.unresolved(least, measured_in));
                unresolved.or_else(|| refusal(row, &price.receipt, least, resolution_ns))
            }
        };
        if let (None, Some(found)) = (&price.reason, found) {
            price.floor_ns = Some(found.floor_ns);
            price.median_ns = Some(found.median_ns);
            price.bytes_per_s = price.rate(found.median_ns);
            price.p99_ns = Some(found.p99_ns);
            price.mean_ns = Some(found.mean_ns);
            let step_ns = found.median_ns * price.receipt.clock_step().unwrap_or(0.0);
            let widened = |(low, high)| {
                let (low, high) = fixed.map_or((low, high), |fixed| fixed.widen(low, high));
                ((low - step_ns).max(0.0), high + step_ns)
            };
            (price.low_ns, price.high_ns) = found.interval.map(widened).unzip();
        }
        price
    }
}

/// Why no sample is left.
fn nothing_kept(rejected: &Rejected) -> Obstacle {
    let Rejected { involuntary, migration, delay, steal } = *rejected;
    match rejected.total() {
        0 => Obstacle::NoSample,
        _ => Obstacle::AllDisturbed { involuntary, migration, delay, steal },
    }
}

impl PriceList {
    /// Makes the prices anew from the samples. A list without rows (numbers of a source) keeps those it has.
    pub fn reprice(&mut self) {
        if self.rows.is_empty() {
            return;
        }
        let resolution = self.clock.as_ref().and_then(|clock| clock.resolution_ns);
        let mut of_row: Vec<Vec<&Series>> = vec![Vec::new(); self.rows.len()];
        for series in &self.samples {
            if let Some(all) = of_row.get_mut(series.row) {
                all.push(series);
            }
        }
        let by = (1.0 - self.confidence, self.unit);
        let prices = self.rows.iter().zip(of_row);
        self.prices =
            prices.map(|(row, series)| Price::of(row, series.into_iter(), resolution, by)).collect();
        if self.unit == Unit::GuestInstructions {
            self.prices.iter_mut().for_each(Price::count_instructions);
        }
        if let Some(mut handing) = self.handing.take() {
            handing.follow(&|name, variant| self.costs(name, variant), self.confidence);
            self.handing = Some(handing);
        }
    }

    /// The price of this name and variant. Without a variant: the only one, or the one that stands for the name.
    pub fn find(&self, name: &str, variant: Option<&str>) -> Option<&Price> {
        let mut named = self.prices.iter().filter(|price| price.name == name);
        match variant {
            Some(variant) => named.find(|price| price.variant == variant),
            None => {
                let all: Vec<&Price> = named.collect();
                let preferred = PREFERRED.iter().find_map(|wanted| all.iter().find(|p| p.variant == *wanted));
                preferred.or_else(|| all.first()).copied()
            }
        }
    }

    /// The same list with every figure where nanoseconds stand. Only for code that has seen to it that all lists have one
    /// unit, and that says which.
    pub fn unlabelled(&self) -> Self {
        if self.unit.is_usual() {
            return self.clone();
        }
        Self { prices: self.prices.iter().map(Price::unlabelled).collect(), ..self.clone() }
    }

    /// Costs per operation by repetition, each with its number, as its price was made from them; empty for numbers of a
    /// source. A repetition in which every sample was disturbed is not there.
    pub fn costs(&self, name: &str, variant: &str) -> Vec<(u32, Vec<f64>)> {
        let found = self.rows.iter().position(|row| row.name == name && row.variant == variant);
        let Some(index) = found else { return Vec::new() };
        let clean = Clean::of(self.samples.iter().filter(|s| s.row == index), &self.rows[index].expect);
        let fixed = Fixed::of(&clean, 1.0 - self.confidence).and_then(|fixed| fixed.taken_off());
        let costs = clean.costs(fixed.unwrap_or(0.0));
        clean.numbers.into_iter().zip(costs).collect()
    }
}

/// The variants that stand for a name when none is named: what a program sees of it.
const PREFERRED: [&str; 3] = ["reaped", "libc", "raw"];

#[cfg(test)]
mod tests {
    use super::super::fixture::{list, row, samples};
    use super::*;
    use crate::missing::Counted;

    #[test]
    fn a_list_prices_its_rows() {
        let list = list(vec![(row("kernel", "getpid", "raw"), samples(12, 20, 80.0))]);
        let price = &list.prices[0];
        assert_eq!(price.reason, None);
        let (low, median, high) = (price.low_ns.unwrap(), price.median_ns.unwrap(), price.high_ns.unwrap());
        assert!((79.0..83.0).contains(&median) && low <= median && median <= high, "{price:?}");
        assert_eq!((price.samples, price.repetitions), (240, 12));
    }

    #[test]
    fn a_row_without_a_price_says_why() {
        let mut gone = row("thread", "uring_msg", "asleep");
        gone.unavailable = Some("not available: ENOSYS".into());
        let mut lie = row("kernel", "getpid", "libc");
        lie.expect.syscalls.min = Some(1.0);
        lie.syscalls = Some(0.0);
        let mut disturbed = samples(6, 4, 80.0);
        disturbed.iter_mut().for_each(|s| s.involuntary.fill(Some(1)));
        let list = list(vec![
            (gone, samples(6, 4, 80.0)),
            (lie, samples(6, 4, 80.0)),
            (row("kernel", "umask", "raw"), disturbed),
            (row("kernel", "time", "raw"), Vec::new()),
        ]);
        let why: Vec<_> = list.prices.iter().map(|price| price.reason.clone().unwrap()).collect();
        let counted = Counted::SystemCalls;
        assert_eq!(
            why,
            [
                Obstacle::Said { text: "not available: ENOSYS".into() },
                Obstacle::Contradicted { counted, seen: 0.0, promised: 1.0 },
                Obstacle::AllDisturbed { involuntary: 24, migration: 0, delay: 0, steal: 0 },
                Obstacle::NoSample,
            ]
        );
        assert!(list.prices.iter().all(|price| price.median_ns.is_none() && price.low_ns.is_none()));
    }

    #[test]
    fn instructions_never_stand_in_a_field_of_nanoseconds() {
        let mut list = list(vec![(row("kernel", "getppid", "raw"), samples(8, 6, 333.0))]);
        let time = list.prices[0].clone();
        list.unit = Unit::GuestInstructions;
        list.reprice();
        let price = &list.prices[0];
        assert_eq!((price.typical_ns(), price.floor_ns, price.fixed_ns), (None, None, None));
        assert_eq!(price.typical(), time.typical_ns());
        assert_eq!((price.fixed_low_ns, price.fixed_high_ns, price.bytes_per_s), (None, None, None));
        assert_eq!(list.validate(), Ok(()));
        let json = serde_json::to_value(&list).unwrap();
        assert_eq!(json["unit"], "guest_instructions");
        assert!(
            json["prices"][0]["median_ns"].is_null() && json["prices"][0]["instructions"]["median"].is_f64()
        );
        assert_eq!(list.unlabelled().prices[0].median_ns, time.median_ns);
        // A list of another unit projects to nothing.
        let terms = super::super::project::parse("10 getppid").unwrap();
        let projected = super::super::project::project(std::slice::from_ref(&list), &terms);
        assert_eq!(projected.machines[0].total_s, None);
        let reason = projected.machines[0].not_measured[0].reason.clone();
        assert!(matches!(reason, Some(Obstacle::OtherUnit { .. })), "{reason:?}");
        let mut mixed = list.clone();
        mixed.prices[0].median_ns = Some(3.0);
        assert!(mixed.validate().is_err());
    }

    #[test]
    fn a_name_stands_for_its_usual_variant() {
        let rows = ["parent", "child", "reaped"].map(|v| (row("process", "fork", v), samples(6, 2, 9.0)));
        let list = list(rows.into());
        assert_eq!(list.find("fork", None).unwrap().variant, "reaped");
        assert_eq!(list.find("fork", Some("child")).unwrap().variant, "child");
        assert!(list.find("fork", Some("cold")).is_none() && list.find("x", None).is_none());
    }

    #[test]
    fn the_paths_that_other_tools_read() {
        let list = list(vec![(row("kernel", "getpid", "raw"), samples(6, 4, 80.0))]);
        let json = serde_json::to_value(&list).unwrap();
        assert_eq!(json["schema"], SCHEMA);
        let price = json["prices"][0].as_object().unwrap();
        for path in [
            "group",
            "name",
            "variant",
            "floor_ns",
            "median_ns",
            "p99_ns",
            "low_ns",
            "high_ns",
            "receipt",
            "not_measured",
        ] {
            assert!(price.contains_key(path), "{path}");
        }
        let receipt = price["receipt"].as_object().unwrap();
        assert!(["switches", "syscalls", "migrations"].iter().all(|path| receipt.contains_key(*path)));
        assert_eq!(serde_json::from_value::<PriceList>(json).unwrap(), list);
    }
}
