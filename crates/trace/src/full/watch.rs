//! Who maps which file, told by the kernel as it happens (`PERF_RECORD_MMAP2`): a process of a few milliseconds is gone
//! before anybody could read its `/proc/PID/maps`.

use std::os::fd::{AsFd, BorrowedFd};
use std::path::PathBuf;

use libbpf_rs::libbpf_sys;
use whyfaster_core::trace::counts::{CpuLost, Lost};

use super::images::Images;
use crate::ring::{self, LOST, RECORDS_END_WITH, Record, Ring, number, on_every_cpu, word};

/// Kinds of records, and a mark of one of them (linux/perf_event.h).
const COMM: u32 = 3;
const EXIT: u32 = 4;
const FORK: u32 = 7;
const MMAP2: u32 = 10;
const COMM_EXEC: u16 = 1 << 13;

/// The records of all CPUs.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    rings: Vec<Ring>,
    /// Those that were taken and come too late to be told yet.
    waiting: Vec<Record>,
    /// Records for which there was no room, as paths that could not be read.
    pub(crate) lost: Lost,
}

impl Watch {
    /// Watches all processes of the machine.
    pub(crate) fn start() -> std::io::Result<Self> {
        let mut attributes = libbpf_sys::perf_event_attr {
            type_: libbpf_sys::PERF_TYPE_SOFTWARE,
            config: u64::from(libbpf_sys::PERF_COUNT_SW_DUMMY),
            sample_type: RECORDS_END_WITH,
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
        for event in on_every_cpu(&attributes, -1)? {
            rings.push(Ring::new(event)?);
        }
        Ok(Self { rings, ..Self::default() })
    }

    /// Each is readable when its ring is half full.
    pub(crate) fn fds(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.rings.iter().map(Ring::as_fd)
    }

    /// How many records were lost behind the last one.
    pub(crate) fn untold(&mut self) -> u64 {
        ring::untold(&mut self.rings)
    }

    /// Tells what happened up to `until`, in the order of time. That is before this call: the rings are read one after the other, and a
    /// process may go on to a CPU whose ring is read later. Then what it did there would be told before its beginning.
    pub(crate) fn tell(&mut self, until: u64, images: &mut Images) {
        self.rings.iter_mut().for_each(|ring| ring.take(&mut self.waiting));
        self.waiting.sort_by_key(|record| record.at);
        let come = self.waiting.partition_point(|record| record.at <= until);
        for record in self.waiting.drain(..come) {
            if record.kind == LOST {
                let string = number(&record.body, 8).unwrap_or(0);
                self.lost.count(&CpuLost { cpu: record.cpu, string, ..CpuLost::default() });
            } else {
                // A record that is shorter than its kind would be a newer kernel's: nothing is named by it.
                let _ = apply(&record, images);
            }
        }
    }
}

/// Notes one record.
pub(crate) fn apply(record: &Record, images: &mut Images) -> Option<()> {
    let word = |at: usize| word(&record.body, at);
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
            let identity = ((word(32)?, word(36)?), number(&record.body, 40)?);
            images.mapped(process, (start, start + length), offset, (file, identity));
        }
        _ => {}
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(at: u64, kind: u32, misc: u16, words: &[u32]) -> Record {
        let body = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        Record { at, kind, misc, who: (0, 0), cpu: 0, body }
    }

    /// Its parent's CPU tells of its beginning, and another CPU of its program.
    #[test]
    fn a_process_that_begins_while_the_rings_are_read_keeps_what_it_maps() {
        let mut watch = Watch::default();
        let mut images = Images::default();
        images.exec(7, 1);
        let (address, length) = (0x1000_u32, 0x1000_u32);
        let mut mapped = vec![8, 8, address, 0, length, 0];
        mapped.extend([0; 10]);
        mapped.extend(b"/bin/a\0\0".chunks_exact(4).map(|b| u32::from_ne_bytes(b.try_into().unwrap())));
        watch.waiting = vec![record(20, COMM, COMM_EXEC, &[8, 8]), record(21, MMAP2, 0, &mapped)];
        watch.tell(15, &mut images);
        watch.waiting.push(record(16, FORK, 0, &[8, 7, 8, 7]));
        watch.tell(30, &mut images);
        let (file, _) = images.find(8, 25, 0x1010).unwrap();
        assert_eq!(file.path, PathBuf::from("/bin/a"));
    }
}
