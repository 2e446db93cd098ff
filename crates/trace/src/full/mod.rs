//! The full level: BPF programs in the kernel follow the tree, count its calls and stream the scheduling.

use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

use whyfaster_core::trace::counts::{Counts, OwnCost};
use whyfaster_core::trace::event::{Event, Pid};

use crate::support::Unsupported;
use crate::wanted::Wanted;

/// Programs in the kernel, and what they said so far. Nothing stays behind when this is dropped or the process is killed:
/// the kernel detaches the programs with the last descriptor.
#[derive(Debug)]
pub struct Full {
    none: std::convert::Infallible,
}

/// Observing failed.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The process to follow is gone or may not be followed.
    #[error("cannot follow process {pid}: {why}")]
    Follow {
        /// Which.
        pid: i32,
        /// Why.
        why: String,
    },
    /// The kernel refused to hand out what was collected.
    #[error("cannot read the {what} of the trace: {why}")]
    Read {
        /// What was to be read.
        what: &'static str,
        /// Why not.
        why: String,
    },
}

impl Full {
    /// Loads and attaches the programs. Nothing is followed yet.
    pub fn open(wanted: &Wanted) -> Result<Self, Unsupported> {
        let _ = wanted;
        Err(Unsupported { missing: Vec::new() })
    }

    /// Measures, in about 50 ms, what a traced call and a traced switch became dearer; call it before anything is
    /// followed. The result is also part of [`Counts::own`].
    pub fn calibrate(&mut self) -> Result<OwnCost, TraceError> {
        match self.none {}
    }

    /// Follows a process that is held at a gate: it and all that come from it, from its next exec on. What it calls
    /// before that exec is not seen.
    pub fn follow(&mut self, pid: i32) -> Result<(), TraceError> {
        let _ = pid;
        match self.none {}
    }

    /// Follows a process that runs already: its threads, its descendants, and all that come from them, from now on.
    /// Returns how many tasks that are.
    pub fn follow_running(&mut self, pid: i32) -> Result<usize, TraceError> {
        let _ = pid;
        match self.none {}
    }

    /// Follows every process of a cgroup (a directory of cgroup v2 with `cgroup.procs`) and below it, from now on.
    pub fn follow_cgroup(&mut self, directory: &Path) -> Result<usize, TraceError> {
        let _ = directory;
        match self.none {}
    }

    /// Labels a process of whyfaster itself (its launcher, say) as the tool where it holds a CPU. This process is
    /// labelled from the beginning.
    pub fn mark_tool(&mut self, pid: Pid) -> Result<(), TraceError> {
        let _ = pid;
        match self.none {}
    }

    /// Tasks of the tree that are alive now.
    pub fn alive(&self) -> u64 {
        match self.none {}
    }

    /// Most bytes of memory that the kernel holds for this trace.
    pub fn memory_bytes(&self) -> u64 {
        match self.none {}
    }

    /// Hands on what has arrived, sorted by time. Call it every 20 to 50 ms; what the last few milliseconds brought is
    /// kept back until it can be sorted.
    pub fn poll(&mut self, sink: &mut dyn FnMut(Event)) -> Result<(), TraceError> {
        let _ = sink;
        match self.none {}
    }

    /// Detaches the programs, hands on the rest and the tasks that are still alive, and reads the counts.
    pub fn finish(self, sink: &mut dyn FnMut(Event)) -> Result<Counts, TraceError> {
        let _ = sink;
        match self.none {}
    }
}

impl AsFd for Full {
    /// Readable when the ring is half full, before the next poll is due.
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self.none {}
    }
}
