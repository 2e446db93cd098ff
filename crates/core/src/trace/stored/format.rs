//! What the bytes of a stream mean: the kinds of events and their flags, and the numbers that no trace has.

use super::super::event::{Context, FileKind, Left, NotOurs, Softirq, TaskKind};

/// How the bytes are written. Another number is another way.
pub const FORMAT: &str = "whyfaster-schedule/4";
/// The ways before, which are read as well: without scripts; without children that go on without an exec; and also without what was spent in
/// system calls, start-ups, and the bitset of a wait.
pub(super) const FORMER: [&str; 3] = ["whyfaster-schedule/3", "whyfaster-schedule/2", "whyfaster-schedule/1"];

/// CPUs that a kernel can be built for (`NR_CPUS` of `CONFIG_MAXSMP`).
pub(super) const MOST_CPUS: usize = 8192;
/// More than any count of one trace. Sums of such numbers stay in range.
pub(super) const MOST: u64 = 1 << 56;
/// Longer than any trace that is kept: 13 days in nanoseconds. Sums over ten thousands of tasks stay in range.
pub(super) const LONGEST: u64 = 1 << 50;
/// Dearer than any single operation, nanoseconds.
pub(super) const DEAREST: f64 = 1e12;
/// Later than any clock since boot: a century in nanoseconds.
pub(super) const LATEST: u64 = 1 << 62;

/// Kinds of events.
pub(super) mod kind {
    pub(in super::super) const SWITCH: u8 = 0;
    pub(in super::super) const WAKE: u8 = 1;
    pub(in super::super) const QUEUED: u8 = 2;
    pub(in super::super) const MIGRATE: u8 = 3;
    pub(in super::super) const FORK: u8 = 4;
    /// With its third flag: it goes on without one.
    pub(in super::super) const EXEC: u8 = 5;
    pub(in super::super) const EXEC_FAILED: u8 = 6;
    pub(in super::super) const ALLOWED: u8 = 7;
    /// With its third flag: it is only not observed any more.
    pub(in super::super) const END: u8 = 8;
    pub(in super::super) const NAME: u8 = 9;
    pub(in super::super) const WORK: u8 = 10;
    /// With its first flag: what runs a script.
    pub(in super::super) const PIPES: u8 = 11;
    pub(in super::super) const SPENT: u8 = 12;
    pub(in super::super) const STARTED: u8 = 13;
    /// With its first flag: who made a task that was there before.
    pub(in super::super) const WAITS: u8 = 14;
    pub(in super::super) const LOST: u8 = 15;
}

/// Flags in the high half of the first byte.
pub(super) const FLAG: [u8; 4] = [0x10, 0x20, 0x40, 0x80];

/// In the byte of flags of a block, whose low half is free otherwise: a wait with a bitset.
pub(super) const BITSET: u8 = 0x01;

/// States, kinds of files and of tasks by their numbers in the stream.
pub(super) const LEFT: [Left; 6] =
    [Left::Runnable, Left::Sleeping, Left::Uninterruptible, Left::Stopped, Left::Dead, Left::Throttled];
pub(super) const FILES: [FileKind; 9] = [
    FileKind::None,
    FileKind::Pipe,
    FileKind::File,
    FileKind::BlockDevice,
    FileKind::Terminal,
    FileKind::CharDevice,
    FileKind::UnixSocket,
    FileKind::Socket,
    FileKind::Other,
];
pub(super) const TASKS: [TaskKind; 4] = [TaskKind::Tree, TaskKind::Tool, TaskKind::Kernel, TaskKind::Other];
pub(super) const NOT_OURS: [NotOurs; 5] = [
    NotOurs::OtherUser,
    NotOurs::Capabilities,
    NotOurs::NotDumpable,
    NotOurs::UserNamespace,
    NotOurs::Refused,
];
/// Contexts without a function; one behind them is [`Context::Work`], and two behind them [`Context::Sent`].
pub(super) const CONTEXTS: [Context; 7] = [
    Context::Task,
    Context::Hardirq,
    Context::Timer,
    Context::Softirq(Softirq::Block),
    Context::Softirq(Softirq::Net),
    Context::Softirq(Softirq::Timer),
    Context::Softirq(Softirq::Other),
];
