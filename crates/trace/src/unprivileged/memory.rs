//! Strings in the memory of a traced task.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::ptr;

/// Longest path that the kernel takes, with its end: `PATH_MAX` in include/uapi/linux/limits.h.
const LONGEST: usize = 4096;

/// Reads stop at the ends of pages: the next one may not be there.
const PAGE: u64 = 4096;

/// The string at this address, if it can be read.
pub(super) fn string(task: i32, address: u64) -> Option<String> {
    let mut bytes = Vec::new();
    let mut at = address;
    while at != 0 && bytes.len() < LONGEST {
        let mut part = vec![0u8; (PAGE - at % PAGE) as usize];
        let read = read(task, at, &mut part)?;
        if let Some(end) = part[..read].iter().position(|&byte| byte == 0) {
            bytes.extend(&part[..end]);
            return Some(String::from_utf8_lossy(&bytes).into_owned());
        }
        bytes.extend(&part[..read]);
        at += read as u64;
    }
    None
}

/// Ubuntu's kernels for virtual machines up to 22.04 are built without `process_vm_readv` (`CONFIG_CROSS_MEMORY_ATTACH`); the file
/// costs two calls more.
fn read(task: i32, address: u64, into: &mut [u8]) -> Option<usize> {
    read_at_once(task, address, into).or_else(|| read_file(task, address, into))
}

fn read_file(task: i32, address: u64, into: &mut [u8]) -> Option<usize> {
    let file = File::open(format!("/proc/{task}/mem")).ok()?;
    file.read_at(into, address).ok().filter(|read| *read > 0)
}

fn read_at_once(task: i32, address: u64, into: &mut [u8]) -> Option<usize> {
    let local = libc::iovec { iov_base: into.as_mut_ptr().cast(), iov_len: into.len() };
    let remote = libc::iovec {
        iov_base: ptr::without_provenance_mut(usize::try_from(address).ok()?),
        iov_len: into.len(),
    };
    // SAFETY: the local vector is memory of ours of that length; the remote one is only read, in the other process.
    let read = unsafe { libc::process_vm_readv(task, &local, 1, &remote, 1, 0) };
    usize::try_from(read).ok().filter(|read| *read > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_read_the_same_and_neither_reads_what_is_not_there() {
        let text = b"/usr/bin/true\0";
        let own = i32::try_from(std::process::id()).unwrap();
        for way in [read_at_once, read_file] {
            let mut into = vec![0; text.len()];
            assert_eq!(way(own, text.as_ptr() as u64, &mut into), Some(text.len()));
            assert_eq!(into, text);
            assert_eq!(way(own, 1, &mut into), None);
        }
        assert_eq!(string(own, text.as_ptr() as u64).unwrap(), "/usr/bin/true");
        assert_eq!(string(own, 0), None);
    }
}
