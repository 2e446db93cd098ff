//! Whether alternatives write the same: the first one's output is kept in an unlinked file, the others are held against
//! it as they come, so that the first difference can be shown whatever the size.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;

use sha2::{Digest, Sha256};
use whyfaster_core::sample::OutputDifference;

use super::client::Sink;

/// So much of an output is kept; beyond it only the digests are compared.
const KEPT_BYTES: u64 = 256 << 20;

/// So much of a line is shown.
const SHOWN_BYTES: usize = 120;

/// Takes in an output: digest, size, and either keeps it or compares it with one that was kept.
#[derive(Debug)]
pub(crate) struct OutputCheck<'a> {
    hasher: Sha256,
    bytes: u64,
    kept: Option<Kept>,
    against: Option<&'a Kept>,
    /// Where the first difference is, and what we wrote there.
    differs: Option<(u64, Vec<u8>)>,
    newlines: u64,
    line_start: u64,
}

/// A kept output.
#[derive(Debug)]
pub(crate) struct Kept {
    file: File,
    /// How much of it is in the file.
    bytes: u64,
    /// Size of all of it.
    total: u64,
    /// Its digest.
    digest: String,
}

impl<'a> OutputCheck<'a> {
    /// Keeps the output that comes (where a temporary file can be made), for others to be held against.
    pub(crate) fn keep() -> Self {
        let kept =
            tempfile::tempfile().ok().map(|file| Kept { file, bytes: 0, total: 0, digest: String::new() });
        Self { kept, ..Self::new(None) }
    }

    /// Compares the output that comes with a kept one, or only takes its digest and size.
    pub(crate) fn new(against: Option<&'a Kept>) -> Self {
        Self {
            hasher: Sha256::new(),
            bytes: 0,
            kept: None,
            against,
            differs: None,
            newlines: 0,
            line_start: 0,
        }
    }

    /// Digest and size of what came, and the output itself if it was kept.
    pub(crate) fn finish(self) -> (String, u64, Option<Kept>) {
        let digest: String = self.hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        let kept = self.kept.map(|kept| Kept { total: self.bytes, digest: digest.clone(), ..kept });
        (digest, self.bytes, kept)
    }

    /// The first difference to the output of `before`, if there is one. Call it when all came.
    pub(crate) fn difference(&self, before: usize) -> Option<OutputDifference> {
        let kept = self.against?;
        let digest: String =
            self.hasher.clone().finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        if digest == kept.digest {
            return None;
        }
        let Some((at, ours)) = &self.differs else {
            // Equal as far as both go: one is the beginning of the other, or the difference lies beyond what was kept.
            if self.bytes.min(kept.total) > kept.bytes {
                return Some(OutputDifference {
                    before,
                    place: None,
                    first: String::new(),
                    other: String::new(),
                });
            }
            return Some(OutputDifference {
                before,
                place: Some((self.bytes + 1, self.newlines + 1)),
                first: kept.line(self.line_start, self.bytes),
                other: end_of(self.bytes),
            });
        };
        let first = if *at >= kept.total { end_of(kept.total) } else { kept.line(self.line_start, *at) };
        let mut line = kept.bytes_at(self.line_start, *at);
        let have = line.len();
        line.extend(ours);
        let place = Some((*at + 1, self.newlines + 1));
        Some(OutputDifference { before, place, first, other: shown(&line, have) })
    }

    fn compare(&mut self, bytes: &[u8]) {
        let Some(kept) = self.against.filter(|_| self.differs.is_none() && self.bytes <= KEPT_BYTES) else {
            return;
        };
        let mut theirs = vec![0; bytes.len()];
        let have = read_at(&kept.file, &mut theirs, self.bytes, kept.bytes);
        // Nearly always all is equal, and comparing slices is much faster than counting.
        let equal = match bytes == &theirs[..have] {
            true => have,
            false => bytes.iter().zip(&theirs[..have]).take_while(|(ours, theirs)| ours == theirs).count(),
        };
        if let Some(last) = bytes[..equal].iter().rposition(|&byte| byte == b'\n') {
            self.newlines += bytes[..equal].iter().filter(|&&byte| byte == b'\n').count() as u64;
            self.line_start = self.bytes + last as u64 + 1;
        }
        let beyond_kept = equal == have && kept.bytes < kept.total;
        if equal < bytes.len() && !beyond_kept {
            let rest = bytes[equal..].iter().copied().take(SHOWN_BYTES).collect();
            self.differs = Some((self.bytes + equal as u64, rest));
        }
    }
}

impl Sink for OutputCheck<'_> {
    fn take(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.compare(bytes);
        self.hasher.update(bytes);
        if let Some(kept) = &mut self.kept
            && kept.bytes == self.bytes
            && self.bytes < KEPT_BYTES
        {
            // A full disk only costs the picture of the difference: the digest still tells whether there is one.
            if kept.file.write_all(bytes).is_ok() {
                kept.bytes += bytes.len() as u64;
            }
        }
        self.bytes += bytes.len() as u64;
        Ok(())
    }
}

impl Kept {
    /// The line that begins at `start`, shown around `at`.
    fn line(&self, start: u64, at: u64) -> String {
        let mut bytes = self.bytes_at(start, at);
        let before = bytes.len();
        let mut rest = vec![0; SHOWN_BYTES];
        let have = read_at(&self.file, &mut rest, at, self.bytes);
        bytes.extend(&rest[..have]);
        if bytes.is_empty() { end_of(self.total) } else { shown(&bytes, before) }
    }

    /// What stands between two places, at most the last part of it.
    fn bytes_at(&self, start: u64, end: u64) -> Vec<u8> {
        let from = start.max(end.saturating_sub(SHOWN_BYTES as u64 / 2));
        let mut bytes = vec![0; (end - from) as usize];
        let have = read_at(&self.file, &mut bytes, from, self.bytes);
        bytes.truncate(have);
        bytes
    }
}

/// Shown where an output of so many bytes has ended, and the other one goes on.
fn end_of(total: u64) -> String {
    if total == 0 { "(no output)" } else { "(end of output)" }.to_owned()
}

/// Reads what there is at a place, up to the end; returns how much.
fn read_at(file: &File, buffer: &mut [u8], at: u64, end: u64) -> usize {
    let wanted = buffer.len().min(end.saturating_sub(at) as usize);
    match file.read_exact_at(&mut buffer[..wanted], at) {
        Ok(()) => wanted,
        Err(_) => 0,
    }
}

/// Bytes that are shown of binary output: so many before the difference, so many in all.
const HEX_BEFORE: usize = 8;
const HEX_BYTES: usize = 24;

/// One line, as text, without what would upset a terminal. Of what is no text, the bytes around the difference, which is at
/// `differs`.
fn shown(bytes: &[u8], differs: usize) -> String {
    if !is_text(bytes) {
        let from = differs.saturating_sub(HEX_BEFORE).min(bytes.len());
        let hex: Vec<String> =
            bytes[from..].iter().take(HEX_BYTES).map(|byte| format!("{byte:02x}")).collect();
        return format!("(hex) {}", hex.join(" "));
    }
    let line = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let text = String::from_utf8_lossy(&line[..line.len().min(2 * SHOWN_BYTES)]);
    text.escape_debug().to_string()
}

/// Whether this is a piece of text. It may begin and end in the middle of a character.
fn is_text(bytes: &[u8]) -> bool {
    let inside = bytes.iter().take(3).take_while(|byte| **byte & 0xc0 == 0x80).count();
    let utf8 = match std::str::from_utf8(&bytes[inside..]) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none(),
    };
    utf8 && !bytes.contains(&0)
}

/// Keeps the end of what comes: what a failing command said last.
#[derive(Debug, Default)]
pub(crate) struct Tail(Vec<u8>);

impl Tail {
    const KEPT: usize = 2048;

    /// The last lines, as text.
    pub(crate) fn lines(&self, count: usize) -> Vec<String> {
        let text = String::from_utf8_lossy(&self.0);
        let lines: Vec<String> = text
            .lines()
            .filter(|line| !line.trim().is_empty())
            .map(|line| line.escape_debug().to_string())
            .collect();
        lines[lines.len().saturating_sub(count)..].to_vec()
    }
}

impl Sink for Tail {
    fn take(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.extend(&bytes[bytes.len().saturating_sub(Self::KEPT)..]);
        let excess = self.0.len().saturating_sub(Self::KEPT);
        self.0.drain(..excess);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn differ(first: &[&[u8]], other: &[&[u8]]) -> Option<OutputDifference> {
        let mut keep = OutputCheck::keep();
        first.iter().for_each(|part| keep.take(part).unwrap());
        let (_, _, kept) = keep.finish();
        let kept = kept.unwrap();
        let mut check = OutputCheck::new(Some(&kept));
        other.iter().for_each(|part| check.take(part).unwrap());
        check.difference(0)
    }

    #[test]
    fn equal_outputs_do_not_differ_however_they_are_cut() {
        assert_eq!(differ(&[b"one\ntwo\n"], &[b"o", b"ne\nt", b"wo\n"]), None);
        assert_eq!(differ(&[], &[]), None);
    }

    #[test]
    fn the_first_difference_is_found_with_its_line() {
        let found = differ(&[b"one\ntwo\nthree\n"], &[b"one\nt", b"wa\nthree\n"]).unwrap();
        assert_eq!(found.place, Some((7, 2)));
        assert_eq!((found.first.as_str(), found.other.as_str()), ("two", "twa"));
    }

    #[test]
    fn a_shorter_and_a_longer_output_differ_at_the_end() {
        let shorter = differ(&[b"one\ntwo\n"], &[b"one\n"]).unwrap();
        assert_eq!(
            (shorter.place, shorter.first.as_str(), shorter.other.as_str()),
            (Some((5, 2)), "two", "(end of output)")
        );
        let longer = differ(&[b"one\n"], &[b"one\ntwo\n"]).unwrap();
        assert_eq!(
            (longer.place, longer.first.as_str(), longer.other.as_str()),
            (Some((5, 2)), "(end of output)", "two")
        );
        let none = differ(&[b"one\n"], &[]).unwrap();
        assert_eq!((none.first.as_str(), none.other.as_str()), ("one", "(no output)"));
        assert_eq!(differ(&[], &[b"one\n"]).unwrap().first, "(no output)");
    }

    #[test]
    fn control_characters_are_not_printed_as_they_are() {
        let found = differ(&[b"\x1b[2Jx\n"], &[b"\x1b[2Jy\n"]).unwrap();
        assert!(!found.first.contains('\x1b'), "{found:?}");
    }

    #[test]
    fn binary_output_is_shown_as_bytes_around_the_difference() {
        let found = differ(&[b"\x7fELF\x00\x01\xff"], &[b"\x7fELF\x00\x02\xff"]).unwrap();
        assert_eq!(found.first, "(hex) 7f 45 4c 46 00 01 ff");
        assert_eq!(found.other, "(hex) 7f 45 4c 46 00 02 ff");
        let far: Vec<u8> = (0..=255).cycle().take(1000).collect();
        let mut other = far.clone();
        other[600] = 0xee;
        let found = differ(&[&far], &[&other]).unwrap();
        assert!(found.first.starts_with("(hex) 50 51") && found.other.contains("57 ee 59"), "{found:?}");
        // A character that is cut in two is text.
        assert!(is_text("äb".as_bytes()) && is_text(&"äb".as_bytes()[1..]) && is_text(&"bä".as_bytes()[..2]));
    }

    #[test]
    fn the_tail_keeps_the_last_lines() {
        let mut tail = Tail::default();
        for n in 0..1000 {
            tail.take(format!("line {n}\n").as_bytes()).unwrap();
        }
        assert_eq!(tail.lines(2), ["line 998", "line 999"]);
    }
}
