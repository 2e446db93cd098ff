//! A document as rows of the tables. Made of what the reader of files has read and checked, and of its analysis by this version: what a
//! document says of itself counts for nothing that can be made anew.

use std::io::{self, Write};

use flate2::read::GzDecoder;
use lz4_flex::frame::{BlockMode, FrameDecoder, FrameEncoder, FrameInfo};
use sha2::{Digest, Sha256};
use whyfaster_core::analysis::LevelResult;
use whyfaster_core::fleet::effects::Answer;
use whyfaster_core::fleet::questions::{self, Arrivals, Question};
use whyfaster_core::host::HostFacts;
use whyfaster_core::plan::Alternative;
use whyfaster_core::price::fingerprint::Facts;
use whyfaster_core::price::{Price, PriceList, Unit};
use whyfaster_core::record::Record;
use whyfaster_core::sample::{Arm, Batch};
use whyfaster_core::status::Status;
use whyfaster_core::trace::record::TraceRecord;

use super::answer_form::word;
use super::schema::{ALTERNATIVE, COMPARISON, DOCUMENT, LEVEL, PRICE, ROUND};
use super::sql::{Table, Value, storable};
use crate::Recorded;
use crate::head::{bounded, too_much};

/// Records may come from a machine whose clock is ahead. One from the far future would count as the latest of its machine for ever.
const AHEAD_US: i64 = 24 * 3600 * 1_000_000;

/// A number that the store will give.
const TO_COME: Value = Value::Null;

/// How what was packed by gzip begins (RFC 1952), as documents were at first.
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// The number of the hidden copy of the baseline among the alternatives.
const HIDDEN_COPY: i64 = -1;

/// Bytes that a name may have which an index is made of. An entry of an index of PostgreSQL takes a third of a page, 2,704 bytes, at most
/// (BTMaxItemSize in its nbtree.h).
const LONGEST_NAME: usize = 2_000;

/// A record that can be added to a store.
#[derive(Clone, Debug)]
pub struct Entry {
    /// What it is known by: the same for the same measurement, however its document is written.
    pub(super) digest: String,
    pub(super) kind: &'static str,
    pub(super) machine: MachineKey,
    pub(super) facts: Facts,
    pub(super) facts_digest: String,
    pub(super) started_us: i64,
    pub(super) took_s: f64,
    pub(super) status: &'static str,
    pub(super) unit: Option<&'static str>,
    pub(super) about: String,
    pub(super) tool_version: String,
    /// Its rows in tables of `OF_RECORDS`, those of a table one behind the other. The numbers that the store gives to the record and to what
    /// it shares with others are written into them where they stand: a load would spend a tenth of its time on copies.
    pub(super) rows: Vec<(&'static Table, Vec<Value>)>,
    /// The rows of `price_row` that its prices are of, in their order.
    pub(super) priced: Vec<RowKey>,
    /// The questions that its comparisons answer, in their order.
    pub(super) asked: Vec<QuestionKey>,
    /// The numbers of its machine and its facts, once the store knows them.
    pub(super) machine_number: Option<i64>,
    pub(super) facts_number: Option<i64>,
}

/// A question and what it is known by.
#[derive(Clone, Debug)]
pub(super) struct QuestionKey {
    pub(super) digest: String,
    pub(super) question: Question,
}

/// What a machine is known by: its name, and what tells it from others of that name, where its records say that.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct MachineKey {
    pub(super) name: String,
    pub(super) id: String,
}

/// What a row of a price list is known by: its group, name and variant, in one text, because every list of a fleet has the same ones and
/// each is looked up.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct RowKey(String);

impl RowKey {
    fn of(price: &Price) -> Self {
        Self([&price.group, &price.name, &price.variant].map(|part| storable(part)).join("\0"))
    }

    /// Group, name and variant.
    pub(super) fn parts(&self) -> impl Iterator<Item = &str> {
        self.0.split('\0')
    }
}

impl Entry {
    /// Of a document that was read, analysed again, and the bytes that it was read from. `called` is what its file calls its machine; a
    /// name that was given takes the place of the machine's own.
    pub fn of(recorded: &Recorded, bytes: &[u8], called: &str, given: Option<&str>) -> Result<Self, String> {
        let mut entry = match recorded {
            Recorded::Comparison(record) => comparison(record)?,
            Recorded::Prices(list) => prices(list)?,
            Recorded::Trace(trace) => trace_of(trace)?,
        };
        match given {
            Some(given) => entry.machine = MachineKey { name: given.to_owned(), id: String::new() },
            None if entry.machine.name.is_empty() => called.clone_into(&mut entry.machine.name),
            None => {}
        }
        entry.check_names()?;
        let facts = entry.facts.iter();
        entry.facts_digest =
            facts.fold(Hash::new(), |hash, (fact, value)| hash.text(fact.name()).text(value)).hex();
        entry.rows.push((&DOCUMENT, vec![TO_COME, Value::Bytes(pack(bytes))]));
        Ok(entry)
    }

    /// Refuses names that an index of a server would not take: all other records of its statement would be lost with it.
    fn check_names(&self) -> Result<(), String> {
        let machine = self.machine.name.len() + self.machine.id.len();
        match self.priced.iter().map(|row| row.0.len()).chain([machine]).max() {
            Some(longest) if longest > LONGEST_NAME => Err(format!(
                "the name of its machine or of a row has {longest} bytes, and {LONGEST_NAME} may be stored"
            )),
            _ => Ok(()),
        }
    }

    /// Its rows in a table.
    pub(super) fn rows_in(&self, table: &Table) -> &[Value] {
        self.rows.iter().find(|(of, _)| of.name == table.name).map_or(&[], |(_, rows)| rows)
    }

    /// Writes numbers into a column of a table, of all its rows in their order.
    pub(super) fn number(&mut self, table: &Table, column: &str, numbers: impl Iterator<Item = i64>) {
        let rows = self.rows.iter_mut().filter(|(of, _)| of.name == table.name);
        for (cell, number) in rows.flat_map(|(of, rows)| of.column_of(column, rows)).zip(numbers) {
            *cell = number.into();
        }
    }

    /// Writes the number of the record into all of its rows.
    pub(super) fn number_all(&mut self, record: i64) {
        for (table, rows) in &mut self.rows {
            table.column_of("record", rows).for_each(|cell| *cell = record.into());
        }
    }

    fn new(kind: &'static str, started: &str, took_s: f64, status: Status) -> Result<Self, String> {
        Ok(Self {
            digest: String::new(),
            kind,
            machine: MachineKey { name: String::new(), id: String::new() },
            facts: Facts::default(),
            facts_digest: String::new(),
            started_us: moment(started)?,
            took_s,
            status: match status {
                Status::Complete => "complete",
                Status::Interrupted => "interrupted",
                Status::Failed => "failed",
            },
            unit: None,
            about: String::new(),
            tool_version: String::new(),
            rows: Vec::new(),
            priced: Vec::new(),
            asked: Vec::new(),
            machine_number: None,
            facts_number: None,
        })
    }
}

fn prices(list: &PriceList) -> Result<Entry, String> {
    let mut digest = Hash::new().text("prices").text(&list.started).number(list.took_s).text(&list.name);
    for series in &list.samples {
        digest =
            digest.number(series.row as f64).number(series.repetition.into()).numbers(&series.elapsed_ns);
    }
    // A list of a source has figures only.
    for price in list.prices.iter().filter(|_| list.samples.is_empty()) {
        digest = digest.text(&price.id()).numbers(price.typical().as_slice());
    }
    let mut entry = Entry::new("prices", &list.started, list.took_s, list.status)?;
    let measured = list.prices.iter().filter(|price| price.is_measured()).count();
    entry.digest = digest.hex();
    entry.machine = machine(&list.fingerprint.facts);
    if entry.machine.name.is_empty() || list.inside.is_some() {
        list.name.clone_into(&mut entry.machine.name);
    }
    entry.facts = Facts::of(&list.fingerprint);
    entry.unit = Some(match list.unit {
        Unit::Nanoseconds => "ns",
        Unit::GuestInstructions => "instructions",
    });
    entry.about = format!("{measured} prices");
    list.tool_version.clone_into(&mut entry.tool_version);
    let mut rows = Vec::with_capacity(list.prices.len() * PRICE.columns.len());
    for price in &list.prices {
        let it = price.figures();
        rows.extend([TO_COME, TO_COME]);
        rows.extend([it.floor, it.low, it.median, it.high, it.p99, it.mean].map(Value::from));
        let why = price.not_measured.as_ref();
        rows.extend([price.samples.into(), price.repetitions.into(), why.into()]);
    }
    entry.rows.push((&PRICE, rows));
    entry.priced = list.prices.iter().map(RowKey::of).collect();
    Ok(entry)
}

fn comparison(record: &Record) -> Result<Entry, String> {
    let mut digest = Hash::new().text("comparison").text(&record.started).number(record.took_s);
    for batch in &record.batches {
        digest = digest.number(batch.makespan_s).numbers(&batch.copies.wall_s);
    }
    let mut entry = Entry::new("comparison", &record.started, record.took_s, record.status)?;
    entry.digest = digest.hex();
    entry.machine = machine(&record.host.before);
    entry.facts = questions::facts(&record.host.before);
    let alternatives = &record.plan.alternatives;
    let names = alternatives.iter().map(|it| it.name.as_str()).collect::<Vec<_>>().join(", ");
    entry.about = match Arrivals::of(record.plan.mode).map(|it| (it.mode(), it.starts_per_s())) {
        None => names,
        Some((mode, None)) => format!("{mode}: {names}"),
        Some((mode, Some(starts))) => format!("{mode} at {starts}/s: {names}"),
    };
    record.tool_version.clone_into(&mut entry.tool_version);
    entry.rows.push(rows(&ALTERNATIVE, alternatives.iter().enumerate().map(alternative)));
    let number = |name: &str| alternatives.iter().position(|it| it.name == name);
    let levels = record.analysis.levels.iter();
    let results = levels.flat_map(|level| level.results.iter().map(move |result| (level.load, result)));
    let results = results.filter_map(|(load, result)| Some((load, number(&result.alternative)?, result)));
    entry.rows.push(rows(&LEVEL, results.map(level)));
    entry.rows.push(rows(&ROUND, record.batches.iter().map(round)));
    let mut answers = Vec::new();
    for (question, answer, it) in questions::answers(record) {
        entry.asked.push(QuestionKey { digest: digest_of(&question), question });
        answers.push(answered(entry.started_us, &answer, it.rounds));
    }
    entry.rows.push(rows(&COMPARISON, answers.into_iter()));
    Ok(entry)
}

/// Rows of a table, one behind the other.
fn rows<const COLUMNS: usize>(
    table: &'static Table,
    each: impl Iterator<Item = [Value; COLUMNS]>,
) -> (&'static Table, Vec<Value>) {
    assert_eq!(COLUMNS, table.columns.len(), "{}", table.name);
    (table, each.flatten().collect())
}

fn alternative((number, it): (usize, &Alternative)) -> [Value; 4] {
    [TO_COME, number.into(), (&it.name).into(), (&it.command).into()]
}

fn level((load, alternative, it): (u32, usize, &LevelResult)) -> [Value; 22] {
    let (span, latency) = (it.makespan_s, it.latency_s);
    [
        TO_COME,
        load.into(),
        alternative.into(),
        it.rounds.into(),
        span.median.into(),
        span.low.into(),
        span.high.into(),
        it.work_per_copy_s.into(),
        it.user_per_copy_s.into(),
        it.system_per_copy_s.into(),
        it.throughput_per_s.into(),
        it.share.into(),
        latency.min.into(),
        latency.p50.into(),
        latency.p95.into(),
        latency.p99.into(),
        latency.max.into(),
        it.run_delay_s.into(),
        it.max_rss_bytes.into(),
        it.voluntary_switches.into(),
        it.involuntary_switches.into(),
        it.timed_out.into(),
    ]
}

fn answered(started_us: i64, answer: &Answer, rounds: u32) -> [Value; 10] {
    [
        TO_COME,
        TO_COME,
        started_us.into(),
        TO_COME,
        answer.ratio.ratio.into(),
        answer.ratio.low.into(),
        answer.ratio.high.into(),
        answer.confidence.into(),
        word(answer.verdict).into(),
        rounds.into(),
    ]
}

fn digest_of(question: &Question) -> String {
    let Question { alternative, command, baseline, baseline_command, load, arrivals } = question;
    let texts = [alternative, command, baseline, baseline_command];
    let hash = texts.iter().fold(Hash::new(), |hash, text| hash.text(text)).number((*load).into());
    let Some(arrivals) = arrivals else { return hash.hex() };
    let hash = hash.text(arrivals.mode());
    match arrivals.starts_per_s() {
        Some(starts) => hash.number(starts).hex(),
        None => hash.hex(),
    }
}

fn round(batch: &Batch) -> [Value; 12] {
    let copies = &batch.copies;
    let alternative = match batch.arm {
        Arm::Alternative(number) => number.into(),
        Arm::HiddenCopy => Value::Int(HIDDEN_COPY),
    };
    [
        TO_COME,
        batch.load.into(),
        batch.round.into(),
        batch.position.into(),
        alternative,
        batch.released_s.into(),
        batch.makespan_s.into(),
        copies.len().into(),
        (copies.user_s.iter().sum::<f64>() + batch.orphans.user_s).into(),
        (copies.system_s.iter().sum::<f64>() + batch.orphans.system_s).into(),
        copies.status.iter().filter(|status| **status != 0).count().into(),
        copies.timed_out.iter().filter(|it| **it).count().into(),
    ]
}

fn trace_of(trace: &TraceRecord) -> Result<Entry, String> {
    let mut entry = Entry::new("trace", &trace.started, trace.took_s, trace.status)?;
    let runs = trace.runs.traced_s.iter().chain(&trace.runs.untraced_s).copied().collect::<Vec<_>>();
    let what = trace.plan.target.words();
    let digest = Hash::new().text("trace").text(&trace.started).number(trace.took_s).text(&what);
    entry.digest = digest.numbers(&runs).hex();
    entry.machine = machine(&trace.host.before);
    entry.facts = questions::facts(&trace.host.before);
    entry.about = what;
    trace.tool_version.clone_into(&mut entry.tool_version);
    Ok(entry)
}

fn machine(facts: &HostFacts) -> MachineKey {
    let text = |fact: &Option<String>| fact.clone().unwrap_or_default();
    MachineKey { name: text(&facts.host_name), id: text(&facts.machine_id) }
}

fn moment(started: &str) -> Result<i64, String> {
    let at: jiff::Timestamp =
        started.parse().map_err(|_| format!("it does not say when it was measured, but '{started}'"))?;
    let at = at.as_microsecond();
    if at > jiff::Timestamp::now().as_microsecond() + AHEAD_US {
        return Err(format!("it says that it was measured in the future, on {started}"));
    }
    Ok(at)
}

/// A digest of numbers and texts, each of which says where it ends.
struct Hash(Sha256);

impl Hash {
    fn new() -> Self {
        Self(Sha256::new())
    }

    fn text(self, text: &str) -> Self {
        Self(self.0.chain_update(text.len().to_le_bytes()).chain_update(text))
    }

    fn number(self, number: f64) -> Self {
        Self(self.0.chain_update(number.to_bits().to_le_bytes()))
    }

    fn numbers(self, numbers: &[f64]) -> Self {
        numbers.iter().fold(self.number(numbers.len() as f64), |hash, number| hash.number(*number))
    }

    fn hex(self) -> String {
        hex(&self.0.finalize())
    }
}

/// Half of a digest is enough that no two records ever share one.
fn hex(digest: &[u8]) -> String {
    digest[..16].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// By LZ4, as `lz4` and its libraries read it. gzip takes a third less space and was a third of what a load costs the CPUs.
fn pack(bytes: &[u8]) -> Vec<u8> {
    let frame = FrameInfo::new().block_mode(BlockMode::Linked).content_checksum(true);
    let mut packer = FrameEncoder::with_frame_info(frame, Vec::new());
    let done = packer.write_all(bytes).map_err(Into::into).and_then(|()| packer.finish());
    let mut packed = done.expect("memory takes every byte");
    // Hundreds of them may wait to be written.
    packed.shrink_to_fit();
    packed
}

/// The document again. Whoever may write to a store may have packed more into a row than memory holds.
pub(super) fn unpack(packed: &[u8]) -> io::Result<Vec<u8>> {
    let bytes = match packed.starts_with(&GZIP) {
        true => bounded(GzDecoder::new(packed), 0)?,
        false => bounded(FrameDecoder::new(packed), 0)?,
    };
    too_much(&bytes).map_or(Ok(bytes), |why| Err(io::Error::other(why)))
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;
    use crate::MAX_BYTES;

    #[test]
    fn a_row_that_unpacks_to_more_than_any_record_is_refused() {
        let bomb = || io::repeat(b' ').take(MAX_BYTES + 1);
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        io::copy(&mut bomb(), &mut gzip).unwrap();
        let mut lz4 = FrameEncoder::new(Vec::new());
        io::copy(&mut bomb(), &mut lz4).unwrap();
        for packed in [gzip.finish().unwrap(), lz4.finish().unwrap()] {
            assert!((packed.len() as u64) < MAX_BYTES / 100);
            let why = unpack(&packed).unwrap_err().to_string();
            assert!(why.contains("larger than 256 MiB"), "{why}");
        }
    }

    #[test]
    fn a_document_is_the_same_again_however_it_was_packed() {
        let document: Vec<u8> = (0..100_000).map(|at| b"{\"medians\": [1.5, 2]}"[at % 21]).collect();
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(&document).unwrap();
        for packed in [pack(&document), gzip.finish().unwrap()] {
            assert!(packed.len() < document.len() / 10);
            assert_eq!(unpack(&packed).unwrap(), document);
            // Cut short, or with a bit turned round, it is no document.
            assert!(unpack(&packed[..packed.len() - 1]).is_err());
            let mut damaged = packed.clone();
            *damaged.last_mut().unwrap() ^= 1;
            assert!(unpack(&damaged).is_err());
        }
    }
}
