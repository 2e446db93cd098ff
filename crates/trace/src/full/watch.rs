//! Who maps which file, told by the kernel as it happens (`PERF_RECORD_MMAP2`): a process of a few milliseconds is gone
//! before anybody could read its `/proc/PID/maps`.

use std::os::fd::{AsRawFd, OwnedFd};
use std::path::PathBuf;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};

use libbpf_rs::libbpf_sys;

use super::images::Images;
use super::samples;

/// Bytes of records for each CPU. An unprivileged user may lock 516 KiB (`kernel.perf_event_mlock_kb`).
const DATA_BYTES: usize = 1 << 18;

/// Places of two counters in the first page (`struct perf_event_mmap_page` in the kernel's linux/perf_event.h).
const DATA_HEAD: usize = 1024;
const DATA_TAIL: usize = 1032;

/// Kinds of records, and a mark of one of them (linux/perf_event.h).
const LOST: u32 = 2;
const COMM: u32 = 3;
const EXIT: u32 = 4;
const FORK: u32 = 7;
const MMAP2: u32 = 10;
const COMM_EXEC: u16 = 1 << 13;

/// The records of all CPUs.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    rings: Vec<Ring>,
    /// Records for which there was no room.
    pub(crate) lost: u64,
}

/// The records of one CPU, shared with the kernel.
#[derive(Debug)]
struct Ring {
    memory: NonNull<u8>,
    length: usize,
    page: usize,
    _event: OwnedFd,
}

/// One record.
struct Record {
    at: u64,
    kind: u32,
    misc: u16,
    body: Vec<u8>,
}

impl Watch {
    /// Watches all processes of the machine.
    pub(crate) fn start() -> std::io::Result<Self> {
        let mut attributes = libbpf_sys::perf_event_attr {
            type_: libbpf_sys::PERF_TYPE_SOFTWARE,
            config: u64::from(libbpf_sys::PERF_COUNT_SW_DUMMY),
            sample_type: u64::from(libbpf_sys::PERF_SAMPLE_TIME),
            clockid: libc::CLOCK_MONOTONIC,
            ..libbpf_sys::perf_event_attr::default()
        };
        attributes.set_mmap(1);
        attributes.set_mmap2(1);
        attributes.set_comm(1);
        attributes.set_comm_exec(1);
        attributes.set_task(1);
        attributes.set_sample_id_all(1);
        attributes.set_use_clockid(1);
        let mut rings = Vec::new();
        for event in samples::on_every_cpu(&attributes)? {
            rings.push(Ring::new(event)?);
        }
        Ok(Self { rings, lost: 0 })
    }

    /// Takes what has come, in the order of time.
    pub(crate) fn tell(&mut self, images: &mut Images) {
        let mut records = Vec::new();
        self.rings.iter_mut().for_each(|ring| ring.take(&mut records));
        records.sort_by_key(|record| record.at);
        for record in &records {
            if record.kind == LOST {
                self.lost += number(&record.body, 8).unwrap_or(0);
            } else {
                // A record that is shorter than its kind would be a newer kernel's: nothing is named by it.
                let _ = apply(record, images);
            }
        }
    }
}

/// Notes one record.
fn apply(record: &Record, images: &mut Images) -> Option<()> {
    let word = |at: usize| Some(u32::from_ne_bytes(record.body.get(at..at + 4)?.try_into().ok()?));
    let process = word(0)?;
    match record.kind {
        COMM if record.misc & COMM_EXEC != 0 => images.exec(process, record.at),
        // A thread has the numbers of its process.
        FORK if process != word(4)? => images.forked(word(4)?, process, record.at),
        EXIT if process == word(8)? => images.ended(process),
        MMAP2 => {
            let (start, length, offset) =
                (number(&record.body, 8)?, number(&record.body, 16)?, number(&record.body, 24)?);
            let name = record.body.get(64..)?;
            let name = &name[..name.iter().position(|b| *b == 0)?];
            let file = PathBuf::from(String::from_utf8_lossy(name).into_owned());
            images.mapped(process, (start, start + length), offset, file);
        }
        _ => {}
    }
    Some(())
}

fn number(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

impl Ring {
    fn new(event: OwnedFd) -> std::io::Result<Self> {
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

    fn take(&mut self, records: &mut Vec<Record>) {
        let head = self.counter(DATA_HEAD).load(Ordering::Acquire);
        let mut tail = self.counter(DATA_TAIL).load(Ordering::Relaxed);
        while tail < head {
            let header = self.copy(tail, 8);
            let kind = u32::from_ne_bytes(header[..4].try_into().expect("four bytes"));
            let misc = u16::from_ne_bytes(header[4..6].try_into().expect("two bytes"));
            let size = u64::from(u16::from_ne_bytes(header[6..8].try_into().expect("two bytes")));
            if size < 16 {
                break;
            }
            let mut body = self.copy(tail + 8, usize::try_from(size - 8).unwrap_or(0));
            // The time stands at the end of every record.
            let at = number(&body, body.len() - 8).unwrap_or(0);
            body.truncate(body.len() - 8);
            records.push(Record { at, kind, misc, body });
            tail += size;
        }
        self.counter(DATA_TAIL).store(tail.max(head), Ordering::Release);
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
