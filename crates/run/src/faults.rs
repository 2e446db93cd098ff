//! What a first touch of memory costs, by how much of it there is: the kernel clears every page, and beyond the caches that
//! takes half as long again. The probe of `prices` touches little memory, again and again.

use std::ptr;

use whyfaster_core::trace::setting::{Operation, Price};

/// Repetitions; the median counts.
const TURNS: usize = 3;

/// Least and most bytes that are touched.
const BYTES: (u64, u64) = (1 << 20, 256 << 20);

/// What touching one page for the first time and giving it back costs in a region about as large as a command's memory.
/// `None`: there is not enough memory.
pub(super) fn price(memory_bytes: u64, available_bytes: Option<u64>) -> Option<Price> {
    let (least, most) = BYTES;
    // Never so much that the machine has to make room for it.
    let most = available_bytes.map_or(most, |available| most.min(available / 8)).max(least);
    let bytes = usize::try_from(memory_bytes.clamp(least, most)).ok()?;
    let mut turns: Vec<f64> = (0..TURNS).map(|_| turn(bytes)).collect::<Option<_>>()?;
    turns.sort_by(f64::total_cmp);
    Some(Price { of: Operation::PageFault, ns: turns[TURNS / 2] })
}

fn turn(bytes: usize) -> Option<f64> {
    let page = rustix::param::page_size();
    let before = cpu_ns();
    // SAFETY: a fresh anonymous mapping, written within its bounds and unmapped whole; nobody else knows of it.
    unsafe {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let memory = libc::mmap(ptr::null_mut(), bytes, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0);
        if memory == libc::MAP_FAILED {
            return None;
        }
        // One page a fault. Where the kernel has no huge pages the advice fails, and is not needed.
        libc::madvise(memory, bytes, libc::MADV_NOHUGEPAGE);
        let first: *mut u8 = memory.cast();
        for offset in (0..bytes).step_by(page) {
            first.add(offset).write_volatile(1);
        }
        libc::munmap(memory, bytes);
    }
    Some((cpu_ns() - before) / (bytes / page) as f64)
}

/// CPU time of this thread.
fn cpu_ns() -> f64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_costs_something_and_little_memory_is_enough() {
        let small = price(0, Some(0)).unwrap().ns;
        let large = price(32 << 20, Some(1 << 40)).unwrap().ns;
        // Clearing 4 KiB takes longer than 20 ns anywhere, and a fault less than a millisecond.
        assert!((20.0..1e6).contains(&small) && (20.0..1e6).contains(&large), "{small} {large}");
    }
}
