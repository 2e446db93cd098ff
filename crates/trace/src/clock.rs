//! The two clocks of an observer, in nanoseconds.

use rustix::time::{ClockId, clock_gettime};

/// The clock of the records, `CLOCK_MONOTONIC`.
pub(crate) fn now_ns() -> u64 {
    read(ClockId::Monotonic)
}

/// CPU time of this process so far.
pub(crate) fn own_cpu_ns() -> u64 {
    read(ClockId::ProcessCPUTime)
}

fn read(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    u64::try_from(time.tv_sec * 1_000_000_000 + time.tv_nsec).unwrap_or(0)
}
