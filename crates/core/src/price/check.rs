//! Whether a price list that was read can be believed to be one. It may come from anywhere: every number is checked that
//! the rest of this module relies on, and every size is bounded.

use std::collections::BTreeSet;

use super::clean::Rejected;
use super::handing::Handing;
use super::inside::{Figures, Unit};
use super::list::{Price, PriceList, SCHEMA};
use super::sample::{Range, Row, Series};
pub use crate::validate::Invalid;
use crate::validate::{MAX_COUNT, amount, ensure};

/// Most rows of a list. A full sweep has some hundreds.
pub const MAX_ROWS: usize = 20_000;
/// Most series: rows times repetitions.
pub const MAX_SERIES: usize = 500_000;
/// Most samples of all series together.
pub const MAX_SAMPLES: usize = 20_000_000;
/// Longest text, bytes.
const MAX_TEXT: usize = 4096;
/// Longest time of a batch or an operation, nanoseconds: some thirty years.
const MAX_NS: f64 = 1e18;

impl PriceList {
    /// Checks everything that repricing, comparing and rendering rely on.
    pub fn validate(&self) -> Result<(), Invalid> {
        if self.schema != SCHEMA {
            return Err(Invalid::schema(&self.schema, SCHEMA));
        }
        for (place, text) in
            [("name", &self.name), ("started", &self.started), ("tool_version", &self.tool_version)]
        {
            short(text, || place.to_owned())?;
        }
        amount(self.took_s, || "took_s".to_owned())?;
        self.handing.as_ref().map_or(Ok(()), check_handing)?;
        if let Some(inside) = &self.inside {
            let place = || "inside".to_owned();
            let told = [&inside.version, &inside.kernel, &inside.machine].into_iter().flatten();
            for text in told.chain([&inside.kind, &inside.mechanism]) {
                short(text, place)?;
            }
            amount(inside.calibration.unwrap_or(0.0), place)?;
        }
        let confident = self.confidence > 0.0 && self.confidence < 1.0;
        ensure(
            confident,
            || "confidence".to_owned(),
            format_args!("{} is not between 0 and 1", self.confidence),
        )?;
        let during = [self.fingerprint.steal_during, self.fingerprint.others_during];
        for share in during.into_iter().flatten() {
            ensure(share.is_finite(), || "fingerprint".to_owned(), format_args!("{share} is no share"))?;
        }
        if let Some(clock) = &self.clock {
            for value in [clock.resolution_ns, clock.cost_ns, clock.tsc_hz].into_iter().flatten() {
                nanoseconds(value, || "clock".to_owned())?;
            }
        }
        ensure(self.prices.len() <= MAX_ROWS, || "prices".to_owned(), "there are too many")?;
        ensure(self.rows.len() <= MAX_ROWS, || "rows".to_owned(), "there are too many")?;
        let mut seen = BTreeSet::new();
        for (i, price) in self.prices.iter().enumerate() {
            let place = || format!("prices[{i}]");
            check_price(price, place)?;
            check_unit(price, self.unit, place)?;
            ensure(seen.insert((&price.name, &price.variant)), place, "the same name and variant twice")?;
        }
        self.check_samples()
    }

    fn check_samples(&self) -> Result<(), Invalid> {
        let mut seen = BTreeSet::new();
        for (i, row) in self.rows.iter().enumerate() {
            let place = || format!("rows[{i}]");
            check_row(row, place)?;
            ensure(seen.insert((&row.name, &row.variant)), place, "the same name and variant twice")?;
        }
        ensure(self.samples.len() <= MAX_SERIES, || "samples".to_owned(), "there are too many series")?;
        let all: usize = self.samples.iter().map(Series::len).sum();
        ensure(all <= MAX_SAMPLES, || "samples".to_owned(), "there are too many")?;
        let mut seen = BTreeSet::new();
        for (i, series) in self.samples.iter().enumerate() {
            let place = || format!("samples[{i}]");
            ensure(series.row < self.rows.len(), place, "there is no such row")?;
            ensure(seen.insert((series.row, series.repetition)), place, "the same row and repetition twice")?;
            check_series(series, place)?;
        }
        Ok(())
    }
}

fn check_handing(handing: &Handing) -> Result<(), Invalid> {
    let place = || "handing".to_owned();
    ensure(handing.share > 0.0 && handing.share < 1.0, place, "the share is not between 0 and 1")?;
    ensure(handing.lengths_ms.is_sorted(), place, "the lengths do not rise")?;
    ensure(handing.lengths_ms.len() <= 64 && handing.engines.len() <= 1000, place, "there are too many")?;
    for threshold in &handing.thresholds {
        let values = [Some(threshold.typical_s), threshold.low_s, threshold.high_s];
        values.into_iter().flatten().try_for_each(|value| amount(value, place))?;
    }
    Ok(())
}

fn short(text: &str, place: impl FnOnce() -> String) -> Result<(), Invalid> {
    ensure(text.len() <= MAX_TEXT, place, "the text is too long")
}

fn nanoseconds(value: f64, place: impl FnOnce() -> String) -> Result<(), Invalid> {
    ensure((0.0..=MAX_NS).contains(&value), place, format_args!("{value} is no time in nanoseconds"))
}

fn check_price(price: &Price, place: impl Fn() -> String) -> Result<(), Invalid> {
    ensure(!price.name.is_empty(), &place, "the name is empty")?;
    let why = price.not_measured.as_deref().unwrap_or_default();
    for text in [&price.group, &price.name, &price.variant, &price.unit, why] {
        short(text, &place)?;
    }
    let times = [
        price.floor_ns,
        price.median_ns,
        price.p99_ns,
        price.low_ns,
        price.high_ns,
        price.mean_ns,
        price.fixed_ns,
    ];
    for value in times.into_iter().flatten() {
        nanoseconds(value, &place)?;
    }
    for value in [price.fixed_low_ns, price.fixed_high_ns].into_iter().flatten() {
        ensure(value.abs() <= MAX_NS, &place, format_args!("{value} is no time in nanoseconds"))?;
    }
    let ordered = price.low_ns.zip(price.high_ns).is_none_or(|(low, high)| low <= high);
    ensure(ordered, &place, "the interval is upside down")?;
    let receipt = &price.receipt;
    let counts =
        [receipt.switches, receipt.involuntary, receipt.syscalls, receipt.migrations, receipt.batch_ticks];
    for value in counts.into_iter().chain([receipt.apart, receipt.bytes, price.bytes_per_s]).flatten() {
        nanoseconds(value, &place)?;
    }
    let Rejected { involuntary, migration, delay, steal } = price.rejected;
    let counts = [price.samples, price.repetitions, involuntary, migration, delay, steal];
    ensure(counts.iter().all(|count| *count <= MAX_COUNT), &place, "a count is absurd")?;
    if let Some(given) = price.given {
        amount(given.seconds, &place)?;
        ensure(given.operations >= 1.0 && given.operations <= MAX_NS, &place, "there are no operations")?;
    }
    let told = price.typical().is_some() == price.is_measured();
    ensure(told, place, "a price and the reason why there is none exclude each other, and one is needed")
}

/// A price in another unit than its list would be read as what it is not.
fn check_unit(price: &Price, unit: Unit, place: impl Fn() -> String) -> Result<(), Invalid> {
    for value in price.instructions.iter().flat_map(Figures::amounts).flatten() {
        ensure((0.0..=MAX_NS).contains(&value), &place, format_args!("{value} is no count"))?;
    }
    for value in price.instructions.iter().flat_map(|f| [f.fixed_low, f.fixed_high]).flatten() {
        ensure(value.abs() <= MAX_NS, &place, format_args!("{value} is no count"))?;
    }
    let ordered = price.figures().low.zip(price.figures().high).is_none_or(|(low, high)| low <= high);
    ensure(ordered, &place, "the interval is upside down")?;
    let mixed = match unit {
        Unit::Nanoseconds => price.instructions.is_some(),
        Unit::GuestInstructions => {
            let times = [price.typical_ns(), price.fixed_ns, price.fixed_low_ns, price.fixed_high_ns];
            times.into_iter().chain([price.bytes_per_s]).any(|time| time.is_some())
        }
    };
    ensure(!mixed, place, "its unit is not that of the list")
}

fn check_row(row: &Row, place: impl Fn() -> String) -> Result<(), Invalid> {
    ensure(!row.name.is_empty(), &place, "the name is empty")?;
    let why = row.unavailable.as_deref().unwrap_or_default();
    for text in [&row.group, &row.name, &row.variant, &row.unit, &row.exercises, why] {
        short(text, &place)?;
    }
    let Range { min, max } = row.expect.syscalls;
    let bounds = [&row.expect.switches, &row.expect.voluntary].map(|range| [range.min, range.max]);
    for value in bounds.concat().into_iter().chain([min, max, row.syscalls]).flatten() {
        nanoseconds(value, &place)?;
    }
    Ok(())
}

fn check_series(series: &Series, place: impl Fn() -> String) -> Result<(), Invalid> {
    ensure(series.even(), &place, "its columns are not equally long")?;
    amount(series.began_s, &place)?;
    for value in series.elapsed_ns.iter().chain(&series.steal_ns).chain(series.delay_ns.iter().flatten()) {
        nanoseconds(*value, &place)?;
    }
    let counts = series.voluntary.iter().chain(&series.involuntary).chain(&series.migrations).flatten();
    let bytes = series.bytes.iter().flatten();
    let sane = series.ops.iter().chain(counts).chain(bytes).all(|count| *count <= MAX_COUNT);
    ensure(sane, place, "a count is absurd")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::fixture::{list, row, samples};
    use super::super::list::Given;
    use super::*;

    fn sound() -> PriceList {
        list(vec![
            (row("kernel", "getpid", "raw"), samples(6, 4, 80.0)),
            (row("process", "fork", "reaped"), samples(6, 4, 8e4)),
        ])
    }

    #[test]
    fn every_broken_value_is_named_by_its_place() {
        type Break = fn(&mut PriceList);
        let cases: &[(&str, Break)] = &[
            ("took_s", |l| l.took_s = -1.0),
            ("confidence", |l| l.confidence = 1.0),
            ("name", |l| l.name = "x".repeat(5000)),
            ("clock", |l| l.clock.as_mut().unwrap().resolution_ns = Some(f64::NAN)),
            ("prices[1]", |l| l.prices[1].name.clear()),
            ("prices[0]", |l| l.prices[0].median_ns = Some(f64::INFINITY)),
            ("prices[0]", |l| l.prices[0].low_ns = Some(1e9)),
            ("prices[0]", |l| l.prices[0].receipt.switches = Some(-1.0)),
            ("prices[0]", |l| l.prices[0].samples = u64::MAX),
            ("prices[0]", |l| l.prices[0].not_measured = Some("why".into())),
            ("prices[0]", |l| (l.prices[0].median_ns, l.prices[0].mean_ns) = (None, None)),
            ("prices[0]", |l| l.prices[0].given = Some(Given { seconds: 1.0, operations: 0.0 })),
            ("prices[1]", |l| l.prices[1] = l.prices[0].clone()),
            ("rows[1]", |l| l.rows[1] = l.rows[0].clone()),
            ("rows[0]", |l| l.rows[0].expect.switches.min = Some(-1.0)),
            ("samples[3]", |l| l.samples[3].row = 2),
            ("samples[1]", |l| l.samples[1].repetition = 0),
            ("samples[2]", |l| l.samples[2].ops.push(1)),
            ("samples[2]", |l| l.samples[2].elapsed_ns[0] = f64::NAN),
            ("samples[2]", |l| l.samples[2].delay_ns[0] = Some(-1.0)),
            ("samples[2]", |l| l.samples[2].migrations[0] = Some(u64::MAX)),
        ];
        assert_eq!(sound().validate(), Ok(()));
        for (place, breaks) in cases {
            let mut list = sound();
            breaks(&mut list);
            let message = list.validate().expect_err(place).to_string();
            assert!(message.starts_with(place), "{place}: {message}");
        }
    }

    #[test]
    fn another_version_is_refused_and_a_newer_one_recognised() {
        let with = |schema: &str| {
            let list = PriceList { schema: schema.into(), ..sound() };
            list.validate().unwrap_err()
        };
        assert!(with("whyfaster-prices/2").is_newer());
        assert!(!with("whyfaster/2").is_newer() && !with("whyfaster-prices/0").is_newer());
    }

    /// Puts a value somewhere into a document: `place` chooses the way down.
    fn plant(document: &mut serde_json::Value, mut place: usize, value: serde_json::Value) {
        let mut here = document;
        loop {
            let size = match here {
                serde_json::Value::Array(all) => all.len(),
                serde_json::Value::Object(all) => all.len(),
                _ => 0,
            };
            // One place in eight is hit before its end, so that whole branches are replaced as well.
            if size == 0 || place.is_multiple_of(8) {
                *here = value;
                return;
            }
            place /= 8;
            let (next, rest) = (place % size, place / size);
            place = rest + 1;
            here = match here {
                serde_json::Value::Array(all) => &mut all[next],
                serde_json::Value::Object(all) => all.values_mut().nth(next).unwrap(),
                _ => unreachable!("only these have a size"),
            };
        }
    }

    fn hostile() -> impl Strategy<Value = serde_json::Value> {
        use serde_json::json;
        prop_oneof![
            Just(json!(null)),
            Just(json!([])),
            Just(json!({})),
            Just(json!("x")),
            any::<f64>().prop_map(|number| json!(number)),
            any::<u64>().prop_map(|number| json!(number)),
            (-2..3i64).prop_map(|number| json!(number)),
            prop::collection::vec(0..3u64, 0..6).prop_map(|numbers| json!(numbers)),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]
        /// Whatever values are put anywhere: refused, or all that follows works and says nothing absurd.
        #[test]
        fn hostile_values_are_refused_or_harmless(plants in prop::collection::vec((any::<usize>(), hostile()), 1..4)) {
            let mut document = serde_json::to_value(sound()).unwrap();
            for (place, value) in plants {
                plant(&mut document, place, value);
            }
            if let Ok(mut list) = serde_json::from_value::<PriceList>(document)
                && list.validate().is_ok()
            {
                list.reprice();
                let comparison = super::super::compare::compare(&[sound(), list.clone()], &super::super::compare::Rule::default());
                let others = comparison.rows.iter().flat_map(|row| &row.others);
                prop_assert!(others.filter_map(|other| other.ratio).all(|ratio| ratio >= 0.0));
                super::super::sum::fork_execve(&list);
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        /// Whatever one hostile byte makes of a list: it is refused, or all that follows works.
        #[test]
        fn a_changed_document_never_panics(place in any::<prop::sample::Index>(), byte: u8) {
            let mut bytes = serde_json::to_vec(&sound()).unwrap();
            let place = place.index(bytes.len());
            bytes[place] = byte;
            if let Ok(mut list) = serde_json::from_slice::<PriceList>(&bytes)
                && list.validate().is_ok()
            {
                list.reprice();
                super::super::compare::compare(&[sound(), list], &super::super::compare::Rule::default());
            }
        }
    }
}
