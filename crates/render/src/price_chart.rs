//! All prices of a list as bars on one logarithmic axis.

use whyfaster_core::price::{Price, PriceList};
use whyfaster_words::look::Look;
use whyfaster_words::text::{Tone, for_look, tone, width, wrap};
use whyfaster_words::units::{digits, price_or_absent, price_tick};

/// Cells of a bar at most, and what makes a chart worth its lines.
const BAR: usize = 48;
const LEAST_BAR: usize = 8;
/// Columns of a value beside its bar.
const VALUE: usize = 8;

/// One bar a probe, by the variant that stands for it, on one logarithmic axis.
pub(super) fn chart(list: &PriceList, look: &Look) -> Vec<String> {
    let mut lines = bars(list, &standing(list), false, look);
    if !lines.is_empty() {
        lines.insert(0, String::new());
    }
    lines
}

/// The price that stands for each probe.
pub(super) fn standing(list: &PriceList) -> Vec<&Price> {
    let mut names: Vec<&str> = Vec::new();
    for price in &list.prices {
        if !names.contains(&price.name.as_str()) {
            names.push(&price.name);
        }
    }
    let stands = |name: &str| {
        let first = || list.prices.iter().find(|p| p.name == name && p.is_measured());
        list.find(name, None).filter(|p| p.is_measured()).or_else(first)
    };
    names.into_iter().filter_map(stands).collect()
}

/// Bars on one logarithmic axis over all prices, with the group above the rows of each where that is asked for; none for fewer than
/// two rows, or without room.
pub(super) fn bars(list: &PriceList, rows: &[&Price], grouped: bool, look: &Look) -> Vec<String> {
    let Some(scale) = BarScale::over(&list.prices) else { return Vec::new() };
    let label = |price: &Price| for_look(&format!("{} {}", price.name, price.variant), look);
    let name = rows.iter().map(|price| width(&label(price))).max().unwrap_or(0);
    let cells = look.width.saturating_sub(name + 4 + VALUE).min(BAR);
    if rows.len() < 2 || cells < LEAST_BAR {
        return Vec::new();
    }
    let axis = format!(
        "all on one logarithmic axis: {} to {}, every cell {} times the one before",
        scale.low_text(look),
        scale.high_text(look),
        digits(scale.step(cells))
    );
    let mut lines: Vec<String> = wrap(&tone(Tone::Strong, &axis), look.width, 2).into_iter().collect();
    let mut group = None;
    for price in rows {
        let Some(value) = price.typical_ns() else { continue };
        if grouped && group.replace(&price.group) != Some(&price.group) {
            lines.push(tone(Tone::Strong, &for_look(&price.group, look)));
        }
        let text = label(price);
        let pad = " ".repeat(name - width(&text));
        let bar = scale.bar(value, cells, look);
        lines.push(format!("  {text}{pad}  {bar} {}", price_or_absent(Some(value), look)));
    }
    lines
}

/// A logarithmic axis over all prices of the list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct BarScale {
    pub(super) low: f64,
    pub(super) high: f64,
}

impl BarScale {
    /// From the power of ten below the least price to the one above the largest.
    pub(super) fn over(prices: &[Price]) -> Option<Self> {
        let values = prices.iter().filter_map(Price::typical_ns).filter(|ns| (1e-3..1e15).contains(ns));
        let (low, high) =
            values.fold((f64::INFINITY, 0.0_f64), |(low, high), ns| (low.min(ns), high.max(ns)));
        (low <= high).then(|| Self {
            low: 10f64.powf(low.log10().floor()),
            high: 10f64.powf((high.log10() + 1e-9).ceil()).max(10f64.powf(low.log10().floor() + 1.0)),
        })
    }

    fn step(&self, cells: usize) -> f64 {
        (self.high / self.low).powf(1.0 / cells as f64)
    }

    pub(super) fn bar(&self, ns: f64, all: usize, look: &Look) -> String {
        let place = (ns / self.low).ln() / (self.high / self.low).ln();
        let cells = (place.clamp(0.0, 1.0) * all as f64).round() as usize;
        let full = if look.unicode { "█" } else { "#" };
        full.repeat(cells.max(1))
    }

    fn low_text(&self, look: &Look) -> String {
        price_tick(self.low, self.high - self.low, look)
    }

    fn high_text(&self, look: &Look) -> String {
        price_tick(self.high, self.high - self.low, look)
    }
}
