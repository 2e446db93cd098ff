//! The first file system of a kernel: an archive in the format `newc` of cpio, as the kernel's document
//! "initramfs buffer format" (Documentation/driver-api/early-userspace/buffer-format.rst) describes it.

/// A file of the archive.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry<'a> {
    /// Path without a leading slash.
    pub name: &'a str,
    /// Type and permissions, as in stat(2).
    pub mode: u32,
    /// Its bytes; none for a directory.
    pub bytes: &'a [u8],
}

/// Directory that everybody may read.
pub(super) const DIRECTORY: u32 = 0o040_755;
/// Program.
pub(super) const PROGRAM: u32 = 0o100_755;
/// File.
pub(super) const FILE: u32 = 0o100_644;

/// The archive. Nothing in it depends on the time, so that the same files are the same bytes.
pub(super) fn archive(entries: &[Entry<'_>]) -> Vec<u8> {
    let mut out = Vec::new();
    for (number, entry) in entries.iter().enumerate() {
        one(&mut out, number + 1, entry);
    }
    one(&mut out, 0, &Entry { name: "TRAILER!!!", mode: 0, bytes: &[] });
    out
}

fn one(out: &mut Vec<u8>, number: usize, entry: &Entry<'_>) {
    let links = if entry.mode & 0o040_000 == 0 { 1 } else { 2 };
    // Inode, mode, user, group, links, time, size, device twice, its device twice, length of the name, sum.
    let fields =
        [number, entry.mode as usize, 0, 0, links, 0, entry.bytes.len(), 0, 0, 0, 0, entry.name.len() + 1, 0];
    out.extend_from_slice(b"070701");
    for field in fields {
        out.extend_from_slice(format!("{field:08x}").as_bytes());
    }
    out.extend_from_slice(entry.name.as_bytes());
    out.push(0);
    pad(out);
    out.extend_from_slice(entry.bytes);
    pad(out);
}

fn pad(out: &mut Vec<u8>) {
    out.resize(out.len().next_multiple_of(4), 0);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_have_their_fields_and_everything_is_aligned() {
        let bytes = archive(&[
            Entry { name: "dev", mode: DIRECTORY, bytes: &[] },
            Entry { name: "init", mode: PROGRAM, bytes: b"hello" },
        ]);
        assert_eq!(bytes.len() % 4, 0);
        let text = String::from_utf8_lossy(&bytes);
        assert_eq!(text.matches("070701").count(), 3);
        // The second header: 110 bytes after the first one's, its name and the padding.
        let second = (110 + "dev\u{0}".len()).next_multiple_of(4);
        assert_eq!(&bytes[second..second + 6], b"070701");
        assert_eq!(&text[second + 14..second + 22], "000081ed");
        assert_eq!(&text[second + 54..second + 62], "00000005");
        assert!(text.contains("hello\u{0}\u{0}\u{0}070701"));
    }
}
