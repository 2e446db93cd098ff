//! Changes of a JSON document, each at a random value of it.

use serde_json::{Map, Number, Value};

use super::{Change, bytes};

/// Texts that a terminal would act on, or that are no words of any list.
pub(crate) const TEXTS: [&str; 12] = [
    "",
    "\u{1b}[2J\u{1b}]0;title\u{7}",
    "\u{202e}reversed\u{2066}\u{200f}",
    "\u{9b}31m\u{85}\u{2028}",
    "\r\n\t\0",
    "nan",
    "-1",
    "99999999999999999999",
    "load 1",
    "\u{1f469}\u{200d}\u{1f4bb}\u{301}\u{feff}",
    "\\\"'`$(x)|",
    "whyfaster/99",
];

const NUMBERS: [f64; 12] =
    [0.0, -0.0, -1.0, 1.0, 0.5, 1e308, -1e308, 5e-324, 9_007_199_254_740_993.0, 4_294_967_295.0, 2e9, 1e-9];

const WHOLE: [u64; 5] = [u64::MAX, i64::MAX as u64, u32::MAX as u64, 1 << 32, 1_000_001];

/// From this kind of a change on it is one of bytes, after all changes of values: what is no JSON ends most attempts.
const OF_BYTES: u8 = 240;

/// The seed with these changes.
pub(crate) fn changed(seed: &[u8], changes: &[Change]) -> Vec<u8> {
    let (values, of_bytes): (Vec<Change>, Vec<Change>) =
        changes.iter().partition(|change| change.0 < OF_BYTES);
    let text = match serde_json::from_slice::<Value>(seed) {
        Ok(mut document) => {
            values.into_iter().for_each(|change| apply(&mut document, change));
            document.to_string().into_bytes()
        }
        // A kept input that was broken on purpose.
        Err(_) => seed.to_vec(),
    };
    bytes::changed(&text, &of_bytes)
}

fn apply(document: &mut Value, (what, at, with): Change) {
    let count = size(document);
    let other = nth(document, &mut (with as usize % count)).map(|it| it.clone());
    let (Some(chosen), Some(other)) = (nth(document, &mut (at as usize % count)), other) else { return };
    let with = with as usize;
    // What keeps the kind of a value is taken most often.
    match what % 12 {
        0..8 => near(chosen, with),
        8 => *chosen = hostile(with),
        9 => *chosen = other,
        10 => take_out(chosen, with),
        _ => double(chosen, other, with),
    }
}

/// Values in a document, itself among them.
fn size(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(size).sum::<usize>(),
        Value::Object(fields) => fields.values().map(size).sum(),
        _ => 0,
    }
}

/// The value with this number, counted from the outside in.
fn nth<'a>(value: &'a mut Value, left: &mut usize) -> Option<&'a mut Value> {
    if *left == 0 {
        return Some(value);
    }
    *left -= 1;
    match value {
        Value::Array(items) => items.iter_mut().find_map(|item| nth(item, left)),
        Value::Object(fields) => fields.values_mut().find_map(|field| nth(field, left)),
        _ => None,
    }
}

/// Another value of the same kind: it comes farthest.
fn near(value: &mut Value, with: usize) {
    match value {
        Value::Number(_) => number(value, with),
        Value::String(_) => text(value, with),
        Value::Bool(it) => *it = !*it,
        Value::Null => *value = hostile(with),
        Value::Array(items) if !items.is_empty() => {
            let count = items.len();
            items.swap(with % count, with / 7 % count);
        }
        Value::Array(items) => items.push(hostile(with)),
        Value::Object(_) => take_out(value, with),
    }
}

fn number(value: &mut Value, with: usize) {
    let so_far = value.as_f64().unwrap_or_default();
    let of = |number: f64| Number::from_f64(number).map_or(Value::Null, Value::Number);
    *value = match with % 6 {
        0 => Value::from(WHOLE[with / 6 % WHOLE.len()]),
        1 => of(-so_far),
        2 => of(so_far * 1e12),
        3 => value.as_u64().map_or_else(|| of(so_far + 1.0), |it| Value::from(it.wrapping_add(1))),
        4 => value.as_u64().map_or_else(|| of(so_far / 3.0), |it| Value::from(it.wrapping_sub(1))),
        _ => of(NUMBERS[with / 6 % NUMBERS.len()]),
    };
}

fn text(value: &mut Value, with: usize) {
    let hostile = TEXTS[with / 2 % TEXTS.len()];
    let so_far = value.as_str().unwrap_or_default();
    *value =
        Value::from(if with.is_multiple_of(2) { hostile.to_owned() } else { format!("{so_far}{hostile}") });
}

fn hostile(with: usize) -> Value {
    match with % 6 {
        0 => Value::Null,
        1 => Value::Bool(with % 4 < 2),
        2 => Value::Array(Vec::new()),
        3 => Value::Object(Map::new()),
        4 => Value::from(TEXTS[with / 6 % TEXTS.len()]),
        _ => Value::from(NUMBERS[with / 6 % NUMBERS.len()]),
    }
}

fn take_out(value: &mut Value, with: usize) {
    match value {
        Value::Array(items) if !items.is_empty() => drop(items.remove(with % items.len())),
        Value::Object(fields) if !fields.is_empty() => {
            let name = fields.keys().nth(with % fields.len()).cloned().unwrap_or_default();
            fields.remove(&name);
        }
        _ => *value = Value::Null,
    }
}

fn double(value: &mut Value, other: Value, with: usize) {
    match value {
        Value::Array(items) if !with.is_multiple_of(3) && !items.is_empty() => {
            let copy = items[with % items.len()].clone();
            items.insert(with / 3 % items.len(), copy);
        }
        Value::Array(items) => items.push(other),
        Value::Object(fields) => {
            let name = fields.keys().nth(with % fields.len().max(1)).cloned().unwrap_or_default();
            fields.insert(name, other);
        }
        _ => *value = Value::Array(vec![value.clone(), other]),
    }
}
