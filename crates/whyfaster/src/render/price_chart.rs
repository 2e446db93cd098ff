//! All prices of a list as bars on one logarithmic axis.

use whyfaster_core::price::{Price, PriceList};

use super::look::Look;
use super::text::{Tone, for_look, tone, width, wrap};
use super::units::{digits, price_or_absent, price_tick};

/// Cells of a bar at most, and what makes a chart worth its lines.
const BAR: usize = 48;
const LEAST_BAR: usize = 8;
/// Columns of a value beside its bar.
const VALUE: usize = 8;

/// One bar a probe, by the variant that stands for it, on one logarithmic axis.
pub(super) fn chart(list: &PriceList, look: &Look) -> Vec<String> {
    let Some(scale) = BarScale::over(&list.prices) else { return Vec::new() };
    let mut seen: Vec<&str> = Vec::new();
    let mut rows: Vec<(String, f64)> = Vec::new();
    for price in &list.prices {
        if seen.contains(&price.name.as_str()) {
            continue;
        }
        seen.push(&price.name);
        let stands = list.find(&price.name, None).filter(|p| p.not_measured.is_none());
        let first = || list.prices.iter().find(|p| p.name == price.name && p.not_measured.is_none());
        if let Some(found) = stands.or_else(first)
            && let Some(ns) = found.typical_ns()
        {
            rows.push((for_look(&format!("{} {}", found.name, found.variant), look), ns));
        }
    }
    let name = rows.iter().map(|(name, _)| width(name)).max().unwrap_or(0);
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
    let mut lines = vec![String::new()];
    lines.extend(wrap(&tone(Tone::Strong, &axis), look.width, 2));
    for (text, value) in rows {
        let pad = " ".repeat(name - width(&text));
        lines.push(format!(
            "  {text}{pad}  {} {}",
            scale.bar(value, cells, look),
            price_or_absent(Some(value), look)
        ));
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
        price_tick(self.low, look)
    }

    fn high_text(&self, look: &Look) -> String {
        price_tick(self.high, look)
    }
}
