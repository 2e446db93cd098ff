//! A program that does nothing but end: the system's `true`, with a loader and start-up like those of most programs. Where
//! there is none, a smaller one is made in memory.

use std::io::Write;
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;

/// Where it is mapped; a multiple of the largest page there is.
const BASE: u64 = 0x40_0000;
const HEADERS: u64 = 64 + 56;

/// `exit_group(0)`.
#[cfg(target_arch = "x86_64")]
const CODE: &[u8] = &[0x31, 0xff, 0xb8, 0xe7, 0, 0, 0, 0x0f, 0x05];
#[cfg(target_arch = "x86_64")]
const MACHINE: u16 = 62;
#[cfg(target_arch = "aarch64")]
const CODE: &[u8] = &[0, 0, 0x80, 0xd2, 0xc8, 0x0b, 0x80, 0xd2, 0x01, 0, 0, 0xd4];
#[cfg(target_arch = "aarch64")]
const MACHINE: u16 = 183;

/// An executable of one segment (elf(5)).
fn image() -> Vec<u8> {
    let mut elf = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let half = |elf: &mut Vec<u8>, n: u16| elf.extend(n.to_le_bytes());
    let word = |elf: &mut Vec<u8>, n: u32| elf.extend(n.to_le_bytes());
    let long = |elf: &mut Vec<u8>, n: u64| elf.extend(n.to_le_bytes());
    half(&mut elf, 2); // ET_EXEC
    half(&mut elf, MACHINE);
    word(&mut elf, 1);
    [BASE + HEADERS, 64, 0].into_iter().for_each(|n| long(&mut elf, n)); // entry, program headers, no sections
    word(&mut elf, 0);
    [64, 56, 1, 0, 0, 0].into_iter().for_each(|n| half(&mut elf, n));
    word(&mut elf, 1); // PT_LOAD
    word(&mut elf, 5); // read, execute
    let size = HEADERS + CODE.len() as u64;
    [0, BASE, BASE, size, size, 0x1_0000].into_iter().for_each(|n| long(&mut elf, n));
    elf.extend(CODE);
    elf
}

/// The program, ready to be executed by its descriptor.
pub(super) fn find() -> std::io::Result<OwnedFd> {
    let open = |path| std::fs::OpenOptions::new().read(true).custom_flags(libc::O_PATH).open(path);
    match open("/bin/true").or_else(|_| open("/usr/bin/true")) {
        Ok(file) => Ok(file.into()),
        Err(_) => make(),
    }
}

fn make() -> std::io::Result<OwnedFd> {
    // SAFETY: a name that ends with a zero, and flags.
    let fd = unsafe { libc::memfd_create(c"whyfaster-calibrates".as_ptr(), libc::MFD_CLOEXEC) };
    if fd < 0 {
        return Err(std::io::Error::last_os_error());
    }
    // SAFETY: the kernel just gave us this descriptor.
    let mut file = std::fs::File::from(unsafe { OwnedFd::from_raw_fd(fd) });
    file.write_all(&image())?;
    Ok(file.into())
}
