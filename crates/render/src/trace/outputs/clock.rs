//! The clocks of a trace: events have one, Perfetto another.

use rustix::time::{ClockId, clock_gettime};

/// The clocks at one moment, nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    /// `CLOCK_MONOTONIC`, the clock of events.
    pub monotonic_ns: u64,
    /// `CLOCK_BOOTTIME`, the clock of Perfetto.
    pub boottime_ns: u64,
    /// `CLOCK_REALTIME`.
    pub realtime_ns: u64,
}

impl Clock {
    /// Now.
    pub fn now() -> Self {
        let read = |clock| {
            let time = clock_gettime(clock);
            // Neither is negative on a clock that counts from 1970 or from the boot.
            (time.tv_sec as u64) * 1_000_000_000 + time.tv_nsec as u64
        };
        Self {
            monotonic_ns: read(ClockId::Monotonic),
            boottime_ns: read(ClockId::Boottime),
            realtime_ns: read(ClockId::Realtime),
        }
    }

    pub(super) fn boottime(self, monotonic: u64) -> u64 {
        // Boot time includes suspension and so is never behind.
        monotonic + self.boottime_ns.saturating_sub(self.monotonic_ns)
    }
}
