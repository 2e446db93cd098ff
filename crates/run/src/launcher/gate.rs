//! The barrier: copies wait here after they were created, and are released together (or one by one).
//!
//! It is a futex in memory shared with the copies, because one `FUTEX_WAKE` then releases any number of them in one
//! system call. A copy stamps its start into its slot as the last thing before its exec.

use std::io;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use rustix::thread::futex;
use rustix::time::Timespec;

use super::super::protocol::Step;

/// What all copies share.
#[repr(C, align(64))]
struct Head {
    /// 1 when the copies of a batch may go.
    open: AtomicU32,
    /// Copies that stand at the gate or gave up on the way.
    arrived: AtomicU32,
}

/// What one copy tells the launcher. A cache line each, so that copies on other CPUs do not slow each other down.
#[repr(C, align(64))]
pub(super) struct Slot {
    /// 1 when this copy may go (used when copies are released one by one).
    open: AtomicU32,
    /// Error number of what failed, or 0.
    errno: AtomicI32,
    /// Which step failed: see [`Step`].
    step: AtomicU32,
    /// `CLOCK_MONOTONIC` just before the exec, or 0.
    start_ns: AtomicU64,
    /// What the process had used until then: user and system CPU time in microseconds, voluntary and involuntary switches.
    used: [AtomicU64; 4],
}

/// CPU time and switches of a copy before its exec. They are ours, not the command's, and are taken off its account.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Used {
    pub(super) user_us: u64,
    pub(super) system_us: u64,
    pub(super) voluntary: u64,
    pub(super) involuntary: u64,
}

/// The shared memory of one batch.
pub(super) struct Gate {
    map: NonNull<Head>,
    slots: usize,
    bytes: usize,
}

impl Gate {
    /// A closed gate with this many slots.
    pub(super) fn new(slots: usize) -> io::Result<Self> {
        let bytes = size_of::<Head>() + slots * size_of::<Slot>();
        // SAFETY: a fresh anonymous mapping; no address is asked for and none of ours is touched.
        let map = unsafe {
            libc::mmap(
                ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if map == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let map =
            NonNull::new(map.cast()).ok_or_else(|| io::Error::other("mmap returned the null address"))?;
        Ok(Self { map, slots, bytes })
    }

    fn head(&self) -> &Head {
        // SAFETY: the mapping is at least a Head long, page-aligned, zeroed (a valid Head), and lives as long as self.
        unsafe { self.map.as_ref() }
    }

    /// The slot of a copy.
    pub(super) fn slot(&self, index: usize) -> &Slot {
        assert!(index < self.slots, "slot {index} of {}", self.slots);
        // SAFETY: inside the mapping by the assertion; zeroed memory is a valid Slot; only atomics are in it.
        unsafe { self.map.add(1).cast::<Slot>().add(index).as_ref() }
    }

    /// Called by a copy: it stands at the gate (or will never come).
    pub(super) fn arrive(&self) {
        self.head().arrived.fetch_add(1, Ordering::Release);
        wake(&self.head().arrived, 1);
    }

    /// Called by a copy: waits until all are released, or it alone.
    pub(super) fn wait(&self, index: usize, together: bool) {
        let word = if together { &self.head().open } else { &self.slot(index).open };
        while word.load(Ordering::Acquire) == 0 {
            wait(word, 0, None);
        }
    }

    /// Waits a moment for another copy to arrive. Says whether so many have.
    pub(super) fn arrived(&self, wanted: usize) -> bool {
        let arrived = || self.head().arrived.load(Ordering::Acquire);
        let seen = arrived();
        if (seen as usize) < wanted {
            wait(&self.head().arrived, seen, Some(Duration::from_millis(20)));
        }
        arrived() as usize >= wanted
    }

    /// Releases all copies that wait together.
    pub(super) fn open_all(&self) {
        self.head().open.store(1, Ordering::Release);
        wake(&self.head().open, i32::MAX as u32);
    }

    /// Releases one copy.
    pub(super) fn open_one(&self, index: usize) {
        let slot = self.slot(index);
        slot.open.store(1, Ordering::Release);
        wake(&slot.open, 1);
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping made in `new`; no reference into it outlives self.
        unsafe { libc::munmap(self.map.as_ptr().cast(), self.bytes) };
    }
}

impl Slot {
    /// Makes the place ready for another copy.
    pub(super) fn reset(&self) {
        self.open.store(0, Ordering::Release);
        self.errno.store(0, Ordering::Release);
        self.step.store(0, Ordering::Release);
        self.start_ns.store(0, Ordering::Release);
    }

    /// Called by a copy: the very last thing before its exec.
    pub(super) fn stamp(&self, used: Used, now_ns: u64) {
        let values = [used.user_us, used.system_us, used.voluntary, used.involuntary];
        for (place, value) in self.used.iter().zip(values) {
            place.store(value, Ordering::Relaxed);
        }
        self.start_ns.store(now_ns, Ordering::Release);
    }

    /// Called by a copy: this step failed.
    pub(super) fn fail(&self, step: Step, errno: i32) {
        self.errno.store(errno, Ordering::Release);
        self.step.store(step as u32, Ordering::Release);
    }

    /// When the copy started, if it did.
    pub(super) fn started_ns(&self) -> Option<u64> {
        Some(self.start_ns.load(Ordering::Acquire)).filter(|&ns| ns != 0)
    }

    /// What the copy had used before its exec.
    pub(super) fn used(&self) -> Used {
        let [user_us, system_us, voluntary, involuntary] =
            self.used.each_ref().map(|it| it.load(Ordering::Relaxed));
        Used { user_us, system_us, voluntary, involuntary }
    }

    /// The step that failed and its error number, if one did.
    pub(super) fn failure(&self) -> Option<(Step, i32)> {
        let failed = self.step.load(Ordering::Acquire);
        let step = Step::ALL.into_iter().find(|step| *step as u32 == failed)?;
        Some((step, self.errno.load(Ordering::Acquire)))
    }
}

/// `FUTEX_WAIT` on a word that processes share: returns when woken, when the word is no longer `value`, or in time. This and
/// [`wake`] leave `errno` alone, which copies and the launcher have in common until their exec.
fn wait(word: &AtomicU32, value: u32, timeout: Option<Duration>) {
    let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout).ok());
    // All errors mean "look again".
    let _ = futex::wait(word, futex::Flags::empty(), value, timeout.as_ref());
}

/// `FUTEX_WAKE` for this many waiters.
fn wake(word: &AtomicU32, waiters: u32) {
    let _ = futex::wake(word, futex::Flags::empty(), waiters);
}

/// `CLOCK_MONOTONIC`, nanoseconds.
pub(super) fn now_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
