//! A first look at a document: which one it is, and how much stands where. Nothing is kept, so a hostile one takes no memory.

use std::cell::RefCell;
use std::fmt;
use std::io::{self, Read};

use serde::de::{Deserialize, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Largest record that is read. A thousand copies in a hundred rounds of three arms make about 25 MiB.
pub const MAX_BYTES: u64 = 256 << 20;

/// Most values in a record. A hostile file of the largest size could hold 128 million, each many times larger in memory
/// than on disk.
pub(super) const MAX_VALUES: usize = 40_000_000;

/// Most values outside of the fields that hold what was measured. What is read there may be set aside in between (fields that are
/// not known, those of a flattened struct), where each value takes 32 bytes and more.
pub(super) const MAX_OTHERS: usize = 4_000_000;

/// What the first look tells.
#[derive(Debug, Default)]
pub(super) struct Head {
    /// Every version of a document has it.
    pub(super) schema: Option<String>,
    /// How many values stand in other fields than the named ones.
    pub(super) others: usize,
}

/// The bytes of a source, as far as they are a record. `expected` is how many it says to have.
pub fn bounded(source: impl Read, expected: u64) -> io::Result<Vec<u8>> {
    // One more, so that the end is seen without making room for what does not come.
    let mut bytes = Vec::with_capacity((expected.min(MAX_BYTES) + 1) as usize);
    source.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Why these bytes are more than anything that this program writes.
pub(super) fn too_much(bytes: &[u8]) -> Option<String> {
    if bytes.len() as u64 > MAX_BYTES {
        return Some(format!("it is larger than {} MiB", MAX_BYTES >> 20));
    }
    if bytes.len() <= MAX_VALUES {
        // Each takes a byte at least.
        return None;
    }
    let values = bytes.iter().filter(|byte| **byte == b',').count();
    (values > MAX_VALUES).then(|| format!("it holds more than {MAX_VALUES} values"))
}

/// Why these are more values than are set aside while reading.
pub(super) fn too_many(head: &Head) -> Option<String> {
    (head.others > MAX_OTHERS)
        .then(|| format!("it holds more than {MAX_OTHERS} values beside what was measured"))
}

/// Looks at a whole document.
pub(super) fn of(bytes: &[u8], named: &[&str]) -> serde_json::Result<Head> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let head = Look { named }.deserialize(&mut reader)?;
    reader.end()?;
    Ok(head)
}

/// Looks at a document as far as is needed to know which one it is and that it is small enough. Ours say that at their beginning, and a
/// store is filled with thousands of them.
pub(super) fn enough_of(bytes: &[u8], named: &[&str]) -> serde_json::Result<Head> {
    if bytes.len() > MAX_OTHERS {
        return of(bytes, named);
    }
    let schema = schema(bytes)?;
    Ok(Head { schema, others: 0 })
}

/// What a document says that it is. Nothing behind that is looked at.
pub(super) fn schema(bytes: &[u8]) -> serde_json::Result<Option<String>> {
    let found = RefCell::new(None);
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let looked = reader.deserialize_map(Until { found: &found });
    match found.into_inner() {
        None => looked.and_then(|()| reader.end()).map(|()| None),
        // The reader complains of the rest that was left.
        some => Ok(some),
    }
}

/// Stops at the schema.
struct Until<'a> {
    found: &'a RefCell<Option<String>>,
}

impl<'de> Visitor<'de> for Until<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        while let Some(name) = fields.next_key::<String>()? {
            if name != "schema" {
                fields.next_value::<IgnoredAny>()?;
                continue;
            }
            let schema: Option<String> = fields.next_value()?;
            if schema.is_some() {
                self.found.replace(schema);
                break;
            }
        }
        Ok(())
    }
}

struct Look<'a> {
    named: &'a [&'a str],
}

impl<'de> DeserializeSeed<'de> for Look<'_> {
    type Value = Head;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Head, D::Error> {
        reader.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Look<'_> {
    type Value = Head;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Head, A::Error> {
        let mut head = Head::default();
        while let Some(name) = fields.next_key::<String>()? {
            if name == "schema" {
                head.schema = fields.next_value()?;
                continue;
            }
            let Count(values) = fields.next_value()?;
            if !self.named.contains(&name.as_str()) {
                head.others += values;
            }
        }
        Ok(head)
    }
}

/// How many values there are, names of fields included.
struct Count(usize);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(reader: D) -> Result<Self, D::Error> {
        reader.deserialize_any(Counter)
    }
}

struct Counter;

impl<'de> Visitor<'de> for Counter {
    type Value = Count;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_unit<E>(self) -> Result<Count, E> {
        Ok(Count(1))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Count, E> {
        Ok(Count(1))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Count, E> {
        Ok(Count(1))
    }

    fn visit_u64<E>(self, _: u64) -> Result<Count, E> {
        Ok(Count(1))
    }

    fn visit_f64<E>(self, _: f64) -> Result<Count, E> {
        Ok(Count(1))
    }

    fn visit_str<E>(self, _: &str) -> Result<Count, E> {
        Ok(Count(1))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Count, A::Error> {
        let mut all = 1;
        while let Some(Count(below)) = values.next_element()? {
            all += below;
        }
        Ok(Count(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Count, A::Error> {
        let mut all = 1;
        while let Some((Count(name), Count(below))) = fields.next_entry()? {
            all += name + below;
        }
        Ok(Count(all))
    }
}
