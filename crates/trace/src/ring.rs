//! Records of the kernel's perf events, taken out of the memory that it shares with us.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use libbpf_rs::libbpf_sys::{self, perf_event_attr};

/// Bytes of records for each CPU. An unprivileged user may lock 516 KiB (`kernel.perf_event_mlock_kb`).
const DATA_BYTES: usize = 1 << 18;

/// Places of two counters in the first page (`struct perf_event_mmap_page` in the kernel's linux/perf_event.h).
const DATA_HEAD: usize = 1024;
const DATA_TAIL: usize = 1032;

/// Kinds of records (linux/perf_event.h).
pub(crate) const LOST: u32 = 2;
pub(crate) const SAMPLE: u32 = 9;

/// What every event here asks for in `sample_type`. It stands at the end of every record but a sample, in this order: process
/// and task, the time, the CPU.
pub(crate) const RECORDS_END_WITH: u64 =
    (libbpf_sys::PERF_SAMPLE_TID | libbpf_sys::PERF_SAMPLE_TIME | libbpf_sys::PERF_SAMPLE_CPU) as u64;

/// The records of one event, shared with the kernel.
#[derive(Debug)]
pub(crate) struct Ring {
    memory: NonNull<u8>,
    length: usize,
    page: usize,
    _event: OwnedFd,
}

/// One record.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) at: u64,
    pub(crate) kind: u32,
    pub(crate) misc: u16,
    /// Process and task, where each record says them.
    pub(crate) who: (u32, u32),
    pub(crate) cpu: u16,
    pub(crate) body: Vec<u8>,
}

/// Opens an event for a process (-1: all) on a CPU (-1: any).
pub(crate) fn open(attributes: &perf_event_attr, process: i32, cpu: i32) -> std::io::Result<OwnedFd> {
    const CLOEXEC: libc::c_ulong = 1 << 3; // PERF_FLAG_FD_CLOEXEC
    let size = u32::try_from(size_of::<perf_event_attr>()).expect("a small struct");
    let attributes = perf_event_attr { size, ..*attributes };
    // SAFETY: the attributes are readable and say how long they are; the rest are integers.
    let fd =
        unsafe { libc::syscall(libc::SYS_perf_event_open, &raw const attributes, process, cpu, -1, CLOEXEC) };
    let fd = i32::try_from(fd).unwrap_or(-1);
    if fd < 0 {
        return Err(std::io::Error::last_os_error());
    }
    // SAFETY: the kernel just gave us this descriptor.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Opens the same event on every CPU that is online.
pub(crate) fn on_every_cpu(attributes: &perf_event_attr, process: i32) -> std::io::Result<Vec<OwnedFd>> {
    let mut events = Vec::new();
    for cpu in cpus()? {
        match open(attributes, process, cpu) {
            Ok(event) => events.push(event),
            // This CPU is offline.
            Err(e) if e.raw_os_error() == Some(libc::ENODEV) => {}
            Err(e) => return Err(e),
        }
    }
    Ok(events)
}

/// How many CPUs there may ever be.
pub(crate) fn possible_cpus() -> std::io::Result<usize> {
    // Looked for first: libbpf complains on standard error.
    std::fs::File::open("/sys/devices/system/cpu/possible")?;
    libbpf_rs::num_possible_cpus().map_err(std::io::Error::other)
}

/// CPUs that there may be; where `/sys` does not tell, those that are online.
fn cpus() -> std::io::Result<Vec<i32>> {
    if let Ok(count) = possible_cpus() {
        return Ok((0..i32::try_from(count).unwrap_or(i32::MAX)).collect());
    }
    let text = std::fs::read_to_string("/proc/stat")?;
    Ok(text.lines().filter_map(|line| line.strip_prefix("cpu")?.split(' ').next()?.parse().ok()).collect())
}

/// Eight bytes of a record.
pub(crate) fn number(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

/// Four bytes of a record.
pub(crate) fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

impl Ring {
    /// Maps the records of an event.
    pub(crate) fn new(event: OwnedFd) -> std::io::Result<Self> {
        let page = rustix::param::page_size();
        let length = page + DATA_BYTES;
        // SAFETY: a new mapping of a descriptor that is open; the kernel checks the length.
        let memory = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                event.as_raw_fd(),
                0,
            )
        };
        if memory == libc::MAP_FAILED {
            return Err(std::io::Error::last_os_error());
        }
        let memory =
            NonNull::new(memory.cast()).ok_or_else(|| std::io::Error::other("mapped at address 0"))?;
        Ok(Self { memory, length, page, _event: event })
    }

    /// A counter of the first page.
    fn counter(&self, at: usize) -> &AtomicU64 {
        // SAFETY: within the mapping, aligned, and changed by the kernel as a whole.
        unsafe { AtomicU64::from_ptr(self.memory.as_ptr().add(at).cast()) }
    }

    /// Takes what has come.
    pub(crate) fn take(&mut self, records: &mut Vec<Record>) {
        let head = self.counter(DATA_HEAD).load(Ordering::Acquire);
        let mut tail = self.counter(DATA_TAIL).load(Ordering::Relaxed);
        while tail < head {
            let header = self.copy(tail, 8);
            let kind = u32::from_ne_bytes(header[..4].try_into().expect("four bytes"));
            let misc = u16::from_ne_bytes(header[4..6].try_into().expect("two bytes"));
            let size = u64::from(u16::from_ne_bytes(header[6..8].try_into().expect("two bytes")));
            let Some(length) = size.checked_sub(8).and_then(|length| usize::try_from(length).ok()) else {
                break;
            };
            let body = self.copy(tail + 8, length);
            // A record that is shorter than what was asked for would be a newer kernel's: it says nothing here.
            records.extend(Self::record(kind, misc, body));
            tail += size;
        }
        self.counter(DATA_TAIL).store(tail.max(head), Ordering::Release);
    }

    fn record(kind: u32, misc: u16, mut body: Vec<u8>) -> Option<Record> {
        // In a sample the same parts stand at the beginning, and what was sampled follows.
        let from = if kind == SAMPLE { 0 } else { body.len().checked_sub(24)? };
        let who = (word(&body, from)?, word(&body, from + 4)?);
        let at = number(&body, from + 8)?;
        let cpu = u16::try_from(word(&body, from + 16)?).unwrap_or(u16::MAX);
        if kind != SAMPLE {
            body.truncate(from);
        }
        Some(Record { at, kind, misc, who, cpu, body })
    }

    /// Bytes from a place on; the data begin anew at their end.
    fn copy(&self, from: u64, count: usize) -> Vec<u8> {
        let from = usize::try_from(from % DATA_BYTES as u64).expect("smaller than the data");
        // SAFETY: within the data, which follow the first page; the kernel does not write what has not been given back.
        (0..count)
            .map(|i| unsafe { self.memory.as_ptr().add(self.page + (from + i) % DATA_BYTES).read() })
            .collect()
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: our own mapping, which nobody refers to any more.
        unsafe { libc::munmap(self.memory.as_ptr().cast(), self.length) };
    }
}
