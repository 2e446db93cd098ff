//! Records of the kernel's perf events, taken out of the memory that it shares with us.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use libbpf_rs::libbpf_sys::{self, perf_event_attr};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Bytes of records for each event. A user may lock 516 KiB for each CPU (`kernel.perf_event_mlock_kb`), and what the limit on locked
/// memory allows besides (perf_mmap(), kernel/events/core.c).
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
    event: File,
    /// Lost records that were told.
    told: u64,
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
pub(crate) fn open(attributes: &perf_event_attr, process: i32, cpu: i32) -> io::Result<OwnedFd> {
    const CLOEXEC: libc::c_ulong = 1 << 3; // PERF_FLAG_FD_CLOEXEC
    let size = u32::try_from(size_of::<perf_event_attr>()).expect("a small struct");
    let attributes = perf_event_attr { size, ..*attributes };
    // SAFETY: the attributes are readable and say how long they are; the rest are integers.
    let fd =
        unsafe { libc::syscall(libc::SYS_perf_event_open, &raw const attributes, process, cpu, -1, CLOEXEC) };
    let fd = i32::try_from(fd).unwrap_or(-1);
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel just gave us this descriptor.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Opens the same event on every CPU that is online. It counts what it loses, where the kernel can (Linux 6.0).
pub(crate) fn on_every_cpu(attributes: &perf_event_attr, process: i32) -> io::Result<Vec<OwnedFd>> {
    let mut events = Vec::new();
    let room = Room::make()?;
    let counting = perf_event_attr { read_format: u64::from(libbpf_sys::PERF_FORMAT_LOST), ..*attributes };
    let open = |cpu| match open(&counting, process, cpu) {
        Err(e) if e.raw_os_error() == Some(libc::EINVAL) => open(attributes, process, cpu),
        opened => opened,
    };
    for cpu in cpus()? {
        match open(cpu).and_then(|event| room.take(event)) {
            Ok(event) => events.push(event),
            // This CPU is offline.
            Err(e) if e.raw_os_error() == Some(libc::ENODEV) => {}
            Err(e) => return Err(e),
        }
    }
    Ok(events)
}

/// Room for descriptors beyond the limit on open files, which is back as it was when this is dropped: 1024 are few for an event or two
/// on each of some hundred CPUs, and what commands may open is theirs to know.
#[derive(Debug)]
struct Room {
    former: Option<Rlimit>,
    _alone: MutexGuard<'static, ()>,
}

/// The limit is the process's: two that raise it at once would put back what the other one made of it.
static RAISING: Mutex<()> = Mutex::new(());

impl Room {
    /// A limit from here on has room enough, and a table of so many descriptors would be copied for every child.
    const LARGE: u64 = 1 << 14;

    fn make() -> io::Result<Self> {
        let _alone = RAISING.lock().unwrap_or_else(PoisonError::into_inner);
        let former = getrlimit(Resource::Nofile);
        let low = former.current.is_some_and(|current| current < Self::LARGE);
        let beyond = former.maximum.is_none_or(|maximum| Some(maximum) > former.current);
        if !low || !beyond {
            return Ok(Self { former: None, _alone });
        }
        setrlimit(Resource::Nofile, Rlimit { current: former.maximum, ..former })?;
        Ok(Self { former: Some(former), _alone })
    }

    /// The same descriptor, with a number beyond the former limit.
    fn take(&self, fd: OwnedFd) -> io::Result<OwnedFd> {
        match self.former.as_ref().and_then(|former| RawFd::try_from(former.current?).ok()) {
            Some(former) => Ok(rustix::io::fcntl_dupfd_cloexec(&fd, former)?),
            None => Ok(fd),
        }
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        // Lowering it is always allowed.
        self.former.take().map(|former| setrlimit(Resource::Nofile, former));
    }
}

/// How many CPUs there may ever be.
pub(crate) fn possible_cpus() -> io::Result<usize> {
    // Looked for first: libbpf complains on standard error.
    File::open("/sys/devices/system/cpu/possible")?;
    libbpf_rs::num_possible_cpus().map_err(io::Error::other)
}

/// CPUs that there may be; where `/sys` does not tell, those that are online.
fn cpus() -> io::Result<Vec<i32>> {
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

/// How many records of these were lost behind the last one that said so.
pub(crate) fn untold(rings: &mut [Ring]) -> u64 {
    rings.iter_mut().filter_map(Ring::untold).sum()
}

impl Ring {
    /// Maps the records of an event.
    pub(crate) fn new(event: OwnedFd) -> io::Result<Self> {
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
            return Err(unmapped(io::Error::last_os_error()));
        }
        let memory = NonNull::new(memory.cast()).ok_or_else(|| io::Error::other("mapped at address 0"))?;
        Ok(Self { memory, length, page, event: event.into(), told: 0 })
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
            let mut body = self.copy(tail + 8, length);
            if kind == LOST
                && let (Some(lost), Some(count)) = (self.untold(), body.get_mut(8..16))
            {
                count.copy_from_slice(&lost.to_ne_bytes());
            }
            // A record that is shorter than what was asked for would be a newer kernel's: it says nothing here.
            records.extend(Self::record(kind, misc, body));
            tail += size;
        }
        self.counter(DATA_TAIL).store(tail.max(head), Ordering::Release);
    }

    /// How many records were lost that were not told yet. The kernel itself tells them together with the next record for which there is
    /// room, which may never come. `None`: it does not count them (before Linux 6.0).
    fn untold(&mut self) -> Option<u64> {
        // struct read_format in linux/perf_event.h: a count of the event, and this.
        let mut numbers = [0; 2 * size_of::<u64>()];
        self.event.read_exact(&mut numbers).ok()?;
        let lost = number(&numbers, 8)?;
        Some(lost - std::mem::replace(&mut self.told, lost))
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

impl AsFd for Ring {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}

/// That the event itself was refused would be the same error.
fn unmapped(error: io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(libc::EPERM) => io::Error::new(
            io::ErrorKind::PermissionDenied,
            "no more memory for records may be locked: kernel.perf_event_mlock_kb and the limit on locked memory (ulimit -l) allow too little",
        ),
        _ => error,
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: our own mapping, which nobody refers to any more.
        unsafe { libc::munmap(self.memory.as_ptr().cast(), self.length) };
    }
}

#[cfg(test)]
mod tests {
    use rustix::thread::{CpuSet, sched_getcpu, sched_setaffinity};

    use super::*;

    #[test]
    fn events_lie_beyond_the_limit_on_open_files_which_stays() {
        let limit = || {
            let _alone = RAISING.lock().unwrap();
            getrlimit(Resource::Nofile)
        };
        let before = limit();
        let event = perf_event_attr {
            type_: libbpf_sys::PERF_TYPE_SOFTWARE,
            config: u64::from(libbpf_sys::PERF_COUNT_SW_DUMMY),
            ..perf_event_attr::default()
        };
        let Ok(events) = on_every_cpu(&event, 0) else { return };
        assert_eq!(limit(), before);
        let beyond = before.current.filter(|now| *now < Room::LARGE && before.maximum != Some(*now));
        let least = events.iter().map(|event| event.as_raw_fd() as u64).min();
        assert!(beyond.is_none() || least >= beyond, "{least:?}, {before:?}");
    }

    #[test]
    fn what_was_lost_last_is_told_though_no_record_comes_any_more() {
        const MAPPED: u64 = 5000;
        let mut event = perf_event_attr {
            type_: libbpf_sys::PERF_TYPE_SOFTWARE,
            config: u64::from(libbpf_sys::PERF_COUNT_SW_DUMMY),
            sample_type: RECORDS_END_WITH,
            ..perf_event_attr::default()
        };
        event.set_mmap(1);
        event.set_sample_id_all(1);
        event.set_exclude_kernel(1);
        // Of this thread alone. Not everybody may, and old kernels do not count.
        let Ok(events) = on_every_cpu(&event, 0) else { return };
        let rings: io::Result<Vec<Ring>> = events.into_iter().map(Ring::new).collect();
        let Ok(mut rings) = rings else { return };
        if rings.iter_mut().any(|ring| ring.untold().is_none()) {
            return;
        }
        // All into one of the rings, which is too small for it.
        let mut one = CpuSet::new();
        one.set(sched_getcpu());
        sched_setaffinity(None, &one).unwrap();
        let file = File::open("/proc/self/exe").unwrap();
        for _ in 0..MAPPED {
            // SAFETY: a mapping of its own, which nobody uses.
            unsafe {
                let kind = (libc::PROT_READ | libc::PROT_EXEC, libc::MAP_PRIVATE);
                let mapped = libc::mmap(std::ptr::null_mut(), 4096, kind.0, kind.1, file.as_raw_fd(), 0);
                libc::munmap(mapped, 4096);
            }
        }
        let mut records = Vec::new();
        rings.iter_mut().for_each(|ring| ring.take(&mut records));
        let told = |record: &Record| if record.kind == LOST { number(&record.body, 8).unwrap() } else { 1 };
        let told: u64 = records.iter().map(told).sum();
        let untold: u64 = rings.iter_mut().filter_map(Ring::untold).sum();
        assert!(told < MAPPED && told + untold == MAPPED, "{told} {untold}");
        assert_eq!(rings.iter_mut().filter_map(Ring::untold).sum::<u64>(), 0, "once");
    }

    #[test]
    fn memory_that_may_not_be_locked_is_no_event_that_is_refused() {
        let refused = unmapped(io::Error::from_raw_os_error(libc::EPERM));
        assert!(refused.raw_os_error().is_none() && refused.to_string().contains("ulimit -l"), "{refused}");
        assert_eq!(unmapped(io::Error::from_raw_os_error(libc::ENOMEM)).raw_os_error(), Some(libc::ENOMEM));
    }
}
