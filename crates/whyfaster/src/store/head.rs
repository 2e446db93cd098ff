//! A first look at a document: which one it is, and how much stands where. Nothing is kept, so a hostile one takes no memory.

use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};

/// What the first look tells.
#[derive(Debug, Default)]
pub(super) struct Head {
    /// Every version of a document has it.
    pub(super) schema: Option<String>,
    /// How many values stand in other fields than the named ones.
    pub(super) others: usize,
}

/// Looks at a whole document.
pub(super) fn of(bytes: &[u8], named: &[&str]) -> serde_json::Result<Head> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let head = Look { named }.deserialize(&mut reader)?;
    reader.end()?;
    Ok(head)
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
