//! Where a list was measured, if not by an ordinary process of the machine: inside another kernel, through an emulator, on
//! another machine. And the unit of its prices, which are not always times.
//!
//! Under instruction counting an emulator's clock advances by one nanosecond for every instruction of the guest. Such a
//! price is a number of instructions. It says nothing about caches or mitigations, and it must never stand in a field or a
//! column of nanoseconds: so it has fields of its own, [`Figures`].

use serde::{Deserialize, Serialize};

use super::list::{Price, PriceList};

/// What the prices of a list are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Nanoseconds an operation.
    #[default]
    Nanoseconds,
    /// Instructions of the guest an operation.
    GuestInstructions,
}

impl Unit {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nanoseconds => "nanoseconds",
            Self::GuestInstructions => "guest instructions",
        }
    }

    /// Whether it is the usual one.
    pub fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

/// Where the worker ran.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Inside {
    /// How it was asked for, as in `gvisor:systrap` or `qemu:debian:6.12`.
    pub kind: String,
    /// What stood between the worker and this machine, in words.
    pub mechanism: String,
    /// The version of that, as it tells it itself.
    pub version: Option<String>,
    /// The kernel as the worker saw it. gVisor gives a fixed value.
    pub kernel: Option<String>,
    /// The instruction set for which the worker was built.
    pub machine: Option<String>,
    /// Instructions of a loop that has exactly two, as they were counted; null for times.
    #[serde(default)]
    pub calibration: Option<f64>,
}

/// A price that is no time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Figures {
    /// 5th percentile.
    pub floor: Option<f64>,
    /// The typical cost: median of the repetitions' medians.
    pub median: Option<f64>,
    /// 99th percentile.
    pub p99: Option<f64>,
    /// Lower end of the interval of the median.
    pub low: Option<f64>,
    /// Upper end of the interval of the median.
    pub high: Option<f64>,
    /// Mean.
    pub mean: Option<f64>,
    /// What was taken off every batch as its fixed cost.
    #[serde(default)]
    pub fixed: Option<f64>,
    /// Lower end of what the repetitions say of that; null where batches are of one size. It may lie below 0.
    #[serde(default)]
    pub fixed_low: Option<f64>,
    /// Upper end.
    #[serde(default)]
    pub fixed_high: Option<f64>,
}

impl Figures {
    /// All that cannot lie below 0.
    pub fn amounts(&self) -> [Option<f64>; 7] {
        [self.floor, self.median, self.p99, self.low, self.high, self.mean, self.fixed]
    }
}

impl Price {
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
    pub(super) fn count_instructions(&mut self) {
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
}

impl PriceList {
    /// The same list with every figure where nanoseconds stand. Only for code that has seen to it that all lists have one
    /// unit, and that says which.
    pub fn unlabelled(&self) -> Self {
        if self.unit.is_usual() {
            return self.clone();
        }
        Self { prices: self.prices.iter().map(Price::unlabelled).collect(), ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{list, row, samples};
    use super::*;

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
        assert!(projected.machines[0].not_measured[0].why.contains("instructions"));
        let mut mixed = list.clone();
        mixed.prices[0].median_ns = Some(3.0);
        assert!(mixed.validate().is_err());
    }
}
