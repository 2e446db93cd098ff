//! Whether a program is started by the dynamic loader: so it can be loaded without being begun.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use whyfaster_trace::foreign;

/// Program header that names the loader (elf(5)).
const PT_INTERP: u32 = 3;
/// Bits that change the user or group: the loader then ignores its environment (ld.so(8), secure-execution mode).
const SET_ID: u32 = 0o6000;

/// Whether the file is a program that names a dynamic loader and changes no user or group. Anything that cannot be read is not.
pub(super) fn is_dynamic(file: &Path) -> bool {
    let Ok(file) = foreign::open(file) else { return false };
    let plain = file.metadata().is_ok_and(|facts| facts.mode() & SET_ID == 0);
    plain && names_loader(&file).unwrap_or(false)
}

/// Looks through the program headers of a 64-bit file of this byte order; others are not told.
fn names_loader(mut file: &File) -> std::io::Result<bool> {
    let mut head = [0; 64];
    file.read_exact(&mut head)?;
    let order = if cfg!(target_endian = "little") { 1 } else { 2 };
    if head[..6] != [0x7f, b'E', b'L', b'F', 2, order] {
        return Ok(false);
    }
    let two = |at: usize| u16::from_ne_bytes([head[at], head[at + 1]]);
    let mut offset = [0; 8];
    offset.copy_from_slice(&head[0x20..0x28]);
    let (offset, size, count) = (u64::from_ne_bytes(offset), u64::from(two(0x36)), u64::from(two(0x38)));
    for at in 0..count {
        let mut kind = [0; 4];
        file.read_exact_at(&mut kind, offset.saturating_add(at * size))?;
        if u32::from_ne_bytes(kind) == PT_INTERP {
            return Ok(true);
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_is_dynamic_and_text_is_not() {
        assert!(is_dynamic(Path::new("/bin/sh")));
        assert!(!is_dynamic(Path::new("/etc/passwd")));
        assert!(!is_dynamic(Path::new("/no/such/file")));
        assert!(!is_dynamic(Path::new("/bin")));
    }
}
