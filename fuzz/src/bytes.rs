//! Changes of bytes.

use super::Change;

/// Numbers at which sums overflow and lengths end.
const NUMBERS: [u64; 8] = [0, 1, u32::MAX as u64, 1 << 31, u64::MAX, 1 << 63, (1 << 63) - 1, 0x7fff_ffff];

/// Bytes that formats give a meaning.
const BYTES: [u8; 10] = [0, 0xff, 0x7f, 0x80, b'\t', b'\n', b'"', b'-', b'9', 0x1b];

/// No part that is doubled, moved or taken away is longer.
const MOST: usize = 64;

/// An input is not made longer than this.
const LONGEST: usize = 1 << 20;

/// The seed with these changes.
pub(crate) fn changed(seed: &[u8], changes: &[Change]) -> Vec<u8> {
    changes.iter().fold(seed.to_vec(), |mut bytes, change| {
        apply(&mut bytes, *change);
        bytes
    })
}

fn apply(bytes: &mut Vec<u8>, (what, at, with): Change) {
    if bytes.is_empty() || bytes.len() > LONGEST {
        return;
    }
    let at = at as usize % bytes.len();
    let with = with as usize;
    let end = (at + 1 + with % MOST).min(bytes.len());
    match what % 8 {
        0 => bytes[at] ^= 1 << (with % 8),
        1 => bytes[at] = BYTES[with % BYTES.len()],
        2 => drop(bytes.drain(at..end)),
        3 => bytes.truncate(at),
        4 => {
            let part = bytes[at..end].to_vec();
            bytes.splice(at..at, part);
        }
        5 => {
            // Of 1, 2, 4 or 8 bytes, lowest first.
            let number = NUMBERS[with / 4 % NUMBERS.len()].to_le_bytes();
            let width = (1 << (with % 4)).min(bytes.len() - at);
            bytes[at..at + width].copy_from_slice(&number[..width]);
        }
        6 => {
            let from = with % bytes.len();
            let part = bytes[from..(from + MOST).min(bytes.len())].to_vec();
            bytes.splice(at..end, part);
        }
        _ => {
            let text = super::json::TEXTS[with % super::json::TEXTS.len()];
            bytes.splice(at..at, text.bytes());
        }
    }
}
