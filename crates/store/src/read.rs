//! Reading a record or a price list that may be missing, cut short, from another version, or hostile.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use serde::de::DeserializeOwned;
use serde_json::error::Category;
use whyfaster_core::price::{self, PriceList};
use whyfaster_core::record::{self, Record};
use whyfaster_core::trace::{self, record::TraceRecord};
use whyfaster_core::validate::Invalid;
use whyfaster_words::Tell;
use whyfaster_words::exit::{Exit, Failure};

use super::head::{self, bounded, too_many, too_much};
use super::{former, packed, trouble};
use crate::worker::foreign;

/// A document that this program writes and reads again.
trait Document: DeserializeOwned {
    /// The fields that hold what was measured, which is most of a document.
    const MEASURED: &'static [&'static str];
    /// The schema that is read.
    const SCHEMA: &'static str;
    /// What it is called.
    const KIND: &'static str;
    /// Who writes it.
    const OTHER_FILE: &'static str;
    /// From its bytes.
    fn of(bytes: &[u8]) -> serde_json::Result<Self> {
        serde_json::from_slice(bytes)
    }
    /// Checks what the parser cannot.
    fn check(&self) -> Result<(), Invalid>;
}

impl Document for Record {
    const MEASURED: &'static [&'static str] = &["trials", "batches", "sched_accounts"];
    const SCHEMA: &'static str = record::SCHEMA;
    const KIND: &'static str = "record";
    const OTHER_FILE: &'static str = "Name a file that 'whyfaster compare --record FILE' or '--json' wrote.";

    fn of(bytes: &[u8]) -> serde_json::Result<Self> {
        let mut record = former::record(bytes)?;
        packed::unpack(&mut record)?;
        Ok(record)
    }

    fn check(&self) -> Result<(), Invalid> {
        self.validate()
    }
}

impl Document for PriceList {
    const MEASURED: &'static [&'static str] = &["prices", "rows", "samples"];
    const SCHEMA: &'static str = price::SCHEMA;
    const KIND: &'static str = "price list";
    const OTHER_FILE: &'static str = "Name a file that 'whyfaster prices --record FILE' or '--json' wrote.";

    fn check(&self) -> Result<(), Invalid> {
        self.validate()
    }
}

impl Document for TraceRecord {
    const MEASURED: &'static [&'static str] = &["schedule"];
    const SCHEMA: &'static str = trace::record::SCHEMA;
    const KIND: &'static str = "trace";
    const OTHER_FILE: &'static str = "Name a file that 'whyfaster trace --record FILE' or '--json' wrote.";

    fn of(bytes: &[u8]) -> serde_json::Result<Self> {
        former::trace(bytes)
    }

    fn check(&self) -> Result<(), Invalid> {
        self.validate()
    }
}

/// Reads and checks a record; `-` is standard input.
pub fn read_record(path: &Path) -> Result<Record, Failure> {
    read(path)
}

/// Reads and checks a price list; `-` is standard input. Its prices are made anew from its samples.
///
/// What a bare worker wrote on a machine without this program is read too.
pub fn read_prices(path: &Path) -> Result<PriceList, Failure> {
    prices(path, &bytes_of(path)?)
}

fn prices(path: &Path, bytes: &[u8]) -> Result<PriceList, Failure> {
    let mut list: PriceList =
        if foreign::is_one(bytes) { bare(path, bytes)? } else { understood(path, bytes)? };
    list.reprice();
    Ok(list.told())
}

/// Whether a file begins as a price list does, of this program or of a bare worker.
pub fn looks_like_prices(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(64).read_to_end(&mut head));
    read.is_ok() && (head.trim_ascii_start().starts_with(b"{") || foreign::is_one(&head))
}

fn bare(path: &Path, bytes: &[u8]) -> Result<PriceList, Failure> {
    let modified = File::open(path).and_then(|file| file.metadata()).and_then(|data| data.modified());
    let started = modified.ok().and_then(|time| jiff::Timestamp::try_from(time).ok());
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let started = started.unwrap_or_else(jiff::Timestamp::now).to_string();
    foreign::list(bytes, &whyfaster_probe::descriptions(), &name, &started).map_err(|why| {
        let name = called(path);
        Failure::new(
            Exit::Error,
            format!("{name} begins as a worker's own list, and cannot be used: {why}"),
            "Write it with 'worker --all > FILE', and copy it whole.",
        )
    })
}

/// What this program records.
#[derive(Clone, Debug, PartialEq)]
pub enum Recorded {
    /// A comparison.
    Comparison(Box<Record>),
    /// A price list, its prices made anew from its samples.
    Prices(Box<PriceList>),
    /// A trace.
    Trace(Box<TraceRecord>),
}

/// Reads and checks whichever of its documents this is; `-` is standard input. What is none is refused as a record.
pub fn read_recorded(path: &Path) -> Result<Recorded, Failure> {
    recorded(path, &bytes_of(path)?)
}

/// The same of bytes that came from elsewhere and are to stand there.
pub fn received(path: &Path, bytes: &[u8]) -> Result<Recorded, Failure> {
    within_bounds(path, bytes)?;
    recorded(path, bytes)
}

/// The same, with bytes that it can be read from again wherever they are kept.
pub fn read_with_bytes(path: &Path) -> Result<(Recorded, Vec<u8>), Failure> {
    let bytes = bytes_of(path)?;
    let recorded = recorded(path, &bytes)?;
    match &recorded {
        // When it was measured, and where, stands outside of what a bare worker wrote.
        Recorded::Prices(list) if foreign::is_one(&bytes) => {
            let whole = super::price_bytes(list).map_err(|error| trouble::reading(path, &error.into()))?;
            Ok((recorded, whole))
        }
        _ => Ok((recorded, bytes)),
    }
}

/// The same of bytes that were read from there.
pub fn recorded(path: &Path, bytes: &[u8]) -> Result<Recorded, Failure> {
    let of_prices = || prices(path, bytes).map(|list| Recorded::Prices(Box::new(list)));
    if foreign::is_one(bytes) {
        return of_prices();
    }
    let schema = head::schema(bytes).ok().flatten().unwrap_or_default();
    // Of any version: the one that is not read is told as such.
    match schema.split_once('/') {
        Some(("whyfaster-prices", _)) => of_prices(),
        Some(("whyfaster-trace", _)) => understood(path, bytes).map(|trace| Recorded::Trace(Box::new(trace))),
        _ => understood(path, bytes).map(|record| Recorded::Comparison(Box::new(record))),
    }
}

/// A price list that is part of the program, or of a test.
pub fn parse_prices(bytes: &[u8]) -> Result<PriceList, String> {
    parse(bytes).map_err(|(why, _)| why)
}

fn read<D: Document>(path: &Path) -> Result<D, Failure> {
    understood(path, &bytes_of(path)?)
}

fn bytes_of(path: &Path) -> Result<Vec<u8>, Failure> {
    let bytes = match path == Path::new("-") {
        true => bounded(io::stdin().lock(), 0),
        false => File::open(path).and_then(|file| {
            let expected = file.metadata()?.len();
            bounded(file, expected)
        }),
    };
    let bytes = bytes.map_err(|error| trouble::reading(path, &error))?;
    within_bounds(path, &bytes)?;
    Ok(bytes)
}

/// Bounds come before anything is parsed.
fn within_bounds(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    too_much(bytes).map_or(Ok(()), |why| {
        let message = format!("{} is no file of ours: {why}", called(path));
        Err(Failure::new(Exit::Error, message, Record::OTHER_FILE))
    })
}

fn understood<D: Document>(path: &Path, bytes: &[u8]) -> Result<D, Failure> {
    parse(bytes).map_err(|(why, hint)| {
        Failure::new(Exit::Error, format!("{} is no {} that can be used: {why}", called(path), D::KIND), hint)
    })
}

fn called(path: &Path) -> String {
    if path == Path::new("-") { "standard input".to_owned() } else { format!("'{}'", path.display()) }
}

/// The document, or what is wrong and what to do.
fn parse<D: Document>(bytes: &[u8]) -> Result<D, (String, &'static str)> {
    if bytes.is_empty() {
        return Err(("it is empty".to_owned(), D::OTHER_FILE));
    }
    if let Some(why) = too_much(bytes) {
        return Err((why, D::OTHER_FILE));
    }
    // First the version: a later one may look different in every other respect.
    let head =
        head::enough_of(bytes, D::MEASURED).map_err(|error| match error.is_data() && !is_object(bytes) {
            // Nothing says that it ever was one of ours.
            true => ("it is no object of JSON with a 'schema'".to_owned(), D::OTHER_FILE),
            false => explain::<D>(&error, bytes),
        })?;
    let Some(schema) = &head.schema else {
        return Err(("it is JSON without a 'schema'".to_owned(), D::OTHER_FILE));
    };
    if schema != D::SCHEMA {
        let invalid = Invalid::schema(schema, D::SCHEMA);
        if invalid.is_newer() {
            return Err((format!("a newer whyfaster wrote it ({invalid})"), "Update whyfaster to read it."));
        }
        return Err((invalid.to_string(), D::OTHER_FILE));
    }
    if let Some(why) = too_many(&head) {
        return Err((why, "It was changed. Measure again, or take an unchanged copy."));
    }
    let document = D::of(bytes).map_err(|error| explain::<D>(&error, bytes))?;
    document.check().map_err(|invalid| {
        (invalid.to_string(), "It was changed or damaged. Measure again, or take an undamaged copy.")
    })?;
    Ok(document)
}

fn is_object(bytes: &[u8]) -> bool {
    bytes.trim_ascii_start().starts_with(b"{")
}

fn explain<D: Document>(error: &serde_json::Error, bytes: &[u8]) -> (String, &'static str) {
    match error.classify() {
        _ if !error.is_data() && is_at_end(error, bytes) => (
            format!("it ends in the middle ({error})"),
            "Writing or copying it was cut short. Take a whole copy, or measure again.",
        ),
        Category::Eof | Category::Syntax | Category::Io => {
            (format!("it is not JSON ({error})"), D::OTHER_FILE)
        }
        Category::Data => (
            format!("a value has the wrong form ({error})"),
            "It was changed or damaged. Measure again, or take an undamaged copy.",
        ),
    }
}

/// Whether it went wrong where the file ends: a number that is cut short ("1e", "0.") is no unexpected end to the parser.
fn is_at_end(error: &serde_json::Error, bytes: &[u8]) -> bool {
    let lines = bytes.split(|&byte| byte == b'\n');
    let (count, last) = lines.fold((0, 0), |(count, _), line| (count + 1, line.len()));
    error.is_eof() || error.line() == count && error.column() >= last
}

#[cfg(test)]
#[path = "read_tests.rs"]
mod tests;
