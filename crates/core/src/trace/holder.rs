//! Who holds a CPU while a task waits for it.

use super::labels::Label;
use super::report::SharerKind;

/// A stretch of waiting on an idle CPU that lasts longer than this is no wake-up. It counts as throttled where the
/// cgroup's quota was used up; nothing else leaves a runnable task on an idle CPU for so long.
pub(super) const WAKE_UP_NS: u64 = 1_000_000;

/// Who held a CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Holder {
    /// A task.
    Task(SharerKind, Label),
    /// Nobody, for as long as a wake-up takes.
    WakeUp,
    /// Nobody, for longer.
    LongIdle,
    /// Whoever it was: the quota of the waiter's cgroup was used up. What it waits for others once it has a quota again counts here too, for
    /// the kernel does not tell when that is.
    Throttled,
    /// A task that the stream did not show.
    Unknown,
}

impl Holder {
    /// The CPU did something.
    pub(super) fn is_busy(self) -> bool {
        !matches!(self, Self::WakeUp | Self::LongIdle | Self::Throttled)
    }
}
