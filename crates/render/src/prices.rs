//! A price list on the screen: sentences, a table with bars and receipts for each group, what has no price and why.

use whyfaster_core::price::{Inside, Price, PriceList, Unit};
use whyfaster_core::status::Status;
use whyfaster_probe::{GROUPS, Probe};
use whyfaster_words::display::Detail;
use whyfaster_words::grid::{ABSENT, Column, Drawn, Grid, Group, or_absent};
use whyfaster_words::look::Look;
use whyfaster_words::phrases;
use whyfaster_words::text::{Tone, finish, for_look, tone, width, wrap, wrap_indented};
use whyfaster_words::units::{count, duration, percent, price_or_absent};

use super::first;
use super::names::Names;
use super::notes;
use super::price_chart::{bars, chart, standing};
use super::price_sentences::sentences;
use super::section::{by_reason, no_room, paragraphs};

/// The report.
pub fn report(list: &PriceList, look: &Look) -> String {
    // From here on every figure says its unit by the look.
    let look = &Look { price_unit: list.unit, ..look.clone() };
    let list = &list.unlabelled();
    let mut lines = head(list, look);
    match look.detail {
        Detail::Sentence => return paragraphs([lines], look),
        Detail::Screen => return paragraphs(first_screen(lines, list, look), look),
        Detail::Tables | Detail::Everything => {}
    }
    for sentence in sentences(list, look) {
        lines.extend(wrap(&sentence, look.width, 0));
    }
    for group in groups(list) {
        let rows: Vec<&Price> = list.prices.iter().filter(|p| p.group == group && p.is_measured()).collect();
        if rows.is_empty() {
            continue;
        }
        lines.push(String::new());
        lines.push(tone(Tone::Strong, &for_look(group, look)));
        let Drawn { lines: table, left_out, .. } = grid(&rows, look).draw(look.width, blocks(&rows));
        lines.extend(table);
        lines.extend(no_room(&left_out, look));
    }
    if list.prices.iter().any(|price| price.is_measured()) {
        lines.extend(wrap(&tone(Tone::Quiet, &legend(list, look)), look.width, 2));
    }
    lines.extend(chart(list, look));
    lines.extend(without_price(list, look));
    lines.extend(foot(list, look));
    lines.push(String::new());
    finish(&lines.join("\n"), look.color)
}

/// Lines of the first screen.
const LINES: usize = first::LONG;
/// Lines in which a list is summed up.
const SENTENCES: usize = 6;
/// Rows of the first screen.
const ROWS: usize = 20;

/// What people ask for first, where a list has more than a screen shows.
const ASKED: [&str; ROWS] = [
    "getppid",
    "clock_gettime",
    "read",
    "write",
    "open_close",
    "stat",
    "sched_yield",
    "fork",
    "vfork",
    "posix_spawn",
    "fork+execve",
    "newthread",
    "pipe",
    "cond",
    "futex",
    "pipe_latency",
    "pipe_bandwidth",
    "switch",
    "mutex",
    "fault",
];

/// The first screen: what the list is, what casts doubt on it, what it says, and a bar for each row that people ask for.
fn first_screen(mut head: Vec<String>, list: &PriceList, look: &Look) -> Vec<Vec<String>> {
    let measured: Vec<&Price> = list.prices.iter().filter(|price| price.is_measured()).collect();
    let of_probes = standing(list);
    let mut rows = match (measured.len() <= ROWS, of_probes.len() <= ROWS) {
        (true, _) => measured,
        (false, true) => of_probes,
        (false, false) => of_probes.into_iter().filter(|it| ASKED.contains(&it.name.as_str())).collect(),
    };
    let shown = rows.len();
    let names = Names::of(&[], look);
    let missing = list.prices.iter().filter(|price| !price.is_measured()).count();
    head.extend(notes::doubts(&list.warnings, &list.not_measured, &names, look, 4));
    let mut said: Vec<String> = Vec::new();
    for sentence in sentences(list, look) {
        let lines = wrap(&sentence, look.width, 0);
        if said.len() + lines.len() <= SENTENCES {
            said.extend(lines);
        }
    }
    let mut left: Vec<String> = Vec::new();
    if shown == 0 {
        left.extend(without_price(list, look).into_iter().filter(|line| !line.is_empty()).take(SENTENCES));
    } else if missing > 0 {
        let rows = phrases::count(missing as u64, "row has", "rows have");
        left.extend(wrap(&format!("{rows} no price here; -v says why"), look.width, 2));
    }
    let more = first::more(look);
    let taken = head.len() + said.len() + left.len() + more.len() + 4;
    let room = LINES.saturating_sub(taken);
    let mut drawn = bars(list, &rows, true, look);
    while drawn.len() > room && rows.pop().is_some() {
        drawn = bars(list, &rows, true, look);
    }
    // One row alone makes no picture.
    if let ([only], true) = (rows.as_slice(), drawn.is_empty()) {
        drawn = grid(&[*only], look).draw(look.width, 1).lines;
    }
    vec![head, said, drawn, left, more]
}

pub(super) fn head(list: &PriceList, look: &Look) -> Vec<String> {
    let priced = list.prices.iter().filter(|price| price.is_measured()).count();
    let repetitions = list.prices.iter().map(|price| price.repetitions).max().unwrap_or(0);
    let state = match list.status {
        Status::Complete => "",
        Status::Interrupted => "; partial: it was interrupted",
        Status::Failed => "; partial: an error ended it",
    };
    let title = format!(
        "{}: {priced} of {} rows have a price, from {repetitions} repetition{} in {}{state}.",
        for_look(&list.name, look),
        list.prices.len(),
        if repetitions == 1 { "" } else { "s" },
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
        "typical: median{unit}; {plus_minus}: how far its {confidence} interval reaches; floor: 5th percentile; receipt: voluntary + \
         involuntary switches / system calls / changes of CPU, each per operation; placed: samples whose two sides ran on different CPUs; \
         samples: kept / taken; '-': not measured"
    )
}

/// The groups in the order of the list.
pub(super) fn groups(list: &PriceList) -> Vec<&str> {
    let mut groups: Vec<&str> = Vec::new();
    for price in &list.prices {
        if !groups.contains(&price.group.as_str()) {
            groups.push(&price.group);
        }
    }
    groups
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

/// How far the interval reaches from the typical cost, on its longer side, as a share of it; both ends where that is more than
/// the whole cost, for then a share says little.
fn reach(price: &Price, look: &Look) -> String {
    let (Some(low), Some(high), Some(typical)) = (price.low_ns, price.high_ns, price.typical_ns()) else {
        return ABSENT.to_owned();
    };
    let reach = (high - typical).max(typical - low) / typical;
    match typical > 0.0 {
        true if reach <= 1.0 => percent(reach),
        _ => format!("{} to {}", price_or_absent(Some(low), look), price_or_absent(Some(high), look)),
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
pub(super) fn grid(rows: &[&Price], look: &Look) -> Grid {
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
        let switches = [receipt.switches, receipt.involuntary].map(per_operation).join("+");
        [switches, per_operation(receipt.syscalls), per_operation(receipt.migrations)].join("/")
    };
    let samples = |p: &Price| format!("{}/{}", p.samples, p.samples + p.rejected.total());
    let plus_minus = if look.unicode { "±" } else { "+/-" };
    let groups = vec![
        Group::new(
            "typical",
            vec![
                number("typical", &|p| price_or_absent(p.typical_ns(), look)),
                number(plus_minus, &|p| reach(p, look)),
            ],
        ),
        Group::new("receipts", vec![number("receipt", &receipt)]),
        Group::new("floor", vec![number("floor", &|p| price_or_absent(p.floor_ns, look))]),
        Group::new("tail", vec![number("p99", &|p| price_or_absent(p.p99_ns, look))]),
        Group::new("samples", vec![number("samples", &samples)]),
    ];
    let mut groups = groups;
    groups.splice(2..2, extra(rows, &number));
    let key = if nested {
        let indented = |p: &Price| format!("  {}", for_look(&p.variant, look));
        column("operation", &|name| for_look(name, look), &indented)
    } else {
        column("operation", &|_| String::new(), &flat)
    };
    Grid { key, groups }
}

/// A group with columns of its own finds room for them in a second table.
fn blocks(rows: &[&Price]) -> usize {
    let own = rows.iter().any(|p| p.bytes_per_s.is_some() || p.receipt.apart.is_some());
    if own { 2 } else { 1 }
}

/// What a column shows of a price.
type Cell<'a> = &'a dyn Fn(&Price) -> String;

/// Columns that only some groups have: where the scheduler put the two sides of a hand-over, and bytes a second.
fn extra(rows: &[&Price], number: &dyn Fn(&str, Cell<'_>) -> Column) -> Vec<Group> {
    let free = |p: &Price| p.variant.split(',').any(|part| part == "free");
    let placed = |p: &Price| match p.receipt.apart.filter(|_| free(p)) {
        Some(share) => format!("{} apart", percent(share)),
        None => ABSENT.to_owned(),
    };
    let rate = |p: &Price| or_absent(p.bytes_per_s, |rate| format!("{}B/s", count(rate)));
    let mut groups = Vec::new();
    if rows.iter().any(|p| free(p) && p.receipt.apart.is_some()) {
        groups.push(Group::new("placed", vec![number("placed", &placed)]));
    }
    if rows.iter().any(|p| p.bytes_per_s.is_some()) {
        groups.insert(0, Group::new("bytes a second", vec![number("rate", &rate)]));
    }
    groups
}

/// The rows without a price, by their reason.
fn without_price(list: &PriceList, look: &Look) -> Vec<String> {
    let unpriced = list.prices.iter().filter_map(|it| Some((it.not_measured.as_deref()?, it.id())));
    let reasons = by_reason(unpriced);
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

/// The parameters of a probe that `--all` varies.
fn parameters(probe: &Probe) -> String {
    let keys: Vec<&str> = probe.parameters.iter().map(|parameter| parameter.key.as_str()).collect();
    if keys.is_empty() { ABSENT.to_owned() } else { keys.join(" ") }
}

/// The probes, for `--list`.
pub fn probes(probes: &[Probe], look: &Look) -> String {
    let mut lines = Vec::new();
    for group in GROUPS {
        let here: Vec<&Probe> = probes.iter().filter(|probe| probe.group == group).collect();
        let column = |header: &str, cell: &dyn Fn(&Probe) -> String| {
            Column::new(header, here.iter().map(|probe| cell(probe)).collect())
        };
        let grid = Grid {
            key: column(group, &|p| p.name.clone()),
            groups: vec![
                Group::new("unit", vec![column("one operation", &|p| p.unit.clone())]),
                Group::new("variants", vec![column("variants", &|p| p.variants.join(" "))]),
                Group::new("parameters", vec![column("parameters", &parameters)]),
                Group::new("needs", vec![column("needs", &|p| p.needs.clone())]),
                Group::new(
                    "system",
                    vec![column("system", &|p| if p.portable { "any Unix" } else { "Linux" }.to_owned())],
                ),
            ],
        };
        let Drawn { lines: table, left_out, .. } = grid.draw(look.width, 2);
        lines.extend(table);
        if !left_out.is_empty() {
            let missing = format!("(no room for: {}; a wider screen shows them)", left_out.join(", "));
            lines.extend(wrap_indented(&tone(Tone::Quiet, &missing), look.width, 2));
        }
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
pub(super) mod tests;
