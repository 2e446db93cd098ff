//! Creating copies as `posix_spawn(3)` does: until its exec a copy has its memory in common with the launcher.
//!
//! So its exec has no address space to take down and nothing of a fork's copies to wait for, which would be no work of the
//! command. What they have in common they do not use at once: the launcher sleeps until the copy stands at the gate, and behind
//! the gate the copy writes to nothing but its own stack and its slot there.

use std::ffi::{c_int, c_void};
use std::{io, ptr};

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

use super::copy::{Blueprint, Words};
use super::gate::Gate;

/// The stack of a copy until its exec.
const STACK_BYTES: usize = 64 << 10;

/// What the copies of one batch begin with, by slot.
pub(super) struct Spawner<'a> {
    stacks: *mut c_void,
    bytes: usize,
    /// Each is kept until its slot is used again: by then its copy has the exec behind it.
    beginnings: Vec<Option<Box<Beginning<'a>>>>,
}

/// What one copy begins with.
struct Beginning<'a> {
    gate: *const Gate,
    blueprint: &'a Blueprint,
    index: usize,
    launcher: i32,
    words: Words<'a>,
}

impl<'a> Spawner<'a> {
    /// For so many copies at a time.
    pub(super) fn new(slots: usize) -> io::Result<Self> {
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE | MapFlags::STACK;
        let bytes = slots * STACK_BYTES;
        // SAFETY: a fresh mapping; no address is asked for and none of ours is touched.
        let stacks =
            unsafe { mmap_anonymous(ptr::null_mut(), bytes, ProtFlags::READ | ProtFlags::WRITE, flags)? };
        Ok(Self { stacks, bytes, beginnings: (0..slots).map(|_| None).collect() })
    }

    /// Creates the copy with this number, of this command, in a slot of the gate; returns its process id. The caller does nothing but wait until the copy
    /// stands at the gate.
    pub(super) fn create(
        &mut self,
        gate: &Gate,
        blueprint: &'a Blueprint,
        index: usize,
        (number, command): (usize, usize),
    ) -> io::Result<i32> {
        // SAFETY: takes nothing.
        let launcher = unsafe { libc::getpid() };
        let words = blueprint.words(number, command);
        let beginning = Box::new(Beginning { gate, blueprint, index, launcher, words });
        let beginning = self.beginnings[index].insert(beginning);
        // SAFETY: the stack is this slot's alone, and grows down from its end. What the copy begins with stays where it is for as
        // long as the copy has our memory; so does the gate.
        let pid = unsafe {
            libc::clone(
                begin,
                self.stacks.byte_add((index + 1) * STACK_BYTES),
                blueprint.in_common() | libc::SIGCHLD,
                ptr::from_mut(&mut **beginning).cast(),
            )
        };
        if pid == -1 { Err(io::Error::last_os_error()) } else { Ok(pid) }
    }
}

impl Drop for Spawner<'_> {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping made in `new`. Who still has a stack there was killed, and never comes back to it.
        let _ = unsafe { munmap(self.stacks, self.bytes) };
    }
}

/// Where a copy begins.
extern "C" fn begin(beginning: *mut c_void) -> c_int {
    // SAFETY: what `create` passes; it and the gate outlive the time until the exec.
    let (it, gate) = unsafe {
        let it = &*beginning.cast::<Beginning<'_>>();
        (it, &*it.gate)
    };
    it.blueprint.become_copy(gate, it.index, it.launcher, &it.words)
}
