//! A price list on the screen: sentences, a table with bars and receipts for each group, what has no price and why.

use whyfaster_core::price::{Inside, Price, PriceList, Unit};
use whyfaster_core::record::Status;
use whyfaster_probe::Probe;

use super::grid::{ABSENT, Column, Drawn, Grid, Group};
use super::look::Look;
use super::price_sentences::sentences;
use super::text::{Tone, finish, for_look, tone, width, wrap, wrap_indented};
use super::units::{count, digits, duration, percent, price, price_tick};

/// Cells of a bar at most, and what makes a chart worth its lines.
const BAR: usize = 48;
const LEAST_BAR: usize = 8;
/// Columns of a value beside its bar.
const VALUE: usize = 8;

/// The report.
pub fn report(list: &PriceList, look: &Look) -> String {
    // From here on every figure says its unit by the look.
    let look = &Look { price_unit: list.unit, ..look.clone() };
    let list = &list.unlabelled();
    let mut lines = head(list, look);
    for sentence in sentences(list, look) {
        lines.extend(wrap(&sentence, look.width, 0));
    }
    for group in groups(list) {
        let rows: Vec<&Price> =
            list.prices.iter().filter(|p| p.group == group && p.not_measured.is_none()).collect();
        if rows.is_empty() {
            continue;
        }
        lines.push(String::new());
        lines.push(tone(Tone::Strong, &for_look(group, look)));
        let Drawn { lines: table, left_out } = grid(&rows, look).draw(look.width, 1);
        lines.extend(table);
        if !left_out.is_empty() {
            let missing = format!("(no room for: {}; --json has everything)", left_out.join(", "));
            lines.extend(wrap_indented(&tone(Tone::Quiet, &missing), look.width, 2));
        }
    }
    if list.prices.iter().any(|price| price.not_measured.is_none()) {
        lines.extend(wrap(&tone(Tone::Quiet, &legend(list, look)), look.width, 2));
    }
    lines.extend(chart(list, look));
    lines.extend(without_price(list, look));
    lines.extend(foot(list, look));
    lines.push(String::new());
    finish(&lines.join("\n"), look.color)
}

fn head(list: &PriceList, look: &Look) -> Vec<String> {
    let priced = list.prices.iter().filter(|price| price.not_measured.is_none()).count();
    let repetitions = list.prices.iter().map(|price| price.repetitions).max().unwrap_or(0);
    let state = match list.status {
        Status::Complete => "",
        Status::Interrupted => "; partial: it was interrupted",
        Status::Failed => "; partial: an error ended it",
    };
    let title = format!(
        "{}: {priced} of {} rows have a price, from {repetitions} repetitions in {}{state}.",
        for_look(&list.name, look),
        list.prices.len(),
        duration(list.took_s)
    );
    wrap(&tone(Tone::Strong, &title), look.width, 0)
}

/// What the columns of the tables are.
fn legend(list: &PriceList, look: &Look) -> String {
    let plus_minus = if look.unicode { "±" } else { "+/-" };
    let confidence = percent(list.confidence);
    let unit = match list.unit {
        Unit::Nanoseconds => "",
        Unit::GuestInstructions => ", in instructions of the guest",
    };
    format!(
        "typical: median{unit}; {plus_minus}: how far its {confidence} interval reaches; floor: 5th percentile; receipt: voluntary \
         switches / system calls / changes of CPU, each per operation; samples: kept / taken; '-': not measured"
    )
}

/// The groups in the order of the list.
fn groups(list: &PriceList) -> Vec<&str> {
    let mut groups: Vec<&str> = Vec::new();
    for price in &list.prices {
        if !groups.contains(&price.group.as_str()) {
            groups.push(&price.group);
        }
    }
    groups
}

fn ns(value: Option<f64>, look: &Look) -> String {
    value.map_or_else(|| ABSENT.to_owned(), |ns| price(ns, look))
}

/// A count an operation, to hundredths: less is noise of the batch's ends.
fn per_operation(value: Option<f64>) -> String {
    let short = |value: f64, places: usize| {
        let text = format!("{value:.places$}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    match value {
        None => ABSENT.to_owned(),
        Some(value) if value < 9.995 => short(value, 2),
        Some(value) if value < 999.5 => short(value, 1),
        Some(value) => count(value),
    }
}

/// How far the interval reaches from the typical cost, on its longer side, as a share of it.
fn reach(price: &Price) -> String {
    let reach = |low: f64, high: f64, typical: f64| (high - typical).max(typical - low) / typical;
    match (price.low_ns, price.high_ns, price.typical_ns()) {
        (Some(low), Some(high), Some(typical)) if typical > 0.0 => percent(reach(low, high, typical)),
        _ => ABSENT.to_owned(),
    }
}

/// A line of a table: the name above the rows of a probe, or a row.
#[derive(Clone, Copy)]
enum Line<'a> {
    Name(&'a str),
    Row(&'a Price),
}

/// Widest first column that leaves room for all others on a screen of 80 columns.
const WIDEST: usize = 28;

/// The table of a group. Where name and variant are long, the name stands on a line of its own above the variants.
fn grid(rows: &[&Price], look: &Look) -> Grid {
    let flat = |p: &Price| for_look(&format!("{} {}", p.name, p.variant), look);
    let nested = rows.iter().any(|price| width(&flat(price)) > WIDEST);
    let mut lines: Vec<Line<'_>> = Vec::new();
    for (at, price) in rows.iter().enumerate() {
        if nested && (at == 0 || rows[at - 1].name != price.name) {
            lines.push(Line::Name(&price.name));
        }
        lines.push(Line::Row(price));
    }
    let column = |header: &str, name: &dyn Fn(&str) -> String, cell: &dyn Fn(&Price) -> String| {
        let cells = lines.iter().map(|line| match line {
            Line::Name(text) => name(text),
            Line::Row(price) => cell(price),
        });
        Column::new(header, cells.collect())
    };
    let number = |header: &str, cell: &dyn Fn(&Price) -> String| column(header, &|_| String::new(), cell);
    let receipt = |p: &Price| {
        let receipt = &p.receipt;
        [receipt.switches, receipt.syscalls, receipt.migrations].map(per_operation).join("/")
    };
    let samples = |p: &Price| format!("{}/{}", p.samples, p.samples + p.rejected.total());
    let plus_minus = if look.unicode { "±" } else { "+/-" };
    let groups = vec![
        Group::new(
            "typical",
            vec![number("typical", &|p| ns(p.typical_ns(), look)), number(plus_minus, &reach)],
        ),
        Group::new("receipts", vec![number("receipt", &receipt)]),
        Group::new("floor", vec![number("floor", &|p| ns(p.floor_ns, look))]),
        Group::new("tail", vec![number("p99", &|p| ns(p.p99_ns, look))]),
        Group::new("samples", vec![number("samples", &samples)]),
    ];
    let key = if nested {
        let indented = |p: &Price| format!("  {}", for_look(&p.variant, look));
        column("operation", &|name| for_look(name, look), &indented)
    } else {
        column("operation", &|_| String::new(), &flat)
    };
    Grid { key, groups }
}

/// One bar a probe, by the variant that stands for it, on one logarithmic axis.
fn chart(list: &PriceList, look: &Look) -> Vec<String> {
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
        lines.push(format!("  {text}{pad}  {} {}", scale.bar(value, cells, look), ns(Some(value), look)));
    }
    lines
}

/// A logarithmic axis over all prices of the list.
#[derive(Clone, Copy, Debug, PartialEq)]
struct BarScale {
    low: f64,
    high: f64,
}

impl BarScale {
    /// From the power of ten below the least price to the one above the largest.
    fn over(prices: &[Price]) -> Option<Self> {
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

    fn bar(&self, ns: f64, all: usize, look: &Look) -> String {
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

/// The rows without a price, by their reason.
fn without_price(list: &PriceList, look: &Look) -> Vec<String> {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for price in &list.prices {
        let Some(why) = price.not_measured.as_deref() else { continue };
        match reasons.iter_mut().find(|(known, _)| *known == why) {
            Some((_, rows)) => rows.push(price.id()),
            None => reasons.push((why, vec![price.id()])),
        }
    }
    if reasons.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![String::new(), tone(Tone::Unsure, "without a price")];
    for (why, rows) in reasons {
        let text = for_look(&format!("{}: {why}", rows.join(" ")), look);
        lines.extend(wrap_indented(&text, look.width, 2));
    }
    lines
}

/// Where the worker ran.
fn place(inside: &Inside) -> String {
    let mut text = format!("measured inside: {}", inside.mechanism);
    if let Some(version) = &inside.version {
        text.push_str(&format!(" ({version})"));
    }
    if let (Some(kernel), Some(machine)) = (&inside.kernel, &inside.machine) {
        text.push_str(&format!("; the kernel calls itself {kernel} on {machine}"));
    }
    if let Some(calibration) = inside.calibration {
        text.push_str(&format!("; calibration: a loop of 2 instructions was counted as {calibration:.3}"));
    }
    text
}

fn foot(list: &PriceList, look: &Look) -> Vec<String> {
    let mut lines = vec![String::new()];
    let rejected: u64 = list.prices.iter().map(|price| price.rejected.total()).sum();
    let kept: u64 = list.prices.iter().map(|price| price.samples).sum();
    let share = rejected as f64 / (rejected + kept).max(1) as f64;
    let left_out = format!(
        "{rejected} of {} samples were disturbed and left out ({}).",
        rejected + kept,
        percent(share)
    );
    lines.extend(wrap(&left_out, look.width, 2));
    if let Some(inside) = &list.inside {
        lines.extend(wrap(&for_look(&place(inside), look), look.width, 2));
    }
    let known = list.fingerprint.known();
    let facts: Vec<String> = known.iter().map(|(name, value)| format!("{name} {value}")).collect();
    lines.extend(wrap(&for_look(&facts.join("; "), look), look.width, 2));
    // One reason often stands for several facts.
    let mut unknown: Vec<(Option<&str>, Vec<&str>)> = Vec::new();
    for (name, why) in list.fingerprint.unknown() {
        match unknown.iter_mut().find(|(known, _)| *known == why) {
            Some((_, names)) => names.push(name),
            None => unknown.push((why, vec![name])),
        }
    }
    let unknown: Vec<String> = unknown
        .iter()
        .map(|(why, names)| match why {
            Some(why) => format!("{} ({why})", names.join(", ")),
            None => names.join(", "),
        })
        .collect();
    if !unknown.is_empty() {
        let text = format!("not known: {}", unknown.join("; "));
        lines.extend(wrap(&for_look(&text, look), look.width, 2));
    }
    let steal = list.fingerprint.steal_during.map_or_else(|| "not measured".to_owned(), percent);
    lines.push(format!("steal during the run: {steal}"));
    for warning in &list.warnings {
        let text = format!("warning: {}; {}", warning.what, warning.remedy);
        lines.extend(wrap(&tone(Tone::Unsure, &for_look(&text, look)), look.width, 2));
    }
    for missing in &list.not_measured {
        let text = format!("not measured: {}: {}", missing.what, missing.why);
        lines.extend(wrap(&for_look(&text, look), look.width, 2));
    }
    lines
}

/// The prices as comma-separated values, nanoseconds; what is not there is empty.
pub fn csv(list: &PriceList) -> anyhow::Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record([
        "group",
        "name",
        "variant",
        "unit",
        "floor_ns",
        "median_ns",
        "p99_ns",
        "low_ns",
        "high_ns",
        "mean_ns",
        "switches",
        "syscalls",
        "migrations",
        "samples",
        "rejected",
        "not_measured",
        "floor_instructions",
        "median_instructions",
        "p99_instructions",
    ])?;
    let number = |value: Option<f64>| value.map_or_else(String::new, |v| v.to_string());
    for price in &list.prices {
        let text = [&price.group, &price.name, &price.variant, &price.unit].map(Clone::clone);
        let times =
            [price.floor_ns, price.median_ns, price.p99_ns, price.low_ns, price.high_ns, price.mean_ns];
        let receipt = &price.receipt;
        let counts = [receipt.switches, receipt.syscalls, receipt.migrations];
        let mut row: Vec<String> = text.to_vec();
        row.extend(times.into_iter().chain(counts).map(number));
        row.extend([price.samples.to_string(), price.rejected.total().to_string()]);
        row.push(price.not_measured.clone().unwrap_or_default());
        let figures = price.instructions.unwrap_or_default();
        row.extend([figures.floor, figures.median, figures.p99].map(number));
        writer.write_record(row)?;
    }
    Ok(writer.into_inner()?)
}

/// The probes, for `--list`.
pub fn probes(probes: &[Probe], look: &Look) -> String {
    let mut lines = Vec::new();
    for group in crate::run::probe::select::GROUPS {
        let here: Vec<&Probe> = probes.iter().filter(|probe| probe.group == group).collect();
        let column = |header: &str, cell: &dyn Fn(&Probe) -> String| {
            Column::new(header, here.iter().map(|probe| cell(probe)).collect())
        };
        let grid = Grid {
            key: column(group, &|p| p.name.clone()),
            groups: vec![
                Group::new("unit", vec![column("one operation", &|p| p.unit.clone())]),
                Group::new("variants", vec![column("variants", &|p| p.variants.join(" "))]),
                Group::new("needs", vec![column("needs", &|p| p.needs.clone())]),
                Group::new(
                    "system",
                    vec![column("system", &|p| {
                        if p.portable { "any Unix" } else { "one system" }.to_owned()
                    })],
                ),
            ],
        };
        lines.extend(grid.draw(look.width, 1).lines);
        lines.push(String::new());
    }
    lines.push(
        "whyfaster prices --explain NAME prints the page of a probe, --source NAME its C source.".to_owned(),
    );
    lines.push(String::new());
    finish(&lines.join("\n"), look.color)
}

#[cfg(test)]
#[path = "prices_tests.rs"]
mod tests;
